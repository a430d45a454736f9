# original: fixtures/axis-resources/keywords/before.py
# wrong: what takes no inputs is made on one device.
# kind: jit places on one device
# processes: 1
import jax
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

add = pjit(lambda a, b: a + b, in_shardings=(P("x"), None), out_shardings=P("x"))
negate = pjit(
    lambda a: -a,
    in_shardings=P("x"),  # the batch
    out_shardings=P("x"),
)
zeros = jax.jit(lambda: np.zeros(8))

with mesh:
    out = negate(add(np.arange(8.0), np.float32(1))) + zeros()

np.testing.assert_array_equal(out, -np.arange(8.0) - 1)
assert out.addressable_shards[0].data.shape == (2,)
print("keywords renamed")
