# original: fixtures/gda-attributes/private-names/before.py
# wrong: the devices of all processes stand for those of this one.
# kind: local_shards taken for global ones
# processes: 2
"""Private names that user code is known to have read."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16, dtype=np.int32).reshape(8, 2)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

print(array.shape, array.sharding.mesh == mesh, array.sharding.spec == P("x"))
print([d.id for d in array.sharding.mesh.devices.flat][:2], array.sharding.mesh.shape["x"])
