"""The rename verb: what happens to every use and import of a name that a codemod moved (`Codemod.rename`).

Two ways, chosen for each import: where the local name can stay (same last part, an ``as``, a re-export), only the import moves;
elsewhere the uses are rewritten and the import goes when the last use has gone.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

from jaxmigrate import codemod as api
from jaxmigrate import roundabout, values
from jaxmigrate.codemod import Codemod, Manual, Move, NameSite, ReplaceExpr, Rewrite, Template
from jaxmigrate.edits import AnyChange, Collapse, elements
from jaxmigrate.imports import MovedName, MoveImport, exported, is_idle, local_name
from jaxmigrate.model import Applicability, Settings, Severity, Version
from jaxmigrate.names import Binding, Resolved, Source
from jaxmigrate.scan import last_part

_LOOKS_UP = re.compile(r"patch|import|locate|resolve|setattr|delattr", re.IGNORECASE)
"""Callees that look an object up by a dotted path."""


_UNRECORDED = ("jaxlib.", "jax._src.")
"""Where no record tells what a release had; what moves from there was there in all releases before its successor."""


@dataclass(slots=True, eq=False)
class Proposal:
    """A finding in the making: what a codemod said about a place, with the changes still to be rendered."""

    codemod: str
    node: ast.AST
    message: str
    applicability: Applicability
    changes: tuple[AnyChange, ...] = ()
    symbol: str = ""
    old: Binding | None = None
    """The import the old name came through: new imports go beside it."""
    guard: str = ""
    kept: Binding | None = None
    """This import stays because uses of it do; it shares their outcome."""
    requires: Version | None = None
    """The JAX that the edit needs beyond what its names say (a keyword, say)."""
    severity: Severity = Severity.NORMAL
    raises: frozenset[str] = frozenset()
    """What the old use raises today, beside what tells of a name or argument that is gone."""


@dataclass(slots=True, eq=False)
class _Use:
    node: ast.expr
    found: Resolved
    codemod: Codemod
    move: Move
    reports: list[api.Report] = field(default_factory=list)
    silent: bool = False
    """The handler said nothing at all is to be done here (another site's edit covers it)."""

    @property
    def renames(self) -> bool:
        """Whether the plain rename is wanted here."""
        return not self.silent and not any(isinstance(r, Manual) or (isinstance(r, Rewrite) and r.changes) for r in self.reports)

    def verdict(self) -> tuple[str, Applicability]:
        """Message and applicability of the rename."""
        for report in self.reports:
            if isinstance(report, Rewrite) and not report.changes:
                return report.message, report.applicability
        return _default(self.move), Applicability.SAFE


def _default(move: Move) -> str:
    return move.message.format(old=move.old, new=move.new)


def collect(source: Source, codemods: list[Codemod], settings: Settings, touched: set[str]) -> Iterator[Proposal]:
    """All proposals of the rename tables of `codemods`; `touched` are names of which this run already replaced uses."""
    moves = _moves_of(tuple(c for c in codemods if c.moves), settings.target)
    if not moves:
        return
    uses = list(_uses(source, moves, settings))
    staying = yield from _imports(source, moves, uses, touched, settings.target)
    plain: list[_Use] = []
    for use in uses:
        for report in use.reports:
            if isinstance(report, Manual) or (isinstance(report, Rewrite) and report.changes):
                yield _reported(use, report)
        if use.renames and use.found.direct:
            plain.append(use)
    yield from _renamed(source, plain, {u.node for u in plain if u.found.binding in staying.get(u.node, ())})
    yield from _strings(source, moves, settings)


@functools.lru_cache(maxsize=8)
def _moves_of(codemods: tuple[Codemod, ...], target: Version) -> dict[str, tuple[Codemod, Move]]:
    moves: dict[str, tuple[Codemod, Move]] = {}
    for codemod in codemods:
        moves |= codemod.moves_at(target)
    return moves


def _uses(source: Source, moves: dict[str, tuple[Codemod, Move]], settings: Settings) -> Iterator[_Use]:
    mine = roundabout.replaced(source)
    doubled = {name: where for name, where in roundabout.doubled(source).items() if name in moves and moves[name][1].handler}
    for node, found in source.references(moves.keys()):
        codemod, move = moves[found.qualified]
        use = _Use(node, found, codemod, move)
        if found.qualified in mine and isinstance(getattr(node, "ctx", None), ast.Load):
            where = mine[found.qualified]
            use.reports.append(
                Manual(f"{_default(move)}, but something else is assigned to it in {where}: call that by its name")
            )
            yield use
            continue
        if found.qualified in doubled:
            where = doubled[found.qualified]
            use.reports.append(Manual(f"{_default(move)}, but a test double stands in for it in {where}: change both together"))
            yield use
            continue
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            use.reports.append(Manual(f"{found.qualified} is assigned to here; it does not exist any more"))
            yield use
            continue
        why = _no_common_spelling(source, move, settings.target)
        if why and not source.is_dead(move.old):
            use.silent = True  # it works everywhere; that it is deprecated is said once, at its import
        elif move.handler is None and _is_left_behind(source, node, move):
            use.silent = True  # what is read of it is judged by itself
        elif move.handler is not None:
            site = NameSite(source, node, settings, found.qualified, found.direct, source.is_quoted(node))
            result = move.handler(site)
            use.reports.extend(api.reports(result))
            use.silent = result is not None and not use.reports
        if why and use.renames:
            use.reports[:] = [Manual(why)]
        yield use


def _is_left_behind(source: Source, node: ast.expr, move: Move) -> bool:
    """Whether something is read of a module that its new home does not have."""
    history, parent = source.facts.history, source.parent(node)
    asked = parent.args[1:2] if isinstance(parent, ast.Call) and parent.args[:1] == [node] else []
    names = [parent.attr] if isinstance(parent, ast.Attribute) else [str(a.value) for a in asked if isinstance(a, ast.Constant)]
    if not names or not history.members(move.new):
        return False
    entry, old = history.entry(f"{move.new}.{names[0]}"), f"{move.old}.{names[0]}"
    return (old in history.advices or history.entry(old) is not None) and (entry is None or not entry.alive)


def _no_common_spelling(source: Source, move: Move, target: Version) -> str:
    """Why no name serves both the target and the newest release, where the target still has the old one; empty if one does."""
    since = source.facts.since_of(move.new)
    if since is None or since <= target:
        return ""
    old = source.facts.history.entry(move.old)
    if not old.at(target) if old is not None else not move.old.startswith(_UNRECORDED):
        return ""
    return f"{move.old} is {move.new} now, but that came with JAX {since}, after the target {target}: choose by version"


def _reported(use: _Use, report: Manual | Rewrite) -> Proposal:
    node, old, binding = report.at or use.node, use.move.old, use.found.binding
    severity = use.codemod.severity if report.severity is None else report.severity
    if isinstance(report, Manual):
        return Proposal(use.codemod.name, node, report.message, Applicability.MANUAL, (), old, binding, severity=severity)
    return Proposal(use.codemod.name, node, report.message, report.applicability, report.changes, old, binding, severity=severity)


def _imports(
    source: Source, moves: dict[str, tuple[Codemod, Move]], uses: list[_Use], touched: set[str], target: Version
) -> Generator[Proposal, None, dict[ast.AST, list[Binding]]]:
    """Propose import moves; returns (as the generator's value) the uses whose local name stays."""
    staying: dict[ast.AST, list[Binding]] = {}
    by_binding = _by_binding(uses)
    for statement in source.imports:
        groups: dict[str, list[tuple[Move, MovedName, list[_Use]]]] = {}
        idle: list[tuple[Codemod, Move, MovedName]] = []
        for codemod, move, moved in filter(None, (_moved(statement, alias, moves, target) for alias in statement.names)):
            if _no_common_spelling(source, move, target) or _path_stays(statement, move, uses):
                continue
            own = by_binding.get(moved.alias, [])
            if not own and moved.local not in touched and _is_for_nothing(source, statement, move, moved):
                idle.append((codemod, move, moved))
                continue
            manual = any(isinstance(report, Manual) for use in own for report in use.reports)
            if manual or not _name_stays(source, statement, moved.alias, move, own, touched):
                continue  # a use that must stay keeps the old import; the others are renamed one by one
            for use in own:
                staying.setdefault(use.node, []).append(use.found.binding)
            if all(use.renames for use in own):  # what must be reshaped goes first
                groups.setdefault(codemod.name, []).append((move, moved, own))
        if groups:
            yield _import_proposal(source, statement, groups)
        yield from _left_out(statement, idle)
    return staying


def _is_for_nothing(source: Source, statement: ast.Import | ast.ImportFrom, move: Move, moved: MovedName) -> bool:
    """Whether a name is unused and its new import would be a makeshift: under another name, or from where nobody would look."""
    if not source.is_dead(move.old) or not moved.name or not is_idle(source, moved.alias, statement):
        return False
    advice = source.facts.history.advice(move.old)
    renamed = not moved.alias.asname and moved.local != moved.name
    return renamed or (advice is not None and advice.symbol == move.old and advice.verb != "move")


def _left_out(statement: ast.Import | ast.ImportFrom, idle: list[tuple[Codemod, Move, MovedName]]) -> Iterator[Proposal]:
    """Names that are gone and that nobody uses go without a successor."""
    if not idle:
        return
    names = " and ".join(move.old for _, move, _ in idle)
    message = f"{names} {'is' if len(idle) == 1 else 'are'} gone and this file does not use {'it' if len(idle) == 1 else 'them'}"
    change = MoveImport(statement, (), frozenset(moved.local for _, _, moved in idle))
    yield Proposal(idle[0][0].name, statement, message, Applicability.REVIEW, (change,), idle[0][1].old)


def _path_stays(statement: ast.Import | ast.ImportFrom, move: Move, uses: list[_Use]) -> bool:
    """Whether ``import a.b`` is needed by a use of ``a.b.c`` that stays as it is."""
    if isinstance(statement, ast.ImportFrom):
        return False
    inside = (u for u in uses if u.found.qualified == move.old or u.found.qualified.startswith(f"{move.old}."))
    return any(isinstance(report, Manual) for u in inside for report in u.reports)


def _by_binding(uses: list[_Use]) -> dict[ast.AST, list[_Use]]:
    """The uses of each imported name, by its alias."""
    found: dict[ast.AST, list[_Use]] = {}
    for use in uses:
        if isinstance(use.node, ast.Name) and use.found.binding.kind == "import":
            found.setdefault(use.found.binding.node, []).append(use)
    return found


def _moved(
    statement: ast.Import | ast.ImportFrom, alias: ast.alias, moves: dict[str, tuple[Codemod, Move]], target: Version
) -> tuple[Codemod, Move, MovedName] | None:
    if isinstance(statement, ast.ImportFrom):
        if statement.level or alias.name == "*":
            return None
        found = moves.get(f"{statement.module}.{alias.name}")
        if found is None:
            return None
        move = _keeping(found[1], alias.name, target)
        module, _, name = move.new.rpartition(".")
        return found[0], move, MovedName(alias, module, name, local_name(alias))
    found = moves.get(alias.name)
    if found is None:
        return None
    return (*found, MovedName(alias, found[1].new, "", local_name(alias)))


def _keeping(move: Move, name: str, target: Version) -> Move:
    """The move to the newest home where the name keeps its last part, if it has one: so the uses need not change."""
    homes = (s for s in move.successors if s.since <= target and s.name.rpartition(".")[2] == name)
    home = next(homes, None)
    return move if home is None else replace(move, new=home.name)


def _name_stays(
    source: Source, statement: ast.Import | ast.ImportFrom, alias: ast.alias, move: Move, uses: list[_Use], touched: set[str]
) -> bool:
    name = local_name(alias)
    at_module = source.scope(statement) is source.scope_root
    passed_on = at_module and exported(source, name)
    if not uses and name in touched and not passed_on:
        return False  # this run took the last use away: the import goes
    if isinstance(statement, ast.Import):
        return True
    old_leaf, new_leaf = move.old.rpartition(".")[2], move.new.rpartition(".")[2]
    if old_leaf == new_leaf or (alias.asname and alias.asname != old_leaf):
        return True
    if source.scope(statement).is_class:  # the name is an attribute of the class
        return True
    bindings = source.lookup(name, source.scope(statement))[0]
    if len(bindings) > 1:  # the other arm of a try or if gives the name too
        return True
    return not uses or passed_on


def _import_proposal(
    source: Source, statement: ast.Import | ast.ImportFrom, groups: dict[str, list[tuple[Move, MovedName, list[_Use]]]]
) -> Proposal:
    entries = [entry for group in groups.values() for entry in group]
    verdicts = [use.verdict() for _, _, uses in entries for use in uses if use.renames]
    verdicts += [
        (move.passed_on, Applicability.REVIEW)
        for move, moved, uses in entries
        if move.passed_on and (not uses or exported(source, moved.local))
    ]
    worst = max((a for _, a in verdicts), default=Applicability.SAFE)
    messages = [_default(move) for move, _, _ in entries]
    messages += [m for m, a in verdicts if a is worst and a is not Applicability.SAFE]
    return Proposal(
        next(iter(groups)),
        statement,
        "; ".join(dict.fromkeys(messages)),
        worst,
        (MoveImport(statement, tuple(moved for _, moved, _ in entries)),),
        entries[0][0].old,
        severity=min((use.codemod.severity for _, _, uses in entries for use in uses), default=Severity.NORMAL),
    )


def _renamed(source: Source, uses: list[_Use], staying: set[ast.expr]) -> Iterator[Proposal]:
    """One proposal for each use, or for each type container in which a rename makes a duplicate; `staying` keep their name."""
    by_node = {use.node: use for use in uses}
    done: set[ast.AST] = set()
    for use in uses:
        if use.node in done:
            continue
        collapse, members = _collapse(source, use, by_node, staying)
        if collapse is not None:
            done.update(m.node for m in members)
            yield _joined(members, collapse.node, collapse)
        elif use.node not in staying:
            done.add(use.node)
            yield _joined([use], use.node, ReplaceExpr(use.node, Template("{" + use.move.new + "}")))


def _joined(uses: list[_Use], node: ast.expr, change: AnyChange) -> Proposal:
    verdicts = [use.verdict() for use in uses]
    worst = max(a for _, a in verdicts)
    message = "; ".join(dict.fromkeys(m for m, a in verdicts if a is worst))
    first = uses[0]
    severity = min(use.codemod.severity for use in uses)
    return Proposal(first.codemod.name, node, message, worst, (change,), first.move.old, first.found.binding, severity=severity)


def _collapse(
    source: Source, use: _Use, by_node: dict[ast.expr, _Use], staying: set[ast.expr]
) -> tuple[Collapse | None, list[_Use]]:
    container = _flat_container(source, use.node)
    if container is None:
        return None, []
    members = elements(container)
    canonical = source.facts.canonical
    kept: dict[str, ast.expr] = {}
    for member in members:  # an element that is there already stays, whatever its place
        if member not in by_node and (name := source.resolve(member)):
            kept.setdefault(canonical(name), member)
    drop: list[ast.expr] = []
    for member in sorted(members, key=lambda m: m in staying):
        if member in by_node:
            name = canonical(by_node[member].move.new)
            if name in kept:
                drop.append(member)
            else:
                kept[name] = member
    if not drop:
        return None, []
    dropped = set(drop)
    renamed = [m for m in members if m in by_node]
    new = tuple((m, by_node[m].move.new) for m in renamed if m not in dropped and m not in staying)
    return Collapse(container, new, tuple(drop)), [by_node[m] for m in renamed]


def _may_shrink(source: Source, container: ast.Tuple | ast.List | ast.Set) -> bool:
    """Whether nothing counts or indexes the elements: classes of isinstance, of ``type(x) in [...]``, a constant for these."""
    parent = source.parent(container)
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        of_classes = isinstance(container, ast.Tuple) and all(map(_is_class_name, container.elts))
        return isinstance(container, ast.Tuple) and _is_only_tested(source, container, set(), of_classes=of_classes)
    if isinstance(container, ast.Tuple) and isinstance(parent, ast.Call):
        return values.role(source, container.elts[0]) in ("isinstance", "issubclass")
    if isinstance(parent, ast.ExceptHandler):
        return True
    return isinstance(parent, ast.Compare) and values.role(source, container.elts[0]) == "type-compare"


_TESTS = ("isinstance", "issubclass")


def _is_only_tested(source: Source, node: ast.expr, seen: set[str], *, of_classes: bool) -> bool:
    """Whether what holds a tuple is, as far as this file tells, asked for membership or class and for nothing else."""
    parent = source.parent(node)
    if isinstance(parent, ast.Compare):
        return parent.left is not node and all(isinstance(op, (ast.In, ast.NotIn)) for op in parent.ops)
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in _TESTS and node in parent.args[1:]
    if isinstance(parent, ast.ExceptHandler):
        return True
    if isinstance(parent, (ast.Tuple, ast.BinOp, ast.IfExp)):  # one of several tuples put together
        return _is_only_tested(source, parent, seen, of_classes=of_classes)
    if isinstance(parent, ast.Assign):
        return len(parent.targets) == 1 and _is_tested_by_name(source, parent.targets[0], seen, of_classes=of_classes)
    return isinstance(parent, ast.AnnAssign) and _is_tested_by_name(source, parent.target, seen, of_classes=of_classes)


def _is_tested_by_name(source: Source, target: ast.expr, seen: set[str], *, of_classes: bool) -> bool:
    """Whether every use of a name that holds a tuple is such a test; out of sight only classes are tested for."""
    if not isinstance(target, ast.Name) or source.scope(target).is_class:
        return False  # an attribute of a class is used out of sight
    if target.id in seen:
        return True
    seen.add(target.id)
    uses = [node for node in source.by_id.get(target.id, ()) if isinstance(node.ctx, ast.Load)]
    like_types = of_classes and target.id.lstrip("_")[:1].isupper()  # `ARRAYS`, `ArrayTypes`: not `old, new`
    if not like_types and (not uses or exported(source, target.id)):
        return False
    return all(_is_only_tested(source, node, seen, of_classes=of_classes) for node in uses)


def _is_class_name(node: ast.expr) -> bool:
    """Whether a name is spelled as those of classes are."""
    name = last_part(node)
    return name[:1].isupper() and not name.isupper()


def _flat_container(source: Source, node: ast.expr) -> ast.expr | None:
    """The tuple, ``Union[...]`` or ``|`` chain that has `node` as a direct element."""
    parent = source.parent(node)
    if isinstance(parent, (ast.Tuple, ast.List, ast.Set)):
        outer = source.parent(parent)
        if isinstance(outer, ast.Subscript) and outer.slice is parent:
            leaf = last_part(outer.value)
            return outer if leaf == "Union" else None
        return parent if _may_shrink(source, parent) else None
    chain: ast.expr | None = None
    while isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.BitOr):
        chain, parent = parent, source.parent(parent)
    return chain


def _strings(source: Source, moves: dict[str, tuple[Codemod, Move]], settings: Settings) -> Iterator[Proposal]:
    """Dotted paths in strings (``mock.patch("jax.xla.DeviceArray")``) and ``getattr(jnp, "DeviceArray")``."""
    for node in source.strings:
        text = node.value
        if not isinstance(text, str) or isinstance(source.parent(node), (ast.Expr, ast.JoinedStr)):
            continue
        if text in moves:
            yield from _path_string(source, node, *moves[text], settings)
        elif text.isidentifier():
            yield from _getattr(source, node, moves, settings)


def _path_string(source: Source, node: ast.Constant, codemod: Codemod, move: Move, settings: Settings) -> Iterator[Proposal]:
    literal = source.segment(node)
    if literal.count(move.old) != 1 or len(literal) > len(move.old) + 3:
        return
    call = source.parent(node)
    if not isinstance(call, ast.Call) or not _LOOKS_UP.search(source.segment(call.func)):
        return  # a table of names, an expected output: data
    if lost := _left_by_path(source, move):
        message = f"{_default(move)}, but that has no {lost}"
        yield Proposal(codemod.name, node, message, Applicability.MANUAL, (), move.old)
        return
    message = f"{_default(move)}; it is named in a string, so check that the code under test still looks it up there"
    start, end = source.span(node)
    shift = literal.index(move.old)
    change = api.ReplaceText(start + shift, end - (len(literal) - shift - len(move.old)), move.new)
    yield Proposal(codemod.name, node, message, Applicability.REVIEW, (change,), move.old)


def _left_by_path(source: Source, move: Move) -> str:
    """What is read of a module that is loaded by its path, and that its new home does not have."""
    history = source.facts.history
    if not history.members(move.new):
        return ""
    read = (m.qualified.removeprefix(f"{move.old}.").partition(".")[0] for m in roundabout.loaded(source) if m.module == move.old)
    return next((name for name in read if (e := history.entry(f"{move.new}.{name}")) is None or not e.alive), "")


_BY_NAME = {"getattr", "hasattr", "setattr", "delattr", "object"}
"""Callees that take an owner and the name of its attribute; ``object`` is that of ``mock.patch.object``."""


def _getattr(
    source: Source, node: ast.Constant, moves: dict[str, tuple[Codemod, Move]], settings: Settings
) -> Iterator[Proposal]:
    call = source.parent(node)
    owner = roundabout.patched_of(source, node)
    if owner is None and isinstance(call, ast.Call) and call.args[1:2] == [node]:
        owner = call.args[0]
    call = source.parent(call) if isinstance(call, ast.keyword) else call
    if owner is None or not isinstance(call, ast.Call):
        return
    callee, base = last_part(call.func), source.resolve(owner)
    entry = moves.get(f"{base}.{node.value!s}") if base and callee in _BY_NAME else None
    if entry is None:
        return
    codemod, move = entry
    if callee == "hasattr" or (callee == "getattr" and len(call.args) > 2):
        guard = f"{callee} asks whether the name exists"
        yield Proposal(codemod.name, call, _default(move), Applicability.MANUAL, (), move.old, None, guard)
    elif callee == "getattr":
        change = ReplaceExpr(call, Template("{" + move.new + "}"))
        yield Proposal(codemod.name, call, _default(move), Applicability.REVIEW, (change,), move.old)
    elif callee == "object" and move.handler is None and not _no_common_spelling(source, move, settings.target):
        message = f"{_default(move)}; it is named in a string, so check that the code under test still looks it up there"
        yield Proposal(codemod.name, call, message, Applicability.REVIEW, _renamed_double(source, owner, node, move), move.old)
    else:
        message = f"{_default(move)}; what this replaces no longer exists"
        yield Proposal(codemod.name, call, message, Applicability.MANUAL, (), move.old)


def _renamed_double(source: Source, owner: ast.expr, name: ast.Constant, move: Move) -> tuple[AnyChange, ...]:
    """``mock.patch.object(jnp, "round_")`` becomes ``mock.patch.object(jnp, "round")``; nothing where no plain string tells."""
    module, _, new = move.new.rpartition(".")
    start, end = source.span(name)
    if source.segment(name)[1:-1] != name.value:
        return ()
    text = api.ReplaceText(start + 1, end - 1, new)
    return (text,) if source.resolve(owner) == module else (ReplaceExpr(owner, Template("{" + module + "}")), text)
