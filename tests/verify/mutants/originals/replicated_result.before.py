"""A replicated result of pjit was a ShardedDeviceArray too."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P, pjit
from jax.interpreters import pxla

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
total = pjit(lambda a: a * 2, in_axis_resources=P("x"), out_axis_resources=None)


def spread(value):
    return isinstance(value, pxla.ShardedDeviceArray)


with mesh:
    out = total(np.arange(8.0))
found = [spread(out), spread(jnp.ones(2)), spread(3)]
print(found)
