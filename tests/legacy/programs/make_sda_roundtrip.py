# Putting batches onto the devices by hand, as trax and flax did: one buffer a device, joined into a ShardedDeviceArray.
# processes: 1
# devices: 8
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import pxla


def put_sharded(shards, devices):
    """A list of arrays, one a device -> one array with a leading axis of devices."""
    aval = jax.core.ShapedArray((len(devices),) + shards[0].shape, shards[0].dtype)
    buffers = [jax.device_put(x, d) for x, d in zip(shards, devices)]
    return pxla.make_sharded_device_array(aval, None, buffers)


def batches(count, devices):
    for step in range(count):
        yield [np.full((2, 3), 100 * step + i, np.float32) for i in range(len(devices))]


def prefetch(iterator, devices, size=2):
    queue = []
    for shards in itertools.chain(iterator, [None] * size):
        if shards is not None:
            queue.append(put_sharded(shards, devices))
        if len(queue) > size or shards is None:
            if queue:
                yield queue.pop(0)


devices = jax.local_devices()
step = jax.pmap(lambda x: x * 2 + jax.lax.axis_index("i"), axis_name="i")

means = []
for batch in prefetch(batches(4, devices), devices):
    assert isinstance(batch, pxla.ShardedDeviceArray)
    assert batch.shape == (8, 2, 3) and batch.dtype == np.float32
    result = step(batch)
    assert isinstance(result, pxla.ShardedDeviceArray)
    means.append(float(jnp.mean(result)))

assert means == [10.5, 210.5, 410.5, 610.5], means
np.testing.assert_array_equal(np.asarray(batch)[:, 0, 0], 300 + np.arange(8))
np.testing.assert_array_equal(np.asarray(batch[5]), np.full((2, 3), 305, np.float32))
print("means", means)
print("last", np.asarray(result)[:, 1, 2].tolist())
