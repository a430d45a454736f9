# original: fixtures/array-attributes/to_py/before.py
# wrong: a list forgets that the integers had 32 bits.
# kind: dtype lost
# processes: 1
"""`to_py()` made a NumPy array."""
import jax.numpy as jnp
import numpy as np

x = jnp.arange(3) + 1
host = np.array(x.tolist())
total = np.asarray(x * 2).sum()
via_buffer = np.asarray(x.addressable_data(0))


def to_host(leaf):
    return np.asarray(leaf)


assert isinstance(host, np.ndarray) and total == 12 and via_buffer.tolist() == [1, 2, 3]
print(to_host(x).tolist())
