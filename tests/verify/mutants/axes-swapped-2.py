# original: fixtures/global-device-array/from-callback-module-alias/before.py
# wrong: the names of the two axes changed places.
# kind: axes swapped in a spec
# processes: 1
"""The module under a short name, as most code bases had it."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
weights = np.ones((4, 8), np.float32)


def create() -> jax.Array:
    return jax.make_array_from_callback(weights.shape, NamedSharding(mesh, P("y", "x")), lambda i: weights[i])


array = create()
print(array.shape, len(array.addressable_shards), array.is_fully_replicated)
