"""No use of a vanished name goes unmentioned: what the codemods left is looked up in the libraries' history.

Runs when no codemod has anything left to edit. One finding for each place; where an import itself fails, one for the import.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from jaxmigrate import guards, reached, roundabout, silences
from jaxmigrate.codemod import Codemod
from jaxmigrate.fates import Fate, Verdict, judge
from jaxmigrate.history import Advice, Entry, History
from jaxmigrate.imports import MoveImport, chain, exported, imported_name, is_used, local_name
from jaxmigrate.model import Applicability, Severity, Version
from jaxmigrate.names import Binding, Resolved, Source
from jaxmigrate.outcomes import Outcomes
from jaxmigrate.presence import namespace_of
from jaxmigrate.refusals import refusals
from jaxmigrate.renames import Proposal
from jaxmigrate.roundabout import Mention
from jaxmigrate.signatures import PARTIALS
from jaxmigrate.sites import has_stand_in

REMOVED, DEPRECATED, UNKNOWN = "removed-names", "deprecated-names", "unknown-names"
"""The codemods under whose names this is reported; without them, it is not."""
_OF = {Fate.GONE: REMOVED, Fate.PRIVATE: REMOVED, Fate.NEWER: REMOVED, Fate.DEPRECATED: DEPRECATED, Fate.UNKNOWN: UNKNOWN}
_MODULE_BY_PATH = ("import_module", "__import__", "importorskip", "find_spec", "run_module")
_BY_PATH = (*_MODULE_BY_PATH, "patch", "setattr", "delattr", "locate", "resolve_name")
"""Callees that look an object up by a dotted path."""
OBJECTS = ("jax.Array", "jax.ShapeDtypeStruct", "jax.core.ShapedArray", "jax.sharding.NamedSharding", "jax.interpreters.ad.Zero")
"""Classes of which lost members are looked for in their objects too, not only in the class itself."""
_STAND_IN = {"broadcast"}
"""Members that a class lost while its objects have them still, from what they stand for."""
_TELLING = {"isinstance", "hasattr", "type", "callable", "getattr"}
"""Builtins by which code tells what a value is."""
_LINES = 8
"""Lines of uses that a finding at an import names."""
_CHOICES = 3
"""Names that one that never was may have been meant for."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What of the run bears on what there is to say."""

    target: Version
    emitted: frozenset[str] = frozenset()
    """Names that the run itself wrote: that they are newer than the target was said with the edit."""
    ignored: tuple[Codemod, ...] = ()
    """The user wants to hear nothing of the names that these deal with."""


def complete(
    source: Source, codemods: Sequence[Codemod], found: Sequence[Proposal], circumstances: Circumstances
) -> list[Proposal]:
    """What the codemods of these names say about every place that nothing in `found` speaks of."""
    chosen = {c.name for c in codemods} & {REMOVED, DEPRECATED, UNKNOWN}
    if not chosen:
        return []
    look = _Look(source, source.facts.history, circumstances, _Covered(source, found))
    proposals = [*look.imports(), *look.stars()]
    proposals += [*look.chains(proposals), *look.strings(), *look.indirect(), *look.keywords(), *look.options()]
    proposals += [*look.members(), *look.refused({p.node for p in proposals if p.codemod != DEPRECATED})]
    return [p for p in proposals if p.codemod in chosen and not _is_ignored(p.symbol, source.facts.history, circumstances)]


def _is_ignored(symbol: str, history: History, circumstances: Circumstances) -> bool:
    if not circumstances.ignored:
        return False
    advice = history.advice(symbol)
    return any(
        symbol in codemod.moves
        or symbol in codemod.names
        or symbol in codemod.calls
        or (advice and advice.codemod == codemod.name)
        for codemod in circumstances.ignored
    )


def youngest(source: Source) -> Version | None:
    """The oldest JAX that has every living name which the file uses and nothing guards."""
    history = source.facts.history
    look = _Look(source, history, Circumstances(history.versions[-1]), _Covered(source, ())) if history.versions else None
    born: dict[str, tuple[Version, list[ast.AST]]] = {}
    for qualified, nodes in look.names().items() if look is not None else ():
        for symbol in _prefixes(qualified):
            if (entry := history.entry(symbol)) is not None and entry.alive:
                born.setdefault(symbol, (entry.since, []))[1].extend(nodes)
    for symbol, (since, nodes) in sorted(born.items(), key=lambda item: item[1][0], reverse=True):
        if any(not reached.waits(source, node, symbol) for node in nodes):
            return since
    return None


def _prefixes(qualified: str) -> Iterator[str]:
    parts = qualified.split(".")
    return (".".join(parts[:end]) for end in range(2, len(parts) + 1))


@dataclass(frozen=True, slots=True)
class _Place:
    """A chain of names in an expression."""

    node: ast.expr
    qualified: str
    base: Resolved
    """What its first name means."""


class _Covered:
    """The places that findings lie on already."""

    def __init__(self, source: Source, found: Sequence[Proposal]) -> None:
        self._source = source
        self._by_node: dict[ast.AST, list[Proposal]] = {}
        self._aliases: set[ast.alias] = set()
        for proposal in found:
            self._by_node.setdefault(proposal.node, []).append(proposal)
            for change in proposal.changes:
                if isinstance(change, MoveImport):
                    self._aliases |= {m.alias for m in change.moved}
                    self._aliases |= {a for a in change.node.names if local_name(a) in change.drop}
                elif isinstance(node := getattr(change, "node", None), ast.AST):
                    self._by_node.setdefault(node, []).append(proposal)

    def alias(self, statement: ast.stmt, alias: ast.alias, qualified: str) -> bool:
        """Whether a finding is about this name of an import."""
        if alias in self._aliases or alias in self._by_node:
            return True
        return any(_same(p.symbol, qualified) for p in self._by_node.get(statement, ()))

    def node(self, *nodes: ast.AST) -> bool:
        """Whether any finding lies on one of these very nodes."""
        return any(node in self._by_node for node in nodes)

    def at(self, node: ast.AST) -> list[Proposal]:
        """The findings on this very node."""
        return self._by_node.get(node, [])

    def chain(self, place: _Place) -> bool:
        """Whether a finding is about this chain: on a part of it, on what is called or read of it, or of its name around it."""
        node: ast.AST = place.node
        while isinstance(node, ast.Attribute):
            if node in self._by_node:
                return True
            node = node.value
        if node in self._by_node:
            return True
        postfix: ast.AST = place.node
        for ancestor in self._source.ancestors(place.node):
            reports = self._by_node.get(ancestor, ())
            behind = postfix is not None and _is_behind(ancestor, postfix)
            postfix = ancestor if behind else ast.Pass()
            if reports and (behind or any(_same(p.symbol, place.qualified) for p in reports)):
                return True
            if isinstance(ancestor, ast.expr) and any(self._speaks_of(p, place.qualified) for p in reports):
                return True
        return False

    def _speaks_of(self, proposal: Proposal, qualified: str) -> bool:
        """Whether a finding around a name is by the codemod that deals with the name, and mentions it."""
        advice = self._source.facts.history.advice(qualified)
        return advice is not None and advice.codemod == proposal.codemod and qualified.rpartition(".")[2] in proposal.message


def _is_behind(node: ast.AST, inner: ast.AST) -> bool:
    """Whether `node` calls, indexes or reads an attribute of `inner`."""
    if isinstance(node, ast.Call):
        return node.func is inner
    return isinstance(node, (ast.Attribute, ast.Subscript)) and node.value is inner


def _same(symbol: str, qualified: str) -> bool:
    """Whether one of two names is the other, or lies below it."""
    return bool(symbol) and (_below(symbol, qualified) or _below(qualified, symbol))


def _below(name: str, root: str) -> bool:
    """Whether `name` is `root`, or lies below it."""
    return f"{name}.".startswith(f"{root}.")


@dataclass(frozen=True)
class _Look:
    source: Source
    history: History
    circumstances: Circumstances
    covered: _Covered

    @property
    def target(self) -> Version:
        return self.circumstances.target

    def judged(self, qualified: str, *, as_module: bool = False) -> Verdict | None:
        verdict = judge(self.history, qualified, self.target, as_module=as_module)
        if verdict is None or verdict.fate is not Fate.NEWER:
            return verdict
        return None if any(_below(name, qualified) for name in self.circumstances.emitted) else verdict

    def names(self) -> dict[str, list[ast.AST]]:
        """Every name of the library that the file takes or reads, and where."""
        found: dict[str, list[ast.AST]] = {}
        for statement in self.source.imports:
            for alias in statement.names:
                if alias.name != "*" and self._is_ours(qualified := imported_name(self.source, statement, alias)):
                    found.setdefault(qualified, []).append(alias)
        for qualified, uses in self.source.meanings().items():
            if self._is_ours(qualified):
                found.setdefault(qualified, []).extend(node for node, _ in uses)
        return found

    def imports(self) -> Iterator[Proposal]:
        """Imports of names and modules that are at fault."""
        for statement in self.source.imports:
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                continue
            found = [(alias, p) for alias in statement.names for p in self._import(statement, alias)]
            drop = frozenset(local_name(alias) for alias, proposal in found if self._is_left_over(proposal, statement, alias))
            for alias, proposal in found:
                if local_name(alias) in drop:  # all that go go together
                    proposal.changes, proposal.applicability = (MoveImport(statement, (), drop),), Applicability.REVIEW
                    proposal.message += "; this file does not use it"
                elif lines := self._lines(statement, alias):
                    proposal.message += f"; used in line {lines}{self._particulars(statement, alias)}"
                yield proposal

    def _import(self, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> Iterator[Proposal]:
        source = self.source
        qualified = imported_name(source, statement, alias)
        if isinstance(statement, ast.Import):
            verdict = self.judged(qualified, as_module=True)
        else:
            verdict = self.judged(qualified) or self.judged(qualified.rpartition(".")[0], as_module=True)
        if verdict is None or self.covered.alias(statement, alias, qualified):
            return
        yield self.proposal(alias, verdict, self.message(verdict, qualified))

    def _is_left_over(self, proposal: Proposal, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        """Whether a vanished name is imported for nothing."""
        if not self.source.is_dead(proposal.symbol) or self.source.guard(statement):
            return False
        source, name = self.source, local_name(alias)
        scope = source.scope(statement)
        line = source.utf8[source.offset(alias.lineno, 0) :].partition(b"\n")[0]
        if alias.asname == alias.name or b"noqa" in line:  # passed on, or there on purpose
            return False
        if is_used(source, alias, statement) or has_stand_in(source, alias, name, scope) or guards.is_probe(source, statement):
            return False
        return not (scope is source.scope_root and exported(source, name))

    def _lines(self, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        source, name = self.source, local_name(alias)
        scope = source.scope(statement)
        uses = [n for n in source.by_id.get(name, ()) if source.lookup(name, source.scope(n))[1] is scope]
        if isinstance(statement, ast.Import) and not alias.asname:
            uses = [n for n in uses if _below(chain(source, n), alias.name)]
        lines = sorted({source.original_line(n) for n in uses if isinstance(n.ctx, ast.Load)})
        more = f" and {len(lines) - _LINES} more" if len(lines) > _LINES else ""
        return ", ".join(map(str, lines[:_LINES])) + more

    def stars(self) -> Iterator[Proposal]:
        """Names that only a star import of the library can have given."""
        modules = {s: self.source.absolute(s.module, s.level) for s in self.source.stars}
        for statement, module in modules.items():
            verdict = self.judged(module) if not self.covered.node(statement) else None
            if verdict is not None:
                yield self.proposal(statement, verdict, self.message(verdict, module))
            elif module in self.source.index.exports:
                yield from self._passed_on(self.source.index.exports[module])
            elif self._is_ours(module) and all(map(self._is_ours, modules.values())) and not self.covered.node(statement):
                yield from self._starred(statement, module)

    def _particulars(self, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        """What is on record about the very members of a module that is gone which the file uses."""
        module = imported_name(self.source, statement, alias)
        used = (q for q, uses in self.source.meanings().items() if q.startswith(f"{module}.") and uses)
        found = {q: self.history.advices[q] for q in sorted(used) if q in self.history.advices}
        deepest = {q: a for q, a in found.items() if not any(other.startswith(f"{q}.") for other in found)}
        told = [f"; {q.removeprefix(module)[1:]}: {a.text}" for q, a in deepest.items() if a.verb == "none" and a.text]
        return "".join(told[:_CHOICES])

    def _passed_on(self, exports: Mapping[str, str]) -> Iterator[Proposal]:
        """Uses of names of the library that a star import of a module of the project gives."""
        for name in sorted(exports.keys() & self.source.by_id.keys() - vars(builtins).keys()):
            for node in self.source.by_id[name]:
                if name.startswith("_") or self.source.lookup(name, self.source.scope(node))[1] is not None:
                    continue
                whole, qualified = roundabout.chain(self.source, node, exports[name])
                verdict = self.judged(qualified) if isinstance(node.ctx, ast.Load) else None
                if verdict is not None and not _below(exports[name], verdict.root) and not self.covered.node(whole):
                    yield self.proposal(whole, verdict, self.message(verdict, qualified))

    def _starred(self, statement: ast.ImportFrom, module: str) -> Iterator[Proposal]:
        members = self.history.members(module)
        for name in sorted(members.keys() & self.source.by_id.keys() - vars(builtins).keys()):
            free = [n for n in self.source.by_id[name] if self.source.lookup(name, self.source.scope(n))[1] is None]
            verdict = self.judged(f"{module}.{name}") if free else None
            if verdict is not None:
                lines = ", ".join(str(line) for line in sorted({self.source.original_line(n) for n in free})[:_LINES])
                yield self.proposal(statement, verdict, f"{self.message(verdict, f'{module}.{name}')}; used in line {lines}")

    def _is_ours(self, module: str) -> bool:
        return module.partition(".")[0] in self.history.members("")

    def chains(self, reported: Sequence[Proposal]) -> Iterator[Proposal]:
        """Names and attribute chains in expressions, quoted annotations included."""
        failed = {p.symbol for p in reported if isinstance(self.source.parent(p.node), ast.Import)}
        for qualified, uses in self.source.meanings().items():
            verdict = self.judged(qualified) if self._is_ours(qualified) else None
            if verdict is None or verdict.root in self.patched or any(_below(verdict.root, f) for f in failed):
                continue
            for place in filter(None, (self._place(node, qualified) for node, _ in uses)):
                # from its import or assignment on, or from where a module of the project passes it on
                wrong_before = _below(self._arrival(place.node), verdict.root)
                if not wrong_before and not self.covered.chain(place):
                    yield self.proposal(place.node, verdict, self.message(verdict, qualified), place.base.binding)

    def _place(self, node: ast.expr, qualified: str) -> _Place | None:
        """The place, if this is the whole of a chain, and it is read."""
        parent = self.source.parent(node)
        if isinstance(parent, ast.Attribute) or not isinstance(getattr(node, "ctx", None), ast.Load):
            return None
        first: ast.AST = node
        while isinstance(first, ast.Attribute):
            first = first.value
        base = self.source.resolved(first)
        return _Place(node, qualified, base) if base is not None else None

    def _arrival(self, node: ast.AST) -> str:
        """What the shortest part of a chain means that is of the library: the object that an import or a module gives."""
        parts = [node]
        while isinstance(parts[-1], ast.Attribute):
            parts.append(parts[-1].value)
        meanings = (self.source.resolve(part) or "" for part in reversed(parts))
        return next(filter(self._is_ours, meanings), "")

    @cached_property
    def outcomes(self) -> Outcomes:
        return Outcomes(self.source)

    @cached_property
    def carries(self) -> bool:
        return roundabout.carries(self.source)

    @cached_property
    def patched(self) -> frozenset[str]:
        """Names of the library to which the project assigns."""
        source = self.source
        nodes = (n for nodes in source.by_attribute.values() for n in nodes if not isinstance(n.ctx, ast.Load))
        found = {q for n in nodes if (q := source.resolve(n))}
        for name in source.strings:
            call = source.parent(name)
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "setattr" and call.args[1:2] == [name]:
                found.add(f"{source.resolve(call.args[0])}.{name.value!s}")
            elif isinstance(call, ast.Subscript) and not isinstance(call.ctx, ast.Load) and self._is_loaded(call.value):
                found.add(str(name.value))
        return source.index.patched | found

    def _is_loaded(self, node: ast.expr) -> bool:
        return self.source.resolve(node) == roundabout.MODULES

    def strings(self) -> Iterator[Proposal]:
        """Names in strings: of ``getattr(jax, "name")``, ``hasattr(jax, "name")`` and ``import_module("jax.name")``."""
        for node in self.source.strings:
            if not isinstance(node.value, str):
                continue
            yield from self._configured(node, node.value)
            for holder in roundabout.holders(self.source, node):
                if (given := roundabout.call_of(self.source, holder)) is not None:
                    yield from self._dotted(given, node.value)
                call = self.source.parent(holder)
                base = self.source.resolved(call.args[0]) if isinstance(call, ast.Call) and call.args[1:2] == [holder] else None
                if isinstance(call, ast.Call) and base is not None:
                    yield from self._attribute(call, node, holder, base)

    def _configured(self, node: ast.Constant, path: str) -> Iterator[Proposal]:
        """``{"_target_": "jax.nn.gone"}``, from which Hydra makes a call."""
        table = self.source.parent(node)
        keys = (k for k, v in zip(table.keys, table.values, strict=True) if v is node) if isinstance(table, ast.Dict) else ()
        verdict = self._judged_ours(path) if any(getattr(key, "value", "") == "_target_" for key in keys) else None
        if verdict is not None and verdict.fate is not Fate.DEPRECATED:
            yield self.proposal(node, verdict, self.message(verdict, path))

    def _dotted(self, call: ast.Call, path: str) -> Iterator[Proposal]:
        callee = roundabout.leaf(self.source, call.func)
        if path.startswith(".") and callee == "import_module":
            path = self._absolute(call, path)
        path = path.replace(":", ".") if callee == "resolve_name" else path
        if callee not in _BY_PATH or not self._is_ours(path) or not all(map(str.isidentifier, path.split("."))):
            return
        verdict = self.judged(path, as_module=callee in _MODULE_BY_PATH)
        if verdict is not None and verdict.fate is not Fate.DEPRECATED and not self.covered.node(*call.args[:1], call):
            message = self.message(verdict, path)
            found = self.proposal(call, verdict, message)
            if callee == "importorskip":
                found.severity = Severity.URGENT
                found.message += "; nothing tells that these tests are skipped"
            elif callee == "find_spec" and (off := silences.answers(self.source, call, "None")):
                found.severity, found.message = Severity.URGENT, f"{off}: {message}"
            yield found

    def _absolute(self, call: ast.Call, path: str) -> str:
        """``import_module(".maps", "jax.experimental")``; empty where the package is not spelled out."""
        package = call.args[1] if len(call.args) == 2 else next((k.value for k in call.keywords if k.arg == "package"), None)
        if path.startswith("..") or not isinstance(package, ast.Constant):
            return ""
        return f"{package.value!s}{path}"

    def _attribute(self, call: ast.Call, name: ast.Constant, given: ast.expr, base: Resolved) -> Iterator[Proposal]:
        qualified = f"{base.qualified}.{name.value!s}"
        place = _Place(call, qualified, base)
        verdict = self.judged(qualified) if self._is_ours(qualified) and str(name.value).isidentifier() else None
        if verdict is None or verdict.root in self.patched or _below(base.qualified, verdict.root):
            return
        if given is not name and (len(call.args) != 2 or getattr(call.func, "id", "") != "getattr"):
            return  # a question, or a test double, whose name is a variable
        if silences.asks(call, name):
            yield from self._question(call, place, verdict)
        elif self._fails_without(call) and not self.covered.chain(place):
            yield self.proposal(call, verdict, self.message(verdict, qualified), base.binding)

    def _fails_without(self, call: ast.Call) -> bool:
        """Whether a call that takes an owner and a name raises where there is nothing of that name."""
        if isinstance(call.func, ast.Name):
            return call.func.id in ("getattr", "delattr")
        callee = roundabout.leaf(self.source, call.func)
        return callee in ("object", "delattr", "setattr") and not any(k.arg in ("raising", "create") for k in call.keywords)

    def _question(self, call: ast.Call, place: _Place, verdict: Verdict) -> Iterator[Proposal]:
        if verdict.fate not in (Fate.GONE, Fate.PRIVATE):
            return
        off = "" if self.source.guard(call) else silences.switches_off(self.source, call)
        earlier = self.covered.at(call)
        found = (
            earlier[0] if earlier else self.proposal(call, verdict, self.message(verdict, place.qualified), place.base.binding)
        )
        found.guard = "" if off else "the code asks whether the name exists"
        if off:
            found.severity, found.message = Severity.URGENT, f"{off}: {found.message}"
        if not earlier:
            yield found

    def indirect(self) -> Iterator[Proposal]:
        """Names of modules that are loaded by their path, and names in strings that are run as code."""
        source, said = self.source, set[tuple[ast.AST, str]]()
        for mention, why in self._mentions():
            if mention.qualified.endswith(")"):
                yield from self._keyword_in(mention, why)
                continue
            verdict = self._family(mention.qualified) if mention.qualified.endswith("*") else self._judged_ours(mention.qualified)
            if verdict is None or verdict.root in self.patched or _below(mention.module, verdict.root):
                continue
            loaded = self.judged(mention.module, as_module=True) if mention.module else None
            if loaded is not None and loaded.fate is Fate.GONE:
                continue  # it is not even loaded
            if not self.covered.node(mention.node) and (mention.node, verdict.root) not in said:
                said.add((mention.node, verdict.root))
                proposal = self.proposal(mention.node, verdict, self.message(verdict, mention.qualified) + why)
                if mention.read is not None and not proposal.guard:
                    proposal.guard = source.guard(mention.read)
                yield proposal
        for mention, line in roundabout.in_doctests(source):
            verdict = self._judged_ours(mention.qualified)
            found = [*self._keyword_in(mention, "")] if mention.qualified.endswith(")") else []
            if verdict is not None and verdict.fate is Fate.GONE and verdict.root not in self.patched:
                found.append(self.proposal(mention.node, verdict, self.message(verdict, mention.qualified)))
            for proposal in found:
                proposal.message += f"; it stands in a doctest, line {line}"
                proposal.severity = Severity.LOW
                yield proposal
        yield from self._asked_for()

    def _keyword_in(self, mention: Mention, why: str) -> Iterator[Proposal]:
        """A keyword of a call in a string, if it is gone."""
        entry = self.history.entry(mention.qualified)
        if entry is not None and not entry.alive and not entry.at(self.target):
            found = self._gone_keyword(mention.node, entry)
            found.message += why
            yield found

    def _mentions(self) -> Iterator[tuple[Mention, str]]:
        """What is reached in a roundabout way, and what to say of the way."""
        source, outcomes = self.source, self.outcomes
        yield from ((mention, "") for mention in roundabout.loaded(source))
        for mention in (*roundabout.by_key(source, outcomes), *roundabout.by_variable(source, outcomes)):
            if mention.qualified.endswith("*") or self._is_lost(mention):
                yield mention, ""
        for mention in roundabout.maybe(source, outcomes) if self.carries else ():
            if self._is_lost(mention):  # what never was is meant for the others
                yield mention, f" (read of what may be {mention.module} here)"
        yield from ((mention, "; the code stands in a string, so it is not edited") for mention in roundabout.in_code(source))

    def _is_lost(self, mention: Mention) -> bool:
        verdict = self._judged_ours(mention.qualified)
        return verdict is not None and verdict.fate is Fate.GONE

    def _judged_ours(self, qualified: str) -> Verdict | None:
        return self.judged(qualified) if self._is_ours(qualified) else None

    def _family(self, beginning: str) -> Verdict | None:
        """What became of all names of a module that begin alike, ``jax.ops.index_*``, if none is left."""
        owner, _, start = beginning.rstrip("*").rpartition(".")
        entries = [e for name, e in self.history.members(owner).items() if name.startswith(start)]
        last = max((e for e in entries if e.last is not None), key=lambda e: e.last or self.target, default=None)
        if last is None or any(e.alive for e in entries):
            return None
        return Verdict(Fate.GONE, last.symbol, last.symbol, last)

    def _asked_for(self) -> Iterator[Proposal]:
        """``"jax.gone" in sys.modules``, ``"gone" in dir(jax)`` and ``vars(jax).get("gone")``."""
        for text in self.source.strings:
            place = self.source.parent(text)
            if not isinstance(place, ast.expr):
                continue
            for name, answer in self._asked(place, text):
                verdict = self._judged_ours(name) or (self.judged(name, as_module=True) if name == text.value else None)
                if verdict is None or verdict.fate is not Fate.GONE or verdict.root in self.patched or self.covered.node(place):
                    continue
                found = self.proposal(place, verdict, self.message(verdict, name))
                off = silences.answers(self.source, place, answer, negated=answer == "True")
                found.guard = "" if off else "the code asks whether it is there"
                if off:
                    found.severity, found.message = Severity.URGENT, f"{off}: {found.message}"
                yield found

    def _asked(self, place: ast.expr, text: ast.Constant) -> Iterator[tuple[str, str]]:
        """The name for which a string asks, and what is answered where it is missing."""
        container: ast.expr | None = None
        if isinstance(place, ast.Compare) and place.left is text and isinstance(place.ops[0], (ast.In, ast.NotIn)):
            container, answer = place.comparators[0], str(isinstance(place.ops[0], ast.NotIn))
        elif isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr == "get":
            default = place.args[1:]
            container = place.func.value if place.args[:1] == [text] and all(map(guards.is_empty, default)) else None
            answer = self.source.segment(default[0]) if default else "None"
        if container is None:
            return
        owner = namespace_of(container)
        if self._is_loaded(container) and self._is_ours(str(text.value)):
            yield str(text.value), answer
        elif owner is not None and (module := self.source.resolve(owner)) is not None:
            yield f"{module}.{text.value!s}", answer

    def keywords(self) -> Iterator[Proposal]:
        """Keywords that a function has lost, given where it is called through something else."""
        for qualified, uses in self.source.meanings().items():
            lost = self.history.lost_parameters(qualified) if self._is_ours(qualified) else {}
            for node, _ in uses if lost else ():
                calls = [*roundabout.handed_on(self.source, node)]
                yield from self._gone_keywords(qualified, calls)
                yield from self._put_later(qualified, [*calls, *self._taking(node)])
                yield from self._gone_keywords(qualified, self._taking(node)) if self._is_odd_partial(node) else ()
        for name in sorted(self.history.parameters_gone & self.source.keywords.keys()):
            for call in {c for k in self.source.keywords[name] if isinstance(c := self.source.parent(k), ast.Call)}:
                if self.source.resolved(call.func) is None and not roundabout.is_told_apart(self.source, call.func):
                    for function in sorted(self.outcomes.meanings(call.func)):
                        yield from self._gone_keywords(function, [call], name)
        for node, meaning in self._free():
            whole, function = roundabout.chain(self.source, node, meaning)
            if isinstance(parent := self.source.parent(whole), ast.Call) and parent.func is whole:
                yield from self._gone_keywords(function, [parent])

    def _free(self) -> Iterator[tuple[ast.Name, str]]:
        """Names that only a star import can give, and what they mean if it does."""
        for statement in self.source.stars:
            module = self.source.absolute(statement.module, statement.level)
            exports = self.source.index.exports.get(module, {})
            members = self.history.members(module).keys() if self._is_ours(module) else ()
            given = {name: f"{module}.{name}" for name in self.source.by_id.keys() & members} | exports
            for name in sorted(given.keys() & self.source.by_id.keys()):
                free = (n for n in self.source.by_id[name] if self.source.lookup(name, self.source.scope(n))[1] is None)
                yield from ((node, given[name]) for node in free)

    def _gone_keywords(self, function: str, calls: Iterable[ast.Call], name: str = "") -> Iterator[Proposal]:
        lost = self.history.lost_parameters(function)
        for keyword in (k for call in calls for k in call.keywords):
            entry = lost.get(keyword.arg or "") if name in ("", keyword.arg) else None
            if entry is None or entry.alive or entry.at(self.target) or self.covered.node(keyword):
                continue
            yield self._gone_keyword(keyword, entry)

    def refused(self, told: set[ast.AST]) -> Iterator[Proposal]:
        """Calls that a function of today refuses, in other ways than by a keyword that is gone."""
        for found in refusals(self.source, self.target):
            call = found.call
            places = (call, call.func, *call.args, *call.keywords)
            if told.isdisjoint(places) and not self.covered.node(*places):
                yield Proposal(REMOVED, call, found.message, Applicability.MANUAL, (), found.function, guard=found.guard)

    def _taking(self, node: ast.expr) -> list[ast.Call]:
        """The call of a function, or the partial that takes it first."""
        call = self.source.parent(node)
        if not isinstance(call, ast.Call):
            return []
        is_partial = call.args[:1] == [node] and self.source.resolve(call.func) in PARTIALS
        return [call] if call.func is node or is_partial else []

    def _is_odd_partial(self, node: ast.expr) -> bool:
        """Whether a function is taken by a kind of partial that the codemods for calls do not know."""
        call = self.source.parent(node)
        return isinstance(call, ast.Call) and call.func is not node and self.source.resolve(call.func) != "functools.partial"

    def _put_later(self, function: str, calls: Iterable[ast.Call]) -> Iterator[Proposal]:
        """Keys of a dictionary that is given as keywords, put there after it was made: ``opts["gone"] = 1``."""
        lost = self.history.lost_parameters(function)
        tables = {k.value.id: k.value for call in calls for k in call.keywords if k.arg is None and isinstance(k.value, ast.Name)}
        for place, key in (found for table in tables.values() for found in roundabout.put_under(self.source, table)):
            entry = lost.get(key)
            if entry is not None and not entry.alive and not entry.at(self.target) and not self.covered.node(place):
                found = self._gone_keyword(place, entry)
                if any(isinstance(around, ast.If) for around in self.source.ancestors(place)):
                    found.severity = Severity.LOW  # perhaps for an older release
                yield found
        for wrapper in {w for table in tables.values() if (w := self._passing_on(table)) is not None}:
            own = {a.arg for a in (*wrapper.args.args, *wrapper.args.kwonlyargs)}
            for call in self.source.callers(wrapper)[0]:
                given = [k for k in call.keywords if k.arg not in own]
                yield from (p for k in given for p in self._gone_keywords(function, [call], k.arg or "-"))

    def _passing_on(self, table: ast.Name) -> ast.FunctionDef | None:
        """The function around whose ``**kwargs`` a name is."""
        function = self.source.function(table)
        is_own = isinstance(function, ast.FunctionDef) and function.args.kwarg is not None and function.args.kwarg.arg == table.id
        return function if is_own and isinstance(function, ast.FunctionDef) else None

    def _gone_keyword(self, node: ast.AST, entry: Entry) -> Proposal:
        function, _, argument = entry.symbol.removesuffix(")").partition("(")
        message = f"{argument} of {function} is gone, JAX {entry.last} was the last with it"
        advice = _advised(self.history.advices.get(entry.symbol), self.target)
        return Proposal(REMOVED, node, message + advice, Applicability.MANUAL, (), entry.symbol)

    def members(self) -> Iterator[Proposal]:
        """Members that a living class has lost: read of the class itself, or of what is known to be an object of it."""
        patched = self.patched
        for qualified, uses in self.source.meanings().items():
            owner, _, name = qualified.rpartition(".")
            kind = self.source.facts.canonical(owner)
            if name in self.history.members_gone and f"{kind}.{name}" not in patched:
                for node, _ in uses:
                    yield from self._member(node, kind)
        for name in sorted(self.history.members_gone.keys() & self.source.by_attribute.keys()):
            kinds = [k for k in OBJECTS if k in self.history.members_gone[name] and f"{k}.{name}" not in patched]
            for node in self.source.by_attribute[name]:
                known = self.source.infer(node.value) if kinds and self.source.resolve(node) is None else None
                if known in kinds and not self._is_told_apart(node.value, known):
                    yield from self._member(node, known)
                for kind in self._inherited(node):
                    yield from self._member(node, kind)

    def _inherited(self, node: ast.Attribute) -> list[str]:
        """The classes of the library from which ``self.name`` can only come: no class of the file on the way has it."""
        function = node.value.func if isinstance(node.value, ast.Call) else node.value
        is_own = getattr(function, "id", "") in ("self", "cls", "super") and node.attr not in _STAND_IN
        owner = self.source.enclosing_class(node) if is_own else None
        found: list[str] = []
        waiting = [owner] if owner is not None else []
        for own in waiting:
            has = (own is not owner or function is node.value) and self._has_member(own, node.attr)
            bases = [self.source.resolve(base) or self._class_of(base) for base in own.bases]
            ours = [base for base in bases if isinstance(base, str) and self._is_ours(base)]
            waiting += [base for base in bases if isinstance(base, ast.ClassDef) and base not in waiting]
            if has or any(base not in ours and not isinstance(base, ast.ClassDef) for base in bases):
                return []
            found += map(self.source.facts.canonical, ours)
        return found

    def _class_of(self, name: ast.expr) -> ast.AST | None:
        """The class of the file that a name means."""
        bindings = self.source.lookup_at(name)[0] if isinstance(name, ast.Name) else []
        return bindings[0].node if len(bindings) == 1 else None

    def _has_member(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether the body of a class or one of its methods gives it a member, or may."""
        members = self.source.scope(owner.body[0]).bindings
        stored = (n for n in self.source.by_attribute.get(name, ()) if not isinstance(n.ctx, ast.Load))
        return name in members or "__getattr__" in members or any(self.source.enclosing_class(n) is owner for n in stored)

    def _member(self, node: ast.expr, kind: str) -> Iterator[Proposal]:
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load) or not self._is_living(kind):
            return
        entry = self.history.members_gone[node.attr].get(kind)
        around = self.source.parent(node)
        if entry is None or self.covered.node(node, *([around] if around is not None else ())):
            return
        message = f"{entry.symbol} is gone, JAX {entry.last} was the last with it"
        advice = _advised(self.history.advices.get(entry.symbol), self.target)
        yield Proposal(REMOVED, node, message + advice, Applicability.MANUAL, (), entry.symbol)

    def _is_living(self, kind: str) -> bool:
        entry = self.history.entry(kind)
        return entry is not None and entry.alive and "class" in entry.kinds

    def _is_told_apart(self, value: ast.expr, kind: str) -> bool:
        """Whether the code around asks what a value is: then it may be something else than it is said to be."""
        function = self.source.function(value)
        wanted = ast.dump(value)
        for test in ast.walk(function or self.source.tree) if _TELLING & self.source.by_id.keys() else ():
            asks = isinstance(test, ast.Call) and getattr(test.func, "id", "") in _TELLING
            if asks and isinstance(test, ast.Call) and test.args and ast.dump(test.args[0]) == wanted:
                if self._names(test.args[1:2], kind):
                    continue
                return True
        return False

    def _names(self, classes: Sequence[ast.expr], kind: str) -> bool:
        """Whether a test asks for nothing but that very class."""
        return any(self.source.facts.canonical(self.source.resolve(c) or "") == kind for c in classes)

    def options(self) -> Iterator[Proposal]:
        """Options that are read: ``jax.config.jax_gone``, ``config.read("jax_gone")``, ``FLAGS.jax_gone`` of absl."""
        for node, option, of_absl in roundabout.options(self.source):
            library = option.partition("_")[0]
            entries = [e for e in map(self.history.entry, (f"flags.{option}", f"{library}.config.{option}")) if e is not None]
            known = bool(entries) or (of_absl or not self._is_ours(library))
            if any(e.alive or e.at(self.target) for e in entries) or self.covered.node(node, *self.source.ancestors(node)):
                continue
            if isinstance(node, ast.Attribute) and not of_absl and self.judged(f"{library}.config.{option}") is not None:
                continue  # said of the attribute
            symbol = f"flags.{option}"
            if entries:
                message = f"the option {option} is gone, JAX {entries[0].last} was the last with it"
                message += _advised(self.history.advice(symbol), self.target)
                yield Proposal(REMOVED, node, message, Applicability.MANUAL, (), symbol)
            elif not known:
                near = get_close_matches(option, [n for n, e in self.history.members("flags").items() if e.alive], 1, 0.85)
                hint = f", did you mean {near[0]}?" if near else ""
                message = f"{option} is not an option of any known release of JAX{hint}"
                yield Proposal(UNKNOWN, node, message, Applicability.MANUAL, (), symbol)

    def proposal(self, node: ast.AST, verdict: Verdict, message: str, old: Binding | None = None) -> Proposal:
        severity = Severity.LOW if verdict.fate is Fate.DEPRECATED else Severity.NORMAL
        symbol = verdict.symbol if verdict.fate is Fate.GONE else verdict.root
        found = Proposal(_OF[verdict.fate], node, message, Applicability.MANUAL, (), symbol, old, severity=severity)
        if verdict.fate is Fate.NEWER:
            found.guard = reached.waits(self.source, node, verdict.root)
        return found

    def _public(self, private: str) -> str:
        """What to write for a private name by what is known of a public one that was called so."""
        namesake = self.history.public_namesake(private)
        entry = self.history.entry(namesake) if namesake else None
        if entry is None:
            return ""
        return f"; {namesake} is public" if entry.alive else _advised(self.history.advices.get(namesake), self.target)

    def message(self, verdict: Verdict, qualified: str) -> str:
        """What to say about a name."""
        if verdict.fate is Fate.UNKNOWN:
            return f"{verdict.symbol} is not a JAX API of any known release{self._near(verdict.symbol)}"
        if verdict.fate is Fate.PRIVATE:
            newest = self.history.versions[-1]
            hidden = any(part.startswith("_") for part in verdict.root.split("."))
            advice = self.history.advices.get(verdict.root) if hidden else self.history.advice(verdict.root)
            hint = _advised(advice, self.target) if advice is not None else self._public(verdict.root)
            return f"{verdict.root} is private, and JAX {newest} has no such name{hint}"
        assert verdict.entry is not None
        if verdict.fate is Fate.NEWER:
            return f"{verdict.root} exists since JAX {verdict.entry.since}, which is newer than the target {self.target}"
        if "leak" in verdict.entry.kinds and verdict.root.endswith(f".{(library := verdict.root.partition('.')[0])}"):
            return self._gone(verdict, verdict.root) + self._itself(library + qualified.removeprefix(verdict.root))
        advice = self.history.advice(verdict.symbol)
        if verdict.fate is Fate.DEPRECATED:
            text = f"{verdict.symbol} is deprecated since JAX {verdict.entry.deprecated}"
            return text + _advised(advice, self.target)
        of = "it" if verdict.symbol == qualified else verdict.symbol
        return self._gone(verdict, qualified) + (self._further(verdict, qualified) or _advised(advice, self.target, of))

    def _further(self, verdict: Verdict, qualified: str) -> str:
        """What became of a member of a module that moved, where it is gone from the new place as well."""
        advice = self.history.advice(verdict.symbol)
        home = advice.at(self.target) if advice is not None and advice.verb == "move" else None
        if home is None or verdict.symbol == qualified:
            return ""
        meant = home.name + qualified.removeprefix(verdict.symbol)
        deeper = self.judged(meant)
        return f"; {verdict.symbol} is {home.name} now, and {self.message(deeper, meant)}" if deeper is not None else ""

    def _itself(self, meant: str) -> str:
        """What to write instead of ``jax.jax.numpy.sum``."""
        deeper = self.judged(meant)
        return f"; write {meant}" if deeper is None else f"; it was the library itself, and {self.message(deeper, meant)}"

    def _gone(self, verdict: Verdict, qualified: str) -> str:
        assert verdict.entry is not None
        last = f"JAX {verdict.entry.last} was the last with it" if verdict.entry.last else "it is no module any more"
        if verdict.root == qualified:
            return f"{qualified} is gone, {last}"
        own = self.history.entry(verdict.symbol)
        if own is not None and own.last and verdict.entry.last and own.last < verdict.entry.last:
            return f"{verdict.symbol} is gone, JAX {own.last} was the last with it"
        return f"{qualified} is gone with {verdict.root}, {last}"

    def _near(self, symbol: str) -> str:
        parent, _, name = symbol.rpartition(".")
        living = [n for n, e in self.history.members(parent).items() if e.alive and "leak" not in e.kinds]
        near = [f"{parent}.{n}" for n in living if n.lower() == name.lower()] or self.history.elsewhere(name)
        near = near or [f"{parent}.{n}" for n in get_close_matches(name, living, 1, 0.75)]
        return f", did you mean {' or '.join(near)}?" if 0 < len(near) <= _CHOICES else ""


def _advised(advice: Advice | None, target: Version, of: str = "it") -> str:
    """What to do instead of a name (`of`), after a semicolon; empty when nothing is on record."""
    if advice is None:
        return ""
    successor = advice.at(target)
    parts = [f"{of} is {successor.name} now" if advice.verb == "move" else f"use {successor.name}"] if successor else []
    text = advice.text.removeprefix("?").strip()
    return "".join(f"; {part}" for part in [*parts, *([text] if text else [])])
