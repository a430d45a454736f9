"""Asks for one shard more than there are."""

import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
array = GlobalDeviceArray.from_callback((4,), mesh, P(), lambda index: np.ones(4, np.float32)[index])


def count(array):
    shards = 0
    while True:
        try:
            array.local_data(shards)
        except IndexError:
            return shards
        if shards > 20:
            raise RuntimeError("more shards than devices")
        shards += 1


print(count(array))
