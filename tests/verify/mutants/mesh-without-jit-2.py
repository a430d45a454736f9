# original: fixtures/pjit-to-jit/mesh_dropped/before.py
# wrong: the context went, pjit stayed and needs it.
# kind: with mesh without its jit
# processes: 1
# raises: RuntimeError
import jax
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

add = pjit(
    lambda a, b: a + b,
    in_shardings=(P("x"), P()),
    out_shardings=P("x"))

# nothing in here looks at the mesh but pjit
out = add(np.arange(8.0), np.float32(1))
print("sum:", np.asarray(out).sum())

assert out.addressable_shards[0].data.shape == (2,)
