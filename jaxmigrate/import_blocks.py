"""Imports that stand together, once names have moved: those of one module are joined, and a block that was sorted stays so."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from jaxmigrate import import_lists
from jaxmigrate.import_lists import ImportList
from jaxmigrate.imports import Layout, Speller, has_heading, is_own, line_end, line_start, local_name
from jaxmigrate.model import Splice
from jaxmigrate.names import Source

_Import = ast.Import | ast.ImportFrom
_BLOCKS = ("body", "orelse", "finalbody")
_MANY = ("typing", "collections", "__future__")
"""What also those import in one statement who have a line for each name."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The file as it is, as it was, and the modules that names were moved to."""

    source: Source
    original: Source
    modules: set[str]
    back: Callable[[int], int]
    """An offset of the file as it was."""

    def arranged(self, newline: str) -> list[Splice]:
        """The edits of the first step that finds something to do."""
        steps = (self._unguarded, self._joined, self._rehomed, self._sorted)
        return next((found for step in steps if (found := [*step(newline)])), [])

    def _unguarded(self, newline: str) -> Iterator[Splice]:
        """A ``try`` of which both arms import the very same now is that import."""
        for node in dict.fromkeys(self.source.parent(s) for s in self.source.imports) if self.modules else ():
            if not isinstance(node, ast.Try) or len(node.handlers) != 1 or node.orelse or node.finalbody:
                continue
            arms = [node.body, node.handlers[0].body]
            first, other = arms[0][0], arms[1][0]
            same = all(len(arm) == 1 for arm in arms) and ast.dump(first) == ast.dump(other)
            if same and isinstance(first, ast.ImportFrom) and first.module in self.modules and not self._has_comments(node):
                yield Splice(*self.source.span(node), self.source.segment(first))

    def _has_comments(self, node: ast.stmt) -> bool:
        begin, end = _lines(self.source, node)
        return any(begin <= offset < end for offset in self.source.comments)

    def _joined(self, newline: str) -> Iterator[Splice]:
        single = _has_a_line_for_each(self.original)
        for block in _blocks(self.source) if self.modules else ():
            for module in sorted(self.modules):
                same = [s for s in block if isinstance(s, ast.ImportFrom) and s.module == module and not s.level]
                own = [s for s in same if s.names[0].name != "*" and _has_line(self.source, s)]
                if len(own) < 2:
                    continue
                if single or self._were_apart(own):
                    yield from (self._deletion(s) for s in _repeated(own) if not has_heading(self.source, s))
                    continue
                for group in self._beside_each_other(own):
                    if len(group) > 1 and self._may_join(group):
                        yield from self._join(group, newline)

    def _beside_each_other(self, statements: list[ast.ImportFrom]) -> Iterator[list[ast.ImportFrom]]:
        """Those among which no blank line, comment or other code stands: no comment loses its import."""
        numbers = {id(s): number for number, section in enumerate(_sections(self.source)) for s in section}
        return (list(group) for _, group in groupby(statements, lambda s: numbers[id(s)]))

    def _were_apart(self, statements: list[ast.ImportFrom]) -> bool:
        """Whether the file had several statements for one module where these are now."""
        old = dict.fromkeys(o for s in statements for o in self._stood_in(s))
        modules = [o.module for o in old if isinstance(o, ast.ImportFrom)]
        return len(set(modules)) < len(modules)

    def _may_join(self, statements: list[ast.ImportFrom]) -> bool:
        """Whether all have the same comment behind them, and what they bind is bound by nothing else in between."""
        source = self.source
        if len({_behind(source, s) for s in statements}) > 1 or any(self._list(s).has_headings for s in statements[1:]):
            return False
        for statement in statements:
            bindings = (source.scope(statement).bindings.get(local_name(a), ()) for a in statement.names)
            if any(b.statement not in statements for own in bindings for b in own):
                return False
        return True

    def _join(self, statements: list[ast.ImportFrom], newline: str) -> Iterator[Splice]:
        first, *rest = statements
        layout = Layout.of(self.source, first)
        text = layout.fitted(import_lists.joined([*map(self._list, statements)], layout.place), kept=True)
        yield Splice(*self.source.span(first), text.replace("\n", newline))
        yield from map(self._deletion, rest)

    def _list(self, statement: ast.stmt) -> ImportList:
        return import_lists.parse(self.source.unix(*self.source.span(statement)))

    def _deletion(self, statement: ast.stmt) -> Splice:
        return Splice(*_lines(self.source, statement), "")

    def _rehomed(self, newline: str) -> Iterator[Splice]:
        """Put what Python itself has now among the other imports from there."""
        for run in _sections(self.source) if self.modules else ():
            for statement in run:
                came = is_own(statement) and self._is_new(statement) and not any(map(is_own, self._stood_in(statement)))
                others = [s for s in run if is_own(s) and s is not statement]
                at_top = self.source.parent(statement) is self.source.tree and not has_heading(self.source, statement)
                if came and not others and at_top and not self._heads(statement):
                    line = f"{self.source.segment(statement)}  {_behind(self.source, statement)}".rstrip()
                    yield Speller(self.source, newline).at_head(line, statement)
                    yield self._deletion(statement)
                    return

    def _heads(self, statement: ast.stmt) -> bool:
        """Whether no import stands before a statement."""
        return self.source.imports[0] is statement

    def _sorted(self, newline: str) -> Iterator[Splice]:
        before = {id(s): run for run in _runs(self.original) for s in run}
        for run in _runs(self.source) if self.modules else ():
            arrived = [s for s in run if self._is_new(s) and not has_heading(self.source, s)]
            old = next((before[id(s)] for a in arrived for s in self._stood_in(a) if id(s) in before), [])
            keys = _orders(old)
            if keys and not any(_is_sorted(run, key) for key in keys):
                yield from self._moves(run, arrived, keys[0], newline)

    def _is_new(self, statement: _Import) -> bool:
        """Whether a statement has come in the place of one for another module, or for another name."""
        if not isinstance(statement, ast.ImportFrom) or statement.level or statement.module not in self.modules:
            return False
        return all(
            _module(old) != _module(statement) or (len(old.names) == 1 and _name(old) != _name(statement))
            for old in self._stood_in(statement)
        )

    def _stood_in(self, statement: ast.stmt) -> Iterator[_Import]:
        """The import of the original from which a statement came."""
        offset = self.back(self.source.span(statement)[0])
        for old in self.original.imports:
            start, end = self.original.span(old)
            if start <= offset <= end:
                yield old

    def _moves(self, run: list[_Import], arrived: list[_Import], key: _Order, newline: str) -> Iterator[Splice]:
        """Take the statements that arrived to where the others of their block want them."""
        rest = [s for s in run if s not in arrived] or run[:1]
        arrived = [s for s in arrived if s not in rest]
        if not _is_sorted(rest, key) or (has_heading(self.source, rest[0]) and any(key(s) < key(rest[0]) for s in arrived)):
            return
        ends = [_lines(self.source, s) for s in rest]
        for statement in sorted(arrived, key=key):
            place = sum(key(s) <= key(statement) for s in rest)
            begin, end = _lines(self.source, statement)
            text = self.source.utf8[begin:end].decode("utf-8")
            offset = ends[place][0] if place < len(rest) else ends[-1][1]
            yield Splice(begin, end, "")
            yield Splice(offset, offset, text if text.endswith(("\n", "\r")) else text + newline)


_Key = tuple[int | str, ...]
_Order = Callable[[_Import], _Key]


def _module(node: _Import) -> str:
    name = node.names[0].name if isinstance(node, ast.Import) else "." * node.level + (node.module or "")
    return name.lower()


def _name(node: _Import) -> str:
    return node.names[0].name.lower() if isinstance(node, ast.ImportFrom) else ""


def _by_form(node: _Import) -> _Key:
    """The order of isort and ruff: plain imports come first."""
    return isinstance(node, ast.ImportFrom), _module(node)


def _by_module(node: _Import) -> _Key:
    return (_module(node),)


def _by_path(node: _Import) -> _Key:
    """The order of Google's style: that of the full names."""
    return (f"{_module(node)}.{_name(node)}".rstrip("."),)


def _by_form_and_name(node: _Import) -> _Key:
    return (*_by_form(node), _name(node))


def _by_module_and_name(node: _Import) -> _Key:
    return _module(node), _name(node)


def _orders(run: list[_Import]) -> list[_Order]:
    """The orders that imports are in, the finer ones if they are in any."""
    fine: list[_Order] = [key for key in (_by_form_and_name, _by_module_and_name, _by_path) if run and _is_sorted(run, key)]
    coarse: list[_Order] = [key for key in (_by_form, _by_module) if run and _is_sorted(run, key)]
    return fine or coarse


def _is_sorted(run: list[_Import], key: _Order) -> bool:
    keys = [key(s) for s in run]
    return keys == sorted(keys)


def _blocks(source: Source) -> Iterator[list[ast.stmt]]:
    """The blocks that hold imports."""
    for parent in dict.fromkeys(source.parent(s) for s in source.imports):
        for name in _BLOCKS:
            block = getattr(parent, name, None)
            if isinstance(block, list) and block:
                yield block


def _runs(source: Source) -> Iterator[list[_Import]]:
    """Imports from one package on one line after another; in a ``try`` their order may decide what is there when one fails."""
    for section in _sections(source):
        if not isinstance(source.parent(section[0]), ast.Try):
            yield from (list(run) for _, run in groupby(section, _root))


def _sections(source: Source) -> Iterator[list[_Import]]:
    """Imports on one line after another."""
    for block in _blocks(source):
        section: list[_Import] = []
        for statement in block:
            alone = isinstance(statement, (ast.Import, ast.ImportFrom)) and _has_line(source, statement)
            if section and not (alone and statement.lineno == (section[-1].end_lineno or 0) + 1):
                yield section
                section = []
            if alone and isinstance(statement, (ast.Import, ast.ImportFrom)):
                section.append(statement)
        if section:
            yield section


def _root(node: ast.stmt) -> str:
    return _module(node).partition(".")[0] if isinstance(node, (ast.Import, ast.ImportFrom)) else ""


def _has_a_line_for_each(source: Source) -> bool:
    """Whether the file imports one name by statement, as some style guides want it, and has several from a module to show it."""
    lists = [s for s in source.tree.body if isinstance(s, ast.ImportFrom) and _root(s) not in _MANY]
    return all(len(s.names) == 1 for s in lists) and len({_module(s) for s in lists}) < len(lists)


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
