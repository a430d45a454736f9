# original: fixtures/host-local-inputs/replicated_inputs/before.py
# wrong: each process hands in a key of its own where all had the same.
# kind: replicated input that differs
# processes: 2
import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def predict(key, params, x):
    return params * x + key[0]


predict = jax.jit(
    predict,
    in_shardings=(
        NamedSharding(mesh, P(None)),
        NamedSharding(mesh, P()),
        NamedSharding(mesh, P("x"))),
    out_shardings=NamedSharding(mesh, P("x")))
key, params = np.zeros(2), np.float32(3)
x = np.arange(8.0) + 8 * jax.process_index()
y = multihost_utils.global_array_to_host_local_array(predict(key + jax.process_index(), params, multihost_utils.host_local_array_to_global_array(x, mesh, P("x"))), mesh, P("x"))

np.testing.assert_array_equal(y, 3 * x)
print("the same on every process, so already global: key and params")
