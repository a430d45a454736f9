"""How the runs ended and what they left besides the values at sites: exit status, tests, final values, output, hazards."""

from __future__ import annotations

import re
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import cast

from jaxmigrate.verify.compare import examine
from jaxmigrate.verify.model import Difference, Json, ProcessRun, Run, Site, Tolerance
from jaxmigrate.verify.texts import plain, same_text
from jaxmigrate.verify.traces import PROGRAMMING, Trace, exception, same_failure
from jaxmigrate.verify.words import UNCOVERED

PYTEST_TROUBLE = {
    2: "pytest was interrupted or could not collect the tests",
    3: "pytest failed internally",
    4: "pytest was called wrongly",
    5: "pytest found no tests",
}

SET_UP = frozenset({"start", "legacy", "lost", "note"})
"""Records of what comes before the program."""

FAILED = ("failed", "error")
"""Outcomes of tests."""

SHORT = 120
"""Characters of two values that a sentence quotes."""

Traces = Mapping[int, Trace]


@dataclass(slots=True)
class Outcome:
    """What comparing the ends of the runs gave."""

    differences: list[str] = field(default_factory=list)
    """Sentences on what differs and is no noise."""
    values: int = 0
    """Final values and tests that are equal."""
    output: int = 0
    """Lines of output that are equal."""
    values_differ: bool = False
    """Whether more than the output differs."""
    only_ends: bool = False
    """Whether what differs is how programs or tests ended, and nothing that they computed until then."""
    alike: list[str] = field(default_factory=list)
    """Sentences on the unusual ways in which both versions end."""
    missing: frozenset[str] | None = None
    """Names that the migrated program failed to find, if that is how it ended."""
    sampled: int = 0
    notes: list[str] = field(default_factory=list)
    dtypes: set[str] = field(default_factory=set)


# Could not run


def errors(before: Run, after: Run, again: Run, traces: tuple[Traces, Traces]) -> list[str]:
    """Why nothing can be verified; empty if the runs can be compared."""
    found = [f"the {_version(run)} could not be started: {run.error}" for run in (before, after, again) if run.error]
    if found:
        return found[:1]
    if before.timed_out:
        return ["the original was still running at the time limit; nothing was verified: raise --timeout or give it less to do"]
    return _silent(before) + _silent(after) or _old_world_failed(*traces)


def _version(run: Run) -> str:
    return "original" if run.name.endswith("before") else "migrated program"


def _silent(run: Run) -> list[str]:
    """A process that compiled nothing of the tree did not get as far as the user's code."""
    for process in run.processes:
        if not run.timed_out and all(record.get("e") in SET_UP for record in process.records):
            last = process.stderr.strip().split("\n")[-1][:200]
            said = f": {last}" if last else ""
            return [f"the {_version(run)} ended with status {process.status} before any of its code ran{said}"]
    if not run.processes:
        return [f"the {_version(run)} did not run"]
    return []


def _old_world_failed(before: Traces, after: Traces) -> list[str]:
    idle = waiting(before)
    for process, old in by_guilt(before).items():
        new = after.get(process)
        failure = failed(old)
        if failure is None or new is None or process in idle:
            continue
        who = f"process {process} with " if len(before) > 1 else ""
        other = failed(new)
        if other is not None and _same_end(old, new):
            if not any(_gave_values(t) for t in (*before.values(), *after.values())):
                return [f"both versions fail before any edited expression was evaluated: {who}{failure}"]
            continue
        return [_sentence(old, f"{who}{failure}")]
    return []


_PEERS = re.compile(
    r"Gloo|[Cc]oordination ?[Ss]ervice|DEADLINE_EXCEEDED|UNAVAILABLE|\bdistributed\b|[Hh]eartbeat|\b[Bb]arrier\b"
    r"|[Cc]onnection (?:closed|reset)"
)
"""What JAX says where a process waited for another one in vain."""
_ABANDONED = re.compile(r"JAX distributed service detected fatal errors|[Cc]oordination ?[Ss]ervice")


def waiting(side: Traces) -> frozenset[int]:
    """The processes of a run that ended only because another one, which they waited for, had failed of its own."""
    idle = frozenset(process for process, trace in side.items() if _waited(trace))
    return idle if any(failed(trace) for process, trace in side.items() if process not in idle) else frozenset()


def _waited(trace: Trace) -> bool:
    x = cast("Json | None", (trace.one("end") or {}).get("x"))
    if x:
        return x.get("type") in ("JaxRuntimeError", "XlaRuntimeError") and bool(_PEERS.search(str(x.get("message"))))
    if trace.one("end") is None and (trace.process.status or 0) < 0:
        return bool(_ABANDONED.search(trace.process.stderr))
    return trace.process.status is None


def by_guilt(side: Traces) -> Traces:
    """The processes of a run, those last that only waited for another one."""
    idle = waiting(side)
    return dict(sorted(side.items(), key=lambda item: (item[0] in idle, item[0])))


def _gave_values(trace: Trace) -> bool:
    return bool(trace.kinds.get("test")) or any(stream in ("value", "call") for _, _, stream in trace.streams)


def _sentence(old: Trace, failure: str) -> str:
    world = (old.one("start") or {}).get("world")
    runs_on = "the old JAX that jaxmigrate emulates" if world == "legacy" else "its JAX"
    return f"the original fails on {runs_on}, so there is nothing to compare with: {failure}"


def failed(trace: Trace) -> str | None:
    """How a process failed, unless it came to its end or left by `sys.exit`."""
    end, status = trace.one("end"), trace.process.status
    if end is not None:
        x = cast("Json | None", end.get("x"))
        if trace.kinds.get("test") or _is_pytest(trace):
            return PYTEST_TROUBLE.get(_status(trace) or 0) or _all_tests_failed(trace)
        return exception(x) + _at(x, trace.process) if x and x.get("type") != "SystemExit" else None
    if status is not None and status < 0:
        return f"signal {-status} ({signal.strsignal(-status)})"
    return None


def _is_pytest(trace: Trace) -> bool:
    return (trace.one("start") or {}).get("program") == "pytest"


def _all_tests_failed(trace: Trace) -> str | None:
    tests = trace.kinds.get("test", [])
    if tests and all(t.get("outcome") in FAILED for t in tests):
        x = next((cast(Json, t["x"]) for t in tests if t.get("x")), None)
        return f"all {len(tests)} tests fail" + (f", the first with {exception(x)}" if x else "")
    return None


_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def _at(x: Json, process: ProcessRun) -> str:
    """Where it was raised, by the exception itself or by the last traceback line of the copy."""
    if x.get("path"):
        return f" ({x['path']}:{x.get('line')})"
    frames = [f for f in _FRAME.findall(process.stderr) if re.search(r"/(before|after|again)/", f[0])]
    if not frames:
        return ""
    path = re.split(r"/(?:before|after|again)/", frames[-1][0])[-1]
    return f" ({path}:{frames[-1][1]})"


def _status(trace: Trace) -> int | None:
    end = trace.one("end")
    return trace.process.status if end is None or end.get("status") is None else int(cast(int, end["status"]))


def _same_end(old: Trace, new: Trace) -> bool:
    a, b = ((t.one("end") or {}).get("x") for t in (old, new))
    if a and b:
        return same_failure(cast(Json, a), cast(Json, b)) is not None
    return not a and not b and _status(old) == _status(new)


# Compared


def ended_early(trace: Trace | None) -> str | None:
    """Why a process did not get to the end of its program."""
    if trace is None:
        return "it did not run"
    if trace.process.status is None:
        return "it was still running when it was ended"
    return failed(trace)


def cut_short(mine: Trace, other: Trace, test: str) -> str:
    """Why a test, or the program if there are none, may have done less in the other version than in this one; else nothing."""
    whole = other.one("end") is None or not (test or _is_pytest(other))
    if whole and ended_early(other) is not None and not _same_end(mine, other):
        return "{} had ended"
    outcomes = [{str(t.get("id")): t.get("outcome") for t in side.kinds.get("test", [])}.get(test) for side in (mine, other)]
    bad = [outcome in FAILED for outcome in outcomes]
    return "the test had failed in {}" if bad == [False, True] else ""


Said = tuple[int, str]
"""A process and a sentence on it that begins with its subject and a colon."""


def outcome(
    before: Run,
    after: Run,
    again: Run,
    traces: tuple[Traces, Traces, Traces],
    sites: Sequence[Site],
    tolerance: Tolerance,
    *,
    codemods: bool = False,
) -> Outcome:
    """Compare everything but the sites; what the migrated program does not repeat itself is left out.

    With `codemods` the sites are all that the codemods do to the tree.
    """
    out = Outcome()
    noise = {_subject(said) for said in _compare(Outcome(), traces[1], traces[2], sites, tolerance)}
    found = list(_compare(out, traces[0], traces[1], sites, tolerance))
    steady = [said for said in found if _subject(said) not in noise]
    if len(steady) < len(found):
        left = len(found) - len(steady)
        out.notes.append(f"{left} of the things that the program leaves differ between two runs of the migrated program itself")
    if after.timed_out and not before.timed_out:
        out.differences.append(
            f"the migrated program was still running at the time limit, the original took {before.seconds:.1f} s"
        )
    elif again.timed_out and not after.timed_out:
        out.notes.append("the second run of the migrated program did not end within the time limit")
    if codemods:
        steady = [(process, _with_cause(said, traces[1][process], sites)) for process, said in steady]
    out.differences += _together(steady, len(traces[0]))
    out.values_differ = bool(out.differences)
    sentences = [sentence for _, sentence in steady]
    out.only_ends = any(s.startswith("end: ") for s in sentences) or not any(s.startswith("final value") for s in sentences)
    pairs = [(traces[0][p], traces[1][p]) for p in sorted(traces[0]) if p in traces[1]]
    out.missing = next((names for old, new in pairs if (names := _missing(new) or _missing_in_tests(old, new))), None)
    out.differences += _together(_output(out, (before, after, again), traces, tolerance), len(traces[0]))
    out.alike = _together(_same_ends(traces[0], traces[1]), len(traces[0]))
    return out


def _subject(said: Said) -> tuple[int, str]:
    """What two pairs of runs have in common: of a final value the whole name, as chance may spare a part of it."""
    process, sentence = said
    final = re.match(r"final value of \w+", sentence)
    return process, final[0] if final else sentence.partition(": ")[0]


def _together(said: Iterable[Said], processes: int) -> list[str]:
    """The sentences, each once, with the processes of which it is true."""
    of: dict[str, list[int]] = {}
    for process, sentence in said:
        of.setdefault(sentence, []).append(process)
    if processes == 1:
        return list(of)
    return [f"{_which(numbers, processes)}, {sentence}" for sentence, numbers in of.items()]


def _which(numbers: Sequence[int], processes: int) -> str:
    if len(numbers) == processes:
        return "both processes" if processes == 2 else f"all {processes} processes"
    return f"process {numbers[0]}" if len(numbers) == 1 else f"processes {', '.join(map(str, numbers))}"


def _compare(out: Outcome, before: Traces, after: Traces, sites: Sequence[Site], tolerance: Tolerance) -> Iterator[Said]:
    idle = waiting(before) | (waiting(after) if _others_end_otherwise(before, after) else frozenset())
    for process in sorted(before):
        old, new = before[process], after.get(process)
        if new is not None:
            sentences = (
                *(_ends(old, new) if process not in idle else ()),
                *_tests(out, old, new),
                *_unittests(out, old, new),
                *_finals(out, old, new, sites, tolerance),
            )
            yield from ((process, sentence) for sentence in sentences)


def _others_end_otherwise(before: Traces, after: Traces) -> bool:
    """Whether the failure that others waited for in the migrated program is one that the original did not have."""
    guilty = [process for process, trace in after.items() if process not in waiting(after) and failed(trace)]
    return any(process in before and not _same_end(before[process], after[process]) for process in guilty)


def _same_ends(before: Traces, after: Traces) -> Iterator[Said]:
    """How processes end, where both versions end in the same unusual way."""
    idle = waiting(before) | waiting(after)
    for process in sorted(before):
        old, new = before[process], after.get(process)
        if new is None or process in idle or not _same_end(old, new):
            continue
        failure, status = failed(old), _status(old)
        if failure is not None:
            yield process, f"end: both versions end with {failure}"
        elif status and old.one("end") is not None and not old.kinds.get("test"):
            yield process, f"end: both versions end with status {status}"


def _ends(old: Trace, new: Trace) -> Iterator[str]:
    failures = failed(old), failed(new)
    statuses = _status(old), _status(new)
    if failures[0] is None and failures[1] is not None:
        yield f"end: the original ends with status {statuses[0]}, the migrated program fails: {failures[1]}"
    elif failures[0] is not None and failures[1] is not None and not _same_end(old, new):
        yield f"end: the original fails with {failures[0]}, the migrated program with {failures[1]}"
    elif failures == (None, None) and None not in statuses and statuses[0] != statuses[1]:
        yield f"exit status: {statuses[0]} before, {statuses[1]} after"


def _with_cause(said: str, new: Trace, sites: Sequence[Site]) -> str:
    """The sentence, with its cause if that is a name that JAX has no more and that was left as it is."""
    if said.startswith("end: the original ends with") and _left_as_it_is((new.one("end") or {}).get("x"), sites):
        return f"end: the migrated program ends with {failed(new)}: {UNCOVERED}"
    tests = [t for t in new.kinds.get("test", []) if t.get("outcome") in FAILED and said.startswith(f"test {t.get('id')}: ")]
    return f"{said}: {UNCOVERED}" if any(_left_as_it_is(t.get("x"), sites) for t in tests) else said


_GONE = re.compile(
    r"module 'jax(?:\.[\w.]+)?' has no attribute '(\w+)'|cannot import name '(\w+)' from '(?:jax|jax\.[\w.]+)'"
    r"|No module named 'jax\.(?:\w+\.)*(\w+)'|^jax\.(?:\w+\.)*(\w+) (?:is|was|has been) (?:deprecated|removed)"
)
"""What today's JAX says to a program that uses what it has no more."""


def _left_as_it_is(x: object, sites: Sequence[Site]) -> bool:
    """Whether an exception names a part of JAX that is gone and that no edit names."""
    raised = cast("Json | None", x)
    found = _GONE.search(str(raised.get("message"))) if raised and raised.get("family") in PROGRAMMING else None
    if found is None:
        return False
    name = re.compile(rf"\b{next(group for group in found.groups() if group)}\b")
    return not any(name.search(text) for site in sites for text in (site.before_text, site.after_text))


def _missing(trace: Trace) -> frozenset[str] | None:
    """The names in the message of an AttributeError, ImportError or NameError that ended the program."""
    return _unfound(cast("Json | None", (trace.one("end") or {}).get("x")))


def _missing_in_tests(old: Trace, new: Trace) -> frozenset[str] | None:
    """The same of the tests that fail in the migrated program only, if all of them failed so."""
    fine = {t.get("id") for t in old.kinds.get("test", []) if t.get("outcome") not in FAILED}
    broken = [t for t in new.kinds.get("test", []) if t.get("outcome") in FAILED and t.get("id") in fine]
    names = [_unfound(cast("Json | None", t.get("x"))) for t in broken]
    known = [found for found in names if found is not None]
    return frozenset().union(*known) if known and len(known) == len(names) else None


def _unfound(x: Json | None) -> frozenset[str] | None:
    if not x or x.get("family") not in PROGRAMMING:
        return None
    quoted = re.findall(r"'([\w.]+)'", str(x.get("message")))
    return frozenset(quoted[-1].split(".")[-1:] if quoted else ())


def _tests(out: Outcome, old: Trace, new: Trace) -> Iterator[str]:
    a, b = ({str(t.get("id")): t for t in trace.kinds.get("test", [])} for trace in (old, new))
    for name in [*a, *(n for n in b if n not in a)]:
        words = _test_word(a.get(name)), _test_word(b.get(name))
        if words[0].partition(" ")[0] == words[1].partition(" ")[0]:
            out.values += words[0] != "skipped"
        else:
            yield f"test {name}: {words[0]} before, {words[1]} after"


_UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?\s*$", re.MULTILINE)


def _unittests(out: Outcome, old: Trace, new: Trace) -> Iterator[str]:
    """What `unittest.main` says at the end, on standard error."""
    found = [_UNITTEST.findall(t.process.stderr.replace("\r\n", "\n"))[-1:] for t in (old, new)]
    if not all(found):
        return
    words = [f"{ran} ran, {result}{f' ({details})' if details else ''}" for ((ran, result, details),) in found]
    if words[0] == words[1]:
        out.values += int(found[0][0][0])
    else:
        yield f"unittest: {words[0]} before, {words[1]} after"


def _test_word(test: Json | None) -> str:
    if test is None:
        return "absent"
    x = cast("Json | None", test.get("x"))
    return f"{test.get('outcome')} ({exception(x)})" if x and test.get("outcome") != "skipped" else str(test.get("outcome"))


def _finals(out: Outcome, old: Trace, new: Trace, sites: Sequence[Site], tolerance: Tolerance) -> Iterator[str]:
    a, b = ((trace.one("final") or {}).get("v") for trace in (old, new))
    if a is None or b is None:
        return
    before, after = cast("dict[str, Json]", a), cast("dict[str, Json]", b)
    for name in sorted({*before, *after} - _loop_variables(sites)):
        if name in before and name in after:
            comparison = examine(before[name], after[name], tolerance)
            out.values += comparison.facts if not comparison.differences else 0
            out.sampled += comparison.sampled
            out.dtypes |= comparison.dtypes
            # Whether a value is committed only matters to what is computed from it, and at the end nothing is.
            for d in [d for d in comparison.differences if d.aspect != "committed"][:1]:
                yield f"final value of {name}{d.where}: {in_words(d)}"
        elif not _mentioned(name, sites):
            there = "before" if name in before else "after"
            yield f"final value of {name}: there is one only {there}"


def _loop_variables(sites: Sequence[Site]) -> set[str]:
    """What loops whose own text is edited leave in their variables, which nobody looks at."""
    heads = (
        re.match(r"\s*(?:async\s+)?for\s+(.*?)\s+in\b", text) for site in sites for text in (site.before_text, site.after_text)
    )
    return {name for head in heads if head for name in re.findall(r"[^\W\d]\w*", head[1])}


def in_words(d: Difference) -> str:
    """A difference as part of a sentence; long values are only in its fields."""
    short = not d.placements and len(d.before + d.after) <= SHORT
    return (
        f"{d.aspect} {d.before} before, {d.after} after" if short else f"{d.aspect} differ{'' if d.aspect.endswith('s') else 's'}"
    )


def _mentioned(name: str, sites: Sequence[Site]) -> bool:
    """Whether an edit brought or took this name."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(name in site.names or bool(word.search(site.before_text)) != bool(word.search(site.after_text)) for site in sites)


# Output

_COPY = re.compile(r"(?:/[^\s'\":/]+)*/(?:before|after|again)(?=[/\s'\"):,]|$)", re.MULTILINE)
MOST_LINES = 3000
"""Of outputs of different lengths that are compared."""
_GLOO = re.compile(
    r"(?:\[Gloo\] )?(?:Rank )?\d* ?is connected to \d+ peer ranks\. Expected number of connected peer ranks is : \d+"
)
_TORN = re.compile(r"\[Gloo\]|is connected to \d+ peer ranks|[Ee]xpected number of connected peer ranks")
"""What XLA prints on standard output in several processes, of which the lines of the program may get into the middle."""
_REST = re.compile(r"\d{1,4}")
"""The number at the end of such a message, torn off; a program's own line of that form is left out with it."""
_LITERAL = re.compile(r"\bArray\(shape=")
_CUT = re.compile(r"\n\.\.\. \d+ bytes left out \.\.\.\n")
"""What stands in place of the middle of an output that is too large to be kept, see `processes`."""


def _output(
    out: Outcome, runs: tuple[Run, Run, Run], traces: tuple[Traces, Traces, Traces], tolerance: Tolerance
) -> Iterator[Said]:
    if any(t.kinds.get("test") or _is_pytest(t) for t in traces[0].values()):
        return
    texts = [{p.process: p.stdout for p in run.processes} for run in runs]
    for process in sorted(texts[0]):
        old, new, twice = _comparable([side.get(process, "") for side in texts])
        if any(_CUT.search(side.get(process, "")) for side in texts):
            who = f" of process {process}" if len(texts[0]) > 1 else ""
            out.notes.append(f"the output{who} is too large to be kept: only {len(old)} of its lines were compared")
        if any(_LITERAL.search(line) for side in (old, new) for line in side):
            old, new, twice = (_without_contents(side) for side in (old, new, twice))
        noisy = {line for _, come in _changes(twice, new, tolerance) for line in come}
        changes = _changes(old, new, tolerance)
        change = next(((gone, come) for gone, come in changes if not come or not noisy.issuperset(come)), None)
        if change is None:
            out.output += len(old)
        else:
            yield process, f"output: {_quoted(change[0])} before, {_quoted(change[1])} after"


def lines(text: str) -> list[str]:
    """The lines of an output without blanks, addresses, names of the copies and what XLA says in between."""
    stripped = (raw.strip() for raw in plain(_COPY.sub("<copy>", _GLOO.sub("", text))).split("\n"))
    torn = "peer ranks" in text
    return [line for line in stripped if line and not (_TORN.search(line) or (torn and _REST.fullmatch(line)))]


def _comparable(texts: Sequence[str]) -> list[list[str]]:
    """The lines of outputs, of those that were cut as many whole ones as all of them have before the cut."""
    sides, known = [], []
    for text in texts:
        cut = _CUT.search(text)
        # The cut counts bytes, so it falls elsewhere where a name of a type is longer.
        sides.append(lines(text[: cut.start()].rpartition("\n")[0] if cut else text))
        if cut:
            known.append(len(sides[-1]))
    return [side[: min(known)] for side in sides] if known else sides


def _without_contents(text: list[str]) -> list[str]:
    """What a GlobalDeviceArray never printed: the values of an array."""
    joined, depth, kept = "\n".join(text), 0, []
    position = 0
    while position < len(joined):
        if depth == 0 and joined.startswith("Array(", position):
            kept.append("Array(...")
            depth, position = 1, position + len("Array(")
            continue
        character = joined[position]
        if depth:
            depth += (character == "(") - (character == ")")
        if not depth:
            kept.append(character)
        position += 1
    return "".join(kept).split("\n")


def _changes(old: list[str], new: list[str], tolerance: Tolerance) -> Iterator[tuple[list[str], list[str]]]:
    if len(old) == len(new):
        for a, b in zip(old, new, strict=True):
            if a != b and not same_text(a, b, tolerance):
                yield [a], [b]
        return
    old, new = old[:MOST_LINES], new[:MOST_LINES]
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = old[i:i_end], new[j:j_end]
        if tag != "equal" and not same_text(" ".join(gone), " ".join(come), tolerance):
            yield gone, come


def _quoted(text: list[str]) -> str:
    if not text:
        return "nothing"
    first = text[0] if len(text[0]) <= 100 else text[0][:97] + "..."
    return repr(first) + (f" and {len(text) - 1} more lines" if len(text) > 1 else "")


# Hazards and circumstances


def hazards(*runs: Traces) -> tuple[str, ...]:
    """Undefined behaviour of the program, by name."""
    found: dict[str, None] = {}
    for traces in runs:
        inputs: dict[str, dict[int, object]] = defaultdict(dict)
        named: dict[str, dict[str, None]] = defaultdict(dict)
        for process, trace in sorted(traces.items()):
            for record in trace.kinds.get("hazard", []):
                key, value = str(record.get("key")), record.get("v")
                if record.get("kind") == "replicated-input":
                    inputs[key][process] = value
                else:
                    named[f"{record.get('kind')}: {key}"].update({value: None} if value and isinstance(value, str) else {})
        unlike = (_unlike(key, values) for key, values in inputs.items() if len({str(v) for v in values.values()}) > 1)
        texts = (f"{name} ({'; '.join(details)})" if details else name for name, details in named.items())
        found.update(dict.fromkeys((*unlike, *texts)))
    return tuple(found)


def _unlike(key: str, values: Mapping[int, object]) -> str:
    first = min(values)
    other = next(p for p in sorted(values) if str(values[p]) != str(values[first]))
    return (
        f"replicated-input: {key} differs between processes {first} and {other}: it is taken to be equal everywhere, what comes "
        "out is undefined in the original already"
    )


def circumstances(before: Run, after: Run, traces: tuple[Traces, Traces]) -> Iterator[str]:
    """What the reader should know of the runs."""
    starts = [_start(side) for side in traces]
    yield _versions(*starts)
    yield from _backends(*traces)
    for run, side in zip((before, after), traces, strict=True):
        for process, trace in sorted(side.items()):
            if trace.one("end") is None and (trace.process.status or 0) >= 0 and trace.process.status is not None:
                who = f"process {process} of the {_version(run)}" if len(side) > 1 else f"the {_version(run)}"
                yield f"{who} left by os._exit with status {trace.process.status}: judged by what was recorded until then"
            for record in (*trace.kinds.get("lost", []), *trace.kinds.get("note", [])):
                yield f"{_version(run)}: {record.get('text') or record.get('e')}"


def _start(side: Traces) -> Json:
    """Where the first process ran, and which old JAX it saw."""
    first = next(iter(side.values()), None)
    if first is None:
        return {}
    return (first.one("start") or {}) | {"legacy": (first.one("legacy") or first.one("start") or {}).get("version")}


def _versions(old: Json, new: Json) -> str:
    def named(start: Json) -> str:
        return f"Python {start.get('python')}, JAX {start.get('jax')}"

    version = f"JAX {old['legacy']}" if old.get("legacy") else "the old JAX"
    emulated = f"{version} emulated on " if old.get("world") == "legacy" else ""
    if named(old) == named(new):
        return (
            f"the original ran on {emulated}{named(old)}, the migrated program on the same without emulation"
            if emulated
            else (f"both versions ran on {named(old)}")
        )
    return f"the original ran on {emulated}{named(old)}, the migrated program on {named(new)}"


_PLATFORMS = {"cpu": "simulated CPU", "gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}


def _backends(before: Traces, after: Traces) -> Iterator[str]:
    found = [[t.one("backend") for t in side.values()] for side in (before, after)]
    said = [
        {f"{b.get('devices')} {_PLATFORMS.get(str(b.get('platform')), b.get('platform'))} devices" for b in side if b}
        for side in found
    ]
    texts = [" and ".join(sorted(side)) for side in said]
    if texts[0] and texts[0] == texts[1]:
        yield f"{texts[0]}{f' in {len(before)} processes' if len(before) > 1 else ''}"
    elif texts[0] and texts[1]:
        yield f"the original had {texts[0]}, the migrated program {texts[1]}: one of them sets XLA_FLAGS itself"
