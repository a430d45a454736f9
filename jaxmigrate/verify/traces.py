"""What the runs recorded at each site, paired: which moment of the one run belongs to which of the other, and how they differ."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from jaxmigrate.verify.compare import examine
from jaxmigrate.verify.comparison import Comparison
from jaxmigrate.verify.model import Difference, Json, Kind, ProcessRun, Run, Site, Tolerance
from jaxmigrate.verify.words import brief, describe, leaves, truth

BAD_INPUT = frozenset({"ValueError", "KeyError", "AssertionError"})
"""Families of what old JAX raises for arguments for which today's raises a ValueError or an error class of its own."""

PROGRAMMING = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "UnboundLocalError", "SyntaxError"})
"""Families of what a wrong migration raises."""


@dataclass(frozen=True, slots=True)
class Event:
    """One record of a site."""

    order: int
    """Position among the records of its process."""
    n: int
    record: Json

    @property
    def raised(self) -> Json | None:
        """The exception, if it is one."""
        return cast(Json, self.record.get("x") or {}) if self.record.get("e") == "raise" else None

    @property
    def value(self) -> Json:
        """The value, if it has one."""
        return cast(Json, self.record.get("v") or {})


Stream = tuple[int, str, str]
"""Site, test, and one of ``value``, ``call``, ``reach``, ``state NAME``: what is counted together."""

STREAMS = {"hit": "value", "call": "call", "reach": "reach", "state": "state"}


@dataclass(slots=True)
class Trace:
    """The records of one process, sorted."""

    process: ProcessRun
    streams: dict[Stream, list[Event]] = field(default_factory=lambda: defaultdict(list))
    kinds: dict[str, list[Json]] = field(default_factory=lambda: defaultdict(list))
    totals: dict[tuple[int, str], Json] = field(default_factory=dict)
    """Site and test -> how often, and a fingerprint of what was not recorded each time."""

    def of(self, site: int) -> Iterator[tuple[Stream, list[Event]]]:
        """The streams of a site."""
        return ((key, events) for key, events in self.streams.items() if key[0] == site)

    def one(self, kind: str) -> Json | None:
        """The only record of its kind."""
        found = self.kinds.get(kind)
        return found[-1] if found else None


def read(process: ProcessRun) -> Trace:
    """Sort the records of a process."""
    trace = Trace(process)
    for order, record in enumerate(process.records):
        kind = str(record.get("e"))
        if kind not in STREAMS and kind != "raise":
            trace.kinds[kind].append(record)
            if kind == "count":
                trace.totals[_int(record["s"]), str(record.get("c") or "")] = record
            continue
        stream = STREAMS.get(kind, "call" if record.get("of") == "call" else "value")
        if stream == "state":
            stream = f"state {', '.join(sorted(cast(Json, record.get('v') or {})))}"
        events = trace.streams[_int(record["s"]), str(record.get("c") or ""), stream]
        events.append(Event(order, _int(record.get("n") or len(events) + 1), record))
    return trace


def _int(value: object) -> int:
    return int(cast(int, value))


def read_all(run: Run) -> dict[int, Trace]:
    """Process -> its records."""
    return {p.process: read(p) for p in run.processes}


@dataclass(frozen=True, slots=True)
class Found:
    """A difference and where in the runs it was seen."""

    difference: Difference
    process: int
    test: str
    moment: str
    order: int

    @property
    def key(self) -> tuple[str, str]:
        """What is the same in every run that shows it; chance may spare an element of a list, so these are one."""
        return re.sub(r"\[\d+\]", "[]", self.difference.where), self.difference.aspect


@dataclass(slots=True)
class SiteResult:
    """All that the runs say of one site."""

    site: Site
    before: int = 0
    """How often it was executed in the original."""
    after: int = 0
    facts: int = 0
    """Concrete values that were compared."""
    traced: int = 0
    """Abstract values that were compared."""
    moments: int = 0
    """How many pairs of evaluations were compared."""
    sampled: int = 0
    compared: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Process, order in the original, order in the migrated program, facts: pairs that were found equal."""
    found: list[Found] = field(default_factory=list)
    noise: list[Found] = field(default_factory=list)
    """Differences that the migrated program shows to itself."""
    notes: dict[str, None] = field(default_factory=dict)
    kinds: dict[str, None] = field(default_factory=dict)
    """What the equal values are, in words."""
    dtypes: set[str] = field(default_factory=set)
    callable: bool = False
    """Whether it gave a function."""
    calls: int = 0
    """How many calls of that function there were in either run, not counting those that give another function."""
    in_trace: bool = False
    cut: bool = False
    """Whether a value was too large to be recorded."""
    truncated: bool = False
    """Whether parts of values were."""
    rounded: int = 0
    """How many values differ within their tolerance."""
    use: str = ""
    """How the program uses the value, see `compare_site`."""
    refused: list[tuple[int, str, str]] = field(default_factory=list)
    """Process and exceptions of the evaluations that raised alike in both versions."""
    unmatched: list[tuple[Found, Event, bool]] = field(default_factory=list)
    """Differences that are evaluations without a partner; the bool tells those of the original."""
    early: str = ""
    """What had ended in the version that lacks evaluations, as a clause, if that is why it lacks them."""
    first: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Process -> the order of the first record in the original and in the migrated program; a large number without one."""

    @property
    def reached(self) -> bool:
        """Whether every version that has this place executed it."""
        return bool((self.before or self.site.before is None) and (self.after or self.site.after is None) and self.any)

    @property
    def converted(self) -> bool:
        """Whether the edit wraps this argument into a conversion."""
        return self.use == "converted"

    @property
    def silenced(self) -> bool:
        """Whether an early end left nothing to compare."""
        return bool(self.reached and self.early and not self.facts and not self.traced)

    @property
    def any(self) -> bool:
        """Whether some version executed it."""
        return bool(self.before or self.after)


NEVER = 1 << 60

FULL = 20
"""So many evaluations are recorded each time; of more, every power of two."""

MOST_KINDS = 4
"""So many kinds of values are kept to be named."""


def compare_site(
    site: Site,
    before: Mapping[int, Trace],
    after: Mapping[int, Trace],
    again: Mapping[int, Trace],
    tolerance: Tolerance,
    *,
    use: str = "",
) -> SiteResult:
    """Compare what was recorded at a site, leaving out what differs between two runs of the migrated program.

    Args:
        site: the place.
        before: the records of the original.
        after: those of the migrated program.
        again: those of its second run.
        tolerance: how far floats may differ.
        use: ``converted`` if the edit wraps an argument of a call into a conversion, ``discarded`` if nothing uses the value, so
            that None for it is as good, ``truth`` if only that of it counts.
    """
    result = SiteResult(site, use=use)
    pairs = [(p, before[p], after[p]) for p in sorted(before) if p in after]
    for process, old, new in pairs:
        _compare_process(result, process, old, new, tolerance)
    if any(True for p in after for _ in after[p].of(site.id)):
        control = SiteResult(site, use=use)
        for process in sorted(after):
            if process in again:
                _compare_process(control, process, after[process], again[process], tolerance)
        result.noise = control.found
        noisy = {(f.test, *f.key) for f in control.found}
        result.found = [f for f in result.found if (f.test, *f.key) not in noisy]
    return result


def _compare_process(result: SiteResult, process: int, old: Trace, new: Trace, tolerance: Tolerance) -> None:
    a, b = dict(old.of(result.site.id)), dict(new.of(result.site.id))
    result.before += _times(a, old, result.site)
    result.after += _times(b, new, result.site)
    firsts = [min((e.order for events in side.values() for e in events), default=NEVER) for side in (a, b)]
    if min(firsts) < NEVER:
        result.first[process] = firsts[0], firsts[1]
    for events in (*a.values(), *b.values()):
        for event in events:
            _look(result, event)
    if result.site.before is None or result.site.after is None or not a or not b:
        return
    for key in sorted({*a, *b}):
        if key[2] != "reach":
            _compare_stream(result, process, key, (a.get(key, []), b.get(key, [])), tolerance)
    for test in sorted({test for _, test, _ in a}):
        _compare_totals(result, process, test, old, new)


def _compare_totals(result: SiteResult, process: int, test: str, old: Trace, new: Trace) -> None:
    """What was not recorded each time: by its fingerprint, which tells where no value is rounded; else say how much was seen."""
    sides = [t.totals.get((result.site.id, test)) for t in (old, new)]
    if sides[0] is None or sides[1] is None:
        return
    for what, count, print_ in (("evaluations", "n", "fp"), ("calls", "calls", "calls_fp")):
        totals = [_int(side.get(count) or 0) for side in (sides[0], sides[1])]
        prints = [side.get(print_) for side in (sides[0], sides[1])]
        if max(totals) <= FULL or totals[0] != totals[1]:
            continue
        if None not in prints and prints[0] != prints[1] and not result.rounded and not result.found:
            texts = f"one of {totals[0]} is another", "and none of those that were recorded"
            result.found.append(Found(Difference(what, *texts), process, test, f"more than {FULL} {what}", NEVER))
        elif None in prints or prints[0] != prints[1]:
            seen = FULL + sum(1 for power in range(1, totals[0].bit_length()) if FULL < 1 << power <= totals[0])
            result.notes[f"{seen} of {totals[0]} {what} were recorded and compared"] = None


def _times(streams: Mapping[Stream, list[Event]], trace: Trace, site: Site) -> int:
    counted = sum(max((e.n for e in events), default=0) for key, events in streams.items() if key[2] in ("value", "reach"))
    total = sum(_int(record.get("n")) for (number, _), record in trace.totals.items() if number == site.id)
    return max(counted, total) or sum(len(events) for events in streams.values())


def _look(result: SiteResult, event: Event) -> None:
    result.in_trace |= bool(event.record.get("t"))
    kind = event.record.get("e")
    if kind == "call" or event.record.get("of") == "call":
        result.calls += not _is_function(event)
    elif kind == "hit" and _is_function(event):
        result.callable = True
    result.cut |= event.value.get("k") == "cut"


def _is_none(event: Event) -> bool:
    return event.value.get("k") == "scalar" and event.value.get("t") == "none"


def _is_function(event: Event) -> bool:
    return event.value.get("k") == "opaque" and event.value.get("t") == "function"


def _compare_stream(
    result: SiteResult, process: int, key: Stream, sides: tuple[list[Event], list[Event]], tolerance: Tolerance
) -> None:
    for old, new in _pairs(*sides):
        _compare_pair(result, process, key, old, new, tolerance)
    totals = tuple(max((e.n for e in events), default=0) for events in sides)
    if totals[0] != totals[1]:
        _left_over(result, process, key, sides, tolerance)


def _pairs(old: list[Event], new: list[Event]) -> Iterator[tuple[Event, Event]]:
    """Events of the same number; large numbers are not recorded in full, so positions will not do."""
    numbered = {event.n: event for event in new}
    return ((event, numbered[event.n]) for event in old if event.n in numbered)


def _left_over(
    result: SiteResult, process: int, key: Stream, sides: tuple[list[Event], list[Event]], tolerance: Tolerance
) -> None:
    """Evaluations without a partner must equal one of the other run: a callback may run once instead of once per device."""
    old, new = sides
    totals = tuple(max((e.n for e in events), default=0) for events in sides)
    what = {"call": "called", "value": "evaluated"}.get(key[2], "executed")
    numbers = {e.n for e in old} & {e.n for e in new}
    for mine, others, first in ((old, new, True), (new, old, False)):
        for event in mine:
            if event.n in numbers or event.n <= min(totals):
                continue
            if not any(not _examine(result, *((event, o) if first else (o, event)), tolerance)[0].differences for o in others):
                shown = _shown(event)
                texts = (shown, "no such value") if first else ("no such value", shown)
                moment = f"{what} for the {ordinal(event.n)} time"
                found = Found(Difference("evaluations", *texts), process, key[1], moment, event.order)
                result.found.append(found)
                result.unmatched.append((found, event, first))
                return
    if old and new:
        result.notes[f"{what} {times(totals[0])} before, {times(totals[1])} after, with the same outcomes"] = None
    elif not any(f.process == process for f in result.found):
        texts = times(totals[0]), times(totals[1])
        result.found.append(Found(Difference("evaluations", *texts), process, key[1], what, (old or new)[0].order))


def _compare_pair(result: SiteResult, process: int, key: Stream, old: Event, new: Event, tolerance: Tolerance) -> None:
    comparison, traced = _examine(result, old, new, tolerance)
    if old.raised is not None and new.raised is not None and not comparison.differences:
        result.refused.append((process, exception(old.raised), exception(new.raised)))
    for difference in comparison.differences:
        what = "call" if key[2] == "call" else "evaluation" if key[2] == "value" else "execution"
        result.found.append(Found(difference, process, key[1], f"{what} {old.n}", old.order))
    result.moments += bool(comparison.facts)
    result.sampled += comparison.sampled
    result.notes.update(dict.fromkeys(comparison.notes))
    result.dtypes |= comparison.dtypes
    result.rounded += comparison.rounded
    result.truncated |= comparison.cut
    if comparison.facts and not comparison.differences and len(result.kinds) < MOST_KINDS:
        result.kinds[_kind(old)] = None
    if traced:
        result.traced += comparison.facts
    else:
        result.facts += comparison.facts
    if comparison.facts and not comparison.differences and not traced:
        result.compared.append((process, old.order, new.order, comparison.facts))


def _kind(event: Event) -> str:
    if event.raised is not None:
        return f"{event.raised.get('type')} raised"
    if event.record.get("e") == "state":
        return ", ".join(f"{name} {brief(cast(Json, v))}" for name, v in event.value.items())
    return brief(event.value)


def _examine(result: SiteResult, old: Event, new: Event, tolerance: Tolerance) -> tuple[Comparison, bool]:
    """The comparison, and whether it was one of values that exist only while JAX traces."""
    out = Comparison()
    if old.raised is not None or new.raised is not None:
        out.facts = 1
        _raises(out, old, new)
        return out, False
    if old.record.get("e") == "state":
        for name in sorted({*old.value} & {*new.value}):
            part = examine(cast(Json, old.value[name]), cast(Json, new.value[name]), tolerance)
            out.differences += [_named(name, d) for d in part.differences]
            out.facts, out.sampled = out.facts + part.facts, out.sampled + part.sampled
            out.notes += part.notes
            out.dtypes |= part.dtypes
            out.rounded, out.cut = out.rounded + part.rounded, out.cut or part.cut
        return out, any(_abstract(cast(Json, v)) for v in old.value.values())
    if (_is_none(old) and _is_none(new)) or (result.use == "discarded" and (_is_none(old) or _is_none(new))):
        # None tells nothing: what the call did shows later, or not at all.
        return out, False
    truths = truth(old.value), truth(new.value)
    if result.use == "truth" and None not in truths:
        out.facts = 1
        if truths[0] != truths[1]:
            out.differ("truth", truths[0], truths[1], "")
        return out, False
    seen = old.record.get("e") != "call"
    return examine(old.value, new.value, tolerance, converted=result.converted, seen=seen), _abstract(old.value)


def _named(name: str, difference: Difference) -> Difference:
    d = difference
    return Difference(d.aspect, d.before, d.after, f"{name}{d.where}", d.placements)


def _abstract(value: Json) -> bool:
    return any(leaf.get("k") == "abstract" for leaf in leaves(value))


def _raises(out: Comparison, old: Event, new: Event) -> None:
    a, b = old.raised, new.raised
    if a is None or b is None:
        out.differ("exception", _shown(old), _shown(new), "")
        return
    note = same_failure(a, b)
    if note is None:
        out.differ("exception", exception(a), exception(b), "")
    elif note:
        out.notes.append(note)


def same_failure(before: Json, after: Json) -> str | None:
    """None if two exceptions say different things; else a note if their classes differ, or nothing."""
    families = str(before.get("family") or before.get("type")), str(after.get("family") or after.get("type"))
    names = str(before.get("type")), str(after.get("type"))
    if families[0] == families[1]:
        return "" if names[0] == names[1] else f"raises {names[1]} where it raised {names[0]}, both of them a {families[0]}"
    own = str(after.get("module") or "").partition(".")[0] in ("jax", "jaxlib")
    if families[0] in BAD_INPUT and (families[1] == "ValueError" or own) and families[1] not in PROGRAMMING:
        return f"refuses the input in both, with {names[1]} where it was {names[0]}"
    return None


def exception(x: Json) -> str:
    """An exception on one line."""
    message = str(x.get("message") or "").strip().split("\n")[0]
    short = message if len(message) <= 160 else message[:157] + "..."
    return f"{x.get('type')}: {short}" if short else str(x.get("type"))


def _shown(event: Event) -> str:
    if event.raised is not None:
        return f"raises {exception(event.raised)}"
    if event.record.get("e") == "state":
        return ", ".join(f"{name} = {describe(cast(Json, v))}" for name, v in event.value.items())
    return describe(event.value)


def times(number: int) -> str:
    """``once``, ``3 times``."""
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def ordinal(number: int) -> str:
    """``1st``, ``2nd``."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def indirect(result: SiteResult) -> bool:
    """Whether only what came afterwards can tell if this place is right."""
    return result.site.kind is not Kind.WATCH and (not result.facts or result.converted)
