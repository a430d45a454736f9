# original: fixtures/array-attributes/device_buffers_pmap/before.py
# wrong: the shard has kept the mapped dimension.
# kind: shard shape of PmapSharding
# processes: 1
# raises: AssertionError
"""A pmap result that the file shows: its shards have kept the mapped dimension since 0.4.34, so it is taken off."""
import jax
import jax.numpy as jnp

step = jax.pmap(lambda v: v * 2)
out = step(jnp.arange(24.0).reshape(8, 3))
row = out.addressable_shards[2].data
assert row.shape == (3,) and row.tolist() == [12.0, 14.0, 16.0]
print(row.tolist())
