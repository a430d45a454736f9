# original: fixtures/sharded-device-array/isinstance/before.py
# wrong: arrays on one device pass for sharded ones.
# kind: isinstance that flips on sharded arrays
# processes: 1
# raises: AssertionError
"""Take one copy of arrays that pmap spread over the devices."""
import jax
import jax.numpy as jnp


def describe(x):
    if isinstance(x, jax.Array):
        return "sharded"
    return "single" if hasattr(x, "shape") else "other"


spread = jax.pmap(lambda v: v * 2)(jnp.arange(8))
found = [describe(v) for v in (spread, jnp.ones(3), 1)]
assert found == ["sharded", "single", "other"], found
print(found)
