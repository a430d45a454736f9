"""The report of a run for people: grouped for a terminal, one finding per line for a pipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from jaxmigrate.model import Applicability, FileResult, Finding, Outcome, Settings, Severity, Status
from jaxmigrate.reports.summary import Place, Summary, count, display, places, summarise

HUNK_LINES = 6
"""A replaced source of more lines than this is cut in the report; ``--diff`` shows all of it."""


def render(
    results: Sequence[FileResult],
    *,
    width: int | None = None,
    color: bool = False,
    wrote: bool = True,
    settings: Settings | None = None,
    elapsed: float | None = None,
    scanned: int | None = None,
) -> str:
    """The report as text that ends with a newline.

    Args:
        results: all files of the run, in the order to show them.
        width: columns of the terminal; None for a pipe (one finding per line, no wrapping, no colour).
        color: use ANSI colours (terminal only).
        wrote: whether the run was allowed to write; otherwise the report says what would be done.
        settings: of the run; names the target where the result cannot run on it.
        elapsed: seconds the run took, shown when given.
        scanned: number of files looked at, when `results` holds only those with something to say.
    """
    summary = summarise(results, scanned)
    if width is None:
        return "".join(f"{line}\n" for line in _plain(results, summary, wrote, settings, elapsed))
    from jaxmigrate.reports.terminal import render_terminal  # rich is slow to import and only needed on a terminal

    return render_terminal(summary, width=width, color=color, wrote=wrote, settings=settings, elapsed=elapsed)


def _plain(
    results: Sequence[FileResult], summary: Summary, wrote: bool, settings: Settings | None, elapsed: float | None
) -> Iterator[str]:
    for place in summary.urgent:
        yield from _finding(place)
    for result in results:
        path = display(result.path)
        if result.status in (Status.FAILED, Status.SKIPPED) and result.reason:
            yield f"{path}: {result.status.value}: {display(result.reason)}"
        for place in places(result):
            shown = place.finding.outcome in (Outcome.APPLIED, Outcome.HELD, Outcome.MANUAL)
            if shown and place.finding.severity is not Severity.URGENT:
                yield from _finding(place)
    yield headline(summary, wrote, elapsed)
    yield from left_alone(summary)
    yield from closing(summary, wrote, settings)


def _finding(place: Place) -> Iterator[str]:
    finding = place.finding
    held = f" ({held_by(finding)})" if finding.outcome is Outcome.HELD else ""
    severity = "" if finding.severity is Severity.NORMAL else f"{finding.severity} "
    yield f"{place.where}: {severity}{finding.applicability} {finding.codemod}: {display(finding.message)}{held}"
    if finding.outcome is Outcome.HELD or finding.applicability in (Applicability.REVIEW, Applicability.UNSAFE):
        yield from (f"    {line}" for line in hunk(finding))


def hunk(finding: Finding) -> list[str]:
    """The edit of a finding as ``-`` and ``+`` lines; empty when it has none to show."""
    if finding.outcome is Outcome.MANUAL:
        return []
    column = finding.position.column
    return [*_side("-", finding.before, column), *_side("+", finding.after, column)] if finding.before or finding.after else []


def _side(sign: str, source: str, column: int) -> list[str]:
    """The lines of `source`, those after the first moved left as far as the first one was."""
    lines = (
        [display(line) for line in source.replace("\r\n", "\n").expandtabs(4).rstrip("\n").split("\n")] if source.strip() else []
    )
    indents = [len(line) - len(line.lstrip(" ")) for line in lines[1:] if line.strip()]
    dedent = min(column, *indents) if indents else 0
    shown = [
        f"{sign} {line}".rstrip() for line in [*(line.lstrip() for line in lines[:1]), *(line[dedent:] for line in lines[1:])]
    ]
    rest = len(shown) - HUNK_LINES
    return shown if rest <= 0 else [*shown[:HUNK_LINES], f"{sign} ... {count(rest, 'more line')}"]


def held_by(finding: Finding) -> str:
    """The option that would let a held edit through, or why nothing does."""
    if finding.held:
        return f"held back by --verify: {finding.held}"
    return "held: --unsafe applies it" if finding.applicability is Applicability.UNSAFE else "held back by --safe-only"


def headline(summary: Summary, wrote: bool, elapsed: float | None) -> str:
    """One sentence: how much was read, how much was done."""
    time = f" in {elapsed:.1f} s" if elapsed is not None else ""
    edits = summary.of(Outcome.APPLIED)
    read = f"{count(summary.scanned, 'file')} read{time}"
    if not edits:
        return f"{read}: nothing to rewrite."
    done = f"{'rewrote' if wrote else 'would rewrite'} {count(len(edits), 'place')}"
    return f"{read}: {done} in {count(summary.files[Status.REWRITTEN], 'file')} ({_by_kind(summary)})."


def _by_kind(summary: Summary) -> str:
    kinds = (Applicability.SAFE, Applicability.REVIEW, Applicability.UNSAFE)
    return ", ".join(f"{len(places)} {kind}" for kind in kinds if (places := summary.applied(kind)))


def left_alone(summary: Summary) -> Iterator[str]:
    """What was left alone on purpose, one sentence each."""
    guarded, suppressed = len(summary.of(Outcome.GUARDED)), len(summary.of(Outcome.SUPPRESSED))
    if guarded:
        yield f"{count(guarded, 'use')} left alone: only the fallback of a version or presence test."
    if suppressed:
        yield f"{count(suppressed, 'use')} left alone: a comment in the source asks for it."
    if deprecated := len(summary.deprecated):
        yield f"{count(deprecated, 'finding')} of low severity, deprecated or only to know: not counted without --strict."


def closing(summary: Summary, wrote: bool, settings: Settings | None) -> Iterator[str]:
    """The last lines: what is left, the JAX that the result needs, what to do next."""
    left = ((len(summary.left(Outcome.MANUAL)), "to do by hand"), (len(summary.left(Outcome.HELD)), "held back"))
    parts = [f"{number} {what}" for number, what in left if number]
    if summary.failed:
        parts.append(f"{count(len(summary.failed), 'file')} failed")
    if parts:
        yield f"Left: {', '.join(parts)}."
    if summary.needs:
        yield f"The result needs JAX {summary.needs} or newer{_beyond(summary, settings)}."
    yield from (f"Next: {step}" for step in next_steps(summary, wrote, settings))


def _beyond(summary: Summary, settings: Settings | None) -> str:
    if settings is None or summary.needs is None or summary.needs <= settings.target:
        return ""
    by_edit = summary.requires is not None and summary.requires > settings.target
    why = "some uses have no older successor" if by_edit else "the code used names of it before"
    return f", which is newer than the target {settings.target}: {why}"


def next_steps(summary: Summary, wrote: bool, settings: Settings | None = None) -> Iterator[str]:
    """What the user can do now, most useful first."""
    assumed = len(summary.applied(Applicability.REVIEW)) + len(summary.applied(Applicability.UNSAFE))
    if summary.of(Outcome.APPLIED) and not wrote:
        yield "`jaxmigrate rewrite` without --check or --diff writes these edits."
    elif assumed:
        yield f"look at the {count(assumed, 'edit')} resting on an assumption, then run your tests."
    held = [place for place in summary.of(Outcome.HELD) if not place.finding.held]
    unsafe = [place for place in held if place.finding.applicability is Applicability.UNSAFE]
    if unsafe:
        yield f"--unsafe applies {count(len(unsafe), 'edit')} held back now."
    safe_only = settings is None or settings.allowed is Applicability.SAFE
    if safe_only and len(held) > len(unsafe):
        yield "without --safe-only the review edits are applied too."
    if manual := summary.left(Outcome.MANUAL):
        name = Counter(place.finding.codemod for place in manual).most_common(1)[0][0]
        yield f"`jaxmigrate explain {name}` shows what to write instead."
