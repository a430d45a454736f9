# original: fixtures/array-attributes/basic/before.py
# wrong: a set of devices stands for the device.
# kind: device() and devices()
# processes: 1
import jax
import numpy as np

x = jax.numpy.ones(3)
print(x.devices(), np.asarray(x.addressable_data(0)))
assert isinstance(np.asarray(x), np.ndarray)
