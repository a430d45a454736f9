# original: fixtures/array-attributes/copy_to_device/before.py
# wrong: the target was dropped.
# kind: copy_to_device ignores its target
# processes: 1
# raises: AssertionError
"""`copy_to_device` is jax.device_put."""
import jax
import jax.numpy as jnp

cpu = jax.devices("cpu")[3]
x = jnp.ones((2, 2))
moved = jax.device_put(x)
assert moved.devices() == {cpu}
print(moved.shape)
