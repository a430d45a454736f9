"""GlobalDeviceArray as it was from 0.2.26 to 0.4.6: one array over the devices of a mesh, each process holding its own part.

The rules for what lies where are those of `indices`; the buffers are single-device arrays of the installed JAX, or anything
that has ``device``, ``shape`` and ``dtype``.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import jax
import numpy as np
from jax.sharding import PartitionSpec

from . import indices as rules
from . import state
from .indices import Index, Shape
from .specs import ShardingSpec, new_mesh_sharding_specs

DEPRECATION = (
    "GlobalDeviceArray has been deprecated. Please migrate to jax.Array. "
    "See https://jax.readthedocs.io/en/latest/jax_array_migration.html#jax-array-migration "
    "on how to migrate to jax.Array."
)
NO_EQUALITY = (
    "GlobalDeviceArray equality is intentionally unimplemented. Implement desired functionality explicitly, e.g. to check if all "
    "values are equal: pjit(lambda x, y: x == y, {}=FROM_GDA, {}=None)"
)
WRONG_ORDER = (
    "The `global_mesh.local_devices` and `device_buffers` device order doesn't match. Please use `global_mesh.local_devices` to "
    "put arrays on devices instead of `jax.local_devices()`"
)


_new_array = jax.make_array_from_single_device_arrays


class Device(Protocol):
    """What a GlobalDeviceArray asks of a device."""

    @property
    def process_index(self) -> int:
        """The process that the device belongs to."""

    @property
    def client(self) -> Client:
        """The backend that this process reaches the device through."""


class Client(Protocol):
    """What a GlobalDeviceArray asks of a backend."""

    def process_index(self) -> int:
        """The number of this process."""


class Mesh(Protocol):
    """What a GlobalDeviceArray asks of a mesh."""

    @property
    def devices(self) -> np.ndarray:
        """The devices."""

    @property
    def shape(self) -> Mapping[Hashable, int]:
        """Sizes by axis."""


class Buffer(Protocol):
    """What a GlobalDeviceArray asks of the data on one device."""

    @property
    def shape(self) -> Shape:
        """Shape of the piece."""

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""

    def block_until_ready(self) -> object:
        """Wait for the data."""

    def delete(self) -> None:
        """Free the data."""


@dataclass(frozen=True)
class Shard:
    """A piece of a global array: its device, index, number among the copies, and data unless the device is another process's."""

    device: Device
    index: Index
    replica_id: int
    data: Buffer | None = None


class _GdaFastPathArgs(NamedTuple):
    global_indices_replica_ids: Mapping[Device, tuple[Index, int]]
    local_devices: Sequence[Device]


def safe_zip(*columns: Iterable[object]) -> list[tuple[object, ...]]:
    """Zip columns of the same length; JAX's error for others."""
    lists = [list(column) for column in columns]
    lengths = [len(column) for column in lists]
    assert len(set(lengths)) == 1, f"length mismatch: {lengths}"
    return list(zip(*lists, strict=True))


def device_of(buffer: object) -> object:
    """The device of a buffer, whose ``device`` was a method once and is a property now."""
    if isinstance(buffer, np.ndarray):
        raise AttributeError("'numpy.ndarray' object has no attribute 'device'")
    device = buffer.device  # type: ignore[attr-defined]
    return device() if callable(device) else device


def local_devices(mesh: Mesh) -> list[Device]:
    """The devices of this process, in the order of the mesh."""
    return [device for device in mesh.devices.flat if device.process_index == device.client.process_index()]


# Indices and shapes


def get_shard_indices(global_shape: Shape, global_mesh: Mesh, mesh_axes: object) -> dict[Device, Index]:
    """The index that each device of the mesh holds."""
    shape, axes = _arguments(global_shape, global_mesh, mesh_axes)
    return dict(zip(global_mesh.devices.flat, _indices(shape, global_mesh, axes), strict=True))


def get_shard_indices_replica_ids(global_shape: Shape, global_mesh: Mesh, mesh_axes: object) -> dict[Device, tuple[Index, int]]:
    """The index that each device of the mesh holds, and how many devices before it hold the same."""
    shape, axes = _arguments(global_shape, global_mesh, mesh_axes)
    indices = _indices(shape, global_mesh, axes)
    get_shard_shape(shape, global_mesh, axes)  # Raises for axes that are None, which the index rules take for P().
    pairs = zip(indices, rules.replica_ids(indices), strict=True)
    return dict(zip(global_mesh.devices.flat, pairs, strict=True))


def get_shard_shape(global_shape: Shape, global_mesh: Mesh, mesh_axes: object) -> Shape:
    """Shape of one device's piece."""
    shape, axes = _arguments(global_shape, global_mesh, mesh_axes)
    return rules.shard_shape(shape, axes, global_mesh.shape)  # type: ignore[arg-type]


def _hashed_index(index: Index) -> int:
    return hash(rules.key(index))


def _get_sharding_spec(global_shape: Shape, global_mesh: Mesh, mesh_axes: object) -> ShardingSpec:
    """The ShardingSpec of an array over a mesh."""
    plain = rules.parse_spec(_spec(mesh_axes), rules.spec_title(state.version))
    axes = {axis: dim for dim, names in enumerate(plain) for axis in names}
    rules.check_divisible(global_shape, plain, global_mesh.shape, state.version)
    return new_mesh_sharding_specs(global_mesh.shape, list(global_mesh.shape))(len(global_shape), axes)


def _arguments(shape: object, mesh: object, axes: object) -> tuple[Shape, object]:
    """What the cached functions of the time saw: lists made tuples before 0.3.14, and a TypeError for them from then on."""
    if state.version < (0, 3, 14):
        shape = tuple(shape) if isinstance(shape, list) else shape
        axes = tuple(axes) if isinstance(axes, list) else axes
    hash((shape, mesh, axes))
    return shape, axes  # type: ignore[return-value]


def _indices(shape: Shape, mesh: Mesh, axes: object) -> list[Index]:
    spec = _spec(axes)
    rules.parse_spec(spec, rules.spec_title(state.version))
    shape = tuple(shape)
    if not all(isinstance(n, int | np.integer) for n in shape):
        raise TypeError(f"Shapes must be 1D sequences of concrete values of integer type, got {shape}.")
    return rules.shard_indices(shape, spec, mesh.shape, state.version)


def _spec(axes: object) -> Iterable[object] | None:
    """The entries of a PartitionSpec, or an error that names the first thing that is none."""
    if axes is None:
        return None
    if isinstance(axes, PartitionSpec):
        if PartitionSpec.UNCONSTRAINED in tuple(axes):
            raise ValueError(f"Unconstrained dims are not allowed: {rules.spec_text(axes)}")
        return axes  # type: ignore[no-any-return]
    if state.version < (0, 3, 2) and isinstance(axes, Sequence):
        return axes
    strangers = [leaf for leaf in jax.tree_util.tree_leaves(axes) if not isinstance(leaf, PartitionSpec)]
    if strangers:
        raise TypeError(
            f"{rules.spec_title(state.version)} leaf specifications are expected to be PartitionSpec instances or None, "
            f"but got {strangers[0]}"
        )
    return ()


# Arrays


class GlobalDeviceArray:
    """A logical array whose data are spread over the devices of a mesh, of all processes together."""

    dtype: np.dtype
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        global_shape: Shape,
        global_mesh: Mesh,
        mesh_axes: object,
        device_buffers: Sequence[Buffer],
        _gda_fast_path_args: _GdaFastPathArgs | None = None,
        _enable_checks: bool = True,
    ) -> None:
        if state.version >= (0, 4, 6):
            warnings.warn(DEPRECATION, DeprecationWarning, stacklevel=1)
        self._global_shape = global_shape
        self._global_mesh = global_mesh
        self._mesh_axes = mesh_axes
        if (0, 3, 17) <= state.version < (0, 4, 5):
            _ = device_buffers[0]  # The first buffer was looked at before they were counted.
        self._device_buffers: Sequence[Buffer] | None = device_buffers
        self._gda_fast_path_args = _gda_fast_path_args
        if state.version < (0, 3, 24):
            self._current_process = jax.process_index()
        fast = _gda_fast_path_args
        self._local_devices = local_devices(global_mesh) if fast is None else fast.local_devices
        if _enable_checks:
            self._check_places(device_buffers)
        self.dtype = device_buffers[0].dtype
        if _enable_checks:
            self._check_dtypes(device_buffers)

    def _check_places(self, buffers: Sequence[Buffer]) -> None:
        for buffer, device in safe_zip(buffers, self._local_devices):
            if device_of(buffer) != device:
                raise ValueError(WRONG_ORDER)
        expected = get_shard_shape(self._global_shape, self._global_mesh, self._mesh_axes)
        assert all(buffer.shape == expected for buffer in buffers), (
            f"Expected shard shape {expected} doesn't match the device buffer shape, got: {[buffer.shape for buffer in buffers]}"
        )

    def _check_dtypes(self, buffers: Sequence[Buffer]) -> None:
        assert all(buffer.dtype == self.dtype for buffer in buffers), (
            f"Input arrays to GlobalDeviceArray must have matching dtypes, got: {[buffer.dtype for buffer in buffers]}"
        )

    def __eq__(self, other: object) -> bool:
        names = ("in_shardings", "out_shardings") if state.version >= (0, 4, 5) else ("in_axis_resources", "out_axis_resources")
        raise NotImplementedError(NO_EQUALITY.format(*names))

    def __str__(self) -> str:
        return f"GlobalDeviceArray(shape={self.shape}, dtype={self.dtype})"

    def __repr__(self) -> str:
        axes = rules.spec_text(self.mesh_axes) if isinstance(self.mesh_axes, PartitionSpec) else self.mesh_axes
        sizes = dict(self.mesh.shape)
        return f"GlobalDeviceArray(shape={self.shape}, dtype={self.dtype}, global_mesh_shape={sizes}, mesh_axes={axes})"

    @property
    def shape(self) -> Shape:
        """Global shape."""
        return self._global_shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of the whole array."""
        return math.prod(self.shape)

    @property
    def mesh(self) -> Mesh:
        """The mesh of all processes."""
        return self._global_mesh

    @property
    def mesh_axes(self) -> object:
        """The PartitionSpec."""
        return self._mesh_axes

    @property
    def sharding(self) -> jax.sharding.NamedSharding:
        """Mesh and spec in one."""
        return jax.sharding.NamedSharding(self._global_mesh, self._mesh_axes)

    @property
    def is_fully_replicated(self) -> bool:
        """Whether nothing is cut."""
        return self.shape == self.addressable_data(0).shape

    @functools.cached_property
    def local_shards(self) -> Sequence[Shard]:
        """The shards of this process, in the order of the mesh."""
        self._check_if_deleted()
        return self._create_local_shards()

    @property
    def _local_shards(self) -> Sequence[Shard]:
        if state.version >= (0, 3, 5):
            raise AttributeError("'GlobalDeviceArray' object has no attribute '_local_shards'")
        return self.local_shards

    def _create_local_shards(self) -> Sequence[Shard]:
        places = self._places()
        buffers = [(device_of(buffer), buffer) for buffer in self._buffers()]
        return [Shard(device, *places[device], buffer) for device, buffer in buffers]  # type: ignore[arg-type, index]

    def _places(self) -> Mapping[Device, tuple[Index, int]]:
        if self._gda_fast_path_args is not None:
            return self._gda_fast_path_args.global_indices_replica_ids
        return get_shard_indices_replica_ids(self._global_shape, self._global_mesh, self._mesh_axes)

    @functools.cached_property
    def addressable_shards(self) -> Sequence[Shard]:
        """The same list as `local_shards`."""
        self._check_if_deleted()
        return self.local_shards

    @property
    def global_shards(self) -> Sequence[Shard]:
        """The shards of all processes, in the order of the mesh; those of others without data."""
        self._check_if_deleted()
        if self._global_mesh.devices.size == len(self._local_devices):
            return self.addressable_shards
        data = {device_of(buffer): buffer for buffer in self._buffers()}
        places = get_shard_indices_replica_ids(self._global_shape, self._global_mesh, self._mesh_axes)
        mine = set(self._local_devices)
        return [
            Shard(device, index, replica, data[device] if device in mine else None) for device, (index, replica) in places.items()
        ]

    @property
    def _value(self) -> np.ndarray:
        self._check_if_deleted()
        if self.is_fully_replicated:
            return np.asarray(self._buffers()[0])
        if self._global_mesh.devices.size != len(self._local_devices):
            raise RuntimeError(
                "Fetching value for GDA that spans non-addressable devices is not possible. You can use "
                "`jax.experimental.multihost_utils.process_allgather` for this use case."
            )
        whole = np.empty(self.shape, self.dtype)
        for shard in self.addressable_shards:
            if shard.replica_id == 0:
                whole[shard.index] = np.asarray(shard.data)
        return whole

    def __array__(self, dtype: object = None, context: object = None, copy: bool | None = None) -> np.ndarray:
        self._check_if_deleted()
        return self._value if dtype is None else self._value.astype(dtype)

    def local_data(self, index: int) -> Buffer:
        """The data at a position among the local devices of the mesh."""
        self._check_if_deleted()
        buffer = self._buffers()[index]
        if isinstance(buffer, list | tuple):
            raise AttributeError(f"'{type(buffer).__name__}' object has no attribute 'aval'")
        return buffer

    def addressable_data(self, index: int) -> Buffer:
        """The same as `local_data`."""
        self._check_if_deleted()
        return self.local_data(index)

    def block_until_ready(self) -> GlobalDeviceArray:
        """Wait for the data of this process."""
        self._check_if_deleted()
        for buffer in self._buffers():
            buffer.block_until_ready()
        return self

    def _buffers(self) -> Sequence[Buffer]:
        assert self._device_buffers is not None
        return self._device_buffers

    def _check_if_deleted(self) -> None:
        if self.is_deleted():
            raise RuntimeError("GlobalDeviceArray has been deleted.")

    def is_deleted(self) -> bool:
        """Whether the data of this process were freed."""
        return self._device_buffers is None

    def delete(self) -> None:
        """Free the data of this process."""
        for buffer in self._device_buffers:  # type: ignore[union-attr]
            buffer.delete()
        self._device_buffers = None

    @classmethod
    def from_callback(
        cls, global_shape: Shape, global_mesh: Mesh, mesh_axes: object, data_callback: Callable[[Index], object]
    ) -> object:
        """Ask for the data of each local device in turn, in the order of the mesh, copies included."""
        places = get_shard_indices_replica_ids(global_shape, global_mesh, mesh_axes)
        devices = local_devices(global_mesh)
        buffers = [device_put(data_callback(places[device][0]), device) for device in devices]
        return _finish(cls, global_shape, global_mesh, mesh_axes, buffers, _GdaFastPathArgs(places, devices))

    @classmethod
    def from_batched_callback(
        cls, global_shape: Shape, global_mesh: Mesh, mesh_axes: object, data_callback: Callable[[Sequence[Index]], object]
    ) -> object:
        """Ask once for the data of all local devices, copies included."""
        places = get_shard_indices_replica_ids(global_shape, global_mesh, mesh_axes)
        devices = local_devices(global_mesh)
        arrays = data_callback([places[device][0] for device in devices])
        buffers = [_device_put_leaf(array, device) for array, device in safe_zip(arrays, devices)]  # type: ignore[arg-type]
        return _finish(cls, global_shape, global_mesh, mesh_axes, buffers, _GdaFastPathArgs(places, devices))

    @classmethod
    def from_batched_callback_with_devices(
        cls,
        global_shape: Shape,
        global_mesh: Mesh,
        mesh_axes: object,
        data_callback: Callable[[Sequence[tuple[Index, tuple[Device, ...]]]], Sequence[object]],
    ) -> object:
        """Ask once, with the devices of each index together, for buffers in the order of the local devices."""
        places = get_shard_indices_replica_ids(global_shape, global_mesh, mesh_axes)
        devices = local_devices(global_mesh)
        groups: dict[Hashable, tuple[Index, list[Device]]] = {}
        for device in devices:
            index = places[device][0]
            groups.setdefault(rules.key(index), (index, []))[1].append(device)
        buffers = data_callback([(index, tuple(holders)) for index, holders in groups.values()])
        return _finish(cls, global_shape, global_mesh, mesh_axes, buffers, _GdaFastPathArgs(places, devices))


def _finish(
    cls: type[GlobalDeviceArray], shape: Shape, mesh: Mesh, axes: object, buffers: Sequence[object], fast: _GdaFastPathArgs
) -> object:
    """The result of a classmethod: an array of the new class once that was on, from 0.4.5."""
    if state.jax_array() and state.version >= (0, 4, 5):
        return _new_array(tuple(shape), jax.sharding.NamedSharding(mesh, axes), list(buffers))
    return cls(shape, mesh, axes, buffers, _gda_fast_path_args=fast)  # type: ignore[arg-type]


def device_put(value: object, device: object) -> object:
    """Put what a callback gave onto a device."""
    return jax.device_put(value, device)


def _device_put_leaf(value: object, device: object) -> object:
    if value is None or isinstance(value, list | tuple | dict | str):
        raise TypeError(f"No canonicalize_dtype handler for type: {type(value)}")
    return device_put(value, device)


def as_global_array(gda: GlobalDeviceArray) -> jax.Array:
    """The same data as an array of the new class; nothing is copied."""
    gda._check_if_deleted()
    axes = gda.mesh_axes if isinstance(gda.mesh_axes, PartitionSpec) else PartitionSpec(*gda.mesh_axes)  # type: ignore[misc]
    sharding = jax.sharding.NamedSharding(gda.mesh, axes)
    return _new_array(tuple(gda.shape), sharding, list(gda._buffers()))


def from_global_array(array: jax.Array, mesh: Mesh, spec: object) -> GlobalDeviceArray:
    """A GlobalDeviceArray of the data of an array that is laid out by this mesh and spec; nothing is copied."""
    there = {shard.device: shard.data for shard in array.addressable_shards}
    devices = local_devices(mesh)
    fast = _GdaFastPathArgs(get_shard_indices_replica_ids(array.shape, mesh, spec), devices)
    return GlobalDeviceArray(array.shape, mesh, spec, [there[device] for device in devices], fast, _enable_checks=False)


for _class in (GlobalDeviceArray, Shard, _GdaFastPathArgs):
    _class.__module__ = "jax._src.global_device_array"
