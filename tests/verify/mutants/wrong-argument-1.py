# original: fixtures/pjit-to-jit/decorator/before.py
# wrong: the specs of the rows and of the number changed places.
# kind: spec of the wrong argument
# processes: 1
# raises: ValueError
import functools

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


@functools.partial(
    jax.jit,
    in_shardings=(NamedSharding(mesh, P()), NamedSharding(mesh, P("x"))),
    out_shardings=NamedSharding(mesh, P("x")))
def shift(x, by):
    """Decorated functions are called by their own name."""
    return x + by


def main():
    return shift(np.arange(8.0), np.float32(2))


np.testing.assert_array_equal(main(), np.arange(8.0) + 2)
print("decorated")
