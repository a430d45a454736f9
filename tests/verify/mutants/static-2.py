# original: fixtures/axis-resources/positional_static_and_donated/before.py
# wrong: the two tuples changed their names.
# kind: static_argnums shifted
# processes: 1
# raises: ValueError
import jax
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

power = pjit(lambda a, n: a**n, P("x"), P("x"), static_argnums=(1,))
scaled = pjit(lambda a, b, n: a * b + n, (P("x"), P("x")), P("x"), donate_argnums=2, static_argnums=(0,))

with mesh:
    out = scaled(power(np.arange(8.0), 2), np.ones(8), 1)

np.testing.assert_array_equal(out, np.arange(8.0) ** 2 + 1)
print("until 0.4.3 the fourth argument was static_argnums")
