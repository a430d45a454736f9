# original: fixtures/sharded-device-array/make_device_array/before.py
# wrong: by way of the host the array comes to the default device, bound to none.
# kind: committed or not
# processes: 1
# raises: AssertionError
"""make_device_array wrapped a buffer that already was on its device."""
import jax
import jax.numpy as jnp

device = jax.local_devices()[2]
buffer = jax.device_put(jnp.arange(3), device)
aval = jax.core.ShapedArray(buffer.shape, buffer.dtype)
committed = jax.device_put(buffer, device)
loose = jnp.asarray(jax.device_get(buffer))
assert committed.devices() == loose.devices() == {device}
print(committed.tolist(), loose.tolist())
