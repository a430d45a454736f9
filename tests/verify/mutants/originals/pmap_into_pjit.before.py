"""The result of pmap is cut another way by pjit."""

import jax
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P, pjit
from jax.interpreters.pxla import ShardedDeviceArray

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
spread = jax.pmap(lambda v: v + 1)(np.arange(8.0, dtype=np.float32))
assert isinstance(spread, ShardedDeviceArray)
double = pjit(lambda a: a * 2, in_axis_resources=P("x"), out_axis_resources=P("x"))
with mesh:
    out = double(spread)
print(np.asarray(out).tolist())
