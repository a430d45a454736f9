# original: fixtures/pjit-to-jit/thread_resources/before.py
# wrong: the old context does not set the mesh that the new function reads.
# kind: with mesh without its jit
# processes: 1
# raises: AssertionError
import jax
import numpy as np
from jax.interpreters import pxla
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
double = jax.jit(
    lambda a: a * 2,
    in_shardings=NamedSharding(mesh, P("x")),
    out_shardings=NamedSharding(mesh, P("x")))

with mesh:
    size = jax.sharding.get_mesh().size
    out = double(np.arange(8.0))

assert size == 8
np.testing.assert_array_equal(out, 2 * np.arange(8.0))
print("the body reads the mesh from the context")
