# What the parts of a ShardingSpec mean: which slice of an array lies on which device, for some ways to cut a matrix.
# processes: 1
# devices: 8
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.interpreters.pxla import Chunked, NoSharding, Replicated, ShardedAxis, ShardingSpec, make_sharded_device_array

MATRIX = np.arange(16 * 4, dtype=np.float32).reshape(16, 4)


def place(pieces):
    return [jax.device_put(piece, device) for piece, device in zip(pieces, jax.devices())]


def by_rows():
    spec = ShardingSpec(sharding=(Chunked([8]), NoSharding()), mesh_mapping=(ShardedAxis(0),))
    return make_sharded_device_array(ShapedArray((16, 4), jnp.float32), spec, place(np.split(MATRIX, 8)))


def by_tiles():
    tiles = [tile for rows in np.split(MATRIX, 4) for tile in np.split(rows, 2, axis=1)]
    spec = ShardingSpec(sharding=(Chunked([4]), Chunked([2])), mesh_mapping=(ShardedAxis(0), ShardedAxis(1)))
    return make_sharded_device_array(ShapedArray((16, 4), jnp.float32), spec, place(tiles))


def by_columns_twice():
    columns = np.split(MATRIX, 4, axis=1)
    spec = ShardingSpec(sharding=(NoSharding(), Chunked([4])), mesh_mapping=(Replicated(2), ShardedAxis(0)))
    return make_sharded_device_array(ShapedArray((16, 4), jnp.float32), spec, place(columns + columns))


for make, shape in ((by_rows, (2, 4)), (by_tiles, (4, 2)), (by_columns_twice, (16, 1))):
    array = make()
    assert array.shape == (16, 4) and array.dtype == jnp.float32 and array.ndim == 2 and array.size == 64
    np.testing.assert_array_equal(np.asarray(array), MATRIX)
    buffers = array.device_buffers
    assert len(buffers) == 8 and all(b.shape == shape for b in buffers)
    corner = [float(np.asarray(b)[0, 0]) for b in buffers]
    print(make.__name__, shape, corner)

assert float(jnp.trace(by_tiles()[:4])) == 0 + 5 + 10 + 15
