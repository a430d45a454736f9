# Loading a batch on many hosts: every host reads only the rows that its devices hold, pjit joins them to the global batch,
# and what comes back is again this host's part.
# processes: 1 2 4
# devices: 8
import argparse

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import maps
from jax.experimental.pjit import PartitionSpec as P
from jax.experimental.pjit import pjit


class RecordFile:
    """Stands for a file of fixed-size records; counts what is read."""

    def __init__(self, n_records, width):
        self.n_records, self.width, self.read = n_records, width, 0

    def __getitem__(self, rows):
        rows = np.arange(self.n_records)[rows]
        self.read += len(rows)
        return (rows[:, None] * 10 + np.arange(self.width)).astype(np.float32)


class HostDataLoader:
    def __init__(self, source, global_batch, host_id, host_count):
        assert global_batch % host_count == 0
        self.source, self.global_batch = source, global_batch
        self.local_batch = global_batch // host_count
        self.offset = host_id * self.local_batch

    def __iter__(self):
        for start in range(0, self.source.n_records, self.global_batch):
            begin = start + self.offset
            yield self.source[begin : begin + self.local_batch]


def standardize(batch, mean):
    centered = batch - mean
    return centered, jnp.sum(centered), jnp.max(batch, axis=0)


def main(args):
    if args.num_processes > 1:
        jax.distributed.initialize(args.coordinator_address, args.num_processes, args.process_id)
    n = jax.process_count()
    mesh = maps.Mesh(np.asarray(jax.devices()), ("hosts",))
    step = pjit(standardize, in_axis_resources=(P("hosts"), P(None)), out_axis_resources=(P("hosts"), None, None))

    source = RecordFile(n_records=64, width=3)
    loader = HostDataLoader(source, 16, jax.process_index(), n)
    mean = np.array([1.0, 2.0, 3.0], np.float32)
    sums = []
    with maps.Mesh(mesh.devices, mesh.axis_names):
        for number, batch in enumerate(loader):
            assert batch.shape == (16 // n, 3)
            centered, total, largest = step(batch, mean)
            assert total.shape == () and largest.shape == (3,)
            # Statistics are over the rows of all hosts.
            assert float(largest[0]) == (16 * number + 15) * 10
            sums.append(float(total))
    assert source.read == 64 // n
    if n == 1:
        np.testing.assert_array_equal(np.asarray(centered), batch - mean)
    print("sums", sums)
    assert sums == [3552.0, 11232.0, 18912.0, 26592.0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--coordinator_address", "--coordinator")
    parser.add_argument("--num_processes", "--num_hosts", type=int, default=1)
    parser.add_argument("--process_id", "--host", type=int, default=0)
    main(parser.parse_args())
