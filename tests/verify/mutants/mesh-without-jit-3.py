# original: fixtures/pjit-to-jit/constraint_inside/before.py
# wrong: the constraint inside has no mesh any more.
# kind: with mesh without its jit
# processes: 1
# raises: RuntimeError
import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import with_sharding_constraint
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def layer(x, w):
    hidden = with_sharding_constraint(jnp.dot(x, w), P("x", "y"))
    return jnp.tanh(hidden)


layer = jax.jit(
    layer,
    in_shardings=(NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, "y"))),
    out_shardings=NamedSharding(mesh, P("x")))
x, w = np.eye(8), np.zeros((8, 4))
out = layer(x, w)

assert out.shape == (8, 4) and not np.asarray(out).any()
print("a bare spec inside the function still needs the mesh around the call")
