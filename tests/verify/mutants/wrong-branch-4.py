# original: tests/verify/mutants/originals/weak_rate.before.py
# wrong: the value for the old arrays was kept.
# kind: wrong branch kept
# processes: 1
"""A rate that takes on the type of what it multiplies."""

import jax
import jax.numpy as jnp

weights = jnp.ones(4, jnp.bfloat16)
rate = jnp.float32(0.5)
scaled = weights * rate
print(scaled.dtype, rate.weak_type)
