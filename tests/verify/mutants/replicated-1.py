# original: fixtures/global-device-array/from-callback-mixed/before.py
# wrong: every device gets everything.
# kind: replicated instead of sharded
# processes: 1
"""Shape by position, the rest by keyword."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def load(shape, mesh):
    values = np.linspace(0.0, 1.0, num=int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return jax.make_array_from_callback(shape, NamedSharding(mesh, P(None, None)), data_callback=values.__getitem__)


mesh = Mesh(np.array(jax.devices()), ("x",))
array = load((2, 8), mesh)
print(array.shape, [np.asarray(s.data).round(3).tolist() for s in array.addressable_shards])
