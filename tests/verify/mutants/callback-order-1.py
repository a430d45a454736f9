# original: fixtures/global-device-array/callback-with-side-effects/before.py
# wrong: the numbers are drawn for the last device first.
# kind: callback called in another order
# processes: 1
"""A callback that draws from a generator: how often and in what order it is called matters."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
rng = np.random.RandomState(0)


def noise(index):
    return rng.normal(size=(2,)).astype(np.float32)


sharding = NamedSharding(mesh, P("x"))
places = reversed(sharding.addressable_devices_indices_map((16,)).items())
array = jax.make_array_from_single_device_arrays((16,), sharding, [jax.device_put(noise(i), d) for d, i in places])
print(np.asarray(array).round(3))
