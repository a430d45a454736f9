# original: fixtures/device-array/type_is/before.py
# wrong: no array has exactly the type jax.Array.
# kind: class compared
# processes: 1
# raises: AssertionError
"""`type(x) is DeviceArray`: jax.Array is abstract, so no array has exactly that type."""
import jax
import jax.numpy as jnp
import numpy as np


def describe(x):
    if type(x) is jax.Array:
        return "device"
    if type(x) is not np.ndarray:
        return "scalar"
    return "host"


def same_kind(x, y):
    return isinstance(x, jax.Array) and not (not isinstance(y, jax.Array))


found = [describe(v) for v in (jnp.ones(2), np.ones(2), 1)]
assert found == ["device", "host", "scalar"], found
assert same_kind(jnp.ones(2), jnp.ones(3)) and not same_kind(1, jnp.ones(1))
print(found)
