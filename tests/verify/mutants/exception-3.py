# original: tests/verify/mutants/originals/any_lookup_error.before.py
# wrong: what does not exist is said by another exception, which is caught as well.
# kind: exception of another family
# processes: 1
"""Positions that do not exist are left out."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
array = jax.make_array_from_callback((8,), NamedSharding(mesh, P("x")), lambda index: np.ones(1, np.float32))


def size(position):
    try:
        return array.addressable_shards[range(-8, 8).index(position) - 8].data.shape
    except (LookupError, ValueError):
        return None


sizes = [size(position) for position in (0, 7, 8, -1)]
print(sizes)
