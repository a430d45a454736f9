"""What holds for every rewritten program, around all fixtures: idempotence, syntax, untouched bytes, indifference to style."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from hypothesis import assume, given
from hypothesis import strategies as st

from jaxmigrate.model import FileResult, Outcome, Status
from tests.fixture_cases import CASES, Case, outcome, rewrite
from tests.property import transformations as change

cases = st.sampled_from(CASES)
changes = st.lists(st.sampled_from(change.CHANGES), min_size=1, max_size=3, unique=True)


def result_of(data: bytes, case: Case) -> bytes:
    result = rewrite(data, case)
    assert result.status is not Status.FAILED, result.reason
    return result.after if result.status is Status.REWRITTEN else data


@functools.cache
def plain(case: Case) -> bytes:
    """What becomes of the fixture as it is; that it equals after.py is not this file's business."""
    found = outcome(case)
    assert found.status is not Status.FAILED, found.reason
    return found.after if found.status is Status.REWRITTEN else case.before


def kinds(result: FileResult) -> set[tuple[str, str]]:
    """What is left to do; of what was done, a move is one finding for the import or one for each use."""
    return {(f.codemod, f.outcome.value) for f in result.findings if f.outstanding}


def assert_settled(after: bytes, case: Case) -> None:
    """The result parses, and a second run has nothing to edit."""
    ast.parse(after)
    again = rewrite(after, case)
    assert again.status is Status.UNCHANGED, again.reason
    assert not [f for f in again.findings if f.outcome is Outcome.APPLIED]


def changed(case: Case, steps: list[change.Change]) -> tuple[str, str]:
    pair = case.before.decode(), plain(case).decode()
    for step in sorted(steps, key=change.CHANGES.index):
        new = step.apply(*pair)
        assume(new is not None)
        assert new is not None
        pair = new
    return pair


def recoded(data: bytes, step: change.Recode) -> bytes:
    new = step(data)
    assume(new is not None)
    assert new is not None
    return new


@given(cases, changes)
def test_style_makes_no_difference(case: Case, steps: list[change.Change]) -> None:
    before, after = changed(case, steps)
    result = result_of(before.encode(), case).decode()
    view = change.structure if any(s.text in change.NESTING for s in steps) else change.essence
    assert view(result) == view(after)
    assert_settled(result.encode(), case)


@given(cases, st.lists(st.sampled_from(change.ENCODINGS), min_size=1, max_size=2, unique=True))
def test_line_ends_and_encodings_are_kept(case: Case, steps: list[change.Recode]) -> None:
    before, after = case.before, plain(case)
    for step in sorted(steps, key=change.ENCODINGS.index):
        before, after = recoded(before, step), recoded(after, step)
    result = result_of(before, case)
    if change.latin1 in steps:  # a comment at the top may decide over a blank line
        assert change.essence(result.decode("latin-1")) == change.essence(after.decode("latin-1"))
    else:
        assert result == after


@given(cases)
def test_bytes_between_edits_stay(case: Case) -> None:
    noisy = change.noisy(case.before.decode())
    after = result_of(noisy.encode(), case).decode()
    assert after.count(change.NOISE) == noisy.count(change.NOISE)
    assert change.essence(change.quiet(after)) == change.essence(plain(case).decode())


@given(cases)
def test_comments_survive_or_are_confessed(case: Case) -> None:
    before = change.comments(case.before.decode())
    assume(before is not None)
    assert before is not None
    result = rewrite(before.encode(), case)
    assert result.status is not Status.FAILED, result.reason
    if result.status is Status.REWRITTEN:
        lost = change.lost_comments(before, result.after.decode())
        confessed = [f for f in result.findings if f.outcome is Outcome.APPLIED and "comment goes" in f.message]
        assert not lost or confessed
        assert_settled(result.after, case)


@given(cases, st.sampled_from(change.IMPORT_STYLES))
def test_import_style_makes_no_difference(case: Case, style: Callable[[str], str | None]) -> None:
    before = style(case.before.decode())
    assume(before is not None)
    assert before is not None
    result = rewrite(before.encode(), case)
    as_it_is = outcome(case)
    assert result.status is as_it_is.status
    assert kinds(result) == kinds(as_it_is)
    if result.status is Status.REWRITTEN:
        assert_settled(result.after, case)
