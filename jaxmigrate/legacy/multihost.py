"""`jax.experimental.multihost_utils` as it was: for host-local arrays, GlobalDeviceArrays, and a ``tiled`` that these ignored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import tree_util
from jax.experimental import multihost_utils

from . import arrays, hostlocal, state

_allgather = multihost_utils.process_allgather
_broadcast = multihost_utils.broadcast_one_to_all
_equal = multihost_utils.assert_equal
_to_global = multihost_utils.host_local_array_to_global_array
_to_local = multihost_utils.global_array_to_host_local_array
P = jax.sharding.PartitionSpec


def process_allgather(in_tree: Any, tiled: bool = False, titled: bool | None = None) -> Any:
    """The values of all processes as NumPy arrays."""
    side_by_side = tiled if titled is None else titled
    return tree_util.tree_map(lambda leaf: _gather(leaf, side_by_side), in_tree)


def _gather(leaf: Any, tiled: bool) -> Any:
    if isinstance(leaf, arrays.GlobalDeviceArray):
        leaf = hostlocal.from_gda(leaf)
    elif isinstance(leaf, arrays.HostLocalArray):
        leaf = np.asarray(leaf)
    if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
        return _as_today(_allgather, leaf, tiled=True)
    if jax.process_count() == 1:
        return np.asarray(leaf)
    return _as_today(_allgather, np.asarray(leaf), tiled=tiled)


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The values of the first process in all of them."""
    return _as_today(_broadcast, tree_util.tree_map(_host, in_tree), is_source)


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise if the values differ between processes."""
    _as_today(_equal, tree_util.tree_map(_host, in_tree), fail_message)


def _as_today(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a function of today, which goes through others of its module that are replaced here."""
    with state.array_flag(True):
        return function(*args, **named)


def _host(leaf: Any) -> Any:
    return np.asarray(leaf) if isinstance(leaf, arrays.HostLocalArray) else leaf


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Any, pspecs: Any) -> Any:
    """Arrays of the whole mesh, of which the given ones are the parts of this process."""
    _require_arrays()
    return _to_global(tree_util.tree_map(_host, local_inputs), global_mesh, _specs(pspecs))


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Any, pspecs: Any) -> Any:
    """The parts that this process holds of arrays of the whole mesh."""
    _require_arrays()
    return _to_local(global_inputs, global_mesh, _specs(pspecs))


def _require_arrays() -> None:
    if not state.jax_array():
        raise RuntimeError("Please set `jax_array` config option to True to use this function.")


def _specs(pspecs: Any) -> Any:
    return tree_util.tree_map(lambda spec: P() if spec is None else spec, pspecs, is_leaf=lambda spec: spec is None)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "process_allgather": process_allgather,
    "broadcast_one_to_all": broadcast_one_to_all,
    "assert_equal": assert_equal,
    "host_local_array_to_global_array": host_local_array_to_global_array,
    "global_array_to_host_local_array": global_array_to_host_local_array,
}
"""Name in `jax.experimental.multihost_utils` -> function."""
