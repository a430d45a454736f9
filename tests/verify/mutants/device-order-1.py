# original: fixtures/global-device-array/constructor/before.py
# wrong: the pieces are put on the devices column by column.
# kind: buffers in another device order
# processes: 1
# raises: AssertionError
"""Per-device buffers put together by the raw constructor."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16.0, dtype=np.float32).reshape(8, 2)

buffers = [jax.device_put(host[2 * i : 2 * i + 2, j : j + 1], jax.devices()[4 * j + i]) for i in range(4) for j in range(2)]
array = jax.make_array_from_single_device_arrays(host.shape, NamedSharding(mesh, P("x", "y")), buffers)

np.testing.assert_array_equal(np.asarray(array), host)
print(array.shape, array.dtype, [shard.device.id for shard in array.addressable_shards])
