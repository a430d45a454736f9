# original: tests/verify/mutants/originals/pmap_row.before.py
# wrong: the shard has kept the mapped dimension, and nothing asserts its shape.
# kind: shard shape of PmapSharding
# processes: 1
"""A row of a pmap result lies on one device."""

import jax
import numpy as np

out = jax.pmap(lambda v: v + 1)(np.arange(24.0, dtype=np.float32).reshape(8, 3))
assert isinstance(out, jax.Array) and len(out.sharding.device_set) > 1
row = out.addressable_shards[5].data
print(row.shape, row.tolist())
