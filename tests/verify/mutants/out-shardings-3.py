# original: fixtures/from-gda/tuples_and_lists/before.py
# wrong: the negative is cut along the axis of its input.
# kind: out_shardings dropped
# processes: 1
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def make(values, spec):
    return jax.make_array_from_callback(values.shape, NamedSharding(mesh, spec), lambda index: values[index])


first = make(np.arange(8.0), P("x"))
second = make(np.ones(8), P("x"))
add = jax.jit(
    lambda a, b: a + b,
    out_shardings=NamedSharding(mesh, P("x")),
)
negate = jax.jit(lambda a: -a)
scale = jax.jit(lambda tree: tree["a"] * tree["b"], out_shardings=NamedSharding(mesh, P()))

total = add(first, second)
minus = negate(total)
product = scale({"a": first, "b": total})

np.testing.assert_array_equal(total, np.arange(8.0) + 1)
np.testing.assert_array_equal(minus, -np.arange(8.0) - 1)
assert product.addressable_shards[0].data.shape == (8,)
print("sum, negative and product agree")
