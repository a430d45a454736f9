# original: fixtures/host-local-inputs/global_outputs_flag/before.py
# wrong: the outputs were global and are made local.
# kind: shape host-local or global
# processes: 2
import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
step = jax.jit(
    lambda x: x * 2,
    in_shardings=NamedSharding(mesh, P("x")),
    out_shardings=NamedSharding(mesh, P("x")))
x = np.arange(8.0) + 8 * jax.process_index()
out = multihost_utils.global_array_to_host_local_array(step(multihost_utils.host_local_array_to_global_array(x, mesh, P("x"))), mesh, P("x"))

first = out.addressable_shards[0].data
np.testing.assert_array_equal(first, 2 * x[: len(first)])
print("outputs were global arrays before, too")
