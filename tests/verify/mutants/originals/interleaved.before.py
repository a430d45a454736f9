"""A mesh in which the devices of a process are no block takes no input of one host."""

import jax
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P, pjit

devices = sorted(jax.devices(), key=lambda d: (d.id % jax.local_device_count(), d.process_index))
mesh = Mesh(np.array(devices), ("x",))
step = pjit(lambda x: x * 2, in_axis_resources=P("x"), out_axis_resources=P("x"))
batch = np.arange(8.0)
try:
    with mesh:
        out = step(batch)
    accepted = True
except ValueError:
    accepted = False
print(accepted)
