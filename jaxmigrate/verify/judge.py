"""The verdict on every edit, from what three runs recorded: the original once, the migrated program twice.

A site that gave values is judged by them. What gives none (imports, `with` contexts, annotations, classes, functions) is judged
by whether it ran in both versions and by every value that was recorded afterwards; places inside of traced functions by their
abstract values and by what the enclosing call gave. Nothing is `equivalent` without a value that was compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from jaxmigrate.verify.model import Edit, Judgement, Kind, Plan, Report, Run, Site, Span, Tolerance, Verdict
from jaxmigrate.verify.outcome import Outcome, by_guilt, circumstances, cut_short, ended_early, errors, hazards, in_words, outcome
from jaxmigrate.verify.tolerance import tolerances
from jaxmigrate.verify.traces import NEVER, Found, SiteResult, Trace, compare_site, exception, indirect, read_all, times
from jaxmigrate.verify.uses import Uses

HINTS = (
    (r"random|\brng\b|shuffle|uuid|secrets|urandom|\bseed\b", "random numbers without a fixed seed"),
    (r"\btime\b|datetime|perf_counter|monotonic|\bnow\(|today\(", "the time"),
    (r"\bid\(|object\.__repr__|0x[0-9a-f]+|weakref", "addresses of objects"),
    (r"\bset\(|frozenset|\bhash\(|\.devices\(\)|device_set|addressable_devices\b", "the order of a set, or hashes of strings"),
    (r"thread|concurrent|asyncio|multiprocessing|\bqueue\b", "which thread comes first"),
    (r"getpid|environ|tempfile|mkdtemp", "the process or its folder"),
)
"""What values that change from run to run hang on, by the words of the code around them."""

_PARTIAL = re.compile(r" --(?:edit|select|ignore|safe-only)\b")

FOLLOWS = "from which this may follow"

NAMED = 3
"""So many kinds of values evidence names."""


def judge(
    plan: Plan,
    before: Run,
    after: Run,
    again: Run,
    *,
    tolerance: Tolerance | None = None,
    scope: Collection[str] | None = None,
    command: str = "",
) -> Report:
    """Give every edit of a plan its verdict.

    Args:
        plan: what differs between the versions.
        before: the run of the original.
        after: the run of the migrated program.
        again: another run of the migrated program; what differs between the two is nondeterministic.
        tolerance: how far floats may differ; their dtype's own by default.
        scope: files whose edits count even if no run loaded them; None for all.
        command: the command that led here, for showing a difference again.
    """
    allowed = tolerance or Tolerance()
    traces = read_all(before), read_all(after), read_all(again)
    said = (*before.notes, *after.notes)
    failures = errors(before, after, again, traces[:2])
    runs = (before, after, again)
    counted, aside = _in_scope(plan, traces, scope)
    if failures:
        unjudged = tuple(Judgement(edit, Verdict.NOT_REACHED, ("nothing was verified",)) for edit in counted)
        return Report(unjudged, hazards(traces[0]), said, errors=tuple(failures), runs=runs, command=command)
    # Of a part of the edits nobody can tell what the codemods leave.
    codemods = all(edit.codemod for edit in plan.edits) and not _PARTIAL.search(command)
    ends = outcome(before, after, again, traces, plan.sites, allowed, codemods=codemods)
    case = _Case(plan, traces, ends, allowed, command)
    judgements = tuple(case.judge(edit) for edit in counted)
    different = [j.edit.id for j in judgements if j.verdict is Verdict.DIFFERENT]
    roots = [j.edit.id for j in judgements if j.edit.id in different and not any(FOLLOWS in line for line in j.evidence)]
    odd = [*ends.differences, *case.unexplained_calls]
    return Report(
        judgements,
        hazards(traces[0], traces[1]),
        (*said, *ends.alike, *(f"{text} (see edit {(roots or different)[0]})" if different else text for text in odd)),
        program_differs=bool(odd) and not different,
        notes=(*circumstances(before, after, traces[:2]), *ends.notes, *aside, tolerances(case.dtypes, tolerance)),
        runs=runs,
        command=command,
    )


def _in_scope(plan: Plan, traces: Sequence[Mapping[int, Trace]], scope: Collection[str] | None) -> tuple[list[Edit], list[str]]:
    """The edits that count, and a note on those in files that this program never loads."""
    if scope is None:
        return list(plan.edits), []
    loaded = {str(r.get("path")) for side in traces for t in side.values() for r in t.kinds.get("load", [])}
    loaded |= {site.path for site in plan.sites for side in traces for t in side.values() if any(t.of(site.id))}
    counted = [edit for edit in plan.edits if edit.path in loaded or edit.path in scope]
    rest = [edit for edit in plan.edits if edit not in counted]
    files = sorted({edit.path for edit in rest})
    if not rest:
        return counted, []
    some = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    what = f"{len(rest)} edit{'s' if len(rest) > 1 else ''} in {len(files)} file{'s' if len(files) > 1 else ''}"
    return counted, [f"{what} that this program does not load {'are' if len(rest) > 1 else 'is'} not counted: {some}"]


@dataclass(slots=True)
class _Ruling:
    """What is to be said of one site."""

    verdict: Verdict
    evidence: list[str] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    hint: str = ""


class _Case:
    """The results of all sites, and the rules that make verdicts of them."""

    def __init__(
        self,
        plan: Plan,
        traces: tuple[Mapping[int, Trace], Mapping[int, Trace], Mapping[int, Trace]],
        ends: Outcome,
        tolerance: Tolerance,
        command: str,
    ) -> None:
        self.plan, self.traces, self.ends, self.command = plan, traces, ends, command
        uses = Uses(plan.after)
        self.results = {site.id: compare_site(site, *traces, tolerance, use=uses.of(site)) for site in plan.sites}
        self._forgive_refusals()
        self._forgive_early_ends()
        self.lost = {
            cast(int, r["s"]): str(r.get("text") or "its place was not found")
            for side in traces[:2]
            for trace in side.values()
            for r in trace.kinds.get("lost", [])
            if "s" in r
        }
        self.edited = {site for edit in plan.edits for site in edit.sites}
        self.blamed = self._blame()

    @property
    def dtypes(self) -> set[str]:
        """Of the floats that were compared."""
        return self.ends.dtypes.union(*(r.dtypes for r in self.results.values()))

    def _forgive_refusals(self) -> None:
        """A call that raised in one version only is none too few if an edited place raised this in both, earlier in the other."""
        refused = {
            (site, *r[:1], side, text)
            for site, res in self.results.items()
            for r in res.refused
            for side, text in enumerate(r[1:])
        }
        for result in self.results.values():
            for found, event, original in result.unmatched:
                text = exception(event.raised) if event.raised is not None else ""
                sides = {(p, side, t) for site, p, side, t in refused if site != result.site.id}
                if text and (found.process, 0 if original else 1, text) in sides:
                    result.found.remove(found)
                    result.notes["raised in one version only, where another edited place raised it in both"] = None

    def _forgive_early_ends(self) -> None:
        """Evaluations that are missing because the other version had ended elsewhere say nothing of the place that lacks them."""
        for result in self.results.values():
            for found, _, original in result.unmatched:
                mine, other = (side[found.process] for side in (self.traces[:2] if original else self.traces[1::-1]))
                why = cut_short(mine, other, found.test)
                if why and found in result.found and not self._went_on(found, original, mine):
                    result.found.remove(found)
                    result.early = why.format("the migrated program" if original else "the original")

    def _went_on(self, found: Found, original: bool, mine: Trace) -> bool:
        """Whether the version that lacks an evaluation got further than where it is missing."""
        records = enumerate(mine.process.records)
        test = next((i for i, r in records if found.test and r.get("e") == "test" and r.get("id") == found.test), NEVER)
        return any(
            process == found.process and found.order < (old if original else new) < test
            for result in self.results.values()
            for process, old, new, _ in result.compared
        )

    # What is to be explained by somebody

    def _direct(self) -> list[SiteResult]:
        """Edited sites that show a difference themselves."""
        return [r for r in self.results.values() if r.site.id in self.edited and r.found]

    def _watchers(self) -> dict[int, list[SiteResult]]:
        """Watch -> the edited sites in the body of its function."""
        found: dict[int, list[SiteResult]] = {}
        for result in self.results.values():
            for watch in result.site.watched_by:
                if result.any and result.site.id in self.edited:
                    found.setdefault(watch, []).append(result)
        return found

    @property
    def unexplained_calls(self) -> list[str]:
        """Calls whose outcome differs though no edited place in them ran."""
        if self._direct() or self.blamed:
            return []
        odd = [r for r in self.results.values() if r.site.kind is Kind.WATCH and r.found]
        return [f"call of {_short(r.site.before_text or r.site.after_text)}: {in_words(r.found[0].difference)}" for r in odd]

    def _blame(self) -> dict[int, Found | str]:
        """Sites that give no values of their own, and the later difference that nothing but them explains."""
        blamed: dict[int, Found | str] = {}
        direct = self._direct()
        for watch, inside in self._watchers().items():
            found = self.results[watch].found if watch in self.results else []
            if found and not self._explained(found[0], watch, direct):
                blamed |= {r.site.id: found[0] for r in inside if not r.found}
        if self.ends.values_differ and not direct and not blamed:
            blamed |= {r.site.id: self.ends.differences[0] for r in self._suspects()}
        return blamed

    def _explained(self, found: Found, watch: int, direct: Iterable[SiteResult]) -> bool:
        """Whether another edited site had shown a difference before this call did."""
        return any(
            f.process == found.process and f.order < found.order
            for r in direct
            if watch not in r.site.watched_by and r.site.id != watch
            for f in r.found
        )

    def _suspects(self) -> list[SiteResult]:
        """The sites that only what comes afterwards can judge; imports only if there is nothing else."""
        silent = [r for r in self.results.values() if r.site.id in self.edited and r.any and indirect(r)]
        if self.ends.missing is not None:
            # A name that is gone from JAX is the fault of the edits that name it, not of all that could not be compared.
            return [r for r in silent if any(_names(r.site, name) for name in self.ends.missing)]
        if self.ends.only_ends:
            # A statement that ran through has no hand in a failure elsewhere that no value announced.
            return [r for r in silent if r.site.kind is not Kind.STATEMENT]
        return [r for r in silent if not _is_import(r.site)] or silent

    # Verdicts

    def judge(self, edit: Edit) -> Judgement:
        """The verdict on an edit over all its sites."""
        rulings = {i: self._rule(self.results[i]) for i in edit.sites if i in self.results}
        verdict, deciding, more = self._verdict(edit, rulings)
        found = [f for r in deciding for f in r.found]
        if verdict is Verdict.DIFFERENT:
            more = [*more, *self._follows_from(edit, found)]
        evidence = tuple(dict.fromkeys([line for r in deciding for line in r.evidence] + more))
        return Judgement(
            edit,
            verdict,
            evidence,
            tuple(dict.fromkeys(f.difference for f in found)) if verdict is Verdict.DIFFERENT else (),
            found[0].process if found and verdict is Verdict.DIFFERENT and len(self.traces[0]) > 1 else None,
            next((r.hint for r in deciding if r.hint), ""),
            self._reproduce(edit) if verdict is Verdict.DIFFERENT else "",
        )

    def _verdict(self, edit: Edit, rulings: Mapping[int, _Ruling]) -> tuple[Verdict, list[_Ruling], list[str]]:
        """The worst verdict of the sites; places that did not run only count where no place around them did."""
        if not rulings:
            return Verdict.NOT_COMPARABLE, [], ["no expression differs: a comment or text that no run executes"]
        for verdict in (Verdict.DIFFERENT, Verdict.NONDETERMINISTIC):
            deciding = [r for r in rulings.values() if r.verdict is verdict]
            if deciding:
                return verdict, deciding if verdict is Verdict.DIFFERENT else deciding[:1], []
        equal = {i: r for i, r in rulings.items() if r.verdict is Verdict.EQUIVALENT}
        rest = {i: r for i, r in rulings.items() if i not in equal and not self._inside(i, equal)}
        for verdict in (Verdict.NOT_REACHED, Verdict.NOT_COMPARABLE):
            deciding = [r for r in rest.values() if r.verdict is verdict]
            if deciding:
                part = [f"{len(deciding)} of its {len(rulings)} places"] if len(deciding) < len(rulings) else []
                return verdict, deciding, part
        telling = [r for i, r in equal.items() if self.results[i].facts and not self.results[i].converted]
        return Verdict.EQUIVALENT, telling or list(equal.values()), []

    def _follows_from(self, edit: Edit, found: Sequence[Found]) -> list[str]:
        """The edit that had differed before this one did, if there is one."""
        first = {p: min(f.order for f in found if f.process == p) for p in {f.process for f in found}}
        earlier = [
            (f.order, other.id)
            for other in self.plan.edits
            if other.id != edit.id
            for site in other.sites
            if site in self.results and site not in edit.sites
            for f in self.results[site].found
            if f.process in first and f.order < first[f.process]
        ]
        return [f"edit {min(earlier)[1]} differs before it, {FOLLOWS}"] if earlier else []

    def _inside(self, site: int, others: Iterable[int]) -> bool:
        """Whether a site lies within one that was compared, so that its outcome is part of that one's."""
        mine = self.results[site].site
        return any(_within(mine, self.results[other].site) for other in others)

    def _rule(self, result: SiteResult) -> _Ruling:
        if result.found:
            return _Ruling(Verdict.DIFFERENT, [_where(f, len(self.traces[0])) for f in result.found[:1]], result.found)
        if result.noise:
            return self._noisy(result, result.noise)
        if not result.reached or result.silenced:
            return self._unreached(result)
        blame = self.blamed.get(result.site.id)
        if blame is not None:
            return self._guilty(result, blame)
        watches = [self.results[w] for w in result.site.watched_by if w in self.results]
        noise = [f for w in watches for f in w.noise]
        if noise and (result.in_trace or indirect(result)):
            return self._noisy(result, noise)
        if result.truncated:
            return _Ruling(
                Verdict.NOT_COMPARABLE, ["equal as far as recorded, but a container is too long to be recorded in full"]
            )
        if result.facts and not result.converted:
            return self._equal(result, watches)
        if result.cut:
            return _Ruling(Verdict.NOT_COMPARABLE, ["its value was too large to be recorded"])
        if result.callable and not result.calls and not _carries_function(result):
            return _Ruling(Verdict.NOT_REACHED, ["it gives a function that is never called"])
        return self._by_what_follows(result, watches)

    def _noisy(self, result: SiteResult, noise: Sequence[Found]) -> _Ruling:
        d = noise[0].difference
        where = f"{d.where}: " if d.where else ""
        text = f"two runs of the migrated program itself differ: {where}{d.aspect} {d.before} and {d.after}"
        return _Ruling(Verdict.NONDETERMINISTIC, [text], hint=_hint(result.site, self.plan))

    def _unreached(self, result: SiteResult) -> _Ruling:
        if result.site.id in self.lost:
            return _Ruling(Verdict.NOT_COMPARABLE, [f"could not be watched: {self.lost[result.site.id]}"])
        if not result.any:
            return _Ruling(Verdict.NOT_REACHED, ["never executed"])
        if result.silenced:
            return _Ruling(Verdict.NOT_REACHED, [f"nothing of it could be compared: {result.early} before"])
        silent, ran = ("original", result.after) if not result.before else ("migrated program", result.before)
        sides = self.traces[0] if not result.before else self.traces[1]
        early = next((why for trace in by_guilt(sides).values() if (why := ended_early(trace))), None)
        other = "migrated program" if not result.before else "original"
        text = f"executed {times(ran)} in the {other}, never in the {silent}"
        if early:
            return _Ruling(Verdict.NOT_REACHED, [f"{text}, which had ended before: {early}"])
        if any(r.site.id != result.site.id for r in self._direct()):
            return _Ruling(Verdict.NOT_REACHED, [f"{text}: another edit leads elsewhere"])
        return _Ruling(Verdict.DIFFERENT, [text])

    def _guilty(self, result: SiteResult, blame: Found | str) -> _Ruling:
        ran = f"executed {times(max(result.before, result.after))}; no value of its own differs, but "
        if isinstance(blame, str):
            return _Ruling(Verdict.DIFFERENT, [f"{ran}what the program leaves does, and no other edit explains it: {blame}"])
        return _Ruling(Verdict.DIFFERENT, [f"{ran}the call around it does ({_where(blame, len(self.traces[0]))})"], [blame])

    def _equal(self, result: SiteResult, watches: Sequence[SiteResult]) -> _Ruling:
        outcomes = sum(w.facts for w in watches)
        around = f"; {_number(outcomes, 'value')} of the calls around it equal" if outcomes else ""
        return _Ruling(Verdict.EQUIVALENT, [f"{_compared(result)}{around}", *_particulars(result)])

    def _by_what_follows(self, result: SiteResult, watches: Sequence[SiteResult]) -> _Ruling:
        around = sum(f for w in watches for *_, f in w.compared)
        later = self._later(result)
        ran = _ran(result)
        if around:
            here = _compared(result) if result.traced else ran
            text = f"{here}; {_number(around, 'value')} of the calls around it equal"
            return _Ruling(Verdict.EQUIVALENT, [text, *_particulars(result)])
        if later or self.ends.output:
            what = _number(later, "value") if later else _number(self.ends.output, "line") + " of output"
            return _Ruling(Verdict.EQUIVALENT, [f"{ran}; {what} downstream equal", *_particulars(result)])
        return _Ruling(Verdict.NOT_COMPARABLE, [f"{ran}, but no value was recorded that could tell"])

    def _later(self, result: SiteResult) -> int:
        """How many values were found equal after this place had run for the first time."""
        total = self.ends.values
        for other in self.results.values():
            if other is not result:
                total += sum(facts for process, old, new, facts in other.compared if _after(result, process, old, new))
        return total

    def _reproduce(self, edit: Edit) -> str:
        head, word, rest = self.command.partition("jaxmigrate verify")
        return f"{head}{word} --edit {edit.id}{rest}" if word else self.command


def _after(result: SiteResult, process: int, old: int, new: int) -> bool:
    first = result.first.get(process)
    return first is not None and ((first[0] != NEVER and old > first[0]) or (first[0] == NEVER and new > first[1]))


def _carries_function(result: SiteResult) -> bool:
    """Whether more than the calls of the function tell of it: statements and annotations are not called."""
    return result.site.kind is not Kind.VALUE


def _within(inner: Site, outer: Site) -> bool:
    def covers(a: Span | None, b: Span | None) -> bool:
        if a is None or b is None:
            return a is None
        return (b.line, b.column) <= (a.line, a.column) and (a.end_line, a.end_column) <= (b.end_line, b.end_column)

    same_file = inner.path == outer.path and inner.id != outer.id
    return same_file and covers(inner.before, outer.before) and covers(inner.after, outer.after)


def _names(site: Site, name: str) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", text) for text in (site.before_text, site.after_text))


def _is_import(site: Site) -> bool:
    texts = [t.strip() for t in (site.before_text, site.after_text) if t.strip()]
    return site.kind is Kind.STATEMENT and bool(texts) and all(re.match(r"(import|from)\b", t) for t in texts)


# Words


def _where(found: Found, processes: int) -> str:
    d = found.difference
    parts = [f"process {found.process}" if processes > 1 else "", found.test, found.moment]
    at = ", ".join(part for part in parts if part)
    place = f" of {d.where}" if d.where else ""
    texts = in_words(d).removeprefix(d.aspect)
    verb = "differ" if d.aspect.endswith("s") else "differs"
    return f"{at}: {d.aspect}{place} {verb}" + ("" if texts.startswith(" differ") else f":{texts}")


def _ran(result: SiteResult) -> str:
    before, after = result.before, result.after
    if result.site.before is None or result.site.after is None:
        where = "the original" if result.site.after is None else "the migrated program"
        return f"ran {times(max(before, after))} in {where}, which alone has it"
    return f"ran {times(before)} in both" if before == after else f"ran {times(before)} before, {times(after)} after"


def _compared(result: SiteResult) -> str:
    """``equal in 3 calls: float32[8,2] on 8 devices``."""
    unit = "call" if result.calls else "evaluation"
    kinds = list(result.kinds)
    named = ", ".join(kinds[:NAMED]) + (" ..." if len(kinds) > NAMED else "")
    ended = f", then {result.early}" if result.early else ""
    return f"equal in {_number(result.moments, unit)}{ended}: {named}"


def _particulars(result: SiteResult) -> list[str]:
    sampled = [f"{_number(result.sampled, 'large array')} compared by samples"] if result.sampled else []
    return sampled + list(result.notes)


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


def _hint(site: Site, plan: Plan) -> str:
    """What the values probably hang on, by the words of the place, else of its lines, else of its file."""
    whole = plan.after.get(site.path, b"").decode("utf-8", "replace")
    spot = site.after or Span(1, 0, 0, 0)
    lines = "\n".join(whole.splitlines()[spot.line - 1 : spot.end_line])
    for text in (f"{site.before_text}\n{site.after_text}", lines, whole):
        found = [why for words, why in HINTS if re.search(words, text)]
        if found:
            return f"probably {' or '.join(found)}"
    return "look for seeds, times, addresses and the order of sets"
