"""Old pmap on today's JAX: the shard shapes and elements that its results had."""

from __future__ import annotations

import pytest

from tests.legacy import running

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return running.outcomes("pmap.py")


@pytest.mark.parametrize("name", running.names("pmap.py"))
def test_pmap(outcomes: dict[str, str], name: str) -> None:
    assert not outcomes[name], outcomes[name]
