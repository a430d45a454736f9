# original: tests/verify/mutants/originals/many_evaluations.before.py
# wrong: the last step is left out.
# kind: one evaluation of many
# processes: 1
"""One line that runs again and again."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
array = jax.make_array_from_callback((8,), NamedSharding(mesh, P("x")), lambda index: np.ones(1, np.float32))
for step in range(59):
    shard = array.addressable_shards[step % 8].data
print(shard.shape)
