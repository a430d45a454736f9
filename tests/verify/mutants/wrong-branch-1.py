# original: fixtures/jax-array-flag/read-if-else/before.py
# wrong: the branch of the old arrays was kept.
# kind: wrong branch kept
# processes: 1
import jax
import jax.numpy as jnp


def shards(x):
    # How many pieces this process holds.
    pieces = x.addressable_shards
    # Each knows its device.
    return [piece.data for piece in pieces]


def kind():
    return "buffer"


assert len(shards(jnp.ones(3))) == 1
print(kind(), jax.device_count() > 0)
