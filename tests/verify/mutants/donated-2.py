# original: tests/verify/mutants/originals/donated.before.py
# wrong: the gradients are given up, and are used again.
# kind: donate_argnums of the wrong argument
# processes: 1
# raises: RuntimeError
"""The state is given up at each step, the gradients are used twice."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
row = NamedSharding(mesh, P("x"))
step = jax.jit(lambda state, grads: state - grads, in_shardings=(row, row), out_shardings=row, donate_argnums=(1,))
first = jax.device_put(np.ones(8, np.float32), row)
grads = jax.device_put(np.full(8, 0.25, np.float32), row)
second = step(first, grads)
given_up = first.is_deleted()
third = step(second, grads)
print(given_up, np.asarray(third).tolist())
