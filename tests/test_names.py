"""Names, scopes and inference: `jaxmigrate.names`, `values` and `guards`."""

from __future__ import annotations

import ast
import textwrap

import pytest

from jaxmigrate.model import ProjectIndex
from jaxmigrate.names import Source, SourceError
from tests.pack import PACK


def source(text: str, **kw: object) -> Source:
    parsed = Source(textwrap.dedent(text).encode(), facts=PACK.facts, dead=PACK.dead(), **kw)  # type: ignore[arg-type]
    parsed.embed(PACK.words)
    return parsed


def last(src: Source) -> ast.expr:
    """The expression of the last statement, wherever it is nested."""
    node: ast.AST = src.tree.body[-1]
    while not isinstance(node, (ast.Expr, ast.Return)):
        node = node.body[-1]  # type: ignore[attr-defined]
    assert node.value is not None
    return node.value


@pytest.mark.parametrize(
    ("text", "qualified"),
    [
        ("import jax.numpy as jnp\njnp.DeviceArray", "jax.numpy.DeviceArray"),
        ("import jax.numpy\njax.numpy.DeviceArray", "jax.numpy.DeviceArray"),
        ("from jax import numpy as np\nnp.DeviceArray", "jax.numpy.DeviceArray"),
        ("from jax.numpy import DeviceArray as DA\nDA", "jax.numpy.DeviceArray"),
        ("import jax\nx = jax.xla\nx.DeviceArray", "jax.xla.DeviceArray"),
        ("from jax.sharding import PartitionSpec\nP = PartitionSpec\nQ = P\nQ", "jax.sharding.PartitionSpec"),
        ("def f():\n    import jax as j\n    return j.Array", "jax.Array"),
        ("try:\n    import jax\nexcept ImportError:\n    jax = None\njax.Array", "jax.Array"),
        ("import jax\nclass A:\n    jax = 3\n    def f(self):\n        return jax.Array", "jax.Array"),
        ("import jax\n[jax.Array for x in y][0].value\njax.Array", "jax.Array"),
        ("import jax\njax: object\njax.Array", "jax.Array"),
        (
            "try:\n    from jax import sharding\nexcept ImportError:\n    from jax.experimental import sharding\nsharding.Mesh",
            "jax.sharding.Mesh",
        ),
        (
            "try:\n    from jax.experimental import sharding\nexcept ImportError:\n    from jax import sharding\nsharding.Mesh",
            "jax.sharding.Mesh",
        ),
        (
            "try:\n    from jax import Array\nexcept ImportError:\n    from jaxlib.xla_extension import DeviceArray as Array\nArray",
            "jax.Array",
        ),
    ],
)
def test_resolves(text: str, qualified: str) -> None:
    src = source(text)
    assert src.resolve(last(src)) == qualified


@pytest.mark.parametrize(
    "text",
    [
        "def f(jnp):\n    return jnp.DeviceArray",
        "import jax.numpy as jnp\ndef f(jnp):\n    return jnp.DeviceArray",
        "import jax.numpy as jnp\njnp = other()\njnp.DeviceArray",
        "import jax.numpy as jnp\ndef f():\n    for jnp in x: pass\n    return jnp.DeviceArray",
        "import jax.numpy as jnp\nlambda jnp: jnp.DeviceArray\n(lambda jnp: jnp.DeviceArray).x",
        "import jax\n[jax for jax in y]\nz.Array",
        "try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np\nexcept KeyError: pass\nnp.DeviceArray",
        "if x:\n    import jax.numpy as np\nelse:\n    import numpy as np\nnp.DeviceArray",
        "jnp.DeviceArray",
        "f().DeviceArray",
        "from jax.numpy import *\nDeviceArray",
        "import jax\ndef f():\n    global jax\n    jax = 3\njax.Array",
        "from jax import Array\ndef f():\n    try: pass\n    except E as Array: pass\n    return Array",
        "import jax\ndef f():\n    if (jax := 3): return jax.Array",
        "import jax\ndef f():\n    match x:\n        case {'a': jax}: pass\n    return jax.Array",
    ],
)
def test_does_not_resolve_what_is_shadowed_or_ambiguous(text: str) -> None:
    src = source(text)
    assert src.resolve(last(src)) is None


def test_comprehension_target_shadows_only_inside() -> None:
    src = source("import jax\n[jax.a for jax in jax.b]")
    inner, outer = [n for n in ast.walk(src.tree) if isinstance(n, ast.Attribute)]
    assert (src.resolve(inner), src.resolve(outer)) == (None, "jax.b") or (src.resolve(outer), src.resolve(inner)) == (
        None,
        "jax.b",
    )


def test_default_values_see_the_outer_scope() -> None:
    src = source("import jax\ndef f(jax=jax.Array): pass")
    attribute = next(n for n in ast.walk(src.tree) if isinstance(n, ast.Attribute))
    assert src.resolve(attribute) == "jax.Array"


def test_quoted_annotations_and_type_comments_are_found() -> None:
    src = source(
        """
        import jax.numpy as jnp
        def f(x: "jnp.DeviceArray", y: 'Optional["jnp.DeviceArray"]' = None, z: Literal["jnp.DeviceArray"] = None):
            # type: (jnp.DeviceArray, int, str) -> jnp.DeviceArray
            a = []  # type: List[jnp.DeviceArray]
            b = "# type: jnp.DeviceArray"
        """
    )
    found = sorted(n.lineno for n in src.names("jax.numpy.DeviceArray"))
    assert found == [3, 3, 4, 4, 5]
    assert all(src.segment(n) == "jnp.DeviceArray" for n in src.names("jax.numpy.DeviceArray"))


def test_positions_count_bytes_before_the_node_on_the_line() -> None:
    src = source('import jax\nx = "äöü", jax.Array')
    (node,) = src.names("jax.Array")
    assert src.segment(node) == "jax.Array"
    assert src.position(src.span(node)[0]).column == 11


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_spans_for_every_line_ending(newline: str) -> None:
    src = Source(newline.join(["import jax", "x = '''a", "b'''; y = jax.Array", ""]).encode())
    (node,) = src.names("jax.Array")
    assert src.segment(node) == "jax.Array"


@pytest.mark.parametrize(
    "text",
    ["match x:\n    case None | True: jax.Array\n    case [*a, {'k': b, **c}]: pass\n    case C(d, e=f) as g if g: pass",
     "x = {**a, 'b': jax.Array}", "global y\ndef f():\n    nonlocal_ = 1\n    def g():\n        nonlocal nonlocal_\n        return jax.Array",
     "f(*a, **b)[1:2, ::3, ...]; jax.Array", "async def f():\n    async with a as b, c: await jax.Array\n    async for d in e: yield",
     "try: pass\nexcept* E: jax.Array", "x: int = jax.Array", "f'{jax.Array!r:>{w}}'", "lambda *a, b=jax.Array, **c: (yield a)"],
)  # fmt: skip
def test_the_walk_knows_every_kind_of_node(text: str) -> None:
    src = source("import jax\n" + text)
    assert len(src.names("jax.Array")) == 1


@pytest.mark.parametrize("text", ["a = 1", "a = 1\n", "a = 1\r\nb = 2", "\n\na = 1\r"])
def test_the_end_of_the_text_is_on_its_last_line(text: str) -> None:
    src = Source(text.encode())
    end = src.position(len(text.rstrip("\r\n").encode()))
    assert end.line == src.tree.body[-1].end_lineno


def test_form_feed_is_no_line_break() -> None:
    src = Source(b"import jax\n\x0c\nx = jax.Array\n")
    assert src.segment(src.names("jax.Array")[0]) == "jax.Array"


def test_project_index_follows_a_re_export() -> None:
    index = ProjectIndex(exports={"pkg.compat": {"DeviceArray": "jax.numpy.DeviceArray"}})
    src = source("from .compat import DeviceArray\nDeviceArray", module="pkg.use", index=index)
    assert src.resolve(last(src)) == "jax.numpy.DeviceArray"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(:\n", "line 1"),
        ("class A[(T]: pass\n", "newer syntax"),
        ("print 'x'\n", "Python 2"),
        ("x = " + "(" * 3000 + ")" * 3000, "nested"),
        ("\tx = 1\n", "line 1"),
    ],
)
def test_unparsable_source_says_why(text: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        Source(text.encode())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import jax\nd = jax.devices()[0]\nd", "jax.Device"),
        ("import jax\nfor d in jax.local_devices():\n    d", "jax.Device"),
        ("import jax\nfor i, d in enumerate(jax.devices()):\n    d", "jax.Device"),
        ("import jax\ndef f(x: 'jax.Array'):\n    return x", "jax.Array"),
        ("import jax\nfrom typing import Optional\ndef f(x: Optional[jax.Array] = None):\n    return x", "jax.Array"),
        ("import jax\ndef f(x: jax.Array | None):\n    return x", "jax.Array"),
        ("import jax\ndef f(x):\n    if isinstance(x, jax.Array):\n        return x", "jax.Array"),
        ("import jax\ndef f(x):\n    assert isinstance(x, jax.Array)\n    return x", "jax.Array"),
        ("import jax.numpy as jnp\nx = jnp.zeros(3)\nx", "jax.Array"),
        ("import jax.numpy as jnp\nclass A:\n    def __init__(self):\n        self.x = jnp.zeros(3)\n    def f(self):\n        return self.x",
         "jax.Array"),
        ("import jax\nm = {i: d for i, d in enumerate(jax.devices())}\nm[0]", "jax.Device"),
        ("import jax\nm = {'a': jax.devices()[0]}\nfor k, v in m.items():\n    v", "jax.Device"),
        ("import jax\nfrom typing import Dict\ndef f(m: Dict[str, jax.Array]):\n    return m['a']", "jax.Array"),
        ("m = {}\nm['a']", None),
        ("m = [f(), 1]\nm[0]", None),
        ("x = 'a'.upper()\nx", "?other"),
        ("import jax.numpy as jnp\ndef f(x):\n    x = jnp.asarray(x)\n    return x", "jax.Array"),
        ("import jax.numpy as jnp\ndef f(x):\n    if c:\n        x = jnp.asarray(x)\n    return x", None),
        ("import jax.numpy as jnp\ndef f(x):\n    x = jnp.asarray(x)\n    for i in y:\n        x = g(x)\n    return x", None),
        ("import jax.numpy as jnp\ndef f(x):\n    for i in y:\n        x = jnp.asarray(x)\n        h(x)\n        x = g(x)\n    return i", None),
        ("import jax.numpy as jnp\ndef f(x):\n    x = jnp.asarray(x)\n    def g():\n        return x\n    x = 3\n    return g", "?other"),
        ("import jax.numpy as jnp\ndef f(x):\n    x = jnp.asarray(x)\n    def g():\n        nonlocal x\n        x = 3\n    g()\n    return x", None),
        ("x = 'a'\nx", "builtins.str"),
        ("import torch\nx = torch.zeros(3)\nx", "?other"),
        ("import torch\nx = torch.zeros(3).view(1)\nx", "?other"),
        ("class A: pass\nx = A()\nx", "?other"),
        ("def f(x):\n    return x", None),
        ("import jax\nx = jax.devices()[0] if a else other\nx", None),
        ("import jax\nx = jax.devices()[0]\nx = other()\nx", None),
        ("import jax\nx = None\nx = jax.devices()[0]\nx", "jax.Device"),
    ],
)  # fmt: skip
def test_infers(text: str, kind: str | None) -> None:
    src = source(text)
    assert src.infer(last(src)) == kind


@pytest.mark.parametrize(
    ("text", "count", "complete"),
    [
        ("import jax\ng = jax.jit(f)\ng(1)\ng(2)", 2, True),
        ("import jax\njax.jit(f)(1)", 1, True),
        ("import jax\ng = jax.jit(f)\nh = g\nh(1)", 1, True),
        ("import jax\n@jax.jit(static=1)\ndef g(x): pass\ng(1)", 1, True),
        (
            "import jax\nclass A:\n    def __init__(self):\n        self.g = jax.jit(f)\n    def r(self):\n        return self.g(1)",
            1,
            True,
        ),
        ("import jax\ng = jax.jit(f)\nreturned(g)", 0, False),
        ("import jax\ng = jax.jit(f)\nd = {'g': g}", 0, False),
        ("import jax\ndef m():\n    return jax.jit(f)", 0, False),
        ("import jax\ng = jax.jit(f)\ng = jax.jit(h)\ng(1)", 1, False),
    ],
)
def test_callers(text: str, count: int, complete: bool) -> None:
    src = source(text)
    maker = src.calls("jax.jit")[0]
    calls, whole = src.callers(maker)
    assert (len(calls), whole) == (count, complete)


@pytest.mark.parametrize(
    "text",
    [
        "import jax\n@jax.jit\ndef f(x):\n    return x",
        "import jax, functools\n@functools.partial(jax.jit, static_argnums=0)\ndef f(x):\n    return x",
        "import jax\ndef f(x):\n    return x\njax.vmap(f)(1)\ndef g():\n    return 1",
        "import jax\ndef f(x):\n    y = isinstance(x, jax.core.Tracer)\n    return y",
    ],
)
def test_tracing_evidence(text: str) -> None:
    src = source(text)
    function = next(n for n in src.tree.body if isinstance(n, ast.FunctionDef))
    assert src.tracing_evidence(function.body[-1])


@pytest.mark.parametrize(
    "text",
    [
        "import jax\ndef helper(x):\n    return x\ndef loss(p):\n    return helper(p)\ng = jax.grad(loss)",
        "import jax\ndef helper(x):\n    return other(x)\ndef other(x):\n    return helper(x)\nf = jax.jit(lambda x: helper(x))",
        "import jax\nclass A:\n    def h(self, x):\n        return x\n    @jax.jit\n    def f(self, x):\n        return self.h(x)",
        "import flax.linen as nn\nclass A(nn.Module):\n    def __call__(self, x):\n        return x",
    ],
)
def test_tracing_evidence_through_calls_and_classes(text: str) -> None:
    src = source(text)
    function = next(n for n in ast.walk(src.tree) if isinstance(n, ast.FunctionDef))
    assert src.tracing_evidence(function.body[-1])


def test_a_function_called_beside_jitted_code_is_not_traced() -> None:
    src = source("import jax\ndef f(x):\n    return x\ng = jax.jit(h)\nf(g(1))\ndef k():\n    return f(2)")
    function = next(n for n in ast.walk(src.tree) if isinstance(n, ast.FunctionDef))
    assert not src.tracing_evidence(function.body[-1])


def test_no_tracing_evidence_in_a_plain_function() -> None:
    src = source("import jax\ndef f(x):\n    return jax.jit(g)(x)\ndef g(x): pass")
    assert not src.tracing_evidence(src.tree.body[1].body[0])  # type: ignore[attr-defined]


GUARDED = [
    "try:\n    from jax import Array\nexcept ImportError:\n    from jax.numpy import DeviceArray as Array",
    "try:\n    from jax.numpy import DeviceArray\nexcept ImportError:\n    from jax import Array as DeviceArray",
    "import jax.numpy as jnp, jax\nif hasattr(jax, 'Array'):\n    T = jax.Array\nelse:\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif not hasattr(jax, 'Array'):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp\nT = jnp.DeviceArray if hasattr(jnp, 'DeviceArray') else None",
    "import jax.numpy as jnp\nT = x.addressable_shards if hasattr(x, 'addressable_shards') else jnp.DeviceArray",
    "import jax.numpy as jnp\nT = hasattr(jnp, 'DeviceArray') and jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif jax.__version__ < '0.4':\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nV = tuple(map(int, jax.__version__.split('.')))\nif V < (0, 4):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nfrom packaging import version\nif version.parse(jax.__version__) < version.parse('0.4'):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif jax.__version_info__ >= (0, 4):\n    T = jax.Array\nelse:\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif (0, 3) < jax.__version_info__ < (0, 4):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif not Version('0.4') <= Version(jax.__version__):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif new(jax.__version__):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\ndef f():\n    if hasattr(jax, 'Array'):\n        return jax.Array\n    return jnp.DeviceArray",
    "import jax.numpy as jnp, jax\ndef f():\n    try:\n        return jax.Array\n    except AttributeError:\n        pass\n    return jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nOLD = not hasattr(jax, 'Array')\nif OLD:\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\ntry:\n    T = jax.Array\nexcept AttributeError:\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp\nif hasattr(aval, 'to_tangent_aval'):\n    T = f\nelse:\n    T = jnp.DeviceArray",
]
GUARDED_CALLS = "import jax\ntry:\n    f = jax.jit(g, in_shardings=1)\nexcept TypeError:\n    f = jax.jit(g, in_axis_resources=1)"
UNGUARDED = [
    "import jax.numpy as jnp, jax\nif jax.__version__ >= '0.3':\n    T = jnp.DeviceArray",
    "try:\n    from jax.numpy import DeviceArray\nexcept ImportError:\n    DeviceArray = None",
    "try:\n    from jax.numpy import DeviceArray\nexcept ImportError:\n    pass",
    "try:\n    from jax.numpy import DeviceArray\nexcept ImportError:\n    HAS = False",
    "try:\n    from jax.numpy import DeviceArray\nexcept ImportError:\n    from jax.interpreters.xla import DeviceArray",
    "import jax.numpy as jnp, jax\nif hasattr(jax, 'Array'):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp\nif hasattr(device, 'coords'):\n    T = 1\nelse:\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp\nimport torch\nif not hasattr(torch, 'dynamo'):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp\ndef f(device):\n    if hasattr(device, 'coords'):\n        return 1\n    return jnp.DeviceArray",
    "import jax.numpy as jnp, jax\ndef f():\n    if hasattr(jax, 'Array'):\n        print()\n    return jnp.DeviceArray",
    "import jax.numpy as jnp, jax\ndef f():\n    if x:\n        return jax.Array\n    return jnp.DeviceArray",
    "import jax.numpy as jnp\nif x:\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif jax.__version_info__ >= (0, 3):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nV = jax.__version_info__ if hasattr(jax, '__version_info__') else "
    "tuple(map(int, jax.__version__.split('.')))\nif V >= (0, 3):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nfrom packaging.version import parse as V\nif V('0.3') < V(jax.__version__):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif Version('0.3') <= Version(jax.__version__):\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, jax\nif parse(jax.__version__) < parse('0.3'):\n    T = 1\nelse:\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp, torch\nif torch.__version__ < '2':\n    T = jnp.DeviceArray",
    "import jax.numpy as jnp\ntry:\n    T = jnp.DeviceArray\nexcept KeyError:\n    T = 3",
]


def _guards(text: str) -> list[str]:
    src = source(text)
    nodes: list[ast.AST] = list(src.names("jax.numpy.DeviceArray"))
    nodes += [s for s in src.imports if any(a.name == "DeviceArray" for a in s.names)]
    assert nodes
    return [src.guard(n) for n in nodes]


@pytest.mark.parametrize("text", GUARDED)
def test_guarded(text: str) -> None:
    assert all(_guards(text))


def test_type_error_guards_an_old_keyword() -> None:
    src = Source(GUARDED_CALLS.encode(), facts=PACK.facts, dead_members=PACK.dead_members())
    new, old = src.calls("jax.jit")
    assert src.guard(old)
    assert not src.guard(new)


@pytest.mark.parametrize("text", UNGUARDED)
def test_not_guarded(text: str) -> None:
    assert not _guards(text)[0]


@pytest.mark.parametrize(
    ("text", "direct"),
    [
        ("import jax\nnp = jax.numpy\nnp.product", True),
        ("import jax\nlib = jax.lib\nlib.xla_bridge.get_backend", True),
        ("import jax\nT = jax.numpy.product\nT", False),
        ("import jax\nm = jax.experimental.maps\nm.Mesh", False),
        ("import jax\nA = jax.Array\nA.device_buffer", False),
    ],
)
def test_what_is_read_from_a_module_that_stays_is_direct(text: str, direct: bool) -> None:
    src = source(text)
    last = src.tree.body[-1]
    assert isinstance(last, ast.Expr)
    found = src.resolved(last.value)
    assert found is not None
    assert found.direct is direct


def test_a_quoted_type_alias_is_looked_into() -> None:
    src = source("import jax, typing\nA: typing.TypeAlias = 'jax.core.Jaxpr'\nB: str = 'jax.core.Var'")
    assert src.names("jax.core.Jaxpr")
    assert not src.names("jax.core.Var")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("from jax import core\ncore = core.Primitive\ncore", "jax.core.Primitive"),
        ("from jax import core\ncore = core.Primitive('a')\ncore", None),
        ("import jax.numpy as np\nimport numpy as np\nnp", "numpy"),
        ("import numpy as np\nimport jax.numpy as np\nnp", "jax.numpy"),
        ("import jax.numpy as np\nnp\nimport numpy as np\ndef f():\n    np\nnp", "numpy"),
        ("import jax.numpy as np\nif x:\n    import numpy as np\nnp", None),
        ("import jax.numpy as np\nfor np in x:\n    pass\nnp", None),
        ("import jax.numpy as np\ndef f():\n    global np\n    np = 1\nnp", None),
    ],
    ids=["itself", "what_it_made", "later", "later_jax", "between", "in_an_arm", "in_a_loop", "global_of_a_function"],
)
def test_of_bindings_in_a_row_the_last_one_counts(text: str, meant: str | None) -> None:
    last = (src := source(text)).tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert src.resolve(last.value) == meant


def test_a_rebinding_reads_what_was_imported_before() -> None:
    assert source("from jax import core\ncore = core.Primitive('a')").names("jax.core.Primitive")


def test_a_function_that_may_be_called_between_two_bindings_tells_nothing() -> None:
    src = source("from jax import core\ndef f():\n    return core.Primitive\nf()\ncore = 1\ncore")
    assert not src.names("jax.core.Primitive")
