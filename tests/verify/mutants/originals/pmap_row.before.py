"""A row of a pmap result lies on one device."""

import jax
import numpy as np
from jax.interpreters import pxla

out = jax.pmap(lambda v: v + 1)(np.arange(24.0, dtype=np.float32).reshape(8, 3))
assert isinstance(out, pxla.ShardedDeviceArray)
row = out.device_buffers[5]
print(row.shape, row.tolist())
