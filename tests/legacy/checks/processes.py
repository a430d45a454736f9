"""Old pjit, pmap and multihost_utils in several processes with eight devices together; every process runs all of it."""

from __future__ import annotations

import numpy as np
from worlds import raises, world


def grid(*shape: int, order: object = None):
    import jax
    from jax.experimental.maps import Mesh

    devices = np.array(jax.devices())
    return Mesh((devices if order is None else devices[order]).reshape(shape), ("x", "y", "z")[: len(shape)])


def spec(*parts: object):
    from jax.experimental import PartitionSpec

    return PartitionSpec(*parts)


def mine(rows: int) -> np.ndarray:
    import jax

    return np.arange(rows * 2.0, dtype=np.float32).reshape(rows, 2) + 100 * jax.process_index()


def check_host_local_shapes_inside_and_outside():
    import jax
    from jax.experimental.pjit import pjit

    inside = []
    here = 8 // jax.process_count()

    def double(x):
        inside.append(x.shape)
        return x * 2, x.sum()

    with grid(8):
        result, total = pjit(double, in_axis_resources=spec("x"), out_axis_resources=(spec("x"), None))(mine(here))
    assert inside == [(8, 2)]
    assert result.shape == (here, 2)
    assert np.array_equal(np.asarray(result), mine(here) * 2)
    assert float(np.asarray(total)) == sum((np.arange(here * 2.0) + 100 * p).sum() for p in range(jax.process_count()))
    assert result._placement.shape == (8, 2)
    first = jax.process_index() * here
    assert result._placement.indices[0] == (slice(first, first + 1), slice(None))


def check_an_axis_inside_of_the_processes_does_not_grow():
    from jax.experimental.pjit import pjit

    with grid(4, 2):
        result = pjit(lambda x: x + 1, in_axis_resources=spec("y"), out_axis_resources=spec("y"))(np.ones((8, 2)))
    assert result.shape == (8, 2)


def check_a_minor_axis_first_interleaves_the_rows():
    import jax
    from jax.experimental.pjit import pjit

    rows = 16 // jax.process_count()
    with grid(2, 4):
        every = pjit(lambda x: x, in_axis_resources=spec(("y", "x")), out_axis_resources=None)
        whole = np.asarray(every(mine(rows)))
        back = pjit(lambda x: x, in_axis_resources=spec(("y", "x")), out_axis_resources=spec(("y", "x")))(mine(rows))
    assert whole.shape == (16, 2)
    assert np.array_equal(np.asarray(back), mine(rows))
    if jax.process_count() == 2:
        # A process holds one x and all y: its rows are every other pair of the global array.
        assert np.array_equal(whole[2:4], np.arange(16.0).reshape(8, 2)[:2] + 100)


def check_a_mesh_that_is_no_block_of_processes_is_refused():
    from jax.experimental.pjit import pjit

    with grid(8, order=[0, 2, 4, 6, 1, 3, 5, 7]):
        double = pjit(lambda x: x * 2, in_axis_resources=spec("x"), out_axis_resources=spec("x"))
        raises(ValueError, lambda: double(mine(8)), "When passing non-GlobalDeviceArray inputs to pjit or xmap")


@world("0.4.3")
def check_the_words_of_0_4_2_and_later():
    from jax.experimental.pjit import pjit

    with grid(8, order=[0, 2, 4, 6, 1, 3, 5, 7]):
        double = pjit(lambda x: x * 2, in_axis_resources=spec("x"), out_axis_resources=spec("x"))
        raises(ValueError, lambda: double(mine(8)), "When passing host local inputs to pjit or xmap")


def check_global_device_arrays_may_lie_on_any_mesh():
    import jax
    from jax.experimental.global_device_array import GlobalDeviceArray
    from jax.experimental.pjit import FROM_GDA, pjit

    data = np.arange(16.0, dtype=np.float32).reshape(8, 2)
    mesh = grid(8, order=[0, 2, 4, 6, 1, 3, 5, 7])
    gda = GlobalDeviceArray.from_callback((8, 2), mesh, spec("x"), lambda index: data[index])
    with mesh, jax._src.config.parallel_functions_output_gda(True):
        result = pjit(lambda x: x + x.sum(), in_axis_resources=FROM_GDA, out_axis_resources=spec("x"))(gda)
    assert result.shape == (8, 2)
    for shard in result.local_shards:
        assert np.allclose(np.asarray(shard.data), data[shard.index] + data.sum())


def check_mixed_global_and_host_local_arguments():
    import jax
    from jax.experimental.global_device_array import GlobalDeviceArray
    from jax.experimental.pjit import FROM_GDA, pjit

    data, mesh = np.ones((8, 2), np.float32), grid(8)
    gda = GlobalDeviceArray.from_callback((8, 2), mesh, spec("x"), lambda index: data[index])
    with mesh:
        add = pjit(lambda a, b, c: a + b * c, in_axis_resources=(FROM_GDA, spec("x"), None), out_axis_resources=spec("x"))
        result = add(gda, mine(8 // jax.process_count()), np.float32(2))
    assert np.array_equal(np.asarray(result), 1 + 2 * mine(8 // jax.process_count()))


def check_pmap_is_of_this_process():
    import jax

    here = 8 // jax.process_count()
    x = np.arange(float(here)) + 10 * jax.process_index()
    total = jax.pmap(lambda v: jax.lax.psum(v, "i"), axis_name="i")(x)
    assert total.shape == (here,)
    assert float(np.asarray(total)[0]) == sum((np.arange(float(here)) + 10 * p).sum() for p in range(jax.process_count()))
    assert np.array_equal(np.asarray(jax.pmap(lambda v, w: v + w, in_axes=(0, None))(total, 1.0)), np.asarray(total) + 1)


def check_gathering():
    import jax
    from jax.experimental import multihost_utils
    from jax.experimental.global_device_array import GlobalDeviceArray

    count = jax.process_count()
    assert multihost_utils.process_allgather(np.arange(3)).shape == (count, 3)
    assert multihost_utils.process_allgather(np.arange(3), tiled=True).shape == (3 * count,)
    data = np.arange(16.0, dtype=np.float32).reshape(8, 2)
    gda = GlobalDeviceArray.from_callback((8, 2), grid(8), spec("x"), lambda index: data[index])
    assert np.array_equal(multihost_utils.process_allgather(gda), data)
    assert multihost_utils.broadcast_one_to_all(np.float32(jax.process_index())) == 0
    multihost_utils.sync_global_devices("done")


def check_hazards_are_reported():
    import jax
    from jax.experimental.pjit import pjit

    from jaxmigrate import legacy

    heard = []
    legacy.observe(lambda *event: heard.append(event))
    try:
        with grid(8):
            add = pjit(lambda x, w: x + w, in_axis_resources=(spec("x"), None), out_axis_resources=spec("x"))
            add(mine(8 // jax.process_count()), np.float32(jax.process_index()))
        assert [kind for kind, _, _ in heard] == ["replicated-input"]
        assert "argument 1" in heard[0][1]
        assert len(heard[0][2]) == 40
        heard.clear()
        with grid(8, order=[0, 2, 4, 6, 1, 3, 5, 7]):
            raises(ValueError, lambda: add(mine(8), np.float32(1)))
        assert {kind for kind, _, _ in heard} == {"non-contiguous-mesh"}
        assert any(f"process {jax.process_index()} " in detail for _, _, detail in heard)
    finally:
        legacy.observe(None)


def check_a_gradient_over_pjit_is_refused_and_one_inside_works():
    import jax
    from jax.experimental.pjit import pjit

    with grid(8):
        loss = pjit(lambda x: (x**2).sum(), in_axis_resources=spec("x"), out_axis_resources=None)
        raises(NotImplementedError, lambda: jax.grad(loss)(mine(8 // jax.process_count())), "inside of the function")
        inside = pjit(jax.grad(lambda x: (x**2).sum()), in_axis_resources=spec("x"), out_axis_resources=spec("x"))
        assert np.array_equal(np.asarray(inside(mine(8 // jax.process_count()))), 2 * mine(8 // jax.process_count()))
