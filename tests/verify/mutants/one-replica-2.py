# original: fixtures/gda-attributes/local-shards/before.py
# wrong: the loop leaves out the copies.
# kind: buffers of a replicated array de-duplicated
# processes: 1
"""Shards of this process, iterated, indexed and passed on."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16, dtype=np.int32).reshape(8, 2)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

for shard in (s for s in array.addressable_shards if s.replica_id == 0):
    print(shard.device.id, shard.replica_id, np.asarray(shard.data).tolist())

first = array.addressable_shards[0].data
shards = [s for s in array.addressable_shards if s.replica_id == 0]
print(first.shape, len(shards), len(list(enumerate(array.addressable_shards))))
