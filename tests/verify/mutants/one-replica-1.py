# original: fixtures/gda-attributes/device-buffers/before.py
# wrong: only the first copy of each part is kept.
# kind: buffers of a replicated array de-duplicated
# processes: 1
"""The private list of buffers, in every way it was used."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16, dtype=np.int32).reshape(8, 2)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

for buffer in [s.data for s in array.addressable_shards]:
    buffer.block_until_ready()
print(array.addressable_shards[3].data.shape, len([s for s in array.addressable_shards if s.replica_id == 0]))
copy = jax.make_array_from_single_device_arrays(array.shape, array.sharding, [s.data for s in array.addressable_shards])
print(np.asarray(copy).tolist() == host.tolist())
