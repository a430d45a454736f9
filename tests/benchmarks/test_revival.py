"""The benchmark runs, on one small package and the environment that the tests have anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.revival import main
from tests.corpus.conftest import or_skip
from tests.corpus.shipped_tests import modules_with_tests

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


def test_an_old_package_comes_to_life(capsys: pytest.CaptureFixture[str]) -> None:
    assert or_skip(lambda: main(["--light", "--only", "liesel", "--assert"])) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:5] == ["liesel", "49", "0", "->", "49"]
    assert lines[-1] == "1 of 1 packages import as a whole: liesel"


def test_modules_with_tests_are_found(tmp_path: Path) -> None:
    for name in ("pkg/a.py", "pkg/a_test.py", "tests/test_b.py", "pkg/testing.py", "pkg/contest.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert modules_with_tests(tmp_path) == ["pkg/a_test.py", "tests/test_b.py"]
