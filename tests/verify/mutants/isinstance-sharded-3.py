# original: tests/verify/mutants/originals/global_or_not.before.py
# wrong: arrays on one device pass for global ones.
# kind: isinstance that flips on sharded arrays
# processes: 1
"""Arrays over the whole mesh go one way, all other values another."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(8.0, dtype=np.float32)


def way(value):
    return "by shards" if isinstance(value, jax.Array) else "at once"


array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])
print([way(value) for value in (array, jnp.ones(2), host)])
