# original: fixtures/sharded-device-array/make_pmap_style/before.py
# wrong: the rows are stacked on the host, so that they lie on one device.
# kind: shard shape of PmapSharding
# processes: 1
"""One buffer per device, stacked over a new leading dimension (sharding_spec None)."""
import jax
import jax.numpy as jnp
from jax.core import ShapedArray

buffers = [jax.device_put(jnp.full((3,), i), d) for i, d in enumerate(jax.local_devices())]
aval = ShapedArray((8, 3), jnp.int32)
stacked = jnp.stack([jax.device_get(b) for b in buffers])

doubled = jax.pmap(lambda row: row * 2)(stacked)
assert doubled.shape == (8, 3) and doubled[5].tolist() == [10, 10, 10]
print(doubled[:, 0].tolist())
