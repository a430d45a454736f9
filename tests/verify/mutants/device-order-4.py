# original: fixtures/global-device-array/constructor-from-another-array/before.py
# wrong: the scaled buffers are sorted by their last element and put back in that order.
# kind: buffers in another device order
# processes: 1
"""A copy on the same mesh: shape, mesh and axes come from another array, which has a sharding of its own now."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def scale(array: jax.Array, factor: float) -> jax.Array:
    found = sorted((shard.data * factor for shard in array.addressable_shards), key=lambda b: -float(b[-1]))
    buffers = [jax.device_put(b, d) for b, d in zip(found, array.sharding.mesh.devices.flat)]
    return jax.make_array_from_single_device_arrays(array.shape, array.sharding, buffers)


mesh = Mesh(np.array(jax.devices()), ("x",))
base = np.arange(8.0, dtype=np.float32)
array = jax.make_array_from_callback(base.shape, NamedSharding(mesh, P("x")), lambda index: base[index])
scaled = scale(array, 10.0)
assert scaled.sharding == array.sharding
print(np.asarray(scaled))
