"""numpy-names: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import applied, rewritten, run, unchanged

SELECT = "numpy-names"

IN1D = "lambda ar1, ar2, assume_unique=False, invert=False: jnp.isin(ar1, ar2, assume_unique, invert).ravel()"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import numpy as np\nimport jax\ny = np.in1d(x, y) + np.NINF\n", id="numpy-itself"),
        pytest.param("import numpy as jnp\nimport jax\ny = jnp.row_stack([x])\n", id="numpy-under-the-usual-alias"),
        pytest.param("import jax\nimport scipy.integrate as jnp\ny = jnp.trapz(x)\n", id="scipy"),
        pytest.param("import jax.numpy as jnp\ny = jnp.isin(x, y)\nz = -jnp.inf\n", id="names-of-today"),
        pytest.param("import jax\ndef product(xs): return jax.jit(xs)\ny = product(xs)\n", id="own-function"),
        pytest.param("import jax.numpy as jnp\ndef f(jnp): return jnp.product(x)\n", id="shadowed-module"),
        pytest.param("import jax\nfrom itertools import product\ny = product(a, b)\n", id="product-of-itertools"),
        pytest.param("import jax.numpy as jnp\ny = x.round_() + x.product()\n", id="methods-of-values"),
        pytest.param("import jax.numpy as jnp\nz = jnp.float_, jnp.complex_, jnp.int_, jnp.bool_\n", id="types-that-stayed"),
        pytest.param("import jax.numpy as jnp\ny = jnp.array([jnp.inf, jnp.nan, jnp.newaxis])\n", id="constants-that-stayed"),
        pytest.param("import jax.numpy as jnp\nnames = ['product', 'in1d', 'NINF']\n", id="names-in-data"),
        pytest.param('import jax\ndef f():\n    """Like jnp.product and jnp.trapz."""\n', id="docstring"),
        pytest.param("import jax.numpy as jnp\ny = jnp.prod(x) + jnp.trapezoid(x)\n", id="successors"),
        pytest.param("import jax, torch\ny = torch.round_(x)\n", id="torch"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jnp.in1d(x, t)", "jnp.isin(x, t).ravel()"),
        ("jnp.in1d(x, t).sum()", "jnp.isin(x, t).ravel().sum()"),
        ("jnp.in1d(ar2=t, ar1=x, invert=True)", "jnp.isin(test_elements=t, element=x, invert=True).ravel()"),
        ("jnp.in1d(*args)", "jnp.isin(*args).ravel()"),
        ("jnp.in1d(jnp.in1d(x, t), t)", "jnp.isin(jnp.isin(x, t).ravel(), t)"),
        ("jnp.in1d(jnp.unique(x), t)", "jnp.isin(jnp.unique(x), t)"),
        ("jnp.in1d(x.flatten(), t)", "jnp.isin(x.flatten(), t)"),
        ("jnp.in1d(jnp.array([1, 2]), t)", "jnp.isin(jnp.array([1, 2]), t)"),
        ("jnp.in1d(jnp.array([[1], [2]]), t)", "jnp.isin(jnp.array([[1], [2]]), t).ravel()"),
        ("jnp.in1d(jnp.array(x), {'{': '}'})", "jnp.isin(jnp.array(x), {'{': '}'}).ravel()"),
        ("jnp.msort(x)", "jnp.sort(x, axis=0)"),
        ("2 * jnp.NINF", "2 * (-jnp.inf)"),
        ("jnp.NINF.real", "(-jnp.inf).real"),
        ("jnp.ones(2) + jnp.NZERO - jnp.PZERO", "jnp.ones(2) + (-0.0) - 0.0"),
        ("jnp.issubsctype(x.dtype, jnp.floating)", "jnp.issubdtype(x.dtype, jnp.floating)"),
        ("jnp.issubsctype(jnp.float32, jnp.floating)", "jnp.issubdtype(jnp.float32, jnp.floating)"),
        ("jnp.lax_numpy.where(c, a, b)", "jnp.where(c, a, b)"),
        ("map(jnp.alltrue, xs)", "map(jnp.all, xs)"),
        ("getattr(jnp, 'sometrue')(x)", "jnp.any(x)"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(f"import jax.numpy as jnp\ny = {before}\n", f"import jax.numpy as jnp\ny = {after}\n", select=SELECT)


def test_functions_that_are_passed_on() -> None:
    rewritten(
        "from functools import partial\nimport jax.numpy as jnp\ny = map(jnp.msort, xs), f(jnp.in1d)\n",
        f"from functools import partial\nimport jax.numpy as jnp\ny = map(partial(jnp.sort, axis=0), xs), f({IN1D})\n",
        select=SELECT,
    )


def test_partials() -> None:
    head = "from functools import partial\nimport jax.numpy as jnp\n"
    rewritten(
        f"{head}y = partial(jnp.msort)\nz = partial(jnp.asfarray, x)\nw = partial(jnp.in1d, ar2=t)\n",
        f"{head}y = partial(jnp.sort, axis=0)\nz = partial(jnp.asarray, x, dtype=float)\nw = partial({IN1D}, ar2=t)\n",
        select=SELECT,
    )


def test_comments_above_other_names_of_an_import_stay() -> None:
    rewritten(
        """
        from jax.numpy import (
            product,
            # belongs to zeros
            zeros,
            trapz,
            # belongs to ones
            ones,  # ones
        )
        y = product(x), trapz(x)
        """,
        """
        from jax.numpy import (
            # belongs to zeros
            zeros,
            # belongs to ones
            ones,  # ones
            trapezoid,
            prod,
        )
        y = prod(x), trapezoid(x)
        """,
        select=SELECT,
    )


def test_a_builtin_is_not_shadowed() -> None:
    result = run("from jax.numpy import round_, ones\ny = round_(ones(2)), round(1.5)\n", select=SELECT)
    assert "import round" not in result.after.decode()
    assert "jax.numpy.round(ones(2)), round(1.5)" in result.after.decode()


@pytest.mark.parametrize(
    ("target", "module"), [("0.4.26", "jnp.trapezoid"), ("0.4.25", "integrate.trapezoid")], ids=["new", "older"]
)
def test_the_integral_by_target(target: str, module: str) -> None:
    result = run("import jax\nimport jax.numpy as jnp\ny = jnp.trapz(x)\n", select=SELECT, target=target)
    assert f"y = {module}(x)" in result.after.decode()


def test_no_name_serves_both() -> None:
    source = "import jax.numpy as jnp\ny = jnp.trapz(x)\n"
    unchanged(source, select=SELECT, target="0.4.13", findings=["choose by version"])


@pytest.mark.parametrize(
    ("source", "part"),
    [
        pytest.param("jnp.asfarray(x, kind)", "floating", id="asfarray-of-an-unknown-type"),
    ],
)
def test_manual(source: str, part: str) -> None:
    result = run(f"from functools import partial\nimport jax.numpy as jnp\ny = {source}\n", select=SELECT)
    assert not applied(result)
    assert any(part in f.message for f in result.findings), result.findings


def test_a_value_that_may_be_a_type_is_for_review() -> None:
    found = run("import jax.numpy as jnp\ny = jnp.issubsctype(x, jnp.floating)\n", select=SELECT).findings
    assert [str(f.applicability) for f in found] == ["review"]


@pytest.mark.parametrize(
    "place",
    [
        "if hasattr(x, 'shape'):\n    y = x\nelse:\n    y = {}\n",
        "def f(x):\n    if hasattr(x, '__len__'):\n        return x\n    return {}\n",
        "try:\n    import optax\nexcept ImportError:\n    y = {}\n",
        "try:\n    from flax import struct\nexcept Exception:\n    y = {}\n",
    ],
)
def test_a_choice_that_is_not_about_jax_guards_nothing(place: str) -> None:
    head = "import jax.numpy as jnp\n"
    rewritten(head + place.format("jnp.product(x)"), head + place.format("jnp.prod(x)"), select="numpy-names")


@pytest.mark.parametrize(
    "place",
    [
        "if hasattr(x, 'addressable_shards'):\n    y = x\nelse:\n    y = {}\n",
        "try:\n    from jax.numpy import prod\nexcept ImportError:\n    y = {}\n",
    ],
)
def test_a_choice_about_jax_guards(place: str) -> None:
    unchanged("import jax.numpy as jnp\n" + place.format("jnp.product(x)"), select="numpy-names")
