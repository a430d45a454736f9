# original: fixtures/from-gda/single_value/before.py
# wrong: the input that brings its own sharding is given the one of the batch.
# kind: spec of the wrong argument
# processes: 1
# raises: ValueError
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
values = np.arange(16.0).reshape(8, 2)
gda = jax.make_array_from_callback(values.shape, NamedSharding(mesh, P("x", "y")), lambda index: values[index])

double = jax.jit(lambda a: a * 2, in_shardings=NamedSharding(mesh, P("x")), out_shardings=NamedSharding(mesh, P("x", "y")))  # follows its input
out = double(gda)

assert out.shape == (8, 2)
for shard in out.addressable_shards:
    np.testing.assert_array_equal(shard.data, 2 * values[shard.index])
print("every shard doubled:", len(out.addressable_shards))
