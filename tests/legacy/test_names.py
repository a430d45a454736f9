"""Removed names, flags and functions of old JAX work again."""

from __future__ import annotations

import pytest

from tests.legacy import running

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return running.outcomes("names.py")


@pytest.mark.parametrize("name", running.names("names.py"))
def test_names(outcomes: dict[str, str], name: str) -> None:
    assert not outcomes[name], outcomes[name]
