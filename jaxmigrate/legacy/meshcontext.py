"""The mesh context of JAX 0.5.0 to 0.7.0, which took effect where it was entered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax


@contextmanager
def use_mesh(mesh: Any) -> Iterator[None]:
    """The mesh for specs and types of arrays within a block."""
    if not isinstance(mesh, jax.sharding.Mesh):
        raise ValueError(f"Expected mesh of type `jax.sharding.Mesh`. Got {type(mesh)}")
    with mesh, jax.set_mesh(mesh):  # the constraints of the emulation look at the former
        yield


OBJECTS: dict[str, object] = {"jax.sharding.use_mesh": use_mesh}
"""Old path -> object."""
