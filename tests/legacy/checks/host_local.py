"""Every case of tests/golden/host_local.json that fits the number of processes, through pjit and real collectives."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
from worlds import world

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "host_local.json.gz"


def cases() -> list[dict]:
    """Cases whose processes have equally many devices."""
    import jax

    count, mine = jax.process_count(), jax.local_device_count()
    every = json.loads(gzip.decompress(GOLDEN.read_bytes()))["cases"]
    return [case for case in every if Counter(case["process_of_device"]) == dict.fromkeys(range(count), mine)]


def real_mesh(case: dict):
    """The mesh of a case: the n-th recorded device of a process is its n-th real one."""
    import jax
    from jax.experimental.maps import Mesh

    order = sorted(jax.devices(), key=lambda device: (device.process_index, device.id))
    queues = {p: iter([d for d in order if d.process_index == p]) for p in range(jax.process_count())}
    real = {number: next(queues[process]) for number, process in enumerate(case["process_of_device"])}
    devices = np.array([real[number] for number in np.ravel(case["mesh"]["device_ids"])])
    return Mesh(devices.reshape(case["mesh"]["shape"]), tuple(case["mesh"]["axis_names"])), real


def spec_of(case: dict):
    from jax.experimental import PartitionSpec

    return PartitionSpec(*(tuple(part) if isinstance(part, list) else part for part in case["spec"]))


def expected(record: dict) -> tuple[str, tuple[int, ...]]:
    """The class of the error, or nothing, and the shape of the argument."""
    broken = record.get("error") or record["local_mesh"].get("error")
    return (broken["type"] if broken else ""), tuple(record.get("local_shape", (8, 16)))


def replicated(case: dict) -> bool:
    sizes = dict(zip(case["mesh"]["axis_names"], case["mesh"]["shape"], strict=True))
    axes = [axis for part in case["spec"] if part for axis in (part if isinstance(part, list) else [part])]
    return all(sizes[axis] == 1 for axis in axes)


def compare(case: dict) -> str:
    """What is not as recorded."""
    import jax
    from jax.experimental.pjit import pjit

    mesh, real = real_mesh(case)
    record = case["per_process"][jax.process_index()]
    error, shape = expected(record)
    x = np.arange(float(np.prod(shape)), dtype=np.float32).reshape(shape)
    x = x if replicated(case) else x + 1000 * jax.process_index()
    same = pjit(lambda x: x, in_axis_resources=spec_of(case), out_axis_resources=spec_of(case))
    try:
        with mesh:
            result = same(x)
    except (ValueError, AssertionError) as problem:
        # pjit looked at divisibility before the rule did, and raised ValueError there.
        return "" if error and not replicated(case) else f"raised {problem!r}"
    if error:
        return "" if replicated(case) else "raised nothing"
    return placement(record, result, x, real)


def placement(record: dict, result: object, x: np.ndarray, real: dict) -> str:
    if tuple(result.shape) != tuple(record["global_shape"]):
        return f"shape {result.shape}"
    for shard in result.local_shards:
        number = next(n for n, device in real.items() if device == shard.device)
        recorded = record["placement"][str(number)]
        here = tuple(slice(*part) for part in recorded["local_index"])
        there = [slice(*part).indices(n) for part, n in zip(recorded["global_index"], result.shape, strict=True)]
        if [part.indices(n) for part, n in zip(shard.index, result.shape, strict=True)] != there:
            return f"device {number} holds {shard.index}"
        if not np.array_equal(np.asarray(shard.data), x[here]):
            return f"device {number} holds other data"
    return ""


@world("0.4.6")
def check_recorded_cases():
    import jax

    jax.config.update("jax_parallel_functions_output_gda", True)
    chosen = cases()
    assert len(chosen) >= 50
    wrong = {case["id"]: problem for case in chosen if (problem := compare(case))}
    assert not wrong, wrong
