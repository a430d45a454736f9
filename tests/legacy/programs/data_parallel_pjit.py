# Data-parallel training of a two-layer network: parameters replicated, every host feeds its own rows of the batch.
# processes: 1 2 4
# devices: 8
import argparse

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import maps
from jax.experimental import PartitionSpec as P
from jax.experimental.pjit import pjit

parser = argparse.ArgumentParser()
parser.add_argument("--coordinator")
parser.add_argument("--num_hosts", type=int, default=1)
parser.add_argument("--host", type=int, default=0)
args = parser.parse_args()
if args.num_hosts > 1:
    jax.distributed.initialize(args.coordinator, args.num_hosts, args.host)

LEARNING_RATE = 0.2
BATCH = 32


def init_params(seed, sizes):
    rng = np.random.RandomState(seed)
    return [
        {"w": (rng.normal(size=(m, n)) / np.sqrt(m)).astype(np.float32), "b": np.zeros(n, np.float32)}
        for m, n in zip(sizes[:-1], sizes[1:])
    ]


def forward(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, batch):
    x, y = batch
    return jnp.mean((forward(params, x)[:, 0] - y) ** 2)


def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    params = jax.tree_util.tree_map(lambda p, g: p - LEARNING_RATE * g, params, grads)
    return params, loss


def batches(steps):
    """The same stream everywhere; a host keeps the rows between its two borders."""
    rng = np.random.RandomState(7)
    for _ in range(steps):
        x = rng.uniform(-1, 1, size=(BATCH, 4)).astype(np.float32)
        yield x, np.sin(x.sum(axis=1)).astype(np.float32)


def local_rows(batch):
    per_host = BATCH // jax.process_count()
    start = jax.process_index() * per_host
    return tuple(part[start : start + per_host] for part in batch)


mesh = maps.Mesh(np.array(jax.devices()), ("data",))
p_train_step = pjit(train_step, in_axis_resources=(None, (P("data"), P("data"))), out_axis_resources=(None, None))

params = reference = init_params(0, (4, 16, 1))
losses = []
with mesh:
    for batch in batches(12):
        local_batch = local_rows(batch)
        params, loss = p_train_step(params, local_batch)
        expected = loss_fn(reference, batch)
        reference, _ = train_step(reference, batch)
        np.testing.assert_allclose(loss, expected, rtol=1e-4)
        losses.append(float(loss))

assert losses[-1] < losses[0] / 3
assert params[0]["w"].shape == (4, 16) and params[0]["w"].dtype == jnp.float32
for got, wanted in zip(jax.tree_util.tree_leaves(params), jax.tree_util.tree_leaves(reference)):
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-5)
print("loss %.3f -> %.3f" % (losses[0], losses[-1]))
