"""`jax.experimental.host_callback` on the callbacks of today."""

from __future__ import annotations

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

    jax.debug.callback(tapped, arg, ordered=_is_alone())
    return tree_util.tree_map(jax.numpy.asarray, arg) if result is None else result


def _is_alone() -> bool:
    """Whether taps can keep their order, as they did on each device: JAX orders effects on one device only."""
    return len(jax.devices()) == 1


def id_print(
    arg: Any,
    *,
    result: Any = None,
    tap_with_device: bool = False,
    device_index: int = 0,
    output_stream: Any = None,
    threshold: int = 1024,
    **kwargs: Any,
) -> Any:
    """Print labels on one line, and `arg` on the next, when it is computed."""

    def printer(values: Any, transforms: Any, **named: Any) -> None:
        del transforms
        labels = " ".join(f"{name}: {value}" for name, value in sorted({**named, **kwargs}.items()))
        for line in ([labels] if labels else []) + [_laid_out(values, threshold)]:
            if output_stream is None:
                print(line)
            else:
                output_stream.write(line + "\n")

    return id_tap(printer, arg, result=result, tap_with_device=tap_with_device, device_index=device_index)


def _laid_out(value: Any, threshold: int) -> str:
    """A tree in one line: tuples as ``( a b )``, lists in brackets, dicts as ``{ name=a }``."""
    if isinstance(value, (tuple, list)):
        left, right = "()" if isinstance(value, tuple) else "[]"
        return f"{left} {' '.join(_laid_out(v, threshold) for v in value)} {right}"
    if isinstance(value, dict):
        return "{ " + " ".join(f"{k}={_laid_out(v, threshold)}" for k, v in sorted(value.items())) + " }"
    return np.array2string(value, threshold=threshold) if isinstance(value, np.ndarray) else str(value)


def call(
    callback_func: Callable[..., Any],
    arg: Any,
    *,
    result_shape: Any = None,
    call_with_device: bool = False,
    device_index: int = 0,
    callback_flavor: Any = None,
) -> Any:
    """The result of a function of the host for `arg`, which must be of the promised shapes and types."""
    del callback_flavor
    shapes = tree_util.tree_map(_shape, result_shape)

    def called(values: Any) -> Any:
        named = {"device": jax.local_devices()[device_index]} if call_with_device else {}
        result = callback_func(_to_numpy(values), **named)
        leaves, made = tree_util.tree_flatten(result)
        if made != tree_util.tree_structure(shapes):
            raise TypeError(
                f"Callback func {callback_func} should have returned a result with pytree {shapes} but returned {made}"
            )
        found = tree_util.tree_map(_shape, result)
        if leaves and tree_util.tree_leaves(found) != tree_util.tree_leaves(shapes):
            raise TypeError(
                f"Callback func {callback_func} should have returned a result with abstract values {shapes} but returned {found}"
            )
        return tree_util.tree_map(lambda leaf, shape: np.asarray(leaf, shape.dtype), result, shapes)

    return io_callback(called, shapes, arg, ordered=_is_alone())


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
