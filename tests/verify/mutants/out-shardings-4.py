# original: fixtures/pjit-to-jit/nested_specs/before.py
# wrong: the compiler chooses.
# kind: out_shardings dropped
# processes: 1
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def step(state, batch):
    w = state["w"] - batch[0].mean() * state["lr"]
    return {"w": w, "lr": state["lr"]}, (batch[1], None)


ROW = P("x")
state_spec = {"w": NamedSharding(mesh, P("x", "y")), "lr": NamedSharding(mesh, P())}
step = jax.jit(
    step,
    in_shardings=(state_spec, [NamedSharding(mesh, ROW), NamedSharding(mesh, P(("x", "y")))]),
)

state, rest = step({"w": np.ones((8, 4)), "lr": np.float32(0.5)}, [np.ones(8), np.arange(8.0)])

assert state["w"].addressable_shards[0].data.shape == (2, 2)
np.testing.assert_array_equal(rest[0], np.arange(8.0))
print("trees of specs, leaf by leaf")
