"""Between what the program of one process sees and the arrays of the whole mesh, by the rule of old pjit."""

from __future__ import annotations

import functools
import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax._src.array import ArrayImpl
from jax.core import ShapedArray

from . import arrays, indices, specs, state
from .resources import P, check_axes, check_fits

Mesh = Any
Spec = Any
"""Of the installed JAX, whose types are not looked at."""


@dataclass(frozen=True, slots=True)
class HostLocal:
    """Where the pieces of a host-local array lie in the array of the whole mesh; the recorder reads it."""

    shape: tuple[int, ...]
    """Of the array of the whole mesh."""
    indices: tuple[indices.Index, ...]
    """In it, for each buffer."""
    replica_ids: tuple[int, ...]


def assemble(shape: Sequence[int], dtype: Any, sharding: Any, buffers: Sequence[Any], *, weak: bool = False) -> jax.Array:
    """The array of the whole mesh, of which this process has the given buffers."""
    aval = ShapedArray(tuple(shape), dtype, weak_type=weak)
    return ArrayImpl(aval, sharding, list(buffers), committed=True)


@dataclass(frozen=True, slots=True)
class Inward:
    """How a host-local array becomes one of the whole mesh."""

    shape: tuple[int, ...]
    """Of the array of the whole mesh."""
    placed: tuple[indices.Placed, ...]
    sharding: Any


@functools.lru_cache(maxsize=4096)
def _inward(shape: tuple[int, ...], spec: Spec, mesh: Mesh, process: int, version: state.Version) -> Inward:
    check_axes(spec, mesh)
    check_fits(shape, spec, indices.axis_sizes(_visible(mesh, spec)), "pjit arguments")
    return Inward(
        shape=indices.global_shape(shape, spec, mesh, process, version),
        placed=tuple(indices.place(shape, spec, mesh, process, version)),
        sharding=jax.sharding.NamedSharding(mesh, spec),
    )


def to_global(value: Any, mesh: Mesh, spec: Spec, call: Call) -> jax.Array:
    """Cut a host-local value of this process into the pieces of its devices."""
    if not is_array(value) and not is_scalar(value):
        value = np.asarray(value)
    way = _inward(tuple(np.shape(value)), spec, mesh, jax.process_index(), state.version)
    call.observe(value, way.placed, mesh, spec)
    weak = is_scalar(value) or bool(getattr(value, "weak_type", False))
    if is_scalar(value):
        # A scalar of Python has a weak type, which a new array would not have.
        value = jax.numpy.asarray(value)
    buffers = _pieces(value, way.placed)
    return assemble(way.shape, buffers[0].dtype, way.sharding, buffers, weak=weak)


def _visible(mesh: Mesh, spec: Spec) -> indices.MeshLike:
    """The mesh that cuts what the program of this process sees."""
    if indices.is_replicated(spec, indices.axis_sizes(mesh), state.version):
        return indices.SubMesh(mesh.devices, mesh.axis_names)
    return indices.local_mesh(mesh, jax.process_index(), state.version)


def _pieces(value: Any, placed: Sequence[indices.Placed]) -> list[Any]:
    ready = _buffers_in_place(value, placed)
    if ready is not None:
        return ready
    host = np.asarray(value)
    return [jax.device_put(host[p.local_index], p.device) for p in placed]


def _buffers_in_place(value: Any, placed: Sequence[indices.Placed]) -> list[Any] | None:
    """The buffers of a value that lies already as it should, as those of a result of pjit usually do."""
    if not isinstance(value, arrays.HostLocalArray):
        return None
    if len(value.device_buffers or ()) != len(placed):
        return None
    for index, buffer, wanted in zip(value.indices, value.device_buffers or (), placed, strict=True):
        if buffer.sharding.device_set != {wanted.device} or index != wanted.local_index:
            return None
    return list(value.device_buffers or ())


def donates() -> bool:
    """Whether arguments can be given away; on CPUs they stayed usable until then."""
    return jax.default_backend() != "cpu" or state.version >= (0, 3, 25)


def is_array(value: object) -> bool:
    """Whether it is an array of old JAX or NumPy."""
    return isinstance(value, (np.ndarray, np.generic, jax.Array, arrays.HostLocalArray))


def is_scalar(value: object) -> bool:
    """Whether it is a number of Python, whose type is weak."""
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


@dataclass(frozen=True, slots=True)
class Outward:
    """How a result of the whole mesh becomes what the program of one process sees."""

    shape: tuple[int, ...]
    devices: tuple[int, ...]
    indices: tuple[indices.Index, ...]
    sharding_spec: Any
    placement: HostLocal | None


@functools.lru_cache(maxsize=4096)
def _outward(whole: tuple[int, ...], spec: Spec, mesh: Mesh, process: int, version: state.Version) -> Outward:
    box = indices.local_mesh(mesh, process, version)
    shape = indices.local_shape(whole, spec, mesh, process, version)
    placed = indices.place(shape, spec, mesh, process, version)
    placement = HostLocal(whole, tuple(p.global_index for p in placed), tuple(p.replica_id for p in placed))
    return Outward(
        shape=shape,
        devices=tuple(p.device.id for p in placed),
        indices=tuple(p.local_index for p in placed),
        sharding_spec=_sharding_spec(len(shape), box, spec),
        placement=placement if indices.is_multi_process(mesh, process) else None,
    )


def to_local(whole: jax.Array, mesh: Mesh, spec: Spec) -> Any:
    """What the program of this process saw of a result: a host-local ShardedDeviceArray."""
    way = _outward(tuple(whole.shape), spec, mesh, jax.process_index(), state.version)
    held = {shard.device.id: shard.data for shard in whole.addressable_shards}
    aval = ShapedArray(way.shape, whole.dtype, weak_type=bool(getattr(whole, "weak_type", False)))
    result = arrays.make_sharded_device_array(aval, way.sharding_spec, [held[device] for device in way.devices], way.indices)
    result._placement = way.placement
    return result


def _sharding_spec(rank: int, box: indices.MeshLike, spec: Spec) -> Any:
    mapping = {axis: dim for dim, axes in enumerate(indices.parse_spec(spec)) for axis in axes}
    return specs.new_mesh_sharding_specs(indices.axis_sizes(box), box.axis_names)(rank, mapping)


def to_gda(whole: jax.Array, mesh: Mesh, spec: Spec) -> Any:
    """A result as a GlobalDeviceArray."""
    held = {shard.device.id: shard.data for shard in whole.addressable_shards}
    buffers = [held[device.id] for device in indices.local_devices(mesh, jax.process_index())]
    return arrays.GlobalDeviceArray(tuple(whole.shape), mesh, _spelled(spec, mesh, whole.ndim), buffers)


def _spelled(spec: Spec, mesh: Mesh, rank: int) -> Spec:
    """The spec of a result, which came back from XLA's own form since 0.3.16."""
    sizes = indices.axis_sizes(mesh)
    if state.version < (0, 3, 16):
        return spec
    if indices.is_replicated(spec, sizes, state.version):
        return P()
    parts = [tuple(axis for axis in axes if sizes[axis] > 1) for axes in indices.parse_spec(spec)]
    parts += [()] * (rank - len(parts))
    return P(*(None if not axes else axes[0] if len(axes) == 1 else axes for axes in parts[:rank]))


def from_gda(gda: Any) -> jax.Array:
    """The array that JAX of today has for a GlobalDeviceArray."""
    return assemble(gda.shape, gda.dtype, gda_sharding(gda), gda._device_buffers)


def gda_sharding(gda: Any) -> Any:
    """How a GlobalDeviceArray is cut, in the words of today."""
    return jax.sharding.NamedSharding(gda.mesh, P(*gda.mesh_axes))


_calls = 0
_meshes: set[object] = set()


def reset() -> None:
    """Count calls from the start again."""
    global _calls
    _calls = 0
    _meshes.clear()


class Call:
    """One call of a pjit-ed function; numbered, since every process makes the same calls."""

    def __init__(self, mesh: Mesh) -> None:
        global _calls
        self._argument = -1
        self._number = 0
        self._listening = state.observed() and jax.process_count() > 1
        if self._listening:
            self._number = _calls = _calls + 1
            _report_mesh(mesh)

    def next_argument(self) -> None:
        """Go on to the next leaf of the arguments."""
        self._argument += 1

    def observe(self, value: Any, placed: Sequence[indices.Placed], mesh: Mesh, spec: Spec) -> None:
        """Report the pieces that other processes must hold as well, so that the values can be compared."""
        if not self._listening or not indices.is_multi_process(mesh, jax.process_index()):
            return
        host = np.asarray(value)
        for where, piece in _shared(spec, placed, mesh).items():
            data = np.ascontiguousarray(host[piece])
            digest = hashlib.sha1(data.tobytes(), usedforsecurity=False).hexdigest()
            state.report("replicated-input", f"call {self._number} argument {self._argument} index {where}", digest)


def _shared(spec: Spec, placed: Sequence[indices.Placed], mesh: Mesh) -> dict[object, indices.Index]:
    """Global index -> local index of the pieces that devices of other processes hold as well."""
    sizes = indices.axis_sizes(mesh)
    cuts = math.prod(sizes[axis] for axes in indices.parse_spec(spec) for axis in axes)
    here = Counter(indices.key(p.global_index) for p in placed)
    shared = [p for p in placed if here[indices.key(p.global_index)] < mesh.devices.size // cuts]
    return {indices.key(p.global_index): p.local_index for p in shared}


def _report_mesh(mesh: Mesh) -> None:
    key = (tuple(device.id for device in mesh.devices.flat), mesh.devices.shape, mesh.axis_names)
    if key in _meshes:
        return
    _meshes.add(key)
    for process in sorted({device.process_index for device in mesh.devices.flat}):
        try:
            indices.local_mesh(mesh, process, state.version)
        except ValueError:
            ids = [device.id for device in indices.local_devices(mesh, process)]
            state.report(
                "non-contiguous-mesh",
                f"mesh {dict(mesh.shape)} of devices {[device.id for device in mesh.devices.flat]}",
                f"the devices {ids} of process {process} are no contiguous block of the mesh",
            )
