# original: tests/verify/mutants/originals/weak_rate.before.py
# wrong: a NumPy number has a type of its own, and the product takes it.
# kind: weak type lost
# processes: 1
"""A rate that takes on the type of what it multiplies."""

import jax
import jax.numpy as jnp

weights = jnp.ones(4, jnp.bfloat16)
rate = jnp.asarray(0.5, dtype=jnp.float32)
scaled = weights * rate
print(scaled.dtype, rate.weak_type)
