"""A mesh in which the devices of a process are no block takes no input of one host."""

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = sorted(jax.devices(), key=lambda d: (d.id % jax.local_device_count(), d.process_index))
mesh = Mesh(np.array(devices), ("x",))
step = jax.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh, P("x")), out_shardings=NamedSharding(mesh, P("x")))
batch = np.arange(8.0)
try:
    out = multihost_utils.global_array_to_host_local_array(
        step(multihost_utils.host_local_array_to_global_array(batch, mesh, P("x"))), mesh, P("x")
    )
    accepted = True
except ValueError:
    accepted = False
print(accepted)
