# original: fixtures/array-attributes/devices_index/before.py
# wrong: the third device of a set is any.
# kind: order of devices()
# processes: 1
# raises: AssertionError
"""`devices()` was a list and is a set: indexing it breaks, the rest of its uses do not."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(jnp.arange(8), NamedSharding(mesh, P("x")))
one = jnp.ones(())

assert one.addressable_shards[0].device == jax.devices()[0]
assert sorted(x.devices(), key=lambda d: -d.id)[2].id == 2
assert len(x.devices()) == 8 and jax.devices()[1] in x.devices()
for device in x.devices():
    assert device.platform == jax.devices()[0].platform
print(len(x.devices()))
