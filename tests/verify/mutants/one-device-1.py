# original: tests/verify/mutants/originals/made_on_all_devices.before.py
# wrong: jit uses one device where pjit used the mesh.
# kind: jit places on one device
# processes: 1
"""Without inputs it is the context that says where the result lies."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
init = jax.jit(lambda: jnp.ones((8, 2)))
params = init()
print(params.shape)
