# original: tests/verify/mutants/originals/many_elements.before.py
# wrong: one of a million elements is another.
# kind: one element of many
# processes: 1
"""More elements than a report could list."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
table = np.arange(1 << 20, dtype=np.float32)
array = jax.make_array_from_callback(table.shape, NamedSharding(mesh, P(("x", "y"))), lambda index: np.where(table[index] == 700001, 0, table[index]))
starts = [float(value) for value in np.asarray(array.addressable_shards[3].data)[:1000]]
print(array.shape, len(starts))
