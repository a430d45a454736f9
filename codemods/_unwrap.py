"""How to take a ``with`` away from around its body, line by line, so that everything in the body may change in the same edit."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate_codemods._pjit import line

if TYPE_CHECKING:
    from jaxmigrate.names import Source


def header_end(source: Source, statement: ast.With) -> int | None:
    """Offset just behind the line of ``with ...:``; None when the body begins on it or a comment stands there."""
    first = statement.body[0]
    last_item = statement.items[-1]
    after = source.span(last_item.optional_vars or last_item.context_expr)[1]
    heading = source.position(after).line
    if line(first) == heading:
        return None
    behind = source.offset(heading + 1, 0)
    return behind if source.utf8[after:behind].strip(b" \t\r\n") == b":" else None


def is_droppable(source: Source, statement: ast.With) -> bool:
    """Whether the statement holds nothing but the mesh, and can be taken out of its lines."""
    if len(statement.items) != 1 or statement.items[0].optional_vars is not None:
        return False
    return isinstance(statement.items[0].context_expr, (ast.Name, ast.Attribute)) and header_end(source, statement) is not None


def dedented(source: Source, statement: ast.With) -> list[tuple[int, int]]:
    """The byte ranges to delete so that the body takes the place of the ``with``: its heading, and one indentation a line."""
    start = source.offset(line(statement), 0)
    body_start = header_end(source, statement)
    assert body_start is not None
    width = statement.body[0].col_offset - statement.col_offset
    ranges = [(start, body_start)]
    inside = _string_lines(statement)
    begin = source.position(body_start).line
    for number in range(begin, _last_line(source, statement) + 1):
        at = source.offset(number, 0)
        leading = source.utf8[at : at + width]
        if number not in inside and leading.isspace() and not leading.strip(b" \t") and len(leading) == width:
            ranges.append((at, at + width))
    return ranges


def _last_line(source: Source, statement: ast.With) -> int:
    """The last line of the body, comments below it at its indentation included."""
    last = statement.end_lineno or statement.lineno
    column = statement.body[0].col_offset
    for number in range(last + 1, len(source.line_starts) + 1):
        start = source.offset(number, 0)
        end = source.line_starts[number] if number < len(source.line_starts) else len(source.utf8)
        text = source.utf8[start:end]
        bare = text.strip()
        if bare and not (bare.startswith(b"#") and len(text) - len(text.lstrip()) >= column):
            return last
        last = number if bare else last
    return last


def _string_lines(statement: ast.AST) -> set[int]:
    """The lines that begin inside a string, whose blanks are part of it."""
    found: set[int] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))):
            found.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return found
