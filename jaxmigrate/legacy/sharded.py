"""ShardedDeviceArray: what pmap and pjit gave before jax.Array, one array in the buffers of this process's devices.

To the installed JAX it is an array that it has to fetch: computations see the whole value on the default device, as they did.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

import jax
import numpy as np
from jax._src.array import ArrayImpl
from jax._src.core import ShapedArray
from jax._src.mesh import thread_resources

from . import indices as rules
from . import single, state
from .gda import device_of
from .indices import Index, Shape
from .single import Aval
from .specs import (
    PmapSharding,
    ShardingSpec,
    Unstacked,
    assignments,
    create_pmap_sharding_spec,
    cuts,
    spec_to_indices,
)

LOST = {
    "broadcast": single.broadcast,
    "broadcast_in_dim": single.broadcast_in_dim,
    "split": single.split,
    "block_host_until_ready": single.block_host_until_ready,
}
"""Members that the installed JAX's own arrays need not have."""
NEVER = [
    "addressable_data",
    "global_shards",
    "is_fully_addressable",
    "is_fully_replicated",
    "committed",
    "device",
    "mT",
    "to_device",
    "byteswap",
]
"""Members of jax.Array that a ShardedDeviceArray inherits and never had."""


class _Absent:
    """Hides an inherited member, unless the array knows itself as one of the new class."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: HostLocalArray | None, owner: type) -> object:
        if instance is None or instance._new is None:
            raise AttributeError(f"'{owner.__name__}' object has no attribute '{self.name}'")
        return getattr(instance._new, self.name)


class _Meta(type(jax.Array)):  # type: ignore[misc]
    """Lets arrays of the installed JAX on several devices pass for the class that their kind had."""

    def __instancecheck__(cls, x: object) -> bool:
        if cls in (ShardedDeviceArrayBase, _ShardedDeviceArray) and isinstance(x, ArrayImpl):
            return not state.jax_array() and not single.is_single(x)
        return issubclass(type(x), cls)

    def __subclasscheck__(cls, other: type) -> bool:
        return type.__subclasscheck__(ShardedDeviceArrayBase if cls is _ShardedDeviceArray else cls, other)


class HostLocalArray(jax.Array, metaclass=_Meta):  # type: ignore[misc]
    """An array in the buffers of this process, which the installed JAX cannot lay out itself."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]
    _placement: object = None
    """Where the data lie in a global array of several processes: its shape, the indices and the replica ids of the buffers."""
    _new: jax.Array | None = None
    """The same data as a global array of the new class, for programs that use members of both times."""
    _title = "ShardedDeviceArray"
    _whole: object = None
    """The installed JAX's own array of the same data, where there is one."""

    def __init__(
        self, aval: Aval, sharding_spec: ShardingSpec, device_buffers: Sequence[jax.Array], indices: Sequence[Index] | None = None
    ) -> None:
        self.aval = aval
        self.sharding_spec = sharding_spec
        self.device_buffers: Sequence[jax.Array] | None = device_buffers
        self.indices = spec_to_indices(aval.shape, sharding_spec) if indices is None else indices
        self._npy_value: np.ndarray | None = None
        self._one_replica_buffer_indices: list[int] | None = None

    @property
    def shape(self) -> Shape:
        """Shape that this process sees."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.aval.shape)

    @property
    def weak_type(self) -> bool:
        """Whether the type yields to others."""
        return bool(getattr(self.aval, "weak_type", False))

    @property
    def one_replica_buffer_indices(self) -> list[int]:
        """Positions of buffers that together hold the array once."""
        if self._one_replica_buffer_indices is None:
            self._one_replica_buffer_indices = rules.one_replica(self.indices)
        return self._one_replica_buffer_indices

    @property
    def sharding(self) -> jax.sharding.Sharding | None:
        """The layout of pmap; nothing to the installed JAX, which could make nothing of it."""
        if sys._getframe(1).f_globals.get("__name__", "").startswith("jax._src."):
            return None
        return self._layout() if self._new is None else self._new.sharding

    def _layout(self) -> PmapSharding:
        if any(isinstance(part, Unstacked) for part in self.sharding_spec.sharding):
            return PmapSharding(np.array([device_of(buffer) for buffer in self._buffers()]), self.sharding_spec)
        raise NotImplementedError(
            "SDAs that are the output of pjit/xmap do not have the sharding attribute implemented. If you are trying to pass the "
            "SDA to pjit/xmap, please use multihost_utils.host_local_array_to_global_array(...) to convert SDAs to global "
            "`jax.Array` and then pass them to pjit/xmap with `jax_array` enabled."
        )

    @property
    def addressable_shards(self) -> Sequence[PmapShard]:
        """The data of each device of this process."""
        if self._new is not None:
            return self._new.addressable_shards  # type: ignore[no-any-return]
        layout = self._layout()
        return [PmapShard(device_of(buffer), layout, self.shape, buffer) for buffer in self._buffers()]

    def _buffers(self) -> Sequence[jax.Array]:
        return self.device_buffers  # type: ignore[return-value]

    def _check_if_deleted(self) -> None:
        if self.device_buffers is None:
            raise ValueError("ShardedDeviceArray has been deleted.")

    def delete(self) -> None:
        """Free the data of this process."""
        if self.device_buffers is None:
            return
        for buffer in self.device_buffers:
            buffer.delete()
        self.device_buffers = None
        self._npy_value = None

    def block_until_ready(self) -> HostLocalArray:
        """Wait for the data."""
        self._check_if_deleted()
        for buffer in self._buffers():
            buffer.block_until_ready()
        return self

    def copy_to_host_async(self) -> None:
        """Begin to fetch the data."""
        for position in self.one_replica_buffer_indices:
            self._buffers()[position].copy_to_host_async()

    @property
    def _value(self) -> np.ndarray:
        if self._npy_value is None:
            self.copy_to_host_async()
            value = np.empty(self.aval.shape, self.aval.dtype)
            for position in self.one_replica_buffer_indices:
                value[self.indices[position]] = np.asarray(self._buffers()[position])
            self._npy_value = value
        return self._npy_value

    def __array__(self, dtype: object = None, context: object = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._value, dtype=dtype)

    def to_py(self) -> np.ndarray:
        """The value as a NumPy array."""
        return single.to_py(self)

    def __getitem__(self, idx: object) -> object:
        self._check_if_deleted()
        picked = idx if isinstance(idx, tuple) else (idx,)
        whole = picked + (slice(None),) * (self.ndim - len(picked))
        if self._npy_value is None:
            try:
                position = tuple(self.indices).index(whole)
            except ValueError:
                return as_array(self)[idx]
            return single.rewrap(self._buffers()[position], weak_type=False, committed=False)
        return as_array(self)[idx]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[object]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __reversed__(self) -> Iterator[object]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0] - 1, -1, -1))

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self._value,)

    def __repr__(self) -> str:
        prefix = self._title + "("
        width = np.get_printoptions()["linewidth"]
        text = np.array2string(self._value, prefix=prefix, suffix=",", separator=", ", max_line_width=width)
        dtype = f"dtype={self.dtype.name}, weak_type=True)" if self.weak_type else f"dtype={self.dtype.name})"
        last = len(text) - text.rfind("\n") + 1
        gap = "\n" + " " * len(prefix) if last + len(dtype) + 1 > width else " "
        return f"{prefix}{text},{gap}{dtype}"


class ShardedDeviceArrayBase(HostLocalArray):
    """The type that ``isinstance`` was asked about."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or self._new is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(self._new, name)


class _ShardedDeviceArray(ShardedDeviceArrayBase):
    """The class for buffers that are not JAX's own; stands for the other class as well where a program tests for it."""


class CppShardedDeviceArray(ShardedDeviceArrayBase):
    """The class of what pmap and pjit gave."""


class PmapArray(HostLocalArray):
    """What pmap gave once arrays were of the one new class: the same data, with the members of jax.Array."""

    _title = "Array"
    is_fully_addressable = True
    committed = _committed = True

    @property
    def is_fully_replicated(self) -> bool:
        """Whether nothing is cut."""
        return not rules.cut_sizes(cuts(self.sharding_spec))

    @property
    def global_shards(self) -> Sequence[PmapShard]:
        """The same as `addressable_shards`."""
        return self.addressable_shards

    def addressable_data(self, index: int) -> jax.Array:
        """The data at a position among the devices."""
        self._check_if_deleted()
        return self._buffers()[index]

    def devices(self) -> single.DeviceList:
        """The devices."""
        return single.DeviceList(device_of(buffer) for buffer in self._buffers())

    @property
    def device(self) -> Callable[[], object]:
        """A function that says that there are several."""
        return single.several

    @property
    def device_buffer(self) -> NoReturn:
        """There are several."""
        raise ValueError("Length of buffers is greater than 1. Please use `.device_buffers` instead.")

    def unsafe_buffer_pointer(self) -> NoReturn:
        """There are several."""
        raise ValueError("unsafe_buffer_pointer() is supported only for unsharded arrays.")

    def on_device_size_in_bytes(self) -> int:
        """Size of all buffers together."""
        return sum(buffer.on_device_size_in_bytes() for buffer in self._buffers())

    def platform(self) -> str:
        """Kind of the devices."""
        return str(self._buffers()[0].platform())

    def copy(self) -> PmapArray:
        """The same in other buffers."""
        return PmapArray(self.aval, self.sharding_spec, [buffer.copy() for buffer in self._buffers()], self.indices)

    def is_deleted(self) -> bool:
        """Whether the data were freed."""
        return self.device_buffers is None

    def _buffers(self) -> Sequence[jax.Array]:
        self._check_if_deleted()
        return self.device_buffers  # type: ignore[return-value]

    def _check_if_deleted(self) -> None:
        if self.device_buffers is None:
            raise RuntimeError("Array has been deleted.")


class PmapShard:
    """A shard of a ShardedDeviceArray: jax.Array's Shard of the time, which was no dataclass."""

    def __init__(self, device: object, sharding: PmapSharding, global_shape: Shape, data: object = None) -> None:
        self.device = device
        self.data = data
        self._sharding = sharding
        self._global_shape = global_shape

    @property
    def index(self) -> Index:
        """The index that the device holds."""
        return self._indices()[self.device]

    @property
    def replica_id(self) -> int:
        """How many devices before this one hold the same."""
        ids = dict(zip(self._indices(), rules.replica_ids(self._indices().values()), strict=True))
        return ids[self.device]

    def _indices(self) -> dict[object, Index]:
        return dict(self._sharding.devices_indices_map(self._global_shape))

    def __repr__(self) -> str:
        return f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, data={self.data})"


ShardedDeviceArray = ShardedDeviceArrayBase
single.SHARDED.append(ShardedDeviceArrayBase)
CppShardedDeviceArray.__name__ = CppShardedDeviceArray.__qualname__ = "ShardedDeviceArray"
CppShardedDeviceArray.__module__ = ShardedDeviceArrayBase.__module__ = "jaxlib.xla_extension.pmap_lib"
_ShardedDeviceArray.__module__ = "jax._src.interpreters.pxla"
PmapShard.__name__ = PmapShard.__qualname__ = "Shard"
PmapShard.__module__ = "jax._src.array"
PmapArray.__name__ = PmapArray.__qualname__ = "ArrayImpl"
PmapArray.__module__ = "jaxlib.xla_extension"


def as_array(array: HostLocalArray) -> jax.Array:
    """The whole value on the default device, which is where old computations fetched it to."""
    array._check_if_deleted()
    whole = jax.device_put(array._value)
    return single.rewrap(whole, weak_type=True, committed=False) if array.weak_type else whole


def abstract(array: HostLocalArray) -> ShapedArray:
    """The abstract value, as the installed JAX wants it."""
    return ShapedArray(array.shape, array.dtype, weak_type=array.weak_type)


def _restore(value: np.ndarray) -> jax.Array:
    """Unpickle: as arrays of one device came back, so did these."""
    return jax.device_put(value)


def _computed(name: str) -> Callable[..., object]:
    def method(self: HostLocalArray, *args: object, **kwargs: object) -> object:
        return getattr(as_array(self), name)(*args, **kwargs)

    method.__name__ = name
    return method


def _on_host(name: str) -> Callable[..., object]:
    def method(self: HostLocalArray, *args: object, **kwargs: object) -> object:
        return getattr(self._value, name)(*args, **kwargs)

    method.__name__ = name
    return method


def _computed_property(name: str) -> property:
    return property(lambda self: getattr(as_array(self), name))


def _fill() -> None:
    for name in [*single.METHODS, *single.OPERATORS]:
        if hasattr(ArrayImpl, name):
            setattr(HostLocalArray, name, _computed(name))
    for name in single.VALUE_METHODS:
        setattr(HostLocalArray, name, _on_host(name))
    for name in single.PROPERTIES:
        setattr(HostLocalArray, name, _computed_property(name))
    for name, member in LOST.items():
        setattr(HostLocalArray, name, member)
    for name in NEVER:
        setattr(ShardedDeviceArrayBase, name, _Absent(name))


_fill()


def make_sharded_device_array(
    aval: Aval,
    sharding_spec: ShardingSpec | None,
    device_buffers: Sequence[jax.Array],
    indices: Sequence[Index] | None = None,
) -> jax.Array:
    """An array from the buffers of this process's devices; without a spec, the first dimension lies over them as in pmap."""
    if sharding_spec is None:
        sharding_spec = create_pmap_sharding_spec(aval)
    if state.jax_array() and state.version >= (0, 4, 1):
        return _new_array(aval, sharding_spec, device_buffers)
    ours = not device_buffers or isinstance(device_buffers[0], ArrayImpl)
    return (CppShardedDeviceArray if ours else _ShardedDeviceArray)(aval, sharding_spec, device_buffers, indices)


def _new_array(aval: Aval, spec: ShardingSpec, buffers: Sequence[jax.Array]) -> jax.Array:
    """An array of the new class: laid out as pmap does, or by the mesh whose context is open."""
    mesh = thread_resources.env.physical_mesh
    if mesh.empty:
        return PmapArray(aval, spec, buffers)
    if any(isinstance(part, Unstacked) for part in spec.sharding):
        raise RuntimeError("Cannot convert unstacked sharding specs to XLA OpSharding")
    axis_of = {number: axis for axis, number in zip(mesh.axis_names, assignments(spec), strict=True)}
    numbers = itertools.count()
    entries = [tuple(axis_of[next(numbers)] for _ in cut or ()) or None for cut in cuts(spec)]  # type: ignore[union-attr]
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*entries))
    return jax.make_array_from_single_device_arrays(aval.shape, sharding, list(buffers))
