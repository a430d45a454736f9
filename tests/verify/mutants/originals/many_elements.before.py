"""More elements than a report could list."""

import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
table = np.arange(1 << 20, dtype=np.float32)
array = GlobalDeviceArray.from_callback(table.shape, mesh, P(("x", "y")), lambda index: table[index])
starts = [float(value) for value in np.asarray(array.local_data(3))[:1000]]
print(array.shape, len(starts))
