"""One copy for each device, all of them wanted."""

import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(4, dtype=np.int32)
array = GlobalDeviceArray.from_callback(host.shape, mesh, P(), lambda index: host[index])
copies = [array.local_data(i) for i in range(len(array.local_shards))]
print(len(copies), copies[5].shape)
