"""The array classes of old JAX under one name, and what the installed JAX has to know to compute with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
import numpy as np
from jax._src import array as array_module
from jax._src import core, dtypes
from jax._src.array import ArrayImpl
from jax._src.interpreters import mlir, pxla

from . import state
from .gda import (
    GlobalDeviceArray,
    Shard,
    _GdaFastPathArgs,
    _get_sharding_spec,
    _hashed_index,
    as_global_array,
    device_of,
    from_global_array,
    get_shard_indices,
    get_shard_indices_replica_ids,
    get_shard_shape,
    safe_zip,
)
from .journal import Journal
from .placing import FUNCTIONS
from .sharded import (
    CppShardedDeviceArray,
    HostLocalArray,
    PmapArray,
    ShardedDeviceArray,
    ShardedDeviceArrayBase,
    _ShardedDeviceArray,
    abstract,
    as_array,
    make_sharded_device_array,
)
from .single import (
    ARRAY_MEMBERS,
    DEVICE_MEMBERS,
    Buffer,
    DeviceArray,
    DeviceArrayProtocol,
    _CppDeviceArray,
    _DeviceArray,
    device_array_types,
    make_device_array,
)

__all__ = [
    "ARRAY_MEMBERS",
    "DEVICE_MEMBERS",
    "Buffer",
    "CppShardedDeviceArray",
    "DeviceArray",
    "DeviceArrayProtocol",
    "GlobalDeviceArray",
    "HostLocalArray",
    "PmapArray",
    "Shard",
    "ShardedDeviceArray",
    "ShardedDeviceArrayBase",
    "_CppDeviceArray",
    "_DeviceArray",
    "_GdaFastPathArgs",
    "_ShardedDeviceArray",
    "_get_sharding_spec",
    "_hashed_index",
    "as_array",
    "as_global_array",
    "device_array_types",
    "device_of",
    "from_global_array",
    "get_shard_indices",
    "get_shard_indices_replica_ids",
    "get_shard_shape",
    "make_device_array",
    "make_sharded_device_array",
    "register",
    "safe_zip",
    "unregister",
]

T = TypeVar("T")
_journal = Journal()
HOST_LOCAL = (CppShardedDeviceArray, _ShardedDeviceArray, PmapArray)


def register() -> None:
    """Let the installed JAX take the old classes as arguments, and give it the members and layouts that it has lost."""
    unregister()
    for cls in HOST_LOCAL:
        _register(cls, abstract, as_array)
    _register(GlobalDeviceArray, _abstract_gda, _array_of_gda)
    for table, owner in ((ARRAY_MEMBERS, ArrayImpl), (DEVICE_MEMBERS, _device_class())):
        for name, member in table.items():
            _journal.attribute(owner, name, member)
    for name, function in FUNCTIONS.items():
        _journal.attribute(jax, name, function)
        if hasattr(array_module, name):
            _journal.attribute(array_module, name, function)


def unregister() -> None:
    """Take it back."""
    _journal.undo()


def _register(cls: type[T], aval: Callable[[T], core.ShapedArray], convert: Callable[[T], object]) -> None:
    _journal.item(core.pytype_aval_mappings, cls, aval)
    _journal.item(pxla.shard_arg_handlers, cls, _sharder(convert))
    # A constant's handler takes other arguments in each release; only the value matters.
    _journal.item(mlir._constant_handlers, cls, lambda value, *args: mlir.get_constant_handler(ArrayImpl)(convert(value), *args))
    _register_canonical(cls, convert)


def _register_canonical(cls: type[T], convert: Callable[[T], object] | None) -> None:
    handlers = dtypes.canonicalize_value_handlers
    if isinstance(handlers, dict):
        _journal.item(handlers, cls, convert)
        return
    # The newer table can only be written to; None makes a type stay what it is.
    handlers[cls] = convert
    _journal.later(lambda: handlers.__setitem__(cls, None))


def _sharder(convert: Callable[[T], object]) -> Callable[..., object]:
    def handler(values: Sequence[T], *args: object) -> object:
        return pxla.shard_arg_handlers[ArrayImpl]([convert(value) for value in values], *args)

    return handler


def _abstract_gda(gda: GlobalDeviceArray) -> core.ShapedArray:
    return core.ShapedArray(tuple(gda.shape), np.dtype(gda.dtype))


def _array_of_gda(gda: GlobalDeviceArray) -> jax.Array:
    """Only pjit took one, until arrays were of the one new class."""
    if state.jax_array():
        return as_global_array(gda)
    raise TypeError(f"No device_put handler for type: {type(gda)}")


def _device_class() -> type:
    from jax._src.lib import xla_client

    return xla_client.Device  # type: ignore[no-any-return]
