"""From what a codemod asked for (`Change`) to bytes (`Splice`): the only place that places new text in a file."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

from jaxmigrate import codemod as api
from jaxmigrate.imports import MoveImport, Speller, insert_before, line_end, line_start, render_move
from jaxmigrate.model import Splice
from jaxmigrate.names import Binding, NameError_, Source

_BLOCKS = ("body", "orelse", "finalbody")
_OPERATORS = (ast.BinOp, ast.Compare, ast.Attribute, ast.Subscript, ast.Await, ast.UnaryOp, ast.Starred)


class EditError(ValueError):
    """A change cannot be made here; the message says why."""


@dataclass(frozen=True, slots=True)
class Collapse:
    """Rename elements of a type container and drop those that became duplicates (made by `jaxmigrate.renames`)."""

    node: ast.expr
    new: tuple[tuple[ast.expr, str], ...]
    """Elements to rename, and the qualified name each becomes."""
    drop: tuple[ast.expr, ...]


AnyChange = api.Change | MoveImport | Collapse


@dataclass(slots=True)
class Renderer:
    """Renders the changes of one round of one file."""

    source: Source
    speller: Speller
    newline: str = "\n"
    spelled: set[str] = field(default_factory=set)
    """Qualified names that the rendered changes emit."""
    _deleted: dict[int, int] = field(default_factory=dict)

    def render(self, change: AnyChange, old: Binding | None = None) -> list[Splice]:
        """The splices of one change.

        Raises:
            EditError: it cannot be made here.
        """
        try:
            return self._render(change, old)
        except NameError_ as error:
            raise EditError(str(error)) from None
        except RecursionError:
            raise EditError("nested too deeply for libcst") from None

    def _render(self, change: AnyChange, old: Binding | None) -> list[Splice]:
        if isinstance(change, api.ReplaceExpr):
            return [self._replace(change.node, self._expression(change.new, change.node, old))]
        if isinstance(change, api.EditCall):
            return [self._replace(change.node, self._call(change, old))]
        if isinstance(change, Collapse):
            return [self._replace(change.node, self._collapse(change, old))]
        if isinstance(change, MoveImport):
            return self._move(change)
        if isinstance(change, api.ReplaceText):
            return [Splice(change.start, change.end, change.text)]
        return [self._statement(change, old)]

    def _statement(
        self,
        change: api.DeleteStatement | api.ReplaceStatement | api.InsertBefore | api.InsertAfter | api.KeepBlock,
        old: Binding | None,
    ) -> Splice:
        if isinstance(change, api.DeleteStatement):
            return self._delete(change.node, change.about)
        if isinstance(change, api.ReplaceStatement):
            return self._replace_statement(change, old)
        if isinstance(change, api.InsertBefore):
            return self._insert_before(change, old)
        return self._insert_after(change, old) if isinstance(change, api.InsertAfter) else self._keep_block(change)

    def _move(self, change: MoveImport) -> list[Splice]:
        found = render_move(self.source, change, self.newline)
        self.spelled.update(f"{m.module}.{m.name}" if m.name else m.module for m in change.moved)
        return found or [self._delete(change.node)]

    def _segment(self, node: ast.AST) -> str:
        return self.source.unix(*self.source.span(node))

    def _holes(self, template: api.Template, at: ast.AST, old: Binding | None) -> tuple[dict[str, str], dict[str, str]]:
        from jaxmigrate import cst

        spelled: dict[str, str] = {}
        pieces: dict[str, str] = {}
        for hole in cst.holes(template.text):
            if hole in template.pieces:
                piece = template.pieces[hole]
                pieces[hole] = piece if isinstance(piece, str) else self._segment(piece)
            elif "." in hole:
                spelled[hole] = self._spell(hole, at, old)
            else:
                raise EditError(f"the template has no piece {hole!r}")
        return spelled, pieces

    def _spell(self, qualified: str, at: ast.AST, old: Binding | None, *, alone: bool = False) -> str:
        text = self.speller.spell(qualified, at, old, alone=alone)
        self.spelled.add(qualified)
        return text

    def _expression(self, template: api.Template, at: ast.AST, old: Binding | None) -> str:
        text = template.text
        if not template.pieces and text[:1] == "{" and text[-1:] == "}" and _is_plain(text[1:-1]):
            return self._spell(text[1:-1], at, old, alone=True)
        from jaxmigrate import cst

        spelled, pieces = self._holes(template, at, old)
        return cst.render_expression(template.text, spelled, pieces)

    def _call(self, change: api.EditCall, old: Binding | None) -> str:
        from jaxmigrate import cst

        def text(template: api.Template) -> str:
            return self._expression(template, change.node, old)

        plan = cst.CallPlan(
            func=text(change.func) if change.func else None,
            rename=change.rename,
            drop=change.drop,
            to_keyword=change.to_keyword,
            values={k: text(v) for k, v in change.values.items()},
            append=tuple((k, text(v)) for k, v in change.append),
        )
        return cst.edit_call(self._segment(change.node), plan)

    def _collapse(self, change: Collapse, old: Binding | None) -> str:
        from jaxmigrate import cst

        new = {id(node): self._spell(name, node, old) for node, name in change.new}
        dropped = {id(node) for node in change.drop}
        texts = [new.get(id(e), "") or self._segment(e) for e in elements(change.node) if id(e) not in dropped]
        if isinstance(change.node, ast.BinOp):
            return " | ".join(texts)
        if isinstance(change.node, ast.Subscript):
            base = self._segment(change.node.value)
            return texts[0] if len(texts) == 1 else f"{base}[{', '.join(texts)}]"
        keep = [number for number, e in enumerate(elements(change.node)) if id(e) not in dropped]
        values = {number: new[id(e)] for number, e in enumerate(elements(change.node)) if id(e) in new}
        single = len(texts) == 1 and self._may_unwrap(change.node)
        return texts[0] if single else cst.keep_elements(self._segment(change.node), keep, values)

    def _may_unwrap(self, node: ast.expr) -> bool:
        """Whether a tuple of one type may become the type itself: what is caught, or asked for by isinstance and issubclass."""
        parent = self.source.parent(node)
        return isinstance(parent, ast.ExceptHandler) or (
            isinstance(node, ast.Tuple)
            and isinstance(parent, ast.Call)
            and isinstance(parent.func, ast.Name)
            and parent.func.id in ("isinstance", "issubclass")
        )

    def _replace(self, node: ast.expr, text: str) -> Splice:
        start, end = self.source.span(node)
        if not _is_plain(text):
            text = self._wrapped(node, text)
        return Splice(start, end, text.replace("\n", self.newline) if self.newline != "\n" else text)

    def _wrapped(self, node: ast.expr, text: str) -> str:
        from jaxmigrate import cst

        if self._parenthesized(node):
            return text
        bare_lines = "\n" in text and not self._in_brackets(node) and not _parses(text)
        if bare_lines or cst.needs_parentheses(text, self._context(node)):
            return cst.parenthesize(text)
        return text

    def _parenthesized(self, node: ast.expr) -> bool:
        """Whether the source has a pair of parentheses of its own around an operand."""
        parent = self.source.parent(node)
        if self._context(node) == "loose" or not isinstance(parent, ast.expr):
            return False
        (start, end), (outer_start, outer_end), utf8 = self.source.span(node), self.source.span(parent), self.source.utf8
        left, right = utf8[outer_start:start].rstrip(), utf8[end:outer_end].lstrip()
        return left.endswith(b"(") and right.startswith(b")")

    def _in_brackets(self, node: ast.expr) -> bool:
        """Whether line breaks at `node` need no parentheses of their own."""
        parent = self.source.parent(node)
        while isinstance(parent, _OPEN):
            parent = self.source.parent(parent)
        if isinstance(parent, _BRACKETED):
            return True
        start = self.source.span(node)[0]
        before = self.source.utf8[line_start(self.source.utf8, start) : start]
        return before.rstrip().endswith(b"(")

    def _context(self, node: ast.expr) -> str:
        """What kind of parent an expression has, as `cst.needs_parentheses` names it."""
        parent = self.source.parent(node)
        if isinstance(parent, ast.BoolOp):
            return "and" if isinstance(parent.op, ast.And) else "or"
        if isinstance(parent, ast.Subscript):
            return "tight" if parent.value is node else "loose"
        if isinstance(parent, ast.Call):
            return "tight" if parent.func is node else "loose"
        if isinstance(parent, ast.IfExp) or (isinstance(parent, ast.comprehension) and node is not parent.target):
            return "conditional"
        if isinstance(parent, _OPERATORS):
            return "tight"
        return "loose"

    def _block(self, node: ast.stmt) -> list[ast.stmt]:
        parent = self.source.parent(node)
        for name in _BLOCKS:
            block = getattr(parent, name, None)
            if isinstance(block, list) and node in block:
                return block
        raise EditError("the statement is in no block")

    def _indent(self, node: ast.stmt) -> str:
        """The white space before a statement; raises EditError when something else shares the line."""
        start = self.source.span(node)[0]
        before = self.source.utf8[line_start(self.source.utf8, start) : start].decode("utf-8")
        if before.strip(" \t\x0c"):
            raise EditError("the statement shares its line with another")
        return before.replace("\x0c", "")

    def _delete(self, node: ast.stmt, about: tuple[str, ...] = ()) -> Splice:
        block = self._block(node)
        start, end = self.source.span(node)
        gone = self._deleted.get(id(block), 0) + 1
        self._deleted[id(block)] = gone
        if gone == len(block) and not isinstance(self.source.parent(node), ast.Module):
            return Splice(start, end, "pass")
        utf8 = self.source.utf8
        begin, finish = line_start(utf8, start), line_end(utf8, end)
        before, after = utf8[begin:start], utf8[end:finish]
        if before.strip(b" \t\x0c"):
            return self._delete_shared(start, end, before)
        if after.lstrip(b" \t").startswith(b";"):
            return Splice(start, finish - len(after.lstrip(b" \t;")), "")
        return Splice(self._comment_above(begin, before, about), finish, "")

    def _comment_above(self, begin: int, indent: bytes, about: tuple[str, ...]) -> int:
        """Where the comment lines directly above begin, if one of them names what the statement is about."""
        utf8, first = self.source.utf8, begin
        while first > 0:
            previous = line_start(utf8, first - 2 if utf8[first - 2 : first] == b"\r\n" else first - 1)
            if not utf8[previous:first].startswith(indent + b"#"):
                break
            first = previous
        text = utf8[first:begin].decode("utf-8")
        return first if any(word in text for word in about) else begin

    def _delete_shared(self, start: int, end: int, before: bytes) -> Splice:
        """``a; b`` loses its second part; ``if x: a`` keeps a pass."""
        utf8 = self.source.utf8
        stripped = before.rstrip(b" \t")
        if stripped.endswith(b";"):
            return Splice(start - (len(before) - len(stripped)) - 1, end, "")
        rest = utf8[end : line_end(utf8, end)]
        if rest.lstrip(b" \t").startswith(b";"):
            return Splice(start, end + len(rest) - len(rest.lstrip(b" \t;")), "")
        return Splice(start, end, "pass")

    def _statements(self, template: api.Template, at: ast.stmt, old: Binding | None, indent: str) -> str:
        from jaxmigrate import cst

        spelled, pieces = self._holes(template, at, old)
        return cst.render_statements(template.text, spelled, pieces, indent, self.source.indent_unit)

    def _replace_statement(self, change: api.ReplaceStatement, old: Binding | None) -> Splice:
        start, end = self.source.span(change.node)
        text = self._statements(change.new, change.node, old, "")
        if "\n" in text or isinstance(change.node, _COMPOUND):
            text = self._statements(change.new, change.node, old, self._indent(change.node))
            if self.source.utf8[end : line_end(self.source.utf8, end)].lstrip(b" \t").startswith(b";"):
                raise EditError("the statement shares its line with another")
        return Splice(start, end, text.replace("\n", self.newline))

    def _insert_before(self, change: api.InsertBefore, old: Binding | None) -> Splice:
        node = change.node
        if isinstance(node, ast.If) and self.source.utf8[self.source.span(node)[0] :].startswith(b"elif"):
            raise EditError("nothing can be put before an elif")
        return insert_before(self.source, node, self._statements(change.new, node, old, ""), self.newline)

    def _insert_after(self, change: api.InsertAfter, old: Binding | None) -> Splice:
        indent = self._indent(change.node)
        text = self._statements(change.new, change.node, old, indent)
        utf8 = self.source.utf8
        end = self.source.span(change.node)[1]
        offset = line_end(utf8, end)
        if utf8[end:offset].lstrip(b" \t").startswith(b";"):
            raise EditError("the statement shares its line with another")
        block = (indent + text).replace("\n", self.newline)
        if offset == len(utf8) and not utf8.endswith((b"\n", b"\r")):
            return Splice(offset, offset, self.newline + block)
        return Splice(offset, offset, block + self.newline)

    def _keep_block(self, change: api.KeepBlock) -> Splice:
        from jaxmigrate import cst

        top, depth = self._chain_top(change.node)
        indent = self._indent(top)
        utf8 = self.source.utf8
        start, end = self.source.span(top)
        begin, finish = line_start(utf8, start), self._with_tail(line_end(utf8, end), indent)
        while utf8[begin : begin + 1] == b"\x0c":  # a page break before the statement is none of its own text
            begin += 1
        text = self.source.unix(begin, finish)
        ended = text.endswith("\n")
        new = cst.keep_block(text if ended else text + "\n", indent, change.block, depth)
        if not new.strip() and len(self._block(top)) == 1 and not isinstance(self.source.parent(top), ast.Module):
            new = f"{indent}pass\n"
        if not new.strip():
            return Splice(begin, finish, "")
        if not ended:
            new = new.removesuffix("\n")
        return Splice(begin, finish, new.replace("\n", self.newline))

    def _with_tail(self, finish: int, indent: str) -> int:
        """Behind the comment lines that end the last block: indented deeper than the statement itself."""
        utf8, offset = self.source.utf8, finish
        while offset < len(utf8):
            end = line_end(utf8, offset)
            line = utf8[offset:end].decode("utf-8")
            bare = line.strip()
            if bare and not (bare.startswith("#") and line.startswith(indent) and line[len(indent)] in " \t"):
                break
            offset = end
            finish = end if bare else finish
        return finish

    def _chain_top(self, node: ast.If | ast.With) -> tuple[ast.stmt, int]:
        """The ``if`` that an ``elif`` belongs to, and how many arms down it is."""
        depth = 0
        current: ast.stmt = node
        while isinstance(current, ast.If) and self.source.utf8[self.source.span(current)[0] :].startswith(b"elif"):
            parent = self.source.parent(current)
            assert isinstance(parent, ast.If)
            current, depth = parent, depth + 1
        return current, depth


_OPEN = (ast.BoolOp, ast.BinOp, ast.Compare, ast.UnaryOp, ast.IfExp, ast.keyword, ast.Starred, ast.Attribute)
_BRACKETED = (ast.Call, ast.List, ast.Set, ast.Dict, ast.Subscript, ast.ListComp, ast.GeneratorExp, ast.comprehension)
_COMPOUND = (
    ast.If,
    ast.For,
    ast.While,
    ast.With,
    ast.Try,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.AsyncWith,
    ast.AsyncFor,
)


def elements(node: ast.expr) -> list[ast.expr]:
    """The members of a flat type container: a tuple, ``Union[...]`` or a ``|`` chain."""
    if isinstance(node, ast.Subscript):
        return elements(node.slice) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return list(node.elts)
    if isinstance(node, ast.BinOp):
        return [*elements(node.left), *elements(node.right)]
    return [node]


def _is_plain(text: str) -> bool:
    """A dotted name: never in need of parentheses."""
    return text.replace(".", "").isidentifier()


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def swallow_blank_lines(utf8: bytes, splices: list[Splice]) -> list[Splice]:
    """Let deletions of whole lines take blank lines along, so that no more of them meet than stood on one side before."""
    ordered = sorted(splices, key=lambda s: (s.start, s.end))
    result: list[Splice] = []
    index = 0
    while index < len(ordered):
        group = [ordered[index]]
        index += 1
        while index < len(ordered) and _deletes_lines(utf8, group[-1]) and ordered[index].start == group[-1].end:
            if not _deletes_lines(utf8, ordered[index]):
                break
            group.append(ordered[index])
            index += 1
        if _deletes_lines(utf8, group[-1]):
            limit = ordered[index].start if index < len(ordered) else len(utf8)
            end = _blank_end(utf8, group[0].start, group[-1].end, limit)
            group[-1] = Splice(group[-1].start, end, "")
        result += group
    return result


def _deletes_lines(utf8: bytes, splice: Splice) -> bool:
    return (
        not splice.text
        and splice.start < splice.end
        and line_start(utf8, splice.start) == splice.start
        and utf8[splice.end - 1 : splice.end] in (b"\n", b"\r")
    )


def _blank_end(utf8: bytes, begin: int, finish: int, limit: int) -> int:
    """Where a deletion of ``[begin, finish)`` ends when it swallows as many blank lines behind it as stand before it."""
    before = 0
    offset = begin
    while offset > 0:
        previous = line_start(utf8, max(offset - 2 if utf8[offset - 2 : offset] == b"\r\n" else offset - 1, 0))
        if utf8[previous:offset].strip():
            break
        before += 1
        offset = previous
    if begin == 0 or _opens_block(utf8, offset, before):
        before = 9  # nothing is left above: no blank lines at the head of the file
    swallowed = 0
    while swallowed < before and finish < limit:
        end = line_end(utf8, finish)
        if end > limit or utf8[finish:end].strip(b" \t\r\n"):
            break
        finish, swallowed = end, swallowed + 1
    return finish


def _opens_block(utf8: bytes, begin: int, blank: int) -> bool:
    """Whether the deleted lines were the first of their block: no blank line should open it in their place."""
    if blank or begin == 0:
        return False
    previous = utf8[line_start(utf8, begin - 2 if utf8[begin - 2 : begin] == b"\r\n" else begin - 1) : begin]
    return previous.split(b"#")[0].rstrip().endswith(b":")


def apply(utf8: bytes, splices: Iterable[Splice]) -> bytes:
    """Apply splices that do not overlap."""
    parts: list[bytes] = []
    position = 0
    for splice in sorted(splices, key=lambda s: (s.start, s.end)):
        if splice.start < position:
            raise EditError("edits overlap")
        parts += (utf8[position : splice.start], splice.text.encode("utf-8"))
        position = splice.end
    return b"".join((*parts, utf8[position:]))
