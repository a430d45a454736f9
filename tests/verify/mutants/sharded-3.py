# original: fixtures/sharding-paths/mesh-pspec-sharding/before.py
# wrong: None is read as one axis per dimension.
# kind: sharded instead of replicated
# processes: 1
"""The name NamedSharding had until 0.4.7, by position and by keyword, with None for "replicated"."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
split = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh, P("x")))
whole = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh=mesh, spec=P("x")))
print(isinstance(split.sharding, NamedSharding), whole.is_fully_replicated)
