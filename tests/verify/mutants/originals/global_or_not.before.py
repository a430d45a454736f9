"""Arrays over the whole mesh go one way, all other values another."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(8.0, dtype=np.float32)


def way(value):
    return "by shards" if isinstance(value, GlobalDeviceArray) else "at once"


array = GlobalDeviceArray.from_callback(host.shape, mesh, P("x"), lambda index: host[index])
print([way(value) for value in (array, jnp.ones(2), host)])
