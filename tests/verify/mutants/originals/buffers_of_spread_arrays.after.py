"""Every device holds a part of an array that is spread over all of them."""

import jax
import jax.numpy as jnp
import numpy as np

spread = jax.pmap(lambda v: v * 2)(np.arange(8.0, dtype=np.float32))
device = jax.devices()[3]
held = len([a for a in jax.live_arrays() if device in a.devices()])
print(held)
