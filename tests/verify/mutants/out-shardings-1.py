# original: fixtures/pjit-to-jit/named_shardings/before.py
# wrong: the result stays cut.
# kind: out_shardings dropped
# processes: 1
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
row = NamedSharding(mesh, P("x"))


def parallel(f):
    return jax.jit(f, in_shardings=row)


out = parallel(lambda a: a[::-1])(np.arange(8.0))
np.testing.assert_array_equal(out, np.arange(8.0)[::-1])
print("shardings that bring their mesh need no context")
