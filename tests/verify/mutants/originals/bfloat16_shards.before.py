"""Shards of bfloat16, written out one by one."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(16).astype(jnp.bfloat16)
array = GlobalDeviceArray.from_callback(host.shape, mesh, P("x"), lambda index: host[index])
written = {shard.device.id: np.asarray(shard.data) for shard in array.local_shards}
print(array.dtype, written[3].dtype)
