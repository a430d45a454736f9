"""Keywords that functions of today took under another name, or took and ignored."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .journal import Journal
from .modules import MISSING, resolve


@dataclass(frozen=True, slots=True)
class Old:
    """What has become of the keywords of a function."""

    renamed: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    """Its first parameters, which take no keyword any more."""

    def touches(self, keywords: dict[str, Any]) -> bool:
        """Whether a call needs a change."""
        return any(name in keywords for name in (*dict(self.renamed), *self.dropped, *self.positional))

    def change(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the function of today takes them."""
        names = dict(self.renamed)
        rest = {names.get(name, name): value for name, value in keywords.items() if name not in self.dropped}
        moved = [rest.pop(name) for name in self.positional[len(args) :] if name in rest]
        return (*args, *moved), rest


_METHOD = Old(renamed=(("interpolation", "method"),))
_KIND = Old(dropped=("kind",))
_SYMBOLIC = Old(dropped=("reduce_axes",))
TABLE: dict[str, Old] = {
    "jax.local_devices": Old(renamed=(("host_id", "process_index"),)),
    "jax.checkpoint": Old(dropped=("concrete",)),
    "jax.remat": Old(dropped=("concrete",)),
    "jax.grad": _SYMBOLIC,
    "jax.value_and_grad": _SYMBOLIC,
    "jax.vjp": _SYMBOLIC,
    "jax.jit": Old(dropped=("abstracted_axes",)),
    "jax.make_jaxpr": Old(dropped=("abstracted_axes",)),
    "jax.lax.cond": Old(dropped=("linear",)),
    "jax.nn.log_softmax": Old(dropped=("initial",)),
    "jax.nn.softmax": Old(dropped=("initial",)),
    "jax.numpy.argsort": _KIND,
    "jax.numpy.clip": Old(renamed=(("a_min", "min"), ("a_max", "max")), positional=("a",)),
    "jax.numpy.nanpercentile": _METHOD,
    "jax.numpy.nanquantile": _METHOD,
    "jax.numpy.percentile": _METHOD,
    "jax.numpy.quantile": _METHOD,
    "jax.numpy.reshape": Old(renamed=(("newshape", "shape"),)),
    "jax.numpy.sort": _KIND,
    "jax.numpy.where": Old(positional=("condition", "x", "y")),
}
"""Path of a function -> its old keywords. Sorting was always stable, whatever ``kind`` said."""


def install(journal: Journal) -> None:
    """Let the functions take their old keywords."""
    for path, old in TABLE.items():
        owner, _, name = path.rpartition(".")
        module, function = resolve(owner), resolve(path)
        if module is not MISSING and callable(function):
            journal.attribute(module, name, _taking(function, old))


def _taking(function: Callable[..., Any], old: Old) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if old.touches(kwargs):
            args, kwargs = old.change(args, kwargs)
        return function(*args, **kwargs)

    return wrapped
