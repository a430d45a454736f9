# Library code of the transition: one path for jax.Array, one for the old types, chosen by the flag.
# processes: 1
# devices: 8
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import maps
from jax.experimental.pjit import PartitionSpec as P

jax.config.update("jax_array", True)


def make_array(value, mesh, spec):
    if jax.config.jax_array:
        sharding = jax.sharding.NamedSharding(mesh, spec)
        return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])
    else:
        from jax.experimental.global_device_array import GlobalDeviceArray

        return GlobalDeviceArray.from_callback(value.shape, mesh, spec, lambda index: value[index])


def local_pieces(array):
    shards = array.addressable_shards if jax.config.jax_array else array.local_shards
    return [np.asarray(shard.data) for shard in shards]


def describe(array):
    if not jax.config.jax_array:
        return "old"
    return "%d devices, %s" % (len(array.sharding.device_set), "whole" if array.is_fully_addressable else "part")


mesh = maps.Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
value = np.arange(32, dtype=np.float32).reshape(8, 4)

for spec in (P("x", "y"), P("y"), P()):
    array = make_array(value, mesh, spec)
    pieces = local_pieces(array)
    assert len(pieces) == 8
    assert isinstance(array, jnp.ndarray)
    print(tuple(spec), pieces[0].shape, describe(array))

array = make_array(value, mesh, P("x", "y"))
doubled = jax.jit(lambda x: x * 2)(array)
assert doubled.shape == (8, 4)
np.testing.assert_array_equal(np.asarray(doubled), value * 2)
if jax.config.jax_array and len(jax.devices()) > 1:
    print("sum", float(jnp.sum(array)))
