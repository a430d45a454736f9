# original: fixtures/sharded-device-array/isinstance_traced/before.py
# wrong: a tracer is asked where it lies.
# kind: isinstance that flips on tracers
# processes: 1
# raises: ConcretizationTypeError
"""Where the code runs under jit, tracers are kept out: their placement cannot be asked for."""
import jax
import jax.numpy as jnp


@jax.jit
def total(tree):
    if (
        isinstance(tree["x"], jax.Array)
        and tree["x"].is_fully_addressable
        and len(tree["x"].sharding.device_set) > 1
    ):
        raise TypeError("pmap results do not reach this function")
    return tree["x"].sum()


result = total({"x": jnp.arange(4)})
assert result == 6
print(int(result))
