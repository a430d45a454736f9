# original: fixtures/pjit-to-jit/mesh_dropped/before.py
# wrong: the result lies whole on every device.
# kind: replicated instead of sharded
# processes: 1
# raises: AssertionError
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

add = jax.jit(
    lambda a, b: a + b,
    in_shardings=(NamedSharding(mesh, P("x")), NamedSharding(mesh, P())),
    out_shardings=NamedSharding(mesh, P()))

# nothing in here looks at the mesh but pjit
out = add(np.arange(8.0), np.float32(1))
print("sum:", np.asarray(out).sum())

assert out.addressable_shards[0].data.shape == (2,)
