# A transformer block with tensor parallelism: heads and hidden units over `model`, the batch over `data`, activations held
# in place by with_sharding_constraint.
# processes: 1
# devices: 8
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import maps
from jax.experimental.pjit import PartitionSpec as P
from jax.experimental.pjit import pjit, with_sharding_constraint

D_MODEL, HEADS, D_HEAD, D_FF = 16, 4, 4, 32

param_specs = {
    "qkv": P(None, None, "model", None),
    "out": P("model", None, None),
    "up": P(None, "model"),
    "down": P("model", None),
}


def init(seed):
    rng = np.random.RandomState(seed)
    shapes = {
        "qkv": (3, D_MODEL, HEADS, D_HEAD),
        "out": (HEADS, D_HEAD, D_MODEL),
        "up": (D_MODEL, D_FF),
        "down": (D_FF, D_MODEL),
    }
    return {name: (rng.normal(size=shape) * 0.2).astype(np.float32) for name, shape in shapes.items()}


def layer_norm(x):
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(axis=-1, keepdims=True) + 1e-6)


def attention(params, x, constrain):
    q, k, v = jnp.einsum("btd,cdhe->cbthe", layer_norm(x), params["qkv"])
    q = constrain(q, P("data", None, "model", None))
    scores = jnp.einsum("bthe,bshe->bhts", q, k) / np.sqrt(D_HEAD)
    mask = jnp.tril(jnp.ones(scores.shape[-2:], dtype=bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    mixed = jnp.einsum("bhts,bshe->bthe", weights, v)
    return jnp.einsum("bthe,hed->btd", mixed, params["out"])


def mlp(params, x, constrain):
    hidden = jax.nn.gelu(layer_norm(x) @ params["up"])
    hidden = constrain(hidden, P("data", None, "model"))
    return hidden @ params["down"]


def block(params, x, constrain=with_sharding_constraint):
    x = x + attention(params, x, constrain)
    x = x + mlp(params, x, constrain)
    return constrain(x, P("data", None, None))


params = init(0)
x = np.random.RandomState(1).normal(size=(4, 6, D_MODEL)).astype(np.float32)
expected = block(params, x, constrain=lambda value, spec: value)

p_block = pjit(block, in_axis_resources=(param_specs, P("data", None, None)), out_axis_resources=P("data", None, None))
with maps.Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model")):
    sharded_params = pjit(lambda p: p, in_axis_resources=(None,), out_axis_resources=param_specs)(params)
    out = p_block(sharded_params, x)

assert out.shape == (4, 6, D_MODEL) and out.dtype == jnp.float32
np.testing.assert_allclose(np.asarray(out), np.asarray(expected), rtol=2e-4, atol=2e-5)
print("mean %.4f std %.4f" % (float(np.asarray(out).mean()), float(np.asarray(out).std())))
