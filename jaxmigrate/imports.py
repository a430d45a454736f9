"""The one editor of import statements: how a name is spelled at a place, where its import goes, what an import loses.

A new import goes where the old one stood, which keeps guards, functions, TYPE_CHECKING blocks and the order of the file; only
where there was none does it go to the top. An import is dropped only when this run took its last use away.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from jaxmigrate import guards, import_lists
from jaxmigrate.import_lists import ImportList, ImportName, Place
from jaxmigrate.model import Splice
from jaxmigrate.names import Binding, NameError_, Scope, Source

_ALIASES = {"numpy": ("np", "onp"), "jax.numpy": ("jnp",), "jax": ("jax",)}
_LONGEST, _LONGEST_AS_IT_WAS = 100, 120
"""An import line longer than this is broken up, and one that takes the place of a single line or of lines as long."""
_WIDTHS, _TELLING = (80, 88, 100), 40
"""Lengths that programs keep to, and how many lines tell of it."""
_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class MovedName:
    """One imported name and where it comes from now."""

    alias: ast.alias
    module: str
    name: str
    """New module and name; for ``import x.y`` statements `name` is empty and `module` the new path."""
    local: str
    """The name it is bound to, which stays."""


@dataclass(frozen=True, slots=True)
class MoveImport:
    """Import some names of a statement from elsewhere, under the same local names; or drop them (`drop`)."""

    node: ast.Import | ast.ImportFrom
    moved: tuple[MovedName, ...]
    drop: frozenset[str] = frozenset()
    """Local names to remove."""


@dataclass(slots=True)
class _Pending:
    """An import that this round adds."""

    local: str
    qualified: str
    scope: Scope
    offset: int
    typing_block: ast.If | None


@dataclass(slots=True)
class Speller:
    """Spells qualified names for the edits of one round and collects the imports they need."""

    source: Source
    newline: str = "\n"
    _pending: list[_Pending] = field(default_factory=list)
    _splices: list[Splice] = field(default_factory=list)
    _extended: list[tuple[ast.ImportFrom, str]] = field(default_factory=list)
    """Names that existing ``from`` imports gain."""

    def mark(self) -> tuple[int, int, int]:
        """A point to go back to when an edit is given up."""
        return len(self._pending), len(self._splices), len(self._extended)

    def reset(self, mark: tuple[int, int, int]) -> None:
        """Forget the imports asked for since `mark`."""
        del self._pending[mark[0] :]
        del self._splices[mark[1] :]
        del self._extended[mark[2] :]

    def splices(self) -> list[Splice]:
        """The insertions of new import statements, and the statements that gain names."""
        added = sorted(self._splices, key=lambda s: (s.start, not s.text.lstrip().startswith("import ")))
        return [*added, *(self._extension(s) for s in dict.fromkeys(s for s, _ in self._extended))]

    def splices_since(self, mark: tuple[int, int, int]) -> list[Splice]:
        """What was asked for since `mark`, with the whole of a statement that gains names."""
        grown = dict.fromkeys(s for s, _ in self._extended[mark[2] :])
        return [*self._splices[mark[1] :], *(self._extension(s) for s in grown)]

    def grown(self, mark: tuple[int, int, int]) -> list[Splice]:
        """The places of statements that gained names before `mark`."""
        return [Splice(*self.source.span(s), "") for s in dict.fromkeys(s for s, _ in self._extended[: mark[2]])]

    def _extension(self, statement: ast.ImportFrom) -> Splice:
        grown = import_lists.parse(self.source.unix(*self.source.span(statement)))
        for name in dict.fromkeys(n for s, n in self._extended if s is statement):
            grown = grown.added(ImportName(name))
        text = Layout.of(self.source, statement).fitted(grown, kept=True)
        return Splice(*self.source.span(statement), text.replace("\n", self.newline))

    def spell(self, qualified: str, at: ast.AST, old: Binding | None = None, *, alone: bool = False) -> str:
        """How `qualified` is written at `at`; `old` is the import through which the old name came.

        It may stand `alone` where it takes the place of one name: imported as that was.

        Raises:
            NameError_: the name needed is taken by something else there.
        """
        visible = self.source.visible(qualified, at)
        if visible and visible.count(".") < 2:
            return visible
        if spelled := self._from_sibling(qualified, at):
            return spelled
        if visible:
            return visible
        for pending in self._pending:
            spelled = self._through(pending.local, pending.qualified, qualified)
            if spelled and self._pending_reaches(pending, at):
                return spelled
        if alone and old is not None and (spelled := self._as_imported(qualified, at, old)):
            return spelled
        local, held, statement = self._choose(qualified, at, old)
        self._add(statement, local, held, at, old)
        spelled = self._through(local, held, qualified)
        assert spelled is not None
        return spelled

    def load(self, module: str, at: ast.AST) -> None:
        """Add ``import module`` for its effect: the module becomes reachable by attributes."""
        self._splices.append(self.at_head(f"import {module}", at))

    def _through(self, local: str, held: str, qualified: str) -> str | None:
        if held == qualified:
            return local
        if not qualified.startswith(held + "."):
            return None
        module = self.source.facts.home_of(qualified)
        if module == held or self.source.facts.is_attribute_path(held, module):
            return local + qualified[len(held) :]
        return None

    def _pending_reaches(self, pending: _Pending, at: ast.AST) -> bool:
        scope: Scope | None = self.source.scope(at)
        root = pending.local.partition(".")[0]
        while scope is not None and scope is not pending.scope:
            if root in scope.bindings and not scope.is_class:
                return False
            scope = scope.parent
        if scope is None:
            return False
        if pending.typing_block is not None and not guards.is_lazy(self.source, at):
            return guards.type_checking_block(self.source, at) is pending.typing_block
        return (
            self.source.scope(at) is not pending.scope
            or pending.offset <= self.source.span(at)[0]
            or guards.is_lazy(self.source, at)
        )

    def _choose(self, qualified: str, at: ast.AST, old: Binding | None) -> tuple[str, str, str]:
        """Local name, what it holds, and the import statement."""
        for local, held, statement in self._candidates(qualified, at):
            root = local.partition(".")[0]
            if self._is_free(root, held if root == local else root, at, old):
                return local, held, statement
        raise NameError_(f"the name {qualified.partition('.')[0]!r} means something else here")

    def _candidates(self, qualified: str, at: ast.AST) -> Iterator[tuple[str, str, str]]:
        facts, root = self.source.facts, qualified.partition(".")[0]
        module, _, leaf = qualified.rpartition(".")
        home = facts.home_of(qualified)
        if not module:
            yield leaf, qualified, f"import {leaf}"
        elif facts.is_attribute_path(root, home):
            for local in _ALIASES.get(root, (root,)):
                yield local, root, f"import {root}" if local == root else f"import {root} as {local}"
            yield leaf, qualified, f"from {module} import {leaf}"
        else:
            parent, _, name = module.rpartition(".")
            whole = home, home, f"import {home}"
            by_path = facts.is_by_path(home)
            if by_path and self.source.visible(root, at) == root:
                yield whole
            if parent and home == module and module not in facts.by_path | facts.containers:
                yield name, module, f"from {parent} import {name}"
            elif parent:
                yield leaf, qualified, f"from {module} import {leaf}"
            if by_path:
                yield whole
            yield leaf, qualified, f"from {module} import {leaf}"
            yield whole

    def _from_sibling(self, qualified: str, at: ast.AST) -> str | None:
        """The bare name, where the file already imports others from the same submodule with ``from``: it gains this one."""
        module, _, leaf = qualified.rpartition(".")
        if "." not in module:
            return None
        for statement in self.source.imports:
            if not (isinstance(statement, ast.ImportFrom) and not statement.level and statement.module == module):
                continue
            if not has_run(self.source, statement, at) or any(a.name == leaf and a.asname for a in statement.names):
                continue
            first = statement.names[0]
            if first.name != "*" and self._is_free(leaf, qualified, at, Binding(leaf, "import", first, statement, qualified)):
                self._extended.append((statement, leaf))
                return leaf
        return None

    def _as_imported(self, qualified: str, at: ast.AST, old: Binding) -> str | None:
        """The bare name, in a file without ``import jax`` that took the old one with ``from``, if it speaks for itself."""
        module, _, leaf = qualified.rpartition(".")
        statement, root = old.statement, qualified.partition(".")[0]
        if not isinstance(statement, ast.ImportFrom) or statement.level or not isinstance(at, ast.Name):
            return None
        if self.source.parent(statement) is not self.source.tree or any(p.local == root for p in self._pending):
            return None
        if "_" not in leaf or not leaf.islower() or self.source.visible(root, at) or not self._is_free(leaf, qualified, at, None):
            return None
        if statement.module == module:
            self._extended.append((statement, leaf))
        elif self.source.facts.is_attribute_path(root, module):
            self._add(f"from {module} import {leaf}", leaf, qualified, at, old)
        else:
            return None
        return leaf

    def _is_free(self, local: str, held: str, at: ast.AST, old: Binding | None) -> bool:
        """Whether binding `local` where the import would go captures nothing and is seen from `at`."""
        target = self.source.scope(old.statement) if old and old.statement else self.source.scope_root
        scope: Scope | None = self.source.scope(at)
        while scope is not None and scope is not target:
            if local in scope.bindings and not (scope.is_class and scope is not self.source.scope(at)):
                return False
            scope = scope.parent
        if scope is None:
            return False
        for binding in target.bindings.get(local, ()):
            if binding.kind != "import" or (binding.qualified.partition(".")[0] != held and binding.qualified != held):
                return False
        if local in target.bindings:
            return True
        if hasattr(builtins, local) or (target is self.source.scope_root and self._may_be_starred(local, held)):
            return False
        return not any(self._is_captured(node, held, target) for node in self.source.by_id.get(local, ()))

    def _may_be_starred(self, local: str, held: str) -> bool:
        """Whether a star import may give another `local` here, or a new one would reach those who star-import this module."""
        source = self.source
        if held == held.partition(".")[0] or local in _ALIASES.get(held, ()):
            return False  # the library itself, under the name by which everybody knows it
        if "*" in source.index.consumed.get(source.module, ()) and "__all__" not in source.scope_root.bindings:
            return True
        given = (source.facts.history.members(source.absolute(s.module, s.level)) for s in source.stars)
        return any(not members or local in members for members in given)

    def _is_captured(self, node: ast.Name, held: str, target: Scope) -> bool:
        """Whether a use, of a builtin or a star import or of a name from further out, would start to mean something else."""
        scope: Scope | None = self.source.scope(node)
        bindings, holder = self.source.lookup(node.id, scope) if scope is not None else ([], None)
        if holder is None:
            return True
        while scope is not None and scope is not target:
            if scope is holder:
                return False  # an inner scope has its own
            scope = scope.parent
        same = all(b.kind == "import" and b.qualified in (held, held.partition(".")[0]) for b in bindings)
        return scope is target and not same

    def _add(self, statement: str, local: str, held: str, at: ast.AST, old: Binding | None) -> None:
        anchor = old.statement if old is not None and isinstance(old.statement, _IMPORTS) else None
        source = self.source
        at_top = anchor is not None and source.parent(anchor) is source.tree
        if at_top and anchor is not None and self._goes_to_head(statement, at, anchor):
            anchor = None
        tried = anchor is not None and isinstance(source.parent(anchor), ast.Try) and source.scope(anchor) is source.scope_root
        if anchor is not None and tried and _root_of(statement) != _module_of(anchor).partition(".")[0]:
            anchor = None  # what is caught there is not about another package
        if anchor is not None:
            splice = insert_before(source, anchor, statement, self.newline)
            scope, block = source.scope(anchor), guards.type_checking_block(source, anchor)
        else:
            splice = self.at_head(statement, at, old.statement if old is not None else None)
            scope, block = source.scope_root, None
        self._splices.append(splice)
        self._pending.append(_Pending(local, held, scope, splice.start, block))

    def _goes_to_head(self, statement: str, at: ast.AST, anchor: _Import) -> bool:
        """Whether an import goes among those of its package, or of its kind; not from below a comment about the old one."""
        if isinstance(anchor, ast.ImportFrom) and anchor.level:
            return True
        about_it = has_heading(self.source, anchor) and _root_of(statement) == _module_of(anchor).partition(".")[0]
        return not about_it and self._has_place(statement, at, anchor)

    def _has_place(self, statement: str, at: ast.AST, anchor: ast.stmt | None) -> bool:
        """Whether the head of the file imports from the same package already, so that one more import runs nothing earlier.

        A module of Python itself, and what is imported beside the old name, may go to their place there too.
        """
        root, head = _root_of(statement), _head(self.source, self._limit(at))[0]
        return any(_module_of(n).partition(".")[0] == root for n in head) or root in sys.stdlib_module_names or anchor in head

    def _limit(self, at: ast.AST) -> int:
        """The offset before which an import must stand to be there for `at`."""
        return self.source.span(at)[0] if self.source.scope(at) is self.source.scope_root else len(self.source.utf8)

    def at_head(self, statement: str, at: ast.AST, beside: ast.stmt | None = None) -> Splice:
        """A new import among those at the head of the file (sorted in, where it has neighbours), but before the first use."""
        source, nl = self.source, self.newline
        head, doc = _head(source, self._limit(at))
        root = _root_of(statement)
        if not any(_module_of(n).partition(".")[0] == root for n in head) and (later := self._later_family(root, at)):
            return insert_before(source, later, statement, nl)  # what runs before it (an environment variable) may be for it
        if not head:
            relative = next((n for n in source.tree.body if isinstance(n, ast.ImportFrom) and n.level), None)
            if relative is not None and source.span(relative)[0] < self._limit(at):
                return insert_before(source, relative, statement, nl)
            if doc is None:
                offset = _after_header(source)
                return Splice(offset, offset, statement + nl)
            return self._after_line(doc, nl + statement if isinstance(doc, ast.Expr) else statement)
        previous, following = _neighbours(head, statement, beside)
        if previous is None:
            assert following is not None
            return insert_before(source, following, statement + "\n" * (is_own(statement) and not is_own(following)), nl)
        return self._after_line(previous, statement)

    def _later_family(self, root: str, at: ast.AST) -> ast.Import | ast.ImportFrom | None:
        """The first import from the package at the top level, behind the head of the file."""
        limit = self._limit(at)
        found = (n for n in self.source.tree.body if isinstance(n, _IMPORTS) and _module_of(n).partition(".")[0] == root)
        return next((n for n in found if self.source.span(n)[0] < limit and not getattr(n, "level", 0)), None)

    def _after_line(self, last: ast.stmt, statement: str) -> Splice:
        source, nl = self.source, self.newline
        end = source.span(last)[1]
        offset = line_end(source.utf8, end)
        if source.utf8[end:offset].lstrip(b" \t").startswith(b";"):
            if not isinstance(last, _IMPORTS) or getattr(last, "module", "") == "__future__":
                raise NameError_("there is no line of its own for a new import")
            return insert_before(source, last, statement, nl)
        if offset == len(source.utf8) and not source.utf8.endswith((b"\n", b"\r")):
            return Splice(offset, offset, nl + statement)
        return Splice(offset, offset, statement + nl)


def _head(source: Source, limit: int) -> tuple[list[ast.Import | ast.ImportFrom], ast.stmt | None]:
    """The absolute imports at the head of the file, and the last docstring or ``__future__`` line."""
    head: list[ast.Import | ast.ImportFrom] = []
    doc: ast.stmt | None = None
    for number, node in enumerate(source.tree.body):
        if number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            doc = node
        elif isinstance(node, _IMPORTS):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                doc = node
            elif source.span(node)[0] < limit and not getattr(node, "level", 0):
                head.append(node)
        elif not (_is_head(node) or _is_about_module(node)):
            break
    return head, doc


_Import = ast.Import | ast.ImportFrom
_Place = tuple[_Import | None, _Import | None]
"""The import after which, or else before which, another belongs."""


def _neighbours(head: list[_Import], statement: str, beside: ast.stmt | None) -> _Place:
    """The place of a new import among its family, the modules of Python itself, or those that stand `beside` the old one."""
    new = ast.parse(statement).body[0]
    assert isinstance(new, _IMPORTS)
    root = _module_of(new).partition(".")[0]
    family = [n for n in head if _module_of(n).partition(".")[0] == root]
    if not family and root in sys.stdlib_module_names:
        family = [n for n in head if is_own(n)]
        if not family:
            return None, head[0]
    if isinstance(new, ast.ImportFrom):
        return _from_neighbours(head, family or _section(head, beside), _module_of(new))
    if family:
        beside_it = [] if is_own(family[0]) else _plain_first(_section(head, family[0]))
        return _plain_neighbours(beside_it or family, _module_of(new))
    plain: list[_Import] = [n for n in _section(head, beside) if isinstance(n, ast.Import)]
    if plain:
        return _plain_neighbours(plain, root)
    return next((n for n in reversed(head) if isinstance(n, ast.Import)), head[-1]), None


def _plain_first(section: list[_Import]) -> list[_Import]:
    """The plain imports of a section in which all of them stand before the others."""
    plain: list[_Import] = [n for n in section if isinstance(n, ast.Import)]
    return plain if section[: len(plain)] == plain else []


def _plain_neighbours(family: list[_Import], module: str) -> _Place:
    smaller = [n for n in family if isinstance(n, ast.Import) and _module_of(n) <= module]
    return (smaller[-1], None) if smaller else (None, family[0])


def _from_neighbours(head: list[_Import], family: list[_Import], module: str) -> _Place:
    fellows = [n for n in family if isinstance(n, ast.ImportFrom)]
    before = [n for n in fellows if _module_of(n) <= module]
    if before:
        return before[-1], None
    if fellows:
        return None, fellows[0]
    return _last_plain(head, family[-1] if family else head[-1]), None


def _section(head: list[_Import], beside: ast.stmt | None) -> list[_Import]:
    """The imports of other packages on the lines around one, or on the first lines that have any."""
    sections: list[list[_Import]] = [[]]
    for node in head:
        if sections[-1] and node.lineno != (sections[-1][-1].end_lineno or 0) + 1:
            sections.append([])
        sections[-1].append(node)
    found = next((s for s in sections if beside in s), None) or next((s for s in sections if not all(map(is_own, s))), [])
    return [n for n in found if not is_own(n)]


def is_own(statement: str | _Import) -> bool:
    """Whether an import is of a module of Python itself."""
    root = _root_of(statement) if isinstance(statement, str) else _module_of(statement).partition(".")[0]
    return root in sys.stdlib_module_names


def _last_plain(head: list[ast.Import | ast.ImportFrom], start: ast.Import | ast.ImportFrom) -> ast.Import | ast.ImportFrom:
    """The end of the block of plain imports that `start` stands in: ``from`` imports come after it."""
    last = start
    for node in head[head.index(start) + 1 :]:
        if not isinstance(node, ast.Import) or node.lineno != (last.end_lineno or last.lineno) + 1:
            break
        last = node
    return last


def _root_of(statement: str) -> str:
    """The package that a statement imports from."""
    return statement.split()[1].partition(".")[0]


def _module_of(node: ast.Import | ast.ImportFrom) -> str:
    return node.names[0].name if isinstance(node, ast.Import) else node.module or ""


def _is_head(node: ast.stmt) -> bool:
    """Statements that commonly stand between imports: guards, flags, path settings."""
    return isinstance(node, (ast.Try, ast.If)) and all(isinstance(s, (*_IMPORTS, ast.Assign, ast.Pass)) for s in node.body)


def _is_about_module(node: ast.stmt) -> bool:
    """What a module says of itself, such as ``__all__``, stands before its imports."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return bool(targets) and all(isinstance(t, ast.Name) and t.id[:2] == t.id[-2:] == "__" for t in targets)


def _after_header(source: Source) -> int:
    """Offset behind shebang, coding line and the comment block at the top."""
    offset = 0
    for line in source.utf8.splitlines(keepends=True):
        if not line.startswith(b"#"):
            break
        offset += len(line)
    return offset


def line_start(utf8: bytes, offset: int) -> int:
    """Offset of the start of the line that holds `offset`."""
    return max(utf8.rfind(b"\n", 0, offset), utf8.rfind(b"\r", 0, offset)) + 1


def line_end(utf8: bytes, offset: int) -> int:
    """Offset behind the line break that ends the line of `offset` (or the end of the text)."""
    for index in range(offset, len(utf8)):
        if utf8[index] == 10:
            return index + 1
        if utf8[index] == 13:
            return index + 2 if utf8[index + 1 : index + 2] == b"\n" else index + 1
    return len(utf8)


def insert_before(source: Source, anchor: ast.stmt, text: str, newline: str) -> Splice:
    """Put one-line statements before `anchor`: on lines of their own, or with ``;`` where it shares its line."""
    start = source.span(anchor)[0]
    begin = line_start(source.utf8, start)
    indent = source.utf8[begin:start]
    if indent.strip(b" \t\x0c"):
        if "\n" in text:
            raise NameError_("several statements do not fit on a shared line")
        return Splice(start, start, text + "; ")
    padding = indent.decode("utf-8").replace("\x0c", "")
    return Splice(start, start, text.replace("\n", newline + padding) + newline + padding)


def has_heading(source: Source, statement: ast.stmt) -> bool:
    """Whether the line above a statement is a comment, which is about it."""
    lines = source.utf8[: line_start(source.utf8, source.span(statement)[0])].splitlines()
    return bool(lines) and lines[-1].lstrip().startswith(b"#")


def local_name(alias: ast.alias) -> str:
    """The name an import alias binds."""
    return alias.asname or alias.name.partition(".")[0]


def imported_name(source: Source, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """The qualified name that an import alias stands for, as written."""
    if isinstance(statement, ast.Import):
        return alias.name
    return f"{source.absolute(statement.module, statement.level)}.{alias.name}"


def exported(source: Source, name: str) -> bool:
    """Whether other modules may take `name` from this one."""
    if name in all_names(source):
        return True
    if source.is_package and not name.startswith("_"):
        return True
    return name in source.index.consumed.get(source.module, frozenset())


def all_names(source: Source) -> frozenset[str]:
    """The strings of ``__all__``."""
    names: set[str] = set()
    for binding in source.scope_root.bindings.get("__all__", ()):
        statement = binding.statement
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
            names |= {n.value for n in ast.walk(statement.value) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return frozenset(names)


def is_used(source: Source, alias: ast.alias, statement: ast.stmt) -> bool:
    """Whether anything in the file still reads the name that `alias` binds."""
    name = local_name(alias)
    scope = source.scope(statement)
    dotted = alias.name if isinstance(statement, ast.Import) and not alias.asname and "." in alias.name else ""
    for node in source.by_id.get(name, ()):
        if not isinstance(node.ctx, ast.Load) or source.lookup_at(node)[1] is not scope:
            continue
        if not dotted or chain(source, node).startswith(dotted):
            return True
    for attribute in source.strings:
        value = attribute.value
        if isinstance(value, str) and name in value and _is_annotation_string(source, attribute, name):
            return True
    return scope is source.scope_root and name in all_names(source)


def has_run(source: Source, statement: ast.stmt, at: ast.AST) -> bool:
    """Whether an import has surely run before `at`: at the top level, or above it in the same function or block."""
    if source.parent(statement) is source.tree:
        inside = source.scope(at) is not source.scope_root
        return not (guards.runs_too_late(source, statement, at) if inside else statement.lineno > getattr(at, "lineno", 0))
    around = {a for a in source.ancestors(at) if isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef))}
    scope = source.scope(statement)
    if scope is not source.scope_root and scope.node not in around:
        return False
    if any(isinstance(a, ast.Try) and a.handlers for a in source.ancestors(statement)):
        return False
    return statement.lineno <= getattr(at, "lineno", 0) and guards.condition_holds(source, statement, at)


def is_idle(source: Source, alias: ast.alias, statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether a name is imported for nothing: used by nobody here, taken by nobody from here, and not there on purpose."""
    scope = source.scope(statement)
    line = source.utf8[source.offset(alias.lineno, 0) :].partition(b"\n")[0]
    if alias.asname == alias.name or b"noqa" in line or source.guard(statement) or _is_list_of_names(source):
        return False
    if is_used(source, alias, statement) or len(source.lookup(local_name(alias), scope)[0]) > 1 or scope.is_class:
        return False
    return not (guards.is_probe(source, statement) or (scope is source.scope_root and exported(source, local_name(alias))))


def _is_list_of_names(source: Source) -> bool:
    """Whether a file has nothing but imports: it is there for others."""
    kinds = (*_IMPORTS, ast.Try, ast.If)
    return all(isinstance(s, kinds) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in source.tree.body)


def chain(source: Source, node: ast.AST) -> str:
    """The longest dotted name that starts at `node`."""
    parts = [node.id] if isinstance(node, ast.Name) else []
    parent = source.parent(node)
    while isinstance(parent, ast.Attribute):
        parts.append(parent.attr)
        parent = source.parent(parent)
    return ".".join(parts)


def _is_annotation_string(source: Source, node: ast.Constant, name: str) -> bool:
    if not guards.in_annotation(source, node):
        return False
    import re

    return re.search(rf"\b{re.escape(name)}\b", str(node.value)) is not None


def render_move(source: Source, change: MoveImport, newline: str) -> list[Splice]:
    """The splices of a `MoveImport`; none when nothing is left of the statement."""
    node = change.node
    start, end = source.span(node)
    layout = Layout.of(source, node)
    dropped = [a for a in node.names if local_name(a) in change.drop and not (len(node.names) > 1 and is_used(source, a, node))]
    moved = (*change.moved, *(m for a in dropped if (m := _bare_root(source, node, a)) is not None))
    gone = {id(m.alias) for m in moved} | {id(a) for a in dropped}
    rest = [a for a in node.names if id(a) not in gone]
    written = import_lists.parse(source.unix(start, end))
    here = tuple(m for m in moved if isinstance(node, ast.ImportFrom) and m.module == node.module and not node.level)
    stay = {**{_as_name(a): _as_name(a) for a in rest}, **{_as_name(m.alias): _new_name(m) for m in here}}
    kept = [layout.fitted(k.renamed(stay), kept=True)] if (k := written.select(stay.__contains__)) else []
    if isinstance(node, ast.Import):
        new = [f"import {m.module} as {m.local}" if m.alias.asname else f"import {m.module}" for m in moved]
    else:
        new = [layout.fitted(group) for group in _groups(written, moved, stay, layout.place.indent)]
    if not (kept or new):
        return []
    fails = isinstance(source.parent(node), ast.Try) and any(source.is_dead(imported_name(source, node, a)) for a in rest)
    first = _as_name(node.names[-1]) in stay and node.lineno != node.end_lineno
    text = layout.joined([*new, *kept] if fails else [*kept, *new], 0 if first and not fails else -1)
    return [Splice(start, end if layout.place.shared else end + layout.tail, text.replace("\n", newline))]


def _bare_root(source: Source, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> MovedName | None:
    """``import jax.experimental.gone`` becomes ``import jax`` when it is what binds ``jax`` for the rest of the file."""
    root = alias.name.partition(".")[0]
    if not isinstance(statement, ast.Import) or alias.asname or root == alias.name:
        return None
    bindings = source.lookup(root, source.scope(statement))[0]
    others = [b.statement for b in bindings if b.statement and b.node is not alias and not _goes_after(source, alias, b)]
    if all(any(has_run(source, other, use) for other in others) for use in source.by_id.get(root, ())):
        return None  # the rest of the file has the name from them
    return MovedName(alias, root, "", root)


def _goes_after(source: Source, alias: ast.alias, other: Binding) -> bool:
    """Whether another dotted import, further down, may go in the same step: the first of them is to keep the root bound."""
    node = other.node
    if not isinstance(node, ast.alias) or other.statement is None or node.asname or "." not in node.name:
        return False
    below = (node.lineno, node.col_offset) > (alias.lineno, alias.col_offset)
    return below and not is_used(source, node, other.statement)


def _as_name(alias: ast.alias) -> ImportName:
    return ImportName(alias.name, alias.asname)


def _groups(
    written: ImportList, moved: tuple[MovedName, ...], stay: Mapping[ImportName, ImportName], indent: str
) -> Iterator[ImportList]:
    """The new statements, one for each module, laid out as the old one, without the names that `stay` in that."""
    taken = set(stay)
    elsewhere = [m for m in moved if _as_name(m.alias) not in stay]
    for module in dict.fromkeys(m.module for m in elsewhere):
        names = {_as_name(m.alias): _new_name(m) for m in elsewhere if m.module == module}
        group = written.select(names.__contains__, taken.__contains__)
        assert group is not None
        yield group.moved(module, names, indent)
        taken |= names.keys()


def _new_name(moved: MovedName) -> ImportName:
    explicit = moved.alias.asname == moved.alias.name  # `X as X` marks a re-export for type checkers
    return ImportName(moved.name, None if moved.local == moved.name and not explicit else moved.local)


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of an import statement that is written anew."""

    place: Place
    behind: str
    """The comment behind it, with the white space before it."""
    tail: int
    """The length of that comment in bytes."""

    @classmethod
    def of(cls, source: Source, node: ast.stmt) -> Layout:
        """The place of a statement."""
        utf8, (start, end) = source.utf8, source.span(node)
        before = utf8[line_start(utf8, start) : start].decode("utf-8").replace("\x0c", "")
        rest = utf8[end : line_end(utf8, end)].rstrip()
        after = rest.decode("utf-8").strip()
        place = Place(
            limit=min(_longest_import(source.unix(start, end)), _longest_line(source)),
            indent=before if not before.strip() else "",
            unit="\t" if "\t" in before else "    ",
            shared=bool(before.strip()) or after.startswith((";", "\\")),
            aligned=_aligns(source),
        )
        return cls(place, *((rest.decode("utf-8"), len(rest)) if after.startswith("#") else ("", 0)))

    def fitted(self, statement: ImportList, *, kept: bool = False) -> str:
        """A statement in the form its author would give it; the shape of one that is `kept` is not changed without need."""
        return statement.fitted(self.place, tall=kept).text(shared=self.place.shared)

    def joined(self, statements: list[str], commented: int) -> str:
        """The statements that take the place of one; a comment behind it goes to one of them, one for checkers to all."""
        if self.place.shared:
            return "; ".join(statements)
        pragma = import_lists.PRAGMA.match(self.behind.strip())
        last = range(len(statements))[commented]
        ends = [(pragma and not s.endswith(self.behind)) or n == last for n, s in enumerate(statements)]
        return f"\n{self.place.indent}".join(s + self.behind * bool(end) for s, end in zip(statements, ends, strict=True))


def _longest_import(written: str) -> int:
    """How long the line of an import may be: as those were that its author did not break."""
    lines = written.split("\n")
    return _LONGEST_AS_IT_WAS if len(lines) == 1 or max(map(len, lines)) > _LONGEST else _LONGEST


def _longest_line(source: Source) -> int:
    """The length that the lines of the file keep to, as far as it tells."""
    lengths = [len(line.rstrip()) for line in source.utf8.splitlines() if b"://" not in line]
    if len(lengths) < _TELLING:
        return _LONGEST_AS_IT_WAS
    return next((w for w in _WIDTHS if sum(n > w for n in lengths) * 100 <= len(lengths)), _LONGEST_AS_IT_WAS)


def _aligns(source: Source) -> bool:
    """Whether the long import lists of the file begin beside their bracket, as most of a style do."""
    long = [s for s in source.imports if isinstance(s, ast.ImportFrom) and s.end_lineno != s.lineno]
    return sum(s.names[0].lineno == s.lineno for s in long) * 2 > len(long)


def commented(text: str, name: str, comment: str) -> str | None:
    """An import list with a comment behind a name that has a line to itself; None if that has one, or no such line."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        bare = line.rstrip("\r\n")
        if bare.strip().rstrip(",") == name:
            lines[number] = f"{bare}  {comment}{line[len(bare) :]}"
            return "".join(lines)
    return None
