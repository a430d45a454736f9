# original: tests/verify/mutants/originals/constraint_decides.before.py
# wrong: the result is cut over one axis only.
# kind: with_sharding_constraint dropped
# processes: 1
"""The constraint inside decides where the result lies."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import with_sharding_constraint
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def layer(x):
    return jnp.tanh(x)


layer = jax.jit(layer, in_shardings=NamedSharding(mesh, P("x")))
out = layer(np.ones((8, 4), np.float32))
print(out.shape)
