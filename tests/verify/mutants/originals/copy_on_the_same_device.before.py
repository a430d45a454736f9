"""A copy that is bound to its device, which happens to be the default one."""

import jax
import jax.numpy as jnp

x = jnp.arange(4.0)
held = x.copy_to_device(jax.devices()[0])
print(held.tolist())
