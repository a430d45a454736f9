"""Without inputs it is the context that says where the result lies."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P, pjit

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
init = pjit(lambda: jnp.ones((8, 2)), in_axis_resources=(), out_axis_resources=None)
with mesh:
    params = init()
print(params.shape)
