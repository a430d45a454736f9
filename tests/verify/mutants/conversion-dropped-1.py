# original: fixtures/host-local-inputs/batch/before.py
# wrong: the batch of one process goes in as it is.
# kind: host-local conversion dropped
# processes: 2
# raises: ValueError
import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

step = jax.jit(
    lambda x: x * 2,
    in_shardings=NamedSharding(mesh, P("x")),
    out_shardings=NamedSharding(mesh, P("x")))


def local_batch(size=8):
    return np.arange(float(size)) + size * jax.process_index()  # every process makes its own rows


batch = local_batch()
out = multihost_utils.global_array_to_host_local_array(step(batch), mesh, P("x"))

assert out.shape == batch.shape
np.testing.assert_array_equal(out, 2 * batch)
print("this process sees its own rows:", out.shape)
