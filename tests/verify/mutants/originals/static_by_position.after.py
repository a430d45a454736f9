"""Until 0.4.3 the fourth argument was static_argnums and the fifth donate_argnums."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
row = NamedSharding(mesh, P("x"))
power = jax.jit(lambda a, n: a**n, in_shardings=row, out_shardings=row, static_argnums=(1,))
scaled = jax.jit(lambda a, b, n: a * b + n, in_shardings=(row, row), out_shardings=row, static_argnums=2, donate_argnums=())
out = scaled(power(np.arange(8.0), 2), np.ones(8), 1)
print(np.asarray(out).tolist())
