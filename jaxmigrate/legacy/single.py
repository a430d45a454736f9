"""DeviceArray: the types that old programs tested for, and the members that arrays of one device have lost since.

The arrays themselves are those of the installed JAX. `ARRAY_MEMBERS` and `DEVICE_MEMBERS` are to be set on its
classes. ``x.device()`` works although ``x.device`` is a property now, because devices become callable.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

import jax
import numpy as np
from jax._src.array import ArrayImpl
from jax._src.core import ShapedArray

from . import indices as rules
from . import state
from .specs import ShardingSpec, new_mesh_sharding_specs


class Aval(Protocol):
    """What an abstract value tells of an array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape."""

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""

    @property
    def weak_type(self) -> bool:
        """Whether the type yields to others."""


_METHODS = """
all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum diagonal dot flatten
item max mean min nonzero prod ptp ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take trace transpose var
view _split _multi_slice
"""
_BINARY = "add sub mul truediv floordiv divmod mod pow matmul and or xor lshift rshift"
_OPERATORS = "neg pos eq ne lt le gt ge abs invert round copy deepcopy contains dlpack dlpack_device"
_VALUE_METHODS = "tolist tobytes __str__ __format__ __float__ __int__ __complex__ __bool__ __index__"
_OTHERS = """
__getitem__ __len__ __iter__ __reversed__ __array__ block_until_ready copy_to_host_async delete is_deleted platform
unsafe_buffer_pointer
"""
METHODS = _METHODS.split()
"""Methods that compute."""
PROPERTIES = ["T", "real", "imag", "nbytes", "itemsize", "at", "flat"]
"""Properties that compute."""
OPERATORS = [f"__{prefix}{name}__" for prefix in ("", "r") for name in _BINARY.split()] + [f"__{n}__" for n in _OPERATORS.split()]
"""Special methods that compute."""
VALUE_METHODS = _VALUE_METHODS.split()
"""Methods that the value on the host answers."""
SHARDED: list[type] = []
"""Classes of sharded arrays that passed for DeviceArrays; the module that defines them adds them here."""


def is_single(x: object) -> bool:
    """Whether a value is an array of one device, and no tracer."""
    return isinstance(x, ArrayImpl) and len(x.sharding.device_set) == 1


class _DeviceArrayMeta(type):
    def __instancecheck__(cls, x: object) -> bool:
        return issubclass(type(x), cls)

    def __subclasscheck__(cls, other: type) -> bool:
        held = () if state.jax_array() else (ArrayImpl,)
        if cls is DeviceArray:
            held = (*held, *SHARDED)
        return type.__subclasscheck__(cls, other) or (cls in (DeviceArray, _DeviceArray) and issubclass(other, held))


class DeviceArray(metaclass=_DeviceArrayMeta):
    """The base class of arrays of one device and of ShardedDeviceArrays; tracers, GlobalDeviceArrays and new arrays are none."""


class _DeviceArray(DeviceArray):
    """The Python twin of the class that arrays had, for foreign backends; taken for that class here."""


DeviceArray.__module__ = "jaxlib.xla_extension"
DeviceArray.__name__ = DeviceArray.__qualname__ = "DeviceArrayBase"
_DeviceArray.__module__ = "jax._src.device_array"
Buffer = ArrayImpl
"""The class of arrays of one device: exactly that of the installed JAX's arrays, as ``type(x) is Buffer`` held."""
_CppDeviceArray = Buffer
DeviceArrayProtocol = object
device_array_types: list[type] = [Buffer, _DeviceArray]


def forward(name: str) -> Callable[..., object]:
    """A function that calls the method of this name of its first argument."""

    def method(self: object, *args: object, **kwargs: object) -> object:
        return getattr(self, name)(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def _fill() -> None:
    """Give the base class the methods that programs looked up on it."""
    for name in [*METHODS, *OPERATORS, *VALUE_METHODS, *_OTHERS.split(), *ARRAY_MEMBERS]:
        setattr(DeviceArray, name, forward(name))
    for name in PROPERTIES:
        setattr(DeviceArray, name, property(operator.attrgetter(name)))


def rewrap(buffer: jax.Array, weak_type: bool, committed: bool) -> jax.Array:
    """The same buffer with another weak type or another say on where computations run."""
    if buffer.weak_type == weak_type and buffer.committed == committed:
        return buffer
    aval = ShapedArray(buffer.shape, buffer.dtype, weak_type=weak_type)
    return ArrayImpl(aval, buffer.sharding, [buffer], committed=committed)


def make_device_array(aval: Aval, device: object, device_buffer: object) -> object:
    """An array from a buffer; with a device, computations follow it there."""
    if isinstance(device_buffer, ArrayImpl):
        return rewrap(device_buffer, bool(getattr(aval, "weak_type", False)), device is not None)
    return device_buffer


# Members


def to_py(self: jax.Array) -> np.ndarray:
    """The value as a NumPy array."""
    warnings.warn(
        "The .to_py() method on JAX arrays is deprecated. Use np.asarray(...) instead.", category=FutureWarning, stacklevel=2
    )
    return np.asarray(self)


def device_buffer(self: jax.Array) -> jax.Array:
    """The array itself, if it is on one device."""
    if len(self.sharding.device_set) > 1:
        raise ValueError("Length of buffers is greater than 1. Please use `.device_buffers` instead.")
    return self


def device_buffers(self: jax.Array) -> list[jax.Array]:
    """The data of each device of this process."""
    return [shard.data for shard in self.addressable_shards]


def block_host_until_ready(self: jax.Array) -> None:
    """Wait until the value is on the host."""
    np.asarray(self)


class DeviceList(list[object]):
    """The devices of an array, a list once and a set in what the installed JAX compares it with."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return set(self) == other if isinstance(other, set | frozenset) else list.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other


def device(self: jax.Array) -> object:
    """The device, which can be called; several devices give something that can only be called in vain."""
    held = self.sharding.device_set
    return next(iter(held)) if len(held) == 1 else several


def several() -> NoReturn:
    """What ``x.device()`` did for an array on several devices."""
    raise ValueError("Length of devices is greater than 1. Please use `.devices()`.")


def devices(self: jax.Array) -> DeviceList:
    """The devices of all processes that hold a part."""
    self._check_if_deleted()
    return DeviceList(self.sharding._device_assignment)


def sticky_device(self: jax.Array) -> object:
    """The device that computations follow, or None."""
    held = self.sharding.device_set
    return next(iter(held)) if self.committed and len(held) == 1 else None


def _old_sharded(self: jax.Array, name: str) -> None:
    """Only ShardedDeviceArrays had some members; arrays on several devices were such while there was no new class."""
    if state.jax_array() or is_single(self):
        raise AttributeError(f"'DeviceArray' object has no attribute '{name}'")


def sharding_spec(self: jax.Array) -> ShardingSpec:
    """How the array is cut over the devices of its mesh."""
    _old_sharded(self, "sharding_spec")
    mesh, spec = self.sharding.mesh, self.sharding.spec
    axes = {axis: dim for dim, names in enumerate(rules.parse_spec(spec)) for axis in names}
    return new_mesh_sharding_specs(mesh.shape, mesh.axis_names)(self.ndim, axes)


def indices(self: jax.Array) -> tuple[rules.Index, ...]:
    """The index of each buffer."""
    _old_sharded(self, "indices")
    return tuple(shard.index for shard in self.addressable_shards)


def one_replica_buffer_indices(self: jax.Array) -> list[int]:
    """Positions of buffers that together hold the array once."""
    _old_sharded(self, "one_replica_buffer_indices")
    return rules.one_replica(shard.index for shard in self.addressable_shards)


def client(self: jax.Array) -> object:
    """The backend that holds the data."""
    return next(iter(self.sharding.addressable_devices)).client


def copy_to_device(self: jax.Array, device: object) -> jax.Array:
    """A copy on another device."""
    return jax.device_put(self, device)


def copy_to_host(self: jax.Array) -> np.ndarray:
    """The value as a NumPy array."""
    return np.asarray(self)


def xla_shape(self: jax.Array) -> object:
    """The shape as XLA describes it."""
    from jax._src.lib import xla_client

    return xla_client.Shape.array_shape(np.dtype(self.dtype), self.shape)


def broadcast(self: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """`jax.lax.broadcast` of the array."""
    return jax.lax.broadcast(self, sizes)


def broadcast_in_dim(self: jax.Array, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> jax.Array:
    """`jax.lax.broadcast_in_dim` of the array."""
    return jax.lax.broadcast_in_dim(self, shape, broadcast_dimensions)


def split(self: jax.Array, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[jax.Array]:
    """`jax.numpy.split` of the array."""
    return jax.numpy.split(self, indices_or_sections, axis)  # type: ignore[no-any-return]


ARRAY_MEMBERS: dict[str, object] = {
    "to_py": to_py,
    "device_buffer": property(device_buffer),
    "device_buffers": property(device_buffers),
    "block_host_until_ready": block_host_until_ready,
    "device": property(device),
    "devices": devices,
    "_device": property(sticky_device),
    "sharding_spec": property(sharding_spec),
    "indices": property(indices),
    "one_replica_buffer_indices": property(one_replica_buffer_indices),
    "client": property(client),
    "copy_to_device": copy_to_device,
    "copy_to_host": copy_to_host,
    "xla_shape": xla_shape,
    "broadcast": broadcast,
    "broadcast_in_dim": broadcast_in_dim,
    "split": split,
}
"""Members to set on the class of concrete arrays, name by name."""


def call_device(self: object) -> object:
    """What ``x.device()`` gives where ``x.device`` is a device already."""
    return self


DEVICE_MEMBERS: dict[str, Callable[[object], object]] = {"__call__": call_device}

_fill()
