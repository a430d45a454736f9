# original: fixtures/live-buffers/device/before.py
# wrong: one of the two calls was not migrated, and returns an empty list now.
# kind: a use that was forgotten
# processes: 1
# raises: AssertionError
"""Memory held on one device: the old call returns an empty list today."""
import jax
import jax.numpy as jnp

device = jax.devices()[1]
kept = [jax.device_put(jnp.ones(4), device) for _ in range(3)]
elsewhere = jnp.ones(4)
alive = [a for a in jax.live_arrays() if device in a.devices()]
held = sum(b.nbytes for b in device.live_buffers())
assert len(alive) == 3 and held == 48
print(len(alive), held)
