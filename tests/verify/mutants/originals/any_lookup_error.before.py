"""Positions that do not exist are left out."""

import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
array = GlobalDeviceArray.from_callback((8,), mesh, P("x"), lambda index: np.ones(1, np.float32))


def size(position):
    try:
        return array.local_data(position).shape
    except (LookupError, ValueError):
        return None


sizes = [size(position) for position in (0, 7, 8, -1)]
print(sizes)
