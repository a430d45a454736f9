"""What holds for every rewritten program, around all fixtures: idempotence, syntax, untouched bytes, indifference to style."""

from __future__ import annotations

import ast
from collections import Counter

from hypothesis import assume, given
from hypothesis import strategies as st

from jaxmigrate.model import FileResult, Outcome, Status
from tests.fixture_cases import CASES, Case, rewrite
from tests.property import transformations as change

cases = st.sampled_from(CASES)
changes = st.lists(st.sampled_from(change.CHANGES), min_size=1, max_size=3, unique=True)


def result_of(data: bytes, case: Case) -> bytes:
    result = rewrite(data, case)
    assert result.status is not Status.FAILED, result.reason
    return result.after if result.status is Status.REWRITTEN else data


def kinds(result: FileResult) -> Counter[tuple[str, str]]:
    """How many findings of which codemod had which outcome."""
    return Counter((f.codemod, f.outcome.value) for f in result.findings)


def assert_settled(after: bytes, case: Case) -> None:
    """The result parses, and a second run has nothing to edit."""
    ast.parse(after)
    again = rewrite(after, case)
    assert again.status is Status.UNCHANGED, again.reason
    assert not [f for f in again.findings if f.outcome is Outcome.APPLIED]


def changed(text: str, steps: list[change.Named]) -> str:
    for step in steps:
        new = step.apply(text)
        assume(new is not None)
        assert new is not None
        ast.parse(new)
        text = new
    return text


def recoded(data: bytes, step: change.Recode) -> bytes:
    new = step(data)
    assume(new is not None)
    assert new is not None
    return new


@given(cases, changes)
def test_style_makes_no_difference(case: Case, steps: list[change.Named]) -> None:
    before, after = changed(case.before.decode(), steps), changed(case.after.decode(), steps)
    assert result_of(before.encode(), case).decode() == after
    assert_settled(after.encode(), case)


@given(cases, st.lists(st.sampled_from(change.ENCODINGS), min_size=1, max_size=2, unique=True))
def test_line_ends_and_encodings_are_kept(case: Case, steps: list[change.Recode]) -> None:
    before, after = case.before, case.after
    for step in sorted(steps, key=change.ENCODINGS.index):
        before, after = recoded(before, step), recoded(after, step)
    assert result_of(before, case) == after


@given(cases)
def test_bytes_between_edits_stay(case: Case) -> None:
    noisy = change.noisy(case.before.decode())
    after = result_of(noisy.encode(), case).decode()
    assert after.count(change.NOISE) == noisy.count(change.NOISE)
    assert change.quiet(after) == case.after.decode()


@given(cases)
def test_comments_survive_or_are_confessed(case: Case) -> None:
    before = change.comments(case.before.decode())
    assume(before is not None)
    assert before is not None
    result = rewrite(before.encode(), case)
    assert result.status is not Status.FAILED, result.reason
    if result.status is Status.REWRITTEN:
        lost = Counter(change.comment_texts(before)) - Counter(change.comment_texts(result.after.decode()))
        confessed = [f for f in result.findings if f.outcome is Outcome.APPLIED and "comment" in f.message]
        assert not lost or confessed
        assert_settled(result.after, case)


@given(cases)
def test_import_style_makes_no_difference(case: Case) -> None:
    before = change.spelled_by_module(case.before.decode())
    assume(before is not None)
    assert before is not None
    result = rewrite(before.encode(), case)
    assert kinds(result) == kinds(rewrite(case.before, case))
    if result.status is Status.REWRITTEN:
        assert_settled(result.after, case)
