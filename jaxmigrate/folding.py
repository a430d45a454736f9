"""What becomes of the code around an expression whose truth is known, and how to take one element out of a display.

Nothing here knows JAX: a codemod says "this expression is true" and gets the changes that say so with the least text touched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Change, DeleteStatement, KeepBlock, ReplaceExpr, ReplaceText, Template
from jaxmigrate.scan import last_part

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_HARMLESS_CALLS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "len", "bool", "type"})
_BOOL_CALLS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "bool"})
_WORD = re.compile(rb"\s*(?:and|or)(?:\s|\\)*")
_COMMA = re.compile(rb"\s*,(?:\s|#[^\r\n]*)*")
_CLOSING = re.compile(rb"[ \t]*(,?)(?:\s|#[^\r\n]*)*[\])}]")


@dataclass(frozen=True, slots=True)
class Fold:
    """The changes that fold one expression away."""

    changes: tuple[Change, ...]
    dropped: Sequence[ast.stmt] = field(default=())
    """Statements that go because they can no longer be reached."""
    literal: bool = False
    """The truth stays in the code as ``True`` or ``False``."""


def fold(source: Source, node: ast.expr, value: bool) -> Fold:
    """Fold the code around `node`, which is known to be `value` (or as good as, where only its truth matters)."""
    parent = source.parent(node)
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        return fold(source, parent, not value)
    if isinstance(parent, ast.Call) and _is_bool_of(parent, node):
        return fold(source, parent, value)
    if isinstance(parent, ast.Compare):
        compared = _compared(parent, node, value)
        return _literal(node, value) if compared is None else fold(source, parent, compared)
    if isinstance(parent, ast.BoolOp):
        return _operand(source, parent, node, value)
    if isinstance(parent, ast.IfExp) and parent.test is node:
        return Fold((_replace(parent, parent.body if value else parent.orelse),))
    return _statement(source, parent, node, value)


def _statement(source: Source, parent: ast.AST | None, node: ast.expr, value: bool) -> Fold:
    if isinstance(parent, ast.If):
        dropped = parent.orelse if value else parent.body
        if _makes_generator(source, parent, dropped):
            return _literal(node, value)
        return _branch(source, parent, value, dropped)
    if isinstance(parent, ast.Assert) and parent.test is node:
        return Fold((DeleteStatement(parent),)) if value else Fold(())
    decorator = _needless_skip(source, parent, node, value)
    if decorator is not None:
        return Fold((remove_decorator(source, decorator),))
    return _literal(node, value)


def _branch(source: Source, statement: ast.If, value: bool, dropped: list[ast.stmt]) -> Fold:
    """Keep one branch; what it never lets run goes with the other."""
    kept = statement.body if value else statement.orelse
    start, end = source.span(statement)
    empty = bool(kept) and all(isinstance(s, ast.Pass) for s in kept) and b"#" not in source.utf8[start:end]
    if empty and not source.utf8.startswith(b"elif", start):
        return Fold((DeleteStatement(statement),), dropped)
    stranded = _stranded(source, statement, kept)
    changes: tuple[Change, ...] = (KeepBlock(statement, "body" if value else "orelse"),)
    if not stranded or _makes_generator(source, statement, stranded):
        return Fold(changes, dropped)
    first, last = source.offset(end_line(statement) + 1, 0), source.line_starts[end_line(stranded[-1]) :]
    return Fold((*changes, ReplaceText(first, last[0] if last else len(source.utf8), "")), [*dropped, *stranded])


def end_line(node: ast.stmt) -> int:
    """The last line of a statement."""
    assert node.end_lineno is not None
    return node.end_lineno


def _literal(node: ast.expr, value: bool) -> Fold:
    return Fold((_replace(node, str(value)),), literal=True)


def _replace(node: ast.expr, new: ast.expr | str) -> ReplaceExpr:
    return ReplaceExpr(node, Template("{new}", {"new": new}))


def _is_bool_of(call: ast.Call, node: ast.expr) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "bool" and call.args == [node] and not call.keywords


def _compared(compare: ast.Compare, node: ast.expr, value: bool) -> bool | None:
    """The value of ``node == True`` and its kin; None when the comparison is with something else."""
    if len(compare.ops) != 1 or compare.left is not node:
        return None
    other = compare.comparators[0]
    if not (isinstance(other, ast.Constant) and isinstance(other.value, bool)):
        return None
    if isinstance(compare.ops[0], (ast.Is, ast.Eq)):
        return value is other.value
    if isinstance(compare.ops[0], (ast.IsNot, ast.NotEq)):
        return value is not other.value
    return None


def _operand(source: Source, whole: ast.BoolOp, node: ast.expr, value: bool) -> Fold:
    """One operand of ``and``/``or`` is known: it decides the whole, or it drops out."""
    if value is isinstance(whole.op, ast.And):
        return fold_operands(source, whole, [node])
    before = whole.values[: whole.values.index(node)]
    if all(map(harmless, before)) and (tests_truth(source, whole) or all(map(gives_bool, before))):
        return fold(source, whole, value)
    return _literal(node, value)


def fold_operands(source: Source, whole: ast.BoolOp, known: list[ast.expr]) -> Fold:
    """Leave out operands that do not decide (true ones of ``and``, false ones of ``or``)."""
    rest = [v for v in whole.values if v not in known]
    neutral = isinstance(whole.op, ast.And)
    if not rest:
        return fold(source, whole, neutral)
    if whole.values[-1] in known and not (tests_truth(source, whole) or gives_bool(rest[-1])):
        return Fold(tuple(_replace(node, str(neutral)) for node in known), literal=True)
    cut = _operand_cut(source, whole, known[0]) if len(known) == 1 and len(rest) > 1 else None
    if cut is not None:
        return Fold((cut,))
    pieces: dict[str, ast.expr | str] = {f"p{i}": v for i, v in enumerate(rest)}
    text = (" and " if neutral else " or ").join(f"{{{name}}}" for name in pieces)
    return Fold((ReplaceExpr(whole, Template(text, pieces)),))


def _operand_cut(source: Source, whole: ast.BoolOp, node: ast.expr) -> ReplaceText | None:
    """Cut one operand and the word beside it out of the text; None where parentheses are in the way."""
    at = whole.values.index(node)
    last = at == len(whole.values) - 1
    left, right = (whole.values[at - 1], node) if last else (node, whole.values[at + 1])
    gap = source.utf8[source.span(left)[1] : source.span(right)[0]]
    if not _WORD.fullmatch(gap):
        return None
    if last:
        return ReplaceText(source.span(left)[1], source.span(node)[1], "")
    return ReplaceText(source.span(node)[0], source.span(right)[0], "")


def tests_truth(source: Source, node: ast.expr) -> bool:
    """Whether only the truth of `node` matters where it stands, not its value."""
    parent = source.parent(node)
    if isinstance(parent, ast.BoolOp):
        return tests_truth(source, parent)
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    if isinstance(parent, ast.Call):
        return _is_bool_of(parent, node)
    if isinstance(parent, ast.comprehension):
        return node in parent.ifs
    return isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and parent.test is node


def gives_bool(node: ast.expr) -> bool:
    """Whether `node` is True or False, not just as good as."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BOOL_CALLS


def harmless(node: ast.expr) -> bool:
    """Whether leaving out the evaluation of `node` changes nothing (it may have raised, no more)."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Call):
        plain = isinstance(node.func, ast.Name) and node.func.id in _HARMLESS_CALLS and not node.keywords
        return plain and all(map(harmless, node.args))
    if isinstance(node, (ast.Attribute, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Tuple, ast.Subscript)):
        return all(harmless(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    return False


def _stranded(source: Source, statement: ast.If, kept: list[ast.stmt]) -> list[ast.stmt]:
    """The statements behind `statement` in its block that are never reached once only `kept` runs."""
    if not kept or not isinstance(kept[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return []
    parent = source.parent(statement)
    blocks = (getattr(parent, name, None) for name in ("body", "orelse", "finalbody"))
    block = next((b for b in blocks if isinstance(b, list) and statement in b), [])
    after = block[block.index(statement) + 1 :] if block else []
    return [] if any(isinstance(n, (ast.Global, ast.Nonlocal)) for s in after for n in ast.walk(s)) else after


def _makes_generator(source: Source, statement: ast.stmt, dropped: list[ast.stmt]) -> bool:
    """Whether the last ``yield`` of a function would go, which would turn a generator into a plain function."""
    function = source.function(statement)
    if function is None:
        return False
    doomed = {n for s in dropped for n in ast.walk(s) if isinstance(n, (ast.Yield, ast.YieldFrom))}
    doomed = {n for n in doomed if source.function(n) is function}
    if not doomed:
        return False
    kept = (n for n in ast.walk(function) if isinstance(n, (ast.Yield, ast.YieldFrom)) and n not in doomed)
    return not any(source.function(n) is function for n in kept)


def _needless_skip(source: Source, call: ast.AST | None, node: ast.expr, value: bool) -> ast.expr | None:
    """The ``skipIf``/``skipUnless`` decorator that never skips, since `node` is its condition."""
    if not (isinstance(call, ast.Call) and call.args[:1] == [node]):
        return None
    leaf = last_part(call.func)
    owner = source.parent(call)
    if not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or call not in owner.decorator_list:
        return None
    never = leaf == "skipUnless" if value else leaf in ("skipIf", "skipif")
    return call if never else None


def remove_decorator(source: Source, decorator: ast.expr) -> ReplaceText:
    """Take one decorator off a definition, whole lines."""
    at = source.utf8.rindex(b"@", 0, source.span(decorator)[0])
    assert decorator.end_lineno is not None
    return ReplaceText(source.offset(source.position(at).line, 0), source.offset(decorator.end_lineno + 1, 0), "")


def remove_element(source: Source, node: ast.expr) -> ReplaceText | None:
    """Take an element out of its list, tuple or set, or a key and its value out of its dict; None for odd text."""
    whole = source.parent(node)
    if isinstance(whole, ast.Dict):
        spans = [_pair(source, key, value) for key, value in zip(whole.keys, whole.values, strict=True)]
        return _remove(source, spans, whole.keys.index(node), whole)
    if isinstance(whole, (ast.List, ast.Tuple, ast.Set)):
        return _remove(source, [source.span(e) for e in whole.elts], whole.elts.index(node), whole)
    return None


def _pair(source: Source, key: ast.expr | None, value: ast.expr) -> tuple[int, int]:
    start, end = source.span(value)
    return (source.span(key)[0] if key is not None else source.utf8.rindex(b"**", 0, start)), end


def _remove(source: Source, spans: list[tuple[int, int]], at: int, whole: ast.expr) -> ReplaceText | None:
    gaps = [source.utf8[a[1] : b[0]] for a, b in pairwise(spans)]
    closing = _CLOSING.match(source.utf8, spans[-1][1], source.span(whole)[1])
    if not closing or not all(map(_COMMA.fullmatch, gaps)):
        return None
    start, end = spans[at]
    if isinstance(whole, ast.Tuple) and len(spans) == 2:
        return ReplaceText(spans[0][0], spans[1][1], source.segment(whole.elts[1 - at]) + ("" if closing[1] else ","))
    if at + 1 < len(spans):
        return ReplaceText(start, spans[at + 1][0], "")
    if at:
        return ReplaceText(spans[at - 1][1], end, "")
    return None if isinstance(whole, ast.Set) else ReplaceText(start, closing.end(1) if closing[1] else end, "")
