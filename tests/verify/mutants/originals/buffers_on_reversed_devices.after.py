"""Rows that lie on the devices from the last to the first."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

buffers = [jax.device_put(jnp.full((3,), i), d) for i, d in enumerate(reversed(jax.local_devices()))]
stacked = jax.make_array_from_single_device_arrays(
    (8, 3), NamedSharding(Mesh([b.device for b in buffers], ("i",)), P("i")), [b[None] for b in buffers]
)
print(np.asarray(stacked)[:, 0].tolist())
