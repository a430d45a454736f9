"""Counts over the results of a run, shared by every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jaxmigrate.model import Applicability, FileResult, Finding, Outcome, Severity, Status, Version


@dataclass(frozen=True, slots=True)
class Place:
    """A finding and the file it is in."""

    path: str
    finding: Finding

    @property
    def where(self) -> str:
        """``path:line:column``, the column counted from 1 as editors do."""
        return f"{self.path}:{self.finding.position.line}:{self.finding.position.column + 1}"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did, in the order of its files."""

    places: tuple[Place, ...]
    files: Counter[Status]
    failed: tuple[FileResult, ...]
    skipped: tuple[FileResult, ...]
    requires: Version | None
    """The oldest JAX that the applied edits need."""
    needs: Version | None
    """The oldest JAX that the result needs: for the edits, and for what its files use besides; None if nothing was rewritten."""
    scanned: int

    def of(self, outcome: Outcome) -> list[Place]:
        """The findings that ended so."""
        return [place for place in self.places if place.finding.outcome is outcome]

    def left(self, outcome: Outcome) -> list[Place]:
        """The findings that ended so and leave something to do."""
        return [place for place in self.of(outcome) if place.finding.outstanding]

    @property
    def urgent(self) -> list[Place]:
        """What fails without a sound, mended or not: to be shown before everything else."""
        shown = (Outcome.APPLIED, Outcome.HELD, Outcome.MANUAL)
        return [p for p in self.places if p.finding.severity is Severity.URGENT and p.finding.outcome in shown]

    @property
    def deprecated(self) -> list[Place]:
        """What still works and is not counted as left to do."""
        return [place for place in self.places if place.finding.is_left and not place.finding.outstanding]

    def applied(self, applicability: Applicability) -> list[Place]:
        """The edits of one applicability that are in the result."""
        return [place for place in self.of(Outcome.APPLIED) if place.finding.applicability is applicability]

    def table(self) -> dict[str, Counter[str]]:
        """Codemod -> number of findings: ``safe``, ``review``, ``unsafe`` (applied), ``held``, ``manual``, ``deprecated``."""
        table: dict[str, Counter[str]] = {}
        for place in self.places:
            column = _column(place.finding)
            if column:
                table.setdefault(place.finding.codemod, Counter())[column] += 1
        return dict(sorted(table.items()))


def summarise(results: Sequence[FileResult], scanned: int | None = None) -> Summary:
    """Count `results`, which are all files of the run unless `scanned` says how many there were."""
    found = tuple(place for result in results for place in places(result))
    sound = [result for result in results if result.status is not Status.FAILED]
    has_edits = any(place.finding.outcome is Outcome.APPLIED for place in found)
    return Summary(
        found,
        Counter(result.status for result in results),
        tuple(result for result in results if result.status is Status.FAILED),
        tuple(result for result in results if result.status is Status.SKIPPED),
        _newest(result.requires for result in sound),
        _newest(result.needs for result in sound) if has_edits else None,
        len(results) if scanned is None else scanned,
    )


def _newest(versions: Iterable[Version | None]) -> Version | None:
    return max((version for version in versions if version is not None), default=None)


def places(result: FileResult) -> list[Place]:
    """The findings of a file by position; none of a failed file, which is as it was whatever had been planned."""
    if result.status is Status.FAILED:
        return []
    return [Place(display(result.path), finding) for finding in sorted(result.findings, key=_position)]


def gravest_first(results: Sequence[FileResult]) -> list[FileResult]:
    """The files in which something fails without a sound, then the others; all in their order."""
    return sorted(results, key=lambda result: min((p.finding.severity for p in places(result)), default=Severity.LOW) > 0)


def display(text: str) -> str:
    """`text` on one line and printable: file names may hold anything."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _position(finding: Finding) -> tuple[int, int]:
    return finding.position.line, finding.position.column


def _column(finding: Finding) -> str:
    if finding.outcome is Outcome.APPLIED:
        return str(finding.applicability)
    if finding.is_left and not finding.outstanding:
        return "deprecated"
    return finding.outcome.value if finding.outstanding else ""
