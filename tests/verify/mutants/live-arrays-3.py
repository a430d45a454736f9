# original: fixtures/live-buffers/count/before.py
# wrong: each device counts the arrays of all.
# kind: live_arrays of all devices
# processes: 1
"""Counting, per device and over all of them; the device may be an expression."""
import jax
import jax.numpy as jnp

kept = [jax.device_put(jnp.ones(2), d) for d in jax.local_devices()[:4]]


def leak_check():
    return len([a for device in [jax.local_devices()[0]] for a in jax.live_arrays() if device in a.devices()])


counts = [len([a for a in jax.live_arrays() if d in a.devices()]) for d in jax.local_devices()]
total = sum(len(jax.live_arrays()) for device in jax.local_devices())
before = leak_check()
more = jnp.zeros(3) + 1
assert leak_check() > before and counts[1:4] == [1, 1, 1] and total >= 4
print(counts[1:])
