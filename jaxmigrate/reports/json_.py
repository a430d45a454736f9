"""The report of a run for programs: one JSON document whose keys stay; new keys may be added within a schema number."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jaxmigrate import __version__
from jaxmigrate.model import FileResult, Finding, Outcome, Position, Settings, Severity, Status
from jaxmigrate.reports.summary import gravest_first, summarise

SCHEMA = 1

Json = dict[str, object]


def render(
    results: Sequence[FileResult], *, wrote: bool, settings: Settings, elapsed: float | None = None, scanned: int | None = None
) -> str:
    """The results as indented JSON text; files without anything to say are only counted.

    Lines and columns count from 1, columns in characters. `scanned` is the number of files looked at, when `results` holds only
    those with something to say.
    """
    summary = summarise(results, scanned)
    files = {status.value: summary.files[status] for status in Status}
    files["unchanged"] += summary.scanned - len(results)
    document: Json = {
        "schema": SCHEMA,
        "version": __version__,
        "target": str(settings.target),
        "wrote": wrote,
        "elapsed": None if elapsed is None else round(elapsed, 3),
        "requires": str(summary.needs) if summary.needs else None,
        "summary": {
            "files": files,
            "findings": {outcome.value: len(summary.of(outcome)) for outcome in Outcome},
            "urgent": len(summary.urgent),
            "deprecated": len(summary.deprecated),
            "codemods": {name: dict(sorted(row.items())) for name, row in summary.table().items()},
        },
        "files": [_file(result) for result in gravest_first(results) if result.findings or result.status is not Status.UNCHANGED],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _file(result: FileResult) -> Json:
    return {
        "path": result.path,
        "status": result.status.value,
        "reason": result.reason or None,
        "written": result.written,
        "requires": str(result.needs) if result.needs else None,
        "findings": [_finding(f) for f in sorted(result.findings, key=lambda f: f.severity is not Severity.URGENT)],
    }


def _finding(finding: Finding) -> Json:
    return {
        "codemod": finding.codemod,
        "symbol": finding.symbol or None,
        "start": _position(finding.position),
        "end": _position(finding.end),
        "message": finding.message,
        "applicability": str(finding.applicability),
        "outcome": finding.outcome.value,
        "severity": str(finding.severity),
        "before": finding.before,
        "after": finding.after,
        "requires": str(finding.requires) if finding.requires else None,
        "held": finding.held or None,
    }


def _position(position: Position) -> Json:
    return {"line": position.line, "column": position.column + 1}
