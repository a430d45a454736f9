"""Every recorded array and probe of JAX 0.4.6, built with the old classes on the installed JAX, in one child for each kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.legacy import recordings

pytest.importorskip("jax")
ROOT = Path(__file__).parent.parent.parent
COUNTS = {"gda": 214, "multiprocess": 67, "sharding_spec": 32, "probes": 68}


@cache
def answers(kind: str) -> dict[str, list[str]]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("JAX_")},
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(ROOT / "tests" / "legacy" / "golden_child.py"), kind]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


@pytest.mark.parametrize("kind", COUNTS)
def test_nothing_differs_from_the_recording(kind):
    found = answers(kind)
    assert {name: differences for name, differences in found.items() if differences} == {}
    assert len(found) == COUNTS[kind]


def test_every_recorded_case_is_tried():
    gda = recordings.recording("gda")
    assert len(gda["cases"]) == COUNTS["gda"]
    assert len(gda["multiprocess_cases"]) == COUNTS["multiprocess"]
    assert len(gda["api"]) == COUNTS["probes"]
    assert len(recordings.recording("sharding_spec")["specs"]) == COUNTS["sharding_spec"]
