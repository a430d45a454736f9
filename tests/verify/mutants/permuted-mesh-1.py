# original: tests/verify/mutants/originals/interleaved.before.py
# wrong: the new function takes what the old one refused.
# kind: make_array_from_process_local_data on a permuted mesh
# processes: 2
"""A mesh in which the devices of a process are no block takes no input of one host."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = sorted(jax.devices(), key=lambda d: (d.id % jax.local_device_count(), d.process_index))
mesh = Mesh(np.array(devices), ("x",))
step = jax.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh, P("x")), out_shardings=NamedSharding(mesh, P("x")))
batch = np.arange(8.0)
try:
    out = (
        step(jax.make_array_from_process_local_data(NamedSharding(mesh, P("x")), batch))
    )
    accepted = True
except ValueError:
    accepted = False
print(accepted)
