"""What is there under the same name today and did something else: results, conversions and classes as they were."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax._src import core
from jax._src import pjit as implementation
from jax._src.array import ArrayImpl

from .journal import Journal

Function = Callable[..., Any]


def install(journal: Journal) -> None:
    """Put the old behaviour in the place of the new one."""
    for owner, name, make in _WRAPPED:
        if (present := getattr(owner, name, None)) is not None:
            journal.attribute(owner, name, make(present))
    _numbers(journal)
    _classes_of_tracers(journal)
    journal.attribute(jax.ShapeDtypeStruct, "__setattr__", object.__setattr__)
    journal.attribute(implementation.jit_p, "name", "pjit")


def _wraps(make: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Let what is made of a function look like it."""

    @functools.wraps(make)
    def made(function: Function) -> Function:
        return functools.wraps(function)(make(function))

    return made


@_wraps
def _with_nan(function: Function) -> Function:
    """None was a number that is none."""

    def array(object: Any, *args: Any, **keywords: Any) -> Any:
        return function(_numbers_only(object), *args, **keywords)

    return array


def _numbers_only(value: Any) -> Any:
    if value is None:
        return np.nan
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(_numbers_only, value))
    return value


@_wraps
def _of_vectors(function: Function) -> Function:
    """A right-hand side with one dimension less than the matrices was a batch of vectors."""

    def solve(a: Any, b: Any, *args: Any, **keywords: Any) -> Any:
        if np.ndim(b) == np.ndim(a) - 1:
            return function(a, jnp.asarray(b)[..., None], *args, **keywords)[..., 0]
        return function(a, b, *args, **keywords)

    return solve


@_wraps
def _flat(function: Function) -> Function:
    """All dimensions were laid flat."""

    def toeplitz(c: Any, r: Any = None) -> Any:
        return function(jnp.ravel(jnp.asarray(c)), None if r is None else jnp.ravel(jnp.asarray(r)))

    return toeplitz


@_wraps
def _floats(function: Function) -> Function:
    """Integers were rounded as floats."""

    def rounded(x: Any) -> Any:
        x = jnp.asarray(x)
        return function(x.astype(float) if jnp.issubdtype(x.dtype, jnp.integer) else x)

    return rounded


@_wraps
def _integers(function: Function) -> Function:
    """Ranks were integers unless they were averages."""

    def rankdata(a: Any, method: str = "average", **keywords: Any) -> Any:
        ranks = function(a, method, **keywords)
        return ranks if method == "average" else ranks.astype(int)

    return rankdata


@_wraps
def _listed(function: Function) -> Function:
    """One dict for each executable, of which there is one."""

    def cost_analysis(self: Any) -> list[Any]:
        return [function(self)]

    return cost_analysis


@_wraps
def _auto(function: Function) -> Function:
    """Axes were Auto where nothing was said."""

    def make_mesh(axis_shapes: Any, axis_names: Any, **keywords: Any) -> Any:
        keywords.setdefault("axis_types", (jax.sharding.AxisType.Auto,) * len(axis_names))
        return function(axis_shapes, axis_names, **keywords)

    return make_mesh


@_wraps
def _of_numpy(function: Function) -> Function:
    """A callback was given arrays of NumPy."""

    def called(callback: Function, *args: Any, **keywords: Any) -> Any:
        @functools.wraps(callback, updated=())
        def converted(*given: Any, **named: Any) -> Any:
            return callback(*jax.tree.map(_to_numpy, given), **jax.tree.map(_to_numpy, named))

        return function(converted, *args, **keywords)

    return called


def _to_numpy(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, jax.Array) else x


@_wraps
def _real_truth(function: Function) -> Function:
    """Only the real part of a complex number was asked whether it is zero."""

    def astype(self: Any, dtype: Any, *args: Any, **keywords: Any) -> Any:
        is_truth = dtype is not None and np.dtype(dtype) == bool and jnp.iscomplexobj(self)
        return function(self.real if is_truth else self, dtype, *args, **keywords)

    return astype


_WRAPPED: tuple[tuple[Any, str, Callable[[Function], Function]], ...] = (
    (jnp, "array", _with_nan),
    (jnp, "asarray", _with_nan),
    (jnp, "ceil", _floats),
    (jnp, "floor", _floats),
    (jnp, "trunc", _floats),
    (jnp.linalg, "solve", _of_vectors),
    (jax.scipy.linalg, "solve", _of_vectors),
    (jax.scipy.linalg, "toeplitz", _flat),
    (jax.scipy.stats, "rankdata", _integers),
    (jax.stages.Compiled, "cost_analysis", _listed),
    (jax, "make_mesh", _auto),
    (jax, "pure_callback", _of_numpy),
    (jax.debug, "callback", _of_numpy),
    (jax.experimental, "io_callback", _of_numpy),
    (ArrayImpl, "astype", _real_truth),
)


def _numbers(journal: Journal) -> None:
    """An array of one element was a number, an empty one was false."""
    array = ArrayImpl
    for name in ("__float__", "__int__", "__complex__"):
        journal.attribute(array, name, _as_number(getattr(array, name)))
    present: Callable[[Any], bool] = array.__bool__

    def __bool__(self: Any) -> bool:
        return present(self) if self.size else False

    journal.attribute(array, "__bool__", __bool__)


def _as_number(present: Function) -> Function:
    def convert(self: Any) -> Any:
        return present(self.reshape(())) if self.size == 1 and self.ndim else present(self)

    return convert


def _classes_of_tracers(journal: Journal) -> None:
    """They were subclasses of jax.Array."""
    meta = type(jax.Array)
    present: Any = meta.__subclasscheck__

    def __subclasscheck__(self: Any, kind: type) -> bool:
        return (self is jax.Array and issubclass(kind, core.Tracer)) or bool(present(self, kind))

    journal.attribute(meta, "__subclasscheck__", __subclasscheck__)
