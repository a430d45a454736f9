"""Shell scripts, Dockerfiles, CI and service files: flags of old JAX are reported with file and line, nothing is edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.gate import has_trace
from jaxmigrate.model import Applicability, Fact, FileResult, Finding, Outcome, Position, Settings, Status

if TYPE_CHECKING:
    from jaxmigrate.codemod import Codemod, TextPattern

_SUPPRESSED = re.compile(rb"jaxmigrate: *ignore(?:\[([^\]]*)\])?")
_SKIPPED = b"jaxmigrate: skip-file"


def scan_text(path: str, data: bytes, settings: Settings) -> FileResult:
    """Ask the packs what they know about in the text of `data`."""
    from jaxmigrate.registry import load

    if 0 in data:
        return FileResult(path, Status.SKIPPED, reason="is binary")
    if _SKIPPED in data:
        return FileResult(path, Status.SKIPPED, reason="asks for it: jaxmigrate: skip-file")
    lines = _lines(data)
    findings: list[Finding] = []
    facts: list[Fact] = []
    for codemod in load().codemods.values():
        if _chosen(codemod.name, settings):
            for place in _places(codemod, lines):
                findings += place.findings(codemod.name)
                facts += place.facts(codemod.name, path)
    findings.sort(key=lambda finding: (finding.position.line, finding.position.column))
    return FileResult(path, Status.UNCHANGED, findings=tuple(findings), facts=tuple(facts))


def _chosen(name: str, settings: Settings) -> bool:
    return (settings.select is None or name in settings.select) and name not in settings.ignore


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a pattern of a codemod matched."""

    pattern: TextPattern
    symbol: str
    start: Position
    end: Position
    suppressed: bool

    def findings(self, codemod: str) -> Iterator[Finding]:
        if self.pattern.message:
            outcome = Outcome.SUPPRESSED if self.suppressed else Outcome.MANUAL
            yield Finding(codemod, self.start, self.end, self.pattern.message, Applicability.MANUAL, outcome, self.symbol)

    def facts(self, codemod: str, path: str) -> Iterator[Fact]:
        if self.pattern.note is not None and not self.suppressed:
            yield Fact(codemod, self.pattern.note, path, self.start, self.end)


def _places(codemod: Codemod, lines: list[tuple[int, bytes]]) -> Iterator[_Place]:
    for pattern in codemod.texts:
        for number, line in lines:
            for match in re.finditer(pattern.pattern, line):
                start, end = (Position(number, len(line[:offset].decode("utf-8", "replace"))) for offset in match.span())
                yield _Place(pattern, match[0].decode("utf-8", "replace"), start, end, _suppressed(line, codemod.name))


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    """Number and text of the lines that may matter: they mention JAX and are no comments."""
    lines = enumerate(data.splitlines(), 1)
    return [(number, line) for number, line in lines if has_trace(line) and not line.lstrip().startswith((b"#", b";", b"//"))]


def silenced(line: bytes) -> frozenset[str] | None:
    """The codemods that a comment of the line silences, an empty name for all of them; None when there is no such comment."""
    comment = _SUPPRESSED.search(line)
    if comment is None:
        return None
    return frozenset(name.strip() for name in (comment[1] or b"").decode("utf-8", "replace").split(","))


def _suppressed(line: bytes, codemod: str) -> bool:
    return bool((silenced(line) or frozenset()) & {"", codemod})
