"""Imports that stand together, once names have moved: those of one module are joined, and a block that was sorted stays so."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jaxmigrate import import_lists
from jaxmigrate.imports import Layout, line_end, line_start, local_name
from jaxmigrate.model import Splice
from jaxmigrate.names import Source

_Import = ast.Import | ast.ImportFrom
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Arrival:
    """The file as it is, as it was, and the modules that names were moved to."""

    source: Source
    original: Source
    modules: set[str]
    back: Callable[[int], int]
    """An offset of the file as it was."""

    def arranged(self, newline: str) -> list[Splice]:
        """The edits that join imports, or else those that sort them."""
        return [*self._joined(newline)] or [*self._sorted(newline)]

    def _joined(self, newline: str) -> Iterator[Splice]:
        single = _has_a_line_for_each(self.original)
        for _, block in _blocks(self.source) if self.modules else ():
            at_top = block is self.source.tree.body
            for module in sorted(self.modules):
                same = [s for s in block if isinstance(s, ast.ImportFrom) and s.module == module and not s.level]
                wants = at_top and (single or _times(self.original, module) > 1)
                own = [s for s in same if s.names[0].name != "*" and _has_line(self.source, s)]
                if len(own) > 1 and wants:
                    yield from (self._deletion(s) for s in _repeated(own))
                elif len(own) > 1 and self._may_join(own):
                    yield from self._join(own, newline)

    def _may_join(self, statements: list[ast.ImportFrom]) -> bool:
        """Whether all have the same comment behind them, and what they bind is bound by nothing else in between."""
        source = self.source
        if len({_behind(source, s) for s in statements}) > 1:
            return False
        for statement in statements:
            bindings = (source.scope(statement).bindings.get(local_name(a), ()) for a in statement.names)
            if any(b.statement not in statements for own in bindings for b in own):
                return False
        return True

    def _join(self, statements: list[ast.ImportFrom], newline: str) -> Iterator[Splice]:
        first, *rest = statements
        lists = [import_lists.parse(self.source.unix(*self.source.span(s))) for s in statements]
        text = Layout.of(self.source, first).fitted(import_lists.joined(lists), kept=True)
        yield Splice(*self.source.span(first), text.replace("\n", newline))
        yield from map(self._deletion, rest)

    def _deletion(self, statement: ast.stmt) -> Splice:
        return Splice(*_lines(self.source, statement), "")

    def _sorted(self, newline: str) -> Iterator[Splice]:
        before = {id(s): run for run in _runs(self.original) for s in run}
        for run in _runs(self.source) if self.modules else ():
            arrived = [s for s in run if isinstance(s, ast.ImportFrom) and s.module in self.modules and not s.level]
            old = next((before[id(s)] for a in arrived for s in self._stood_in(a) if id(s) in before), [])
            keys = [key for key in _ORDERS if old and _is_sorted(old, key)]
            if keys and not any(_is_sorted(run, key) for key in keys):
                yield from self._moves(run, arrived, keys[0], newline)

    def _stood_in(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """The import of the original from which a statement came."""
        offset = self.back(self.source.span(statement)[0])
        for old in self.original.imports:
            start, end = self.original.span(old)
            if start <= offset <= end:
                yield old

    def _moves(self, run: list[_Import], arrived: list[ast.ImportFrom], key: _Order, newline: str) -> Iterator[Splice]:
        """Take the statements that arrived to where the others of their block want them."""
        rest: list[_Import] = [s for s in run if s not in arrived]
        if not rest or not _is_sorted(rest, key):
            return
        for statement in sorted(arrived, key=key):
            place = sum(key(s) <= key(statement) for s in rest)
            index = run.index(statement)
            if sum(s in rest for s in run[:index]) == place:
                continue  # it stands right
            begin, end = _lines(self.source, statement)
            text = self.source.utf8[begin:end].decode("utf-8")
            offset = _lines(self.source, rest[place])[0] if place < len(rest) else _lines(self.source, rest[-1])[1]
            if not text.endswith(("\n", "\r")):
                text += newline
            yield Splice(begin, end, "")
            yield Splice(offset, offset, text)


_Key = tuple[int | str, ...]
_Order = Callable[[_Import], _Key]


def _module(node: _Import) -> str:
    name = node.names[0].name if isinstance(node, ast.Import) else "." * node.level + (node.module or "")
    return name.lower()


def _by_form(node: _Import) -> _Key:
    """The order of isort and ruff: plain imports come first."""
    return isinstance(node, ast.ImportFrom), _module(node)


def _by_module(node: _Import) -> _Key:
    return (_module(node),)


def _by_path(node: _Import) -> _Key:
    """The order of Google's style: that of the full names."""
    return (f"{_module(node)}.{node.names[0].name}".lower() if isinstance(node, ast.ImportFrom) else _module(node),)


_ORDERS: tuple[_Order, ...] = (_by_form, _by_module, _by_path)


def _is_sorted(run: list[_Import], key: _Order) -> bool:
    keys = [key(s) for s in run]
    return keys == sorted(keys)


def _blocks(source: Source) -> Iterator[tuple[ast.AST | None, list[ast.stmt]]]:
    """The blocks that hold imports, and whose they are."""
    for parent in dict.fromkeys(source.parent(s) for s in source.imports):
        for name in _BLOCKS:
            block = getattr(parent, name, None)
            if isinstance(block, list) and block:
                yield parent, block


def _runs(source: Source) -> Iterator[list[_Import]]:
    """Imports on one line after another; in a ``try`` their order may decide what is there when one of them fails."""
    for parent, block in _blocks(source):
        if isinstance(parent, ast.Try):
            continue
        run: list[_Import] = []
        for statement in block:
            alone = isinstance(statement, (ast.Import, ast.ImportFrom)) and _has_line(source, statement)
            if run and not (alone and statement.lineno == (run[-1].end_lineno or 0) + 1):
                yield run
                run = []
            if alone and isinstance(statement, (ast.Import, ast.ImportFrom)):
                run.append(statement)
        if run:
            yield run


def _has_a_line_for_each(source: Source) -> bool:
    """Whether the file imports one name by statement, as some style guides want it, and has several from a module to show it."""
    lists = [s for s in source.tree.body if isinstance(s, ast.ImportFrom)]
    return all(len(s.names) == 1 for s in lists) and len({(s.module, s.level) for s in lists}) < len(lists)


def _times(source: Source, module: str) -> int:
    return sum(isinstance(s, ast.ImportFrom) and s.module == module and not s.level for s in source.tree.body)


def _repeated(statements: list[ast.ImportFrom]) -> Iterator[ast.ImportFrom]:
    """Statements that import nothing but what those before them did."""
    seen: Counter[tuple[str, str | None]] = Counter()
    for statement in statements:
        names = [(a.name, a.asname) for a in statement.names]
        if all(name in seen for name in names):
            yield statement
        seen.update(names)


def _lines(source: Source, statement: ast.stmt) -> tuple[int, int]:
    start, end = source.span(statement)
    return line_start(source.utf8, start), line_end(source.utf8, end)


def _behind(source: Source, statement: ast.stmt) -> str:
    end = source.span(statement)[1]
    return source.utf8[end : line_end(source.utf8, end)].decode("utf-8").strip()


def _has_line(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement has its lines to itself."""
    start = source.span(statement)[0]
    before = source.utf8[line_start(source.utf8, start) : start]
    return not before.strip(b" \t") and _behind(source, statement)[:1] in ("", "#")
