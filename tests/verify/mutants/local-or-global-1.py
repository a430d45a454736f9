# original: tests/verify/mutants/originals/rows_of_this_process.before.py
# wrong: the result stays global, so a process believes to have all rows.
# kind: shape host-local or global
# processes: 2
"""How many rows a process has is read off the result."""

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
step = jax.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh, P("data")), out_shardings=NamedSharding(mesh, P("data")))
batch = np.arange(8.0) + 8 * jax.process_index()
out = step(multihost_utils.host_local_array_to_global_array(batch, mesh, P("data")))
rows = out.shape[0]
weights = np.ones(rows)
print(rows)
