"""`rewrite_source`: bytes in, `FileResult` out. Pure: no I/O, no printing, no globals.

Rounds repeat until no codemod proposes anything new: of overlapping edits the inner goes first, the outer sees the result.
Positions of findings are mapped back to the file as it was read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from jaxmigrate import codemod as api
from jaxmigrate import renames
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
from jaxmigrate.document import Document, DocumentError
from jaxmigrate.edits import Collapse, EditError, Renderer, apply, swallow_blank_lines
from jaxmigrate.imports import MovedName, MoveImport, Speller, chain, exported, is_used, line_end, line_start, local_name
from jaxmigrate.model import (
    Applicability,
    Fact,
    FileResult,
    Finding,
    Outcome,
    Position,
    ProjectIndex,
    Settings,
    Splice,
    Status,
    Version,
)
from jaxmigrate.names import Resolved, Source, SourceError, comments_of
from jaxmigrate.registry import Pack, load
from jaxmigrate.renames import Proposal

_MAX_ROUNDS = 25
_MAX_BYTES = 10_000_000
_SUPPRESS = re.compile(r"#\s*jaxmigrate:\s*(ignore(?:\[([^\]]*)\])?|skip-file)")


def rewrite_source(
    data: bytes,
    settings: Settings,
    *,
    path: str = "<stdin>",
    module: str = "",
    is_package: bool = False,
    index: ProjectIndex | None = None,
    pack: Pack | None = None,
) -> FileResult:
    """Migrate one file.

    Never raises for bad input: a file that cannot be decoded or parsed is ``failed`` with a one-line reason.
    """
    pack = pack or load()
    if len(data) > _MAX_BYTES:
        return FileResult(path, Status.FAILED, reason=f"larger than {_MAX_BYTES // 1_000_000} MB: not analysed")
    document = Document.decode(data)
    if isinstance(document, DocumentError):
        return FileResult(path, Status.FAILED, reason=document.message)
    run = _Run(settings, path, module, is_package, index, pack, document.newline)
    try:
        after = run.to_fixpoint(document.utf8)
    except SourceError as error:
        return FileResult(path, Status.FAILED, reason=f"cannot be parsed: {error}")
    except EditError as error:
        return FileResult(path, Status.FAILED, reason=f"internal error: {error}")
    findings = tuple(sorted(run.findings, key=lambda f: (f.position.line, f.position.column, f.codemod, f.message)))
    if after == document.utf8:
        return FileResult(path, Status.UNCHANGED, findings=findings, facts=tuple(run.facts))
    try:
        encoded = document.encode_utf8(after)
    except UnicodeEncodeError:
        return FileResult(path, Status.FAILED, reason="the edit needs characters that the file's encoding lacks")
    return FileResult(path, Status.REWRITTEN, data, encoded, findings, facts=tuple(run.facts))


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


def _embeddable(codemods: list[Codemod]) -> frozenset[str]:
    """The words that make a quoted annotation worth parsing."""
    words: set[str] = set()
    for codemod in codemods:
        words |= codemod.words
        for table in (codemod.moves, codemod.names, codemod.calls):
            words |= {name.rpartition(".")[2] for name in table}
    return frozenset(words)


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
    findings: list[Finding] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    original: Source | None = None
    history: list[list[Splice]] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    """Local names (and dotted prefixes) of which this run took away a use."""
    arrived: set[str] = field(default_factory=set)
    """Modules from which this run imports names that it moved."""
    places: dict[Finding, tuple[int, int]] = field(default_factory=dict)
    """Where in the present text each applied edit lies."""
    refused: set[tuple[str, str, str]] = field(default_factory=set)
    """Edits that were given up, so that they are not tried again."""

    def to_fixpoint(self, utf8: bytes) -> bytes:
        codemods = _selected(self.pack, self.settings)
        words = _embeddable(codemods)
        seen = {utf8}
        source = self.parse(utf8, words)
        for _ in range(_MAX_ROUNDS):
            if self.original is None:
                self.original = source
                if _skip_file(source):
                    return utf8
            proposals = _collect(source, codemods, self.settings, self)
            after, splices = self.edited(source, proposals, words)
            if after is None:
                self.leave(source, proposals)
                return utf8
            source, utf8 = after, after.utf8
            self.history.append(sorted(splices, key=lambda s: (s.start, s.end)))
            if utf8 in seen:
                raise EditError("the edits of this file undo each other")
            seen.add(utf8)
        raise EditError(f"no end after {_MAX_ROUNDS} rounds of edits")

    def edited(self, source: Source, proposals: list[Proposal], words: frozenset[str]) -> tuple[Source | None, list[Splice]]:
        """The text after one round, parsed; None when there is nothing to do."""
        chosen = self.choose(source, proposals, check=False)
        splices = chosen.splices or self.tidy(source) or self.merged(source)
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
        )
        source.embed(words)
        return source

    def choose(self, source: Source, proposals: list[Proposal], *, check: bool) -> _Chosen:
        """Render and accept the edits of this round: inner before outer, none overlapping; `check` parses after each."""
        speller = Speller(source, self.newline)
        renderer = Renderer(source, speller, self.newline)
        accepted: list[Splice] = []
        applied: list[_Applied] = []
        wanted = [p for p in proposals if self.wanted(source, p)]
        moves = [p for p in wanted if all(isinstance(c, MoveImport) for c in p.changes)]
        wanted = moves or wanted  # names that moved first: what is spelled after them then follows the file's new style
        for proposal in sorted(wanted, key=lambda p: _width(source, p)):
            mark = speller.mark()
            renderer.spelled.clear()
            splices = self.rendered(renderer, proposal)
            note = self.lost_comments(source, proposal, splices) if splices else ""
            if splices and (twin := next((a for a in applied if a[1] == splices), None)):
                applied.append((proposal, splices, *twin[2:]))  # two sites ask for the same edit
                speller.reset(mark)
                continue
            if splices is None or _overlap(accepted, [*splices, *speller.splices()]) or not self.may(proposal, note):
                speller.reset(mark)
                continue
            if check and not self.parses(source, proposal, [*splices, *speller.splices()]):
                speller.reset(mark)
                continue
            accepted += splices
            applied.append((proposal, splices, note, self.required(renderer.spelled, proposal.requires)))
        return _Chosen(applied, swallow_blank_lines(source.utf8, [*accepted, *speller.splices()]))

    def record(self, source: Source, chosen: _Chosen) -> None:
        """Turn what was applied into findings, and forget those of text that went away with a folded branch."""
        self.touch(source, chosen.splices)
        folds = [s for p, splices, *_ in chosen.applied if any(isinstance(c, api.KeepBlock) for c in p.changes) for s in splices]
        for finding, (start, end) in list(self.places.items()):
            fold = next((s for s in folds if s.start <= start and end <= s.end), None)
            if fold is not None and finding.after not in fold.text:
                del self.places[finding]
                self.findings.remove(finding)
        shifted = sorted(chosen.splices, key=lambda s: (s.start, s.end))
        self.places = {f: (_map_forward(shifted, a), _map_forward(shifted, b)) for f, (a, b) in self.places.items()}
        for proposal, splices, note, needs in chosen.applied:
            for change in proposal.changes:
                if isinstance(change, MoveImport):
                    self.arrived |= {m.module for m in change.moved}
            finding = self.finding(source, proposal, Outcome.APPLIED, splices, note, needs)
            self.findings.append(finding)
            start, end = source.span(proposal.node)
            self.places[finding] = _map_forward(shifted, start), _map_forward(shifted, end)

    def wanted(self, source: Source, proposal: Proposal) -> bool:
        return (
            bool(proposal.changes)
            and proposal.applicability <= self.settings.allowed
            and not proposal.guard
            and _key(source, proposal) not in self.refused
            and not _suppressed(source, proposal)
        )

    def rendered(self, renderer: Renderer, proposal: Proposal) -> list[Splice] | None:
        splices: list[Splice] = []
        try:
            for change in proposal.changes:
                splices += renderer.render(change, proposal.old)
        except EditError as error:
            proposal.message += f" (not edited: {error})"
            proposal.applicability = Applicability.MANUAL
            self.refused.add(_key(renderer.source, proposal))
            return None
        return splices

    def may(self, proposal: Proposal, note: str) -> bool:
        """Whether the settings allow the edit, although it loses the comments in `note`."""
        if note and self.settings.allowed < Applicability.REVIEW:
            proposal.applicability = Applicability.REVIEW
            return False
        return True

    def parses(self, source: Source, proposal: Proposal, splices: list[Splice]) -> bool:
        """Whether the file still parses after this edit alone; if not, it is given up."""
        try:
            ast.parse(apply(source.utf8, splices).decode("utf-8"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            proposal.message += " (not edited: the result would not parse)"
            proposal.applicability = Applicability.MANUAL
            self.refused.add(_key(source, proposal))
            return False
        return True

    def lost_comments(self, source: Source, proposal: Proposal, splices: list[Splice]) -> str:
        """The comments inside the replaced text that the new text lacks."""
        if all(isinstance(c, api.KeepBlock) for c in proposal.changes):
            return ""  # a dropped branch takes its comments along
        lost: list[str] = []
        new = "".join(s.text for s in splices)
        for splice in splices:
            if b"#" in source.utf8[splice.start : splice.end]:
                for offset, text in comments_of(source.utf8):
                    if splice.start <= offset < splice.end and text not in new:
                        lost.append(text)
        return "; ".join(lost)

    def required(self, spelled: set[str], stated: Version | None) -> Version | None:
        versions = [stated, *map(self.pack.facts.since_of, spelled)]
        return max((v for v in versions if v is not None), default=None)

    def touch(self, source: Source, splices: list[Splice]) -> None:
        """Remember the imported names whose uses were replaced."""
        imported = {local_name(a) for statement in source.imports for a in statement.names}
        for name in imported & source.by_id.keys():
            for node in source.by_id[name]:
                start, end = source.span(node)
                if any(s.start <= start and end <= s.end for s in splices):
                    self.touched |= {name, chain(source, node)}

    def tidy(self, source: Source) -> list[Splice]:
        """Drop imported names that this run left without a use."""
        speller = Speller(source, self.newline)
        renderer = Renderer(source, speller, self.newline)
        splices: list[Splice] = []
        for statement in source.imports:
            drop = [a for a in statement.names if self.unused(source, statement, a)]
            if not drop or source.guard(statement):
                continue
            names = frozenset(local_name(a) for a in drop)
            moved = tuple(self.bare_root(source, statement, a) for a in drop)
            change = MoveImport(statement, tuple(m for m in moved if m is not None), names)
            if not _overlap(splices, found := renderer.render(change)):
                splices += found
        return swallow_blank_lines(source.utf8, splices)

    def merged(self, source: Source) -> list[Splice]:
        """Join the ``from`` imports of one module that stand side by side since names were moved to it."""
        from jaxmigrate.cst import join_imports

        splices: list[Splice] = []
        for module in sorted(self.arrived):
            same = [s for s in source.tree.body if isinstance(s, ast.ImportFrom) and s.module == module and not s.level]
            alone = [s for s in same if s.names[0].name != "*" and _has_line(source, s)]
            if len(alone) > 1:
                first, *rest = alone
                text = join_imports([source.segment(s).replace("\r\n", "\n").replace("\r", "\n") for s in alone])
                splices.append(Splice(*source.span(first), text.replace("\n", self.newline)))
                for other in rest:
                    start, end = source.span(other)
                    splices.append(Splice(line_start(source.utf8, start), line_end(source.utf8, end), ""))
        return splices

    def unused(self, source: Source, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        name = local_name(alias)
        if name not in self.touched or alias.name == "*" or is_used(source, alias, statement):
            return False
        at_module = source.scope(statement) is source.scope_root
        qualified = _imported(source, statement, alias)
        dead = qualified in self.pack.dead() or self.pack.facts.is_gone_module(qualified)
        if at_module and exported(source, name) and not dead:
            return False
        if isinstance(statement, ast.Import) and "." in alias.name and not alias.asname:
            return any(t.startswith(alias.name + ".") for t in self.touched)
        through = any(b.indexed for b in source.lookup(name, source.scope(statement))[0] if b.node is alias)
        return _is_jax(qualified) or dead or through

    def bare_root(self, source: Source, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> MovedName | None:
        """``import jax.experimental.gone`` becomes ``import jax`` when it is what binds ``jax`` for the rest of the file."""
        root = alias.name.partition(".")[0]
        if not isinstance(statement, ast.Import) or alias.asname or root == alias.name:
            return None
        others = [b for b in source.lookup(root, source.scope(statement))[0] if b.node is not alias]
        if others or not source.by_id.get(root):
            return None
        return MovedName(alias, root, "", root)

    def leave(self, source: Source, proposals: list[Proposal]) -> None:
        """Report what was not applied, once."""
        for proposal in proposals:
            if proposal.guard:
                outcome = Outcome.GUARDED
            elif _suppressed(source, proposal):
                outcome = Outcome.SUPPRESSED
            elif proposal.applicability is Applicability.MANUAL or not proposal.changes:
                outcome = Outcome.MANUAL
            else:
                outcome = Outcome.HELD
            if outcome is Outcome.MANUAL:
                proposal.applicability = Applicability.MANUAL
            self.findings.append(self.finding(source, proposal, outcome, self.preview(source, proposal, outcome), "", None))
        self.findings = _unique(self.findings)

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
        )

    def note(self, source: Source, codemod: Codemod, node: ast.AST, value: str) -> None:
        """Keep a fact; only the first round sees the file as it was."""
        if source is self.original:
            start, end = source.span(node)
            self.facts.append(Fact(codemod.name, value, self.path, source.position(start), source.position(end)))

    def original_line(self, source: Source, node: ast.AST) -> int:
        """The line of `node` in the file as it was read."""
        assert self.original is not None
        return self.original.position(self.back(source.span(node)[0])).line

    def back(self, offset: int) -> int:
        """The offset in the file as it was read."""
        for splices in reversed(self.history):
            offset = _map_back(splices, offset)
        return offset


def _map_back(splices: Sequence[Splice], offset: int) -> int:
    shift = 0  # new minus old, so far
    for splice in splices:
        new_start = splice.start + shift
        size = len(splice.text.encode("utf-8"))
        if offset < new_start:
            break
        if offset < new_start + size:
            return min(splice.start + (offset - new_start), splice.end)
        shift += size - (splice.end - splice.start)
    return offset - shift


def _map_forward(splices: Sequence[Splice], offset: int) -> int:
    shift = 0
    for splice in splices:
        if splice.start >= offset:
            break
        size = len(splice.text.encode("utf-8"))
        if offset < splice.end:
            return splice.start + shift + size
        shift += size - (splice.end - splice.start)
    return offset + shift


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


def _is_jax(qualified: str) -> bool:
    return qualified.partition(".")[0] in ("jax", "jaxlib")


def _has_line(source: Source, node: ast.stmt) -> bool:
    """Whether a statement has its lines to itself, without a comment."""
    start, end = source.span(node)
    before = source.utf8[line_start(source.utf8, start) : start]
    return not before.strip() and not source.utf8[end : line_end(source.utf8, end)].strip() and b"#" not in source.utf8[start:end]


def _imported(source: Source, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if isinstance(statement, ast.Import):
        return alias.name
    return f"{source.absolute(statement.module, statement.level)}.{alias.name}"


def _skip_file(source: Source) -> bool:
    if b"skip-file" not in source.utf8:
        return False
    return any((m := _SUPPRESS.search(text)) and m[1] == "skip-file" for _, text in comments_of(source.utf8))


def _suppressed(source: Source, proposal: Proposal) -> bool:
    if b"jaxmigrate:" not in source.utf8:
        return False
    start, end = source.span(proposal.node)
    first = source.position(start).line
    last = first if isinstance(proposal.node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.With)) else source.position(end).line
    for offset, text in comments_of(source.utf8):
        match = _SUPPRESS.search(text)
        if match and first <= source.position(offset).line <= last:
            names = {n.strip() for n in match[2].split(",")} if match[2] is not None else None
            if names is None or proposal.codemod in names:
                return True
    return False


def _collect(source: Source, codemods: list[Codemod], settings: Settings, run: _Run) -> list[Proposal]:
    """Everything the codemods say about this text."""
    found: list[Proposal] = []
    present = [c for c in codemods if any(w.encode() in source.utf8 for w in c.words)]
    if through := source.foreign_meanings():
        present = [c for c in codemods if c in present or through & (c.moves.keys() | c.names.keys() | c.calls.keys())]
    found += renames.collect(source, present, settings, run.touched)
    for codemod in present:
        for node, symbol, resolved, report in _sites(source, codemod, settings):
            if isinstance(report, Note):
                run.note(source, codemod, report.at or node, report.value)
                continue
            found.append(_proposal(codemod, node, symbol, resolved, report))
    found += _leftovers(source, present, found, run)
    for proposal in found:
        proposal.guard = proposal.guard or source.guard(proposal.node) or _import_guard(source, proposal)
    return found


def _import_guard(source: Source, proposal: Proposal) -> str:
    """A use of a name whose own import is guarded is guarded with it."""
    statement = proposal.old.statement if proposal.old else None
    return source.guard(statement) if isinstance(statement, (ast.Import, ast.ImportFrom)) else ""


def _proposal(codemod: Codemod, node: ast.AST, symbol: str, resolved: Resolved | None, report: Manual | Rewrite) -> Proposal:
    binding = resolved.binding if resolved else None
    at = report.at or node
    if isinstance(report, Manual):
        return Proposal(codemod.name, at, report.message, Applicability.MANUAL, (), symbol, binding)
    needs = Version.parse(report.requires) if report.requires else None
    return Proposal(codemod.name, at, report.message, report.applicability, report.changes, symbol, binding, requires=needs)


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
    for node, found in source.references(frozenset(codemod.names)):
        site = NameSite(source, node, settings, found.qualified, found.direct, source.is_quoted(node))
        for handler in codemod.names[found.qualified]:
            for report in api.reports(handler(site)):
                yield node, found.qualified, found, report


def _call_sites(source: Source, codemod: Codemod, settings: Settings) -> Iterator[_Site]:
    if not codemod.calls:
        return
    for node, found in source.references(frozenset(codemod.calls)):
        parent = source.parent(node)
        if not isinstance(parent, ast.Call):
            continue
        partial = parent.func is not node
        if partial and not (parent.args and parent.args[0] is node and source.resolve(parent.func) == "functools.partial"):
            continue
        site = CallSite(source, parent, settings, found.qualified, partial)
        for handler in codemod.calls[found.qualified]:
            try:
                result = list(api.reports(handler(site)))
            except Unbindable as error:
                result = [Manual(f"{codemod.summary}: not rewritten, {error}")]
            for report in result:
                yield parent, found.qualified, found, report


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
                try:
                    result = list(api.reports(handler(site)))
                except Unbindable as error:
                    result = [Manual(f"{codemod.summary}: not rewritten, {error}")]
                for report in result:
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


def _leftovers(source: Source, codemods: list[Codemod], found: list[Proposal], run: _Run) -> Iterator[Proposal]:
    """Imports of dead names and modules, and uses of dead modules, on which no other finding lies."""
    owners = {module: codemod for codemod in codemods for module in codemod.gone}
    dead: dict[str, Codemod] = {}
    for codemod in codemods:
        if codemod.removed is not None:
            dead |= dict.fromkeys((codemod.names.keys() | codemod.calls.keys()) & source.dead, codemod)
        dead |= dict.fromkeys(codemod.moves, codemod)
    covered = [source.span(p.node) for p in found]
    covered += [source.span(c.node) for p in found for c in p.changes if isinstance(c, (MoveImport, Collapse, api.ReplaceExpr))]
    for module, codemod in owners.items():
        yield from _gone_uses(source, module, codemod, covered)
    for statement in source.imports:
        for alias in statement.names:
            qualified = _imported(source, statement, alias)
            owner = dead.get(qualified) or _owner_of(qualified, owners)
            if alias.name == "*":
                continue  # `_stars` speaks of it
            waits = local_name(alias) in run.touched and not is_used(source, alias, statement)  # `tidy` will drop it
            if owner is not None and not waits and not _inside(source.span(statement), covered):
                yield from _dead_import(source, statement, alias, qualified, owner, run)
    yield from _stars(source, dead, owners)


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
    source: Source, statement: ast.Import | ast.ImportFrom, alias: ast.alias, qualified: str, codemod: Codemod, run: _Run
) -> Iterator[Proposal]:
    name = local_name(alias)
    scope = source.scope(statement)
    if is_used(source, alias, statement):
        uses = [n for n in source.by_id.get(name, ()) if source.lookup(name, source.scope(n))[1] is scope]
        lines = ", ".join(str(line) for line in sorted({run.original_line(source, n) for n in uses})[:5]) or "(in a string)"
        message = f"{qualified} cannot be imported any more; its uses are not all migrated: line {lines}"
        yield Proposal(codemod.name, statement, message, Applicability.MANUAL, (), qualified)
    elif scope is source.scope_root and exported(source, name):
        message = f"{qualified} cannot be imported any more, and other modules may take {name!r} from here"
        yield Proposal(codemod.name, statement, message, Applicability.MANUAL, (), qualified)
    else:
        message = f"{qualified} is gone and this file does not use it"
        change = MoveImport(statement, (), frozenset({name}))
        yield Proposal(codemod.name, statement, message, Applicability.REVIEW, (change,), qualified)


def _stars(source: Source, dead: dict[str, Codemod], owners: dict[str, Codemod]) -> Iterator[Proposal]:
    """``from x import *`` of a module that gave an old name which this file reads but nothing binds."""
    for statement in source.stars:
        module = source.absolute(statement.module, statement.level)
        owner = _owner_of(module, owners)
        if owner is not None:
            message = f"{module} is gone: {owner.gone.get(module, 'import the names you need from their new homes')}"
            yield Proposal(owner.name, statement, message, Applicability.MANUAL, (), module)
            continue
        for name, codemod in dead.items():
            parent, _, leaf = name.rpartition(".")
            free = [n for n in source.by_id.get(leaf, ()) if source.lookup(leaf, source.scope(n))[1] is None]
            if parent == module and free:
                message = f"{leaf} came from this star import, and {name} is gone; import its successor by name"
                yield Proposal(codemod.name, statement, message, Applicability.MANUAL, (), name)


__all__ = ["Position", "project_findings", "rewrite_source"]
