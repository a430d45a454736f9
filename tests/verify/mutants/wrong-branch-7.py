# original: fixtures/jax-array-flag/read-elif/before.py
# wrong: the list is wrapped instead of unpacked.
# kind: wrong branch kept
# processes: 1
# raises: AssertionError
import jax.numpy as jnp
import numpy as np


def to_host(x):
    if isinstance(x, np.ndarray):
        return x
    else:
        return np.asarray(x)


def to_list(x):
    if isinstance(x, list):
        return x
    return [x]


assert to_list(jnp.arange(2)) == [0, 1] and to_list([1]) == [1] and to_list(jnp.ones(())) == [1.0]
print(to_host(jnp.ones(2)), to_host(np.ones(1)))
