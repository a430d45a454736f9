# original: fixtures/array-attributes/device_buffers_loops/before.py
# wrong: the pairs hold the shape of the array.
# kind: shape of the whole for that of the shard
# processes: 1
# raises: AssertionError
"""Loops and comprehensions over the buffers."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(jnp.arange(8), NamedSharding(mesh, P("x")))

devices = [b.device for b in x.addressable_shards]
platforms = {buf.device.platform for buf in x.addressable_shards}
values = [int(buf.data[0]) for buf in x.addressable_shards]
by_id = sorted([s.data for s in x.addressable_shards], key=lambda b: -b.device.id)
pairs = dict((b.device.id, x.shape) for b in x.addressable_shards)

assert devices == jax.devices() and len(platforms) == 1 and values == list(range(8))
assert int(by_id[0][0]) == 7 and pairs[5] == (1,)
for b in [s.data for s in x.addressable_shards]:
    assert b.device in devices
    b.delete()
print(values)
