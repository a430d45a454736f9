# original: fixtures/array-attributes/device_buffers/before.py
# wrong: the third copy is the first one.
# kind: addressable_data(i) of a replicated array
# processes: 1
# raises: AssertionError
"""The buffers of an array, as a list, by position, counted and sliced."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(jnp.arange(16), NamedSharding(mesh, P("x")))
copies = jax.device_put(jnp.arange(2), NamedSharding(mesh, P()))

buffers = [s.data for s in x.addressable_shards]
first, last, index = x.addressable_data(0), x.addressable_shards[-1].data, 3
assert len(buffers) == len(x.addressable_shards) == 8
assert first.tolist() == [0, 1] and last.tolist() == [14, 15]
assert x.addressable_shards[index].data.tolist() == [6, 7]
assert [b.data.tolist() for b in x.addressable_shards[2:4]] == [[4, 5], [6, 7]]
third = copies.addressable_data(3)  # a copy on the device with that position
assert third.devices() == {jax.devices()[3]}
print(len(buffers))
