"""Every recorded array and probe of JAX 0.4.6, built with the old classes on the installed JAX, in one child for each kind."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.legacy import recordings

pytest.importorskip("jax")
ROOT = Path(__file__).parent.parent.parent
COUNTS = {"gda": 214, "multiprocess": 67, "sharding_spec": 32, "probes": 68}


def start(devices: int, *arguments: str) -> subprocess.Popen[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("JAX_")},
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(ROOT / "tests" / "legacy" / "golden_child.py"), *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(children: list[subprocess.Popen[str]]) -> dict[str, list[str]]:
    """The answers of all children together; cases have the process in their recording."""
    found: dict[str, list[str]] = {}
    try:
        for child in children:
            out, err = child.communicate(timeout=240)
            assert child.returncode == 0, err
            found |= json.loads(out.splitlines()[-1])
    finally:
        for child in children:
            child.kill()
            child.wait()
    return found


def address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize("kind", COUNTS)
def test_nothing_differs_from_the_recording(kind):
    found = finish([start(8, kind)])
    assert {name: differences for name, differences in found.items() if differences} == {}
    assert len(found) == COUNTS[kind]


@pytest.mark.parametrize(("processes", "cases"), [(2, 46), (4, 15)])
def test_nothing_differs_in_real_processes(processes, cases):
    place = str(processes), address()
    found = finish([start(8 // processes, "processes", str(i), *place) for i in range(processes)])
    assert {name: differences for name, differences in found.items() if differences} == {}
    assert len(found) == cases


def test_every_recorded_case_is_tried():
    gda = recordings.recording("gda")
    assert len(gda["cases"]) == COUNTS["gda"]
    assert len(gda["multiprocess_cases"]) == COUNTS["multiprocess"]
    assert len(gda["api"]) == COUNTS["probes"]
    assert len(recordings.recording("sharding_spec")["specs"]) == COUNTS["sharding_spec"]
