"""Old pjit on today's JAX: host-local arrays, GlobalDeviceArrays, signatures and errors of the versions."""

from __future__ import annotations

import pytest

from tests.legacy import running

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return running.outcomes("pjit.py")


@pytest.mark.parametrize("name", running.names("pjit.py"))
def test_pjit(outcomes: dict[str, str], name: str) -> None:
    assert not outcomes[name], outcomes[name]
