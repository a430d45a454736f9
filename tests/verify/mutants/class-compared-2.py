# original: tests/verify/mutants/originals/handlers_by_class.before.py
# wrong: the lookup by type finds no array.
# kind: class compared
# processes: 1
"""A table keyed by class."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
HANDLERS = {int: lambda x: x, jax.Array: lambda x: len(x.addressable_shards)}


def handled(x):
    handler = HANDLERS.get(type(x))
    return None if handler is None else handler(x)


array = jax.make_array_from_callback((8,), NamedSharding(mesh, P("x")), lambda index: np.ones(1, np.float32))
print(handled(array), handled(3), handled("x"))
