# original: tests/verify/mutants/originals/minor_axis_first.before.py
# wrong: the major axis of the pair became the minor one.
# kind: axes swapped in a spec
# processes: 1
"""The second axis of the mesh is the major one."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
host = np.arange(16, dtype=np.int32)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P(("x", "y"))), lambda index: host[index])
print([np.asarray(shard.data).tolist() for shard in array.addressable_shards])
