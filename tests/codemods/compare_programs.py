"""Run pairs of programs in this process (given as JSON on stdin) and say which pairs differ in values, placement or errors."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import warnings
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"


def described(array: Any) -> tuple[object, ...]:
    """What two equal arrays have in common: values, the slice on each device, whether they are tied to their devices."""
    import numpy as np

    shards = sorted((s.device.id, str(s.index)) for s in array.addressable_shards)
    return np.asarray(array).round(4).tolist(), shards, array.committed


def outcome(program: str) -> tuple[str, list[tuple[object, ...]]]:
    """The class of the error, if any, and the arrays that the program put into OUT."""
    names: dict[str, Any] = {}
    error = ""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(program, "program", "exec"), names)
    except Exception as raised:
        error = type(raised).__name__
    return error, [described(a) for a in names.get("OUT", ())]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    different = [number for number, (before, after) in enumerate(json.load(sys.stdin)) if outcome(before) != outcome(after)]
    print(json.dumps(different))
