# A loader that fetches the shards of all devices in one request: from_batched_callback with a callback that has a state.
# processes: 1
# devices: 8
import jax
import numpy as np
from jax.experimental import maps
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.pjit import PartitionSpec as P


class Store:
    """Answers batched requests; every request costs, so it is counted, and gets a ticket."""

    def __init__(self, table):
        self.table = table
        self.requests = []
        self.rng = np.random.RandomState(3)

    def fetch(self, indices):
        self.requests.append(len(indices))
        noise = self.rng.randint(0, 2) * 1000
        return [self.table[index] + noise for index in indices]


devices = np.array(jax.devices())
mesh = maps.Mesh(devices.reshape(4, 2), ("x", "y"))
store = Store(np.arange(48, dtype=np.int32).reshape(8, 6))

arrays = {}
for spec in (P("x", "y"), P("x"), P(("x", "y")), P(None, "y")):
    arrays[str(tuple(spec))] = GlobalDeviceArray.from_batched_callback((8, 6), mesh, spec, store.fetch)

# One request an array, and replicas are asked for again: always as many indices as devices.
assert store.requests == [8, 8, 8, 8]
for spec, array in arrays.items():
    shards = array.local_shards
    assert [s.device.id for s in shards] == list(range(8))
    base = int(np.asarray(shards[0].data)[0, 0]) - int(store.table[shards[0].index][0, 0])
    assert base in (0, 1000)
    for shard in shards:
        np.testing.assert_array_equal(np.asarray(shard.data), store.table[shard.index] + base)
    print(spec, shards[0].data.shape, [s.replica_id for s in shards], base)

counts = []


def counting(index):
    counts.append(index)
    return np.full((2, 3), len(counts), np.float32)


numbered = GlobalDeviceArray.from_callback((8, 6), mesh, P("x", "y"), counting)
assert len(counts) == 8
order = [int(np.asarray(s.data)[0, 0]) for s in numbered.local_shards]
print("callback order", order)
assert order == [1, 2, 3, 4, 5, 6, 7, 8]
