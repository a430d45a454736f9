"""device-array: above all, what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import findings, rewritten, run, unchanged

SELECT = {"select": "device-array"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("class DeviceArray: pass\ndef f(x):\n    return isinstance(x, DeviceArray)\n", id="own-class"),
        pytest.param("from jaxtyping import Array\ndef f(x: Array): return x\n", id="jaxtyping-array"),
        pytest.param(
            "from mypkg.types import DeviceArray\ndef f(x: DeviceArray): return x\n", id="another-package-exports-the-name"
        ),
        pytest.param("from .types import DeviceArray\ndef f(x: DeviceArray): return x\n", id="relative-import-of-unknown-origin"),
        pytest.param("import mylib as jnp\nprint(isinstance(1, jnp.DeviceArray))\n", id="jnp-is-another-library"),
        pytest.param("import jax\ndef f(jnp):\n    return jnp.DeviceArray\n", id="parameter-called-jnp"),
        pytest.param(
            "import jax.numpy as jnp\ndef f(x):\n    jnp = x.backend\n    return isinstance(x, jnp.DeviceArray)\n",
            id="local-variable-called-jnp",
        ),
        pytest.param(
            "try:\n    from jax import Array\nexcept ImportError:\n    from jaxlib.xla_extension import DeviceArray as Array\n"
            "def f(x: Array): return x\n",
            id="successor-is-tried-first",
        ),
        pytest.param(
            "import jax\nimport jax.numpy as jnp\nArray = jax.Array if hasattr(jax, 'Array') else jnp.DeviceArray\n",
            id="hasattr-chooses",
        ),
        pytest.param(
            "import jax\nimport jax.numpy as jnp\nif jax.__version_info__ < (0, 4, 7):\n    Array = jnp.DeviceArray\nelse:\n    Array = jax.Array\n",
            id="version-chooses",
        ),
        pytest.param('import jax\ndef f(x):\n    """Takes a jnp.DeviceArray."""\n    return x\n', id="docstring"),
        pytest.param("import jax\n# a jnp.DeviceArray comes in here\nx = 1  # DeviceArray\n", id="comment"),
        pytest.param("import jax\nraise TypeError('expected a DeviceArray, not a list')\n", id="error-message"),
        pytest.param("import jax\nassert repr(f(1)) == 'DeviceArray(1, dtype=int32)'\n", id="expected-repr"),
        pytest.param("import jax\nx = f'got {1} DeviceArray'\n", id="f-string"),
        pytest.param("from typing import Literal\nimport jax\nkind: Literal['DeviceArray'] = 'DeviceArray'\n", id="literal-type"),
        pytest.param("import jax\nroles = {'DeviceArray': 'py:class'}\nprint(roles['DeviceArray'])\n", id="string-keys"),
        pytest.param("import jax\nconfigure(DeviceArray=True)\n", id="keyword-argument"),
        pytest.param("import jax\ndef f(x):\n    return isinstance(x, jax.Array)\n", id="already-migrated"),
        pytest.param("import jax\ndef f(x):\n    return type(x).__name__ == 'ArrayImpl'\n", id="name-of-the-new-class"),
        pytest.param("import jax\nfrom replay import Buffer\ndef f(b: Buffer): return b\n", id="own-buffer"),
        pytest.param("import jax\nfrom hardware import Device\ndef f(d: Device): return d\n", id="own-device"),
        pytest.param("from mylib import xla\nprint(xla.Buffer, xla.Device, xla.DeviceArray)\n", id="own-module-called-xla"),
        pytest.param("import jax\nclass Table:\n    DeviceArray = 1\nprint(Table.DeviceArray)\n", id="own-class-attribute"),
        pytest.param("import jax\nx.DeviceArray = 3\n", id="attribute-of-a-value"),
        pytest.param(
            "import jax.numpy as jnp\ndef f(x):\n    return isinstance(x, jnp.DeviceArray)  # jaxmigrate: ignore[device-array]\n",
            id="suppressed",
        ),
        pytest.param("# jaxmigrate: skip-file\nimport jax.numpy as jnp\nArray = jnp.DeviceArray\n", id="skipped-file"),
        pytest.param("from numba.cuda.cudadrv.devicearray import DeviceNDArray\nimport jax\n", id="numba-device-array"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("import jax.numpy as jnp\nclass A(jnp.DeviceArray): pass\n", ["subclass"], id="base-class"),
        pytest.param(
            "from jax.interpreters import xla\nx = xla._DeviceArray(aval, d, b)\n", ["no constructor"], id="constructor-call"
        ),
        pytest.param("import jax.numpy as jnp\nsetattr(jnp.DeviceArray, 'f', g)\n", ["do not reach"], id="monkeypatching"),
        pytest.param("import copyreg, jax\ncopyreg.pickle(jax.numpy.DeviceArray, f)\n", ["exact class"], id="copyreg"),
        pytest.param("import jax.numpy as jnp\njnp.DeviceArray = list\n", ["assigned to"], id="assignment-to-the-class"),
        pytest.param(
            "import jax\nimport jax.numpy as jnp\njax.tree_util.register_pytree_node(jnp.DeviceArray, f, g)\n",
            ["exact class"],
            id="pytree-registration",
        ),
        pytest.param(
            "from jax.interpreters import pxla\nimport jax.numpy as jnp\npxla.shard_arg_handlers[jnp.DeviceArray] = f\n",
            ["JAX's own table"],
            id="handler-table-of-jax",
        ),
        pytest.param(
            "import jax.numpy as jnp\nH = {jnp.DeviceArray: 1}\nprint(H[type(load())])\n",
            ["looked up by type(x)"],
            id="lookup-of-a-call",
        ),
        pytest.param(
            "import jax.numpy as jnp\nprint(type(load()) in (int, jnp.DeviceArray))\n",
            ["beside the other classes"],
            id="type-of-a-call",
        ),
        pytest.param(
            "import jax.numpy as jnp\nprint(type(a) == type(b) == jnp.DeviceArray)\n", ["use isinstance"], id="chained-comparison"
        ),
        pytest.param(
            "import operator, jax.numpy as jnp\nok = operator.is_(type(x), jnp.DeviceArray)\n",
            ["test isinstance"],
            id="operator-is",
        ),
        pytest.param(
            "import jax\nfrom jax.interpreters import xla\nH = {xla.DeviceArray: 1, xla._DeviceArray: 2}\n"
            "print(isinstance(x, tuple(H)))  # jaxmigrate: ignore\n",
            ["their rows differ", "their rows differ"],
            id="two-old-keys-with-different-values",
        ),
        pytest.param("import jax\nprint(type(x).__name__ == 'DeviceArray')\n", ["called ArrayImpl"], id="comparison-of-the-name"),
        pytest.param(
            "import jax\nprint(x.__class__.__name__.endswith('DeviceArray'))\n", ["called ArrayImpl"], id="end-of-the-name"
        ),
        pytest.param("import jax\nprint('DeviceArray' in str(type(x)))\n", ["called ArrayImpl"], id="name-in-the-text-of-a-type"),
        pytest.param(
            "from jax._src import device_array\nfor t in device_array.device_array_types: print(t)\n",
            ["cannot be imported", "the list of array classes is gone"],
            id="loop-over-the-classes",
        ),
        pytest.param(
            "from jax._src.device_array import something, DeviceArray\nclass A(DeviceArray): something()\n",
            ["cannot be imported", "cannot be imported", "subclass"],
            id="unknown-name-of-a-gone-module",
        ),
        pytest.param("from jax.numpy import *\ndef f(x: DeviceArray): return x\n", ["star import"], id="star-import"),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged(source, findings=expected, **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("isinstance(x, jnp.DeviceArray)", "isinstance(x, jax.Array)", id="isinstance"),
        pytest.param("isinstance(x, (jnp.DeviceArray,))", "isinstance(x, (jax.Array,))", id="tuple-of-one"),
        pytest.param(
            "isinstance(x, (int, jnp.DeviceArray, float))", "isinstance(x, (int, jax.Array, float))", id="middle-of-a-tuple"
        ),
        pytest.param("isinstance(x, (jax.Array, jnp.DeviceArray))", "isinstance(x, jax.Array)", id="duplicate-collapses"),
        pytest.param(
            "isinstance(x, (jnp.ndarray, jnp.DeviceArray))", "isinstance(x, jnp.ndarray)", id="jnp-ndarray-is-jax-array"
        ),
        pytest.param("isinstance(x, int | jnp.DeviceArray)", "isinstance(x, int | jax.Array)", id="union-operator"),
        pytest.param("issubclass(t, jnp.DeviceArray)", "issubclass(t, jax.Array)", id="issubclass"),
        pytest.param("typing.cast(jnp.DeviceArray, x)", "typing.cast(jax.Array, x)", id="cast"),
        pytest.param("self.assertNotIsInstance(x, jnp.DeviceArray)", "self.assertNotIsInstance(x, jax.Array)", id="assert-not"),
        pytest.param("type(x) is jnp.DeviceArray", "isinstance(x, jax.Array)", id="type-is"),
        pytest.param("jnp.DeviceArray == type(x)", "isinstance(x, jax.Array)", id="class-on-the-left"),
        pytest.param("self.assertEqual(type(x), jnp.DeviceArray)", "self.assertIsInstance(x, jax.Array)", id="assert-equal-type"),
        pytest.param("self.assertIs(type(x), jnp.DeviceArray, m)", "self.assertIsInstance(x, jax.Array, m)", id="assert-is-type"),
        pytest.param(
            "self.assertIsNot(type(x), jnp.DeviceArray)", "self.assertNotIsInstance(x, jax.Array)", id="assert-is-not-type"
        ),
        pytest.param("x.__class__ is jnp.DeviceArray", "isinstance(x, jax.Array)", id="dunder-class"),
        pytest.param("type(x) is not jnp.DeviceArray", "not isinstance(x, jax.Array)", id="type-is-not"),
        pytest.param("type(f(x)) is jnp.DeviceArray", "isinstance(f(x), jax.Array)", id="type-of-a-call-once"),
        pytest.param("type(x) in (jnp.DeviceArray, np.ndarray)", "isinstance(x, (np.ndarray, jax.Array))", id="type-in"),
        pytest.param("type(x) not in [jnp.DeviceArray]", "not isinstance(x, jax.Array)", id="type-not-in"),
        pytest.param(
            "type(x) in {bool, jnp.DeviceArray}",
            "type(x) in {bool} or isinstance(x, jax.Array)",
            id="exact-neighbours-stay-exact",
        ),
        pytest.param(
            "y = -1 if type(x) in (int, jnp.DeviceArray) and x else 0",
            "y = -1 if (type(x) in (int,) or isinstance(x, jax.Array)) and x else 0",
            id="or-gets-parentheses-under-and",
        ),
        pytest.param("type(x) in (xla.DeviceArray, xla._DeviceArray)", "isinstance(x, jax.Array)", id="two-names-of-one-class"),
        pytest.param("add = jnp.DeviceArray.__add__", "add = type(jnp.zeros(())).__add__", id="method-of-the-class"),
        pytest.param("getattr(jnp.DeviceArray, n)", "getattr(type(jnp.zeros(())), n)", id="getattr-on-the-class"),
        pytest.param("inspect.getmembers(jnp.DeviceArray)", "inspect.getmembers(type(jnp.zeros(())))", id="members-of-the-class"),
        pytest.param("getattr(jnp, 'DeviceArray')", "jax.Array", id="getattr-on-the-module"),
        pytest.param("x: 'jnp.DeviceArray' = 1", "x: 'jax.Array' = 1", id="quoted-annotation"),
    ],
)
def test_uses(before: str, after: str) -> None:
    head = "import jax\nimport jax.numpy as jnp\nimport numpy as np\nimport typing\nfrom jax.interpreters import xla\n"
    tail = "\nprint(jnp.ones, xla.canonicalize_dtype_handlers)\n"
    rewritten(head + before + tail, head + after + tail, **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from jax.numpy import DeviceArray, ones\ndef f(x: DeviceArray): return ones(x)\n",
            "import jax\nfrom jax.numpy import ones\ndef f(x: jax.Array): return ones(x)\n",
            id="one-of-two-names",
        ),
        pytest.param(
            "from jaxlib.xla_extension import DeviceArray as Arr\ndef f(x: Arr): return x\n",
            "from jax import Array as Arr\ndef f(x: Arr): return x\n",
            id="alias-keeps-its-name",
        ),
        pytest.param(
            "import jax\ndef f():\n    from jax.numpy import DeviceArray\n    return DeviceArray\n",
            "import jax\ndef f():\n    return jax.Array\n",
            id="function-local-import-goes",
        ),
        pytest.param(
            "import jax.numpy as np\ndef f(x: np.DeviceArray = None): return np.sin(x)\n",
            "import jax\nimport jax.numpy as np\ndef f(x: jax.Array = None): return np.sin(x)\n",
            id="np-is-jax-numpy",
        ),
    ],
)
def test_imports(before: str, after: str) -> None:
    rewritten(before, after, **SELECT)


def test_isinstance_under_jit_is_for_review_and_says_why() -> None:
    source = "import jax\nimport jax.numpy as jnp\n@jax.jit\ndef f(x):\n    return x if isinstance(x, jnp.DeviceArray) else 0\n"
    (finding,) = findings(source, **SELECT)
    assert str(finding.applicability) == "review"
    assert "f is decorated with jax.jit" in finding.message


def test_isinstance_beside_tracers_is_for_review() -> None:
    source = "import jax\nfrom jax.core import Tracer\ndef f(x):\n    return isinstance(x, (jax.numpy.DeviceArray, Tracer))\n"
    (finding,) = findings(source, **SELECT)
    assert str(finding.applicability) == "review"
    assert "mentions Tracer" in finding.message


def test_an_else_branch_for_traced_values_is_seen_in_its_comment() -> None:
    source = """
    import jax.numpy as jnp
    def f(x):
        if isinstance(x, jnp.DeviceArray):
            return float(x)
        else:  # traced
            return x
    """
    (finding,) = findings(source, **SELECT)
    assert str(finding.applicability) == "review"
    assert "speaks of 'traced'" in finding.message


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def is_traced(x): return not isinstance(x, jax.numpy.DeviceArray)", id="the-name-says-so"),
        pytest.param("if not isinstance(x, jax.numpy.DeviceArray): raise TypeError", id="negated"),
        pytest.param(
            "def helper(x): return float(x) if isinstance(x, jax.numpy.DeviceArray) else x\n"
            "def loss(p): return helper(p)\ng = jax.grad(loss)",
            id="called-by-a-differentiated-function",
        ),
        pytest.param(
            "class M:\n    def h(self, x): return isinstance(x, jax.numpy.DeviceArray)\n    @jax.jit\n    def f(self, x): return self.h(x)",
            id="method-called-by-a-jitted-method",
        ),
        pytest.param(
            "from flax import linen as nn\nclass M(nn.Module):\n    def __call__(self, x):\n"
            "        return x if isinstance(x, jax.numpy.DeviceArray) else 0",
            id="method-of-a-flax-module",
        ),
    ],
)
def test_isinstance_that_tracers_may_reach_is_for_review(source: str) -> None:
    (finding,) = findings("import jax\n" + source + "\n", **SELECT)
    assert str(finding.applicability) == "review"


def test_an_arm_for_another_class_that_became_jax_array_keeps_the_old_one() -> None:
    before = """
    import jax
    from jax.numpy import DeviceArray
    from jax.experimental.global_device_array import GlobalDeviceArray as GDA
    def f(x):
        if isinstance(x, DeviceArray):
            return 1
        elif isinstance(x, GDA):
            return 2
    """
    result = run(before)
    assert b"return 1" in result.after


def test_a_later_arm_for_jnp_ndarray_was_that_of_tracers() -> None:
    source = """
    import jax.numpy as jnp
    def f(x):
        if isinstance(x, jnp.DeviceArray):
            return float(x)
        elif isinstance(x, jnp.ndarray):
            return x
    """
    (finding,) = findings(source, **SELECT)
    assert str(finding.applicability) == "review"
    assert "the arm for jnp.ndarray in line" in finding.message


def test_an_arm_for_jax_array_above_changes_nothing() -> None:
    rewritten(
        """
        import jax
        import jax.numpy as jnp
        def f(x):
            if isinstance(x, jax.Array):
                return 1
            elif isinstance(x, jnp.DeviceArray):
                return 2
        """,
        """
        import jax
        def f(x):
            if isinstance(x, jax.Array):
                return 1
            elif isinstance(x, jax.Array):
                return 2
        """,
        **SELECT,
    )


def test_an_arm_for_jax_array_of_another_value_changes_nothing() -> None:
    rewritten(
        """
        import jax
        def f(x, y):
            if isinstance(x, jax.numpy.DeviceArray):
                return 1
            elif isinstance(y, jax.Array):
                return 2
        """,
        """
        import jax
        def f(x, y):
            if isinstance(x, jax.Array):
                return 1
            elif isinstance(y, jax.Array):
                return 2
        """,
        **SELECT,
    )


def test_table_that_has_a_key_for_jax_array_loses_the_old_one() -> None:
    rewritten(
        """
        import jax
        H = {int: 1, jax.numpy.DeviceArray: 2, jax.Array: 3}
        K = {jax.Array: 3, jax.xla.DeviceArray: 2}
        """,
        """
        import jax
        H = {int: 1, jax.Array: 3}
        K = {jax.Array: 3}
        """,
        **SELECT,
    )


def test_two_old_keys_with_one_value_become_one() -> None:
    rewritten(
        """
        import jax
        from jax.interpreters import xla
        H = {xla.DeviceArray: f, xla._DeviceArray: f}
        K = {}
        K[xla._DeviceArray] = f
        K[xla._CppDeviceArray] = f
        """,
        """
        import jax
        H = {jax.Array: f}
        K = {}
        K[jax.Array] = f
        """,
        **SELECT,
    )


def test_tests_in_a_tuple_that_is_unpacked_are_no_rows() -> None:
    rewritten(
        "import jax\na, b = isinstance(x, jax.numpy.DeviceArray), isinstance(x, jax.Array)\n",
        "import jax\na, b = isinstance(x, jax.Array), isinstance(x, jax.Array)\n",
        **SELECT,
    )


def test_statements_between_two_tests_keep_the_first() -> None:
    rewritten(
        """
        import jax
        def f(x):
            if isinstance(x, jax.numpy.DeviceArray):
                return 1
            x = convert(x)
            if isinstance(x, jax.Array):
                return 2
        """,
        """
        import jax
        def f(x):
            if isinstance(x, jax.Array):
                return 1
            x = convert(x)
            if isinstance(x, jax.Array):
                return 2
        """,
        **SELECT,
    )


def test_alias_that_a_jitted_function_tests_with_is_for_review() -> None:
    source = "import jax\nArray = jax.numpy.DeviceArray\n@jax.jit\ndef f(x):\n    return x if isinstance(x, Array) else 0\n"
    (finding,) = findings(source, **SELECT)
    assert str(finding.applicability) == "review"
    assert "(line 5)" in finding.message


def test_table_filled_by_statements_loses_the_old_one() -> None:
    rewritten(
        """
        import jax
        H = {}
        H[jax.Array] = 1
        H[jax.numpy.DeviceArray] = 2
        """,
        """
        import jax
        H = {}
        H[jax.Array] = 1
        """,
        **SELECT,
    )


def test_dispatcher_that_knows_jax_array_is_left_to_a_human() -> None:
    source = (
        "import functools, jax\n@functools.singledispatch\ndef f(x): pass\n"
        "@f.register(jax.Array)\ndef _(x): return 1\n@f.register(jax.numpy.DeviceArray)\ndef _(x): return 2\n"
    )
    unchanged(source, findings=["take this registration out"], **SELECT)


def test_negated_assertions_are_for_review() -> None:
    source = "import jax\nclass T:\n    def test(self):\n        self.assertNotIsInstance(x, jax.numpy.DeviceArray)\n"
    (finding,) = findings(source, **SELECT)
    assert str(finding.applicability) == "review"


def test_match_under_jit_is_for_review() -> None:
    source = "import jax\n@jax.jit\ndef f(x):\n    match x:\n        case jax.numpy.DeviceArray():\n            return 1\n"
    (finding,) = findings(source, **SELECT)
    assert str(finding.applicability) == "review"


def test_isinstance_elsewhere_is_safe() -> None:
    source = "import jax.numpy as jnp\ndef f(x):\n    return isinstance(x, jnp.DeviceArray)\n"
    (finding,) = findings(source, allowed="safe", **SELECT)
    assert str(finding.applicability) == "safe"
    assert str(finding.outcome.value) == "applied"


def test_annotations_under_jit_are_safe() -> None:
    source = "import jax\nimport jax.numpy as jnp\n@jax.jit\ndef f(x: jnp.DeviceArray):\n    return x\n"
    (finding,) = findings(source, **SELECT)
    assert str(finding.applicability) == "safe"


@pytest.mark.parametrize(("target", "applicability"), [("0.4.13", "review"), ("0.8.2", "safe")])
def test_register_for_jax_where_tracers_dispatch_on_arrays(target: str, applicability: str) -> None:
    source = "import functools\nimport jax.numpy as jnp\n@functools.singledispatch\ndef f(x): pass\n@f.register(jnp.DeviceArray)\ndef _(x): pass\n"
    (finding,) = findings(source, target=target, **SELECT)
    assert str(finding.applicability) == applicability


def test_target_0_4_13_gets_the_same_class() -> None:
    rewritten(
        "import jax\nimport jax.numpy as jnp\nx: jnp.DeviceArray\n", "import jax\nx: jax.Array\n", target="0.4.13", **SELECT
    )


def test_lookup_by_type_is_taught_only_for_the_same_table() -> None:
    rewritten(
        """
        import jax
        import jax.numpy as jnp
        A = {jnp.DeviceArray: 1}
        B = {int: 2}
        def f(x):
            return A.get(type(x)), B.get(type(x)), A[x.__class__]
        """,
        """
        import jax
        A = {jax.Array: 1}
        B = {int: 2}
        def f(x):
            return A.get(jax.Array if isinstance(x, jax.Array) else type(x)), B.get(type(x)), A[jax.Array if isinstance(x, jax.Array) else x.__class__]
        """,
        **SELECT,
    )


def test_comment_in_a_tuple_survives() -> None:
    rewritten(
        """
        import jax
        import jax.numpy as jnp
        TYPES = (
            jnp.DeviceArray,  # what jax makes
            float,
        )
        """,
        """
        import jax
        TYPES = (
            jax.Array,  # what jax makes
            float,
        )
        """,
        **SELECT,
    )


@pytest.mark.parametrize("module", ["jax.lib", "jaxlib"])
def test_import_of_a_module_that_is_gone_is_reported_though_its_uses_are_guarded(module: str) -> None:
    source = f"from {module} import xla_extension\nARRAY = getattr(xla_extension, 'DeviceArray', None)\n"
    unchanged(source, findings=["xla_extension cannot be imported any more"], **SELECT)


def test_import_of_a_module_that_is_gone_goes_with_its_last_use() -> None:
    rewritten(
        "from jax.lib import xla_extension\ndef f(x: xla_extension.DeviceArray): return x\n",
        "import jax\ndef f(x: jax.Array): return x\n",
        **SELECT,
    )


def test_import_of_a_module_that_is_gone_under_its_other_name() -> None:
    source = "import jaxlib.xla_extension as xe\nARRAY = xe.DeviceArray if hasattr(xe, 'DeviceArray') else None\n"
    unchanged(source, findings=["jaxlib.xla_extension cannot be imported any more"], **SELECT)


def test_import_that_expects_the_module_to_be_gone_is_not_reported() -> None:
    source = (
        "try:\n    from jax.lib import xla_extension\nexcept ImportError:\n    xla_extension = None\n"
        "ARRAY = getattr(xla_extension, 'DeviceArray', None)\n"
    )
    unchanged(source, **SELECT)
