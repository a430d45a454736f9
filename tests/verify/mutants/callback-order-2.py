# original: fixtures/global-device-array/from-batched-callback/before.py
# wrong: the callback is asked once for each part, not once for each device.
# kind: callback called with other requests
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
parts = fetch_all(list(dict.fromkeys(shard_indices.values())))
shards = [part for part in parts for _ in range(2)]
array = jax.make_array_from_single_device_arrays(table.shape, sharding, [jax.device_put(s, d) for s, d in zip(shards, shard_indices)])
print(calls, [(s.device.id, s.replica_id, np.asarray(s.data)[:, 0].tolist()) for s in array.addressable_shards])
