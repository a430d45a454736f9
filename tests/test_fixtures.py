"""Every fixture: the rewriter turns before.py into after.py byte for byte, and leaves after.py and unchanged.py alone.

What they do when they run is tested in ``verify/test_fixtures.py``.
"""

from __future__ import annotations

import pytest

from jaxmigrate.model import Outcome, Status
from jaxmigrate.testing import news
from tests.fixture_cases import CASES, Case, described, folders, load, outcome, rewrite

UNCHANGED = [load(folder) for folder in folders("unchanged.py")]

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def test_every_program_has_its_result() -> None:
    assert folders("before.py") == folders("after.py")


@every_case
def test_before_becomes_after(case: Case) -> None:
    found = outcome(case)
    assert found.status is not Status.FAILED, found.reason
    after = found.after if found.status is Status.REWRITTEN else case.before
    assert after.decode() == case.after.decode()


@every_case
def test_findings_are_the_expected_ones(case: Case) -> None:
    findings = [f for f in outcome(case).findings if f.outcome is not Outcome.GUARDED]
    found = [(described(f), f.outstanding) for f in findings]
    for wanted in case.expect:
        kind, _, part = wanted.partition(": ")
        assert any(text.startswith(f"{kind}: ") and part in text for text, _ in found), f"no finding {wanted!r} in {found}"
    wanted_parts = [w.partition(": ") for w in case.expect]
    left = [t for t, outstanding in found if outstanding]
    surprise = [t for t in left if not any(t.startswith(f"{kind}: ") and part in t for kind, _, part in wanted_parts)]
    assert not surprise


@every_case
def test_a_second_run_emits_no_edit_and_says_nothing_new(case: Case) -> None:
    again = rewrite(case.after, case)
    assert again.status is Status.UNCHANGED, again.reason
    assert not [f for f in again.findings if f.outcome is Outcome.APPLIED]
    assert not news(outcome(case), again)


@pytest.mark.parametrize("case", UNCHANGED, ids=lambda case: case.id)
def test_unchanged_emits_no_edit(case: Case) -> None:
    found = rewrite((case.folder / "unchanged.py").read_bytes(), case)
    assert found.status in (Status.UNCHANGED, Status.SKIPPED), found.reason
    assert not [f for f in found.findings if f.outcome is Outcome.APPLIED]
