# A matrix product on a 4x2 mesh: global arrays in, global arrays out, every shard of the result inspected.
# processes: 1
# devices: 8
import jax
import numpy as np
from jax.experimental import global_device_array as gda_lib
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec, pjit

jax.config.update("jax_parallel_functions_output_gda", True)

mesh_shape = (4, 2)
mesh = Mesh(np.array(jax.devices()).reshape(mesh_shape), ("x", "y"))


def create_gda(value, mesh_axes):
    def callback(index):
        return value[index]

    return gda_lib.GlobalDeviceArray.from_callback(value.shape, mesh, mesh_axes, callback)


a = np.arange(8 * 4, dtype=np.float32).reshape(8, 4)
b = np.arange(4 * 6, dtype=np.float32).reshape(4, 6) / 8

a_gda = create_gda(a, PartitionSpec("x", "y"))
b_gda = create_gda(b, PartitionSpec("y", None))

assert a_gda.shape == (8, 4) and a_gda.dtype == np.float32
assert [s.device.id for s in a_gda.local_shards] == list(range(8))
assert a_gda.local_data(0).shape == (2, 2)
assert a_gda.local_shards[3].index == (slice(2, 4), slice(2, 4))
assert not a_gda.is_fully_replicated
assert [s.replica_id for s in b_gda.local_shards] == [0, 0, 1, 1, 2, 2, 3, 3]

with mesh:
    matmul = pjit(
        lambda x, y: x @ y,
        in_axis_resources=(PartitionSpec("x", "y"), PartitionSpec("y", None)),
        out_axis_resources=PartitionSpec("x", "y"),
    )
    out = matmul(a_gda, b_gda)
    norms = pjit(
        lambda x: (x**2).sum(axis=1),
        in_axis_resources=PartitionSpec("x", "y"),
        out_axis_resources=None,
    )(out)

expected = a @ b
assert isinstance(out, gda_lib.GlobalDeviceArray)
assert out.shape == (8, 6)
for shard in out.local_shards:
    assert shard.data.shape == (2, 3)
    assert shard.replica_id == 0
    np.testing.assert_allclose(np.asarray(shard.data), expected[shard.index], rtol=1e-6)
    print("device", shard.device.id, shard.index, float(np.asarray(shard.data).sum()))

assert norms.is_fully_replicated
assert len(norms.local_shards) == 8 and norms.local_data(5).shape == (8,)
np.testing.assert_allclose(np.asarray(norms.local_data(5)), (expected**2).sum(axis=1), rtol=1e-5)
print("norms", np.asarray(norms.local_data(0)).round(1).tolist())
