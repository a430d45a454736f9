"""Which old JAX a program was written for, from the names it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SEPARATE_ARRAYS = (
    b"GlobalDeviceArray",
    b"FROM_GDA",
    b"ShardedDeviceArray",
    b"make_sharded_device_array",
    b"local_shards",
    b"device_buffers",
    b"jax_parallel_functions_output_gda",
)
_ONE_ARRAY = (
    b"in_shardings",
    b"out_shardings",
    b"jax.sharding",
    b"jax.Array",
    b"make_array_from_callback",
    b"make_array_from_single_device_arrays",
    b"host_local_array_to_global_array",
)
_NEWEST = "0.4.6"
_OLDEST = "0.3.25"


def guess(sources: Iterable[bytes]) -> tuple[str, bool]:
    """The version that fits the texts of a program, and whether its arrays are those of `jax.Array`."""
    words = set()
    for source in sources:
        words |= {name for name in (*_SEPARATE_ARRAYS, *_ONE_ARRAY) if re.search(rb"\b%s\b" % re.escape(name), source)}
    newer = bool(words & {*_ONE_ARRAY})
    if words & {*_SEPARATE_ARRAYS}:
        return (_NEWEST if newer else _OLDEST), False
    return (_NEWEST, True) if newer else (_OLDEST, False)
