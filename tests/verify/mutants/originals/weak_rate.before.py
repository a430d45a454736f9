"""A rate that takes on the type of what it multiplies."""

import jax
import jax.numpy as jnp

jax.config.update("jax_array", True)
weights = jnp.ones(4, jnp.bfloat16)
rate = jnp.asarray(0.5) if jax.config.jax_array else jnp.float32(0.5)
scaled = weights * rate
print(scaled.dtype, rate.weak_type)
