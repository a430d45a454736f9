# original: fixtures/global-device-array/type-comparison/before.py
# wrong: no array has exactly the type jax.Array.
# kind: class compared
# processes: 1
"""type(x) is GDA was the exact test; the concrete class of a jax.Array is private, so isinstance takes its place."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(8, dtype=np.int32)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])

print(type(array) is jax.Array, isinstance(host, jax.Array), not isinstance(array, jax.Array))
