# original: fixtures/global-device-array/from-batched-callback-with-devices/before.py
# wrong: the devices of a group are taken in order of their names from behind, and so are the groups.
# kind: from_batched_callback in set order
# processes: 1
"""The callback puts the data on the devices itself, once for each group of devices that hold the same part."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
table = np.arange(16, dtype=np.int32).reshape(8, 2)
seen = []


def place(requests):
    buffers = []
    for index, devices in requests:
        seen.append((index[0].start, [d.id for d in devices]))
        buffers.extend(jax.device_put(table[index], device) for device in devices)
    return buffers


sharding = NamedSharding(mesh, P("x"))
shard_groups = {}
for device, index in sharding.addressable_devices_indices_map(table.shape).items():
    shard_groups.setdefault(str(index), (index, []))[1].append(device)
shards = place([(index, tuple(devices)) for index, devices in reversed(shard_groups.values())])
array = jax.make_array_from_single_device_arrays(table.shape, sharding, shards)
np.testing.assert_array_equal(np.asarray(array), table)
print(seen)
