"""Asks again and again which arrays there are."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_array", True)


def kind():
    if jax.config.jax_array:
        return "array"
    else:
        return "buffer"


def to_list(x):
    if isinstance(x, list):
        return x
    elif not jax.config.jax_array:
        return [x]
    elif x.ndim == 0:
        return [x.item()]
    else:
        return x.tolist()


def scope(global_outputs):
    if global_outputs or jax.config.jax_array:
        return "global"
    return "local"


def rows(x):
    for row in x:
        if not jax.config.jax_array:
            continue
        yield np.asarray(row)


found = [kind(), to_list(jnp.arange(2)), to_list([1]), to_list(jnp.ones(())), scope(False), len(list(rows(jnp.ones((3, 2)))))]
print(found)
