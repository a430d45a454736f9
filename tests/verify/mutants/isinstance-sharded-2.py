# original: fixtures/sharded-device-array/and_not/before.py
# wrong: the second half of the test was dropped.
# kind: isinstance that flips on sharded arrays
# processes: 1
# raises: ValueError
"""The pair of tests that tells single-device arrays from sharded ones (chex, acme)."""
import jax
import jax.numpy as jnp


def first_shard(x):
    if isinstance(x, jax.Array):
        return x
    return x[0]


spread = jax.pmap(lambda v: v * 3)(jnp.arange(8))
assert first_shard(spread) == 0 and first_shard(jnp.float32(2.0)) == 2.0
print(int(first_shard(spread)))
