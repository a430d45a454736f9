# The mesh of early 2022: the context manager maps.mesh, positional axis resources, an optimizer with sharded slots.
# processes: 1
# devices: 8
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import maps
from jax.experimental import PartitionSpec as P
from jax.experimental.pjit import pjit

config = {"cores_per_replica": 4, "d_model": 32, "layers": 2, "lr": 0.1}

mesh_shape = (jax.device_count() // config["cores_per_replica"], config["cores_per_replica"])
devices = np.array(jax.devices()).reshape(mesh_shape)


def init(rows):
    d = config["d_model"]
    layers = [jnp.eye(d) * (0.5 + i) for i in range(config["layers"])]
    return layers, jnp.broadcast_to(rows[:1].sum(), (d,)) * 0


def forward(params, x):
    layers, bias = params
    for layer in layers:
        x = x @ layer
    return x + bias


def step(params, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((forward(p, x) - y) ** 2))(params)
    return jax.tree_util.tree_map(lambda p, g: p - config["lr"] * g, params, grads), loss


spec = ([P("mp", None), P(None, "mp")], P())

with maps.mesh(devices, ("dp", "mp")):
    init_fn = pjit(init, None, spec)
    step_fn = pjit(step, (spec, P("dp"), P("dp")), (spec, P()), donate_argnums=(0,))
    params = init_fn(jnp.ones((4, 2)))
    rng = np.random.RandomState(0)
    history = []
    for _ in range(4):
        x = rng.normal(size=(8, config["d_model"])).astype(np.float32)
        params, loss = step_fn(params, x, x)
        history.append(float(loss))

assert history[-1] < history[0]
assert [p.shape for p in params[0]] == [(32, 32), (32, 32)] and params[1].shape == (32,)
print("mesh", mesh_shape, "history", ["%.3f" % h for h in history])
