"""Host-local arguments and results of pjit, GlobalDeviceArrays and pmap in real processes."""

from __future__ import annotations

import pytest

from tests.legacy import running

pytest.importorskip("jax")
pytestmark = pytest.mark.slow

CASES = [(file, count) for file in ("processes.py", "host_local.py") for count in (2, 4)]


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, int], dict[str, str]]:
    return {(file, count): running.outcomes(file, processes=count) for file, count in CASES}


@pytest.mark.parametrize(("file", "count", "name"), [(*case, name) for case in CASES for name in running.names(case[0])])
def test_processes(outcomes: dict[tuple[str, int], dict[str, str]], file: str, count: int, name: str) -> None:
    assert not outcomes[file, count][name], outcomes[file, count][name]
