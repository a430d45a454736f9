"""The old array classes on today's JAX, probed further than the recordings go."""

from __future__ import annotations

import pytest

from tests.legacy import running

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return running.outcomes("arrays.py")


@pytest.mark.parametrize("name", running.names("arrays.py"))
def test_arrays(outcomes: dict[str, str], name: str) -> None:
    assert not outcomes[name], outcomes[name]
