"""Shell scripts, Dockerfiles, CI and service files: flags of old JAX are reported with file and line, nothing is edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.model import Applicability, FileResult, Finding, Outcome, Position, Settings, Status

if TYPE_CHECKING:
    from jaxmigrate.codemod import Codemod

_SUPPRESSED = re.compile(rb"jaxmigrate: *ignore(?:\[([^\]]*)\])?")
_SKIPPED = b"jaxmigrate: skip-file"


def scan_text(path: str, data: bytes, settings: Settings) -> FileResult:
    """Ask the packs what they know about in the text of `data`."""
    from jaxmigrate.registry import load

    if 0 in data:
        return FileResult(path, Status.SKIPPED, reason="is binary")
    if _SKIPPED in data:
        return FileResult(path, Status.SKIPPED, reason="asks for it: jaxmigrate: skip-file")
    findings = [f for c in load().codemods.values() if _chosen(c.name, settings) for f in _findings(c, data)]
    return FileResult(
        path, Status.UNCHANGED, findings=tuple(sorted(findings, key=lambda f: (f.position.line, f.position.column)))
    )


def _chosen(name: str, settings: Settings) -> bool:
    return (settings.select is None or name in settings.select) and name not in settings.ignore


def _findings(codemod: Codemod, data: bytes) -> Iterator[Finding]:
    for pattern, message in getattr(codemod, "text", ()):
        for match in pattern.finditer(data):
            start, end = match.span()
            suppressed = _SUPPRESSED.search(_line(data, start))
            names = (
                {name.strip() for name in (suppressed[1] or b"").decode("utf-8", "replace").split(",")} if suppressed else set()
            )
            outcome = Outcome.SUPPRESSED if names & {"", codemod.name} else Outcome.MANUAL
            symbol = match[0].decode("utf-8", "replace")
            yield Finding(
                codemod.name, _position(data, start), _position(data, end), message, Applicability.MANUAL, outcome, symbol
            )


def _line(data: bytes, offset: int) -> bytes:
    end = data.find(b"\n", offset)
    return data[data.rfind(b"\n", 0, offset) + 1 : end if end >= 0 else None]


def _position(data: bytes, offset: int) -> Position:
    start = data.rfind(b"\n", 0, offset) + 1
    return Position(data.count(b"\n", 0, offset) + 1, len(data[start:offset].decode("utf-8", "replace")))
