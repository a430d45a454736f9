"""`rewrite_source`: bytes in, `FileResult` out. Pure: no I/O, no printing, no globals.

Rounds repeat until no codemod proposes anything new: of overlapping edits the inner goes first, the outer sees the result;
a statement that goes is not edited before. Positions of findings are mapped back to the file as it was read.
"""

from __future__ import annotations

import ast
import contextlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from jaxmigrate import codemod as api
from jaxmigrate.codemod import Codemod
from jaxmigrate.completeness import Circumstances, complete, youngest
from jaxmigrate.document import Document, DocumentError
from jaxmigrate.edits import EditError, Renderer, apply, swallow_blank_lines
from jaxmigrate.gate import holds_word
from jaxmigrate.import_blocks import Arrival
from jaxmigrate.import_lists import PRAGMA
from jaxmigrate.imports import (
    MoveImport,
    Speller,
    chain,
    commented,
    exported,
    imported_name,
    is_used,
    line_end,
    line_start,
    local_name,
)
from jaxmigrate.model import (
    Applicability,
    Fact,
    FileResult,
    Finding,
    Outcome,
    ProjectIndex,
    Settings,
    Severity,
    Splice,
    Status,
    Version,
)
from jaxmigrate.names import NameError_, Source, SourceError, parse
from jaxmigrate.registry import Pack, load
from jaxmigrate.renames import Proposal
from jaxmigrate.silences import still_fails
from jaxmigrate.sites import Past, collect, guard, has_stand_in
from jaxmigrate.suppression import is_suppressed, silenced, skips_file

_MAX_ROUNDS = 25
_MAX_BYTES = 10_000_000


def rewrite_source(
    data: bytes,
    settings: Settings,
    *,
    path: str = "<stdin>",
    module: str = "",
    is_package: bool = False,
    index: ProjectIndex | None = None,
    pack: Pack | None = None,
    ages: bool = True,
) -> FileResult:
    """Migrate one file; `ages` asks for the JAX that its names need, also where nothing is rewritten.

    Never raises for bad input: a file that cannot be decoded or parsed is ``failed`` with a one-line reason.
    """
    pack = pack or load()
    if len(data) > _MAX_BYTES:
        return FileResult(path, Status.FAILED, reason=f"larger than {_MAX_BYTES // 1_000_000} MB: not analysed")
    document = Document.decode(data)
    if isinstance(document, DocumentError):
        return FileResult(path, Status.FAILED, reason=document.message)
    run = _Run(settings, path, module, is_package, index, pack, document.newline, ages)
    try:
        after = run.to_fixpoint(document.utf8)
    except SourceError as error:
        return FileResult(path, Status.FAILED, reason=f"cannot be parsed: {error}")
    except EditError as error:
        return FileResult(path, Status.FAILED, reason=f"internal error: {error}")
    findings = tuple(sorted(run.findings, key=lambda f: (f.position.line, f.position.column, f.codemod, f.message)))
    if after == document.utf8:
        return FileResult(path, Status.UNCHANGED, findings=findings, facts=tuple(run.facts), uses=run.uses)
    try:
        encoded = document.encode_utf8(after)
    except UnicodeEncodeError:
        return FileResult(path, Status.FAILED, reason="the edit needs characters that the file's encoding lacks")
    return FileResult(path, Status.REWRITTEN, data, encoded, findings, facts=tuple(run.facts), uses=run.uses)


def project_findings(results: Iterable[FileResult], settings: Settings, pack: Pack | None = None) -> list[tuple[str, Finding]]:
    """What codemods say about the project as a whole, from the facts of all files: (path, finding)."""
    pack = pack or load()
    facts = [fact for result in results for fact in result.facts]
    found: list[tuple[str, Finding]] = []
    for codemod in _selected(pack, settings):
        own = [fact for fact in facts if fact.codemod == codemod.name]
        for handler in codemod.projects if own else ():
            for fact, message in handler(own):
                finding = Finding(codemod.name, fact.position, fact.end, message, Applicability.MANUAL, Outcome.MANUAL)
                found.append((fact.path, finding))
    return found


def _selected(pack: Pack, settings: Settings) -> list[Codemod]:
    chosen = settings.select
    return [c for c in pack.codemods.values() if (chosen is None or c.name in chosen) and c.name not in settings.ignore]


_Applied = tuple[Proposal, list[Splice], str, Version | None]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The edits of one round: proposal, its splices, comments it loses, JAX it needs; and all splices with imports."""

    applied: list[_Applied]
    splices: list[Splice]


@dataclass(slots=True)
class _Run:
    """The rounds of one file."""

    settings: Settings
    path: str
    module: str
    is_package: bool
    index: ProjectIndex | None
    pack: Pack
    newline: str
    ages: bool
    findings: list[Finding] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    original: Source | None = None
    history: list[_Shift] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    """Local names (and dotted prefixes) of which this run took away a use."""
    arrived: set[str] = field(default_factory=set)
    """Modules from which this run imports names that it moved."""
    uses: Version | None = None
    """The JAX that the living names of the result need."""
    emitted: set[str] = field(default_factory=set)
    """Names that the edits of this run spell."""
    places: dict[Finding, tuple[int, int]] = field(default_factory=dict)
    """Where in the present text each applied edit lies."""
    refused: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Edits that were given up, so that they are not tried again, and why."""

    def to_fixpoint(self, utf8: bytes) -> bytes:
        codemods = _selected(self.pack, self.settings)
        words = self.pack.leaves(codemods)
        seen = {utf8}
        source = self.parse(utf8, words)
        present: list[Codemod] = []
        for _ in range(_MAX_ROUNDS):
            present = [c for c in codemods if c in present or holds_word(utf8, c.words)]  # an edit may bring a codemod's word
            if self.original is None:
                self.original = source
                if skips_file(source):
                    return utf8
            past = Past(present, self.touched, partial(self.note, source))
            proposals = collect(source, codemods, self.settings, past)
            after, splices = self.edited(source, proposals, words)
            if after is None:
                rest = self.rest(source, codemods, proposals)
                after, splices = self.edited(source, rest, words) if any(p.changes for p in rest) else (None, [])
                proposals += rest
            if after is None:
                self.leave(source, proposals)
                self.uses = self.used(source) if self.ages or self.history else None
                return utf8
            source, utf8 = after, after.utf8
            self.history.append(_Shift(splices))
            if utf8 in seen:
                raise EditError("the edits of this file undo each other")
            seen.add(utf8)
            source.original, source.to_original = self.original, self.original_line
        raise EditError(f"no end after {_MAX_ROUNDS} rounds of edits")

    def used(self, source: Source) -> Version | None:
        """The JAX that the names in a file need, if that is more than the oldest on record has."""
        found = youngest(source)
        return found if found is not None and found > self.pack.facts.history.versions[0] else None

    def rest(self, source: Source, codemods: list[Codemod], found: list[Proposal]) -> list[Proposal]:
        """What is to be said where no codemod said anything."""
        ignored = tuple(c for name, c in self.pack.codemods.items() if name in self.settings.ignore)
        rest = complete(source, codemods, found, Circumstances(self.settings.target, frozenset(self.emitted), ignored))
        guard(source, rest)
        return rest

    def edited(self, source: Source, proposals: list[Proposal], words: frozenset[str]) -> tuple[Source | None, list[Splice]]:
        """The text after one round, parsed; None when there is nothing to do."""
        chosen = self.choose(source, proposals, check=False)
        splices = chosen.splices or self.tidy(source) or self.arranged(source) or self.reloaded(source)
        if not splices:
            return None, []
        try:
            after = self.parse(apply(source.utf8, splices), words)
        except SourceError:  # one of the edits breaks the syntax: find it by trying each on its own
            chosen = self.choose(source, proposals, check=True)
            splices = chosen.splices
            if not splices:
                return None, []
            after = self.parse(apply(source.utf8, splices), words)
        self.record(source, chosen)
        return after, splices

    def parse(self, utf8: bytes, words: frozenset[str]) -> Source:
        source = Source(
            utf8,
            path=self.path,
            module=self.module,
            is_package=self.is_package,
            index=self.index,
            facts=self.pack.facts,
            dead=self.pack.dead(),
            dead_members=self.pack.dead_members(),
            target=self.settings.target,
        )
        source.embed(words)
        return source

    def choose(self, source: Source, proposals: list[Proposal], *, check: bool) -> _Chosen:
        """Render and accept the edits of this round: inner before outer, none overlapping; `check` parses after each.

        Statements that go come first: what is inside needs no edit.
        """
        speller = Speller(source, self.newline)
        renderer = Renderer(source, speller, self.newline)
        accepted = _Accepted()
        applied: list[_Applied] = []
        twins: dict[tuple[Splice, ...], _Applied] = {}
        wanted = [p for p in proposals if self.wanted(source, p)]
        moves = [p for p in wanted if all(isinstance(c, MoveImport) for c in p.changes)]
        if moves and any(_speaks_deep(p) for p in wanted):
            wanted = moves  # names that moved first: what is spelled after them then follows the file's new style
        for proposal in sorted(wanted, key=lambda p: (not _deletes(p), *_width(source, p))):
            mark = speller.mark()
            renderer.spelled.clear()
            splices = self.rendered(renderer, proposal)
            self.emitted |= renderer.spelled
            if splices and (twin := twins.get(tuple(splices))):
                applied.append((proposal, splices, *twin[2:]))  # two sites ask for the same edit
                speller.reset(mark)
                continue
            note = self.lost_comments(source, proposal, splices) if splices else ""
            needs = self.required(renderer.spelled, proposal.requires)
            if splices is None or not self.may(proposal, note, needs) or self.collides(accepted, speller, mark, splices):
                speller.reset(mark)
                continue
            if check and not self.parses(source, proposal, [*splices, *speller.splices()]):
                speller.reset(mark)
                continue
            accepted.add(splices)
            applied.append((proposal, splices, note, needs))
            twins[tuple(splices)] = applied[-1]
        return _Chosen(applied, swallow_blank_lines(source.utf8, [*accepted.splices, *speller.splices()]))

    def record(self, source: Source, chosen: _Chosen) -> None:
        """Turn what was applied into findings, and forget those of text that went away with a folded branch."""
        self.touch(source, chosen.splices)
        gone = [
            span for p, *_ in chosen.applied for c in p.changes if isinstance(c, api.KeepBlock) for span in _dropped(source, c)
        ]
        for finding, (start, end) in list(self.places.items()) if gone else ():
            if any(a <= start and end <= b for a, b in gone):
                del self.places[finding]
                self.findings.remove(finding)
        shift = _Shift(chosen.splices)
        self.places = {f: (shift.forward(a), shift.forward(b)) for f, (a, b) in self.places.items()}
        for proposal, splices, note, needs in chosen.applied:
            for change in proposal.changes:
                if isinstance(change, MoveImport):
                    self.arrived |= {m.module for m in change.moved}
            finding = self.finding(source, proposal, Outcome.APPLIED, splices, note, needs)
            self.findings.append(finding)
            start, end = source.span(proposal.node)
            self.places[finding] = shift.forward(start), shift.forward(end)

    def wanted(self, source: Source, proposal: Proposal) -> bool:
        return (
            bool(proposal.changes)
            and proposal.applicability <= self.settings.allowed
            and not proposal.guard
            and _key(source, proposal) not in self.refused
            and not is_suppressed(source, proposal)
            and not self.held(source, proposal)
        )

    def held(self, source: Source, proposal: Proposal) -> str:
        """Why the settings hold this very edit back; empty if they do not name it."""
        if not self.settings.held:
            return ""
        assert self.original is not None
        position = self.original.position(self.back(source.span(proposal.node)[0]))
        return self.settings.held.get((self.path, proposal.codemod, position), "")

    def rendered(self, renderer: Renderer, proposal: Proposal) -> list[Splice] | None:
        splices: list[Splice] = []
        try:
            for change in proposal.changes:
                splices += renderer.render(change, proposal.old)
        except EditError as error:
            self.refused[_key(renderer.source, proposal)] = str(error)
            return None
        if _overlap([], splices):
            self.refused[_key(renderer.source, proposal)] = "its changes overlap"
            return None
        return splices

    def may(self, proposal: Proposal, note: str, needs: Version | None) -> bool:
        """Whether the settings allow the edit, although it loses the comments in `note` or needs more than the target."""
        if note or (needs is not None and needs > self.settings.target):
            proposal.applicability = max(proposal.applicability, Applicability.REVIEW)
        return proposal.applicability <= self.settings.allowed

    @staticmethod
    def collides(accepted: _Accepted, speller: Speller, mark: tuple[int, int, int], splices: list[Splice]) -> bool:
        """Whether an edit, with the imports it asks for, overlaps one that was accepted."""
        return accepted.hit_by([*splices, *speller.splices_since(mark)]) or _overlap(speller.grown(mark), splices)

    def parses(self, source: Source, proposal: Proposal, splices: list[Splice]) -> bool:
        """Whether the file still parses after this edit alone; if not, it is given up."""
        try:
            parse(apply(source.utf8, splices).decode("utf-8"))
        except SourceError:
            self.refused[_key(source, proposal)] = "the result would not parse"
            return False
        return True

    def lost_comments(self, source: Source, proposal: Proposal, splices: list[Splice]) -> str:
        """The comments inside the replaced text that the new text lacks."""
        if all(isinstance(c, api.KeepBlock) for c in proposal.changes):
            return ""  # a dropped branch takes its comments along
        lost: list[str] = []
        moves = all(isinstance(c, MoveImport) for c in proposal.changes)
        new = "".join(s.text for s in splices)
        for splice in splices:
            if b"#" in source.utf8[splice.start : splice.end]:
                for offset, text in source.comments.items():
                    if (
                        splice.start <= offset < splice.end
                        and text.lstrip("# ") not in new
                        and not (moves and PRAGMA.match(text))
                    ):
                        lost.append(text)
        return "; ".join(lost)

    def required(self, spelled: set[str], stated: Version | None) -> Version | None:
        versions = [stated, *map(self.pack.facts.since_of, spelled)]
        return max((v for v in versions if v is not None), default=None)

    def touch(self, source: Source, splices: list[Splice]) -> None:
        """Remember the imported names whose uses were replaced."""
        covered = sorted((s.start, s.end) for s in splices)
        imported = {local_name(a) for statement in source.imports for a in statement.names}
        for name in imported & source.by_id.keys():
            for node in source.by_id[name]:
                start, end = source.span(node)
                index = bisect_right(covered, (start, len(source.utf8))) - 1
                if index >= 0 and covered[index][0] <= start and end <= covered[index][1]:
                    self.touched |= {name, chain(source, node)}

    def tidy(self, source: Source) -> list[Splice]:
        """Drop imported names that this run left without a use."""
        speller = Speller(source, self.newline)
        renderer = Renderer(source, speller, self.newline)
        splices: list[Splice] = []
        for statement in source.imports:
            drop = [a for a in statement.names if self.unused(source, statement, a)]
            if not drop or source.guard(statement) or silenced(source, statement):
                continue
            names = frozenset(local_name(a) for a in drop)
            change = MoveImport(statement, (), names)
            if not _overlap(splices, found := renderer.render(change)):
                splices += self.with_comments(source, statement, drop, found)
        return swallow_blank_lines(source.utf8, splices)

    def with_comments(
        self, source: Source, statement: ast.Import | ast.ImportFrom, drop: list[ast.alias], splices: list[Splice]
    ) -> list[Splice]:
        """The comments of names that go: with the successor where it stands in the same list, else told of in a finding."""
        for offset, text in source.comments.items():
            gone = next((s for s in splices if s.start <= offset < s.end), None)
            if gone is None or PRAGMA.match(text) or text in "".join(s.text for s in splices):
                continue
            line = source.utf8.count(b"\n", 0, offset) + 1
            alias = next((a for a in drop if a.end_lineno == line), drop[-1])
            qualified = imported_name(source, statement, alias)
            advice = self.pack.facts.history.advice(qualified)
            successor = advice.at(self.settings.target) if advice is not None else None
            kept = commented(gone.text, successor.name.rpartition(".")[2], text) if successor is not None else None
            if kept is not None:
                splices = [Splice(s.start, s.end, kept) if s is gone else s for s in splices]
            else:
                self.confess(qualified, text)
        return splices

    def confess(self, qualified: str, comment: str) -> None:
        """Say with the edit that took a name's last use away that a comment goes with its import."""
        applied = [f for f in self.findings if f.outcome is Outcome.APPLIED]
        own = [f for f in applied if f"{f.symbol}.".startswith(f"{qualified}.")]
        for old in (own or applied)[:1]:
            new = replace(old, message=f"{old.message}; a comment goes with it: {comment}")
            self.findings[self.findings.index(old)] = new
            if old in self.places:
                self.places[new] = self.places.pop(old)

    def arranged(self, source: Source) -> list[Splice]:
        """Join the imports of one module that names were moved to, and keep a sorted block sorted."""
        assert self.original is not None
        return Arrival(source, self.original, self.arrived, self.back).arranged(self.newline)

    def reloaded(self, source: Source) -> list[Splice]:
        """``import jax.experimental.pjit`` where only an import that went had loaded what attributes still reach."""
        assert self.original is not None
        speller = Speller(source, self.newline)
        for module in sorted(self.original.loaded_modules() - source.loaded_modules(), key=len, reverse=True):
            uses = [n for n in source.names(module) if isinstance(source.parent(n), ast.Attribute)]
            root = module.partition(".")[0]
            facts = self.pack.facts
            if uses and not facts.is_attribute_path(root, module) and not facts.is_gone_module(module):
                with contextlib.suppress(NameError_):  # only a docstring or a __future__ import shares its line with code
                    speller.load(module, min(uses, key=lambda n: source.span(n)[0]))
                break
        return speller.splices()

    def unused(self, source: Source, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        name = local_name(alias)
        if name not in self.touched or alias.name == "*" or is_used(source, alias, statement):
            return False
        if has_stand_in(source, alias, name, source.scope(statement)):
            return False
        at_module = source.scope(statement) is source.scope_root
        qualified = imported_name(source, statement, alias)
        dead = qualified in self.pack.dead() or self.pack.facts.is_gone_module(qualified)
        if at_module and exported(source, name) and not dead:
            return False
        if isinstance(statement, ast.Import) and "." in alias.name and not alias.asname:
            ours = _is_jax(qualified) or dead
            return ours and any(t.startswith(alias.name + ".") for t in self.touched)
        through = any(b.indexed for b in source.lookup(name, source.scope(statement))[0] if b.node is alias)
        return _is_jax(qualified) or dead or through

    def leave(self, source: Source, proposals: list[Proposal]) -> None:
        """Report what was not applied, once."""
        outcomes = [self.outcome(source, p) for p in proposals]
        held = {p.old for p, outcome in zip(proposals, outcomes, strict=True) if outcome is Outcome.HELD}
        stuck = {p.old for p, outcome in zip(proposals, outcomes, strict=True) if outcome is not Outcome.HELD}
        for proposal, outcome in zip(proposals, outcomes, strict=True):
            why = self.refused.get(_key(source, proposal))
            if why is not None:
                proposal.message += f" (not edited: {why})"
            if proposal.kept in held - stuck - {None}:
                outcome, proposal.applicability = Outcome.HELD, Applicability.REVIEW
                proposal.message = f"{proposal.symbol} cannot be imported any more; its import goes with the edits held back"
            elif outcome is Outcome.MANUAL:
                proposal.applicability = Applicability.MANUAL
            self.findings.append(self.finding(source, proposal, outcome, self.preview(source, proposal, outcome), "", None))
        self.findings = _unique(self.findings)

    def outcome(self, source: Source, proposal: Proposal) -> Outcome:
        """What becomes of a proposal that is still there when nothing more is applied."""
        if proposal.guard:
            return Outcome.GUARDED
        if is_suppressed(source, proposal):
            return Outcome.SUPPRESSED
        refused = _key(source, proposal) in self.refused
        if refused or proposal.applicability is Applicability.MANUAL or not proposal.changes:
            return Outcome.MANUAL
        return Outcome.HELD

    def preview(self, source: Source, proposal: Proposal, outcome: Outcome) -> list[Splice]:
        """The edit that a held finding would make, for the report."""
        if outcome is not Outcome.HELD:
            return []
        return self.rendered(Renderer(source, Speller(source, self.newline), self.newline), proposal) or []

    def finding(
        self, source: Source, proposal: Proposal, outcome: Outcome, splices: list[Splice], note: str, needs: Version | None
    ) -> Finding:
        start, end = source.span(proposal.node)
        if isinstance(proposal.node, ast.stmt):  # point at a block's first line, not at all of it
            end = min(end, source.offset(proposal.node.lineno, 0) + _first_line(source, start))
        message, applicability = proposal.message, proposal.applicability
        if note:
            message += f"; a comment goes with it: {note}"
            applicability = max(applicability, Applicability.REVIEW)
        if needs is not None and needs > self.settings.target:
            message += f" (needs JAX {needs}, newer than the target {self.settings.target})"
        if proposal.severity is Severity.URGENT and outcome is Outcome.APPLIED and not still_fails(source, proposal):
            message += " (this edit mends it)"
        assert self.original is not None
        first = min(splices, key=lambda s: s.start) if splices else None
        return Finding(
            proposal.codemod,
            self.original.position(self.back(start)),
            self.original.position(self.back(end)),
            message,
            applicability,
            outcome,
            proposal.symbol,
            source.utf8[first.start : first.end].decode("utf-8") if first else source.segment(proposal.node)[:200],
            first.text if first else "",
            needs,
            self.held(source, proposal) if outcome is Outcome.HELD else "",
            Severity.NORMAL if self.settings.strict and proposal.severity is Severity.LOW else proposal.severity,
        )

    def note(self, source: Source, codemod: Codemod, node: ast.AST, value: str) -> None:
        """Keep a fact; only the first round sees the file as it was."""
        if source is self.original:
            start, end = source.span(node)
            self.facts.append(Fact(codemod.name, value, self.path, source.position(start), source.position(end)))

    def original_line(self, offset: int) -> int:
        """The line that an offset of the present text had in the file as it was read."""
        assert self.original is not None
        return self.original.position(self.back(offset)).line

    def back(self, offset: int) -> int:
        """The offset in the file as it was read."""
        for shift in reversed(self.history):
            offset = shift.back(offset)
        return offset


class _Shift:
    """Maps offsets across the edits of one round, forward and back, by bisection."""

    def __init__(self, splices: Sequence[Splice]) -> None:
        self.splices = sorted(splices, key=lambda s: (s.start, s.end))
        self.old_starts = [s.start for s in self.splices]
        self.new_starts: list[int] = []
        self.shifts = [0]
        """Bytes that the text has grown by before each splice."""
        for splice in self.splices:
            self.new_starts.append(splice.start + self.shifts[-1])
            self.shifts.append(self.shifts[-1] + len(splice.text.encode("utf-8")) - (splice.end - splice.start))

    def back(self, offset: int) -> int:
        """The old offset; one inside new text is clipped to the text it replaced."""
        index = bisect_right(self.new_starts, offset) - 1
        if index < 0:
            return offset
        splice, begin = self.splices[index], self.new_starts[index]
        inside = offset - begin
        if inside < len(splice.text.encode("utf-8")):
            return min(splice.start + inside, splice.end)
        return offset - self.shifts[index + 1]

    def forward(self, offset: int) -> int:
        """The new offset; one inside replaced text is moved to the end of what replaces it."""
        index = bisect_left(self.old_starts, offset) - 1
        if index < 0:
            return offset
        splice = self.splices[index]
        if offset < splice.end:
            return self.new_starts[index] + len(splice.text.encode("utf-8"))
        return offset + self.shifts[index + 1]


_DEEP = re.compile(r"\{\w+\.\w+\.\w")


def _speaks_deep(proposal: Proposal) -> bool:
    """Whether an edit spells a name of a submodule, which a ``from`` import may give."""
    templates: list[api.Template] = []
    for change in proposal.changes:
        if isinstance(change, api.EditCall):
            templates += [*([change.func] if change.func else []), *change.values.values(), *(t for _, t in change.append)]
        elif isinstance(change, (api.ReplaceExpr, api.ReplaceStatement, api.InsertBefore, api.InsertAfter)):
            templates.append(change.new)
    return any(_DEEP.search(t.text) for t in templates)


def _first_line(source: Source, start: int) -> int:
    begin = line_start(source.utf8, start)
    return len(source.utf8[begin : line_end(source.utf8, start)].rstrip(b"\r\n"))


def _unique(findings: list[Finding]) -> list[Finding]:
    return list(dict.fromkeys(findings))


def _width(source: Source, proposal: Proposal) -> tuple[int, int]:
    start, end = source.span(proposal.node)
    widest = 0
    for change in proposal.changes:
        if isinstance(change, api.ReplaceText):
            widest = max(widest, change.end - change.start)
        else:
            a, b = source.span(change.node)
            inserted = isinstance(change, (api.InsertBefore, api.InsertAfter))
            widest = max(widest, 0 if inserted else b - a)
    return widest or end - start, start


def _deletes(proposal: Proposal) -> bool:
    """Whether an edit does nothing but take statements away."""
    return all(isinstance(change, api.DeleteStatement) for change in proposal.changes)


def _key(source: Source, proposal: Proposal) -> tuple[str, str, str]:
    return proposal.codemod, source.segment(proposal.node)[:400], type(proposal.node).__name__


def _overlap(accepted: list[Splice], new: list[Splice]) -> bool:
    for position, a in enumerate(new):
        for b in (*accepted, *new[position + 1 :]):
            if a.start == a.end or b.start == b.end:
                if (b.start < a.start < b.end) or (a.start < b.start < a.end):
                    return True
            elif a.start < b.end and b.start < a.end:
                return True
    return False


def _dropped(source: Source, change: api.KeepBlock) -> Iterator[tuple[int, int]]:
    """The parts of a folded statement that go: all of it before and behind the kept block."""
    start, end = source.span(change.node)
    kept: list[ast.stmt] = getattr(change.node, change.block)
    if not kept:
        yield start, end
        return
    yield start, source.span(kept[0])[0]
    yield source.span(kept[-1])[1], end


class _Accepted:
    """Splices that do not overlap, kept in order of their place."""

    def __init__(self) -> None:
        self.splices: list[Splice] = []
        self._keys: list[tuple[int, int]] = []

    def add(self, splices: Iterable[Splice]) -> None:
        """Take splices in."""
        for splice in splices:
            index = bisect_right(self._keys, (splice.start, splice.end))
            self._keys.insert(index, (splice.start, splice.end))
            self.splices.insert(index, splice)

    def hit_by(self, splices: Sequence[Splice]) -> bool:
        """Whether one of `splices` overlaps one that is here."""
        for splice in splices:
            index = bisect_left(self._keys, (splice.start, splice.start))
            near = self.splices[max(index - 1, 0) : bisect_right(self._keys, (splice.end, splice.end)) + 1]
            if _overlap(near, [splice]):
                return True
        return False


def _is_jax(qualified: str) -> bool:
    return qualified.partition(".")[0] in ("jax", "jaxlib")
