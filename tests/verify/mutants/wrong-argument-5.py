# original: fixtures/from-gda/mixed_partial_of_pjit/before.py
# wrong: the result is cut as the second input is.
# kind: spec of the wrong argument
# processes: 1
from functools import partial

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def make(values, spec):
    return jax.make_array_from_callback(values.shape, NamedSharding(mesh, spec), lambda index: values[index])


parallel = partial(jax.jit, out_shardings=NamedSharding(mesh, P("y")))
add = parallel(lambda a, b: a + b)

out = add(make(np.arange(8.0), P("x")), multihost_utils.host_local_array_to_global_array(np.ones(8), mesh, P("y")))

np.testing.assert_array_equal(out, np.arange(8.0) + 1)
print("added:", out.shape)
