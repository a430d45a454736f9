"""Arguments that functions of today took under another name, took and ignored, or took in another way."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import numerics
from .journal import Journal
from .modules import MISSING, resolve


@dataclass(frozen=True, slots=True)
class Old:
    """What has become of the arguments of a function."""

    renamed: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    """Its first parameters, which take no keyword any more."""
    named: tuple[int, tuple[str, ...]] | None = None
    """From which position on it takes keywords alone, and the names of the parameters that stood there."""
    meaning: Callable[[dict[str, Any]], None] | None = None
    """Changes the keywords where more than their names is another one."""

    def touches(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether a call needs a change."""
        if self.meaning is not None or (self.named is not None and len(args) > self.named[0]):
            return True
        return any(name in keywords for name in (*dict(self.renamed), *self.dropped, *self.positional))

    def change(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the function of today takes them."""
        names = dict(self.renamed)
        rest = {names.get(name, name): value for name, value in keywords.items() if name not in self.dropped}
        moved = [rest.pop(name) for name in self.positional[len(args) :] if name in rest]
        args = (*args, *moved)
        if self.named is not None:
            first, parameters = self.named
            rest |= {n: v for n, v in zip(parameters, args[first:], strict=False) if n not in self.dropped}
            args = args[:first]
        if self.meaning is not None:
            self.meaning(rest)
        return args, rest


def _jit(keywords: dict[str, Any]) -> None:
    """Numbers in the second place were the static arguments, before shardings could stand there."""
    given = keywords.get("in_shardings")
    if isinstance(given, int) or (isinstance(given, tuple) and given and all(isinstance(n, int) for n in given)):
        keywords["static_argnums"] = keywords.pop("in_shardings")


def _solve(keywords: dict[str, Any]) -> None:
    """``sym_pos`` became one of several things to assume."""
    if keywords.pop("sym_pos", False):
        keywords["assume_a"] = "pos"


def _pure_callback(keywords: dict[str, Any]) -> None:
    """Vectorized: all at once, what is not mapped as it is; otherwise one call for each."""
    if "vmap_method" not in keywords:
        keywords["vmap_method"] = "legacy_vectorized" if keywords.pop("vectorized", False) else "sequential"


_JIT = ("in_shardings", "out_shardings", "static_argnums", "static_argnames", "donate_argnums")
_METHOD = Old(renamed=(("interpolation", "method"),))
_KIND = Old(dropped=("kind",), named=(2, ("kind", "order")))
_REMAT = Old(dropped=("concrete",), named=(1, ("concrete", "prevent_cse", "policy")))
_ONE = Old(positional=("x",))
_TWO = Old(positional=("x1", "x2"))
_SYMBOLIC = Old(dropped=("reduce_axes",))
TABLE: dict[str, Old] = {
    "jax.local_devices": Old(renamed=(("host_id", "process_index"),)),
    "jax.checkpoint": _REMAT,
    "jax.remat": _REMAT,
    "jax.grad": _SYMBOLIC,
    "jax.value_and_grad": _SYMBOLIC,
    "jax.vjp": _SYMBOLIC,
    "jax.jit": Old(dropped=("abstracted_axes",), positional=("fun",), named=(1, _JIT), meaning=_jit),
    "jax.make_mesh": Old(positional=("axis_shapes",)),
    "jax.pmap": Old(dropped=("global_arg_shapes",)),
    "jax.pure_callback": Old(meaning=_pure_callback),
    "jax.make_jaxpr": Old(dropped=("abstracted_axes",)),
    "jax.lax.cond": Old(dropped=("linear",)),
    "jax.lax.dot": Old(named=(2, ("precision", "preferred_element_type"))),
    "jax.lax.exp": Old(named=(1, ("accuracy",))),
    "jax.lax.linalg.cholesky": Old(named=(1, ("symmetrize_input",))),
    "jax.lax.linalg.eigh": Old(named=(1, ("lower", "symmetrize_input"))),
    "jax.lax.linalg.qr": Old(named=(1, ("full_matrices",))),
    "jax.lax.linalg.svd": Old(named=(1, ("full_matrices", "compute_uv"))),
    "jax.lax.linalg.triangular_solve": Old(named=(2, ("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal"))),
    "jax.nn.log_softmax": Old(dropped=("initial",)),
    "jax.nn.softmax": Old(dropped=("initial",)),
    "jax.numpy.argsort": _KIND,
    "jax.numpy.array": Old(named=(2, ("copy", "order", "ndmin"))),
    "jax.numpy.broadcast_to": Old(positional=("arr",)),
    "jax.numpy.empty_like": Old(positional=("a",)),
    "jax.numpy.exp": _ONE,
    "jax.numpy.log": _ONE,
    "jax.numpy.sqrt": _ONE,
    "jax.numpy.mod": _TWO,
    "jax.numpy.power": _TWO,
    "jax.numpy.nanpercentile": _METHOD,
    "jax.numpy.nanquantile": _METHOD,
    "jax.numpy.percentile": _METHOD,
    "jax.numpy.quantile": _METHOD,
    "jax.numpy.reshape": Old(renamed=(("newshape", "shape"),)),
    "jax.numpy.sort": _KIND,
    "jax.numpy.where": Old(positional=("condition", "x", "y")),
    "jax.scipy.linalg.solve": Old(meaning=_solve),
    "jax.scipy.special.beta": Old(positional=("x", "y")),
    "jax.scipy.special.betaln": Old(positional=("x", "y")),
}
"""Path of a function -> its old arguments. Sorting was always stable, whatever ``kind`` said."""

_FLAGS = ("indices_are_sorted", "unique_indices", "mode", "fill_value")
_AT = {
    "get": Old(named=(1, _FLAGS)),
    **dict.fromkeys(("set", "add", "multiply", "mul", "divide", "power", "min", "max", "apply"), Old(named=(2, _FLAGS[:3]))),
}
"""Methods of ``x.at[i]``, which is their first argument."""
_ARRAY: Any = resolve("jax._src.array.ArrayImpl")
_AT_CLASS: Any = resolve("jax._src.numpy.array_methods._IndexUpdateRef")


def install(journal: Journal) -> None:
    """Let the functions take their old arguments."""
    for path, old in TABLE.items():
        owner, _, name = path.rpartition(".")
        module, function = resolve(owner), resolve(path)
        if module is not MISSING and callable(function):
            journal.attribute(module, name, _taking(function, old))
    journal.attribute(resolve("jax.numpy"), "clip", numerics.clip)
    for name, old in _AT.items():
        journal.attribute(_AT_CLASS, name, _taking(getattr(_AT_CLASS, name), old))
    for name in ("sort", "argsort"):
        journal.attribute(_ARRAY, name, _taking(getattr(_ARRAY, name), _KIND))


def _taking(function: Callable[..., Any], old: Old) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if old.touches(args, kwargs):
            args, kwargs = old.change(args, kwargs)
        return function(*args, **kwargs)

    return wrapped
