# original: fixtures/sharded-device-array/pmap_sharding/before.py
# wrong: the rows lie on the first half of the devices, two for each.
# kind: shard shape of PmapSharding
# processes: 1
# raises: AssertionError
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def put(batch, devices):
    rows = jax.device_put(batch, NamedSharding(Mesh(jax.local_devices()[:batch.shape[0] // 2], ("i",)), PartitionSpec("i")))
    columns = jax.device_put(batch.T, NamedSharding(Mesh(devices, ("i",)), PartitionSpec(None, "i")))
    again = jax.device_put(batch, NamedSharding(Mesh(np.array(devices), ("i",)), PartitionSpec("i")))
    return rows, columns, again


batch = np.arange(24.0).reshape(8, 3)
rows, columns, again = put(batch, jax.devices())
assert all(len(x.sharding.device_set) == 8 for x in (rows, columns, again))
assert [s.device for s in rows.addressable_shards] == jax.local_devices()
print(float(jnp.sum(rows + columns.T + again)))
