"""The result of pmap is cut another way by pjit."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
spread = jax.pmap(lambda v: v + 1)(np.arange(8.0, dtype=np.float32))
assert isinstance(spread, jax.Array) and len(spread.sharding.device_set) > 1
double = jax.jit(lambda a: a * 2, out_shardings=NamedSharding(mesh, P("x")))
out = double(jax.device_put(spread, NamedSharding(mesh, P("x"))))
print(np.asarray(out).tolist())
