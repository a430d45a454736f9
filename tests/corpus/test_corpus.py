"""The tool on real packages of the years in which this API was in use."""

from __future__ import annotations

import difflib

import pytest

from jaxmigrate.model import Outcome, Status
from tests.corpus.fetch import read_pins
from tests.corpus.rewriting import PACKAGES, SUMMARY, Rewritten, new_complaints, parses, stray_changes, summary, unnamed

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

each_package = pytest.mark.parametrize("name", [pin.name for pin in read_pins(PACKAGES)])


@each_package
def test_no_file_fails_that_python_can_parse(name: str, rewritten: Rewritten) -> None:
    failed = [result for result in rewritten.first[name] if result.status is Status.FAILED]
    assert [(result.path, result.reason) for result in failed if parses(_original(rewritten, name, result.path))] == []


def _original(rewritten: Rewritten, name: str, path: str) -> bytes:
    relative = rewritten.trees[name].joinpath(path).relative_to(rewritten.trees[name])
    return (rewritten.originals[name] / relative).read_bytes()


@each_package
def test_what_parsed_still_parses(name: str, rewritten: Rewritten) -> None:
    results = [result for result in rewritten.first[name] if result.status is Status.REWRITTEN]
    assert [result.path for result in results if parses(result.before) and not parses(result.after)] == []


@each_package
def test_a_second_run_edits_nothing(name: str, rewritten: Rewritten) -> None:
    again = [
        (r.path, f.position.line, f.codemod, f.message)
        for r in rewritten.second[name]
        for f in r.findings
        if f.outcome is Outcome.APPLIED
    ]
    assert again == []
    assert [result.path for result in rewritten.second[name] if result.status is Status.REWRITTEN] == []


@each_package
def test_nothing_changes_outside_the_reported_places(name: str, rewritten: Rewritten) -> None:
    results = [result for result in rewritten.first[name] if result.status is Status.REWRITTEN]
    assert [line for result in results for line in stray_changes(rewritten.trees[name], result)] == []


def test_no_name_becomes_undefined(rewritten: Rewritten) -> None:
    assert new_complaints(rewritten, "F821,F822,F823") == []


@each_package
def test_every_legacy_use_that_is_left_is_named(name: str, rewritten: Rewritten) -> None:
    left = unnamed(rewritten.trees[name], rewritten.second[name])
    assert [f"{path}:{use.line}: {use.kind} {use.symbol}: {line}" for path, use, line in left] == []


def test_counts_are_as_committed(rewritten: Rewritten) -> None:
    now, committed = summary(rewritten.first), SUMMARY.read_text("utf-8")
    difference = difflib.unified_diff(committed.splitlines(), now.splitlines(), "committed", "now", lineterm="", n=0)
    assert now == committed, "the counts changed; if that is meant, `python -m tests.corpus.update`:\n" + "\n".join(difference)
