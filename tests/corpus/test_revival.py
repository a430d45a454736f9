"""Old packages come back to life: after a plain rewrite, what failed only because of this API imports on the newest JAX."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.corpus.conftest import Rewritten, or_skip
from tests.corpus.revival import Errors, environment, import_trees, table

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

REVIVED = ("jax-cfd", "liesel", "optax", "orbax")
"""Packages that have no other trouble on the newest JAX."""


@pytest.fixture(scope="module")
def before(originals: Mapping[str, Path]) -> Mapping[str, Errors]:
    or_skip(environment)
    return import_trees(originals)


@pytest.fixture(scope="module")
def after(rewritten: Rewritten, before: Mapping[str, Errors]) -> Mapping[str, Errors]:
    return import_trees(rewritten.trees)


def test_table(before: Mapping[str, Errors], after: Mapping[str, Errors], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n\n" + table(before, after))
    lost = [m for name, errors in before.items() for m, error in errors.items() if not error and after[name][m]]
    assert not lost, "imported before the rewrite and do not any more"


def test_modules_that_failed_only_because_of_this_api_import(
    originals: Mapping[str, Path], before: Mapping[str, Errors], after: Mapping[str, Errors]
) -> None:
    failing = {name: tree for name, tree in originals.items() if any(before[name].values())}
    possible = import_trees(failing, faked=True)
    missed = {
        m: after[name][m] for name, errors in possible.items() for m, error in errors.items() if not error and after[name][m]
    }
    assert not missed


@pytest.mark.parametrize("name", REVIVED)
def test_whole_package_imports(name: str, after: Mapping[str, Errors]) -> None:
    assert {error for error in after[name].values() if error} == set()
