"""The pmap of old JAX, whose results were ShardedDeviceArrays, and the functions that placed such arrays by hand."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import jax
import numpy as np
from jax import api_util, tree_util
from jax._src import core
from jax.core import ShapedArray

from . import arrays, hostlocal, live, specs, state

Function = Callable[..., Any]
_MODERN = jax.pmap
_DROPPED = ("global_arg_shapes",)


def pmap(fun: Function, axis_name: Any = None, **options: Any) -> Function:
    """Run a function on every device, each with a piece of the arguments."""
    for name in _DROPPED:
        options.pop(name, None)
    if options.get("donate_argnums") and not hostlocal.donates():
        del options["donate_argnums"]
    mapped = _MODERN(fun, axis_name, **options)
    static = _numbers(options.get("static_broadcasted_argnums"))
    donated = _numbers(options.get("donate_argnums"))
    out_axes = options.get("out_axes", 0)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if _traced((args, kwargs)):
            return mapped(*args, **kwargs)
        numbers = {i % len(args) if args else i for i in static}
        _check_size(args, numbers, options)
        new_args = tuple(arg if i in numbers else tree_util.tree_map(_argument, arg) for i, arg in enumerate(args))
        results = mapped(*new_args, **tree_util.tree_map(_argument, kwargs))
        for leaf in tree_util.tree_leaves([args[i] for i in donated if i < len(args)]):
            _donate(leaf)
        return _results(results, out_axes)

    functools.update_wrapper(wrapped, fun)
    for name in ("lower", "trace", "eval_shape"):
        if hasattr(mapped, name):
            setattr(wrapped, name, _host_arguments(getattr(mapped, name)))
    return wrapped


def _check_size(args: tuple[Any, ...], static: Collection[int], options: dict[str, Any]) -> None:
    """Raise what old pmap raised where the mapped size does not fit the devices that the program chose."""
    size = _mapped_size([arg for i, arg in enumerate(args) if i not in static], options.get("in_axes", 0))
    chosen, said = options.get("devices"), options.get("axis_size")
    if size is None:
        return
    if said is not None and said != size:
        raise ValueError(f"Specified axis_size {said} doesn't match received axis_size {size}.")
    if chosen is not None and size != sum(device.process_index == jax.process_index() for device in chosen):
        raise ValueError(
            "Leading axis size of input to pmapped function must equal the number of local devices passed to pmap. "
            f"Got axis_size={size}, num_local_devices={len(chosen)}."
        )
    if chosen is None and size > jax.local_device_count():
        raise ValueError(
            f"compiling computation that requires {size} logical devices, but only {jax.local_device_count()} XLA devices are "
            f"available (num_replicas={size}, num_partitions=1)"
        )


def _mapped_size(args: Sequence[Any], in_axes: Any) -> int | None:
    axes = in_axes if isinstance(in_axes, tuple | list) else [in_axes] * len(args)
    for arg, axis in zip(args, axes, strict=False):
        leaves = tree_util.tree_leaves(arg)
        if isinstance(axis, int) and leaves and len(np.shape(leaves[0])) > axis:
            return int(np.shape(leaves[0])[axis])
    return None


def _host_arguments(method: Function) -> Function:
    return lambda *args, **kwargs: method(*tree_util.tree_map(_argument, args), **tree_util.tree_map(_argument, kwargs))


def _numbers(value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)  # type: ignore[arg-type]


def _donate(leaf: Any) -> None:
    """Delete an argument whose data in the form of today were given away."""
    if isinstance(leaf, arrays.HostLocalArray) and isinstance(leaf._whole, jax.Array) and leaf._whole.is_deleted():
        leaf.delete()


def _traced(values: Any) -> bool:
    return not core.trace_state_clean() or any(isinstance(leaf, core.Tracer) for leaf in tree_util.tree_leaves(values))


def _argument(value: Any) -> Any:
    if isinstance(value, arrays.GlobalDeviceArray):
        raise TypeError(f"No device_put handler for type: {type(value)}")
    if isinstance(value, arrays.HostLocalArray):
        whole = value._whole
        return np.asarray(value) if whole is None or value.device_buffers is None else whole
    if hostlocal.is_scalar(value) and jax.process_count() > 1:
        return jax.numpy.asarray(value)
    if isinstance(value, jax.Array) and len(value.devices()) == 1 and value._committed:
        # It was moved to where it was needed.
        return np.asarray(value)
    return value


def _results(results: Any, out_axes: Any) -> Any:
    leaves, tree = tree_util.tree_flatten(results)
    axes = tree_util.tree_map(_Axis, out_axes, is_leaf=lambda x: x is None)
    flat = api_util.flatten_axes("pmap out_axes", tree, axes)
    return tree_util.tree_unflatten(tree, [_result(leaf, axis.number) for leaf, axis in zip(leaves, flat, strict=True)])


class _Axis:
    """An entry of ``out_axes``; a leaf of a tree even if it is None."""

    def __init__(self, number: int | None) -> None:
        self.number = number


def _result(value: jax.Array, axis: int | None) -> Any:
    shards = sorted(value.addressable_shards, key=lambda shard: _start(shard, axis))
    if axis is not None:
        axis %= value.ndim
    if axis is not None:
        for shard in shards:
            live.hide(shard.data)
    buffers = [shard.data if axis is None else _without(shard.data, axis) for shard in shards]
    shape = tuple(len(shards) if i == axis else n for i, n in enumerate(value.shape))
    result = _sharded(shape, value.dtype, buffers, axis, weak=value.weak_type)
    result._whole = value
    return result


def _start(shard: Any, axis: int | None) -> int:
    return 0 if axis is None else shard.index[axis].start or 0


def _without(piece: jax.Array, axis: int) -> jax.Array:
    return piece.reshape(tuple(n for i, n in enumerate(piece.shape) if i != axis))


def _sharded(shape: Sequence[int], dtype: Any, buffers: Sequence[Any], axis: int | None, *, weak: bool = False) -> Any:
    aval = ShapedArray(tuple(shape), dtype, weak_type=weak)
    if axis is None:
        spec = specs.ShardingSpec([specs.NoSharding()] * len(shape), [specs.Replicated(len(buffers))])
    else:
        sharding = [specs.Unstacked(n) if i == axis else specs.NoSharding() for i, n in enumerate(shape)]
        spec = specs.ShardingSpec(sharding, [specs.ShardedAxis(0)])
    if state.jax_array():
        return arrays.PmapArray(aval, spec, list(buffers))
    return arrays.make_sharded_device_array(aval, spec, list(buffers))


def device_put_sharded(shards: Sequence[Any], devices: Sequence[Any]) -> Any:
    """Put one of the given trees on each device, as a tree of arrays with a new leading dimension."""
    if not isinstance(shards, Sequence):
        raise TypeError(f"device_put_sharded `shards` input must be a sequence; got {type(shards)}")
    if len(shards) != len(devices):
        raise ValueError(f"len(shards) = {len(shards)} must equal len(devices) = {len(devices)}.")
    if not shards:
        raise ValueError("device_put_sharded requires `shards` to be nonempty.")
    return tree_util.tree_map(lambda *leaves: _put_sharded(leaves, devices), *shards)


def _put_sharded(leaves: Sequence[Any], devices: Sequence[Any]) -> Any:
    avals = [jax.typeof(_plain(leaf)) for leaf in leaves]
    if any((aval.shape, aval.dtype) != (avals[0].shape, avals[0].dtype) for aval in avals):
        raise ValueError(f"the shards passed to device_put_sharded must have consistent shape and dtype, but got {avals}.")
    return _put([jax.device_put(_plain(leaf), device) for leaf, device in zip(leaves, devices, strict=True)], devices)


def device_put_replicated(x: Any, devices: Sequence[Any]) -> Any:
    """Put a tree on each device, as a tree of arrays with a new leading dimension."""
    if not isinstance(devices, Sequence) or not devices:
        raise ValueError(f"`devices` argument to `device_put_replicated must be a non-empty sequence; got {devices}")
    return tree_util.tree_map(lambda leaf: _put([jax.device_put(_plain(leaf), device) for device in devices], devices), x)


def _put(buffers: Sequence[Any], devices: Sequence[Any]) -> Any:
    shape = (len(buffers), *buffers[0].shape)
    return _sharded(shape, buffers[0].dtype, buffers, 0, weak=buffers[0].weak_type)


def _plain(leaf: Any) -> Any:
    return np.asarray(leaf) if isinstance(leaf, arrays.HostLocalArray) else leaf
