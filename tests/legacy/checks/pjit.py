"""Old pjit in one process with eight devices."""

from __future__ import annotations

import functools

import numpy as np
from worlds import raises, world


def mesh(*shape: int):
    import jax
    from jax.experimental.maps import Mesh

    return Mesh(np.array(jax.devices()).reshape(shape), ("x", "y", "z")[: len(shape)])


def spec(*parts: object):
    from jax.experimental import PartitionSpec

    return PartitionSpec(*parts)


def check_two_dimensional_matmul_gives_a_sharded_device_array():
    from jax.experimental.pjit import pjit
    from jax.interpreters import pxla

    a, b = np.arange(64.0, dtype=np.float32).reshape(8, 8), np.ones((8, 4), np.float32)
    matmul = pjit(lambda a, b: a @ b, in_axis_resources=(spec("x", None), spec(None, "y")), out_axis_resources=spec("x", "y"))
    with mesh(4, 2):
        result = matmul(a, b)
    assert type(result).__name__ == "ShardedDeviceArray"
    assert isinstance(result, pxla.ShardedDeviceArray)
    assert result.shape == (8, 4)
    assert [buffer.shape for buffer in result.device_buffers] == [(2, 2)] * 8
    assert [buffer.device().id for buffer in result.device_buffers] == list(range(8))
    assert result.indices[3] == (slice(2, 4), slice(2, 4))
    assert np.array_equal(np.asarray(result), a @ b)


def check_none_and_an_empty_spec_mean_replicated():
    from jax.experimental.pjit import pjit

    with mesh(8):
        for nothing in (None, spec(), spec(None)):
            result = pjit(lambda x: x + 1, in_axis_resources=nothing, out_axis_resources=nothing)(np.arange(5.0))
            assert [buffer.shape for buffer in result.device_buffers] == [(5,)] * 8


def check_results_are_resharded_silently_for_the_next_call():
    import jax
    from jax.experimental.pjit import pjit

    with mesh(4, 2):
        rows = pjit(lambda x: x, in_axis_resources=None, out_axis_resources=spec("x"))(np.arange(16.0).reshape(8, 2))
        columns = pjit(lambda x: x * 2, in_axis_resources=spec(None, "y"), out_axis_resources=spec(None, "y"))
        moved = columns(rows)
        committed = columns(jax.device_put(np.arange(16.0).reshape(8, 2), jax.devices()[3]))
    assert [buffer.shape for buffer in moved.device_buffers] == [(8, 1)] * 8
    assert np.array_equal(np.asarray(moved), np.asarray(committed))


def check_the_mesh_is_that_of_the_call():
    from jax.experimental.pjit import pjit

    with mesh(2, 4):
        double = pjit(lambda x: x * 2, in_axis_resources=spec("x"), out_axis_resources=spec("x"))
    raises(RuntimeError, lambda: double(np.ones(8)), "non-empty mesh")
    with mesh(8):
        assert double(np.ones(8)).device_buffers[0].shape == (1,)
    with mesh(2, 4):
        assert double(np.ones(8)).device_buffers[0].shape == (4,)


def check_positional_arguments_of_the_first_signature():
    from jax.experimental.pjit import pjit

    with mesh(8):
        power = pjit(lambda x, n: x**n, spec("x"), spec("x"), (1,))
        assert np.array_equal(np.asarray(power(np.full(8, 3.0), 2)), np.full(8, 9.0))


@world("0.4.3")
def check_static_argnames_are_fifth_in_0_4_3():
    from jax.experimental.pjit import pjit

    with mesh(8):
        assert pjit(lambda x, n: x * n, spec("x"), spec("x"), (1,), "n")(np.ones(8), 3).shape == (8,)


@world("0.4.6")
def check_the_fourth_argument_is_in_axis_resources_in_0_4_6():
    from jax.experimental import pjit as module

    unspecified = module._UNSPECIFIED
    with mesh(8):
        result = module.pjit(lambda x: x, unspecified, unspecified, spec("x"), spec("x"))(np.ones(8))
        assert result.device_buffers[0].shape == (1,)
        assert module.pjit(lambda x: x, in_shardings=spec("x"), out_shardings=None)(np.ones(8)).device_buffers[0].shape == (8,)
    raises(ValueError, lambda: module.pjit(lambda x: x, spec("x"), None, spec("x"), None), "Setting both")


@world("0.3.14")
def check_donation_left_the_argument_usable_on_cpu():
    import jax.numpy as jnp
    from jax.experimental.pjit import pjit

    x = jnp.arange(8.0)
    with mesh(8):
        pjit(lambda x: x + 1, in_axis_resources=spec("x"), out_axis_resources=spec("x"), donate_argnums=0)(x)
    assert float(x.sum()) == 28.0


def check_prefixes_of_trees_and_a_list_for_the_arguments():
    from jax.experimental.pjit import pjit

    tree = {"w": np.ones((8, 2)), "b": np.ones(8)}
    with mesh(8):
        step = pjit(lambda t, s: (t, s), in_axis_resources=[spec("x"), None], out_axis_resources=(spec("x"), None))
        result, scalar = step(tree, 2.0)
    assert result["w"].device_buffers[0].shape == (1, 2)
    assert result["b"].device_buffers[0].shape == (1,)
    assert scalar.shape == ()
    assert scalar.weak_type


def check_errors_of_the_time():
    from jax.experimental.pjit import FROM_GDA, pjit, with_sharding_constraint

    def call(x, inputs, outputs=None):
        with mesh(8):
            return pjit(lambda x: x, in_axis_resources=inputs, out_axis_resources=outputs)(x)

    raises(ValueError, lambda: call(np.ones(8), FROM_GDA), "For a non-GDA input")
    raises(ValueError, lambda: call(np.ones(7), spec("x")), "divisible by 8")
    raises(ValueError, lambda: call(np.ones(8), spec("q")), "undefined")
    raises(ValueError, lambda: call(np.ones(8), spec("x", "x")), "duplicate")
    raises(ValueError, lambda: call(np.ones(8), spec(None, "x")), "rank at least 2")
    raises(TypeError, lambda: call(np.ones(8), "x"), "PartitionSpec instances or None")
    raises(ValueError, lambda: call(np.ones(8), (None, None)), "tree prefix")
    raises(ValueError, lambda: pjit(lambda x: x), "unspecified singleton")
    raises(NotImplementedError, lambda: with_sharding_constraint(np.ones(8), spec("x")), "inside pjit")
    with mesh(8):
        raises(NotImplementedError, lambda: pjit(lambda x: x, in_axis_resources=None, out_axis_resources=None)(x=1.0), "kwargs")


@world("0.4.3")
def check_keyword_arguments_need_unspecified_inputs_since_0_4_2():
    from jax.experimental.pjit import pjit

    with mesh(8):
        raises(ValueError, lambda: pjit(lambda x: x, in_axis_resources=None, out_axis_resources=None)(x=1.0), "kwargs when")


def check_global_device_arrays_in_and_out():
    import jax
    from jax.experimental.global_device_array import GlobalDeviceArray
    from jax.experimental.pjit import FROM_GDA, pjit

    data = np.arange(16.0, dtype=np.float32).reshape(8, 2)
    grid = mesh(4, 2)
    gda = GlobalDeviceArray.from_callback((8, 2), grid, spec("x", "y"), lambda index: data[index])
    jax.config.update("jax_parallel_functions_output_gda", True)
    with grid:
        result = pjit(lambda x: x + 1, in_axis_resources=FROM_GDA, out_axis_resources=spec("x"))(gda)
        same = pjit(lambda x: x, in_axis_resources=spec("x", "y"), out_axis_resources=None)(gda)
        raises(
            ValueError,
            lambda: pjit(lambda x: x, in_axis_resources=spec("x"), out_axis_resources=None)(gda),
            "Got an input GDA to pjit with different partitioning",
        )
        mixed = pjit(lambda x, y: x @ y, in_axis_resources=(FROM_GDA, None), out_axis_resources=spec("x"))(gda, np.ones((2, 3)))
    assert type(result) is GlobalDeviceArray
    assert result.mesh_axes == spec("x", None)
    assert result.local_data(2).shape == (2, 2)
    assert np.array_equal(np.asarray(result.local_shards[2].data), data[2:4] + 1)
    assert same.is_fully_replicated
    assert mixed.shape == (8, 3)


def check_the_flag_reverts_to_sharded_device_arrays():
    import jax
    from jax.experimental.pjit import pjit

    assert not jax.config.jax_parallel_functions_output_gda
    with mesh(8):
        assert type(pjit(lambda x: x, None, None)(np.ones(2))).__name__ == "ShardedDeviceArray"


@world("0.4.6", jax_array=True)
def check_with_jax_array_on_results_are_arrays():
    import jax
    from jax.experimental.pjit import pjit

    with mesh(8):
        result = pjit(lambda x: x * 2, in_axis_resources=spec("x"), out_axis_resources=spec("x"))(np.ones(8))
        replicated = pjit(lambda x: x, in_axis_resources=None, out_axis_resources=None)(np.ones(8))
    assert isinstance(result, jax.Array)
    assert type(result).__name__ == "ArrayImpl"
    assert result.sharding.spec == spec("x")
    assert replicated.is_fully_replicated
    raises(RuntimeError, lambda: pjit(lambda x: x, in_axis_resources=spec("x"))(np.ones(8)), "non-empty mesh")


def check_nested_in_pjit_and_in_transformations():
    import jax
    import jax.numpy as jnp
    from jax.experimental.pjit import pjit, with_sharding_constraint

    square = pjit(lambda x: x**2, in_axis_resources=spec("x"), out_axis_resources=spec("x"))
    x = jnp.arange(8.0)
    with mesh(8):
        outer = pjit(lambda x: square(x) + 1, in_axis_resources=None, out_axis_resources=spec("x"))
        assert np.array_equal(np.asarray(outer(x)), np.arange(8.0) ** 2 + 1)
        assert np.array_equal(np.asarray(jax.grad(lambda x: square(x).sum())(x)), 2 * np.arange(8.0))
        assert np.array_equal(np.asarray(jax.vmap(square)(jnp.stack([x, x]))[1]), np.arange(8.0) ** 2)
        assert np.array_equal(np.asarray(jax.jit(square)(x)), np.arange(8.0) ** 2)
        scanned = jax.lax.scan(lambda c, _: (square(c), None), x, None, length=2)[0]
        assert np.array_equal(np.asarray(scanned), np.arange(8.0) ** 4)
        step = pjit(
            lambda x: with_sharding_constraint(x, axis_resources=spec("x")) * 2, in_axis_resources=None, out_axis_resources=None
        )
        assert np.array_equal(np.asarray(step(x)), 2 * np.arange(8.0))


def check_gradient_of_a_committed_argument():
    import jax
    from jax.experimental.pjit import pjit

    loss = pjit(lambda w: (w**2).sum(), in_axis_resources=spec("x"), out_axis_resources=None)
    with mesh(8):
        weights = pjit(lambda: np.arange(8.0, dtype=np.float32) * 1, in_axis_resources=None, out_axis_resources=spec("x"))()
        assert np.array_equal(np.asarray(jax.grad(loss)(weights)), 2 * np.arange(8.0))
        there = jax.device_put(np.arange(8.0, dtype=np.float32), jax.devices()[5])
        assert np.array_equal(np.asarray(jax.grad(loss)(there)), 2 * np.arange(8.0))


def check_decorator_and_method():
    from jax.experimental.pjit import pjit

    @functools.partial(pjit, in_axis_resources=spec("x"), out_axis_resources=spec("x"))
    def named(x):
        """Say."""
        return x

    class Model:
        @functools.partial(pjit, in_axis_resources=spec("x"), out_axis_resources=spec("x"), static_argnums=0)
        def apply(self, x):
            return x * 3

    assert named.__name__ == "named"
    assert named.__doc__ == "Say."
    with mesh(8):
        assert float(np.asarray(Model().apply(np.ones(8)))[0]) == 3.0


def check_lower_and_compile():
    from jax.experimental.pjit import pjit

    double = pjit(lambda x: x * 2, in_axis_resources=spec("x"), out_axis_resources=spec("x"))
    with mesh(8):
        compiled = double.lower(np.ones(8, np.float32)).compile()
        result = compiled(np.ones(8, np.float32))
    assert type(result).__name__ == "ShardedDeviceArray"
    assert float(np.asarray(result)[0]) == 2.0


def check_mesh_by_function_and_its_environment():
    import jax
    from jax.experimental import maps
    from jax.experimental.pjit import pjit

    assert maps.thread_resources.env.physical_mesh.empty
    with maps.mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b")):
        assert maps.thread_resources.env.physical_mesh.axis_names == ("a", "b")
        assert pjit(lambda x: x, None, spec("a"))(np.ones(4)).device_buffers[0].shape == (2,)
    assert maps.thread_resources.env.physical_mesh.empty


def check_a_function_made_anew_for_each_call_is_traced_once():
    from jax.experimental.pjit import pjit

    traced = []

    def double(x):
        traced.append(x)
        return x * 2

    for _ in range(3):
        with mesh(8):
            pjit(double, in_axis_resources=spec("x"), out_axis_resources=None)(np.ones(8))
    assert len(traced) == 1


def check_the_mesh_may_not_change_inside():
    import jax
    from jax.experimental.maps import Mesh
    from jax.experimental.pjit import pjit

    def outer(x):
        with Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b")):
            return pjit(lambda x: x, in_axis_resources=spec("a"), out_axis_resources=spec("a"))(x)

    with mesh(8):
        raises(
            RuntimeError,
            lambda: pjit(outer, in_axis_resources=None, out_axis_resources=None)(np.ones(8)),
            "Changing the physical mesh",
        )


@world("0.3.14")
def check_results_kept_their_spec_until_0_3_15():
    import jax
    from jax.experimental.pjit import pjit

    jax.config.update("jax_parallel_functions_output_gda", True)
    with mesh(4, 2):
        result = pjit(lambda x: x, in_axis_resources=None, out_axis_resources=spec("x"))(np.ones((8, 2)))
        nothing = pjit(lambda x: x, in_axis_resources=None, out_axis_resources=spec(None))(np.ones((8, 2)))
    assert result.mesh_axes == spec("x")
    assert nothing.mesh_axes == spec(None)


@world("0.4.6", jax_array=True)
def check_what_is_placed_nowhere_goes_to_all_devices_of_the_mesh():
    import jax
    import jax.numpy as jnp
    from jax.experimental.pjit import pjit

    with mesh(4, 2):
        result = pjit(lambda x: x * 2)(jnp.ones(8))
        here = jax.device_put(np.ones(8), jax.devices()[3])
        raises(ValueError, lambda: pjit(lambda x: x)(here), "incompatible devices")
        made = pjit(lambda: jnp.ones(8))()
    assert len(result.sharding.device_set) == len(made.sharding.device_set) == 8
    assert len(pjit(lambda x: x * 2)(jnp.ones(8)).sharding.device_set) == 1


@world("0.4.6", jax_array=True)
def check_from_gda_takes_arrays_and_donates_them():
    import jax
    from jax.experimental.pjit import FROM_GDA, pjit

    grid = mesh(4, 2)
    sharding = jax.sharding.NamedSharding(grid, spec("x"))
    x = jax.make_array_from_callback((8,), sharding, lambda index: np.arange(8.0)[index])
    with grid:
        result = pjit(lambda x: x + 1, in_axis_resources=FROM_GDA, out_axis_resources=spec("x"), donate_argnums=0)(x)
    assert result.sharding.spec == spec("x")
    assert x.is_deleted()
    assert jax.sharding.NamedSharding(grid, None).spec == spec()
    assert isinstance(sharding, jax.sharding.NamedSharding)


@world("0.4.6", jax_array=True)
def check_the_keyword_of_constraints():
    import jax
    from jax.experimental.pjit import pjit

    with mesh(8):
        step = pjit(
            lambda x: jax.lax.with_sharding_constraint(x, axis_resources=spec("x")),
            in_axis_resources=None,
            out_axis_resources=None,
        )
        assert step(np.ones(8)).shape == (8,)
    raises(NotImplementedError, lambda: jax.lax.with_sharding_constraint(np.ones(8), spec("x")), "inside pjit")


def check_messages_name_the_line_of_the_program():
    import jax
    from jax.experimental.pjit import pjit

    jaxpr = jax.make_jaxpr(pjit(lambda x: x + 1, in_axis_resources=None, out_axis_resources=None))
    with mesh(8):
        made = jaxpr(np.ones(8))
    frames = jax._src.source_info_util.user_frames(made.eqns[0].source_info.traceback)
    assert frames
    assert not any("legacy/pjit.py" in frame.file_name and "checks" not in frame.file_name for frame in frames)
