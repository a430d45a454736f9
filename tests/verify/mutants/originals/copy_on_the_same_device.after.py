"""A copy that is bound to its device, which happens to be the default one."""

import jax
import jax.numpy as jnp

x = jnp.arange(4.0)
held = jax.device_put(x, jax.devices()[0])
print(held.tolist())
