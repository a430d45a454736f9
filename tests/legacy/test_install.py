"""The emulation is put in place and taken away without a trace."""

from __future__ import annotations

import pytest

from tests.legacy import running

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return running.outcomes("install.py")


@pytest.mark.parametrize("name", running.names("install.py"))
def test_install(outcomes: dict[str, str], name: str) -> None:
    assert not outcomes[name], outcomes[name]
