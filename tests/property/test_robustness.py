"""Whatever the file holds: the engine does not raise, and what it gives back parses."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from jaxmigrate.model import Outcome, Status
from tests.fixture_cases import CASES, Case, rewrite

cases = st.sampled_from(CASES)


def assert_sane(data: bytes, case: Case) -> None:
    result = rewrite(data, case)
    assert "internal" not in result.reason, result.reason
    if result.status is not Status.REWRITTEN:
        return
    ast.parse(result.after)
    again = rewrite(result.after, case)
    assert again.status is Status.UNCHANGED, again.reason
    assert not [f for f in again.findings if f.outcome is Outcome.APPLIED]


@given(cases, st.data())
def test_lines_deleted_doubled_and_moved(case: Case, data: st.DataObject) -> None:
    lines = case.before.splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 3)) if lines else 0):
        at, to = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        kind = data.draw(st.sampled_from(["delete", "double", "move"]))
        line = lines[at]
        if kind != "double":
            del lines[at]
        if kind != "delete":
            lines.insert(to, line)
        if not lines:
            return
    assert_sane(b"".join(lines), case)


@given(cases, cases, st.integers(0, 100), st.integers(0, 100))
def test_halves_of_two_programs(first: Case, second: Case, at: int, to: int) -> None:
    head, tail = first.before.splitlines(keepends=True), second.before.splitlines(keepends=True)
    assert_sane(b"".join(head[: at * len(head) // 100] + tail[to * len(tail) // 100 :]), first)


@given(cases, st.integers(min_value=0), st.binary(max_size=4), st.integers(0, 4))
def test_bytes_replaced(case: Case, at: int, new: bytes, width: int) -> None:
    at %= len(case.before)
    assert_sane(case.before[:at] + new + case.before[at + width :], case)


@given(cases, st.integers(min_value=0))
def test_cut_off_anywhere(case: Case, at: int) -> None:
    assert_sane(case.before[: at % len(case.before)], case)


WORDS = (
    """import jax from as ( ) [ ] { } : = . , ; jnp DeviceArray def f lambda x '' # pjit * ** @ with config.jax_array if else"""
)


@given(st.lists(st.sampled_from([*WORDS.split(), "\n", "\n    ", "\t", "\\\n", "f'{x}'"])))
def test_soup_of_tokens(words: list[str]) -> None:
    assert_sane(" ".join(words).encode(), CASES[0])
