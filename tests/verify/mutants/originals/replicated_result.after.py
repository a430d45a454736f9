"""A replicated result of pjit was a ShardedDeviceArray too."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
total = jax.jit(lambda a: a * 2, in_shardings=NamedSharding(mesh, P("x")), out_shardings=NamedSharding(mesh, P()))


def spread(value):
    return isinstance(value, jax.Array) and value.is_fully_addressable and len(value.sharding.device_set) > 1


out = total(np.arange(8.0))
found = [spread(out), spread(jnp.ones(2)), spread(3)]
print(found)
