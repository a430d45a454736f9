"""Weights that span the processes, a batch of which every process has its own rows."""

import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.maps import Mesh
from jax.experimental.pjit import FROM_GDA, PartitionSpec as P, pjit

jax.config.update("jax_parallel_functions_output_gda", True)
mesh = Mesh(np.array(jax.devices()), ("data",))
table = np.arange(16.0, dtype=np.float32)
weights = GlobalDeviceArray.from_callback((16,), mesh, P("data"), lambda index: table[index])
apply = pjit(lambda w, b: w * b, in_axis_resources=(FROM_GDA, P("data")), out_axis_resources=P("data"))
size = 16 // jax.process_count()
batch = np.arange(size, dtype=np.float32) + 100 * jax.process_index()
with mesh:
    out = apply(weights, batch)
print(out.shape, [np.asarray(s.data).tolist() for s in out.local_shards])
