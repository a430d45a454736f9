"""A global array brings its own sharding, the result gets another."""

import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.maps import Mesh
from jax.experimental.pjit import FROM_GDA, PartitionSpec as P, pjit

jax.config.update("jax_parallel_functions_output_gda", True)
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
values = np.arange(16.0, dtype=np.float32).reshape(8, 2)
gda = GlobalDeviceArray.from_callback(values.shape, mesh, P("x", "y"), lambda index: values[index])
double = pjit(lambda a: a * 2, in_axis_resources=FROM_GDA, out_axis_resources=P("x", "y"))
negate = pjit(lambda a, b: b - a, in_axis_resources=(FROM_GDA, P("y")), out_axis_resources=P("x"))
with mesh:
    out = double(gda)
    rest = negate(out, values)
print([shard.index for shard in rest.local_shards][:2])
