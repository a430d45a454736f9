# original: fixtures/sharded-device-array/isinstance_tuple/before.py
# wrong: NumPy arrays pass for JAX arrays.
# kind: isinstance that flips on NumPy
# processes: 1
# raises: AssertionError
"""Tuples: beside DeviceArray the class adds nothing; beside others it becomes its own test."""
import jax
import jax.numpy as jnp
import numpy as np


def is_jax(x):
    return isinstance(x, (jax.Array, np.ndarray))


def is_batch(x):
    return (
        isinstance(x, np.ndarray)
        or (
            isinstance(x, jax.Array)
            and x.is_fully_addressable
            and len(x.sharding.device_set) > 1
        )
    )


def is_batch_or_list(x):
    return not (
        isinstance(x, (list, np.ndarray))
        or (
            isinstance(x, jax.Array)
            and x.is_fully_addressable
            and len(x.sharding.device_set) > 1
        )
    )


spread, one = jax.pmap(lambda v: v)(jnp.zeros(8)), jnp.zeros(8)
assert [is_jax(v) for v in (spread, one, np.ones(1))] == [True, True, False]
assert [is_batch(v) for v in (spread, one, np.ones(1))] == [True, False, True]
assert [is_batch_or_list(v) for v in (spread, one, np.ones(1), [])] == [False, True, False, False]
print("ok")
