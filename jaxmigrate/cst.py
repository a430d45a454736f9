"""libcst surgery on small pieces of source: one expression, one statement, one import.

Only text that changes ever becomes a concrete syntax tree; comments and layout inside it survive because libcst keeps them. All
functions take and give source text with ``\\n`` line ends. Importing this module imports libcst (0.2 s): the engine does it late.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import libcst

from jaxmigrate.edits import EditError

_HOLE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w.]*)\}")
_MARK = "__jaxmigrate_{}__"
_ATOMS = (
    libcst.Name, libcst.Attribute, libcst.Call, libcst.Subscript, libcst.List, libcst.Set, libcst.Dict, libcst.ListComp,
    libcst.SetComp, libcst.DictComp, libcst.SimpleString, libcst.FormattedString, libcst.Integer, libcst.Float, libcst.Ellipsis,
)  # fmt: skip
_TIGHT = (
    libcst.Attribute, libcst.Subscript, libcst.BinaryOperation, libcst.BooleanOperation, libcst.UnaryOperation, libcst.Comparison,
    libcst.ComparisonTarget, libcst.Await, libcst.IfExp, libcst.CompFor, libcst.CompIf, libcst.StarredElement,
)  # fmt: skip


class SurgeryError(EditError):
    """A change cannot be rendered; the message says why."""


def parse_expression(text: str) -> libcst.BaseExpression:
    """Parse one expression, also one that spans lines inside brackets that are not part of `text`."""
    try:
        return libcst.parse_expression(text)
    except libcst.ParserSyntaxError:
        pass
    try:
        node = libcst.parse_expression(f"({text}\n)")
    except libcst.ParserSyntaxError as error:
        raise SurgeryError(f"libcst cannot parse the expression: {error.message}") from None
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1]) if node.lpar else node


def code(node: libcst.CSTNode) -> str:
    """Source of a node on its own."""
    if isinstance(node, libcst.Module):
        return node.code
    return libcst.Module([]).code_for_node(node)


def holes(template: str) -> list[str]:
    """The names in a template's holes, in order, without repetition."""
    return list(dict.fromkeys(m[1] for m in _HOLE.finditer(template) if m[1]))


def _fill_text(template: str, spelled: Mapping[str, str], pieces: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Spell dotted holes at once; give every piece a placeholder name."""
    marks: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        if match[1] in spelled:
            return spelled[match[1]]
        if match[1] not in pieces:
            raise SurgeryError(f"template has no piece for {match[1]!r}")
        mark = _MARK.format(match[1])
        marks[mark] = pieces[match[1]]
        return mark

    return _HOLE.sub(replace, template), marks


class _Fill(libcst.CSTTransformer):
    """Puts the pieces where their placeholders stand, with parentheses where the context binds tighter."""

    def __init__(self, marks: Mapping[str, str]) -> None:
        super().__init__()
        self.pieces = {mark: parse_expression(text) for mark, text in marks.items()}
        self.parents: list[libcst.CSTNode] = []

    def on_visit(self, node: libcst.CSTNode) -> bool:
        self.parents.append(node)
        return super().on_visit(node)

    def on_leave(self, original_node, updated_node):  # type: ignore[no-untyped-def]
        self.parents.pop()
        if isinstance(original_node, libcst.Name) and original_node.value in self.pieces:
            piece = self.pieces[original_node.value].deep_clone()
            parent = self.parents[-1] if self.parents else None
            return _parenthesized(piece) if _is_loose(piece, parent, original_node) else piece
        return super().on_leave(original_node, updated_node)


def _is_loose(piece: libcst.BaseExpression, parent: libcst.CSTNode | None, hole: libcst.CSTNode) -> bool:
    """Whether `piece` would fall apart where the hole stands."""
    if piece.lpar or isinstance(piece, _ATOMS):
        return False
    if isinstance(piece, libcst.NamedExpr):
        return True
    if isinstance(parent, libcst.BooleanOperation):
        if isinstance(piece, (libcst.Comparison, libcst.UnaryOperation, libcst.BinaryOperation)):
            return False
        either = isinstance(piece, libcst.BooleanOperation) and isinstance(piece.operator, libcst.Or)
        return not isinstance(piece, libcst.BooleanOperation) or (either and isinstance(parent.operator, libcst.And))
    return isinstance(parent, _TIGHT) or (isinstance(parent, libcst.Call) and parent.func is hole)


def _parenthesized(node: libcst.BaseExpression) -> libcst.BaseExpression:
    if node.lpar:
        return node
    return node.with_changes(lpar=[libcst.LeftParen()], rpar=[libcst.RightParen()])


def render_expression(template: str, spelled: Mapping[str, str], pieces: Mapping[str, str]) -> str:
    """Source text of an expression template."""
    text, marks = _fill_text(template, spelled, pieces)
    if not marks:
        return text
    tree = parse_expression(text)
    filled = tree.visit(_Fill(marks))
    assert isinstance(filled, libcst.BaseExpression)
    return code(filled)


def render_statements(template: str, spelled: Mapping[str, str], pieces: Mapping[str, str], indent: str, unit: str) -> str:
    """Source text of a statement template at an indentation; the first line is not indented, no newline at the end.

    `unit` is one step of indentation of the file.
    """
    text, marks = _fill_text(textwrap.dedent(template).strip("\n"), spelled, pieces)
    tree = _parse_module(text + "\n")
    filled = tree.visit(_Fill(marks)) if marks else tree
    assert isinstance(filled, libcst.Module)
    return _indented(filled.body, unit, indent)


def _indented(body: Sequence[libcst.SimpleStatementLine | libcst.BaseCompoundStatement], default: str, indent: str) -> str:
    if not indent:
        return code(libcst.Module(list(body), default_indent=default)).rstrip("\n")
    block = libcst.IndentedBlock(list(body), indent=indent)
    wrapped = libcst.Module([libcst.If(libcst.Name("x"), block)], default_indent=default)
    text = code(wrapped)
    return text.partition("\n")[2].rstrip("\n").removeprefix(indent)


def _parse_module(text: str) -> libcst.Module:
    try:
        return libcst.parse_module(text)
    except libcst.ParserSyntaxError as error:
        raise SurgeryError(f"libcst cannot parse the statement: {error.message}") from None


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A change of a call, with everything already spelled."""

    func: str | None
    rename: Mapping[str, str]
    drop: frozenset[str | int]
    to_keyword: Mapping[int, str]
    values: Mapping[str | int, str]
    append: tuple[tuple[str | None, str], ...]


def edit_call(text: str, plan: CallPlan) -> str:
    """Change callee and arguments of a call; everything else of its text stays."""
    call = parse_expression(text)
    if not isinstance(call, libcst.Call):
        raise SurgeryError("not a call")
    args = [_edit_argument(arg, number, plan) for number, arg in enumerate(call.args)]
    kept = _drop(args, plan.drop)
    for keyword, value in plan.append:
        kept = _append(kept, keyword, parse_expression(value))
    changes: dict[str, object] = {"args": kept}
    if plan.func is not None:
        changes["func"] = parse_expression(plan.func)
    if not kept:
        changes["whitespace_before_args"] = libcst.SimpleWhitespace("")
    return code(call.with_changes(**changes))


def _edit_argument(arg: libcst.Arg, number: int, plan: CallPlan) -> libcst.Arg:
    keyword = arg.keyword.value if arg.keyword else None
    key: str | int = keyword if keyword is not None else number
    if key in plan.values:
        arg = arg.with_changes(value=parse_expression(plan.values[key]))
    if keyword is not None and keyword in plan.rename:
        assert arg.keyword is not None
        arg = arg.with_changes(keyword=arg.keyword.with_changes(value=plan.rename[keyword]))
    if keyword is None and number in plan.to_keyword and not arg.star:
        none = libcst.SimpleWhitespace("")
        arg = arg.with_changes(keyword=libcst.Name(plan.to_keyword[number]), equal=libcst.AssignEqual(none, none))
    return arg


def _drop(args: list[libcst.Arg], drop: frozenset[str | int]) -> list[libcst.Arg]:
    kept: list[libcst.Arg] = []
    for number, arg in enumerate(args):
        key: str | int = arg.keyword.value if arg.keyword and number not in drop else number
        if (key in drop or number in drop) and number == len(args) - 1 and kept:
            # what closes the list now follows the argument before
            comma = _closing(kept[-1].comma, arg.comma)
            kept[-1] = kept[-1].with_changes(comma=comma, whitespace_after_arg=arg.whitespace_after_arg)
        elif not (key in drop or number in drop):
            kept.append(arg)
        elif kept and isinstance(kept[-1].comma, libcst.Comma) and isinstance(arg.comma, libcst.Comma):
            kept[-1] = kept[-1].with_changes(comma=_with_comments(kept[-1].comma, arg.comma))
    return kept


def _with_comments(comma: libcst.Comma, dropped: libcst.Comma) -> libcst.Comma:
    """The comments behind a dropped argument go to the one before it: its own, and those on lines above the next."""
    before, after = comma.whitespace_after, dropped.whitespace_after
    if not (isinstance(before, libcst.ParenthesizedWhitespace) and isinstance(after, libcst.ParenthesizedWhitespace)):
        return comma
    first = before.first_line
    extra = after.first_line.comment
    if extra is not None and first.comment is not None:
        joined = libcst.Comment(f"{first.comment.value}; {extra.value.lstrip('# ')}")
        first = first.with_changes(comment=joined)
    elif extra is not None:
        first = first.with_changes(comment=extra, whitespace=libcst.SimpleWhitespace("  "))
    lines = [*before.empty_lines, *(line for line in after.empty_lines if line.comment)]
    return comma.with_changes(whitespace_after=before.with_changes(first_line=first, empty_lines=lines))


def _closing(
    own: libcst.Comma | libcst.MaybeSentinel, last: libcst.Comma | libcst.MaybeSentinel
) -> libcst.Comma | libcst.MaybeSentinel:
    """The comma of an element that has become the last one: placed like the old last one's, with the comment it had itself."""
    if not (isinstance(own, libcst.Comma) and isinstance(last, libcst.Comma)):
        return last
    before, after = own.whitespace_after, last.whitespace_after
    if isinstance(before, libcst.ParenthesizedWhitespace) and isinstance(after, libcst.ParenthesizedWhitespace):
        return last.with_changes(whitespace_after=after.with_changes(first_line=before.first_line))
    return last


def _append(args: list[libcst.Arg], keyword: str | None, value: libcst.BaseExpression) -> list[libcst.Arg]:
    none = libcst.SimpleWhitespace("")
    name = libcst.Name(keyword) if keyword else None
    new = libcst.Arg(value=value, keyword=name, equal=libcst.AssignEqual(none, none) if name else libcst.MaybeSentinel.DEFAULT)
    if not args:
        return [new]
    last = args[-1]
    between = libcst.Comma(whitespace_after=_separator(args))
    new = new.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    return [*args[:-1], last.with_changes(comma=between, whitespace_after_arg=none), new]


def _separator(args: Sequence[libcst.Arg]) -> libcst.BaseParenthesizableWhitespace:
    """The white space that follows the commas of this call, without its comments."""
    for arg in args[:-1]:
        if isinstance(arg.comma, libcst.Comma):
            space = arg.comma.whitespace_after
            if isinstance(space, libcst.ParenthesizedWhitespace):
                return libcst.ParenthesizedWhitespace(indent=space.indent, last_line=space.last_line)
            return space
    return libcst.SimpleWhitespace(" ")


def needs_parentheses(text: str, context: str) -> bool:
    """Whether an expression must be wrapped where it stands.

    `context` is ``loose`` (argument, element, right-hand side), ``conditional`` (part of ``x if y else z`` or a comprehension),
    ``and``, ``or``, or ``tight`` (operand, receiver).
    """
    node = parse_expression(text)
    if isinstance(node, _ATOMS) or node.lpar:
        return False
    if context == "loose":
        return isinstance(node, libcst.NamedExpr)
    if isinstance(node, (libcst.IfExp, libcst.Lambda, libcst.NamedExpr, libcst.Tuple, libcst.Yield)) or context == "tight":
        return True
    return isinstance(node, libcst.BooleanOperation) and context == "and" and isinstance(node.operator, libcst.Or)


def parenthesize(text: str) -> str:
    """`text` in parentheses."""
    return f"({text})"


def keep_block(text: str, indent: str, block: str, depth: int) -> str:
    """Replace an ``if``/``with`` statement by one of its blocks.

    `text` is the statement with its own lines complete, its first line indented by `indent`; `depth` counts the ``elif`` to act
    on (0: the ``if`` itself). The result has the same form: complete lines, or nothing.
    """
    header = "if x:\n" if indent else ""
    module = _parse_module(header + text)
    footer: list[libcst.EmptyLine] = []
    if indent:
        outer = module.body[0]
        assert isinstance(outer, libcst.If)
        assert isinstance(outer.body, libcst.IndentedBlock)
        new = _keep_in(list(outer.body.body), block, depth, footer)
        if not new:
            return ""
        outer = outer.with_changes(body=outer.body.with_changes(body=new))
        kept = code(module.with_changes(body=[outer])).partition("\n")[2]
    else:
        new = _keep_in(list(module.body), block, depth, footer)
        kept = code(module.with_changes(body=new)) if new else "".join(code(line) for line in module.header)
    return kept + "".join(f"{indent}{line.comment.value}\n" for line in footer if line.comment)


def _keep_in(
    body: list[libcst.BaseStatement], block: str, depth: int, footer: list[libcst.EmptyLine]
) -> list[libcst.BaseStatement]:
    target = body[0]
    if depth:
        assert isinstance(target, libcst.If)
        return [_fold_elif(target, block, depth), *body[1:]]
    assert isinstance(target, (libcst.If, libcst.With))
    return [*_taken(target, block, footer), *body[1:]]


def _taken(node: libcst.If | libcst.With, block: str, footer: list[libcst.EmptyLine]) -> list[libcst.BaseStatement]:
    lines = list(node.leading_lines)
    if block == "body":
        suite: libcst.BaseSuite | None = node.body
    else:
        assert isinstance(node, libcst.If)
        if isinstance(node.orelse, libcst.If):  # `if flag: A elif x: B else: C` keeps `if x: B else: C`
            kept = node.orelse
            return [kept.with_changes(leading_lines=[*lines, *kept.leading_lines])]
        suite = node.orelse.body if node.orelse else None
        lines += list(node.orelse.leading_lines) if node.orelse else []
    if suite is None:
        return []
    statements, head = _statements_of(suite)
    first = statements[0]
    statements[0] = first.with_changes(leading_lines=[*lines, *head, *getattr(first, "leading_lines", ())])
    if isinstance(suite, libcst.IndentedBlock):
        footer.extend(suite.footer)
    return statements


def _statements_of(suite: libcst.BaseSuite) -> tuple[list[libcst.BaseStatement], list[libcst.EmptyLine]]:
    if isinstance(suite, libcst.IndentedBlock):
        head = [libcst.EmptyLine(comment=suite.header.comment)] if suite.header.comment else []
        return list(suite.body), head
    assert isinstance(suite, libcst.SimpleStatementSuite)
    return [libcst.SimpleStatementLine(body=suite.body, trailing_whitespace=suite.trailing_whitespace)], []


def _fold_elif(node: libcst.If, block: str, depth: int) -> libcst.If:
    orelse = node.orelse
    assert isinstance(orelse, libcst.If)
    if depth > 1:
        return node.with_changes(orelse=_fold_elif(orelse, block, depth - 1))
    if block == "body":
        return node.with_changes(orelse=libcst.Else(body=orelse.body, leading_lines=orelse.leading_lines))
    return node.with_changes(orelse=orelse.orelse)


def _close(last: Any, comma: object, bracket: Any) -> tuple[Any, Any]:
    """Make `last` the last element before the closing `bracket`: with the old last one's `comma`, but its own comment."""
    own = last.comma.whitespace_after if isinstance(last.comma, libcst.Comma) else None
    placed = _closing(last.comma, comma)  # type: ignore[arg-type]
    last = last.with_changes(comma=placed)
    if placed is not comma:
        return last, bracket
    before = getattr(bracket, "whitespace_before", None)
    if isinstance(own, libcst.ParenthesizedWhitespace) and isinstance(before, libcst.ParenthesizedWhitespace):
        bracket = bracket.with_changes(whitespace_before=before.with_changes(first_line=own.first_line))
    return last, bracket


def keep_elements(text: str, keep: Sequence[int], values: Mapping[int, str]) -> str:
    """Keep some elements of a tuple, list or set display, with new values for some of them."""
    node = parse_expression(text)
    assert isinstance(node, (libcst.Tuple, libcst.List, libcst.Set))
    old = list(node.elements)
    kept = [old[n].with_changes(value=parse_expression(values[n])) if n in values else old[n] for n in keep]
    changes: dict[str, object] = {}
    if keep[-1] != len(old) - 1:
        name, bracket = _bracket(node)
        kept[-1], bracket = _close(kept[-1], old[-1].comma, bracket)
        changes = {} if bracket is None else {name: [bracket, *node.rpar[1:]] if name == "rpar" else bracket}
    if len(kept) == 1 and isinstance(node, libcst.Tuple) and not isinstance(kept[0].comma, libcst.Comma):
        kept[0] = kept[0].with_changes(comma=libcst.Comma())
    return code(node.with_changes(elements=kept, **changes))


def _bracket(node: libcst.Tuple | libcst.List | libcst.Set) -> tuple[str, libcst.CSTNode | None]:
    if isinstance(node, libcst.Tuple):
        return "rpar", node.rpar[0] if node.rpar else None
    return ("rbracket", node.rbracket) if isinstance(node, libcst.List) else ("rbrace", node.rbrace)
