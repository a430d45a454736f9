"""global-device-array: what must be left alone first, then the calls, then the class."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Applicability
from jaxmigrate.testing import applied, findings, rewritten, run, unchanged

SELECT = "global-device-array"
IMPORT = "from jax.experimental.global_device_array import GlobalDeviceArray\n"
GDA = "from jax.experimental.global_device_array import GlobalDeviceArray as GDA\n"


def call(before: str, after: str, *, head: str = "", **kw: object) -> None:
    """A file of one expression."""
    imports = "import jax\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n" + head
    rewritten(f"{IMPORT}{imports}y = {before}\n", f"{imports}y = {after}\n", select=SELECT, **kw)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("class GlobalDeviceArray: pass\ndef f(x):\n    return isinstance(x, GlobalDeviceArray)\n", id="own-class"),
        pytest.param(
            "from mylib import GlobalDeviceArray\nx = GlobalDeviceArray.from_callback(s, m, p, f)\n", id="another-package"
        ),
        pytest.param(
            "from .gda import GlobalDeviceArray\ndef f(x: GlobalDeviceArray): ...\n", id="relative-module-of-unknown-origin"
        ),
        pytest.param("import jax\nx = GlobalDeviceArray.from_callback(s, m, p, f)\n", id="name-that-nothing-binds"),
        pytest.param(
            "import jax\ndef f(gda_lib, x):\n    return isinstance(x, gda_lib.GlobalDeviceArray)\n",
            id="parameter-called-like-the-module",
        ),
        pytest.param(
            "try:\n    from jax import Array as GDA\nexcept ImportError:\n"
            "    from jax.experimental.global_device_array import GlobalDeviceArray as GDA\ndef f(x: GDA): ...\n",
            id="successor-is-tried-first",
        ),
        pytest.param(
            "import jax\nif jax.__version_info__ < (0, 4, 7):\n    from jax.experimental.global_device_array import GlobalDeviceArray\n"
            "else:\n    GlobalDeviceArray = jax.Array\n",
            id="version-chooses",
        ),
        pytest.param("import jax\nprint('use GlobalDeviceArray.from_callback')\n", id="message"),
        pytest.param('import jax\ndef f():\n    """Gives a GlobalDeviceArray."""\n', id="docstring"),
        pytest.param("import jax\nx = 1  # was a GlobalDeviceArray\n", id="comment"),
        pytest.param("import jax\ndef test_global_device_array(): ...\n", id="function-named-after-it"),
        pytest.param("import jax\nx = {'GlobalDeviceArray': jax.Array}\n", id="string-key"),
        pytest.param("import jax\nx = jax.make_array_from_callback(s, sharding, f)\n", id="successor"),
        pytest.param("import jax\ndef f(self, x):\n    return self.GlobalDeviceArray.from_callback(x)\n", id="attribute-of-self"),
        pytest.param(
            "import jax\ndef f(global_shape, global_mesh, mesh_axes, data_callback): ...\n", id="parameters-of-the-same-names"
        ),
        pytest.param(
            "from jaxtyping import Shaped\ndef get_shard_shape(a, b, c): ...\nget_shard_shape(1, 2, 3)\n",
            id="own-get-shard-shape",
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        pytest.param(
            IMPORT + "x = GlobalDeviceArray.from_callback(*args)\n", ["cannot be imported", "*"], id="starred-arguments"
        ),
        pytest.param(
            IMPORT + "x = GlobalDeviceArray.from_callback(s, m, **kw)\n", ["cannot be imported", "*"], id="keyword-dict"
        ),
        pytest.param(
            IMPORT + "x = GlobalDeviceArray.from_callback(s, m, p)\n",
            ["cannot be imported", "data_callback"],
            id="argument-missing",
        ),
        pytest.param(
            IMPORT + "x = GlobalDeviceArray(s, m, p, b, mesh=m)\n", ["cannot be imported", "mesh"], id="argument-unknown"
        ),
        pytest.param(IMPORT + "class A(GlobalDeviceArray): ...\n", ["cannot be imported", "subclass"], id="subclass"),
        pytest.param(
            IMPORT + "f = GlobalDeviceArray.from_batched_callback\n", ["cannot be imported", "function"], id="batched-as-value"
        ),
        pytest.param(
            IMPORT + "f = lambda: GlobalDeviceArray.from_batched_callback(s, m, p, cb)\n",
            ["cannot be imported", "no room"],
            id="batched-in-a-lambda",
        ),
        pytest.param(
            IMPORT + "f = [GlobalDeviceArray.from_batched_callback(s, m, p, cb) for s in shapes]\n",
            ["cannot be imported", "no room"],
            id="batched-in-a-comprehension",
        ),
        pytest.param(
            IMPORT + "x = ok and GlobalDeviceArray.from_batched_callback(s, m, p, cb)\n",
            ["cannot be imported", "no room"],
            id="batched-on-a-condition",
        ),
        pytest.param(
            IMPORT + "x = f(g(), GlobalDeviceArray.from_batched_callback(s, m, p, cb))\n",
            ["cannot be imported", "no room"],
            id="batched-after-another-call",
        ),
        pytest.param(
            IMPORT + "x = type(y) in (GlobalDeviceArray, int)\n", ["cannot be imported", "isinstance"], id="type-in-a-tuple"
        ),
        pytest.param(
            IMPORT + "class A(GlobalDeviceArray):\n    def f(self): return self.local_shards[0].data, self.shape, self.mesh\n",
            ["cannot be imported", "subclass", "held it is addressable_shards", "held it is sharding.mesh"],
            id="inherited-attributes",
        ),
        pytest.param(
            IMPORT + "class A(GlobalDeviceArray): ...\nclass B(A): ...\nx = A.from_callback(s, m, p, f)\ny = B(s, m, p, b)\n",
            ["cannot be imported", "subclass", "make an array", "make an array"],
            id="inherited-constructors",
        ),
        pytest.param(
            IMPORT
            + "class A(GlobalDeviceArray):\n    @classmethod\n    def f(cls): return cls.from_callback(s, m, p, g), super().from_callback(s, m, p, g)\n",
            ["cannot be imported", "subclass", "make an array", "make an array"],
            id="inherited-constructors-inside",
        ),
        pytest.param(
            IMPORT + "class A(GlobalDeviceArray): ...\ndef f(a: A, t: Trainer): return a.local_data(0), t.mesh, t.mesh_axes\n",
            ["cannot be imported", "subclass", "held it is addressable_shards[index].data"],
            id="inherited-by-a-parameter",
        ),
        pytest.param(
            IMPORT + "class A(GlobalDeviceArray):\n    def __init__(self, x): self.x = x\n    def mesh(self): ...\nA(3).mesh()\n",
            ["cannot be imported", "subclass"],
            id="what-a-subclass-has-of-its-own",
        ),
        pytest.param(
            IMPORT + "class A(GlobalDeviceArray):\n    @property\n    def local_shards(self): return super().local_shards[:1]\n",
            ["cannot be imported", "subclass", "held it is addressable_shards"],
            id="what-a-subclass-extends",
        ),
        pytest.param(
            IMPORT + "self.assertFalse(isinstance(x, GlobalDeviceArray))\n",
            ["cannot be imported", "would fail"],
            id="asserted-to-be-false",
        ),
        pytest.param(
            IMPORT + "x = getattr(GlobalDeviceArray, name)\n", ["cannot be imported", "getattr"], id="getattr-of-the-class"
        ),
        pytest.param(IMPORT + "x = GlobalDeviceArray.local_data\n", ["cannot be imported", "abstract"], id="method-of-the-class"),
        pytest.param(IMPORT + "handlers[GlobalDeviceArray] = f\n", ["cannot be imported", "key"], id="key-of-a-registry"),
        pytest.param(
            "import jax\n" + IMPORT + "f.register(jax.Array)(g)\nf.register(GlobalDeviceArray)(h)\n",
            ["cannot be imported", "another handler"],
            id="two-handlers-become-one",
        ),
        pytest.param(
            "from jax.experimental.global_device_array import Shard\nx = Shard(d, i, 0)\n",
            ["cannot be imported", "jax.Shard"],
            id="shard-made-by-hand",
        ),
        pytest.param(
            "from jax.experimental.global_device_array import _GdaFastPathArgs\nx = _GdaFastPathArgs(a, b)\n",
            ["cannot be imported", "internal"],
            id="internal-helper",
        ),
        pytest.param("from jax.experimental.global_device_array import *\nx = GlobalDeviceArray\n", ["gone"], id="star-import"),
        pytest.param(
            IMPORT + "x: GlobalDeviceArray = 1  # jaxmigrate: ignore[global-device-array]\n",
            ["not all migrated: line 2"],
            id="suppressed-use",
        ),
    ],
)
def test_left_to_a_human(source: str, messages: list[str]) -> None:
    unchanged(source, select=SELECT, findings=messages)


def test_own_names_are_not_hidden_by_what_is_written_out() -> None:
    rewritten(
        "import jax\n" + GDA + "def f(sharding, shards, cb):\n    return GDA.from_batched_callback(sharding.shape, m, p, cb)\n",
        """
        import jax
        def f(sharding, shards, cb):
            sharding_ = jax.sharding.NamedSharding(m, p)
            shard_indices = sharding_.addressable_devices_indices_map(sharding.shape)
            shards_ = cb(list(shard_indices.values()))
            return jax.make_array_from_single_device_arrays(sharding.shape, sharding_, [jax.device_put(s, d) for s, d in zip(shards_, shard_indices)])
        """,
        select=SELECT,
    )


def test_batched_call_that_is_yielded() -> None:
    result = run(
        "import jax\n" + GDA + "def f():\n    while True:\n        yield GDA.from_batched_callback(s, m, p, cb)\n", select=SELECT
    )
    assert b"        shards = cb(list(shard_indices.values()))\n        yield jax.make_array" in result.after


def test_two_batched_calls_in_one_statement_get_names_of_their_own() -> None:
    result = run(
        "import jax\n" + GDA + "x = (GDA.from_batched_callback(s, m, p, f), GDA.from_batched_callback(t, m, p, g))\n",
        select=SELECT,
    )
    text = result.after.decode()
    assert "GDA" not in text or "no room" in str(result.findings)
    assert text.count("shards = f(") == 1


def test_call_inside_a_condition_is_not_pulled_out_of_it() -> None:
    unchanged(
        IMPORT + "if a:\n    pass\nelif GlobalDeviceArray.from_batched_callback(s, m, p, f):\n    pass\n",
        select=SELECT,
        findings=2,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "GlobalDeviceArray.from_callback((4,), mesh, P('x'), cb)",
            "jax.make_array_from_callback((4,), NamedSharding(mesh, P('x')), cb)",
            id="positional",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback([4], mesh, ['x'], cb)",
            "jax.make_array_from_callback((4,), NamedSharding(mesh, P('x')), cb)",
            id="lists-of-the-oldest-versions",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback([], mesh, (), cb)",
            "jax.make_array_from_callback((), NamedSharding(mesh, P()), cb)",
            id="empty-lists",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback(s, mesh, None, cb)",
            "jax.make_array_from_callback(s, NamedSharding(mesh, P()), cb)",
            id="none-for-the-axes",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback(s, mesh, mesh_axes=P(), data_callback=cb)",
            "jax.make_array_from_callback(s, NamedSharding(mesh, P()), data_callback=cb)",
            id="mixed",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback(mesh_axes=P(), data_callback=cb, global_mesh=mesh, global_shape=s)",
            "jax.make_array_from_callback(data_callback=cb, sharding=NamedSharding(mesh, P()), shape=s)",
            id="keywords-in-another-order",
        ),
        pytest.param(
            "GlobalDeviceArray(s, mesh, P(), bufs, None, False)",
            "jax.make_array_from_single_device_arrays(s, NamedSharding(mesh, P()), bufs)",
            id="internal-arguments-by-position",
        ),
        pytest.param(
            "GlobalDeviceArray(s, mesh, P(), [b for b in bufs], _gda_fast_path_args=None)",
            "jax.make_array_from_single_device_arrays(s, NamedSharding(mesh, P()), [b for b in bufs])",
            id="internal-argument-by-keyword",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback(s, sh.mesh, sh.spec, cb)",
            "jax.make_array_from_callback(s, sh, cb)",
            id="mesh-and-spec-of-one-sharding",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback(s, self.mesh, self.mesh_axes, cb)",
            "jax.make_array_from_callback(s, NamedSharding(self.mesh, self.mesh_axes), cb)",
            id="mesh-and-axes-of-an-own-object",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback(s, a.mesh, b.mesh_axes, cb)",
            "jax.make_array_from_callback(s, NamedSharding(a.mesh, b.mesh_axes), cb)",
            id="mesh-and-axes-of-two-objects",
        ),
        pytest.param(
            "GlobalDeviceArray(x.shape, x.mesh, x.mesh_axes, bufs)",
            "jax.make_array_from_single_device_arrays(x.shape, x.sharding, bufs)",
            id="all-three-of-one-array",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback(s, mesh, P('x'), lambda i: d[i])",
            "jax.make_array_from_callback(s, NamedSharding(mesh, P('x')), lambda i: d[i])",
            id="lambda",
        ),
        pytest.param(
            "GlobalDeviceArray.from_callback(s, mesh, P('x'), GlobalDeviceArray.from_callback(t, mesh, P(), cb).__getitem__)",
            "jax.make_array_from_callback(s, NamedSharding(mesh, P('x')), jax.make_array_from_callback(t, NamedSharding(mesh, P()), cb).__getitem__)",
            id="nested",
        ),
    ],
)
def test_calls(before: str, after: str) -> None:
    call(before, after)


def test_comments_between_the_arguments_stay() -> None:
    rewritten(
        f"""
        import jax
        {GDA.strip()}
        x = GDA.from_callback(
            shape,  # all rows
            mesh,
            spec,
            cb,  # reads from disk
        )
        """,
        """
        import jax
        x = jax.make_array_from_callback(
            shape,  # all rows
            jax.sharding.NamedSharding(mesh, spec),
            cb,  # reads from disk
        )
        """,
        select=SELECT,
    )


def test_comment_of_a_dropped_argument_is_kept_or_said() -> None:
    result = run(f"import jax\n{GDA}x = GDA.from_callback(\n    s,\n    m,\n    spec,  # rows only\n    cb,\n)\n", select=SELECT)
    said = any("rows only" in f.message and f.applicability is Applicability.REVIEW for f in applied(result))
    assert said or b"rows only" in result.after


def test_axes_that_move_past_an_effect_are_said() -> None:
    found = findings(
        f"import jax\n{GDA}x = GDA.from_callback(mesh_axes=axes(), data_callback=make(), global_mesh=m, global_shape=s)\n",
        select=SELECT,
    )
    assert any("order" in f.message and f.applicability is Applicability.REVIEW for f in found)


def test_axes_without_effects_move_silently() -> None:
    found = findings(
        f"import jax\n{GDA}x = GDA.from_callback(mesh_axes=a, data_callback=make(), global_mesh=m, global_shape=s)\n",
        select=SELECT,
    )
    assert not any("order" in f.message for f in found)


@pytest.mark.parametrize(
    "callback",
    [
        "lambda i: next(it)[i]",
        "lambda i: rng.normal(size=2)",
        "lambda i: seen.append(i) or d[i]",
    ],
)
def test_callback_with_effects_is_said(callback: str) -> None:
    found = findings(f"import jax\n{GDA}x = GDA.from_callback(s, m, p, {callback})\n", select=SELECT)
    assert any("once" in f.message and f.applicability is Applicability.REVIEW for f in found)


@pytest.mark.parametrize(
    "callback", ["lambda i: [1, 2]", "lambda i: d[i].tolist()", "lambda i: list(d)", "lambda i: [x for x in d]"]
)
def test_callback_that_gives_a_list_is_said(callback: str) -> None:
    found = findings(f"import jax\n{GDA}x = GDA.from_callback(s, m, p, {callback})\n", select=SELECT)
    assert any("gives a list" in f.message and f.applicability is Applicability.REVIEW for f in found)


def test_list_inside_the_callback_is_not_its_result() -> None:
    found = findings(f"import jax\n{GDA}x = GDA.from_callback(s, m, p, lambda i: np.asarray([1, 2])[i])\n", select=SELECT)
    assert not any("list" in f.message for f in found)


def test_pure_callback_is_safe() -> None:
    found = findings(f"import jax\n{GDA}x = GDA.from_callback(s, m, p, lambda i: np.ones(3)[i])\n", select=SELECT)
    assert not any("once" in f.message for f in found)


def test_partial_of_all_but_the_callback() -> None:
    call(
        "functools.partial(GlobalDeviceArray.from_callback, s, mesh, P())",
        "functools.partial(jax.make_array_from_callback, s, NamedSharding(mesh, P()))",
        head="import functools\n",
    )


def test_partial_of_keywords() -> None:
    call(
        "functools.partial(GlobalDeviceArray.from_callback, global_mesh=mesh, mesh_axes=P(), global_shape=s)",
        "functools.partial(jax.make_array_from_callback, sharding=NamedSharding(mesh, P()), shape=s)",
        head="import functools\n",
    )


def test_partial_without_the_axes_keeps_the_old_parameters() -> None:
    result = run(
        f"import functools\nimport jax\n{IMPORT}f = functools.partial(GlobalDeviceArray.from_callback, s, m)\n", select=SELECT
    )
    assert b"functools.partial(lambda global_shape, global_mesh, mesh_axes, data_callback: jax.make" in result.after
    assert result.after.endswith(b", s, m)\n")


def test_list_of_buffers_only_where_a_tuple_was_literal() -> None:
    call(
        "GlobalDeviceArray(s, mesh, P(), (a, b))",
        "jax.make_array_from_single_device_arrays(s, NamedSharding(mesh, P()), list((a, b)))",
        target="0.4.13",
    )
    call(
        "GlobalDeviceArray(s, mesh, P(), (a, b))", "jax.make_array_from_single_device_arrays(s, NamedSharding(mesh, P()), (a, b))"
    )


# -- the class ------------------------------------------------------------------------------------------------------------------


def of_isinstance(test: str, **kw: object) -> list[str]:
    found = applied(run(f"import jax\n{IMPORT}{test}\n", select=SELECT, **kw))
    return [f"{f.applicability}: {f.message}" for f in found if f.position.line > 2]


def test_isinstance_says_what_was_taken() -> None:
    (message,) = of_isinstance("def f(x): return isinstance(x, GlobalDeviceArray)")
    assert message.startswith("review")
    assert "every array" in message
    assert "multiprocess" in message


def test_isinstance_in_a_jitted_function_speaks_of_tracers() -> None:
    (message,) = of_isinstance("@jax.jit\ndef f(x): return isinstance(x, GlobalDeviceArray)")
    assert "f is decorated with jax.jit" in message


def test_isinstance_behind_an_arm_that_takes_all_is_said() -> None:
    source = "from jax.numpy import DeviceArray\ndef f(x):\n    if isinstance(x, DeviceArray):\n        return 1\n    elif isinstance(x, GlobalDeviceArray):\n        return 2"
    (message,) = of_isinstance(source)
    assert "line 5 takes them all" in message


def test_leaf_predicate_is_safe() -> None:
    (message,) = of_isinstance("y = jax.tree_util.tree_leaves(t, is_leaf=lambda x: isinstance(x, GlobalDeviceArray))")
    assert message.startswith("safe")


BOTH = f"import jax\n{IMPORT}def f(x, y):\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "    if isinstance(x, GlobalDeviceArray):\n        return 1\n    elif isinstance(x, jax.Array):\n        return 2\n",
            "    if isinstance(x, jax.Array):\n        return 2\n",
            id="first-arm",
        ),
        pytest.param(
            "    if isinstance(x, jax.Array):\n        return 2\n    elif isinstance(x, GlobalDeviceArray):\n        return 1\n    else:\n        return 3\n",
            "    if isinstance(x, jax.Array):\n        return 2\n    else:\n        return 3\n",
            id="later-arm",
        ),
        pytest.param(
            "    if isinstance(x, GlobalDeviceArray) and y:\n        return 1\n    if isinstance(x, jax.Array):\n        return 2\n",
            "    if isinstance(x, jax.Array):\n        return 2\n",
            id="statement-with-a-further-condition",
        ),
        pytest.param(
            "    return isinstance(x, GlobalDeviceArray) or isinstance(x, jax.Array) and x.is_fully_addressable\n",
            "    return isinstance(x, jax.Array) and x.is_fully_addressable\n",
            id="or",
        ),
        pytest.param(
            "    return g(x) if isinstance(x, GlobalDeviceArray) else isinstance(x, jax.Array)\n",
            "    return isinstance(x, jax.Array)\n",
            id="conditional-expression",
        ),
    ],
)
def test_arm_for_gda_goes_where_arrays_have_their_own(before: str, after: str) -> None:
    result = rewritten(BOTH + before, "import jax\ndef f(x, y):\n" + after, select=SELECT)
    assert any("own test" in f.message and f.applicability is Applicability.REVIEW for f in result.findings)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "    if isinstance(x, GlobalDeviceArray):\n        return isinstance(y, jax.Array)\n", id="of-another-value"
        ),
        pytest.param("    if isinstance(x, GlobalDeviceArray):\n        assert isinstance(x, jax.Array)\n", id="inside-the-arm"),
        pytest.param(
            "    if isinstance(x, GlobalDeviceArray):\n        x = y(x)\n    assert isinstance(x, jax.Array)\n",
            id="asserted-afterwards",
        ),
        pytest.param(
            "    def g(x):\n        return isinstance(x, jax.Array)\n    if isinstance(x, GlobalDeviceArray):\n        g(x)\n",
            id="in-another-function",
        ),
        pytest.param(
            "    if isinstance(x, GlobalDeviceArray) and isinstance(x, jax.Array):\n        y()\n", id="in-the-same-condition"
        ),
    ],
)
def test_arm_for_gda_stays_where_arrays_have_none(source: str) -> None:
    result = run(BOTH + source, select=SELECT)
    assert b"if isinstance(x, jax.Array)" in result.after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "    if isinstance(x, GlobalDeviceArray):\n        raise ValueError('no GDA')\n    return x\n",
            "    return x\n",
            id="raise",
        ),
        pytest.param(
            "    if y:\n        return 1\n    elif isinstance(x, GlobalDeviceArray):\n        raise ValueError\n    else:\n        return x\n",
            "    if y:\n        return 1\n    else:\n        return x\n",
            id="raise-in-an-arm",
        ),
        pytest.param("    assert not isinstance(x, GlobalDeviceArray), x\n    return x\n", "    return x\n", id="assert-not"),
        pytest.param(
            "    if isinstance(x, GlobalDeviceArray):\n        return x.mesh\n",
            "    if isinstance(x, jax.Array) and isinstance(x.sharding, jax.sharding.NamedSharding):\n        return x.mesh\n",
            id="mesh-is-asked-for",
        ),
        pytest.param(
            "    return x.sharding.spec if isinstance(x, GlobalDeviceArray) and y else None\n",
            "    return x.sharding.spec if isinstance(x, jax.Array) and isinstance(x.sharding, jax.sharding.NamedSharding) and y else None\n",
            id="spec-in-a-conditional-expression",
        ),
    ],
)
def test_tests_that_must_not_become_wider(before: str, after: str) -> None:
    rewritten(BOTH + before, "import jax\ndef f(x, y):\n" + after, select=SELECT)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("    if not isinstance(x, GlobalDeviceArray):\n        raise ValueError\n", id="demanded"),
        pytest.param("    assert isinstance(x, GlobalDeviceArray)\n", id="asserted"),
        pytest.param(
            "    if isinstance(x, jax.Array):\n        return y\n    assert isinstance(x, GlobalDeviceArray)\n",
            id="asserted-after-a-test",
        ),
        pytest.param("    if isinstance(x, GlobalDeviceArray):\n        return y.mesh\n", id="mesh-of-another"),
    ],
)
def test_demands_become_demands_for_an_array(source: str) -> None:
    result = run(BOTH + source, select=SELECT)
    assert b"isinstance(x, jax.Array)" in result.after
    assert b"GlobalDeviceArray" not in result.after
    assert b"sharding" not in result.after
    assert b"addressable" not in result.after


def test_type_that_stands_beside_jax_array_is_safe() -> None:
    (message,) = of_isinstance("def f(x): return isinstance(x, (GlobalDeviceArray, int, jax.Array))")
    assert message.startswith("safe")


@pytest.mark.parametrize(
    ("imports", "local"),
    [
        pytest.param("from jax.numpy import DeviceArray\n", "DeviceArray", id="plain"),
        pytest.param("from jax.numpy import DeviceArray as DA\n", "DA", id="as"),
        pytest.param("from jax.interpreters import pxla\n", "pxla.ShardedDeviceArray", id="sharded"),
    ],
)
@pytest.mark.parametrize(("gda_import", "gda"), [(IMPORT, "GlobalDeviceArray"), (GDA, "GDA")])
@pytest.mark.parametrize("swapped", [False, True])
def test_beside_a_test_for_local_arrays_both_arms_stay(
    imports: str, local: str, gda_import: str, gda: str, swapped: bool
) -> None:
    first, second = (local, gda) if swapped else (gda, local)
    result = run(
        f"import jax\n{gda_import}{imports}def f(x):\n    if isinstance(x, {first}):\n        return 1\n    elif isinstance(x, {second}):\n        return 2\n",
        ignore=["sharded-device-array"],
    )
    assert b"isinstance(x, jax.Array) and not x.is_fully_addressable:" in result.after
    assert result.after.count(b"return") == 2


MULTI = {"select": SELECT, "options": {"global-device-array.isinstance": "multiprocess"}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("isinstance(x, GlobalDeviceArray)", "isinstance(x, jax.Array) and not x.is_fully_addressable", id="alone"),
        pytest.param(
            "not isinstance(x, GlobalDeviceArray)", "not (isinstance(x, jax.Array) and not x.is_fully_addressable)", id="negated"
        ),
        pytest.param(
            "isinstance(x, (GlobalDeviceArray, int))",
            "isinstance(x, int) or (isinstance(x, jax.Array) and not x.is_fully_addressable)",
            id="one-other",
        ),
        pytest.param(
            "a and isinstance(x, (int, GlobalDeviceArray, str))",
            "a and (isinstance(x, (int, str)) or (isinstance(x, jax.Array) and not x.is_fully_addressable))",
            id="two-others-under-and",
        ),
        pytest.param(
            "isinstance(self.x[0], GlobalDeviceArray)",
            "isinstance(self.x[0], jax.Array) and not self.x[0].is_fully_addressable",
            id="subscript-of-attribute",
        ),
    ],
)
def test_multiprocess(before: str, after: str) -> None:
    rewritten(f"import jax\n{IMPORT}y = {before}\n", f"import jax\ny = {after}\n", **MULTI)


def test_multiprocess_does_not_evaluate_twice() -> None:
    unchanged(
        f"import jax\n{IMPORT}y = isinstance(next(it), GlobalDeviceArray)\n",
        findings=["cannot be imported", "name first"],
        **MULTI,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("type(x) is GlobalDeviceArray", "isinstance(x, jax.Array)", id="is"),
        pytest.param("GlobalDeviceArray == type(f(x))", "isinstance(f(x), jax.Array)", id="reversed"),
        pytest.param("type(x) is not GlobalDeviceArray", "not isinstance(x, jax.Array)", id="is-not"),
        pytest.param("x.__class__ is GlobalDeviceArray", "isinstance(x, jax.Array)", id="dunder-class"),
        pytest.param("a + (type(x) != GlobalDeviceArray)", "a + (not isinstance(x, jax.Array))", id="operand"),
    ],
)
def test_type_comparison(before: str, after: str) -> None:
    rewritten(f"import jax\n{IMPORT}y = {before}\n", f"import jax\ny = {after}\n", select=SELECT)


def test_registered_handler_is_a_review() -> None:
    (message,) = of_isinstance("f.register(GlobalDeviceArray)(g)")
    assert message.startswith("review")
    assert "no tracers" in message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("get_shard_indices(s, m, p)", "jax.sharding.NamedSharding(m, p).devices_indices_map(s)", id="indices"),
        pytest.param(
            "get_shard_indices([8], m, ['x'])",
            "jax.sharding.NamedSharding(m, jax.sharding.PartitionSpec('x')).devices_indices_map((8,))",
            id="lists",
        ),
        pytest.param(
            "get_shard_indices(x.shape, m, p)[d]",
            "jax.sharding.NamedSharding(m, p).devices_indices_map(x.shape)[d]",
            id="subscripted",
        ),
        pytest.param(
            "f(get_shard_indices)",
            "f(lambda global_shape, global_mesh, mesh_axes: jax.sharding.NamedSharding(global_mesh, mesh_axes).devices_indices_map(global_shape))",
            id="value",
        ),
    ],
)
def test_layout_functions(before: str, after: str) -> None:
    head = "from jax.experimental.global_device_array import get_shard_indices\n"
    rewritten(f"import jax\n{head}y = {before}\n", f"import jax\ny = {after}\n", select=SELECT)


def test_shard_shape_says_that_it_is_stricter() -> None:
    source = "import jax\nfrom jax.experimental import global_device_array as g\ny = g.get_shard_shape(s, m, p)\n"
    assert any("evenly" in f.message and f.applicability is Applicability.REVIEW for f in findings(source, select=SELECT))


def test_old_names_of_the_module_in_annotations() -> None:
    rewritten(
        "import jax\nfrom jax.experimental import global_device_array as g\ndef f(a: g.Shape, b: 'g.Index', c: g.Device, d: g.MeshAxes): ...\n",
        "import jax\ndef f(a: tuple[int, ...], b: 'tuple[slice, ...]', c: jax.Device, d: jax.sharding.PartitionSpec): ...\n",
        select=SELECT,
    )


NEW = "isinstance(x, jax.Array) and isinstance(x.sharding, jax.sharding.NamedSharding)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("    if isinstance(x, GDA): return g(x.mesh)", f"    if {NEW}: return g(x.sharding.mesh)", id="branch"),
        pytest.param("    return x.mesh if isinstance(x, GDA) else None", f"    return x.sharding.mesh if {NEW} else None", id="conditional"),
        pytest.param("    return isinstance(x, GDA) and x.mesh_axes", f"    return {NEW} and x.sharding.spec", id="rest-of-the-condition"),
        pytest.param("    return [x.mesh for x in y if isinstance(x, GDA)]", f"    return [x.sharding.mesh for x in y if {NEW}]", id="comprehension"),
        pytest.param("    while isinstance(x, GDA): x = g(x.mesh)", f"    while {NEW}: x = g(x.sharding.mesh)", id="loop"),
        pytest.param("    if isinstance(x, GDA): return x.shape\n    return x.mesh", "    if isinstance(x, jax.Array): return x.shape\n    return x.mesh", id="mesh-of-others"),
        pytest.param("    n = not isinstance(x, GDA)\n    return x.mesh if n else 1", "    n = not isinstance(x, jax.Array)\n    return x.mesh if n else 1", id="negated-flag"),
        pytest.param("    if isinstance(x, GDA): return y.mesh", "    if isinstance(x, jax.Array): return y.mesh", id="mesh-of-another-value"),
        pytest.param(
            "    if isinstance(x, GDA):\n        def g(): return x.mesh\n        return g",
            f"    if {NEW}:\n        def g(): return x.sharding.mesh\n        return g",
            id="mesh-in-a-nested-function",
        ),
        pytest.param(
            "    if isinstance(x, GDA):\n        def g(x): return x.mesh\n        return g",
            "    if isinstance(x, jax.Array):\n        def g(x): return x.mesh\n        return g",
            id="mesh-of-a-parameter-of-that-name",
        ),
    ],
)  # fmt: skip
def test_single_device_arrays_stay_outside_where_the_mesh_is_asked_for(before: str, after: str) -> None:
    head = "import jax\ndef f(x, y, g):\n"
    text = run(GDA + head + before + "\n", select=["global-device-array", "gda-attributes"]).after.decode()
    assert text.removeprefix("from jax import Array as GDA\n").replace("GDA", "jax.Array") == head + after + "\n"


def test_single_device_arrays_leave_early_where_the_mesh_is_asked_for_afterwards() -> None:
    rewritten(
        GDA + "import jax\ndef f(x):\n    if not isinstance(x, GDA):\n        return 1\n    return x.mesh\n",
        f"import jax\ndef f(x):\n    if not ({NEW}):\n        return 1\n    return x.sharding.mesh\n",
    )
    rewritten(
        GDA + "import jax\ndef f(x):\n    old = isinstance(x, GDA)\n    return x.mesh if old else 1\n",
        f"import jax\ndef f(x):\n    old = {NEW}\n    return x.sharding.mesh if old else 1\n",
    )


def test_tracers_have_no_sharding_to_ask_for() -> None:
    source = GDA + "import jax\n@jax.jit\ndef f(x):\n    return x.mesh if isinstance(x, GDA) else x\n"
    result = run(source, select=["global-device-array", "gda-attributes"])
    assert b'isinstance(x, jax.Array) and isinstance(getattr(x, "sharding", None), jax.sharding.NamedSharding)' in result.after
    assert any("a tracer has no sharding" in f.message for f in result.findings)


@pytest.mark.parametrize(
    ("first", "kept"),
    [
        pytest.param("if isinstance(x, GDA): return x.mesh", NEW, id="mesh-is-asked-for"),
        pytest.param("if type(x) is GDA: return 1", "isinstance(x, jax.Array)", id="exact-type"),
    ],
)
def test_tests_rewritten_before_their_import_are_not_taken_for_those_of_arrays(first: str, kept: str) -> None:
    source = (
        GDA
        + f"import jax\ndef f(x, y):\n    {first}\n    if isinstance(x, GDA) or y: return 2\n    if isinstance(x, GDA): return 3\n    return 4\n"
    )
    text = run(source, select=["global-device-array", "gda-attributes"]).after.decode()
    assert f"    if {kept}: return" in text
    assert "    if isinstance(x, jax.Array) or y: return 2\n    if isinstance(x, jax.Array): return 3\n" in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("assert not isinstance(x, (GDA, str))", "assert not isinstance(x, str)", id="assertion"),
        pytest.param(
            "assert not isinstance(x, (str, GDA, int)), 'no'",
            "assert not isinstance(x, (str, int)), 'no'",
            id="assertion-of-three",
        ),
        pytest.param(
            "if isinstance(x, (GDA, str)): raise TypeError(x)", "if isinstance(x, str): raise TypeError(x)", id="branch"
        ),
    ],
)
def test_other_types_are_still_refused(before: str, after: str) -> None:
    rewritten(
        GDA + f"import jax\ndef f(x):\n    {before}\n    return x\n",
        f"import jax\ndef f(x):\n    {after}\n    return x\n",
        select=SELECT,
    )


def test_types_that_are_refused_in_a_union_are_left_to_a_human() -> None:
    source = GDA + "def f(x):\n    assert not isinstance(x, GDA | str)\n"
    unchanged(source, select=SELECT, findings=["cannot be imported", "take it out of these types"])


def test_call_in_the_head_of_a_loop_is_written_out_before_it() -> None:
    rewritten(
        "import jax\n" + GDA + "for s in f(GDA.from_batched_callback(shape, m, p, cb)):\n    g(s)\n",
        """
        import jax
        sharding = jax.sharding.NamedSharding(m, p)
        shard_indices = sharding.addressable_devices_indices_map(shape)
        shards = cb(list(shard_indices.values()))
        for s in f(jax.make_array_from_single_device_arrays(shape, sharding, [jax.device_put(s, d) for s, d in zip(shards, shard_indices)])):
            g(s)
        """,
        select=SELECT,
    )
    unchanged(GDA + "while GDA.from_batched_callback(shape, m, p, cb):\n    g(s)\n", select=SELECT, findings=2)


def test_row_for_gda_goes_where_jax_array_has_one() -> None:
    rows = "handlers = [(lambda t: issubclass(t, GDA), 1), (lambda t: issubclass(t, jax.Array), 2)]\n"
    rewritten("import jax\n" + GDA + rows, "import jax\nhandlers = [(lambda t: issubclass(t, jax.Array), 2)]\n", select=SELECT)


def test_row_for_gda_stays_where_another_old_class_has_one() -> None:
    rows = "handlers = [(lambda t: issubclass(t, GDA), 1), (lambda t: issubclass(t, DeviceArray), 2)]\n"
    after = run("import jax\nfrom jax.numpy import DeviceArray\n" + GDA + rows).after
    assert b"(lambda t: issubclass(t, jax.Array), 1)" in after


def test_exact_type_of_arrays_that_span_processes() -> None:
    rewritten(
        "import jax\n" + GDA + "y = type(x) is GDA\nz = type(x) is not GDA\n",
        "import jax\ny = isinstance(x, jax.Array) and not x.is_fully_addressable\nz = not (isinstance(x, jax.Array) and not x.is_fully_addressable)\n",
        select=SELECT,
        options={"global-device-array.isinstance": "multiprocess"},
    )


@pytest.mark.parametrize(
    "head",
    [
        "if not {}: pass",
        "with ctx({}) as x, y: pass",
        "match {}:\n    case _: pass",
        "raise E({})",
        "y = 2 * {}",
    ],
)
def test_call_that_its_statement_evaluates_first_is_written_out_before_it(head: str) -> None:
    after = run("import jax\n" + GDA + head.format("GDA.from_batched_callback(s, m, p, cb)") + "\n", select=SELECT).after.decode()
    made = "jax.make_array_from_single_device_arrays(s, sharding, [jax.device_put(s, d) for s, d in zip(shards, shard_indices)])"
    assert after.endswith("shards = cb(list(shard_indices.values()))\n" + head.format(made) + "\n")


@pytest.mark.parametrize(
    "head", ["with y, ctx({}) as x: pass", "while {}: pass", "if a:\n    pass\nelif {}:\n    pass", "if a or {}: pass"]
)
def test_call_that_may_not_be_evaluated_first_stays(head: str) -> None:
    unchanged(
        GDA + head.format("GDA.from_batched_callback(s, m, p, cb)") + "\n",
        select=SELECT,
        findings=["cannot be imported", "no successor"],
    )
