"""Ways to put data on devices that took a PmapSharding, or refused a GlobalDeviceArray."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import numpy as np
from jax._src.core import ShapedArray

from .gda import GlobalDeviceArray
from .indices import Index, Shape
from .sharded import HostLocalArray, PmapArray
from .specs import PmapSharding

_device_put = jax.device_put
_from_callback = jax.make_array_from_callback
_from_single = jax.make_array_from_single_device_arrays


@functools.wraps(_device_put)
def device_put(x: object, device: object = None, **options: object) -> object:
    """`jax.device_put`, onto the layout of pmap as well."""
    leaves, tree = jax.tree_util.tree_flatten(x)
    for leaf in leaves:
        if isinstance(leaf, GlobalDeviceArray):
            raise TypeError(f"No device_put handler for type: {type(leaf)}")
    if isinstance(device, PmapSharding):
        return tree.unflatten([_cut(leaf, device) for leaf in leaves])
    if device is None and any(isinstance(leaf, PmapArray) for leaf in leaves):
        return tree.unflatten([leaf if isinstance(leaf, PmapArray) else _device_put(leaf, **options) for leaf in leaves])
    return _device_put(x, device, **options)


def _cut(leaf: object, sharding: PmapSharding) -> PmapArray:
    host = np.asarray(leaf._value if isinstance(leaf, HostLocalArray) else leaf)
    return make_array_from_callback(host.shape, sharding, lambda index: host[index])  # type: ignore[return-value]


@functools.wraps(_from_callback)
def make_array_from_callback(
    shape: Shape, sharding: object, data_callback: Callable[[Index | None], object], *args: object, **options: object
) -> object:
    """`jax.make_array_from_callback`, onto the layout of pmap as well."""
    if not isinstance(sharding, PmapSharding):
        return _from_callback(shape, sharding, data_callback, *args, **options)
    places = sharding.addressable_devices_indices_map(tuple(shape))
    buffers = [_device_put(data_callback(index), device) for device, index in places.items()]
    return make_array_from_single_device_arrays(shape, sharding, buffers)


@functools.wraps(_from_single)
def make_array_from_single_device_arrays(
    shape: Shape, sharding: object, arrays: Sequence[jax.Array], *args: object, **options: object
) -> object:
    """`jax.make_array_from_single_device_arrays`, in the layout of pmap as well."""
    if not isinstance(sharding, PmapSharding):
        return _from_single(shape, sharding, arrays, *args, **options)
    held = {device: array for array in arrays for device in array.sharding.device_set}
    if held.keys() != sharding.addressable_devices:
        raise ValueError(
            "Addressable devices and per-device arrays devices do not match. "
            f"Sharding contains devices {sharding.addressable_devices - held.keys()} that are not present in per-device arrays."
        )
    ordered = [held[device] for device in sharding.devices.flat if device in sharding.addressable_devices]
    expected = sharding.shard_shape(tuple(shape))
    for array in ordered:
        if array.shape != expected:
            raise ValueError(f"Expected shard shape {expected} doesn't match the buffer shape {array.shape}")
    return PmapArray(ShapedArray(tuple(shape), ordered[0].dtype), sharding.sharding_spec, ordered)


FUNCTIONS: dict[str, Callable[..., object]] = {
    "device_put": device_put,
    "make_array_from_callback": make_array_from_callback,
    "make_array_from_single_device_arrays": make_array_from_single_device_arrays,
}
"""Functions to set on the module `jax`."""
