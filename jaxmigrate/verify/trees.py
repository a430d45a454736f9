"""Two versions of a file as trees whose parts are compared in constant time, and how lists of their parts are aligned."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

from jaxmigrate.verify.model import Span

_TRIVIAL_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_BLOCKS = frozenset({"body", "finalbody", "orelse"})
_MOST_PAIRS = 4000
"""Up to this many candidate pairs are weighed against each other; beyond, equal positions are paired."""
_TEXT = 2000
"""Characters of a site's text that are kept."""

Node = TypeVar("Node", bound=ast.AST)


class TreeError(ValueError):
    """A version of a file cannot be parsed; the message says why."""


class Interner:
    """Numbers for trees: two have the same number if and only if they differ in nothing but layout, comments, docstrings."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}

    def number(self, order: Sequence[ast.AST]) -> tuple[dict[ast.AST, int], dict[ast.AST, int]]:
        """The number and the size of nodes, given with all their parts behind them."""
        numbers: dict[ast.AST, int] = {}
        sizes: dict[ast.AST, int] = {}
        for node in reversed(order):
            numbers[node], sizes[node] = self._intern(node, numbers, sizes)
        return numbers, sizes

    def _intern(self, node: ast.AST, numbers: dict[ast.AST, int], sizes: dict[ast.AST, int]) -> tuple[int, int]:
        key: list[object] = [type(node)]
        size = 1
        for name in _fields(type(node)):
            value = getattr(node, name, None)
            if value is None or value.__class__ is str:
                key.append(value)
            elif isinstance(value, ast.AST):
                key.append(numbers[value])
                size += sizes[value]
            elif value.__class__ is list:
                parts = real(value) if name in _BLOCKS else value
                key.append(tuple([numbers[p] if isinstance(p, ast.AST) else p for p in parts]))
                size += sum([sizes[p] for p in parts if isinstance(p, ast.AST)])
            else:
                key.append((type(value), repr(value)))
        return self._numbers.setdefault(tuple(key), len(self._numbers)), size


_known_fields: dict[type, tuple[str, ...]] = {}


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    if kind not in _known_fields:
        _known_fields[kind] = tuple(field for field in kind._fields if field not in _TRIVIAL_FIELDS)
    return _known_fields[kind]


def _flat(root: ast.AST) -> list[ast.AST]:
    """A node and all its parts that say something, each before its own; without recursion, so that depth does not matter."""
    order: list[ast.AST] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        for name in _fields(type(node)):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                stack.append(value)
            elif value.__class__ is list:
                stack += real(value) if name in _BLOCKS else [item for item in value if isinstance(item, ast.AST)]
    return order


def is_trivial(node: object) -> bool:
    """Whether a statement does nothing: ``pass``, a docstring."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.Pass)


def real(body: Sequence[Node]) -> list[Node]:
    """The statements that do something."""
    return [statement for statement in body if not is_trivial(statement)]


class Tree:
    """One version of a file."""

    def __init__(self, text: str | bytes, interner: Interner) -> None:
        """Parse `text`.

        Raises:
            TreeError: it is no Python source, or nested too deeply.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.root = ast.parse(text)
        except SyntaxError as error:
            raise TreeError(f"line {error.lineno}: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise TreeError(str(error) or "is nested too deeply") from None
        self.flat = _flat(self.root)
        """All nodes, each with all its parts behind it."""
        self.number, self.size = interner.number(self.flat)
        self._numbers = [self.number[node] for node in self.flat]
        self._place = {node: place for place, node in enumerate(self.flat)}
        self._lines = _lines(text)
        self._bags: dict[ast.AST, Counter[int]] = {}

    def bag(self, node: ast.AST) -> Counter[int]:
        """The numbers of all parts of a node."""
        if node not in self._bags:
            place = self._place[node]
            self._bags[node] = Counter(self._numbers[place : place + self.size[node]])
        return self._bags[node]

    def walk(self, node: ast.AST) -> list[ast.AST]:
        """All parts of a node, itself first; equal nodes give as many in the same order."""
        place = self._place[node]
        return self.flat[place : place + self.size[node]]

    def parents(self) -> dict[ast.AST, ast.AST]:
        """What each node is a part of."""
        found: dict[ast.AST, ast.AST] = {}
        above: list[tuple[ast.AST, int]] = []
        for place, node in enumerate(self.flat):
            while above and above[-1][1] <= place:
                above.pop()
            if above:
                found[node] = above[-1][0]
            above.append((node, place + self.size[node]))
        return found

    def text(self, span: Span) -> str:
        """The source at a span, cut if it is long."""
        lines = self._lines[span.line - 1 : span.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return b"".join(lines).decode("utf-8", "replace")[:_TEXT]


def _lines(text: str | bytes) -> list[bytes]:
    """Lines in UTF-8 as the parser counts them: only the three line endings end a line."""
    if isinstance(text, bytes):
        from jaxmigrate.document import Document

        document = Document.decode(text)
        data = document.utf8 if isinstance(document, Document) else text
    else:
        data = text.encode("utf-8", "replace")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").splitlines(keepends=True)


def span_of(first: ast.AST, last: ast.AST | None = None) -> Span:
    """Where a node lies, or the nodes from `first` to `last`."""
    end = first if last is None else last
    return Span(first.lineno, first.col_offset, end.end_lineno, end.end_col_offset)  # type: ignore[attr-defined]


def equal_runs(before: Sequence[int], after: Sequence[int]) -> list[tuple[str, int, int, int, int]]:
    """Opcodes as of `difflib`; the ends that are equal are taken off first, since most versions differ in a few places."""
    shortest = min(len(before), len(after))
    head = next((i for i in range(shortest) if before[i] != after[i]), shortest)
    tail = next((i for i in range(shortest - head) if before[-1 - i] != after[-1 - i]), shortest - head)
    inner = SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail]).get_opcodes()
    codes = [("equal", 0, head, 0, head)] if head else []
    codes += [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in inner]
    if tail:
        codes.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    return codes


def best_pairs(
    before: Sequence[Node], after: Sequence[Node], score: Callable[[Node, Node], float]
) -> Iterator[tuple[Node | None, Node | None]]:
    """Pairs in order, None where one side has nothing; of all pairings in order the one of the highest score (0: no pair)."""
    if len(before) * len(after) > _MOST_PAIRS:
        yield from _by_position(before, after, score)
        return
    width = len(after)
    scores = [[score(b, a) for a in after] for b in before]
    best = [[0.0] * (width + 1) for _ in range(len(before) + 1)]
    for i in range(len(before) - 1, -1, -1):
        for j in range(width - 1, -1, -1):
            paired = best[i + 1][j + 1] + scores[i][j] if scores[i][j] > 0 else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    i = j = 0
    while i < len(before) or j < width:
        if i < len(before) and j < width and scores[i][j] > 0 and best[i][j] == best[i + 1][j + 1] + scores[i][j]:
            yield before[i], after[j]
            i, j = i + 1, j + 1
        elif j >= width or (i < len(before) and best[i][j] == best[i + 1][j]):
            yield before[i], None
            i += 1
        else:
            yield None, after[j]
            j += 1


def _by_position(
    before: Sequence[Node], after: Sequence[Node], score: Callable[[Node, Node], float]
) -> Iterator[tuple[Node | None, Node | None]]:
    for index in range(max(len(before), len(after))):
        b = before[index] if index < len(before) else None
        a = after[index] if index < len(after) else None
        if b is not None and a is not None and score(b, a) <= 0:
            yield b, None
            yield None, a
        else:
            yield b, a
