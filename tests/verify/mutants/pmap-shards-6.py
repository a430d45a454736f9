# original: fixtures/array-attributes/device_buffers_unknown/before.py
# wrong: the first row is taken by indexing and lies on all devices.
# kind: row of a pmap result
# processes: 1
"""No other class has `device_buffers`, so an unknown value that has it is taken for an array."""
import jax
import jax.numpy as jnp


def first_replica(tree):
    return jax.tree_util.tree_map(lambda leaf: leaf[0].reshape(-1), tree)


tree = jax.pmap(lambda v: {"w": v + 1})(jnp.zeros(8))
first = first_replica(tree)
assert first["w"].tolist() == [1.0]
print(first["w"].tolist())
