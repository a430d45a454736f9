"""The index functions of old `jax.ops`: the elements that an index names are found by their numbers, then scattered to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax._src.lax.lax import _convert_element_type

_ONE_DIMENSION = lax.ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))


def _function(name: str, scatter: Callable[..., Any]) -> Callable[..., Any]:
    def index_function(x: Any, idx: Any, y: Any, indices_are_sorted: bool = False, unique_indices: bool = False) -> Any:
        del indices_are_sorted
        array, update = jnp.asarray(x), jnp.asarray(y)
        numbers = _numbers(array.shape, idx)
        dtype = jnp.result_type(array, update)
        updates = jnp.broadcast_to(update, numbers.shape).astype(dtype).ravel()
        flat = array.astype(dtype).ravel()
        result = scatter(flat, numbers.reshape(-1, 1), updates, _ONE_DIMENSION, unique_indices=bool(unique_indices))
        return _convert_element_type(result.reshape(array.shape), array.dtype, jax.typeof(array).weak_type)

    index_function.__name__ = index_function.__qualname__ = name
    return index_function


def _numbers(shape: tuple[int, ...], idx: Any) -> Any:
    """The numbers of the elements that an index names; -1, where nothing is written, for those that are out of bounds."""
    numbers = jnp.arange(math.prod(shape)).reshape(shape)
    return numbers.at[_unlisted(idx)].get(mode="fill", fill_value=-1)


def _unlisted(idx: Any) -> Any:
    """A list was a tuple if something in it was no number, and an array otherwise (until 0.2.6)."""
    if not isinstance(idx, list):
        return idx
    parts = (list, tuple, slice, np.ndarray, type(None), type(Ellipsis))
    return tuple(idx) if any(isinstance(part, parts) for part in idx) else jnp.array(idx)


OBJECTS: dict[str, object] = {
    "jax.ops.index_add": _function("index_add", lax.scatter_add),
    "jax.ops.index_max": _function("index_max", lax.scatter_max),
    "jax.ops.index_min": _function("index_min", lax.scatter_min),
    "jax.ops.index_mul": _function("index_mul", lax.scatter_mul),
    "jax.ops.index_update": _function("index_update", lax.scatter),
}
"""Old path -> object."""
