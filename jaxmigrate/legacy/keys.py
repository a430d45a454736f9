"""The class of keys, which only those of `jax.random.key` belonged to, not the numbers of `jax.random.PRNGKey`."""

from __future__ import annotations

from typing import Any

import jax
from jax._src import core


def is_key(value: object) -> bool:
    """Whether a value, or what a tracer stands for, is a key."""
    aval: Any = value.aval if isinstance(value, (jax.Array, core.Tracer)) else None
    return aval is not None and type(aval.dtype).__name__ == "KeyTy"


class _PRNGKeyArrayMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return is_key(instance)


class PRNGKeyArray(metaclass=_PRNGKeyArrayMeta):
    """A key, or an array of keys."""


OBJECTS: dict[str, object] = {
    "jax.random.KeyArray": PRNGKeyArray,
    "jax.random.PRNGKeyArray": PRNGKeyArray,
    "jax.prng.PRNGKeyArray": PRNGKeyArray,
    "jax._src.random.KeyArray": PRNGKeyArray,
    "jax._src.random.PRNGKeyArray": PRNGKeyArray,
}
"""Old path -> object."""
