# Logistic regression with pmap: replicated parameters, a leading device axis on the batch, gradients averaged with psum.
# processes: 1
# devices: 8
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import pxla

N = jax.local_device_count()


def make_data(n=256, d=5):
    rng = np.random.RandomState(42)
    w = rng.normal(size=d)
    x = rng.normal(size=(n, d)).astype(np.float32)
    y = (x @ w > 0).astype(np.float32)
    return x, y


def shard(xs):
    return jax.tree_util.tree_map(lambda x: x.reshape((N, -1) + x.shape[1:]), xs)


def replicate(tree):
    return jax.tree_util.tree_map(lambda x: jnp.stack([x] * N), tree)


def unreplicate(tree):
    return jax.tree_util.tree_map(lambda x: x[0], tree)


def loss_fn(params, x, y):
    logits = x @ params["w"] + params["b"]
    return jnp.mean(jnp.logaddexp(0.0, logits) - y * logits)


@functools.partial(jax.pmap, axis_name="batch", donate_argnums=(0,))
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    grads = jax.lax.pmean(grads, axis_name="batch")
    params = jax.tree_util.tree_map(lambda p, g: p - 0.5 * g, params, grads)
    return params, jax.lax.pmean(loss, "batch")


@functools.partial(jax.pmap, axis_name="batch")
def accuracy(params, x, y):
    correct = ((x @ params["w"] + params["b"] > 0) == (y > 0.5)).sum()
    return jax.lax.psum(correct, "batch")


x, y = make_data()
params = replicate({"w": jnp.zeros(5), "b": jnp.zeros(())})
sx, sy = shard((x, y))
losses = []
for step in range(40):
    params, loss = train_step(params, sx, sy)
    losses.append(float(loss[0]))

assert abs(losses[0] - np.log(2)) < 1e-5
assert losses[-1] < 0.3
assert isinstance(loss, pxla.ShardedDeviceArray)
assert loss.shape == (N,) and params["w"].shape == (N, 5)
assert len(set(np.asarray(loss).tolist())) == 1, "psum gives every replica the same"

final = jax.device_get(unreplicate(params))
assert final["w"].shape == (5,)
hits = accuracy(params, sx, sy)
print("loss %.3f -> %.3f" % (losses[0], losses[-1]))
print("accuracy", int(hits[0]), "of", len(x), "on", len(hits), "devices")
assert int(hits[0]) >= 240 and len(hits) == 8
