# original: tests/verify/mutants/originals/copy_on_the_same_device.before.py
# wrong: a copy is bound to no device.
# kind: committed or not
# processes: 1
"""A copy that is bound to its device, which happens to be the default one."""

import jax
import jax.numpy as jnp

x = jnp.arange(4.0)
held = jnp.array(x)
print(held.tolist())
