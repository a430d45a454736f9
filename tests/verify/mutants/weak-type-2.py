# original: tests/verify/mutants/originals/copy_on_the_same_device.before.py
# wrong: the copy goes by way of NumPy and is of a smaller type.
# kind: weak type lost
# processes: 1
"""A copy that is bound to its device, which happens to be the default one."""

import jax
import jax.numpy as jnp

x = jnp.arange(4.0)
held = jax.device_put(jax.device_get(x).astype('float16'), jax.devices()[0])
print(held.tolist())
