# original: tests/verify/mutants/originals/pmap_first_row.before.py
# wrong: the row lies on all devices.
# kind: row of a pmap result
# processes: 1
"""The first row of a pmap result, for which position and index are the same number."""

import jax
import numpy as np

out = jax.pmap(lambda v: v + 1)(np.arange(24.0, dtype=np.float32).reshape(8, 3))
assert isinstance(out, jax.Array) and len(out.sharding.device_set) > 1
row = out[0]
print(row.shape, row.tolist())
