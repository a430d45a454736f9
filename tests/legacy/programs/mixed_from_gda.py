# Parameters live in global arrays whose placement pjit takes over (FROM_GDA), the batch comes as NumPy arrays of this host.
# processes: 1
# devices: 8
import jax
import numpy as np
from jax.experimental import maps
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.pjit import FROM_GDA, PartitionSpec as P, pjit

jax.config.update("jax_parallel_functions_output_gda", True)

mesh = maps.Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def to_gda(value, spec):
    return GlobalDeviceArray.from_callback(value.shape, mesh, spec, lambda index: value[index])


rng = np.random.RandomState(1)
kernel = rng.normal(size=(8, 16)).astype(np.float32)
bias = rng.normal(size=(16,)).astype(np.float32)
batch = rng.normal(size=(12, 8)).astype(np.float32)
scale = np.float32(0.5)

kernel_gda = to_gda(kernel, P(None, "model"))
bias_gda = to_gda(bias, P("model"))


def predict(kernel, x, bias, scale):
    return jax.nn.relu(x @ kernel + bias) * scale


predict_fn = pjit(
    predict,
    in_axis_resources=(FROM_GDA, P("data"), FROM_GDA, None),
    out_axis_resources=P("data", "model"),
)

with mesh:
    out = predict_fn(kernel_gda, batch, bias_gda, scale)

expected = np.maximum(batch @ kernel + bias, 0) * scale
assert out.shape == (12, 16)
for shard in out.addressable_shards:
    assert shard.data.shape == (6, 4)
    np.testing.assert_allclose(np.asarray(shard.data), expected[shard.index], rtol=1e-5, atol=1e-6)

# The output feeds the next function as it is.
with mesh:
    total = pjit(lambda y: y.sum(axis=1), in_axis_resources=FROM_GDA, out_axis_resources=P("data"))(out)
assert [s.replica_id for s in total.addressable_shards] == [0, 1, 2, 3, 0, 1, 2, 3]
print("rows", np.round(expected.sum(axis=1), 3).tolist()[:4])
print("mine", [round(float(v), 3) for v in np.asarray(total.addressable_data(0))][:4])
