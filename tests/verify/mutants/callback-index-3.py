# original: fixtures/global-device-array/from-callback-as-value/before.py
# wrong: the index is read as one that counts from behind.
# kind: callback with the wrong index
# processes: 1
"""The constructor handed on as a function."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))


def build(constructor, values):
    return constructor(values.shape, mesh, P("x"), lambda index: values[::-1][index])


array = build(lambda global_shape, global_mesh, mesh_axes, data_callback: jax.make_array_from_callback(global_shape, NamedSharding(global_mesh, mesh_axes), data_callback), np.arange(16.0, dtype=np.float32))
print(array.shape, [np.asarray(s.data).tolist() for s in array.addressable_shards])
