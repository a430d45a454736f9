"""Where codemods are asked: the sites of one text and what is said about each, leftovers of old names included."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from jaxmigrate import codemod as api
from jaxmigrate import guards, reached, renames, roundabout, silences
from jaxmigrate.codemod import (
    AttributeSite,
    CallSite,
    Codemod,
    FileSite,
    Handler,
    Manual,
    NameSite,
    Note,
    Rewrite,
    StringSite,
    Unbindable,
)
from jaxmigrate.edits import Collapse
from jaxmigrate.expected import EXPECTED, is_expected
from jaxmigrate.imports import MoveImport, exported, imported_name, is_used, local_name
from jaxmigrate.model import Applicability, Settings, Severity, Version
from jaxmigrate.names import Resolved, Scope, Source
from jaxmigrate.renames import Proposal


@dataclass(frozen=True, slots=True)
class Past:
    """What earlier rounds of the run leave to this one."""

    present: list[Codemod]
    """The codemods of which this text, or an earlier one of the run, holds a word."""
    touched: set[str]
    """Imported names of which the run took away a use."""
    note: Callable[[Codemod, ast.AST, str], None]
    """Keeps a fact of a codemod."""


def collect(source: Source, codemods: list[Codemod], settings: Settings, past: Past) -> list[Proposal]:
    """Everything the codemods say about this text."""
    found: list[Proposal] = []
    present = past.present
    if through := source.foreign_meanings():
        present = [c for c in codemods if c in present or any(t.keys() & through for t in (c.moves, c.names, c.calls))]
    found += renames.collect(source, present, settings, past.touched)
    mine = {name: f"something else is assigned to it in {where}" for name, where in roundabout.replaced(source).items()}
    mine |= {name: f"a test double stands in for it in {where}" for name, where in roundabout.doubled(source).items()}
    for codemod in present:
        for node, symbol, resolved, report in _sites(source, codemod, settings):
            if isinstance(report, Note):
                past.note(codemod, report.at or node, report.value)
                continue
            if symbol in mine and isinstance(report, Rewrite):
                report = Manual(f"{symbol}: {mine[symbol]}", at=report.at)
            found.append(_proposal(source, codemod, node, symbol, resolved, report))
    found += _leftovers(source, present, found, past)
    guard(source, found, {c.name: Version.parse(c.removed) for c in codemods if c.removed})
    return found


def guard(source: Source, proposals: list[Proposal], removed: Mapping[str, Version] = MappingProxyType({})) -> None:
    """Say of each proposal whether something in the file guards its place, or hides that it fails.

    `removed` is where JAX took away what a codemod deals with.
    """
    for proposal in proposals:
        gone = removed.get(proposal.codemod)
        if proposal.raises and is_expected(source, proposal.node, proposal.symbol, proposal.raises):
            proposal.guard = EXPECTED
        proposal.guard = proposal.guard or source.guard(proposal.node, proposal.symbol, gone)
        through = "" if proposal.guard else _import_guard(source, proposal, gone)
        if through and proposal.old is not None and _is_there(source, proposal.old.qualified):
            name = proposal.old.name  # a choice of libraries: a member that is gone from the first is gone
            proposal.applicability = Applicability.MANUAL
            proposal.message += f" ({name} is {proposal.old.qualified} or what another import gives: write what both have)"
        else:
            proposal.guard = proposal.guard or through
    silences.mark(source, proposals)
    silences.mark_questions(source, proposals)
    for proposal in proposals:
        if proposal.guard == reached.UNCLEAR:
            proposal.guard, proposal.applicability, proposal.severity = "", Applicability.MANUAL, Severity.LOW
            proposal.message += f" ({reached.UNCLEAR}, so it is left)"


def _is_there(source: Source, qualified: str) -> bool:
    """Whether a guarded import does not fail on the newest release."""
    return source.facts.history.is_module(qualified) and not source.is_dead(qualified)


def _import_guard(source: Source, proposal: Proposal, gone: Version | None) -> str:
    """A use of a name whose own import is guarded is guarded with it."""
    statement = proposal.old.statement if proposal.old else None
    imported = isinstance(statement, (ast.Import, ast.ImportFrom))
    return source.guard(statement, proposal.symbol, gone) if imported and statement is not None else ""


def _proposal(
    source: Source, codemod: Codemod, node: ast.AST, symbol: str, resolved: Resolved | None, report: Manual | Rewrite
) -> Proposal:
    binding = resolved.binding if resolved else None
    at = report.at or node
    symbol = symbol or _symbol_at(source, at)
    severity = codemod.severity if report.severity is None else report.severity
    if isinstance(report, Manual):
        return Proposal(codemod.name, at, report.message, Applicability.MANUAL, (), symbol, binding, severity=severity)
    needs = Version.parse(report.requires) if report.requires else None
    found = Proposal(codemod.name, at, report.message, report.applicability, report.changes, symbol, binding)
    found.requires, found.severity, found.raises = needs, severity, report.raises
    return found


def _symbol_at(source: Source, node: ast.AST) -> str:
    """The qualified name that a finding of a whole-file handler is about, where its place tells."""
    named = node.func if isinstance(node, ast.Call) else node
    return (source.resolve(named) or "") if isinstance(named, (ast.Name, ast.Attribute)) else ""


_Site = tuple[ast.AST, str, Resolved | None, api.Report]


def _sites(source: Source, codemod: Codemod, settings: Settings) -> Iterator[_Site]:
    yield from _name_sites(source, codemod, settings)
    yield from _call_sites(source, codemod, settings)
    yield from _attribute_sites(source, codemod, settings)
    yield from _string_sites(source, codemod, settings)
    for handler in codemod.files:
        site = FileSite(source, source.tree, settings)
        for report in api.reports(handler(site)):
            yield source.tree, "", None, report


def _name_sites(source: Source, codemod: Codemod, settings: Settings) -> Iterator[_Site]:
    if not codemod.names:
        return
    for node, found in source.references(codemod.names.keys()):
        site = NameSite(source, node, settings, found.qualified, found.direct, source.is_quoted(node))
        for handler in codemod.names[found.qualified]:
            for report in api.reports(handler(site)):
                yield node, found.qualified, found, report


def _call_sites(source: Source, codemod: Codemod, settings: Settings) -> Iterator[_Site]:
    if not codemod.calls:
        return
    for node, found in source.references(codemod.calls.keys()):
        parent = source.parent(node)
        if not isinstance(parent, ast.Call):
            continue
        partial = parent.func is not node
        if partial and not (parent.args and parent.args[0] is node and source.resolve(parent.func) == "functools.partial"):
            continue
        site = CallSite(source, parent, settings, found.qualified, partial)
        for handler in codemod.calls[found.qualified]:
            for report in _asked(codemod, handler, site):
                yield parent, found.qualified, found, report


def _asked(codemod: Codemod, handler: Handler, site: CallSite | AttributeSite) -> list[api.Report]:
    """What a handler reports; arguments that it cannot bind are a finding."""
    try:
        return list(api.reports(handler(site)))
    except Unbindable as error:
        return [Manual(f"{codemod.summary}: not rewritten, {error}")]


def _attribute_sites(source: Source, codemod: Codemod, settings: Settings) -> Iterator[_Site]:
    for name in codemod.attributes.keys() & source.by_attribute.keys():
        for node in source.by_attribute[name]:
            if source.is_quoted(node) or source.resolve(node.value) is not None:
                resolved = source.resolved(node.value)
                if resolved is None or _is_module(source, resolved):
                    continue
            stored = not isinstance(node.ctx, ast.Load)
            site = AttributeSite(source, node, settings, name, source.infer(node.value), stored)
            for handler in codemod.attributes[name]:
                for report in _asked(codemod, handler, site):
                    yield node, name, None, report


def _is_module(source: Source, resolved: Resolved) -> bool:
    """Whether a receiver that is an imported name is a module or class rather than a value of another module of the project."""
    if isinstance(source.parent(resolved.binding.node), ast.Import) or not resolved.direct:
        return True
    root = resolved.qualified.partition(".")[0]
    return root in ("jax", "jaxlib", "numpy") or root in source.facts.foreign


def _string_sites(source: Source, codemod: Codemod, settings: Settings) -> Iterator[_Site]:
    if not codemod.strings:
        return
    for node in source.strings:
        value = node.value
        if not isinstance(value, str) or isinstance(source.parent(node), ast.Expr):
            continue
        asked: dict[Handler, str] = {}
        for word, handlers in codemod.strings.items():
            if word in value:
                for handler in handlers:
                    asked.setdefault(handler, word)
        for handler, word in asked.items():
            for report in api.reports(handler(StringSite(source, node, settings, word))):
                yield node, word, None, report


def _leftovers(source: Source, codemods: list[Codemod], found: list[Proposal], past: Past) -> Iterator[Proposal]:
    """Imports of dead names and modules, and uses of dead modules, on which no other finding lies."""
    owners = {module: codemod for codemod in codemods for module in codemod.gone}
    covered = [source.span(p.node) for p in found]
    covered += [source.span(c.node) for p in found for c in p.changes if isinstance(c, (MoveImport, Collapse, api.ReplaceExpr))]
    for module, codemod in owners.items():
        yield from _gone_uses(source, module, codemod, covered)
    for statement in source.imports:
        for alias in statement.names:
            qualified = imported_name(source, statement, alias)
            owner = _owner_of_dead(source, qualified, codemods) or _owner_of(qualified, owners)
            if alias.name == "*":
                continue  # `_stars` speaks of it
            waits = local_name(alias) in past.touched and not is_used(source, alias, statement)  # `tidy` will drop it
            if owner is not None and not waits and not _inside(source.span(statement), covered):
                yield from _dead_import(source, statement, alias, qualified, owner, covered)
    yield from _stars(source, codemods, owners)


def _owner_of_dead(source: Source, qualified: str, codemods: list[Codemod]) -> Codemod | None:
    """The codemod that deals with a name which the newest release lacks."""
    if qualified not in source.dead:
        return None
    mine = (c for c in codemods if qualified in c.moves or (c.removed and (qualified in c.names or qualified in c.calls)))
    return next(mine, None)


def _owner_of(qualified: str, owners: dict[str, Codemod]) -> Codemod | None:
    name = qualified
    while name:
        if name in owners:
            return owners[name]
        name = name.rpartition(".")[0]
    return None


def _gone_uses(source: Source, module: str, codemod: Codemod, covered: list[tuple[int, int]]) -> Iterator[Proposal]:
    for base, found in source.references(frozenset({module})):
        node = source.parent(base)
        if isinstance(node, ast.Attribute) and not _touches(source.span(node), covered):
            message = f"{module}.{node.attr} is gone with its module: {codemod.gone[module]}"
            yield Proposal(codemod.name, node, message, Applicability.MANUAL, (), f"{module}.{node.attr}", found.binding)


def _inside(span: tuple[int, int], covered: list[tuple[int, int]]) -> bool:
    return any(a <= span[0] and span[1] <= b for a, b in covered)


def _touches(span: tuple[int, int], covered: list[tuple[int, int]]) -> bool:
    return any(a < span[1] and span[0] < b for a, b in covered)


def _dead_import(
    source: Source,
    statement: ast.Import | ast.ImportFrom,
    alias: ast.alias,
    qualified: str,
    codemod: Codemod,
    covered: list[tuple[int, int]],
) -> Iterator[Proposal]:
    name = local_name(alias)
    scope = source.scope(statement)
    if is_used(source, alias, statement):
        uses = [n for n in source.by_id.get(name, ()) if source.lookup(name, source.scope(n))[1] is scope]
        lines = ", ".join(str(line) for line in sorted({source.original_line(n) for n in uses})[:5]) or "(in a string)"
        message = f"{qualified} cannot be imported any more; its uses are not all migrated: line {lines}"
        kept = next((b for b in source.lookup(name, scope)[0] if b.node is alias), None)
        yield Proposal(codemod.name, statement, message, Applicability.MANUAL, (), qualified, kept=kept)
        for use in uses if qualified in codemod.moves else ():
            if isinstance(use.ctx, ast.Load) and not _touches(source.span(use), covered):
                message = f"{name} is {qualified} here, which is gone; its import stays as long as another use needs it"
                yield Proposal(codemod.name, use, message, Applicability.MANUAL, (), qualified, kept)
    elif has_stand_in(source, alias, name, scope) or guards.is_probe(source, statement):
        message = f"{qualified} is gone, so what the except clause does instead happens always; decide whether that is wanted"
        yield Proposal(codemod.name, statement, message, Applicability.MANUAL, (), qualified)
    elif scope is source.scope_root and exported(source, name):
        message = f"{qualified} cannot be imported any more, and other modules may take {name!r} from here"
        yield Proposal(codemod.name, statement, message, Applicability.MANUAL, (), qualified)
    else:
        message = f"{qualified} is gone and this file does not use it"
        change = MoveImport(statement, (), frozenset({name}))
        yield Proposal(codemod.name, statement, message, Applicability.REVIEW, (change,), qualified)


def has_stand_in(source: Source, alias: ast.alias, name: str, scope: Scope) -> bool:
    """Whether an except clause binds the imported name too, as a stand-in for it."""
    others = (b for b in source.lookup(name, scope)[0] if b.node is not alias)
    return any(isinstance(a, ast.ExceptHandler) for b in others for a in source.ancestors(b.node))


def _stars(source: Source, codemods: list[Codemod], owners: dict[str, Codemod]) -> Iterator[Proposal]:
    """``from x import *`` of a module that gave an old name which this file reads but nothing binds."""
    for statement in source.stars:
        module = source.absolute(statement.module, statement.level)
        owner = _owner_of(module, owners)
        if owner is not None:
            message = f"{module} is gone: {owner.gone.get(module, 'import the names you need from their new homes')}"
            yield Proposal(owner.name, statement, message, Applicability.MANUAL, (), module)
            continue
        for name in sorted(source.dead):
            parent, _, leaf = name.rpartition(".")
            if parent != module or (codemod := _owner_of_dead(source, name, codemods)) is None:
                continue
            if any(source.lookup(leaf, source.scope(n))[1] is None for n in source.by_id.get(leaf, ())):
                message = f"{leaf} came from this star import, and {name} is gone; import its successor by name"
                yield Proposal(codemod.name, statement, message, Applicability.MANUAL, (), name)
