"""Until 0.4.3 the fourth argument was static_argnums and the fifth donate_argnums."""

import jax
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P, pjit

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
power = pjit(lambda a, n: a**n, P("x"), P("x"), (1,))
scaled = pjit(lambda a, b, n: a * b + n, (P("x"), P("x")), P("x"), 2, ())
with mesh:
    out = scaled(power(np.arange(8.0), 2), np.ones(8), 1)
print(np.asarray(out).tolist())
