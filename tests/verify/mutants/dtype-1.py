# original: fixtures/global-device-array/from-callback-keywords/before.py
# wrong: the callback makes floats of integers.
# kind: dtype lost
# processes: 1
"""Keyword arguments on lines of their own, in an order of the author's choice, with comments."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
table = np.arange(64, dtype=np.int32).reshape(16, 4)

array = jax.make_array_from_callback(
    shape=table.shape,  # rows are split, columns are not
    sharding=NamedSharding(mesh, P("x")),
    data_callback=lambda index: np.asarray(table[index], np.float32),
)

assert array.sharding == NamedSharding(mesh, P("x"))
print([shard.replica_id for shard in array.addressable_shards])
print(np.asarray(array.addressable_data(0)))
