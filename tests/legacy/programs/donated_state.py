# A train state that is donated to the step: the old buffers are reused, the new state keeps its placement.
# processes: 1
# devices: 8
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P
from jax.experimental.pjit import pjit


class TrainState(NamedTuple):
    step: Any
    params: Any
    momentum: Any


def init_state(seed):
    params = {"w": jax.random.normal(jax.random.PRNGKey(seed), (8, 16)) * 0, "b": jnp.arange(16, dtype=jnp.float32)}
    momentum = jax.tree_util.tree_map(jnp.zeros_like, params)
    return TrainState(jnp.array(0, dtype=jnp.int32), params, momentum)


def loss_fn(params, x):
    return jnp.mean((x @ params["w"] + params["b"]) ** 2)


def train_step(state, x):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, x)
    momentum = jax.tree_util.tree_map(lambda m, g: 0.9 * m + g, state.momentum, grads)
    params = jax.tree_util.tree_map(lambda p, m: p - 0.05 * m, state.params, momentum)
    return TrainState(state.step + 1, params, momentum), loss


mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
param_spec = {"w": P(None, "model"), "b": P("model")}
state_spec = TrainState(None, param_spec, param_spec)

with mesh:
    p_init = pjit(init_state, in_axis_resources=None, out_axis_resources=state_spec, static_argnums=(0,))
    p_step = pjit(
        train_step,
        in_axis_resources=(state_spec, P("data")),
        out_axis_resources=(state_spec, None),
        donate_argnums=(0,),
    )
    state = p_init(0)
    losses = []
    for i in range(5):
        x = np.random.RandomState(i).normal(size=(4, 8)).astype(np.float32)
        state, loss = p_step(state, x)
        losses.append(float(loss))

assert int(state.step) == 5
assert state.params["w"].shape == (8, 16) and state.momentum["b"].shape == (16,)
assert abs(losses[0] - 77.5) < 1e-3 and losses[-1] < losses[0]
shapes = jax.tree_util.tree_map(lambda x: x.shape, state.params)
print("losses", [round(v, 2) for v in losses], shapes)
