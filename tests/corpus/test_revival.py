"""Old packages come back to life: after a plain rewrite, what failed only because of this API imports on the newest JAX."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.corpus.conftest import Rewritten, or_skip
from tests.corpus.revival import Errors, environment, import_trees, missed, table

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

REVIVED = ("diffrax", "distrax", "jax-cfd", "jaxopt", "liesel", "optax", "orbax")
"""Packages that have no other trouble on the newest JAX."""


@pytest.fixture(scope="module")
def python() -> Path:
    return or_skip(environment)


@pytest.fixture(scope="module")
def before(originals: Mapping[str, Path], python: Path) -> Mapping[str, Errors]:
    return import_trees(originals, python)


@pytest.fixture(scope="module")
def after(rewritten: Rewritten, python: Path) -> Mapping[str, Errors]:
    return import_trees(rewritten.trees, python)


def test_table(before: Mapping[str, Errors], after: Mapping[str, Errors], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n\n" + table(before, after))
    lost = [m for name, errors in before.items() for m, error in errors.items() if not error and after[name][m]]
    assert not lost, "imported before the rewrite and do not any more"


def test_no_module_is_held_by_an_api_with_a_known_replacement(after: Mapping[str, Errors]) -> None:
    assert missed(after) == {}


@pytest.mark.parametrize("name", REVIVED)
def test_whole_package_imports(name: str, after: Mapping[str, Errors]) -> None:
    assert {error for error in after[name].values() if error} == set()
