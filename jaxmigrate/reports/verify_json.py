"""The report of a verification for programs: one JSON document whose keys stay; keys may be added within a schema number."""

from __future__ import annotations

import json

from jaxmigrate import __version__
from jaxmigrate.verify.model import Difference, Judgement, Placement, Report, Run, Verdict

SCHEMA = 1

Json = dict[str, object]


def render(report: Report, *, require: float = 0.0) -> str:
    """The report as indented JSON text; lines and columns count from 1, columns in characters."""
    document: Json = {
        "schema": SCHEMA,
        "version": __version__,
        "command": report.command or None,
        "status": report.status(require),
        "require": require,
        "summary": {
            "edits": len(report.judgements),
            "reached": report.reached,
            **{verdict.value.replace(" ", "_"): report.count(verdict) for verdict in Verdict},
        },
        "hazards": list(report.hazards),
        "errors": list(report.errors),
        "program": {"differs": report.program_differs, "findings": list(report.program)},
        "notes": list(report.notes),
        "edits": [_judgement(judgement) for judgement in report.judgements],
        "runs": [_run(run) for run in report.runs],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _judgement(judgement: Judgement) -> Json:
    edit = judgement.edit
    return {
        "id": edit.id,
        "path": edit.path,
        "line": edit.line,
        "column": edit.column + 1,
        "codemod": edit.codemod or None,
        "message": edit.message or None,
        "before": edit.before,
        "after": edit.after,
        "verdict": judgement.verdict.value,
        "evidence": list(judgement.evidence),
        "differences": [_difference(difference) for difference in judgement.differences],
        "process": judgement.process,
        "hint": judgement.hint or None,
        "reproduce": judgement.reproduce or None,
    }


def _difference(difference: Difference) -> Json:
    pair = difference.placements
    return {
        "aspect": difference.aspect,
        "where": difference.where or None,
        "before": difference.before,
        "after": difference.after,
        "placements": {"before": _placement(pair[0]), "after": _placement(pair[1])} if pair else None,
    }


def _placement(placement: Placement) -> Json:
    shards = [{"device": device, "index": [list(bounds) for bounds in index]} for device, index in placement.shards]
    return {"shape": list(placement.shape), "shards": shards}


def _run(run: Run) -> Json:
    return {
        "name": run.name,
        "seconds": round(run.seconds, 3),
        "timed_out": run.timed_out,
        "error": run.error or None,
        "processes": [{"process": p.process, "status": p.status, "records": len(p.records)} for p in run.processes],
    }
