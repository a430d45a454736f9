"""Asks again and again which arrays there are."""

import jax.numpy as jnp
import numpy as np


def kind():
    return "array"


def to_list(x):
    if isinstance(x, list):
        return x
    elif x.ndim == 0:
        return [x.item()]
    else:
        return x.tolist()


def scope(global_outputs):
    return "global"


def rows(x):
    for row in x:
        yield np.asarray(row)


found = [kind(), to_list(jnp.arange(2)), to_list([1]), to_list(jnp.ones(())), scope(False), len(list(rows(jnp.ones((3, 2)))))]
print(found)
