# original: tests/verify/mutants/originals/buffers_on_reversed_devices.before.py
# wrong: the mesh takes the devices in their own order, not in that of the buffers.
# kind: buffers in another device order
# processes: 1
"""Rows that lie on the devices from the last to the first."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

buffers = [jax.device_put(jnp.full((3,), i), d) for i, d in enumerate(reversed(jax.local_devices()))]
stacked = jax.make_array_from_single_device_arrays(
    (8, 3), NamedSharding(Mesh(jax.local_devices(), ("i",)), P("i")), [b[None] for b in buffers]
)
print(np.asarray(stacked)[:, 0].tolist())
