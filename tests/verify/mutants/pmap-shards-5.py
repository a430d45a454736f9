# original: tests/verify/mutants/originals/row_by_index.before.py
# wrong: the indexed row lies on all devices.
# kind: row of a pmap result
# processes: 1
"""x[i] of a pmap result was the buffer of device i."""

import jax
import numpy as np

step = jax.pmap(lambda v: v * 2)
out = step(np.arange(24.0, dtype=np.float32).reshape(8, 3))
last = out[7]
print(last.shape, sorted(d.id for d in last.devices())[-1])
