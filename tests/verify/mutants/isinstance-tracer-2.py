# original: fixtures/sharded-device-array/isinstance_traced/before.py
# wrong: tracers are refused although nothing was spread.
# kind: isinstance that flips on tracers
# processes: 1
# raises: TypeError
"""Where the code runs under jit, tracers are kept out: their placement cannot be asked for."""
import jax
import jax.numpy as jnp


@jax.jit
def total(tree):
    if (
        isinstance(tree["x"], jax.Array)
    ):
        raise TypeError("pmap results do not reach this function")
    return tree["x"].sum()


result = total({"x": jnp.arange(4)})
assert result == 6
print(int(result))
