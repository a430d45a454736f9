# original: fixtures/pjit-to-jit/self_attributes/before.py
# wrong: the model takes every other device.
# kind: sharding on a sub-mesh
# processes: 1
# raises: AssertionError
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


class Model:
    def __init__(self, devices):
        self.mesh = Mesh(np.array(devices[::2]), ("data",))
        self._apply = jax.jit(
            self.apply,
            in_shardings=(NamedSharding(self.mesh, P("data")), NamedSharding(self.mesh, P())),
            out_shardings=NamedSharding(self.mesh, P("data")))

    def apply(self, x, w):
        return x * w

    def __call__(self, x, w):
        return self._apply(x, w)


out = Model(jax.devices())(np.arange(8.0), np.float32(2))
np.testing.assert_array_equal(out, 2 * np.arange(8.0))
assert out.addressable_shards[0].data.shape == (1,)
print("mesh and function are attributes")
