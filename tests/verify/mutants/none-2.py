# original: fixtures/sharding-paths/named-sharding-none/before.py
# wrong: None is no spec.
# kind: None or P()
# processes: 1
# raises: TypeError
"""None was taken for "replicated" until 0.4.13."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()), ("x",))
whole = jax.device_put(np.ones(4, np.float32), NamedSharding(mesh, None))
print(whole.is_fully_replicated, whole.sharding.spec == PartitionSpec())
