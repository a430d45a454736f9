# original: fixtures/from-gda/mixed_nested_specs/before.py
# wrong: None is no spec here either.
# kind: None or P()
# processes: 1
# raises: ValueError
import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def make(values, spec):
    return jax.make_array_from_callback(values.shape, NamedSharding(mesh, spec), lambda index: values[index])


weights = make(np.arange(8.0), P("x"))
batch = {"x": np.ones(8), "y": np.full(8, 2.0)}
loss = jax.jit(
    lambda w, b: (w * b["x"] - b["y"]).sum(),
    out_shardings=NamedSharding(mesh, P()),
)

value = loss(weights, multihost_utils.host_local_array_to_global_array(batch, mesh, {"x": P("x"), "y": None}))

assert float(value) == np.arange(8.0).sum() - 16
print("loss:", float(value))
