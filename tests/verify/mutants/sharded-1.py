# original: fixtures/gda-attributes/local-data-by-position/before.py
# wrong: the replicated copy is cut.
# kind: sharded instead of replicated
# processes: 1
"""addressable_data(i) gives the first device's copy of a replicated array whatever i is, so the shard is asked."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16, dtype=np.int32).reshape(8, 2)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

replicated = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

print([replicated.addressable_shards[i].data.shape for i in range(8)])
print(np.asarray(array.addressable_shards[-1].data).tolist(), np.asarray(array.addressable_shards[3].data).tolist())
