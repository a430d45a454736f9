# original: tests/verify/mutants/originals/buffers_of_spread_arrays.before.py
# wrong: arrays that lie on several devices are left out.
# kind: live_arrays of arrays on one device only
# processes: 1
"""Every device holds a part of an array that is spread over all of them."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
row = NamedSharding(mesh, P("x"))
spread = jax.jit(lambda v: v * 2, in_shardings=row, out_shardings=row)(np.arange(16, dtype=np.float32))
device = jax.devices()[3]
held = sum(buffer.nbytes for buffer in [s.data for a in jax.live_arrays() if a.devices() == {device} for s in a.addressable_shards if s.device == device])
print(held)
