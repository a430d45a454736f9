# original: fixtures/host-local-inputs/training_loop/before.py
# wrong: the batches of the processes are taken for one.
# kind: host-local conversion dropped
# processes: 2
import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

SHAPES = {"x": (8, 4), "y": (8,)}
batch_spec = {"x": P("x"), "y": P("x")}


def train_step(w, batch):
    error = batch["x"] @ w - batch["y"]
    return w - 0.1 * batch["x"].T @ error, (error**2).mean()


train_step = jax.jit(
    train_step,
    in_shardings=(
        NamedSharding(mesh, P()),
        jax.tree_util.tree_map(lambda spec: NamedSharding(mesh, spec), batch_spec)),
    out_shardings=(NamedSharding(mesh, P()), NamedSharding(mesh, P())))
rng = np.random.default_rng(jax.process_index())
w = np.zeros(4)
for _ in range(3):
    batch = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    w, loss = train_step(w, jax.tree.map(jax.numpy.asarray, batch))

assert w.shape == (4,) and np.isfinite(float(loss))
print("batches are local, the weights are replicated")
