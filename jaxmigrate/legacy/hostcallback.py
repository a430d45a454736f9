"""`jax.experimental.host_callback` on the callbacks of today."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import tree_util
from jax.experimental import io_callback

NO_TRANSFORMS: tuple[Any, ...] = ()


class CallbackException(RuntimeError):
    """A callback failed."""


TapFunctionException = CallbackException


def id_tap(
    tap_func: Callable[..., Any],
    arg: Any,
    *,
    result: Any = None,
    tap_with_device: bool = False,
    device_index: int = 0,
    **kwargs: Any,
) -> Any:
    """Give `arg` to a function of the host, and go on with `result`, or with `arg` itself."""

    def tapped(values: Any) -> None:
        named = {**kwargs, "device": jax.local_devices()[device_index]} if tap_with_device else kwargs
        tap_func(_to_numpy(values), NO_TRANSFORMS, **named)

    jax.debug.callback(tapped, arg)
    return arg if result is None else result


def id_print(
    arg: Any,
    *,
    result: Any = None,
    tap_with_device: bool = False,
    device_index: int = 0,
    output_stream: Any = None,
    threshold: int | None = None,
    **kwargs: Any,
) -> Any:
    """Print `arg` when it is computed."""

    def printer(values: Any, transforms: Any, **named: Any) -> None:
        del transforms
        labels = "  ".join(f"{name}: {value}" for name, value in {**named, **kwargs}.items())
        with np.printoptions(threshold=np.get_printoptions()["threshold"] if threshold is None else threshold):
            text = "\n".join(str(leaf) for leaf in tree_util.tree_leaves(values))
        stream = output_stream or sys.stdout
        stream.write(f"{labels}\n{text}\n" if labels else f"{text}\n")

    return id_tap(printer, arg, result=result, tap_with_device=tap_with_device, device_index=device_index)


def call(
    callback_func: Callable[..., Any],
    arg: Any,
    *,
    result_shape: Any = None,
    call_with_device: bool = False,
    device_index: int = 0,
    callback_flavor: Any = None,
) -> Any:
    """The result of a function of the host for `arg`."""
    del callback_flavor

    def called(values: Any) -> Any:
        named = {"device": jax.local_devices()[device_index]} if call_with_device else {}
        result = callback_func(_to_numpy(values), **named)
        return tree_util.tree_map(lambda leaf, shape: np.asarray(leaf, shape.dtype), result, shapes)

    shapes = tree_util.tree_map(_shape, result_shape)
    return io_callback(called, shapes, arg)


def _shape(leaf: Any) -> jax.ShapeDtypeStruct:
    dtype = leaf.dtype if hasattr(leaf, "dtype") else type(leaf)
    return jax.ShapeDtypeStruct(np.shape(leaf), jax.dtypes.canonicalize_dtype(dtype))


def _to_numpy(values: Any) -> Any:
    return tree_util.tree_map(np.asarray, values)


def barrier_wait(logging_name: str | None = None) -> None:
    """Wait until all callbacks have run."""
    del logging_name
    jax.effects_barrier()


def stop_outfeed_receiver() -> None:
    """Once ended a thread that there is no more."""
    jax.effects_barrier()


OBJECTS: dict[str, object] = {
    f"jax.experimental.host_callback.{name}": value
    for name, value in {
        "CallbackException": CallbackException,
        "TapFunctionException": TapFunctionException,
        "barrier_wait": barrier_wait,
        "call": call,
        "id_print": id_print,
        "id_tap": id_tap,
        "stop_outfeed_receiver": stop_outfeed_receiver,
    }.items()
}
"""Old path -> object."""
