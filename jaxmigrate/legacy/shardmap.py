"""The shard_map of old JAX: arguments by position, and the axes that are left to the compiler instead of those that are not."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from jax._src import shard_map as modern


def shard_map(
    f: Callable[..., Any],
    mesh: Any,
    in_specs: Any,
    out_specs: Any,
    check_rep: bool = True,
    auto: Collection[Any] = frozenset(),
) -> Callable[..., Any]:
    """Run a function on the pieces of its arguments, each on its device; the axes of `auto` it does not see."""
    manual = {axis for axis in mesh.axis_names if axis not in auto}
    if not manual:
        raise NotImplementedError("a shard_map that leaves all axes of the mesh to the compiler is not emulated")
    mapped: Callable[..., Any] = modern._shard_map(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, axis_names=manual, check_vma=check_rep
    )
    return mapped


OBJECTS: dict[str, object] = {"jax.experimental.shard_map.shard_map": shard_map}
"""Old path -> object."""
