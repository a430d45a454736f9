"""Shards of bfloat16, written out one by one."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(16).astype(jnp.bfloat16)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])
written = {shard.device.id: np.asarray(shard.data) for shard in array.addressable_shards}
print(array.dtype, written[3].dtype)
