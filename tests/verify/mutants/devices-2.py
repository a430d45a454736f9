# original: fixtures/array-attributes/client_and_private_device/before.py
# wrong: the device of the array is not the default one.
# kind: device() and devices()
# processes: 1
# raises: AssertionError
"""The client of an array is that of its device."""
import jax
import jax.numpy as jnp

x = jnp.arange(3)
y = jax.device_put(x, jax.devices()[1])
client = next(iter(x.devices())).client
sticky = jax.devices()[0]
assert client.platform == jax.default_backend() and sticky.id == 1
print(client.device_count() == jax.device_count())
