"""One argument a line, where an edit makes a line of a call too long."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.codemod import ReplaceText, Template
from jaxmigrate_codemods._pjit import line

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_WIDTH = 100
_HOLE = re.compile(r"\{([\w.]+)\}")
_OPENING = re.compile(rb"[(\[][ \t]*(\(*)")
_GAP = re.compile(rb"([ \t)]*,)([ \t]*)\(*")
Edit = tuple[ast.expr, Template]


def broken(source: Source, whole: ast.Call | ast.Tuple | ast.List, edits: Iterable[Edit], dedent: int = 0) -> list[ReplaceText]:
    """The line breaks that a call or display needs when `edits` are made inside it, and its lines move `dedent` columns left."""
    start, end = source.span(whole)
    growth = [(node, _length(source, new, node)) for node, new in edits if start <= source.span(node)[0] < end]
    layout = _Layout(source, growth, dedent, _newline(source.utf8))
    if not any(layout.is_too_long(line(node)) for node, _ in growth) or not _is_bracketed(source, whole):
        return []
    items: list[ast.expr | ast.keyword] = [*whole.args, *whole.keywords] if isinstance(whole, ast.Call) else [*whole.elts]
    items.sort(key=lambda a: source.span(a)[0])
    line_start = source.offset(line(whole), 0)
    leading = re.match(rb"[ \t]*", source.utf8[line_start:])
    indent = leading[0].decode()[: len(leading[0]) - dedent] if leading else ""
    return list(layout.apart(items, source.span(whole.func)[1] if isinstance(whole, ast.Call) else start, indent))


@dataclass(slots=True, eq=False)
class _Layout:
    """The lines of a call after some edits."""

    source: Source
    growth: list[tuple[ast.expr, int]]
    dedent: int
    newline: str

    def is_too_long(self, number: int) -> bool:
        """Whether this line will be."""
        starts = self.source.line_starts
        end = starts[number] if number < len(starts) else len(self.source.utf8)
        text = self.source.utf8[starts[number - 1] : end].decode("utf-8").rstrip()
        return len(text.expandtabs(4)) - self.dedent + sum(g for n, g in self.growth if line(n) == number) > _WIDTH

    def apart(self, items: Sequence[ast.AST], opening: int, indent: str) -> Iterator[ReplaceText]:
        """Put each of `items` on its own line; the bracket before them is at `opening`, in a line of this indentation."""
        source = self.source
        spans = [source.span(i) for i in items]
        gaps = [source.utf8[a[1] : b[0]] for a, b in itertools.pairwise(spans)]
        first = source.utf8[opening : spans[0][0]]
        apart = next((s[0] for s, gap in zip(spans[1:], gaps, strict=True) if _breaks(gap)), None)
        if _breaks(first) or apart is not None:  # as those that have lines of their own already
            inner = self._column(spans[0][0] if _breaks(first) or apart is None else apart)
        elif (found := _OPENING.fullmatch(first)) is not None:
            inner = indent + source.indent_unit
            yield ReplaceText(opening + 1, spans[0][0] - len(found[1]), self.newline + inner)
        else:
            return
        for number, gap in enumerate(gaps):
            found = _GAP.fullmatch(gap)
            if found is not None:
                at = spans[number][1]
                yield ReplaceText(at + found.start(2), at + found.end(2), self.newline + inner)
        for item in items:
            yield from self._inside(item, inner)

    def _column(self, offset: int) -> str:
        """The blanks before this place of its line."""
        start = self.source.offset(self.source.position(offset).line, 0)
        return re.sub(r"[^ \t]", " ", self.source.utf8[start:offset].decode("utf-8"))[self.dedent :]

    def _inside(self, item: ast.AST, indent: str) -> Iterator[ReplaceText]:
        """The same for the elements of an argument that is still too long."""
        value = item.value if isinstance(item, ast.keyword) else item
        start, end = self.source.span(item)
        text = self.source.utf8[start:end]
        length = len(indent.expandtabs(4)) + len(text) + sum(g for n, g in self.growth if start <= self.source.span(n)[0] < end)
        opening = self.source.span(value)[0]
        if length <= _WIDTH or _breaks(text):
            return
        if isinstance(value, (ast.Tuple, ast.List)) and value.elts and _is_bracketed(self.source, value):
            yield from self.apart(value.elts, opening, indent)


def _is_bracketed(source: Source, node: ast.expr) -> bool:
    """Whether lines may end anywhere between the parts of `node`: not so for ``a, b`` and ``(a), b``."""
    if not isinstance(node, ast.Tuple):
        return True
    start, end = source.span(node.elts[0]) if node.elts else (0, 0)
    behind = source.utf8[end : source.utf8.find(b",", end)]
    return source.utf8[source.span(node)[0] : start].count(b"(") > behind.count(b")")


def _breaks(text: bytes) -> bool:
    return b"\n" in text or b"\r" in text


def _newline(text: bytes) -> str:
    found = re.search(rb"\r\n?|\n", text)
    return found[0].decode() if found else "\n"


def _length(source: Source, new: Template, node: ast.expr) -> int:
    """By how many columns a template is longer than what it replaces, with its names spelled as the file most likely will."""

    def filled(match: re.Match[str]) -> str:
        piece = new.pieces.get(match[1])
        if piece is not None:
            return piece if isinstance(piece, str) else source.segment(piece)
        module, _, leaf = match[1].rpartition(".")
        imports = (s for s in source.tree.body if isinstance(s, ast.ImportFrom))
        spelled = source.visible(match[1], node) or match[1]
        return leaf if "." in spelled and any(s.module == module for s in imports) else spelled

    return len(_HOLE.sub(filled, new.text)) - len(source.segment(node))
