# original: fixtures/sharding-paths/process-allgather/before.py
# wrong: an array that spans processes is gathered only with tiled=True.
# kind: process_allgather not tiled
# processes: 2
# raises: ValueError
"""Gathering an array that spans processes: only tiled=True is left, and it is what `tiled` was always taken for."""

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(16, dtype=np.int32).reshape(8, 2)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

print(multihost_utils.process_allgather(array, tiled=False).shape)
print(multihost_utils.process_allgather(array, tiled=True).shape, multihost_utils.process_allgather({"w": array}, tiled=True)["w"].shape)
