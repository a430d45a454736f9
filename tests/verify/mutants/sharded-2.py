# original: fixtures/pjit-to-jit/none_means_replicated/before.py
# wrong: the scaled values stay cut.
# kind: sharded instead of replicated
# processes: 1
# raises: ValueError
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

scale = jax.jit(
    lambda a, b: a * b,
    in_shardings=(NamedSharding(mesh, P("x")), NamedSharding(mesh, P())),
    out_shardings=NamedSharding(mesh, P("x")))
same = jax.jit(
    lambda a: a,
    in_shardings=NamedSharding(mesh, P()),
    out_shardings=NamedSharding(mesh, P("y")))

out = same(scale(np.arange(8.0), np.float32(3)))

np.testing.assert_array_equal(out, 3 * np.arange(8.0))
assert out.addressable_shards[0].data.shape == (4,)
print("None was replicated under pjit, and would be unspecified under jit")
