"""Asks for one shard more than there are."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
array = jax.make_array_from_callback((4,), NamedSharding(mesh, P()), lambda index: np.ones(4, np.float32)[index])


def count(array):
    shards = 0
    while True:
        try:
            array.addressable_shards[shards].data
        except IndexError:
            return shards
        if shards > 20:
            raise RuntimeError("more shards than devices")
        shards += 1


print(count(array))
