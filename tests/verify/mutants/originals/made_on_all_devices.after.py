"""Without inputs it is the context that says where the result lies."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
init = jax.jit(lambda: jnp.ones((8, 2)), out_shardings=NamedSharding(mesh, P()))
params = init()
print(params.shape)
