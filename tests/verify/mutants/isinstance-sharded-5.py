# original: tests/verify/mutants/originals/spans_processes.before.py
# wrong: the negation was lost.
# kind: is_fully_replicated for is_fully_addressable
# processes: 2
# raises: RuntimeError
"""Only arrays that span processes have to be gathered."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
host = np.arange(8.0, dtype=np.float32)
array = jax.make_array_from_callback(host.shape, NamedSharding(mesh, P("x")), lambda index: host[index])


def gathered(value):
    if isinstance(value, jax.Array) and value.is_fully_addressable:
        return "by shards"
    return np.asarray(value)


print(gathered(array), gathered(jnp.ones(2)).shape)
