# A checkpoint of sharded parameters: every shard that is the first of its replicas goes to a file of its own; restored on
# another mesh by cutting the files anew.
# processes: 1
# devices: 8
import json
import os
import tempfile

import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray as GDA
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P


def bounds(index, shape):
    """((start, stop), ...) of an index, with the open ends filled in."""
    return [list(s.indices(n)[:2]) for s, n in zip(index, shape)]


def save(folder, name, array):
    meta = {"shape": list(array.shape), "dtype": str(array.dtype), "shards": []}
    for shard in array.local_shards:
        if shard.replica_id != 0:
            continue
        filename = "%s.%d.npy" % (name, shard.device.id)
        np.save(os.path.join(folder, filename), np.asarray(shard.data))
        meta["shards"].append({"file": filename, "bounds": bounds(shard.index, array.shape)})
    with open(os.path.join(folder, name + ".json"), "w") as f:
        json.dump(meta, f)
    return len(meta["shards"])


class Reader:
    """Assembles any part of a saved array from the files that hold it."""

    def __init__(self, folder, name):
        with open(os.path.join(folder, name + ".json")) as f:
            self.meta = json.load(f)
        self.folder = folder
        self.shape = tuple(self.meta["shape"])
        self.reads = 0

    def __call__(self, index):
        self.reads += 1
        whole = np.zeros(self.shape, self.meta["dtype"])
        for shard in self.meta["shards"]:
            where = tuple(slice(*b) for b in shard["bounds"])
            whole[where] = np.load(os.path.join(self.folder, shard["file"]))
        return whole[index]


def restore(folder, name, mesh, spec):
    reader = Reader(folder, name)
    return GDA.from_callback(reader.shape, mesh, spec, reader), reader.reads


devices = np.array(jax.devices())
training_mesh = Mesh(devices.reshape(4, 2), ("data", "model"))
serving_mesh = Mesh(devices.reshape(2, 4), ("data", "model"))

rng = np.random.RandomState(0)
values = {
    "embedding": rng.normal(size=(16, 8)).astype(np.float32),
    "kernel": np.arange(32, dtype=np.int32).reshape(8, 4),
    "bias": rng.normal(size=(4,)).astype(np.float16),
}
specs = {"embedding": P("model", "data"), "kernel": P(None, "model"), "bias": P("data")}

params = {
    name: GDA.from_callback(value.shape, training_mesh, specs[name], lambda index, value=value: value[index])
    for name, value in values.items()
}

with tempfile.TemporaryDirectory() as folder:
    written = {name: save(folder, name, array) for name, array in params.items()}
    assert written == {"embedding": 8, "kernel": 2, "bias": 4}
    assert len([f for f in os.listdir(folder) if f.endswith(".npy")]) == 14
    restored = {name: restore(folder, name, serving_mesh, specs[name]) for name in values}

for name, (array, reads) in sorted(restored.items()):
    assert reads == 8, reads
    assert array.shape == values[name].shape and array.dtype == values[name].dtype
    for shard in array.local_shards:
        np.testing.assert_array_equal(np.asarray(shard.data), values[name][shard.index])
    first = array.local_shards[0]
    print(name, first.data.shape, bounds(first.index, array.shape), [s.replica_id for s in array.local_shards])
assert restored["kernel"][0].local_data(1).shape == (8, 1)
