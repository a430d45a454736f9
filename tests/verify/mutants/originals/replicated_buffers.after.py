"""One copy for each device, all of them wanted."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(4, dtype=np.int32)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P()), lambda index: host[index])
copies = [array.addressable_shards[i].data for i in range(len(array.addressable_shards))]
print(len(copies), copies[5].shape)
