# original: tests/verify/mutants/originals/gda_follows.before.py
# wrong: the input that brings its own sharding is given another one.
# kind: spec of the wrong argument
# processes: 1
# raises: ValueError
"""A global array brings its own sharding, the result gets another."""

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
values = np.arange(16.0, dtype=np.float32).reshape(8, 2)
gda = jax.make_array_from_callback(values.shape, NamedSharding(mesh, P("x", "y")), lambda index: values[index])
double = jax.jit(lambda a: a * 2, in_shardings=NamedSharding(mesh, P("x")), out_shardings=NamedSharding(mesh, P("x", "y")))
negate = jax.jit(lambda a, b: b - a, out_shardings=NamedSharding(mesh, P("x")))
out = double(gda)
rest = negate(out, multihost_utils.host_local_array_to_global_array(values, mesh, P("y")))
print([shard.index for shard in rest.addressable_shards][:2])
