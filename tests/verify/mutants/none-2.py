# original: fixtures/sharding-paths/mesh-pspec-sharding/before.py
# wrong: the class has its new name, the None that it does not take has stayed.
# kind: None or P()
# processes: 1
# raises: TypeError
"""The name NamedSharding had until 0.4.7, by position and by keyword, with None for "replicated"."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
split = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh, P("x")))
whole = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh=mesh, spec=None))
print(isinstance(split.sharding, NamedSharding), whole.is_fully_replicated)
