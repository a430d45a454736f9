# original: fixtures/from-gda/positional/before.py
# wrong: the exponent is traced.
# kind: static_argnums shifted
# processes: 1
# raises: ValueError
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def make(values, spec):
    return jax.make_array_from_callback(values.shape, NamedSharding(mesh, spec), lambda index: values[index])


gda = make(np.arange(8.0), P("x"))
square = jax.jit(lambda a: a**2, out_shardings=NamedSharding(mesh, P("x")))
power = jax.jit(lambda a, n: a**n, out_shardings=NamedSharding(mesh, P("x")), static_argnums=0)

out = square(gda)
cubes = power(gda, 3)

np.testing.assert_array_equal(out, np.arange(8.0) ** 2)
np.testing.assert_array_equal(cubes, np.arange(8.0) ** 3)
print("squares and cubes")
