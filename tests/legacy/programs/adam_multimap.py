# Adam as it was written in 2021: tree_multimap over the trees, index_update and index_add for the moments' history.
# processes: 1
# devices: 8
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import ops

AdamState = namedtuple("AdamState", ["step", "mu", "nu"])


def adam_init(params):
    zeros = jax.tree_map(jnp.zeros_like, params)
    return AdamState(0, zeros, jax.tree_map(jnp.zeros_like, params))


def adam_update(grads, state, params, lr=0.1, b1=0.9, b2=0.999, eps=1e-8):
    step = state.step + 1
    mu = jax.tree_multimap(lambda m, g: b1 * m + (1 - b1) * g, state.mu, grads)
    nu = jax.tree_multimap(lambda v, g: b2 * v + (1 - b2) * g**2, state.nu, grads)
    scale = lr * np.sqrt(1 - b2**step) / (1 - b1**step)
    params = jax.tree_multimap(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + eps), params, mu, nu)
    return params, AdamState(step, mu, nu)


def loss_fn(params):
    return jnp.sum((params["a"] - 3.0) ** 2) + jnp.sum(jnp.abs(params["nested"][0] + 1.0))


params = {"a": jnp.zeros(4), "nested": [jnp.ones((2, 2))]}
state = adam_init(params)
history = jnp.zeros(8)
count = jnp.zeros(4, dtype=jnp.int32)
for step in range(60):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    params, state = adam_update(grads, state, params)
    if step % 10 == 0:
        history = ops.index_update(history, ops.index[step // 10], loss)
    count = ops.index_add(count, ops.index[1:3], 1)

np.testing.assert_allclose(float(history[0]), 44.0)
assert history.shape == (8,) and float(history[7]) == 0.0
assert np.all(np.diff(np.asarray(history)[:6]) < 0)
assert count.tolist() == [0, 60, 60, 0]
np.testing.assert_allclose(np.asarray(params["a"]), 3.0, atol=0.3)
assert jax.tree_util.tree_structure(params) == jax.tree_util.tree_structure(state.mu)
assert len(jax.tree_leaves(state)) == 5
print("history", np.round(np.asarray(history), 2).tolist()[:3], "steps", state.step)
