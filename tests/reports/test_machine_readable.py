"""JSON and GitHub annotations of a run."""

import json
from dataclasses import replace

from jaxmigrate.model import Applicability, FileResult, Finding, Outcome, Position, Settings, Severity, Status, Version
from jaxmigrate.reports import github, json_

FINDING = Finding(
    "live-buffers",
    Position(4, 8),
    Position(4, 24),
    "`d` is taken for a jax.Device",
    Applicability.REVIEW,
    Outcome.APPLIED,
    "live_buffers",
    "d.live_buffers()",
    "jax.live_arrays()",
    Version.parse("0.3.24"),
)
RESULT = FileResult("m.py", Status.REWRITTEN, b"a", b"b", (FINDING,), written=True)
SETTINGS = Settings(Version.parse("0.12"))


def test_json_keys_are_a_promise() -> None:
    document = json.loads(
        json_.render([RESULT, FileResult("clean.py", Status.UNCHANGED)], wrote=True, settings=SETTINGS, elapsed=1.23456)
    )
    assert document.pop("version")
    assert document == {
        "schema": 1,
        "target": "0.12.0",
        "wrote": True,
        "elapsed": 1.235,
        "requires": "0.3.24",
        "summary": {
            "files": {"unchanged": 1, "rewritten": 1, "skipped": 0, "failed": 0},
            "findings": {"applied": 1, "held": 0, "manual": 0, "guarded": 0, "suppressed": 0},
            "urgent": 0,
            "deprecated": 0,
            "codemods": {"live-buffers": {"review": 1}},
        },
        "files": [
            {
                "path": "m.py",
                "status": "rewritten",
                "reason": None,
                "written": True,
                "requires": "0.3.24",
                "findings": [
                    {
                        "codemod": "live-buffers",
                        "symbol": "live_buffers",
                        "start": {"line": 4, "column": 9},
                        "end": {"line": 4, "column": 25},
                        "message": "`d` is taken for a jax.Device",
                        "applicability": "review",
                        "outcome": "applied",
                        "severity": "normal",
                        "before": "d.live_buffers()",
                        "after": "jax.live_arrays()",
                        "requires": "0.3.24",
                        "held": None,
                    }
                ],
            }
        ],
    }


def test_json_counts_files_that_had_nothing_to_say() -> None:
    document = json.loads(json_.render([RESULT], wrote=True, settings=SETTINGS, scanned=12))
    assert document["summary"]["files"] == {"unchanged": 11, "rewritten": 1, "skipped": 0, "failed": 0}


def test_json_survives_a_file_name_that_is_no_text() -> None:
    text = json_.render([replace(RESULT, path="\udcff.py")], wrote=False, settings=SETTINGS)
    text.encode("ascii")
    assert json.loads(text)["files"][0]["path"] == "\udcff.py"


def test_github_says_nothing_about_edits_that_were_written() -> None:
    assert github.render([RESULT], wrote=True) == ""


def test_github_annotates_pending_edits_and_escapes() -> None:
    result = replace(RESULT, path="a,b:c.py", findings=(replace(FINDING, message="100%\nsure"),))
    expected = "::warning file=a%2Cb%3Ac.py,line=4,endLine=4,col=9,endColumn=24,title=jaxmigrate live-buffers::100%25%0Asure\n"
    assert github.render([result], wrote=False) == expected


def test_github_reports_failed_files_as_errors() -> None:
    assert (
        github.render([FileResult("m.py", Status.FAILED, reason="null bytes")], wrote=True)
        == "::error file=m.py,title=jaxmigrate::null bytes\n"
    )


def _left(line: int, severity: Severity, message: str = "gone") -> Finding:
    place = Position(line, 0)
    return Finding("removed-names", place, place, message, Applicability.MANUAL, Outcome.MANUAL, severity=severity)


GRAVE = [
    FileResult("a.py", Status.UNCHANGED, findings=(_left(1, Severity.NORMAL), _left(2, Severity.LOW))),
    FileResult("b.py", Status.UNCHANGED, findings=(_left(3, Severity.LOW), _left(4, Severity.URGENT))),
]


def test_json_has_what_fails_without_a_sound_first() -> None:
    document = json.loads(json_.render(GRAVE, wrote=False, settings=SETTINGS))
    found = [(f["path"], x["start"]["line"], x["severity"]) for f in document["files"] for x in f["findings"]]
    assert found == [("b.py", 4, "urgent"), ("b.py", 3, "low"), ("a.py", 1, "normal"), ("a.py", 2, "low")]
    assert (document["summary"]["urgent"], document["summary"]["deprecated"]) == (1, 2)
    assert document["summary"]["codemods"] == {"removed-names": {"manual": 2, "deprecated": 2}}


def test_github_levels_tell_the_severity_and_errors_come_first() -> None:
    lines = github.render(GRAVE, wrote=False).splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "::error file=b.py", "::warning file=a.py", "::notice file=a.py", "::notice file=b.py",
    ]  # fmt: skip
