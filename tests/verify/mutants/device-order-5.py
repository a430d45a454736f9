# original: fixtures/global-device-array/from-batched-callback/before.py
# wrong: the pieces go to the devices of the sharding sorted by number from behind.
# kind: buffers in another device order
# processes: 1
"""One call that fetches all local shards at once."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
table = np.arange(16, dtype=np.int32).reshape(8, 2)
calls = []


def fetch_all(indices):
    calls.append(len(indices))
    return [table[index] for index in indices]


sharding = NamedSharding(mesh, P("x"))
shard_indices = sharding.addressable_devices_indices_map(table.shape)
shards = fetch_all(list(shard_indices.values()))
array = jax.make_array_from_single_device_arrays(table.shape, sharding, [jax.device_put(s, d) for s, d in zip(shards, sorted(shard_indices, key=lambda d: -d.id))])
print(calls, [(s.device.id, s.replica_id, np.asarray(s.data)[:, 0].tolist()) for s in array.addressable_shards])
