"""Every import path that old JAX had up to 0.4.6 leads somewhere, in each form in which a program can write it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.legacy import running

pytest.importorskip("jax")

GOLDEN = Path(__file__).parent.parent / "golden" / "import_paths.json.gz"
PATHS: dict[str, list[list[str]]] = json.loads(gzip.decompress(GOLDEN.read_bytes()))


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def existed(ranges: list[list[str]]) -> bool:
    """Whether a release up to 0.4.6 had the path."""
    return any(state in ("yes", "deprecated") and number(first) <= (0, 4, 6) for state, first, _ in ranges)


OLD = sorted(path for path, ranges in PATHS.items() if existed(ranges))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return running.outcomes("paths.py")


def test_the_recording_holds_the_paths_that_matter() -> None:
    assert len(OLD) > 150
    assert {"jax.experimental.maps.Mesh", "jax.interpreters.pxla.ShardingSpec", "jax._src.pjit.FROM_GDA"} <= {*OLD}


@pytest.mark.parametrize("path", OLD)
@pytest.mark.parametrize("form", ["from", "attribute", "oldest"])
def test_path(outcomes: dict[str, str], path: str, form: str) -> None:
    answers = json.loads(outcomes["check_all"])
    assert not answers[f"{form} {path}"], answers[f"{form} {path}"]


def test_whole_modules(outcomes: dict[str, str]) -> None:
    assert not outcomes["check_modules"], outcomes["check_modules"]


def test_submodules_of_a_plain_import(outcomes: dict[str, str]) -> None:
    assert not outcomes["check_attributes_of_a_plain_import"], outcomes["check_attributes_of_a_plain_import"]


def test_absent_names_stay_absent(outcomes: dict[str, str]) -> None:
    assert not outcomes["check_absent_names_stay_absent"], outcomes["check_absent_names_stay_absent"]
