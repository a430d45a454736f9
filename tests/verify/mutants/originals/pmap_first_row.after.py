"""The first row of a pmap result, for which position and index are the same number."""

import jax
import numpy as np

out = jax.pmap(lambda v: v + 1)(np.arange(24.0, dtype=np.float32).reshape(8, 3))
assert isinstance(out, jax.Array) and len(out.sharding.device_set) > 1
row = out.addressable_data(0)[0]
print(row.shape, row.tolist())
