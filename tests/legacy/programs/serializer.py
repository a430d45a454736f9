# Dispatch on the old array types, as checkpoint code did: each kind is described and written in its own way.
# processes: 1
# devices: 8
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.interpreters.pxla import ShardedDeviceArray


def encode(value):
    """A tree of arrays -> something that json or msgpack would take."""
    if isinstance(value, dict):
        return {k: encode(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    if isinstance(value, np.ndarray):
        return {"kind": "numpy", "shape": value.shape, "data": value.tolist()}
    if isinstance(value, GlobalDeviceArray):
        shards = [(str(s.index), np.asarray(s.data).tolist()) for s in value.local_shards if s.replica_id == 0]
        return {"kind": "global", "shape": value.shape, "shards": shards}
    if isinstance(value, jnp.DeviceArray):
        return {"kind": "device", "shape": value.shape, "data": np.asarray(value).tolist()}
    if isinstance(value, (int, float, str)) or value is None:
        return value
    raise TypeError("cannot encode %s" % type(value))


def is_sharded(value):
    return isinstance(value, ShardedDeviceArray)


state = {
    "step": 3,
    "name": "run",
    "host": np.arange(3),
    "params": [jnp.ones(2), jax.pmap(lambda x: x + 1)(jnp.arange(8))],
}
encoded = encode(state)
assert encoded["step"] == 3 and encoded["name"] == "run"
assert encoded["host"] == {"kind": "numpy", "shape": (3,), "data": [0, 1, 2]}
assert encoded["params"][0]["kind"] == "device"
assert encoded["params"][1] == {"kind": "device", "shape": (8,), "data": [1, 2, 3, 4, 5, 6, 7, 8]}
print(sorted(encoded), [p["kind"] for p in encoded["params"]])

assert not is_sharded(state["params"][0]) and is_sharded(state["params"][1])
assert not is_sharded(state["host"]) and not is_sharded(3)

traced = []


@jax.jit
def traced_kind(x):
    traced.append(isinstance(x, np.ndarray))
    return x * 2


assert traced_kind(jnp.arange(3)).tolist() == [0, 2, 4] and traced == [False]

try:
    encode(object())
except TypeError as error:
    print("refused:", str(error).split(" object")[0])
