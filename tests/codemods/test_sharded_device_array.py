"""sharded-device-array: above all, what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import findings, rewritten, unchanged

SELECT = {"select": "sharded-device-array"}
TEST = "isinstance({x}, jax.Array) and {x}.is_fully_addressable and len({x}.sharding.device_set) > 1"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("class ShardedDeviceArray: pass\ndef f(x):\n    return isinstance(x, ShardedDeviceArray)\n", id="own-class"),
        pytest.param("from mypkg import ShardedDeviceArray\ndef f(x: ShardedDeviceArray): return x\n", id="another-package"),
        pytest.param(
            "import jax\ndef f(pxla, x):\n    return isinstance(x, pxla.ShardedDeviceArray)\n", id="parameter-called-pxla"
        ),
        pytest.param(
            "import jax\ndef make_sharded_device_array(a, s, b): return b\nmake_sharded_device_array(1, 2, 3)\n",
            id="own-function",
        ),
        pytest.param("import jax\ndef f(x):\n    return " + TEST.format(x="x") + "\n", id="already-the-guides-test"),
        pytest.param('import jax\ndef f(x):\n    """Takes a pxla.ShardedDeviceArray."""\n', id="docstring"),
        pytest.param("import jax\n# make_sharded_device_array(aval, spec, bufs)\n", id="comment"),
        pytest.param("import jax\nassert 'ShardedDeviceArray(' in repr(x)\n", id="expected-repr"),
        pytest.param(
            "import jax\ndef f(self, x):\n    self.sharding_spec = x.sharding_spec\n    return self.sharding_spec\n",
            id="own-sharding-spec",
        ),
        pytest.param(
            "import jax\ndef f(plan):\n    return plan.sharding_spec.mesh_mapping\n", id="sharding-spec-of-an-unknown-value"
        ),
        pytest.param("import jax\ndef f(t):\n    return t.indices\n", id="indices-of-an-unknown-value"),
        pytest.param(
            "import jax\nfrom jax.experimental.sparse import BCOO\nm = BCOO.fromdense(x)\nprint(m.indices)\n", id="sparse-indices"
        ),
        pytest.param("import numpy as np\nimport jax\ns = slice(1, 2).indices(5)\n", id="slice-indices"),
        pytest.param("import alpa\nimport jax\nprint(alpa.ShardingSpec((1,), ()))\n", id="another-sharding-spec"),
        pytest.param(
            "import jax\nfrom jax.interpreters import pxla\nif hasattr(pxla, 'ShardedDeviceArray'):\n    T = pxla.ShardedDeviceArray\n"
            "else:\n    T = jax.Array\n",
            id="presence-is-asked",
        ),
        pytest.param(
            "import jax\nfrom jax.interpreters import pxla\nif jax.__version_info__ < (0, 4, 1):\n    T = pxla.ShardedDeviceArray\n"
            "else:\n    T = jax.Array\n",
            id="version-is-asked",
        ),
        pytest.param(
            "from jax.interpreters import pxla\nprint(isinstance(x, pxla.ShardedDeviceArray))  # jaxmigrate: ignore\n",
            id="suppressed",
        ),
        pytest.param(
            "import jax\nx = jax.make_array_from_single_device_arrays(s, sharding, bufs)\n", id="already-the-new-constructor"
        ),
        pytest.param("import jax\nfrom typing import Literal\nx: Literal['ShardedDeviceArray']\n", id="literal"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "def f(x: jax.Array): return x.sharding_spec\nimport jax", ["x.sharding says"], id="sharding-spec-of-an-array"
        ),
        pytest.param(
            "import jax\np = jax.pmap(f)(x)\ns = p.sharding_spec", ["p.sharding says"], id="sharding-spec-of-a-pmap-result"
        ),
        pytest.param("class A(pxla.ShardedDeviceArray): pass", ["neither subclassed"], id="base-class"),
        pytest.param("match x:\n    case pxla.ShardedDeviceArray(): pass", ["class pattern"], id="match"),
        pytest.param("f = pxla.ShardedDeviceArray.make", ["neither subclassed"], id="class-attribute"),
        pytest.param("handlers = {pxla.ShardedDeviceArray: 1}", ["keyed by class"], id="dict-key"),
        pytest.param("class A:\n    y = isinstance(load(), pxla.ShardedDeviceArray)", ["class body"], id="call-in-a-class-body"),
        pytest.param(
            "y = [isinstance(f(v), pxla.ShardedDeviceArray) for v in xs]", ["comprehension"], id="call-in-a-comprehension"
        ),
        pytest.param("y = lambda v: isinstance(f(v), pxla.ShardedDeviceArray)", ["lambda"], id="call-in-a-lambda"),
        pytest.param("y = pxla.make_sharded_device_array(*args)", ["* or **"], id="starred-arguments"),
        pytest.param("y = pxla.make_sharded_device_array(aval, spec, bufs)", ["does not show"], id="unknown-spec"),
        pytest.param("y = list(map(pxla.make_sharded_device_array, a, b, c))", ["is gone"], id="passed-on"),
        pytest.param(
            "y = g(h(), pxla.make_sharded_device_array(aval, None, load()))",
            ["bind them to a name"],
            id="buffers-after-another-call",
        ),
        pytest.param(
            "y = c and pxla.make_sharded_device_array(aval, None, load())",
            ["bind them to a name"],
            id="buffers-that-may-not-be-made",
        ),
        pytest.param(
            "y = pxla.make_sharded_device_array(avals.pop(), None, load())",
            ["bind them to a name"],
            id="buffers-would-run-before-the-aval",
        ),
        pytest.param("y = type(a) == type(b) == pxla.ShardedDeviceArray", ["exactly the type"], id="chained-comparison"),
        pytest.param(
            "spec = pxla.ShardingSpec(shards, (pxla.ShardedAxis(0),))\ny = pxla.make_sharded_device_array(aval, spec, bufs)",
            ["left JAX in 0.10.0", "cannot be read"],
            id="spec-with-a-variable-part",
        ),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged("from jax.interpreters import pxla\n" + source + "\n", findings=expected, **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("isinstance(x, {SDA})", TEST.format(x="x"), id="plain"),
        pytest.param("not isinstance(x, {SDA})", f"not ({TEST.format(x='x')})", id="not"),
        pytest.param("isinstance(x.y, {SDA}) or z", TEST.format(x="x.y") + " or z", id="attribute-and-or"),
        pytest.param("isinstance(x[0], {SDA})", TEST.format(x="x[0]"), id="subscript"),
        pytest.param("y = isinstance(x, {SDA}) == z", f"y = ({TEST.format(x='x')}) == z", id="comparison"),
        pytest.param("isinstance(x, ({SDA},))", TEST.format(x="x"), id="tuple-of-one"),
        pytest.param("isinstance(x, (int, {SDA}))", "isinstance(x, int) or (" + TEST.format(x="x") + ")", id="tuple"),
        pytest.param(
            "isinstance(x, (int, str, {SDA}))", "isinstance(x, (int, str)) or (" + TEST.format(x="x") + ")", id="longer-tuple"
        ),
        pytest.param("isinstance(x, ({SDA}, jax.Array))", "isinstance(x, jax.Array)", id="beside-jax-array"),
        pytest.param("isinstance(x, ({SDA}, jnp.DeviceArray))", "isinstance(x, jnp.DeviceArray)", id="beside-device-array"),
        pytest.param("type(x) is {SDA}", TEST.format(x="x"), id="type-is"),
        pytest.param("type(x) in (int, {SDA})", "type(x) in (int,) or (" + TEST.format(x="x") + ")", id="type-in"),
        pytest.param("issubclass(t, {SDA})", "issubclass(t, jax.Array)", id="issubclass"),
        pytest.param("self.assertIsInstance(x, {SDA})", "self.assertIsInstance(x, jax.Array)", id="unittest"),
        pytest.param("x: {SDA} = 1", "x: jax.Array = 1", id="annotation"),
        pytest.param(
            "print(isinstance(load(), {SDA}))",
            "print(isinstance(array := load(), jax.Array) and array.is_fully_addressable and len(array.sharding.device_set) > 1)",
            id="call-is-bound-by-walrus",
        ),
        pytest.param(
            "array = 1\nprint(isinstance(load(), {SDA}))",
            "array = 1\nprint((\n    isinstance(maybe_array := load(), jax.Array)\n    and maybe_array.is_fully_addressable\n"
            "    and len(maybe_array.sharding.device_set) > 1\n))",
            id="walrus-takes-a-free-name",
        ),
    ],
)
def test_uses(before: str, after: str) -> None:
    head = "import jax\nimport jax.numpy as jnp\nfrom jax.interpreters import pxla\n"
    tail = "\nprint(jnp.ones, pxla.Index)\n"
    rewritten(head + before.replace("{SDA}", "pxla.ShardedDeviceArray") + tail, head + after + tail, **SELECT)


def test_tracers_are_kept_out_where_the_function_is_jitted() -> None:
    before = (
        "import jax\nfrom jax.interpreters import pxla\n@jax.jit\ndef f(x):\n    return isinstance(x, pxla.ShardedDeviceArray)\n"
    )
    after = (
        "import jax\n@jax.jit\ndef f(x):\n    return (\n        isinstance(x, jax.Array)\n        and not isinstance(x, jax.core.Tracer)\n"
        "        and x.is_fully_addressable\n        and len(x.sharding.device_set) > 1\n    )\n"
    )
    result = rewritten(before, after, **SELECT)
    assert "f is decorated with jax.jit" in result.findings[0].message


def test_what_an_earlier_operand_found_out_is_not_asked_again() -> None:
    rewritten(
        "import jax\nfrom jax.interpreters import pxla\nok = isinstance(x, jax.Array) and not isinstance(x, pxla.ShardedDeviceArray)\n",
        "import jax\nok = isinstance(x, jax.Array) and not (x.is_fully_addressable and len(x.sharding.device_set) > 1)\n",
        **SELECT,
    )


def test_what_was_found_out_of_another_value_is_asked() -> None:
    rewritten(
        "import jax\nfrom jax.interpreters import pxla\nisinstance(y, jax.Array) and isinstance(x, pxla.ShardedDeviceArray)\n",
        "import jax\nisinstance(y, jax.Array) and " + TEST.format(x="x") + "\n",
        **SELECT,
    )


def test_reexport_is_for_review_since_others_may_test_with_it() -> None:
    found = findings("from jax.interpreters.pxla import ShardedDeviceArray\n__all__ = ['ShardedDeviceArray']\n", **SELECT)
    assert [str(f.applicability) for f in found] == ["review"]


def test_public_alias_is_for_review_since_others_may_test_with_it() -> None:
    (finding,) = findings("import jax\nArraySharded = jax.interpreters.pxla.ShardedDeviceArray\n", **SELECT)
    assert str(finding.applicability) == "review"


def test_a_mixed_test_is_never_applied_as_safe() -> None:
    source = "from jax.interpreters import pxla\ndef f(x):\n    return isinstance(x, pxla.ShardedDeviceArray)\n"
    result = unchanged(
        source, findings=["review: a ShardedDeviceArray is a jax.Array on several devices"], allowed="safe", **SELECT
    )
    assert "raises for tracers" in result.findings[0].message


def test_safe_only_does_not_widen_the_test_through_its_import() -> None:
    source = "from jax.interpreters.pxla import ShardedDeviceArray as SDA\ndef f(x):\n    return isinstance(x, SDA)\n"
    unchanged(source, findings=["cannot be imported any more", "on several devices"], allowed="safe", **SELECT)


def test_alias_of_the_class_keeps_its_tests_exact() -> None:
    rewritten(
        """
        import jax
        from jax.interpreters import pxla
        SDA = pxla.ShardedDeviceArray
        def f(x: SDA):
            return isinstance(x, SDA)
        """,
        """
        import jax
        SDA = jax.Array
        def f(x: SDA):
            return isinstance(x, jax.Array) and x.is_fully_addressable and len(x.sharding.device_set) > 1
        """,
        **SELECT,
    )


def test_tuple_constant_says_that_it_is_wider_now() -> None:
    found = findings("from jax.interpreters import pxla\nTYPES = (int, pxla.ShardedDeviceArray)\n", **SELECT)
    assert [str(f.applicability) for f in found] == ["review"]
    assert "single-device" in found[0].message


def test_union_alias_is_an_annotation_and_safe() -> None:
    found = findings(
        "from typing import Union\nfrom jax.interpreters import pxla\nT = Union[int, pxla.ShardedDeviceArray]\n", **SELECT
    )
    assert [str(f.applicability) for f in found] == ["safe"]


def test_dispatcher_that_knows_both_classes_is_left_to_a_human() -> None:
    source = (
        "import functools, jax\nfrom jax.interpreters import pxla\n@functools.singledispatch\ndef f(x): pass\n"
        "@f.register(jax.Array)\ndef _(x): return 1\n@f.register(pxla.ShardedDeviceArray)\ndef _(x): return 2\n"
    )
    unchanged(source, findings=["merge the two functions"], **SELECT)


def test_the_spec_goes_with_its_only_use() -> None:
    rewritten(
        """
        import jax
        from jax.interpreters import pxla
        def f(aval, bufs):
            spec = pxla.ShardingSpec((pxla.Chunked([8]),), (pxla.ShardedAxis(0),))
            return pxla.make_sharded_device_array(aval, spec, bufs)
        """,
        """
        import jax
        def f(aval, bufs):
            return jax.make_array_from_single_device_arrays(
                aval.shape,
                jax.sharding.NamedSharding(jax.sharding.Mesh([next(iter(b.devices())) for b in bufs], ("i",)), jax.sharding.PartitionSpec("i")),
                bufs,
            )
        """,
        **SELECT,
    )


def test_indices_in_the_call_do_not_keep_the_spec() -> None:
    rewritten(
        """
        import jax
        from jax.interpreters import pxla
        def f(aval, bufs):
            spec = pxla.ShardingSpec((pxla.Chunked([8]),), (pxla.ShardedAxis(0),))
            return pxla.make_sharded_device_array(aval, spec, bufs, pxla.spec_to_indices(aval.shape, spec))
        def g(aval, bufs):
            spec = pxla.ShardingSpec((pxla.NoSharding(),), (pxla.Replicated(8),))
            return pxla.make_sharded_device_array(aval, spec, bufs)
        """,
        """
        import jax
        def f(aval, bufs):
            return jax.make_array_from_single_device_arrays(
                aval.shape,
                jax.sharding.NamedSharding(jax.sharding.Mesh([next(iter(b.devices())) for b in bufs], ("i",)), jax.sharding.PartitionSpec("i")),
                bufs,
            )
        def g(aval, bufs):
            return jax.make_array_from_single_device_arrays(
                aval.shape,
                jax.sharding.NamedSharding(jax.sharding.Mesh([next(iter(b.devices())) for b in bufs], ("i",)), jax.sharding.PartitionSpec()),
                bufs,
            )
        """,
        **SELECT,
    )


def test_buffers_inside_a_call_are_bound_before_the_statement() -> None:
    rewritten(
        """
        import jax
        from jax.interpreters import pxla
        def f(x, ds):
            return step(pxla.make_sharded_device_array(jax.core.ShapedArray((8,), x.dtype), None, [jax.device_put(x, d) for d in ds]))
        """,
        """
        import jax
        def f(x, ds):
            buffers = [jax.device_put(x, d) for d in ds]
            return step(jax.make_array_from_single_device_arrays(
                (8,),
                jax.sharding.NamedSharding(jax.sharding.Mesh([next(iter(b.devices())) for b in buffers], ("i",)), jax.sharding.PartitionSpec("i")),
                [b[None] for b in buffers],
            ))
        """,
        **SELECT,
    )


def test_names_of_the_file_are_not_captured_by_the_comprehension() -> None:
    rewritten(
        """
        import jax
        from jax.interpreters import pxla
        def f(aval, b):
            return pxla.make_sharded_device_array(aval, None, b)
        """,
        """
        import jax
        def f(aval, b):
            return jax.make_array_from_single_device_arrays(
                aval.shape,
                jax.sharding.NamedSharding(
                    jax.sharding.Mesh([next(iter(buffer.devices())) for buffer in b], ("i",)), jax.sharding.PartitionSpec("i")
                ),
                [buffer[None] for buffer in b],
            )
        """.replace(
            """jax.sharding.NamedSharding(
                    jax.sharding.Mesh([next(iter(buffer.devices())) for buffer in b], ("i",)), jax.sharding.PartitionSpec("i")
                ),""",
            """jax.sharding.NamedSharding(jax.sharding.Mesh([next(iter(buffer.devices())) for buffer in b], ("i",)), """
            """jax.sharding.PartitionSpec("i")),""",
        ),
        **SELECT,
    )


def test_make_device_array_without_a_device_is_the_buffer() -> None:
    rewritten(
        "import jax\nfrom jax._src.device_array import make_device_array\nx = make_device_array(aval, device=None, device_buffer=buf)\n",
        "import jax\nx = buf\n",
        **SELECT,
    )


def test_pmap_sharding_alone_in_a_file_names_a_mesh() -> None:
    rewritten(
        """
        import jax
        from jax.sharding import PmapSharding
        def f(x, shape, devices):
            a = jax.device_put(x, PmapSharding.default(shape, 0))
            b = jax.device_put(x, PmapSharding.default((4, x.shape[0]), sharded_dim=1, devices=None))
            return a, b, PmapSharding.default((8,) + x.shape), PmapSharding.default(x.shape, 0, devices)
        """,
        """
        import jax
        from jax.sharding import Mesh, NamedSharding, PartitionSpec
        def f(x, shape, devices):
            a = jax.device_put(x, NamedSharding(Mesh(jax.local_devices()[:shape[0]], ("i",)), PartitionSpec("i")))
            b = jax.device_put(x, NamedSharding(Mesh(jax.local_devices()[:x.shape[0]], ("i",)), PartitionSpec(None, "i")))
            return a, b, NamedSharding(Mesh(jax.local_devices()[:((8,) + x.shape)[0]], ("i",)), PartitionSpec("i")), NamedSharding(Mesh(devices, ("i",)), PartitionSpec("i"))
        """,
        **SELECT,
    )


def test_buffers_of_another_sharding_do_not_matter() -> None:
    rewritten(
        """
        import jax
        def f(x, y, buffers):
            s = jax.sharding.PmapSharding.default(x.shape, devices=jax.devices())
            return jax.device_put(x, s), jax.make_array_from_single_device_arrays(y.shape, y.sharding, buffers)
        """,
        """
        import jax
        def f(x, y, buffers):
            s = jax.sharding.NamedSharding(jax.sharding.Mesh(jax.devices(), ("i",)), jax.sharding.PartitionSpec("i"))
            return jax.device_put(x, s), jax.make_array_from_single_device_arrays(y.shape, y.sharding, buffers)
        """,
        **SELECT,
    )


def test_pmap_sharding_says_that_shards_keep_the_dimension_and_is_for_review() -> None:
    found = findings("import jax\ns = jax.sharding.PmapSharding.default((8, 3))\n", **SELECT)
    assert [str(f.applicability) for f in found] == ["review"]
    assert "with size 1" in found[0].message


def test_pmap_sharding_of_a_spec_that_can_be_read() -> None:
    rewritten(
        """
        import jax
        from jax.interpreters import pxla
        def f(x, devices):
            spec = pxla.ShardingSpec((pxla.Chunked([4]), pxla.NoSharding()), (pxla.ShardedAxis(0),))
            return jax.device_put(x, jax.sharding.PmapSharding(devices, spec))
        """,
        """
        import jax
        def f(x, devices):
            return jax.device_put(x, jax.sharding.NamedSharding(jax.sharding.Mesh(devices, ("i",)), jax.sharding.PartitionSpec("i")))
        """,
        **SELECT,
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("s = jax.sharding.PmapSharding(devices, spec)\n", ["shards keep it"], id="unknown-spec"),
        pytest.param(
            "s = jax.sharding.PmapSharding(devices, x.sharding_spec)\n",
            ["shards keep it", "x.sharding says"],
            id="spec-of-an-array",
        ),
        pytest.param("s = jax.sharding.PmapSharding.default(shape, dim)\n", ["shards keep it"], id="unknown-dimension"),
        pytest.param("s = jax.sharding.PmapSharding.default(shape, None)\n", ["shards keep it"], id="no-dimension"),
        pytest.param("s = jax.sharding.PmapSharding.default((8,), 1)\n", ["shards keep it"], id="no-such-dimension"),
        pytest.param("s = jax.sharding.PmapSharding.default((*a, 8), 1)\n", ["shards keep it"], id="starred-shape"),
        pytest.param(
            "s = jax.sharding.PmapSharding.default((8, next(it)))\n", ["shards keep it"], id="shape-that-does-something"
        ),
        pytest.param(
            "s = jax.sharding.PmapSharding.default(next(it), 0, ds)\n", ["shards keep it"], id="shape-would-not-be-asked"
        ),
        pytest.param("s = jax.sharding.PmapSharding.default(*args)\n", ["shards keep it"], id="starred-arguments"),
        pytest.param("make = jax.sharding.PmapSharding.default\n", ["shards keep it"], id="method-as-a-value"),
        pytest.param("P = jax.sharding.PmapSharding\n", ["shards keep it"], id="alias"),
        pytest.param("b = isinstance(x.sharding, jax.sharding.PmapSharding)\n", ["has a NamedSharding"], id="isinstance"),
        pytest.param("b = type(x.sharding) is jax.sharding.PmapSharding\n", ["has a NamedSharding"], id="exact-type"),
        pytest.param("def f(s: jax.sharding.PmapSharding): return s\n", ["jax.sharding.Sharding"], id="annotation"),
        pytest.param("class S(jax.sharding.PmapSharding): pass\n", ["shards keep it"], id="base-class"),
        pytest.param(
            "s = jax.sharding.PmapSharding.default(shape, 0)\nx = jax.make_array_from_single_device_arrays(shape, s, buffers)\n",
            ["the buffers of jax.make_array_from_single_device_arrays"],
            id="buffers-have-the-shape-of-the-old-shards",
        ),
        pytest.param(
            "x = jax.make_array_from_single_device_arrays(shape, jax.sharding.PmapSharding.default(shape, 0), arrays=buffers)\n",
            ["the buffers of jax.make_array_from_single_device_arrays"],
            id="in-the-call",
        ),
        pytest.param(
            "s = jax.sharding.PmapSharding.default(shape, 0) if x else t\njax.make_array_from_single_device_arrays(shape, s, buffers)\n",
            ["the buffers of jax.make_array_from_single_device_arrays"],
            id="perhaps-for-buffers",
        ),
        pytest.param(
            "def f(shape): return jax.sharding.PmapSharding.default(shape, 0)\n"
            "def g(s, shape): return jax.make_array_from_single_device_arrays(shape, s, buffers)\n",
            ["the buffers of jax.make_array_from_single_device_arrays"],
            id="perhaps-for-buffers-of-another-function",
        ),
    ],
)
def test_pmap_sharding_kept(source: str, expected: list[str]) -> None:
    unchanged("import jax\n" + source, findings=expected, **SELECT)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "if hasattr(jax.sharding, 'PmapSharding'):\n    s = jax.sharding.PmapSharding.default(shape, 0)\nelse:\n    s = other()\n",
            id="behind-a-presence-test",
        ),
        pytest.param("from mylib import PmapSharding\ns = PmapSharding.default(shape, 0)\n", id="another-class-of-that-name"),
        pytest.param("from torch.distributed._shard import ShardingSpec\ns = ShardingSpec(1)\n", id="of-torch"),
        pytest.param("from dataloader import Chunked\nx = Chunked([8])  # not that of pxla\n", id="another-chunked"),
        pytest.param('def f():\n    """Like PmapSharding.default(shape, 0)."""\n', id="docstring"),
        pytest.param("from jax.interpreters import pxla\npxla.thread_resources\n", id="what-pxla-still-has"),
    ],
)
def test_no_pmap_sharding_of_jax(source: str) -> None:
    unchanged("import jax\n" + source, **SELECT)


@pytest.mark.parametrize(
    "name", ["ShardingSpec", "spec_to_indices", "Chunked", "NoSharding", "Unstacked", "ShardedAxis", "Replicated"]
)
@pytest.mark.parametrize("module", ["jax.interpreters.pxla", "jax._src.interpreters.pxla", "jax._src.sharding_specs"])
def test_parts_of_specs_are_reported_in_an_otherwise_clean_file(module: str, name: str) -> None:
    unchanged(f"from {module} import {name}\nx = [{name}]\ny = {name}\n", findings=["imported any more", name, name], **SELECT)


def test_stand_in_for_a_class_that_is_gone_is_said() -> None:
    source = "try:\n    from jax.sharding import PmapSharding\nexcept ImportError:\n    PmapSharding = None\n"
    unchanged(source, findings=["what the except clause does instead"], **SELECT)


def test_parts_inside_a_spec_are_said_with_it() -> None:
    source = (
        "from jax.interpreters import pxla\n"
        "indices = pxla.spec_to_indices((8,), pxla.ShardingSpec((pxla.Chunked([8]),), (pxla.ShardedAxis(0),)))\n"
    )
    unchanged(source, findings=["devices_indices_map"], **SELECT)


def test_unused_import_of_specs_goes() -> None:
    rewritten(
        "import jax\nfrom jax.interpreters.pxla import ShardingSpec, spec_to_indices\nprint(jax)\n",
        "import jax\nprint(jax)\n",
        **SELECT,
    )
