# pjit as a decorator, in all the ways people wrote it: @partial(pjit, ...), with static arguments, on a nested function.
# processes: 1
# devices: 8
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import maps
from jax.experimental.pjit import PartitionSpec as P
from jax.experimental.pjit import pjit

mesh = maps.Mesh(np.array(jax.devices()).reshape(2, 4), ("dp", "mp"))


@partial(pjit, in_axis_resources=(P("dp", None), P(None, "mp")), out_axis_resources=P("dp", "mp"))
def project(x, w):
    return x @ w


@partial(pjit, in_axis_resources=(P("dp", "mp"),), out_axis_resources=P("dp"), static_argnums=(1,))
def pool(x, kind):
    if kind == "mean":
        return x.mean(axis=1)
    return x.max(axis=1)


@partial(
    pjit,
    in_axis_resources=P("dp"),
    out_axis_resources=P(None),
)
def normalize(x):
    return (x - x.mean()) / (x.std() + 1e-6)


def make_power(n):
    @partial(pjit, in_axis_resources=P("mp"), out_axis_resources=P("mp"))
    def power(x):
        for _ in range(n - 1):
            x = x * x
        return x

    return power


x = np.arange(24, dtype=np.float32).reshape(4, 6) / 10
w = np.linspace(-1, 1, 48, dtype=np.float32).reshape(6, 8)

with mesh:
    y = project(x, w)
    means, peaks = pool(y, "mean"), pool(y, "max")
    z = normalize(peaks)
    cube = make_power(2)(np.arange(8, dtype=np.float32))

np.testing.assert_allclose(np.asarray(y), x @ w, rtol=1e-5, atol=1e-6)
np.testing.assert_allclose(np.asarray(means), (x @ w).mean(axis=1), rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(np.asarray(peaks), (x @ w).max(axis=1), rtol=1e-5, atol=1e-6)
assert cube.tolist() == [float(i**2) for i in range(8)]
assert project.__name__ == "project"
assert abs(float(jnp.mean(z))) < 1e-5
print("projected", y.shape, "means", np.round(np.asarray(means), 3).tolist())
