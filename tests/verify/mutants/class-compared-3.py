# original: fixtures/global-device-array/singledispatch/before.py
# wrong: the handler went with the class.
# kind: class compared
# processes: 1
"""A handler registered for the class, one for a subclass test, one default argument."""

import functools

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


@functools.singledispatch
def describe(value):
    return "something"


@describe.register(np.ndarray)
def _(value):
    return f"array over {len(value.addressable_shards)} devices"


def restores(restore_type=jax.Array):
    return issubclass(restore_type, jax.Array)


mesh = Mesh(np.array(jax.devices()), ("x",))
array = jax.make_array_from_callback((8,), NamedSharding(mesh, P("x")), lambda index: np.zeros((1,), np.float32))
print(describe(array), describe(3), restores(), restores(np.ndarray))
