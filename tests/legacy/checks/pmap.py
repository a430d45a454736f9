"""Old pmap, and what put arrays on devices by hand."""

from __future__ import annotations

import numpy as np
from worlds import raises, world


def check_results_have_shards_without_a_leading_one():
    import jax
    from jax.interpreters import pxla

    x = np.arange(24.0, dtype=np.float32).reshape(8, 3)
    y = jax.pmap(lambda v: v * 2)(x)
    assert isinstance(y, pxla.ShardedDeviceArray)
    assert y.shape == (8, 3)
    assert [buffer.shape for buffer in y.device_buffers] == [(3,)] * 8
    assert y.indices[2] == (2, slice(None))
    assert repr(y.sharding_spec) == repr(pxla.ShardingSpec([pxla.Unstacked(8), pxla.NoSharding()], [pxla.ShardedAxis(0)]))
    assert np.array_equal(np.asarray(y), x * 2)


def check_an_element_is_the_buffer_of_its_device():
    import jax

    y = jax.pmap(lambda v: v + 1)(np.arange(8.0))
    for i in (0, 5):
        assert y[i].shape == ()
        assert y[i].device() == jax.devices()[i]
        assert float(y[i]) == i + 1


def check_results_go_in_again():
    import jax

    state = jax.device_put_replicated({"w": np.ones(3, np.float32)}, jax.devices())
    step = jax.pmap(lambda s, x: {"w": s["w"] - 0.1 * jax.lax.pmean(x, "batch")}, axis_name="batch")
    for _ in range(3):
        state = step(state, np.ones((8, 3), np.float32))
    assert type(state["w"]).__name__ == "ShardedDeviceArray"
    assert np.allclose(np.asarray(state["w"]), 0.7)


def check_collectives():
    import jax

    total = jax.pmap(lambda v: jax.lax.psum(v, "i"), axis_name="i")(np.arange(8.0))
    assert np.array_equal(np.asarray(total), np.full(8, 28.0))


def check_axes_in_and_out():
    import jax

    x = np.arange(16.0).reshape(2, 8)
    assert np.array_equal(np.asarray(jax.pmap(lambda v: v, in_axes=1)(x)), x.T)
    across = jax.pmap(lambda v: v * 1, in_axes=1, out_axes=1)(x)
    assert np.array_equal(np.asarray(across), x)
    assert across.indices[3] == (slice(None), 3)
    shared = jax.pmap(lambda v, w: v + w, in_axes=(0, None))(np.arange(8.0), 1.0)
    assert np.array_equal(np.asarray(shared), np.arange(8.0) + 1)
    whole = jax.pmap(lambda v: jax.lax.psum(v, "i"), axis_name="i", out_axes=None)(np.arange(8.0))
    assert whole.shape == ()
    assert len(whole.device_buffers) == 8


def check_static_arguments_and_fewer_devices():
    import jax

    power = jax.pmap(lambda x, n: x**n, static_broadcasted_argnums=1)
    assert float(np.asarray(power(np.full(4, 3.0), 2))[3]) == 9.0
    some = jax.pmap(lambda x: x, devices=jax.devices()[2:4])(np.arange(2.0))
    assert [buffer.device().id for buffer in some.device_buffers] == [2, 3]


def check_a_committed_argument_is_moved():
    import jax

    x = jax.device_put(np.arange(8.0), jax.devices()[3])
    assert np.array_equal(np.asarray(jax.pmap(lambda v: v + 1)(x)), np.arange(8.0) + 1)


def check_gradient_of_pmap_and_pmap_of_gradient():
    import jax

    x = np.arange(8.0, dtype=np.float32)
    assert np.array_equal(np.asarray(jax.pmap(jax.grad(lambda v: v**2))(x)), 2 * x)
    assert np.array_equal(np.asarray(jax.grad(lambda v: jax.pmap(lambda u: u**2)(v).sum())(x)), 2 * x)


def check_decorated_function_keeps_its_name():
    import jax

    @jax.pmap
    def step(x):
        return x

    assert step.__name__ == "step"
    assert step(np.ones(8)).shape == (8,)


def check_device_put_sharded():
    import jax

    devices = jax.devices()
    y = jax.device_put_sharded([np.full(2, i, np.float32) for i in range(8)], devices)
    assert y.shape == (8, 2)
    assert [buffer.shape for buffer in y.device_buffers] == [(2,)] * 8
    assert [float(buffer[0]) for buffer in y.device_buffers] == list(range(8))
    tree = jax.device_put_sharded([{"a": np.float32(i)} for i in range(2)], devices[:2])
    assert tree["a"].shape == (2,)
    raises(ValueError, lambda: jax.device_put_sharded([np.ones(2)], devices), "must equal len(devices)")
    raises(ValueError, lambda: jax.device_put_sharded([np.ones(2), np.ones(3)], devices[:2]), "consistent shape")


def check_device_put_replicated():
    import jax

    y = jax.device_put_replicated(np.arange(3.0), jax.devices())
    assert y.shape == (8, 3)
    assert y.device_buffers[7].device() == jax.devices()[7]
    raises(ValueError, lambda: jax.device_put_replicated(1.0, []), "non-empty")


def check_sharded_arrays_in_jit_and_numpy_functions():
    import jax
    import jax.numpy as jnp

    y = jax.pmap(lambda v: v + 1)(np.arange(8.0, dtype=np.float32))
    assert float(jnp.sum(y)) == 36.0
    assert float(jax.jit(lambda v: v.max())(y)) == 8.0
    assert (y * 2).device() == jax.devices()[0]
    assert jax.tree_util.tree_leaves({"a": y})[0] is y
    assert jax.device_get(y).tolist() == list(range(1, 9))


@world("0.4.6", jax_array=True)
def check_with_jax_array_on():
    import jax

    assert type(jax.pmap(lambda v: v)(np.ones(8))).__name__ == "ArrayImpl"
    assert type(jax.device_put_replicated(np.ones(2), jax.devices())).__name__ == "ArrayImpl"
    assert jax.device_put_sharded([np.ones(2)] * 8, jax.devices()).shape == (8, 2)


def check_sizes_that_do_not_fit_the_devices():
    import jax

    raises(ValueError, lambda: jax.pmap(lambda x: x)(np.ones(9)), "requires 9 logical devices, but only 8")
    raises(
        ValueError, lambda: jax.pmap(lambda x: x, devices=jax.devices()[:2])(np.ones(4)), "Got axis_size=4, num_local_devices=2"
    )
    raises(ValueError, lambda: jax.pmap(lambda x: x, axis_size=4)(np.ones(8)), "doesn't match received axis_size 8")


def check_live_buffers_count_one_for_each_device():
    import jax

    device = jax.devices()[3]
    before = len(device.live_buffers())
    y = jax.pmap(lambda v: v * 2)(np.arange(8.0, dtype=np.float32))
    assert len(device.live_buffers()) == before + 1
    assert any(buffer is y.device_buffers[3] for buffer in device.live_buffers())


def check_a_donated_result_is_deleted():
    import jax

    step = jax.pmap(lambda s: s + 1, donate_argnums=0)
    first = jax.pmap(lambda x: x)(np.arange(8.0))
    second = step(first)
    assert first.device_buffers is None
    assert np.array_equal(np.asarray(second), np.arange(8.0) + 1)


def check_results_go_in_along_another_axis_or_on_other_devices():
    import jax

    x = np.arange(64.0).reshape(8, 8)
    across = jax.pmap(lambda v: v + 1, out_axes=1)(x)
    assert np.array_equal(np.asarray(jax.pmap(lambda v: v * 2)(across)), (x + 1).T * 2)
    down = jax.pmap(lambda v: v + 1)(x)
    assert np.array_equal(np.asarray(jax.pmap(lambda v: v * 2, in_axes=1)(down)), (x + 1).T * 2)
    assert np.array_equal(np.asarray(jax.pmap(lambda v, w: v + w[0, 0], in_axes=(0, None))(down, down)), x + 2)
    backwards = jax.pmap(lambda v: v * 2, devices=jax.devices()[::-1])(down)
    assert np.array_equal(np.asarray(backwards), (x + 1) * 2)
    assert [buffer.device().id for buffer in backwards.device_buffers] == list(range(8))[::-1]


def check_buffers_are_a_list():
    import jax

    y = jax.pmap(lambda v: v + 1)(np.arange(8.0))
    assert isinstance(y.device_buffers, list)
    assert len(y.device_buffers) == 8
    assert [float(buffer) for buffer in list(y.device_buffers)] == list(range(1, 9))
    assert [float(buffer) for buffer in y.device_buffers[2:4]] == [3.0, 4.0]
    first, *_ = y.device_buffers
    assert float(first) == 1.0
    assert float(next(iter(reversed(y.device_buffers)))) == 8.0
    assert y.device_buffers[0] in y.device_buffers
    y.delete()
    assert y.device_buffers is None


def check_nested():
    import jax

    x = np.arange(8.0).reshape(2, 4)
    inner = jax.pmap(lambda v: v - jax.lax.pmean(v, "j") + jax.lax.psum(v, "i"), axis_name="j")
    total = np.asarray(jax.pmap(inner, axis_name="i")(x))
    assert np.array_equal(total, x - x.mean(1, keepdims=True) + x.sum(0))
