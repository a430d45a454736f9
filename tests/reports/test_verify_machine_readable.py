"""JSON and HTML of a verification."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from jaxmigrate.reports import verify_html, verify_json
from jaxmigrate.verify.model import Difference, Edit, Judgement, Placement, ProcessRun, Report, Run, Verdict

pytest.importorskip("jinja2")

ROWS = Placement((4,), ((0, ((0, 2),)), (1, ((2, 4),))))
COPIES = Placement((4,), ((0, ((0, 4),)), (1, ((0, 4),))))
EDIT = Edit(7, "a/train.py", 3, 4, "from-gda", "why", "old(x)", "new(x)", (1,))
JUDGEMENT = Judgement(
    EDIT,
    Verdict.DIFFERENT,
    ("evaluation 1: placement differs",),
    (Difference("placement", "device 0: [0:2]", "device 0: [0:4]", "[0]", (ROWS, COPIES)),),
    1,
    "",
    "jaxmigrate verify --edit 7 train.py",
)
REPORT = Report(
    (JUDGEMENT, Judgement(replace(EDIT, id=8, codemod=""), Verdict.NOT_COMPARABLE, ())),
    hazards=("a hazard",),
    program=("a sentence",),
    notes=("a note",),
    runs=(Run("before", (ProcessRun(0, 0, ({"e": "start"},)),), seconds=1.23456),),
    command="jaxmigrate verify train.py",
)


def test_json_keys_are_a_promise() -> None:
    document = json.loads(verify_json.render(REPORT, require=50))
    assert document.pop("version")
    assert document == {
        "schema": 1,
        "command": "jaxmigrate verify train.py",
        "status": 1,
        "require": 50,
        "summary": {
            "edits": 2,
            "reached": 2,
            "equivalent": 0,
            "different": 1,
            "not_reached": 0,
            "nondeterministic": 0,
            "not_comparable": 1,
        },
        "hazards": ["a hazard"],
        "errors": [],
        "program": {"differs": False, "findings": ["a sentence"]},
        "notes": ["a note"],
        "edits": [
            {
                "id": 7,
                "path": "a/train.py",
                "line": 3,
                "column": 5,
                "codemod": "from-gda",
                "message": "why",
                "before": "old(x)",
                "after": "new(x)",
                "verdict": "different",
                "evidence": ["evaluation 1: placement differs"],
                "differences": [
                    {
                        "aspect": "placement",
                        "where": "[0]",
                        "before": "device 0: [0:2]",
                        "after": "device 0: [0:4]",
                        "placements": {
                            "before": {
                                "shape": [4],
                                "shards": [{"device": 0, "index": [[0, 2]]}, {"device": 1, "index": [[2, 4]]}],
                            },
                            "after": {
                                "shape": [4],
                                "shards": [{"device": 0, "index": [[0, 4]]}, {"device": 1, "index": [[0, 4]]}],
                            },
                        },
                    }
                ],
                "process": 1,
                "hint": None,
                "reproduce": "jaxmigrate verify --edit 7 train.py",
            },
            {
                "id": 8,
                "path": "a/train.py",
                "line": 3,
                "column": 5,
                "codemod": None,
                "message": "why",
                "before": "old(x)",
                "after": "new(x)",
                "verdict": "not comparable",
                "evidence": [],
                "differences": [],
                "process": None,
                "hint": None,
                "reproduce": None,
            },
        ],
        "runs": [
            {
                "name": "before",
                "seconds": 1.235,
                "timed_out": False,
                "error": None,
                "processes": [{"process": 0, "status": 0, "records": 1}],
            }
        ],
    }


class _Page(HTMLParser):
    """Counts what is open, so that a tag that is not closed shows."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page(report: Report) -> tuple[str, str]:
    html = verify_html.render(report)
    parser = _Page()
    parser.feed(html)
    assert parser.open == []
    return html, " ".join(" ".join(parser.text).split())


def test_html_says_what_the_text_says() -> None:
    _, text = page(REPORT)
    for part in (
        "2 edits: 0 equivalent, 1 different",
        "a/train.py:3:5",
        "- old(x)",
        "+ new(x)",
        "a hazard",
        "a sentence",
        "a note",
    ):
        assert part in text
    assert "before (4,): the devices that hold each block" in text
    assert "Again: jaxmigrate verify --edit 7 train.py" in text


def test_html_draws_which_device_holds_what() -> None:
    html, _ = page(REPORT)
    before, after = re.findall(r"<table>.*?</table>", html, re.DOTALL)
    assert before.count("<td>") == 2
    assert before.count('class="device"') == 2
    assert after.count("<td>") == 1
    assert after.count('class="device"') == 2


def test_html_needs_nothing_from_elsewhere() -> None:
    html, _ = page(REPORT)
    assert not re.search(r"<script|<link|@import|url\(|src=|https?:", html)
    assert "prefers-color-scheme: dark" in html


def test_html_escapes_what_users_wrote() -> None:
    hostile = "</pre><script>alert(1)</script>"
    edit = replace(EDIT, before=hostile, after=hostile, path=hostile)
    judged = replace(JUDGEMENT, edit=edit, evidence=(hostile,), differences=(Difference(hostile, hostile, hostile, hostile),))
    html, text = page(replace(REPORT, judgements=(judged,), notes=(hostile,), errors=(hostile,), hazards=(hostile,)))
    assert "<script" not in html
    assert hostile in text


def test_html_filters_by_the_verdicts_that_occur() -> None:
    html, _ = page(REPORT)
    assert 'id="show-different"' in html
    assert 'id="show-not-comparable"' in html
    assert 'id="show-equivalent"' not in html


def test_html_of_errors_and_of_arrays_without_a_grid() -> None:
    _, text = page(Report((), errors=("the original fails",)))
    assert "Nothing was verified the original fails" in text
    cube = Placement(
        (2, 2, 2), tuple((d, ((d // 4, d // 4 + 1), (d // 2 % 2, d // 2 % 2 + 1), (d % 2, d % 2 + 1))) for d in range(8))
    )
    judged = replace(JUDGEMENT, differences=(Difference("placement", "a", "b", "", (cube, cube)),))
    _, text = page(Report((judged,)))
    assert "[0:1, 0:1, 1:2]" in text


def test_a_program_that_differs_for_a_reason_that_is_given() -> None:
    why = "end: the migrated program ends with AttributeError: no: no codemod covers it yet"
    assert "no single edit" not in page(Report((), program=(why,), program_differs=True))[1]
    assert "no single edit" in page(Report((), program=("exit status: 0 before, 1 after",), program_differs=True))[1]
