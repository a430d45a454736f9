# original: fixtures/jax-array-flag/update-true/before.py
# wrong: the line of double precision went with its neighbour.
# kind: dtype lost
# processes: 1
"""Switch jax.Array on at the top of the main file, as the guide said."""

import jax
import jax.numpy as jnp


x = jnp.arange(4, dtype='float64')
print(type(x).__name__, x.dtype, x.sum())
