# original: tests/verify/mutants/originals/clipped_when_concrete.before.py
# wrong: tracers are jax.Arrays, so the traced factor is clipped too.
# kind: isinstance that flips on tracers
# processes: 1
"""What is no tracer gets clipped before it is used."""

import jax
import jax.numpy as jnp


def scaled(x, factor):
    if isinstance(factor, jax.Array):
        factor = jnp.clip(factor, 0.0, 1.0)
    return x * factor


x, factor = jnp.arange(3.0), jnp.float32(3.0)
concrete, traced = scaled(x, factor), jax.jit(scaled)(x, factor)
print(concrete.tolist(), traced.tolist())
