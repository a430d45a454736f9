# original: tests/verify/mutants/originals/pmap_into_pjit.before.py
# wrong: in_shardings refuse what pjit cut anew.
# kind: pmap result handed to jit
# processes: 1
# raises: ValueError
"""The result of pmap is cut another way by pjit."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
spread = jax.pmap(lambda v: v + 1)(np.arange(8.0, dtype=np.float32))
assert isinstance(spread, jax.Array) and len(spread.sharding.device_set) > 1
double = jax.jit(lambda a: a * 2, in_shardings=NamedSharding(mesh, P("x")), out_shardings=NamedSharding(mesh, P("x")))
out = double(spread)
print(np.asarray(out).tolist())
