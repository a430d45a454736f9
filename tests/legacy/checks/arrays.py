"""The old array classes: answers as JAX 0.4.6 gave them where nothing else is said, in the old mode and in the new."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
from worlds import world

WHOLE = np.arange(16, dtype=np.float32).reshape(8, 2)
NO_HANDLER = "No device_put handler for type: <class 'jax._src.global_device_array.GlobalDeviceArray'>"


def raises(kind, text, call):
    """Assert that a call raises exactly this class of error; `text`, unless None, is in its message."""
    caught = None
    try:
        call()
    except Exception as error:
        caught = error
    assert type(caught) is kind, repr(caught)
    assert text is None or text in str(caught), str(caught)


def mesh():
    import jax

    return jax.sharding.Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def classes():
    from jax.experimental import global_device_array
    from jax.sharding import PartitionSpec

    return global_device_array.GlobalDeviceArray, PartitionSpec


def gda(*axes, callback=None):
    array, spec = classes()
    return array.from_callback((8, 2), mesh(), spec(*axes), callback or (lambda index: WHOLE[index]))


def sda():
    import jax
    from jax.interpreters import pxla

    buffers = [jax.device_put(WHOLE[i], device) for i, device in enumerate(jax.devices())]
    return pxla.make_sharded_device_array(jax.eval_shape(lambda: WHOLE), None, buffers)


# GlobalDeviceArray


def check_callbacks_are_called_for_copies_as_well_in_the_order_of_the_mesh():
    calls = []
    gda("y", callback=lambda index: calls.append(index) or WHOLE[index])
    assert calls == [(slice(4 * (i % 2), 4 * (i % 2) + 4), slice(None)) for i in range(8)]


def check_what_a_callback_may_not_give():
    raises(AttributeError, "'list' object has no attribute 'device'", lambda: gda("x", callback=lambda index: [[1.0]]))
    raises(AttributeError, "'NoneType' object has no attribute 'device'", lambda: gda("x", callback=lambda index: None))
    array, spec = classes()
    make = array.from_batched_callback
    raises(
        TypeError,
        "No canonicalize_dtype handler for type: <class 'list'>",
        lambda: make((8, 2), mesh(), spec("x"), lambda indices: [[1.0] for _ in indices]),
    )
    raises(
        AttributeError,
        "'numpy.ndarray' object has no attribute 'device'",
        lambda: array.from_batched_callback_with_devices(
            (8, 2), mesh(), spec("x"), lambda groups: [WHOLE[index] for index, held in groups for _ in held]
        ),
    )


def check_a_batch_may_be_a_generator():
    array, spec = classes()
    x = array.from_batched_callback((8, 2), mesh(), spec("x"), lambda indices: (WHOLE[index] for index in indices))
    assert np.array_equal(np.asarray(x), WHOLE)


def check_shapes_and_axes_that_were_refused():
    array, spec = classes()
    cut = lambda index: WHOLE[index]  # noqa: E731
    raises(
        TypeError,
        "Shapes must be 1D sequences of concrete values of integer type, got (8, 2.0).",
        lambda: array.from_callback((8, 2.0), mesh(), spec("x"), cut),
    )
    raises(TypeError, "unhashable type: 'numpy.ndarray'", lambda: array.from_callback(np.array([8, 2]), mesh(), spec("x"), cut))
    raises(
        TypeError,
        "pspec to array_mapping leaf specifications are expected to be PartitionSpec instances or None, but got x",
        lambda: array.from_callback((8, 2), mesh(), "x", cut),
    )
    raises(
        ValueError,
        "The aval shape on dimension 0 is 1 and the size of axis y is 2. The aval shape % axis size should be zero but got 1",
        lambda: array.from_callback((4, 2), mesh(), spec(("x", "y")), cut),
    )
    raises(
        AssertionError,
        "Expected shard shape (2, -2) doesn't match the device buffer shape, got: " + str([(2, 2)] * 8),
        lambda: array.from_callback((8, -2), mesh(), spec("x"), cut),
    )


def check_axes_that_name_nothing_mean_a_copy_on_each_device():
    import jax

    array, _ = classes()
    buffers = [jax.device_put(WHOLE, device) for device in jax.devices()]
    for axes in ((), (None, None)):
        assert array((8, 2), mesh(), axes, buffers).local_shards[3].index == (slice(None), slice(None))
    raises(TypeError, "'NoneType' object is not iterable", lambda: array((8, 2), mesh(), None, buffers))


def check_nothing_is_checked_if_checks_are_off():
    import jax

    array, spec = classes()
    buffers = [jax.device_put(WHOLE, device) for device in jax.devices()]
    x = array((8, 2), mesh(), spec("x", "y"), buffers, _enable_checks=False)
    assert x.local_shards[1].data.shape == (8, 2)
    assert x.local_shards[1].index == (slice(0, 2), slice(1, 2))


def check_an_array_without_elements_is_cut_and_whole_at_once():
    array, spec = classes()
    x = array.from_callback((0, 2), mesh(), spec("x"), lambda index: WHOLE[:0])
    assert [shard.replica_id for shard in x.global_shards] == list(range(8))
    assert x.is_fully_replicated


def check_local_data_goes_by_position():
    import jax

    x = gda("x")
    turned = jax.sharding.Mesh(mesh().devices[::-1], ("x", "y"))
    array, spec = classes()
    y = array.from_callback((8, 2), turned, spec("x"), lambda index: WHOLE[index])
    assert y.local_data(0).device() == jax.devices()[6]
    assert y.local_data(0) is y.local_shards[0].data
    assert x.local_data(-1).device() == jax.devices()[7]
    raises(AttributeError, "'list' object has no attribute 'aval'", lambda: x.local_data(slice(0, 2)))
    raises(TypeError, "list indices must be integers or slices, not str", lambda: x.local_data("a"))
    raises(IndexError, "list index out of range", lambda: x.local_data(8))


def check_equality_and_membership():
    x = gda("x")
    assert x in [x]
    raises(NotImplementedError, None, lambda: x in [1])
    raises(NotImplementedError, None, lambda: x != 1)
    raises(TypeError, "unhashable type: 'GlobalDeviceArray'", lambda: {x})


def check_lists_of_shards_are_made_once():
    x = gda("x")
    assert x.local_shards is x.local_shards is x.addressable_shards is x.global_shards
    x.local_shards = 1
    assert x.local_shards == 1
    assert sorted(vars(gda("x"))) == [
        "_device_buffers",
        "_gda_fast_path_args",
        "_global_mesh",
        "_global_shape",
        "_local_devices",
        "_mesh_axes",
        "dtype",
    ]


def check_a_shallow_copy_shares_its_data():
    x = gda("x")
    assert copy.copy(x).local_data(0) is x.local_data(0)
    raises(TypeError, None, lambda: copy.deepcopy(x))


def check_no_computation_takes_one_but_pjit():
    import jax
    import jax.numpy as jnp

    x = gda("x")
    raises(TypeError, NO_HANDLER, lambda: jax.jit(lambda v: v + 1)(x))
    raises(TypeError, NO_HANDLER, lambda: jax.device_put(x))
    raises(TypeError, NO_HANDLER, lambda: jax.grad(lambda v: (v * v).sum())(x))
    raises(TypeError, None, lambda: jnp.ones((8, 2)) + x)
    raises(TypeError, None, lambda: x + 1)
    assert jax.eval_shape(lambda v: v + 1, x).shape == (8, 2)
    assert np.array_equal(jax.device_get(x), WHOLE)
    assert np.array_equal(np.ones((8, 2)) + np.asarray(x), WHOLE + 1)
    assert jax.tree_util.tree_map(lambda v: type(v).__name__, {"a": x}) == {"a": "GlobalDeviceArray"}
    assert not isinstance(x, jax.Array)


@world("0.4.6", True)
def check_the_new_mode_computes_with_one():
    import jax

    array, spec = classes()
    buffers = [jax.device_put(WHOLE[2 * (i // 2) : 2 * (i // 2) + 2], device) for i, device in enumerate(jax.devices())]
    x = array((8, 2), mesh(), spec("x"), buffers)
    assert type(x) is array
    y = jax.jit(lambda v: v + 1)(x)
    assert np.array_equal(np.asarray(y), WHOLE + 1)
    assert y.sharding.is_equivalent_to(jax.sharding.NamedSharding(mesh(), spec("x")), 2)
    assert isinstance(gda("x"), jax.Array)
    assert not isinstance(gda("x"), array)


@world("0.3.25", True)
def check_the_new_mode_gave_new_arrays_only_from_0_4_5():
    array, _ = classes()
    assert isinstance(gda("x"), array)


@world("0.3.25", False)
def check_words_of_0_3_25():
    array, spec = classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = gda("x")
    raises(NotImplementedError, "pjit(lambda x, y: x == y, in_axis_resources=FROM_GDA, out_axis_resources=None)", lambda: x == x)
    raises(IndexError, "list index out of range", lambda: array((8, 2), mesh(), spec("x"), []))
    raises(TypeError, "unhashable type: 'list'", lambda: array.from_callback([8, 2], mesh(), spec("x"), lambda i: WHOLE[i]))


@world("0.3.13", False)
def check_lists_as_shapes_until_0_3_13():
    array, spec = classes()
    x = array.from_callback([8, 2], mesh(), spec("x"), lambda index: WHOLE[index])
    assert x.shape == [8, 2]
    assert x.local_data(2).shape == (2, 2)


@world("0.3.1", False)
def check_any_sequence_as_axes_until_0_3_1():
    from jaxmigrate.legacy import arrays

    array, _ = classes()
    for axes in (["x", "y"], ("x", "y")):
        x = array.from_callback((8, 2), mesh(), axes, lambda index: WHOLE[index])
        assert x.local_shards[1].index == (slice(0, 2), slice(1, 2))
        assert x._local_shards is x.local_shards
        assert x._current_process == 0
        assert np.array_equal(arrays.as_global_array(x), WHOLE)
    assert not hasattr(x, "aval")


def check_private_names_that_were_gone():
    assert not hasattr(gda("x"), "_local_shards")
    assert not hasattr(gda("x"), "_current_process")


def check_conversion_keeps_the_data_where_they_are():
    from jaxmigrate.legacy import arrays

    _, spec = classes()
    x = gda("x")
    whole = arrays.as_global_array(x)
    assert [shard.data.unsafe_buffer_pointer() for shard in whole.addressable_shards] == [
        shard.data.unsafe_buffer_pointer() for shard in x.local_shards
    ]
    back = arrays.from_global_array(whole, mesh(), spec("x"))
    assert [shard.index for shard in back.local_shards] == [shard.index for shard in x.local_shards]
    assert np.array_equal(np.asarray(back), WHOLE)


# ShardedDeviceArray


def check_computations_fetch_a_sharded_array_to_the_default_device():
    import jax
    import jax.numpy as jnp

    x = sda()
    results = {
        "jit": jax.jit(lambda v: v + 1)(x),
        "+": x + 1,
        "r+": 1 + x,
        "two": jnp.ones((8, 2)) + x,
        "numpy": np.ones((8, 2)) + x,
        "lax": jax.lax.add(x, jnp.ones((8, 2))),
        "closed": jax.jit(lambda y: x + y)(1.0),
        "map": jax.tree_util.tree_map(lambda v: v + 1, [x])[0],
        "vmap": jax.vmap(lambda v: v + 1)(x),
    }
    for name, result in results.items():
        assert np.array_equal(np.asarray(result), WHOLE + 1), name
        assert result.devices() == [jax.devices()[0]], name
        assert not result.committed, name
    assert float(jnp.sum(x)) == x.sum() == WHOLE.sum()
    assert np.array_equal(jax.grad(lambda v: (v * v).sum())(x), 2 * WHOLE)
    assert jax.device_put(x, jax.devices()[2]).device() == jax.devices()[2]
    assert type(jax.device_get(x)) is np.ndarray
    assert np.array_equal(x.T @ x, WHOLE.T @ WHOLE)
    assert np.array_equal(x.at[0].set(7)[0], [7, 7])
    assert np.array_equal(jnp.where(x > 3, x, 0), np.where(WHOLE > 3, WHOLE, 0))


def check_a_row_is_the_buffer_until_the_value_was_fetched():
    import jax

    x = sda()
    assert x[5].device() == jax.devices()[5]
    assert x[5]._device is None
    assert [row.device() for row in x] == jax.devices()
    assert [row.device() for row in reversed(x)] == jax.devices()[::-1]
    assert x[1:3].device() == jax.devices()[0]
    np.asarray(x)
    assert x[5].device() == jax.devices()[0]


def check_members_of_a_sharded_array():
    import jax

    x = sda()
    assert (x.shape, x.ndim, x.size, x.dtype, len(x)) == ((8, 2), 2, 16, np.float32, 8)
    assert x.indices[3] == (3, slice(None))
    assert x.one_replica_buffer_indices == list(range(8))
    assert [buffer.device() for buffer in x.device_buffers] == jax.devices()
    assert type(x.sharding).__name__ == "PmapSharding"
    assert x.addressable_shards[3].index == (3, slice(None))
    assert x.addressable_shards[3].data is x.device_buffers[3]
    assert x.block_until_ready() is x
    assert str(x) == str(WHOLE)
    assert repr(x).startswith("ShardedDeviceArray([[ 0.,  1.],\n")
    assert repr(x).endswith(", dtype=float32)")
    for never in ("device", "devices", "is_fully_replicated", "is_fully_addressable", "global_shards", "addressable_data", "mT"):
        assert not hasattr(x, never), never
    raises(TypeError, None, lambda: hash(x))
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert isinstance(other, jax.Array)
        assert np.array_equal(other, WHOLE)
    x.delete()
    raises(ValueError, "ShardedDeviceArray has been deleted.", lambda: x[0])
    raises(ValueError, "ShardedDeviceArray has been deleted.", lambda: jax.jit(lambda v: v)(x))
    raises(TypeError, "'NoneType' object is not subscriptable", lambda: np.asarray(x))
    assert x.shape == (8, 2)


def check_pjits_arrays_did_not_know_their_sharding():
    import jax
    from jax.interpreters import pxla

    spec = pxla.ShardingSpec([pxla.Chunked([8]), pxla.NoSharding()], [pxla.ShardedAxis(0)])
    buffers = [jax.device_put(WHOLE[i : i + 1], device) for i, device in enumerate(jax.devices())]
    x = pxla.make_sharded_device_array(jax.eval_shape(lambda: WHOLE), spec, buffers)
    raises(NotImplementedError, "SDAs that are the output of pjit/xmap do not have", lambda: x.sharding)
    assert np.array_equal(jax.jit(lambda v: v * 2)(x), WHOLE * 2)


@world("0.4.6", False)
def check_an_array_that_knows_itself_as_a_new_one():
    import jax

    sharding = jax.sharding.NamedSharding(mesh(), jax.sharding.PartitionSpec(("x", "y")))
    x = sda()
    for name in ("devices", "is_fully_replicated", "global_shards"):
        assert not hasattr(x, name), name
    x._new = jax.device_put(WHOLE, sharding)
    assert x.sharding == sharding
    assert x.addressable_shards[3].index == (slice(3, 4), slice(None))
    assert x.addressable_data(3).shape == (1, 2)
    assert x.devices() == set(jax.devices())
    assert x.is_fully_addressable
    assert not x.is_fully_replicated
    assert not hasattr(x, "mesh")
    assert np.array_equal(jax.jit(lambda v: v + 1)(x), WHOLE + 1)


@world("0.4.6", True)
def check_the_new_mode_makes_new_arrays_of_buffers():
    import jax
    from jax.interpreters import pxla

    x = sda()
    assert not isinstance(x, pxla.ShardedDeviceArray)
    assert isinstance(x, jax.Array)
    assert type(x.sharding).__name__ == "PmapSharding"
    assert x.is_fully_addressable
    assert not x.is_fully_replicated
    assert x.addressable_data(3).shape == (2,)
    spec = pxla.ShardingSpec([pxla.NoSharding(), pxla.Chunked([2])], [pxla.Replicated(4), pxla.ShardedAxis(0)])
    buffers = [jax.device_put(WHOLE[:, i % 2 : i % 2 + 1], device) for i, device in enumerate(jax.devices())]
    with mesh():
        y = pxla.make_sharded_device_array(jax.eval_shape(lambda: WHOLE), spec, buffers)
    assert y.sharding.spec == jax.sharding.PartitionSpec(None, "y")
    assert np.array_equal(np.asarray(y), WHOLE)


# DeviceArray


def check_what_is_a_device_array():
    import jax
    import jax.numpy as jnp
    from jax.interpreters import pxla

    from jaxmigrate.legacy import arrays

    seen = []
    jax.jit(lambda v: seen.append(isinstance(v, jnp.DeviceArray)) or v)(1.0)
    assert seen == [False]
    one, many = jnp.ones(2), sda()
    assert isinstance(one, jnp.DeviceArray)
    assert isinstance(many, jnp.DeviceArray)
    assert type(one) is arrays.Buffer
    assert type(one) in arrays.device_array_types
    assert not isinstance(many, arrays.Buffer)
    assert not isinstance(one, pxla.ShardedDeviceArray)
    assert isinstance(many, pxla.ShardedDeviceArray)
    assert issubclass(type(one), jnp.DeviceArray)
    assert issubclass(type(many), jnp.DeviceArray)
    assert not any(isinstance(other, jnp.DeviceArray) for other in (gda("x"), np.ones(2), 1.0, None))


@world("0.4.6", True)
def check_new_arrays_were_no_device_arrays():
    import jax.numpy as jnp

    assert not isinstance(jnp.ones(2), jnp.DeviceArray)
    assert not issubclass(type(jnp.ones(2)), jnp.DeviceArray)


def check_methods_of_the_class():
    import inspect

    import jax.numpy as jnp

    names = dict(inspect.getmembers(jnp.DeviceArray))
    assert {"__add__", "__matmul__", "__getitem__", "sum", "T"} <= names.keys()
    assert jnp.DeviceArray.__add__(jnp.ones(1), 1) == 2
    assert jnp.DeviceArray.__neg__(jnp.ones(1)) == -1
    assert jnp.DeviceArray.sum(jnp.ones((2, 3)), axis=0).shape == (3,)
    assert jnp.DeviceArray.__add__(sda(), 1).shape == (8, 2)


def check_members_that_arrays_have_lost():
    import jax
    import jax.numpy as jnp

    device = jax.devices()[3]
    x = jax.device_put(WHOLE, device)
    assert x.device() == device
    assert x.device_buffer is x
    assert x.devices() == [device]
    assert x.devices()[0] == device
    assert x._device == device
    assert jnp.ones(2)._device is None
    assert x.client is device.client
    assert x.copy_to_device(jax.devices()[1]).device() == jax.devices()[1]
    assert [part.shape for part in x.split(2)] == [(4, 2), (4, 2)]
    assert jnp.ones(8).broadcast((2,)).shape == (2, 8)
    assert x.block_host_until_ready() is None
    assert str(x.xla_shape()).startswith("f32[8,2]")
    assert not hasattr(x, "indices")
    assert not hasattr(x, "sharding_spec")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert type(x.to_py()) is np.ndarray
    assert [warning.category for warning in caught] == [FutureWarning]


def check_an_array_on_several_devices():
    import jax
    from jax.interpreters import pxla

    sharding = jax.sharding.NamedSharding(mesh(), jax.sharding.PartitionSpec("x"))
    x = jax.device_put(WHOLE, sharding)
    raises(ValueError, "Length of devices is greater than 1. Please use `.devices()`.", lambda: x.device())
    raises(ValueError, "Length of buffers is greater than 1. Please use `.device_buffers` instead.", lambda: x.device_buffer)
    assert isinstance(x, pxla.ShardedDeviceArray)
    assert [buffer.shape for buffer in x.device_buffers] == [(2, 2)] * 8
    assert repr(x.sharding_spec) == ("ShardingSpec((Chunked(4), NoSharding()), (ShardedAxis(axis=0), Replicated(replicas=2)))")
    assert x.one_replica_buffer_indices == [0, 2, 4, 6]
    constrained = jax.jit(lambda v: jax.lax.with_sharding_constraint(v, sharding))(x)
    assert np.array_equal(constrained, WHOLE)


def check_make_device_array_says_where_computations_run():
    import jax
    from jax.interpreters import xla

    buffer = jax.device_put(WHOLE, jax.devices()[3])
    free = xla.make_device_array(buffer.aval, None, buffer)
    assert (free + 1).device() == jax.devices()[0]
    assert xla.make_device_array(buffer.aval, jax.devices()[3], buffer) is buffer


# ShardingSpec


def check_parts_of_a_sharding_spec():
    from jax.interpreters.pxla import Chunked, NoSharding, Replicated, ShardedAxis, ShardingSpec, Unstacked

    assert repr(Chunked([2, 4])) == "Chunked(2,4)"
    assert Chunked((2, 4)).chunks == [2, 4]
    assert Chunked([2]) == Chunked([2]) != Chunked([3])
    assert Unstacked(2) != 2
    assert NoSharding() == NoSharding()
    assert hash(NoSharding()) == hash(NoSharding())
    for part in (Chunked([2]), Unstacked(2), ShardedAxis(0), Replicated(2)):
        raises(TypeError, None, lambda part=part: hash(part))
        assert pickle.loads(pickle.dumps(part)) == part
    raises(TypeError, "__eq__(): incompatible function arguments", lambda: ShardedAxis(1) == Replicated(1))
    raises(TypeError, "__init__(): incompatible constructor arguments", lambda: Unstacked("a"))
    raises(TypeError, "__init__(): incompatible constructor arguments", lambda: Chunked(2))
    raises(AttributeError, None, lambda: setattr(Unstacked(2), "size", 3))
    spec = ShardingSpec(iter([Unstacked(8), NoSharding()]), iter([ShardedAxis(0)]))
    assert spec == ShardingSpec((Unstacked(8), NoSharding()), (ShardedAxis(0),))
    assert hash(spec) == hash(ShardingSpec((Unstacked(8), NoSharding()), (ShardedAxis(0),)))
    assert spec.sharding == (Unstacked(8), NoSharding())
    assert repr(spec) == "ShardingSpec((Unstacked(8), NoSharding()), (ShardedAxis(axis=0),))"
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.indices((8, 2)).shape == (8,)


def check_specs_of_nested_pmaps():
    import jax

    from jaxmigrate.legacy import specs

    aval = jax.eval_shape(lambda: np.zeros((4, 6)))
    made = {args: repr(specs.pmap_sharding_spec(*args[:4], aval, args[4])) for args in NESTED}
    assert made == NESTED
    raises(AssertionError, None, lambda: specs.pmap_sharding_spec(8, 3, 1, None, aval, 0))


NESTED = {
    (8, 8, 1, None, 0): "ShardingSpec((Unstacked(8), NoSharding(), NoSharding()), (ShardedAxis(axis=0),))",
    (8, 8, 1, None, None): "ShardingSpec((NoSharding(), NoSharding()), (Replicated(replicas=8),))",
    (8, 2, 1, None, 1): "ShardingSpec((NoSharding(), Unstacked(2), NoSharding()), (ShardedAxis(axis=0), Replicated(replicas=4)))",
    (8, 2, 1, None, None): "ShardingSpec((NoSharding(), NoSharding()), (Replicated(replicas=2), Replicated(replicas=4)))",
    (
        4,
        4,
        2,
        (1, 2),
        0,
    ): "ShardingSpec((Unstacked(4), Chunked(1), Chunked(2)), (ShardedAxis(axis=0), ShardedAxis(axis=1), ShardedAxis(axis=2)))",
    (
        4,
        2,
        2,
        (2, 1),
        1,
    ): "ShardingSpec((Chunked(2), Unstacked(2), Chunked(1)), (ShardedAxis(axis=1), Replicated(replicas=2), ShardedAxis(axis=0), ShardedAxis(axis=2)))",
    (
        4,
        2,
        2,
        None,
        2,
    ): "ShardingSpec((NoSharding(), NoSharding(), Unstacked(2)), (ShardedAxis(axis=0), Replicated(replicas=2), Replicated(replicas=2)))",
    (4, 4, 2, None, None): "ShardingSpec((NoSharding(), NoSharding()), (Replicated(replicas=4), Replicated(replicas=2)))",
    (
        4,
        2,
        2,
        (2, 3),
        None,
    ): "ShardingSpec((Chunked(2), Chunked(3)), (Replicated(replicas=2), Replicated(replicas=2), ShardedAxis(axis=0), ShardedAxis(axis=1)))",
    (8, 4, 1, None, 2): "ShardingSpec((NoSharding(), NoSharding(), Unstacked(4)), (ShardedAxis(axis=0), Replicated(replicas=2)))",
}
"""nrep, axis_size, npart, parts, map_axis -> what JAX 0.4.6 made of them."""


def check_specs_that_do_not_fit():
    from jax.interpreters.pxla import Chunked, Replicated, ShardedAxis, ShardingSpec, Unstacked, spec_to_indices

    two = ShardingSpec([Chunked([2])], [ShardedAxis(0)])
    raises(AssertionError, "((4, 4), (Chunked(2),))", lambda: two.indices((4, 4)))
    raises(AssertionError, "(3, 2)", lambda: two.indices((3,)))
    raises(IndexError, "list index out of range", lambda: ShardingSpec([Unstacked(2)], [ShardedAxis(1)]).mesh_shape)
    raises(KeyError, "1", lambda: ShardingSpec([Chunked([2]), Chunked([2])], [ShardedAxis(0)] * 2).indices((4, 4)))
    raises(ValueError, "axes don't match array", lambda: ShardingSpec([Chunked([2])], [ShardedAxis(0)] * 2).indices((4,)))
    raises(AssertionError, None, lambda: ShardingSpec([Chunked([2]), Unstacked(2)], [Replicated(2)]).indices((4, 2)))
    raises(
        RuntimeError,
        "Cannot convert unstacked sharding specs to XLA OpSharding",
        lambda: ShardingSpec([Unstacked(2)], [ShardedAxis(0)]).sharding_proto(),
    )
    assert spec_to_indices((4,), ShardingSpec([Chunked([2])], [Replicated(2)])) == ((slice(None),),) * 2
    copies = ShardingSpec([Chunked([2])], [Replicated(2), ShardedAxis(0), Replicated(2)])
    halves = [(slice(0, 2),), (slice(2, 4),)]
    assert list(spec_to_indices((4,), copies)) == [halves[i] for i in (0, 0, 1, 1, 0, 0, 1, 1)]


def check_xlas_form_is_the_same_as_that_of_the_new_shardings():
    import jax
    from jax._src.lib import xla_client
    from jax.interpreters.pxla import Chunked, NoSharding, Replicated, ShardedAxis, ShardingSpec

    spec = ShardingSpec([NoSharding(), Chunked([4])], [ShardedAxis(0), Replicated(2)])
    proto = xla_client.HloSharding.from_proto(spec.sharding_proto())
    named = jax.sharding.NamedSharding(mesh(), jax.sharding.PartitionSpec(None, "x"))
    assert proto == named._to_xla_hlo_sharding(2)


def check_pmap_sharding():
    import jax
    from jax.interpreters.pxla import NoSharding, ShardedAxis, ShardingSpec, Unstacked
    from jax.sharding import PmapSharding

    devices = np.array(jax.devices())
    spec = ShardingSpec([Unstacked(8), NoSharding()], [ShardedAxis(0)])
    x = PmapSharding(devices, spec)
    assert x == PmapSharding.default((8, 3)) != PmapSharding(devices[::-1], spec)
    assert hash(x) == hash(PmapSharding(devices, spec))
    assert x.shard_shape((8, 3)) == (3,)
    assert x.devices_indices_map((8, 3))[devices[2]] == (2, slice(None))
    assert x.device_set == set(devices)
    assert isinstance(x, jax.sharding.Sharding)
    assert str(x).endswith("device_ids=[0, 1, 2, 3, 4, 5, 6, 7], device_platform=CPU, device_shape=(8,))")
    assert not hasattr(x, "is_fully_replicated")
    raises(ValueError, "The sharded dimension must be equal to the number of devices", lambda: x.shard_shape((4, 3)))
    raises(TypeError, "unhashable type: 'list'", lambda: x.devices_indices_map([8, 3]))
    raises(AssertionError, "length mismatch: [4, 8]", lambda: PmapSharding(devices[:4], spec).devices_indices_map((8, 3)))


@world("0.4.6", True)
def check_members_of_an_array_in_the_layout_of_pmap():
    import jax

    x = jax.pmap(lambda v: v + 1)(WHOLE)
    assert x[3].device() == jax.devices()[3]
    assert not x[3].committed
    assert jax.device_put(x) is x
    assert x.copy().sharding == x.sharding
    assert x.platform() == "cpu"
    assert x.on_device_size_in_bytes() == 64
    assert type(x.addressable_shards[0]).__name__ == "Shard"
    raises(ValueError, "Length of devices is greater than 1. Please use `.devices()`.", lambda: x.device())
    raises(ValueError, "Length of buffers is greater than 1. Please use `.device_buffers` instead.", lambda: x.device_buffer)
    raises(ValueError, "unsafe_buffer_pointer() is supported only for unsharded arrays.", lambda: x.unsafe_buffer_pointer())
    x.delete()
    assert x.is_deleted()
    for use in (lambda: x[0], lambda: x + 1, lambda: np.asarray(x), lambda: x.addressable_shards):
        raises(RuntimeError, "Array has been deleted.", use)


@world("0.4.6", True)
def check_arrays_in_the_layout_of_pmap():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PmapSharding

    layout = PmapSharding.default((8, 2))
    calls = []
    made = {
        "put": jax.device_put({"a": WHOLE}, layout)["a"],
        "callback": jax.make_array_from_callback((8, 2), layout, lambda index: calls.append(index) or WHOLE[index]),
        "arrays": jax.make_array_from_single_device_arrays((8, 2), layout, sda().device_buffers[::-1]),
    }
    assert calls == [(i, slice(None)) for i in range(8)]
    for name, x in made.items():
        assert isinstance(x, jax.Array), name
        assert [shard.device for shard in x.addressable_shards] == jax.devices(), name
        assert x.addressable_shards[3].data.shape == (2,), name
        assert x.sharding == layout, name
        assert repr(x).startswith("Array([["), name
        assert np.array_equal(jnp.asarray(x) + 1, WHOLE + 1), name
    columns = jax.device_put(WHOLE.T, PmapSharding.default((2, 8), sharded_dim=1, devices=jax.devices()[::-1]))
    assert columns.sharding.devices[0] == jax.devices()[7]
    assert np.array_equal(columns.addressable_shards[1].data, WHOLE[1])
    make = jax.make_array_from_single_device_arrays
    odd = [jax.device_put(np.ones(3), device) for device in jax.devices()]
    raises(ValueError, "Expected shard shape (2,)", lambda: make((8, 2), layout, odd))
    raises(ValueError, "devices do not match", lambda: make((8, 2), layout, odd[:4]))


# Registration


def check_registration_leaves_no_trace():
    import jax
    import jax.numpy as jnp

    from jaxmigrate.legacy import arrays

    x = jnp.ones(2)
    arrays.register()
    arrays.register()
    assert x.device() in jax.devices()
    arrays.unregister()
    try:
        assert not hasattr(x, "to_py")
        assert not callable(x.device)
        assert isinstance(x.devices(), set)
        assert jax.device_put.__module__ == "jax._src.api"
        assert "placing" not in jax.device_put.__code__.co_filename
        raises(TypeError, None, lambda: jax.jit(lambda v: v)(sda()))
    finally:
        arrays.register()
