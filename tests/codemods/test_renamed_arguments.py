"""renamed-arguments: first what must be left alone, then positions, keywords and what has no successor."""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module
from typing import Any

import pytest

from jaxmigrate.registry import history
from jaxmigrate.testing import applied, rewritten, run, unchanged
from jaxmigrate_codemods._arguments import TABLE

SELECT = "renamed-arguments"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import numpy as np\nimport jax\ny = np.clip(x, a_min=0, a_max=1)\n", id="numpy-itself"),
        pytest.param("import numpy as jnp\nimport jax\ny = jnp.reshape(x, newshape=s)\n", id="numpy-under-the-usual-alias"),
        pytest.param("import jax\nimport torch\ny = torch.where(condition=c, x=a, y=b)\n", id="torch"),
        pytest.param("import jax.numpy as jnp\ny = jnp.clip(x, 0, 1)\n", id="positions-already"),
        pytest.param("import jax.numpy as jnp\ny = jnp.clip(x, min=0, max=1)\n", id="keywords-of-today"),
        pytest.param("import jax.numpy as jnp\ny = jnp.clip(x, **bounds)\n", id="unknown-keywords"),
        pytest.param("import jax.numpy as jnp\ny = jnp.clip(*x)\n", id="unknown-positions"),
        pytest.param("import jax.numpy as jnp\ny = jnp.clip(x, **{'min': 0})\n", id="dictionary-of-today"),
        pytest.param("import jax.numpy as jnp\nf = jnp.clip\ny = f\n", id="passed-as-a-value"),
        pytest.param("import jax.numpy as jnp\ndef f(jnp): return jnp.clip(x, a_min=0)\n", id="shadowed-module"),
        pytest.param("import jax\ndef clip(x, a_min): return jax.jit(x)\ny = clip(x, a_min=0)\n", id="own-function"),
        pytest.param("import jax\ny = x.clip(a_min=0)\nz = x.sort(kind='stable')\n", id="method-of-an-unknown-value"),
        pytest.param("import jax, pandas as pd\ny = pd.Series(x).sort_values(kind='stable')\n", id="pandas"),
        pytest.param("import jax, numpy as np\nz = np.ones(3)\ny = z.argsort(kind='stable')\n", id="method-of-a-numpy-array"),
        pytest.param("import jax\ny = table.at[i].set(1, True)\n".replace(".at[i]", ".loc[i]"), id="another-indexer"),
        pytest.param("import jax\nimport pandas as pd\ny = table.at[i, 'd'].get('k', 0)\n", id="dictionary-in-a-pandas-table"),
        pytest.param("import jax\ny = table.at[i].get(key)\nz = table.at[i].add(a, b)\n", id="indexer-of-an-unknown-value"),
        pytest.param("import jax\ny = d['at'].get(k, 0)\ny = at[k].get(k, 0)\n", id="get-of-a-dict"),
        pytest.param("import jax.numpy as jnp\ny = jnp.sort(x, -1)\nz = jnp.sort(x, axis=0)\n", id="sort-without-kind"),
        pytest.param("import jax.numpy as jnp\ny = jnp.array(x, jnp.float32, copy=True)\n", id="array-with-keywords"),
        pytest.param("import jax\nf = jax.jit(g, static_argnums=(0,), donate_argnums=1)\n", id="jit-with-keywords"),
        pytest.param("import jax\nf = jax.jit(g, backend=None)\n", id="jit-without-a-backend"),
        pytest.param("import jax\nf = jax.grad(g, reduce_axes=())\n", id="reduce-axes-of-none"),
        pytest.param("import jax.numpy as jnp\ny = jnp.linalg.pinv(x, rcond=1e-3)\n", id="deprecation-that-was-withdrawn"),
        pytest.param("import jax.numpy as jnp\ny = jnp.linalg.matrix_rank(x, tol=1e-3)\n", id="the-other-one"),
        pytest.param("import jax.numpy as jnp\ny = jnp.where(c, a, b)\nz = jnp.where(c, size=3, fill_value=0)\n", id="where"),
        pytest.param("import jax\ny = jax.pure_callback(f, s, x, vmap_method='sequential')\n", id="callback-of-today"),
        pytest.param("import jax\ny = jax.lax.dot(a, b, precision=p)\n", id="dot-with-keywords"),
        pytest.param("import jax\nm = jax.make_mesh((2,), ('x',))\n", id="mesh-by-position"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


def call(before: str, after: str, **kw: Any) -> None:
    """One expression, with the usual imports."""
    head = "from functools import partial\nimport jax\nimport jax.numpy as jnp\nfrom jax import lax\n"
    rewritten(f"{head}y = {before}\n", f"{head}y = {after}\n", select=SELECT, **kw)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jnp.clip(x, a_min=0, a_max=1)", "jnp.clip(x, 0, 1)"),
        ("jnp.clip(x, a_min = (0 + 1))", "jnp.clip(x, (0 + 1))"),
        ("jnp.clip(x, 0, a_max=1)", "jnp.clip(x, 0, 1)"),
        ("jnp.clip(x, a_max=1)", "jnp.clip(x, max=1)"),
        ("jnp.clip(a_max=1, a_min=0, a=x)", "jnp.clip(x, 0, 1)"),
        ("jnp.clip(a=x, a_max=1)", "jnp.clip(x, max=1)"),
        ("jnp.clip(x, a_min=0, a_max=None)", "jnp.clip(x, 0, None)"),
        ("jnp.clip(x, a_min=0, max=2)", "jnp.clip(x, 0, max=2)"),
        ("jnp.clip(*xs, a_min=0)", "jnp.clip(*xs, min=0)"),
        ("jnp.clip(x, a_min=0, **more)", "jnp.clip(x, 0, **more)"),
        ("partial(jnp.clip, a_min=0, a_max=1)", "partial(jnp.clip, min=0, max=1)"),
        ("jnp.clip(x, 0, 1, out=None)", "jnp.clip(x, 0, 1)"),
        ("jnp.reshape(x, newshape=(2, -1), order='F')", "jnp.reshape(x, (2, -1), order='F')"),
        ("jnp.where(condition=c, x=a, y=b)", "jnp.where(c, a, b)"),
        ("jnp.where(c, y=b, x=a)", "jnp.where(c, a, b)"),
        ("jnp.quantile(x, 0.5, interpolation=how)", "jnp.quantile(x, 0.5, method=how)"),
        ("jnp.quantile(x, q, None, None, False, 'linear', True, None)", "jnp.quantile(x, q, None, None, False, 'linear', True)"),
        ("jnp.argsort(x, kind='stable', axis=0)", "jnp.argsort(x, axis=0)"),
        ("jnp.ones(3).argsort(kind='stable')", "jnp.ones(3).argsort()"),
        ("jnp.array(x, dtype, False, 'C')", "jnp.array(x, dtype, copy=False, order='C')"),
        ("jnp.minimum(x1=a, x2=b)", "jnp.minimum(a, b)"),
        ("jnp.log(x=a)", "jnp.log(a)"),
        ("lax.dot(a, b, (p))", "lax.dot(a, b, precision=(p))"),
        ("jax.jit(fun=f)", "jax.jit(f)"),
        ("jax.core.ShapedArray(s, t, False, {})", "jax.core.ShapedArray(s, t, False)"),
        ("jax.jit(f, [0, 1])", "jax.jit(f, static_argnums=[0, 1])"),
        ("jax.jit(f, spec, out)", "jax.jit(f, in_shardings=spec, out_shardings=out)"),
        ("jax.remat(f, concrete=False, prevent_cse=True)", "jax.remat(f, prevent_cse=True)"),
        ("jax.remat(f, False, True)", "jax.remat(f, prevent_cse=True)"),
        ("jax.pure_callback(f, s, x, vectorized=True)", 'jax.pure_callback(f, s, x, vmap_method="expand_dims")'),
        ("jax.scipy.linalg.solve(a, b, sym_pos=True)", 'jax.scipy.linalg.solve(a, b, assume_a="pos")'),
        ("jnp.ones(3).at[0].set(1.0, flag, other)", "jnp.ones(3).at[0].set(1.0, indices_are_sorted=flag, unique_indices=other)"),
        ("x.at[0].set(1.0, True)", "x.at[0].set(1.0, indices_are_sorted=True)"),
        ("jax.pmap(f, global_arg_shapes=None)", "jax.pmap(f)"),
        ("jax.ShapeDtypeStruct((2,), jnp.float32, named_shape={})", "jax.ShapeDtypeStruct((2,), jnp.float32)"),
        ("jax.make_mesh(axis_names=('x',), axis_shapes=(2,))", "jax.make_mesh((2,), axis_names=('x',))"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    call(before, after)


@pytest.mark.parametrize(
    ("before", "after", "target"),
    [
        pytest.param("jnp.clip(x, a_max=1)", "jnp.clip(x, None, 1)", "0.4.26", id="a-gap-where-the-keyword-is-too-new"),
        pytest.param("jnp.clip(x, a_max=1)", "jnp.clip(x, max=1)", "0.4.27", id="the-keyword-from-its-first-release-on"),
        pytest.param("jnp.clip(x, a_min=0)", "jnp.clip(x, 0)", "0.2.0", id="a-position-for-every-release"),
        pytest.param("jnp.reshape(x, newshape=s)", "jnp.reshape(x, s)", "0.3.0", id="reshape"),
        pytest.param("jax.scipy.special.beta(x=a, y=b)", "jax.scipy.special.beta(a, b)", "0.4.30", id="positions"),
        pytest.param("jnp.percentile(x, 3, interpolation=i)", "jnp.percentile(x, 3, method=i)", "0.2.27", id="method"),
    ],
)
def test_the_target_decides(before: str, after: str, target: str) -> None:
    call(before, after, target=target)


@pytest.mark.parametrize(
    ("source", "finding", "target"),
    [
        pytest.param(
            "jax.nn.softmax(x, where=m, initial=0.0)", "not needed since JAX 0.4.27", "0.4.13", id="needed-at-the-target"
        ),
        pytest.param("jax.nn.softmax(x, -1, m, 0.0)", "not needed since JAX 0.4.27", "0.4.13", id="needed-at-its-position"),
        pytest.param("jnp.clip(x, **dict(a_min=0))", "which the dictionary holds", None, id="dictionary-made-by-its-name"),
        pytest.param("partial(jnp.clip, a_min=0)", "choose by version", "0.4.13", id="no-position-in-a-partial"),
        pytest.param("jax.pure_callback(f, s, x, vectorized=True)", "choose by version", "0.4.30", id="no-common-keyword"),
        pytest.param("jax.checkpoint(f, concrete=True)", "static_argnums", None, id="value-with-a-meaning"),
        pytest.param("jax.checkpoint(f, concrete=flag)", "static_argnums", None, id="value-unknown"),
        pytest.param("jax.checkpoint(f, True)", "it was concrete=", None, id="position-with-a-meaning"),
        pytest.param("jax.ShapeDtypeStruct(s, t, names)", "it was named_shape=", None, id="named-shape-by-position"),
        pytest.param("jnp.clip(x, 0, 1, buffer)", "it was out=", None, id="out-by-position"),
        pytest.param("jax.grad(f, reduce_axes=('i',))", "psum", None, id="axes-of-xmap"),
        pytest.param("jax.ShapeDtypeStruct(s, t, named_shape=n)", "positional", None, id="named-shape"),
        pytest.param("jax.scipy.linalg.solve(a, b, sym_pos=flag)", "assume_a", None, id="flag-that-is-not-known"),
        pytest.param("jnp.percentile(x, 3, interpolation=i, method=m)", "given as well", None, id="both-keywords"),
        pytest.param("jax.jit(f, None, None, 'cpu')", "it was backend=", None, id="backend-by-position"),
        pytest.param("jax.jit(f, None, None, None, 'cpu')", "it was backend=", None, id="backend-by-its-later-position"),
        pytest.param("jax.jit(f, None, 'n')", "it was static_argnames=", None, id="names-are-no-shardings"),
        pytest.param("jax.core.ShapedArray(s, t, False, names)", "it was named_shape=", None, id="abstract-shape-by-position"),
        pytest.param("jax.jit(f, 0, device)", "must be given by keyword", None, id="signature-of-which-release"),
        pytest.param("jnp.sort(x, -1, kind, order)", "by keyword", None, id="what-follows-would-slide"),
        pytest.param("jnp.clip(x, **{'a_min': 0, 'other': 1, **more})", "a_min= of jax.numpy.clip, which", None, id="dictionary"),
        pytest.param("jnp.clip(x, 0, 1, out=buffer)", "gone since JAX 0.4.27", None, id="value-without-a-rule"),
        pytest.param("jax.make_mesh((2,), ('x',), explicit_axes=a)", "gone since JAX 0.5.3", None, id="keyword-without-a-rule"),
        pytest.param("jax.core.ShapedArray(s, t, vma=v)", "gone since JAX 0.10.0", None, id="argument-of-a-class"),
    ],
)
def test_manual(source: str, finding: str, target: str | None) -> None:
    head = "from functools import partial\nimport jax\nimport jax.numpy as jnp\n"
    result = run(f"{head}y = {source}\n", select=SELECT, target=target)
    assert any(finding in f.message for f in result.findings if f.outstanding), result.findings
    assert not applied(result)


def test_comments_and_lines_stay() -> None:
    rewritten(
        """
        import jax.numpy as jnp
        y = jnp.clip(
            x,  # values
            a_min=0,  # low
            a_max=1,  # high
        )
        """,
        """
        import jax.numpy as jnp
        y = jnp.clip(
            x,  # values
            0,  # low
            1,  # high
        )
        """,
        select=SELECT,
    )


def test_arguments_that_are_evaluated_in_another_order_are_for_review() -> None:
    result = run("import jax.numpy as jnp\ny = jnp.where(c, y=next(i), x=next(i))\n", select=SELECT)
    assert [str(f.applicability) for f in result.findings] == ["review"]


@pytest.mark.parametrize("names", ["{}", "None"])
def test_what_a_rule_spells_out_computes_nothing(names: str) -> None:
    found = run(f"import jax\ns = jax.ShapeDtypeStruct(a, b, {names})\n", select=SELECT).findings
    assert [str(f.applicability) for f in found] == ["safe"]


def test_what_is_only_deprecated_matters_less() -> None:
    unchanged("import jax\nf = jax.jit(g, backend='cpu')\n", select=SELECT, findings=["deprecated"])
    found = run("import jax\nf = jax.jit(g, backend='cpu')\n", select=SELECT).findings
    assert [str(f.severity) for f in found] == ["low"]


# -- the table against the installed JAX ----------------------------------------------------------------------------------------

STAY_IN_THE_SIGNATURE = {"kind", "order", "reduce_axes", "device", "backend", "out"}
"""Parameters that are still there to say that they are gone, or with one value that is fine."""


def signature(function: str) -> inspect.Signature:
    """The signature that the installed JAX gives."""
    module, _, name = function.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = inspect.signature(getattr(import_module(module), name))
    return found


FUNCTIONS = [f for f in TABLE if not f.startswith(("jax.Array.", "jax.ShapeDtypeStruct"))]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_table_holds_on_the_installed_jax(function: str) -> None:
    pytest.importorskip("jax", minversion="0.12.0")
    parameters = list(signature(function).parameters.values())
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    places = sum(p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters)
    several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for rule in TABLE[function]:
        if isinstance(rule.old, str) and rule.gone and not rule.still_taken and rule.old not in STAY_IN_THE_SIGNATURE:
            assert rule.old not in named
        if isinstance(rule.old, int):
            assert rule.old >= places
        assert all(way.keyword in named for way in rule.ways if way.keyword)
        assert all(way.position < places or several for way in rule.ways if way.position is not None)


LOST = "parameters of "


@pytest.mark.parametrize("function", [s.removeprefix(LOST) for s in history().all_sections() if s.startswith(LOST)])
def test_lost_parameters_are_lost_in_the_installed_jax(function: str) -> None:
    pytest.importorskip("jax", minversion="0.12.0")
    lost = {name for name, entry in history().lost_parameters(function).items() if not entry.alive}
    found = history().entry(function)
    if found is None or not found.alive or "boundary" in lost:
        pytest.skip("the function is gone, too, or an Enum")
    try:
        parameters = signature(function).parameters.values()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        pytest.skip(f"cannot be asked here: {error}")
    takes = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    assert not (lost & takes) - STAY_IN_THE_SIGNATURE


@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        ("x, out=None, a_min=1", "x, 1"),
        ("a=x, a_max=1, out=None", "x, max=1"),
        ("a=x, a_max=1, out=None, **kw", "x, max=1, **kw"),
    ],
)
def test_arguments_that_move_and_others_are_one_finding(arguments: str, after: str) -> None:
    source = f"import jax.numpy as jnp\ny = jnp.clip({arguments})\n"
    result = rewritten(source, f"import jax.numpy as jnp\ny = jnp.clip({after})\n", select="renamed-arguments")
    assert len(result.findings) == 1


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("AbstractMesh((2, 4), ('x', 'y'))", id="sizes-and-names"),
        pytest.param("AbstractMesh((2, 4), axis_names=('x', 'y'))", id="names-by-keyword"),
    ],
)
def test_a_mesh_of_sizes_and_names_is_left(call: str) -> None:
    unchanged(f"from jax.sharding import AbstractMesh\nm = {call}\n")


@pytest.mark.parametrize(
    "call", ["AbstractMesh(pairs)", "AbstractMesh(())", "AbstractMesh((('x', 2),), axis_types=t)", "AbstractMesh((*p, ('x', 2)))"]
)
def test_a_mesh_of_pairs_that_are_not_written_out_is_reported(call: str) -> None:
    result = run(f"from jax.sharding import AbstractMesh\nm = {call}\n")
    assert not applied(result)
    assert ["refuses such a call since JAX 0.5.3" in f.message for f in result.findings] == [True]


def test_a_mesh_of_pairs_for_an_older_target_is_left_to_choose() -> None:
    result = run("import jax\nm = jax.sharding.AbstractMesh((('x', 2),))\n", target="0.4.38")
    assert not applied(result)
    assert "choose by version" in result.findings[0].message
