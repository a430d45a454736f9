# Evaluation over global arrays on several hosts: every host builds its shards by callback, the result is replicated.
# processes: 1 2 4
# devices: 8
import argparse

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P
from jax.experimental.pjit import pjit


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--coordinator")
    parser.add_argument("--num_hosts", type=int, default=1)
    parser.add_argument("--host", type=int, default=0)
    return parser.parse_args()


def start(args):
    if args.num_hosts > 1:
        jax.distributed.initialize(args.coordinator, args.num_hosts, args.host)
    jax.config.update("jax_parallel_functions_output_gda", True)


def build(value, mesh, spec, log):
    def load(index):
        log.append(index)
        return value[index]

    return GlobalDeviceArray.from_callback(value.shape, mesh, spec, load)


def evaluate(x, w):
    logits = x @ w
    return jnp.argmax(logits, axis=1), jnp.max(logits, axis=1).sum()


def main():
    start(parse())
    local = jax.local_device_count()
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
    rng = np.random.RandomState(8)
    x = rng.normal(size=(16, 6)).astype(np.float32)
    w = rng.normal(size=(6, 4)).astype(np.float32)

    log = []
    x_gda = build(x, mesh, P("data", "model"), log)
    w_gda = build(w, mesh, P("model", None), log)
    assert len(log) == 2 * local
    assert x_gda.shape == (16, 6) and len(x_gda.local_shards) == local

    with mesh:
        p_evaluate = pjit(
            evaluate,
            in_axis_resources=(P("data", "model"), P("model", None)),
            out_axis_resources=(P("data"), None),
        )
        classes, total = p_evaluate(x_gda, w_gda)

    expected = x @ w
    mine = {s.device.id for s in classes.local_shards}
    assert mine == {d.id for d in jax.local_devices()}
    for shard in classes.local_shards:
        np.testing.assert_array_equal(np.asarray(shard.data), expected.argmax(axis=1)[shard.index])
    assert total.is_fully_replicated
    np.testing.assert_allclose(np.asarray(total.local_data(0)), expected.max(axis=1).sum(), rtol=1e-5)
    print("total %.3f" % float(total.local_data(0)), classes.shape, classes.dtype)


if __name__ == "__main__":
    main()
