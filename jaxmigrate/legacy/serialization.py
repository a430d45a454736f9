"""`jax.experimental.gda_serialization.serialization` on what became of it; both need the package tensorstore."""

from __future__ import annotations

import abc
import asyncio
import importlib
import re
from collections.abc import Sequence
from typing import Any

import jax
from jax import tree_util

from . import arrays, hostlocal, indices, state


def _modern() -> Any:
    return importlib.import_module("jax.experimental.array_serialization.serialization")


def _array(value: Any) -> Any:
    return hostlocal.from_gda(value) if isinstance(value, arrays.GlobalDeviceArray) else value


def _old(value: jax.Array) -> Any:
    if state.jax_array():
        return value
    held = {shard.device.id: shard.data for shard in value.addressable_shards}
    mesh = value.sharding.mesh
    buffers = [held[device.id] for device in indices.local_devices(mesh, jax.process_index())]
    return arrays.GlobalDeviceArray(tuple(value.shape), mesh, value.sharding.spec, buffers)


def get_tensorstore_spec(ckpt_path: str, *_: Any, **__: Any) -> dict[str, Any]:
    """Where and how an array is stored."""
    if not ckpt_path.startswith("gs://"):
        return {"driver": "zarr", "kvstore": {"driver": "file", "path": ckpt_path}}
    match = re.fullmatch("^gs://([^/]*)/(.*)$", ckpt_path, re.DOTALL)
    if match is None:
        raise ValueError(f"The ckpt_path should contain the bucket name and the file path inside the bucket. Got: {ckpt_path}")
    return {"driver": "zarr", "kvstore": {"driver": "gcs", "bucket": match[1], "path": match[2]}}


async def async_serialize(gda_inp: Any, tensorstore_spec: Any, commit_future: Any = None) -> Any:
    """Store an array."""
    return await _modern().async_serialize(_array(gda_inp), tensorstore_spec, commit_future)


def run_serialization(gdas: Sequence[Any], tensorstore_specs: Sequence[Any]) -> None:
    """Store arrays."""

    async def run() -> None:
        await asyncio.gather(*(async_serialize(gda, spec) for gda, spec in zip(gdas, tensorstore_specs, strict=True)))

    asyncio.run(run())


def run_deserialization(*given: Any, **named: Any) -> list[Any]:
    """Read arrays back; takes meshes and specs, or since 0.3.22 shardings, before the places."""
    shardings, rest = _shardings(given, named)
    return [_old(array) for array in _modern().run_deserialization(shardings, *rest, **named)]


def _shardings(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[list[Any], tuple[Any, ...]]:
    if "shardings" in named:
        return list(named.pop("shardings")), given
    if "global_meshes" in named or isinstance(given[0][0], jax.sharding.Mesh):
        meshes = named.pop("global_meshes") if "global_meshes" in named else given[0]
        rest = given if not given or not isinstance(given[0][0], jax.sharding.Mesh) else given[1:]
        axes = named.pop("mesh_axes") if "mesh_axes" in named else rest[0]
        rest = rest[1:] if rest and rest[0] is axes else rest
        return [jax.sharding.NamedSharding(mesh, spec) for mesh, spec in zip(meshes, axes, strict=True)], rest
    return list(given[0]), given[1:]


class GlobalAsyncCheckpointManagerBase(abc.ABC):
    """Stores arrays while the program goes on."""

    @abc.abstractmethod
    def check_for_errors(self) -> None:
        """Raise what went wrong meanwhile."""

    @abc.abstractmethod
    def wait_until_finished(self) -> None:
        """Wait until all is stored."""


class AsyncManager:
    """Does what follows the writing in a thread."""

    def __init__(self, timeout_secs: int = 300) -> None:
        self._manager = _modern().AsyncManager(timeout_secs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)


class GlobalAsyncCheckpointManager(AsyncManager, GlobalAsyncCheckpointManagerBase):
    """Stores arrays by way of tensorstore."""

    def __init__(self, timeout_secs: int = 300) -> None:
        self._manager = _modern().GlobalAsyncCheckpointManager(timeout_secs)

    def check_for_errors(self) -> None:
        """Raise what went wrong meanwhile."""
        self._manager.check_for_errors()

    def wait_until_finished(self) -> None:
        """Wait until all is stored."""
        self._manager.wait_until_finished()

    def serialize(self, gdas: Any, tensorstore_specs: Any, *, on_commit_callback: Any = None) -> None:
        """Store arrays."""
        self._manager.serialize(tree_util.tree_map(_array, gdas), tensorstore_specs, on_commit_callback=on_commit_callback)

    def deserialize(self, *given: Any, **named: Any) -> list[Any]:
        """Read arrays back."""
        shardings, rest = _shardings(given, named)
        return [_old(array) for array in self._manager.deserialize(shardings, *rest, **named)]


OBJECTS: dict[str, object] = {
    f"jax.experimental.gda_serialization.serialization.{name}": value
    for name, value in {
        "AsyncManager": AsyncManager,
        "GlobalAsyncCheckpointManager": GlobalAsyncCheckpointManager,
        "GlobalAsyncCheckpointManagerBase": GlobalAsyncCheckpointManagerBase,
        "async_serialize": async_serialize,
        "get_tensorstore_spec": get_tensorstore_spec,
        "run_deserialization": run_deserialization,
        "run_serialization": run_serialization,
    }.items()
}
"""Old path -> object."""
