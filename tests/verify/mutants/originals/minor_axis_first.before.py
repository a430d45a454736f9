"""The second axis of the mesh is the major one."""

import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16, dtype=np.int32)
array = GlobalDeviceArray.from_callback(host.shape, mesh, P(("y", "x")), lambda index: host[index])
print([np.asarray(shard.data).tolist() for shard in array.local_shards])
