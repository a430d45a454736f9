# Keys annotated with KeyArray through a model's initialisers: a name of jax.random until 0.4.23.
# processes: 1
# devices: 8
from typing import Callable, Dict, NamedTuple, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import random
from jax.random import KeyArray

Initializer = Callable[[KeyArray, Sequence[int]], jnp.ndarray]


class KeySeq:
    """A stream of keys, in the style of haiku."""

    def __init__(self, key: KeyArray):
        self._key = key
        self.used = 0

    def __next__(self) -> KeyArray:
        self._key, out = random.split(self._key)
        self.used += 1
        return out


def normal(scale: float) -> Initializer:
    def init(key: random.KeyArray, shape: Sequence[int]) -> jnp.ndarray:
        return scale * random.normal(key, shape)

    return init


class Layer(NamedTuple):
    size: int
    init: Initializer = normal(0.1)


def init_mlp(key: "random.KeyArray", n_in: int, layers: Sequence[Layer]) -> Dict[str, jnp.ndarray]:
    keys, params = KeySeq(key), {}
    for i, layer in enumerate(layers):
        params["w%d" % i] = layer.init(next(keys), (n_in, layer.size))
        params["b%d" % i] = jnp.zeros(layer.size)
        n_in = layer.size
    assert keys.used == len(layers)
    return params


def dropout(key: jax.random.KeyArray, x: jnp.ndarray, rate: float) -> jnp.ndarray:
    keep = random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0)


params = init_mlp(random.PRNGKey(0), 6, [Layer(5), Layer(4, normal(1.0)), Layer(2)])
again = init_mlp(random.PRNGKey(0), 6, [Layer(5), Layer(4, normal(1.0)), Layer(2)])
assert {k: v.shape for k, v in params.items() if k[0] == "w"} == {"w0": (6, 5), "w1": (5, 4), "w2": (4, 2)}
assert all(bool((params[k] == again[k]).all()) for k in params)

key = random.PRNGKey(3)
assert key.shape == (2,) and key.dtype == np.uint32
assert random.split(key, 4).shape == (4, 2)
dropped = dropout(key, jnp.ones((50, 40)), 0.25)
kept = float((dropped > 0).mean())
assert abs(kept - 0.75) < 0.05 and abs(float(dropped.max()) - 4 / 3) < 1e-6
print("keys", key.tolist(), random.PRNGKey(17).tolist())
