"""The pmap of old JAX, whose results were ShardedDeviceArrays, and the functions that placed such arrays by hand."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import api_util, tree_util
from jax._src import core
from jax._src.array import ArrayImpl
from jax.core import ShapedArray

from . import arrays, hostlocal, specs, state
from .pieces import Pieces

Function = Callable[..., Any]
_MODERN = jax.pmap
_DROPPED = ("global_arg_shapes",)
MARK = "_is_pmapped"
"""Attribute of the functions that pmap gives."""


def pmap(fun: Function, axis_name: Any = None, **options: Any) -> Function:
    """Run a function on every device, each with a piece of the arguments.

    In a function that is pmapped itself, which today's pmap refuses, the inner one computes the same on each outer device.
    """
    for name in _DROPPED:
        options.pop(name, None)
    if options.get("donate_argnums") and not hostlocal.donates():
        del options["donate_argnums"]
    mapped = _MODERN(fun, axis_name, **options)
    static = _numbers(options.get("static_broadcasted_argnums"))
    donated = _numbers(options.get("donate_argnums"))
    out_axes = options.get("out_axes", 0)
    chosen = options.get("devices")
    nested = jax.vmap(fun, options.get("in_axes", 0), out_axes, axis_name=axis_name)
    inputs = _Inputs(None if chosen is None else tuple(chosen), options.get("in_axes", 0))

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if _running.depth:
            return nested(*args, **kwargs)
        if _traced((args, kwargs)):
            with _deeper():
                return mapped(*args, **kwargs)
        numbers = {i % len(args) if args else i for i in static}
        _check_size(args, numbers, options)
        with _deeper():
            results = mapped(*inputs.convert(args, numbers), **inputs.named(kwargs))
        for leaf in tree_util.tree_leaves([args[i] for i in donated if i < len(args)]):
            _donate(leaf)
        return _results(results, out_axes)

    functools.update_wrapper(wrapped, fun)
    setattr(wrapped, MARK, True)
    for name in ("lower", "trace", "eval_shape"):
        if hasattr(mapped, name):
            setattr(wrapped, name, _host_arguments(getattr(mapped, name), inputs))
    return wrapped


class _Running(threading.local):
    """How many pmapped functions are being called within one another."""

    depth = 0


_running = _Running()


@contextmanager
def _deeper() -> Iterator[None]:
    _running.depth += 1
    try:
        yield
    finally:
        _running.depth -= 1


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


def _host_arguments(method: Function, inputs: _Inputs) -> Function:
    return lambda *args, **kwargs: method(*inputs.convert(args, ()), **inputs.named(kwargs))


def _numbers(value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)  # type: ignore[arg-type]


def _donate(leaf: Any) -> None:
    """Delete an argument whose data in the form of today were given away."""
    if isinstance(leaf, arrays.HostLocalArray) and isinstance(leaf._whole, jax.Array) and leaf._whole.is_deleted():
        leaf.device_buffers = leaf._npy_value = None


def _traced(values: Any) -> bool:
    return not core.trace_state_clean() or any(isinstance(leaf, core.Tracer) for leaf in tree_util.tree_leaves(values))


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Where pmap puts its arguments."""

    devices: tuple[Any, ...] | None
    """As the program chose them."""
    axes: Any

    def convert(self, args: Sequence[Any], static: Collection[int]) -> list[Any]:
        """The arguments for the pmap of today."""
        numbers = iter(range(len(args)))
        return [arg if i in static else tree_util.tree_map(self._converter(next(numbers)), arg) for i, arg in enumerate(args)]

    def named(self, kwargs: dict[str, Any]) -> Any:
        """The same for keyword arguments, which are always cut along the first dimension."""
        return tree_util.tree_map(lambda value: self._argument(value, in_front=True), kwargs)

    def _converter(self, number: int) -> Function:
        axis = self.axes[number] if isinstance(self.axes, tuple | list) and number < len(self.axes) else self.axes
        in_front = isinstance(axis, int) and axis == 0
        return lambda value: self._argument(value, in_front=in_front)

    def _argument(self, value: Any, *, in_front: bool) -> Any:
        if isinstance(value, arrays.GlobalDeviceArray):
            raise TypeError(f"No device_put handler for type: {type(value)}")
        if isinstance(value, arrays.HostLocalArray):
            return value._whole if in_front and self._lies_there(value) else np.asarray(value)
        if hostlocal.is_scalar(value) and jax.process_count() > 1:
            return jax.numpy.asarray(value)
        if isinstance(value, ArrayImpl) and value.committed and len(value.sharding.device_set) == 1:
            # It was moved to where it was needed.
            return np.asarray(value)
        return value

    def _lies_there(self, value: Any) -> bool:
        """Whether the array of today behind a result of pmap is already where this pmap wants it."""
        whole = value._whole
        if whole is None or value.device_buffers is None or whole.is_deleted():
            return False
        placed = tuple(whole.sharding._device_assignment)
        return placed == (self.devices or tuple(jax.local_devices()[: len(placed)]))


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
    axis = None if axis is None else axis % value.ndim
    buffers = Pieces(value, axis)
    shape = tuple(len(buffers) if i == axis else n for i, n in enumerate(value.shape))
    result = _sharded(shape, value.dtype, buffers, axis, weak=value.weak_type)
    result._whole = value if axis == 0 else None
    return result


@functools.lru_cache(maxsize=4096)
def _layout(shape: tuple[int, ...], axis: int | None, count: int) -> tuple[Any, Any]:
    if axis is None:
        spec = specs.ShardingSpec([specs.NoSharding()] * len(shape), [specs.Replicated(count)])
    else:
        sharding = [specs.Unstacked(n) if i == axis else specs.NoSharding() for i, n in enumerate(shape)]
        spec = specs.ShardingSpec(sharding, [specs.ShardedAxis(0)])
    return spec, specs.spec_to_indices(shape, spec)


def _sharded(shape: Sequence[int], dtype: Any, buffers: list[Any], axis: int | None, *, weak: bool = False) -> Any:
    aval = ShapedArray(tuple(shape), dtype, weak_type=weak)
    spec, indices = _layout(tuple(shape), axis, len(buffers))
    kind = arrays.PmapArray if state.jax_array() else arrays.CppShardedDeviceArray
    return kind(aval, spec, buffers, indices)


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
    return _put([jax.device_put(_plain(leaf), device) for leaf, device in zip(leaves, devices, strict=True)])


def device_put_replicated(x: Any, devices: Sequence[Any]) -> Any:
    """Put a tree on each device, as a tree of arrays with a new leading dimension."""
    if not isinstance(devices, Sequence) or not devices:
        raise ValueError(f"`devices` argument to `device_put_replicated must be a non-empty sequence; got {devices}")
    return tree_util.tree_map(lambda leaf: _put([jax.device_put(_plain(leaf), device) for device in devices]), x)


def _put(buffers: list[Any]) -> Any:
    shape = (len(buffers), *buffers[0].shape)
    return _sharded(shape, buffers[0].dtype, buffers, 0, weak=buffers[0].weak_type)


def _plain(leaf: Any) -> Any:
    return np.asarray(leaf) if isinstance(leaf, arrays.HostLocalArray) else leaf
