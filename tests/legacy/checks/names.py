"""Removed names, flags and small functions of old JAX."""

from __future__ import annotations

import os

import numpy as np
from worlds import raises, world


def check_index_functions():
    import jax
    import jax.numpy as jnp

    x = jnp.zeros((3, 3))
    assert float(jax.ops.index_update(x, jax.ops.index[1, :], 2.0).sum()) == 6.0
    assert float(jax.ops.index_add(x, (0, 0), 3.0)[0, 0]) == 3.0
    assert float(jax.ops.index_mul(x + 1, (0, 0), 3.0)[0, 0]) == 3.0
    assert float(jax.ops.index_min(x, (0, 0), -1.0)[0, 0]) == -1.0
    assert float(jax.ops.index_max(x, (0, 0), 1.0)[0, 0]) == 1.0


def check_tree_functions():
    import jax

    assert jax.tree_map(lambda a, b: a + b, (1, 2), (3, 4)) == (4, 6)
    assert jax.tree_multimap(lambda a, b: a + b, [1], [2]) == [3]
    leaves, tree = jax.tree_flatten({"a": 1})
    assert jax.tree_unflatten(tree, leaves) == {"a": 1}
    assert jax.tree_leaves({"a": 1}) == [1]
    assert jax.tree_structure(1) == jax.tree_structure(2)
    assert jax.treedef_is_leaf(jax.tree_structure(1))
    assert jax.tree_util.tree_multimap(max, 1, 2) == 2
    assert jax.tree_map(lambda a, b: a + b, {"a": None, "b": 1}, {"a": 5, "b": 2}) == {"a": None, "b": 3}
    assert jax.tree_util.tree_map(lambda a, b: b, (1, None), (2, {"x": 3})) == (2, None)
    raises(ValueError, lambda: jax.tree_map(max, (1, 2), (1, 2, 3)))


def check_numpy_names():
    import jax.numpy as jnp

    assert int(jnp.product(jnp.array([2, 3]))) == 6
    assert jnp.in1d(jnp.array([1, 2]), jnp.array([2])).tolist() == [False, True]
    assert jnp.row_stack([jnp.ones(2), jnp.ones(2)]).shape == (2, 2)
    assert float(jnp.trapz(jnp.array([0.0, 2.0]))) == 1.0
    assert float(jnp.round_(jnp.float32(1.6))) == 2.0
    assert jnp.cumproduct(jnp.array([2, 3])).tolist() == [2, 6]
    assert bool(jnp.alltrue(jnp.array([True])))
    assert bool(jnp.sometrue(jnp.array([True])))
    assert np.isneginf(jnp.NINF)
    assert jnp.msort(jnp.array([2, 1])).tolist() == [1, 2]
    assert jnp.float_ is not None


def check_device_array_types():
    import jax
    import jax.numpy as jnp
    from jax.interpreters import xla

    assert isinstance(jnp.ones(2), jnp.DeviceArray)
    assert isinstance(jnp.ones(2), xla.DeviceArray)
    assert not isinstance(np.ones(2), jnp.DeviceArray)
    assert jax.jit(lambda x: jnp.zeros(()) if isinstance(x, jnp.DeviceArray) else jnp.ones(()))(1.0) == 1
    assert isinstance(jax.pmap(lambda x: x)(np.ones(8)), jnp.DeviceArray)
    assert isinstance(jax.pmap(lambda x: x)(np.ones(8)), jax.Array)
    assert jax.interpreters.xla is jax.xla
    assert jax.interpreters.pxla is jax.pxla


def check_members_of_arrays_of_one_device():
    import jax
    import jax.numpy as jnp

    x = jax.device_put(np.ones(2), jax.devices()[1])
    assert x.device() == jax.devices()[1]
    assert x.device_buffer is not None
    assert np.array_equal(x.to_py(), np.ones(2))
    assert x.block_host_until_ready() is None
    assert jnp.ones(2).aval.shape == (2,)


def check_live_buffers_of_one_device():
    import jax

    device = jax.devices()[3]
    before = len(device.live_buffers())
    x = jax.device_put(np.ones(2), device)
    sharded = jax.device_put_replicated(np.ones(2), jax.devices())
    assert len(device.live_buffers()) == before + 2
    assert any(buffer is x for buffer in device.live_buffers())
    del x, sharded
    assert len(device.live_buffers()) == before


def check_random_names():
    import jax

    key: jax.random.KeyArray = jax.random.PRNGKey(0)
    assert jax.random.shuffle(key, np.arange(5)).shape == (5,)
    assert jax.random.threefry2x32_key(0).shape == (2,)


def check_processes_by_their_old_names():
    import jax

    assert jax.host_id() == 0
    assert jax.host_count() == 1
    assert jax.host_ids() == [0]
    assert jax.lib.xla_bridge.device_count() == 8
    assert jax.lib.xla_bridge.get_backend().platform == "cpu"


def check_old_modules():
    from jax import linear_util as lu
    from jax.abstract_arrays import ShapedArray
    from jax.api import jit
    from jax.config import config
    from jax.core import Jaxpr, Primitive, eval_jaxpr  # noqa: F401
    from jax.experimental import optimizers, stax
    from jax.interpreters import ad, batching, partial_eval, sharded_jit, xla  # noqa: F401
    from jax.util import safe_map, safe_zip  # noqa: F401

    config.update("jax_debug_nans", False)
    assert lu.wrap_init
    assert ShapedArray((2,), np.dtype("float32")).shape == (2,)
    assert jit(lambda x: x + 1)(1) == 2
    assert optimizers.adam(0.1)
    assert stax.serial(stax.Dense(2))


def check_config_module_is_not_the_attribute():
    import sys

    import jax
    import jax.config as module

    assert module.update
    assert jax.config.update
    assert sys.modules["jax.config"].config is jax.config


def check_old_flags_are_accepted():
    import jax
    from jax.config import config

    assert jax.config.jax_array is False
    config.update("jax_array", True)
    assert jax.config.jax_array is True
    assert config.read("jax_array") is True
    config.update("jax_array", False)
    config.update("jax_parallel_functions_output_gda", True)
    assert config.FLAGS.jax_parallel_functions_output_gda is True
    config.update("jax_parallel_functions_output_gda", False)
    config.update("jax_experimental_name_stack", True)
    config.update("jax_coordination_service", True)
    assert config.jax_coordination_service is True
    assert config.values["jax_array"] is False
    config.update(name="jax_array", val=False)
    assert config.meta["jax_array"][0] is bool
    raises(AttributeError, lambda: config.update("jax_no_such_flag", 1))
    raises(AttributeError, lambda: config.jax_no_such_flag)


def check_flag_as_a_context_manager():
    import jax
    from jax._src import config

    with config.jax_array(True):
        assert jax.config.jax_array
    assert not jax.config.jax_array


def check_flags_from_the_environment():
    import jax

    from jaxmigrate import legacy

    os.environ.update(JAX_ARRAY="1", JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA="true")
    try:
        with legacy.installed("0.3.25"):
            assert jax.config.jax_array
            assert jax.config.jax_parallel_functions_output_gda
    finally:
        del os.environ["JAX_ARRAY"], os.environ["JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA"]
    assert not jax.config.jax_array


@world("0.4.6", jax_array=None)
def check_default_of_the_flag_by_version():
    import jax

    from jaxmigrate import legacy

    assert jax.config.jax_array
    with legacy.installed("0.3.25"):
        assert not jax.config.jax_array
    assert jax.config.jax_array


def check_host_callback():
    import jax
    import jax.numpy as jnp
    from jax.experimental import host_callback as hcb

    seen = []

    @jax.jit
    def tapped(x):
        hcb.id_tap(lambda value, transforms: seen.append((type(value), float(value), transforms)), x)
        return hcb.call(lambda v: np.asarray(v) * 10, x, result_shape=jax.ShapeDtypeStruct((), jnp.float32)) + 1

    assert float(tapped(jnp.float32(2))) == 21.0
    hcb.barrier_wait()
    assert seen == [(np.ndarray, 2.0, ())]


def check_enable_and_disable_x64():
    import jax.numpy as jnp
    from jax.experimental import disable_x64, enable_x64

    with enable_x64():
        assert jnp.arange(2.0).dtype == np.float64
        with disable_x64():
            assert jnp.arange(2.0).dtype == np.float32


def check_multihost_utils_of_one_process():
    import jax
    from jax.experimental import multihost_utils

    x = np.ones((8, 2))
    assert multihost_utils.process_allgather(x).shape == (8, 2)
    assert multihost_utils.process_allgather(x, titled=False).shape == (8, 2)
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    convert = multihost_utils.host_local_array_to_global_array
    raises(RuntimeError, lambda: convert(x, mesh, None), "jax_array")
    multihost_utils.sync_global_devices("here")
    assert multihost_utils.broadcast_one_to_all(x).shape == (8, 2)
    multihost_utils.assert_equal(x, "same")


@world("0.4.6", jax_array=True)
def check_none_for_replicated_in_multihost_utils():
    import jax
    from jax.experimental import multihost_utils

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    whole = multihost_utils.host_local_array_to_global_array(np.ones(8), mesh, None)
    assert whole.shape == (8,)


def check_partition_spec_in_all_its_places():
    from jax.experimental import PartitionSpec as a
    from jax.experimental.global_device_array import PartitionSpec as b
    from jax.experimental.pjit import PartitionSpec as c
    from jax.interpreters.pxla import PartitionSpec as d
    from jax.interpreters.sharded_jit import PartitionSpec as e

    assert a is b is c is d is e


def check_xla_computation():
    import jax

    assert "add" in jax.xla_computation(lambda x: x + 1)(1.0).as_hlo_text()


@world("0.4.6", jax_array=True)
def check_positional_sharding():
    import jax
    from jax.sharding import PositionalSharding

    sharding = PositionalSharding(jax.devices()).reshape(4, 2)
    x = jax.device_put(np.arange(32.0).reshape(8, 4), sharding)
    assert [shard.data.shape for shard in x.addressable_shards] == [(2, 2)] * 8
    assert x.addressable_shards[1].index == (slice(0, 2), slice(2, 4))
    rows = jax.device_put(np.arange(32.0).reshape(8, 4), sharding.replicate(1))
    assert [shard.data.shape for shard in rows.addressable_shards] == [(2, 4)] * 8
    assert np.array_equal(np.asarray(x), np.asarray(rows))
    assert jax.device_put(np.ones(3), PositionalSharding(jax.devices()).replicate()).is_fully_replicated


def check_old_keywords():
    import jax
    import jax.numpy as jnp

    x = jnp.array([3.0, -1.0, 2.0])
    assert jnp.clip(a=x, a_min=0.0, a_max=2.5).tolist() == [2.5, 0.0, 2.0]
    assert jnp.clip(x, a_min=0.0).tolist() == [3.0, 0.0, 2.0]
    assert jnp.clip(x, 0.0, 1.0).tolist() == [1.0, 0.0, 1.0]
    assert jnp.reshape(x, newshape=(3, 1)).shape == (3, 1)
    assert float(jnp.percentile(x, 50, interpolation="lower")) == 2.0
    assert jnp.sort(x, kind="mergesort").tolist() == [-1.0, 2.0, 3.0]
    assert jnp.where(condition=x > 0, x=x, y=0.0).tolist() == [3.0, 0.0, 2.0]
    assert jax.nn.softmax(x, initial=-jnp.inf).shape == (3,)
    assert float(jax.grad(lambda v: v**2, reduce_axes=())(3.0)) == 6.0
    assert float(jax.checkpoint(lambda v: v * 2, concrete=False)(1.0)) == 2.0
    assert jax.local_devices(host_id=0) == jax.devices()
    raises(TypeError, lambda: jnp.clip(x, no_such=1))


def check_names_of_jax_core():
    import jax
    from jax import core

    assert core.get_aval(1.0).shape == ()
    assert core.raise_to_shaped(core.get_aval(1.0)).shape == ()
    closed = jax.make_jaxpr(lambda x: x + 1)(1.0)
    assert isinstance(closed, core.ClosedJaxpr)
    assert core.eval_jaxpr(closed.jaxpr, closed.consts, 1.0) == [2.0]
    assert not core.is_opaque_dtype(np.dtype("float32"))


def check_jaxlib_modules():
    import jaxlib.xla_client
    import jaxlib.xla_extension as xe
    from jax.lib import xla_client

    assert xe.DeviceArray
    assert xe.DeviceArrayBase is xla_client.DeviceArrayBase
    assert jaxlib.xla_client.DeviceArrayBase is xe.DeviceArrayBase


def check_what_old_libraries_ask_for():
    import jax
    from jax._src import lib
    from jax._src.lib import xla_bridge
    from jax.experimental.pjit import pjit_p

    assert jax.random.default_prng_impl().key_shape == (2,)
    assert jax.random.default_prng_impl().name
    assert xla_bridge.get_backend().platform == "cpu"
    assert lib.xla_extension_version == 96
    assert pjit_p.name
    functions = (jax.xla.xe.CompiledFunction, jax.xla.xe.PmapFunction)
    assert isinstance(jax.jit(lambda x: x), functions)
    assert isinstance(jax.pmap(lambda x: x), functions)
    assert not isinstance(lambda x: x, functions)
    levels = []
    jax.jit(lambda x: levels.append(jax.core.find_top_trace((x,)).level))(1.0)
    assert levels == [0]
