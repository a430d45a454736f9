# original: fixtures/pjit-to-jit/arrays_made_under_the_mesh/before.py
# wrong: under set_mesh the array is committed, and jit refuses it.
# kind: with mesh without its jit
# processes: 1
# raises: ValueError
import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import with_sharding_constraint
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
double = jax.jit(
    lambda a: with_sharding_constraint(a * 2, P("x")),
    in_shardings=NamedSharding(mesh, P("x")),
    out_shardings=NamedSharding(mesh, P("x")))

with jax.set_mesh(mesh):
    out = double(jnp.arange(8.0))  # under set_mesh this array would be committed, and jit would refuse it

np.testing.assert_array_equal(out, 2 * np.arange(8.0))
print("the old mesh context stays")
