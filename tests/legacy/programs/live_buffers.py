# Memory accounting of a device: what is alive before, during and after a computation.
# processes: 1
# devices: 8
import gc

import jax
import jax.numpy as jnp
import numpy as np


class MemoryMeter:
    """Bytes held on one device since the meter was set to zero."""

    def __init__(self, device):
        self.device = device
        self.reset()

    def reset(self):
        gc.collect()
        self.base = self._bytes()

    def _bytes(self):
        return sum(int(np.prod(buf.shape)) * buf.dtype.itemsize for buf in self.device.live_buffers())

    def held(self):
        gc.collect()
        return self._bytes() - self.base


first, second = jax.devices()[:2]
meter, other = MemoryMeter(first), MemoryMeter(second)

weights = jax.device_put(np.ones((64, 32), np.float32), first)
activations = [jax.device_put(np.zeros((16, 64), np.float32), first) for _ in range(3)]
elsewhere = jax.device_put(np.arange(10, dtype=np.int32), second)
assert meter.held() == 64 * 32 * 4 + 3 * 16 * 64 * 4
assert other.held() == 40

out = [a @ weights for a in activations]
assert meter.held() == 64 * 32 * 4 + 3 * (16 * 64 + 16 * 32) * 4

del activations
assert meter.held() == (64 * 32 + 3 * 16 * 32) * 4

weights.delete()
del weights, out
assert meter.held() == 0
print("after deletion", meter.held(), other.held())

x = jax.device_put(jnp.ones((4, 4)), second)
names = sorted(str(tuple(b.shape)) for b in second.live_buffers() if b.ndim)
print("on the second device:", names)
assert names == ["(10,)", "(4, 4)"]
assert elsewhere.shape == (10,) and x.shape == (4, 4)
