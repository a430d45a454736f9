# original: fixtures/sharded-device-array/make_with_spec/before.py
# wrong: the two halves are taken for quarters.
# kind: sharded instead of replicated
# processes: 1
# raises: ValueError
"""The known forms of ShardingSpec: unstacked along another axis, chunked, two-dimensional, replicated."""
import jax
import jax.numpy as jnp
import numpy as np

devices = jax.local_devices()


def place(values):
    return [jax.device_put(value, device) for value, device in zip(values, devices)]


columns = place([jnp.full((2,), i) for i in range(8)])
by_column = jax.make_array_from_single_device_arrays(
    (2, 8),
    jax.sharding.NamedSharding(jax.sharding.Mesh([next(iter(b.devices())) for b in columns], ("i",)), jax.sharding.PartitionSpec(None, "i")),
    [b[:, None] for b in columns],
)

chunks = place([jnp.full((2, 3), i) for i in range(8)])
chunked = jax.make_array_from_single_device_arrays(
    (16, 3),
    jax.sharding.NamedSharding(jax.sharding.Mesh([next(iter(b.devices())) for b in chunks], ("i",)), jax.sharding.PartitionSpec("i")),
    chunks,
)

tiles = place([jnp.full((2, 2), i) for i in range(8)])
tiled = jax.make_array_from_single_device_arrays(
    (8, 4),
    jax.sharding.NamedSharding(jax.sharding.Mesh(np.array([next(iter(b.devices())) for b in tiles]).reshape(4, 2), ("i", "j")), jax.sharding.PartitionSpec("i", "j")),
    tiles,
)

halves = place([jnp.full((2,), i % 2) for i in range(8)])
replicated = jax.make_array_from_single_device_arrays(
    (4,),
    jax.sharding.NamedSharding(jax.sharding.Mesh(np.array([next(iter(b.devices())) for b in halves]).reshape(4, 2), ("i", "j")), jax.sharding.PartitionSpec("i")),
    halves,
)

assert by_column[0].tolist() == list(range(8))
assert chunked[:, 0].tolist() == [i // 2 for i in range(16)]
assert tiled[:, 0].tolist() == [0, 0, 2, 2, 4, 4, 6, 6] and tiled[0].tolist() == [0, 0, 1, 1]
assert replicated.tolist() == [0, 0, 1, 1]
print(tiled.shape, replicated.tolist())
