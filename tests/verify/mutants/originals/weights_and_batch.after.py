"""Weights that span the processes, a batch of which every process has its own rows."""

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
table = np.arange(16.0, dtype=np.float32)
weights = jax.make_array_from_callback((16,), NamedSharding(mesh, P("data")), lambda index: table[index])
apply = jax.jit(lambda w, b: w * b, out_shardings=NamedSharding(mesh, P("data")))
size = 16 // jax.process_count()
batch = np.arange(size, dtype=np.float32) + 100 * jax.process_index()
out = apply(weights, multihost_utils.host_local_array_to_global_array(batch, mesh, P("data")))
print(out.shape, [np.asarray(s.data).tolist() for s in out.addressable_shards])
