# original: fixtures/pjit-to-jit/mesh_parameter/before.py
# wrong: the names of the mesh's axes changed places.
# kind: mesh axis order
# processes: 1
# raises: AssertionError
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("y", "x"))


def run(mesh: Mesh, x):
    double = jax.jit(
        lambda a: a * 2,
        in_shardings=NamedSharding(mesh, P("x")),
        out_shardings=NamedSharding(mesh, P("x", None)))
    return double(x)


out = run(mesh, np.ones((8, 2)))
assert out.addressable_shards[0].data.shape == (2, 2)
print("the parameter is the mesh")
