# Evaluation with pmap: the shards of the data set are put onto the devices with device_put_sharded, parameters with
# device_put_replicated, and padding is masked out.
# processes: 1
# devices: 8
import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters.pxla import ShardedDeviceArray

devices = jax.local_devices()
rng = np.random.RandomState(5)
examples = rng.normal(size=(117, 6)).astype(np.float32)
labels = rng.randint(0, 3, size=117).astype(np.int32)
params = {"w": rng.normal(size=(6, 3)).astype(np.float32), "b": np.array([0.1, 0.0, -0.1], np.float32)}


def padded_shards(x, count, per_device):
    padded = np.zeros((count * per_device,) + x.shape[1:], x.dtype)
    padded[: len(x)] = x
    return list(padded.reshape((count, per_device) + x.shape[1:]))


def evaluate(params, x, y, mask):
    logits = x @ params["w"] + params["b"]
    loss = -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1)[:, 0]
    hits = (logits.argmax(axis=1) == y) * mask
    return jax.lax.psum((jnp.sum(loss * mask), hits.sum(), mask.sum()), "d")


per_device = -(-len(examples) // len(devices))
x, y, mask = (
    jax.device_put_sharded(padded_shards(part, len(devices), per_device), devices)
    for part in (examples, labels, np.ones(117, np.float32))
)
replicated = jax.device_put_replicated(params, devices)

assert isinstance(x, ShardedDeviceArray) and x.shape == (8, 15, 6)
assert replicated["w"].shape == (8, 6, 3)
assert mask.shape == (8, 15) and float(mask.sum()) == 117

loss, hits, count = jax.pmap(evaluate, axis_name="d")(replicated, x, y, mask)
assert loss.shape == (8,)

logits = examples @ params["w"] + params["b"]
log_z = np.log(np.exp(logits).sum(axis=1))
expected = (log_z - logits[np.arange(117), labels]).sum()
np.testing.assert_allclose(np.asarray(loss), expected, rtol=1e-5)
assert int(count[0]) == 117 and int(hits[0]) == int((logits.argmax(axis=1) == labels).sum())
print("loss %.4f" % (float(loss[0]) / int(count[0])), "hits", int(hits[0]))
