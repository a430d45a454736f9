# original: fixtures/gda-attributes/mesh-and-axes/before.py
# wrong: the copy keeps the mesh and loses the spec.
# kind: replicated instead of sharded
# processes: 1
"""Mesh and axes of an array are those of its sharding."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16, dtype=np.int32).reshape(8, 2)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

print(array.sharding.mesh.axis_names, array.sharding.mesh == mesh, array.sharding.spec == P("x"))


def like(other: jax.Array, value: float):
    filled = np.full(other.shape, value, np.float32)
    return jax.make_array_from_callback(other.shape, NamedSharding(other.sharding.mesh, P()), lambda index: filled[index])


print(np.asarray(like(array, 2.0)).sum())
