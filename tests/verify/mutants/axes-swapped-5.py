# original: fixtures/global-device-array/get-shard-indices/before.py
# wrong: indices are those of the transposed spec.
# kind: axes swapped in a spec
# processes: 1
# raises: IndivisibleError
"""Which part of an array each device holds, before there is an array."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
shape = (8, 6)

indices = NamedSharding(mesh, P("y", "x")).devices_indices_map(shape)
sizes = NamedSharding(mesh, P(("x", "y"))).shard_shape(shape)
print({device.id: index for device, index in indices.items()})
print(sizes, NamedSharding(mesh, P()).shard_shape((4,)))
