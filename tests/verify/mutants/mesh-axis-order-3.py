# original: fixtures/pjit-to-jit/mesh_named_on_the_way/before.py
# wrong: the names of the mesh's axes changed places, and nothing in the file looks at the shards.
# kind: mesh axis order
# processes: 1
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

with Mesh(np.array(jax.devices()).reshape(4, 2), ("y", "x")) as mesh:
    double = jax.jit(
        lambda a: a * 2,
        in_shardings=NamedSharding(mesh, P("x")),
        out_shardings=NamedSharding(mesh, P("x")))
    negate = jax.jit(
        lambda a: -a,
        in_shardings=NamedSharding(mesh, P("x")),
        out_shardings=NamedSharding(mesh, P()))
    out = negate(double(np.arange(8.0)))

np.testing.assert_array_equal(out, -2 * np.arange(8.0))
print("a mesh that had no name")
