# original: fixtures/global-device-array/literal-lists/before.py
# wrong: the axes of the list are read from behind.
# kind: axes swapped in a spec
# processes: 1
"""JAX 0.3.0 took the shape as a list and the axes as any sequence."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
grid = np.arange(16, dtype=np.int32).reshape(8, 2)

first = jax.make_array_from_callback((8, 2), NamedSharding(mesh, PartitionSpec("x", None)), lambda index: grid[index])
second = jax.make_array_from_callback(grid.shape, NamedSharding(mesh, PartitionSpec("x", "y")), lambda index: grid[index])
axes = [None, "y"]
third = jax.make_array_from_callback(grid.shape, NamedSharding(mesh, PartitionSpec(*reversed(axes))), lambda index: grid[index])
print([a.addressable_shards[0].data.shape for a in (first, second, third)])
