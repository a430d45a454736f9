# original: fixtures/global-device-array/from-callback/before.py
# wrong: only the first four devices take part.
# kind: sharding on a sub-mesh
# processes: 1
"""A batch cut over a 4x2 mesh, each device fetching only its own part."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))
batch = np.arange(32.0, dtype=np.float32).reshape(8, 4)


def fetch(index):
    return batch[index]


array = jax.make_array_from_callback(batch.shape, NamedSharding(mesh, PartitionSpec("data", "model")), fetch)

print(array.shape, array.dtype)
for shard in array.addressable_shards:
    print(shard.device.id, shard.index, np.asarray(shard.data).tolist())
