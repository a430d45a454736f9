"""index-update: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Applicability
from jaxmigrate.testing import applied, rewritten, run, unchanged

NAME = "index-update"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("x = x.at[0].set(1)\n", id="present-form"),
        pytest.param("from jax.ops import segment_sum\ny = segment_sum(x, i)\n", id="function-of-jax-ops-that-stays"),
        pytest.param("import jax\ny = jax.ops.segment_max(x, i)\n", id="segment-max-stays"),
        pytest.param("import torch\ny = torch.index_add(x, 0, i, v)\n", id="function-of-torch"),
        pytest.param("x.index_add_(0, i, v)\ny = x.index_add(0, i, v)\n", id="method-of-a-tensor"),
        pytest.param("import jax\ndef index_update(x, i, v): return x\ny = index_update(x, 0, 1)\n", id="own-function"),
        pytest.param("import jax\ndef f(jax): return jax.ops.index_update(x, 0, 1)\n", id="shadowed-module"),
        pytest.param("from mylib.ops import index_update, index\ny = index_update(x, index[0], 1)\n", id="another-library"),
        pytest.param("from jax import numpy as jnp\nindex = jnp.arange(3)\ny = index[1:]\n", id="own-index"),
        pytest.param("from jax.numpy import *\ny = index_update(x, index[0], 1)\n", id="star-import-of-another-module"),
        pytest.param("import jax\nOPS = {'index_update': 1}\nprint('index_add')\n", id="names-in-data"),
        pytest.param('import jax\ndef f():\n    """Like jax.ops.index_update."""\n', id="docstring"),
        pytest.param("import jax\n# jax.ops.index_update(x, 0, 1)\n", id="comment"),
        pytest.param(
            "import jax\nif hasattr(jax.ops, 'index_update'):\n    y = jax.ops.index_update(x, 0, 1)\nelse:\n    y = x.at[0].set(1)\n",
            id="guard",
        ),
        pytest.param(
            "try:\n    from jax.ops import index_update\nexcept ImportError:\n"
            "    def index_update(x, i, y):\n        return x.at[i].set(y)\nz = index_update(a, 0, 1)\n",
            id="guarded-import-with-a-stand-in",
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=NAME)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("import jax\ny = jax.ops.index_update(x, 0)\n", "no argument for y", id="too-few"),
        pytest.param("import jax\ny = jax.ops.index_update(x, 0, 1, axis=0)\n", "unknown argument 'axis'", id="unknown-keyword"),
        pytest.param("import jax\ny = {jax.ops.index_update: 1}\n", "is gone", id="dictionary-key"),
        pytest.param("import jax\ny = f is jax.ops.index_update\n", "is gone", id="compared"),
        pytest.param("import jax\njax.ops.index_update = f\n", "is gone", id="assigned-to"),
        pytest.param("import jax\ny = jax.ops.index_update.__name__\n", "is gone", id="attribute-of-it"),
        pytest.param("import jax\ny = getattr(jax.ops, 'index_add')(x, 0, 1)\n", "x.at[idx].add", id="getattr"),
        pytest.param("import mock\nmock.patch('jax.ops.index_add', f)\n", "x.at[idx].add", id="mock"),
    ],
)
def test_reported(source: str, message: str) -> None:
    unchanged(source, select=NAME, findings=[message])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("y = ops.index_update(A, 0, 1)", "y = A.at[0].set(1)", id="number"),
        pytest.param("y = ops.index_add(A, i, v)", "y = A.at[i].add(v)", id="name"),
        pytest.param("y = ops.index_mul(A, ops.index[1:3, ...], 2)", "y = A.at[1:3, ...].multiply(2)", id="index-object"),
        pytest.param("y = ops.index_min(A, (i, slice(2)), 2)", "y = A.at[i, slice(2)].min(2)", id="tuple"),
        pytest.param("y = ops.index_max(A, (i, j,), 2)", "y = A.at[i, j].max(2)", id="tuple-with-trailing-comma"),
        pytest.param("y = ops.index_update(A, (i,), 2)", "y = A.at[(i,)].set(2)", id="tuple-of-one"),
        pytest.param("y = ops.index_update(A, (), 2)", "y = A.at[()].set(2)", id="empty-tuple"),
        pytest.param("y = ops.index_update(A, (*i, 0), 2)", "y = A.at[(*i, 0)].set(2)", id="starred-keeps-parentheses"),
        pytest.param("y = ops.index_update(A, None, 2)", "y = A.at[None].set(2)", id="none"),
        pytest.param("y = ops.index_update(A, A > 0, 2)", "y = A.at[A > 0].set(2)", id="mask"),
        pytest.param("y = ops.index_update(A + 1, ..., 2)", "y = (A + 1).at[...].set(2)", id="operator-as-receiver"),
        pytest.param("y = ops.index_update(-A, 0, 2)", "y = (-A).at[0].set(2)", id="sign-as-receiver"),
        pytest.param("y = -ops.index_update(A, 0, 2)[1]", "y = -A.at[0].set(2)[1]", id="result-used-at-once"),
        pytest.param("y = ops.index_update(A, 0, 2, True)", "y = A.at[0].set(2, indices_are_sorted=True)", id="flag-by-position"),
        pytest.param(
            "y = ops.index_add(A, 0, 2, unique_indices=u)", "y = A.at[0].add(2, unique_indices=u)", id="flag-by-keyword"
        ),
        pytest.param("y = ops.index_add(y=v, idx=i, x=A)", "y = A.at[i].add(v)", id="keywords-in-any-order"),
        pytest.param("y = ops.index_update(A, [0, -1], 2)", "y = A.at[jnp.array([0, -1])].set(2)", id="list-of-numbers"),
        pytest.param("y = ops.index_update(A, ([0, 1], j), 2)", "y = A.at[[0, 1], j].set(2)", id="list-in-a-tuple"),
        pytest.param("y = ops.index_update(A, ops.index[{0: 1}[k]], 2)", "y = A.at[{0: 1}[k]].set(2)", id="braces"),
        pytest.param(
            "y = ops.index_add(ops.index_update(A, 0, 1), ops.index[1], 2)", "y = A.at[0].set(1).at[1].add(2)", id="nested"
        ),
        pytest.param("y = ops.index_add(A, 0, ops.index_add(A, 1, 2))", "y = A.at[0].add(A.at[1].add(2))", id="nested-in-value"),
        pytest.param("y = ops.index_update(np.zeros(3), 0, 1)", "y = jnp.asarray(np.zeros(3)).at[0].set(1)", id="numpy"),
        pytest.param("y = ops.index_update([1, 2], 0, 1)", "y = jnp.asarray([1, 2]).at[0].set(1)", id="list-as-receiver"),
        pytest.param("y = ops.index[1:]", "y = jnp.s_[1:]", id="index-alone"),
        pytest.param("f = ops.index", "f = jnp.s_", id="index-as-a-value"),
    ],
)
def test_safe(before: str, after: str) -> None:
    head = "import jax.numpy as jnp\nimport numpy as np\nfrom jax import ops\n\nA = jnp.ones(3)\nkeep = ops.segment_sum\n"
    result = rewritten(head + before + "\n", head + after + "\n", select=NAME)
    assert {f.applicability for f in applied(result)} == {Applicability.SAFE}


@pytest.mark.parametrize(
    ("before", "after", "assumption"),
    [
        pytest.param("y = index_update(a, 0, 1)", "y = a.at[0].set(1)", "that a is an array of JAX", id="unknown-receiver"),
        pytest.param("y = index_update(s.x, 0, 1)", "y = s.x.at[0].set(1)", "that s.x is", id="unknown-attribute"),
        pytest.param("y = index_update(d['k'], 0, 1)", "y = d['k'].at[0].set(1)", "that d['k'] is", id="unknown-subscript"),
        pytest.param("y = index_update(g(), 0, 1)", "y = g().at[0].set(1)", "that g() is", id="unknown-call"),
        pytest.param("y = index_update(J, [i], 1)", "y = J.at[jnp.array([i])].set(1)", "of [i] are numbers", id="list-of-names"),
        pytest.param("y = index_update(J, [[0], [1]], 1)", "y = J.at[[0], [1]].set(1)", "means a tuple", id="list-of-lists"),
        pytest.param("y = index_update(J, [..., 0], 1)", "y = J.at[..., 0].set(1)", "means a tuple", id="list-with-ellipsis"),
        pytest.param("y = index_update(idx=g(), x=J, y=h())", "y = J.at[g()].set(h())", "another order", id="order-of-effects"),
    ],
)
def test_review(before: str, after: str, assumption: str) -> None:
    head = "import jax.numpy as jnp\n{}\nJ = jnp.ones(3)\n"
    result = rewritten(
        head.format("from jax.ops import index_update\n") + before + "\n", head.format("") + after + "\n", select=NAME
    )
    (finding,) = applied(result)
    assert finding.applicability is Applicability.REVIEW
    assert assumption in finding.message


def test_receiver_that_becomes_an_array_in_a_loop_starts_as_numpy() -> None:
    rewritten(
        """
        import jax.numpy as jnp
        import numpy as np
        from jax.ops import index_update
        x = np.zeros(3)
        for i in range(3):
            x = index_update(x, i, 1)
        """,
        """
        import jax.numpy as jnp
        import numpy as np
        x = np.zeros(3)
        for i in range(3):
            x = jnp.asarray(x).at[i].set(1)
        """,
        select=NAME,
    )


def test_option_converts_what_is_unknown() -> None:
    before = "import jax.numpy as jnp\nfrom jax.ops import index_update\ny = index_update(a, 0, 1)\n"
    after = "import jax.numpy as jnp\ny = jnp.asarray(a).at[0].set(1)\n"
    result = rewritten(before, after, select=NAME, options={"index-update.unknown": "convert"})
    assert [f.applicability for f in applied(result)] == [Applicability.SAFE]


def test_function_as_a_value_is_a_lambda() -> None:
    before = "import jax\nimport jax.numpy as jnp\nF = {'add': jax.ops.index_add}\n"
    after = (
        "import jax\nimport jax.numpy as jnp\nF = {'add': lambda x, idx, y, **flags: jnp.asarray(x).at[idx].add(y, **flags)}\n"
    )
    rewritten(before, after.replace("import jax\n", "", 1), select=NAME)


def test_other_name_of_the_function_keeps_its_calls() -> None:
    result = run(
        "import jax\nimport jax.numpy as jnp\nput = jax.ops.index_update\ny = put(x, jax.ops.index[0], 1)\n", select=NAME
    )
    assert b"put = lambda x, idx, y, **flags: jnp.asarray(x)" in result.after
    assert b"y = put(x, jnp.s_[0], 1)" in result.after


def test_unpacked_arguments_go_through_a_lambda() -> None:
    result = run("import jax\nimport jax.numpy as jnp\ny = jax.ops.index_update(*a, jax.ops.index[0], 1)\n", select=NAME)
    flags = "indices_are_sorted=indices_are_sorted, unique_indices=unique_indices"
    assert f"jnp.asarray(x).at[idx].set(y, {flags}))(*a, jnp.s_[0], 1)" in result.after.decode()


def test_star_import_gives_the_names_too() -> None:
    before = "from jax.ops import *\ny = index_update(x, index[1:, 0], segment_sum(v, i))\nz = index[0]\n"
    after = "import jax\nfrom jax.ops import *\ny = x.at[1:, 0].set(segment_sum(v, i))\nz = jax.numpy.s_[0]\n"
    rewritten(before, after, select=NAME)


def test_comments_are_not_lost_silently() -> None:
    source = "import jax\ny = jax.ops.index_update(\n    x,  # the state\n    0, 1)\n"
    assert [f.applicability for f in applied(run(source, select=NAME))] == [Applicability.REVIEW]


def test_long_calls_stay_spread_over_lines() -> None:
    rewritten(
        """
        import jax
        import jax.numpy as jnp
        def f(state: jnp.ndarray, a_rather_long_name, another_long_name):
            return jax.ops.index_update(
                state,
                jax.ops.index[a_rather_long_name, another_long_name],
                jnp.zeros_like(another_long_name),
                unique_indices=True,
            )
        """,
        """
        import jax.numpy as jnp
        def f(state: jnp.ndarray, a_rather_long_name, another_long_name):
            return state.at[a_rather_long_name, another_long_name].set(
                jnp.zeros_like(another_long_name),
                unique_indices=True,
            )
        """,
        select=NAME,
    )


TRACED = "import jax\nimport jax.numpy as jnp\nfrom functools import partial\n"


@pytest.mark.parametrize(
    ("source", "applicability"),
    [
        pytest.param("@jax.jit\ndef f(x): return jax.ops.index_add(x, 0, 1)\n", Applicability.SAFE, id="jit"),
        pytest.param(
            "@jax.jit\ndef f(x):\n    for i in range(3):\n        x = jax.ops.index_add(x, i, 1)\n    return x\n",
            Applicability.SAFE,
            id="jit-and-a-loop",
        ),
        pytest.param("f = jax.jit(lambda x: jax.ops.index_add(x, 0, 1))\n", Applicability.SAFE, id="jit-of-a-lambda"),
        pytest.param(
            "def f(i, x): return jax.ops.index_add(x, i, 1)\njax.lax.fori_loop(0, 3, f, x)\n",
            Applicability.SAFE,
            id="body-of-a-loop",
        ),
        pytest.param(
            "@partial(jax.jit, static_argnums=0)\ndef f(x): return jax.ops.index_add(x, 0, 1)\n",
            Applicability.REVIEW,
            id="jit-with-static-arguments",
        ),
        pytest.param("@jax.vmap\ndef f(x): return jax.ops.index_add(x, 0, 1)\n", Applicability.REVIEW, id="vmap-maps-not-all"),
        pytest.param(
            "@jax.grad\ndef f(x, y): return jax.ops.index_add(y, 0, x).sum()\n", Applicability.REVIEW, id="grad-traces-one"
        ),
        pytest.param(
            "def f(i, x): return jax.ops.index_add(x, i, 1)\njax.lax.fori_loop(0, 3, f, x)\nf(0, y)\n",
            Applicability.REVIEW,
            id="body-that-is-called-too",
        ),
    ],
)
def test_parameters_that_are_tracers(source: str, applicability: Applicability) -> None:
    (finding,) = applied(run(TRACED + source, select=NAME))
    assert finding.applicability is applicability


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(x): return jax.ops.index_add(x, 0, 1)\nf(np.zeros(3))\n", id="argument"),
        pytest.param("def f(y, x): return jax.ops.index_add(x, 0, 1)\nf(1, x=np.zeros(3))\n", id="keyword"),
        pytest.param("def f(x=np.zeros(3)): return jax.ops.index_add(x, 0, 1)\n", id="default"),
        pytest.param("def f(x: np.ndarray):\n    x = jax.ops.index_add(x, 0, 1)\n    return x\n", id="annotation"),
        pytest.param("def f(x: 'np.ndarray | None'): return jax.ops.index_add(x, 0, 1)\n", id="quoted-annotation"),
        pytest.param("def f(x: np.ndarray | jnp.ndarray): return jax.ops.index_add(x, 0, 1)\n", id="union"),
        pytest.param(
            "from jax.typing import ArrayLike\ndef f(x: ArrayLike): return jax.ops.index_add(x, 0, 1)\n", id="array-like"
        ),
        pytest.param(
            "class A:\n    def f(self, x): return jax.ops.index_add(x, 0, 1)\n    def g(self): return self.f([1.0])\n",
            id="method",
        ),
    ],
)
def test_parameters_that_the_file_gives_numpy(source: str) -> None:
    result = run("import jax\nimport jax.numpy as jnp\nimport numpy as np\n" + source, select=NAME)
    assert b"jnp.asarray(x).at[0].add(1)" in result.after
    assert [f.applicability for f in applied(result)] == [Applicability.SAFE]


def test_index_that_is_used_at_once_goes_into_the_brackets() -> None:
    before = "import jax\ny = x[jax.ops.index[1:, 0]]\nz = x.at[jax.ops.index[..., 0]].set(1)\n"
    rewritten(before, "y = x[1:, 0]\nz = x.at[..., 0].set(1)\n", select=NAME)


@pytest.mark.parametrize(
    ("first", "applicability"),
    [
        pytest.param("", Applicability.REVIEW, id="only-its-own-updates"),
        pytest.param("    def __init__(self): self.x = jnp.zeros(3)\n", Applicability.SAFE, id="made-by-jax"),
        pytest.param("    x: jnp.ndarray\n", Applicability.SAFE, id="annotated"),
    ],
)
def test_attribute_of_self(first: str, applicability: Applicability) -> None:
    body = f"{first}    def f(self): self.x = jax.ops.index_add(self.x, 0, 1)\n"
    (finding,) = applied(run(f"import jax\nimport jax.numpy as jnp\nclass A(B):\n{body}", select=NAME))
    assert finding.applicability is applicability


def test_function_that_is_called_before_jax_is_imported() -> None:
    before = (
        "from jax.ops import index_add\nimport numpy as np\ndef f(a: np.ndarray): return index_add(a, 0, 1)\nf(g())\nimport jax\n"
    )
    after = "import jax\nimport numpy as np\ndef f(a: np.ndarray): return jax.numpy.asarray(a).at[0].add(1)\nf(g())\nimport jax\n"
    rewritten(before, after, select=NAME)
