"""Functions of numbers that jax.numpy, jax.nn, jax.random and jax.scipy had under other names, as they were.

Written after the sources of JAX 0.2.17 and 0.4.13 rather than through what JAX offers in their place today.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Which elements of the flat first array are in the second: each is compared with each."""
    del assume_unique
    first, second = jnp.asarray(ar1).reshape(-1), jnp.asarray(ar2).reshape(-1)
    if invert:
        return (first[:, None] != second).all(-1)
    return (first[:, None] == second).any(-1)


def msort(a: Any) -> Any:
    """Sort along the first dimension."""
    return lax.sort(jnp.asarray(a), dimension=0)


def trapz(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral by the rule of trapezoids."""
    y = jnp.moveaxis(y, axis, -1)
    if x is not None:
        x = jnp.asarray(x)
        dx = x[1:] - x[:-1] if x.ndim == 1 else jnp.moveaxis(jnp.diff(x, axis=axis), axis, -1)
    return 0.5 * (dx * (y[..., 1:] + y[..., :-1])).sum(-1)


def row_stack(tup: Sequence[Any], dtype: Any = None) -> Any:
    """Arrays below each other."""
    rows = [jnp.asarray(a).reshape(1, -1) if jnp.ndim(a) < 2 else jnp.asarray(a) for a in tup]
    return jnp.concatenate(rows, axis=0, dtype=dtype)


def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round to the nearest, halves to even."""
    del out
    a = jnp.asarray(a)
    if jnp.issubdtype(a.dtype, jnp.integer):
        return a
    factor = 10.0**decimals
    return lax.round(a * factor, lax.RoundingMethod.TO_NEAREST_EVEN) / factor if decimals else lax.round(a, _EVEN)


_EVEN = lax.RoundingMethod.TO_NEAREST_EVEN


def fix(x: Any, out: Any = None) -> Any:
    """Round toward zero; the result is always floating."""
    del out
    x = jnp.asarray(x)
    x = x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.zeros(()).dtype)
    return jnp.where(x >= 0, lax.floor(x), lax.ceil(x))


def product(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any) -> Any:
    """The product of elements."""
    del out
    return jnp.multiply.reduce(jnp.asarray(a), axis=axis, dtype=dtype, keepdims=keepdims, **more)


def cumproduct(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The products of the first elements."""
    del out
    a = jnp.asarray(a, dtype=dtype)
    return lax.cumprod(a.reshape(-1) if axis is None else a, axis=(axis or 0) % max(a.ndim, 1))


def alltrue(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Whether there is no element that is false."""
    del out
    return jnp.asarray(a).astype(bool).all(axis, keepdims=keepdims, where=where)


def sometrue(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Whether some element is true."""
    del out
    return jnp.asarray(a).astype(bool).any(axis, keepdims=keepdims, where=where)


def issubsctype(arg1: Any, arg2: Any) -> bool:
    """Whether the type of the first, an array or a type, is a kind of the second."""
    first, second = (arg if isinstance(arg, type) else getattr(arg, "dtype", arg) for arg in (arg1, arg2))
    return bool(jax.dtypes.issubdtype(first, second))


def normalize(x: Any, axis: Any = -1, mean: Any = None, variance: Any = None, epsilon: float = 1e-5, where: Any = None) -> Any:
    """Shift and scale to mean 0 and variance 1."""
    if mean is None:
        mean = jnp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        variance = jnp.mean(jnp.square(x), axis, keepdims=True, where=where) - jnp.square(mean)
    return (x - mean) * lax.rsqrt(variance + epsilon)


def _triangle(keep: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def triangle(m: Any, k: int = 0) -> Any:
        m = jnp.asarray(m)
        rows, columns = np.ogrid[: m.shape[-2], : m.shape[-1]]
        return jnp.where(keep(columns, rows + k), m, jnp.zeros_like(m))

    return triangle


tril = _triangle(lambda column, last: column <= last)
triu = _triangle(lambda column, first: column >= first)


def zeros_like_array(x: Any) -> Any:
    """Zeros of the shape and type of an array."""
    return lax.full(np.shape(x), 0, jnp.result_type(x))


def shuffle(key: Any, x: Any, axis: int = 0) -> Any:
    """Sort by random numbers, often enough that none of them is likely to decide twice."""
    x = jnp.asarray(x)
    rounds = int(np.ceil(3 * np.log(max(1, x.size)) / np.log(np.iinfo(np.uint32).max)))
    for _ in range(rounds):
        key, once = jax.random.split(key)
        numbers = jax.random.bits(once, x.shape, jnp.uint32)
        _, x = lax.sort_key_val(numbers, x, axis)
    return x


def pvary(x: Any, axis_name: Any) -> Any:
    """Let a value count as one that varies over axes of the mesh."""
    return jax.lax.pcast(x, axis_name, to="varying")


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **today: Any) -> Any:
    """Bound from below, then from above; names of today are taken as well, for this serves programs of any age."""
    del out
    a_min, a_max = today.pop("min", a_min), today.pop("max", a_max)
    if today:
        raise TypeError(f"clip() got an unexpected keyword argument {next(iter(today))!r}")
    a = jnp.asarray(a) if a_min is None and a_max is None else a
    a = a if a_min is None else jnp.maximum(a_min, a)
    return a if a_max is None else jnp.minimum(a_max, a)


OBJECTS: dict[str, object] = {
    "jax.lax.pvary": pvary,
    "jax.lax.zeros_like_array": zeros_like_array,
    "jax.nn.normalize": normalize,
    "jax.random.shuffle": shuffle,
    "jax.scipy.linalg.tril": tril,
    "jax.scipy.linalg.triu": triu,
    **{f"jax.numpy.{f.__name__}": f for f in (in1d, msort, trapz, row_stack, round_, fix, product, cumproduct)},
    **{f"jax.numpy.{f.__name__}": f for f in (alltrue, sometrue, issubsctype)},
}
"""Old path -> object."""
