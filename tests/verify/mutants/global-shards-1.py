# original: fixtures/gda-attributes/local-shards/before.py
# wrong: the shards of the other process are counted, and hold no data.
# kind: local_shards taken for global ones
# processes: 2
"""Shards of this process, iterated, indexed and passed on."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16, dtype=np.int32).reshape(8, 2)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

for shard in array.global_shards:
    print(shard.device.id, shard.replica_id, np.asarray(shard.data).tolist())

first = array.global_shards[0].data
shards = [s for s in array.global_shards if s.replica_id == 0]
print(first.shape, len(shards), len(list(enumerate(array.global_shards))))
