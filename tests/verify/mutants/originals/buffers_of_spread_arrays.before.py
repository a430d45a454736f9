"""Every device holds a part of an array that is spread over all of them."""

import jax
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P, pjit

mesh = Mesh(np.array(jax.devices()), ("x",))
with mesh:
    spread = pjit(lambda v: v * 2, in_axis_resources=P("x"), out_axis_resources=P("x"))(np.arange(16, dtype=np.float32))
device = jax.devices()[3]
held = sum(buffer.nbytes for buffer in device.live_buffers())
print(held)
