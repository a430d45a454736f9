"""The recordings of JAX 0.4.6 in tests/golden, and stand-ins for meshes of several processes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent.parent / "golden"


@cache
def recording(name: str) -> dict:
    """A file of tests/golden."""
    return json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))


@dataclass(frozen=True)
class Client:
    """The backend of one process."""

    me: int

    def process_index(self) -> int:
        return self.me


@dataclass(frozen=True)
class Device:
    """A device of a process that need not exist."""

    id: int
    process_index: int
    client: Client = field(compare=False, repr=False, default=Client(0))


@dataclass(frozen=True, eq=False)
class Mesh:
    """A mesh as the old rules saw it."""

    devices: np.ndarray
    axis_names: tuple[str, ...]

    @property
    def shape(self) -> dict[str, int]:
        return dict(zip(self.axis_names, self.devices.shape, strict=True))

    @property
    def local_devices(self) -> list[Device]:
        return [d for d in self.devices.flat if d.process_index == d.client.process_index()]


def device_array(case: dict, devices: Iterable[object]) -> np.ndarray:
    """The devices of a recorded mesh, given all devices in the order of their ids."""
    known = list(devices)
    flat = np.empty(len(case["mesh"]["device_ids"]), dtype=object)
    flat[:] = [known[i] for i in case["mesh"]["device_ids"]]
    return flat.reshape(case["mesh"]["shape"])


def fake_mesh(case: dict, me: int = 0) -> Mesh:
    """The mesh of a case as process `me` saw it."""
    devices = [Device(i, process, Client(me)) for i, process in enumerate(case["process_of_device"])]
    return Mesh(device_array(case, devices), tuple(case["mesh"]["axis_names"]))


def spec(entries: list) -> list:
    """The entries of a recorded PartitionSpec."""
    return [tuple(entry) if isinstance(entry, list) else entry for entry in entries]


def index(recorded: list) -> tuple:
    """An index as it was before it was written."""
    return tuple(slice(*part) if isinstance(part, list) else part for part in recorded)


def written(parts: Iterable[object]) -> list:
    """An index as it is written in the recordings."""
    return [[part.start, part.stop, part.step] if isinstance(part, slice) else part for part in parts]


def error(exception: BaseException) -> dict:
    """An error as it is written in the recordings."""
    return {"type": type(exception).__name__, "message": str(exception)}
