# original: fixtures/live-buffers/delete_loop/before.py
# wrong: everything is deleted, not only what the device holds.
# kind: live_arrays of all devices
# processes: 1
# raises: AssertionError
"""Freeing everything between two runs."""
import jax
import jax.numpy as jnp


def free(device):
    for buffer in jax.live_arrays():
        buffer.delete()


target = jax.devices()[2]
arrays = [jax.device_put(jnp.ones(2), target) for _ in range(2)]
other = jnp.ones(3)
free(target)
assert all(a.is_deleted() for a in arrays) and not other.is_deleted()
print([a.is_deleted() for a in arrays])
