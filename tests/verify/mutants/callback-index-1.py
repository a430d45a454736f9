# original: fixtures/global-device-array/from-callback/before.py
# wrong: rows and columns of the index changed places.
# kind: callback with the wrong index
# processes: 1
# raises: ValueError
"""A batch cut over a 4x2 mesh, each device fetching only its own part."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
batch = np.arange(32.0, dtype=np.float32).reshape(8, 4)


def fetch(index):
    return batch[index[::-1]]


array = jax.make_array_from_callback(batch.shape, NamedSharding(mesh, PartitionSpec("data", "model")), fetch)

print(array.shape, array.dtype)
for shard in array.addressable_shards:
    print(shard.device.id, shard.index, np.asarray(shard.data).tolist())
