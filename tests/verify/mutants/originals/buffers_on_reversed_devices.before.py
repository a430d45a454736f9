"""Rows that lie on the devices from the last to the first."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.interpreters import pxla

buffers = [jax.device_put(jnp.full((3,), i), d) for i, d in enumerate(reversed(jax.local_devices()))]
stacked = pxla.make_sharded_device_array(ShapedArray((8, 3), jnp.int32), None, buffers)
print(np.asarray(stacked)[:, 0].tolist())
