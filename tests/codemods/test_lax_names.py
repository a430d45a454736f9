"""lax-names: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import applied, rewritten, run, unchanged

SELECT = "lax-names"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\nfrom math import prod\ny = prod((2, 3))\n", id="prod-of-math"),
        pytest.param("import jax\nfrom functools import partial\nf = partial(jax.jit)\n", id="partial-of-functools"),
        pytest.param("from jax import lax\ny = lax.add(x, y) + lax.select(c, x, y)\n", id="functions-that-stayed"),
        pytest.param("from jax import lax\ndef f(lax): return lax.tie_in(x, y)\n", id="shadowed-module"),
        pytest.param("import jax\nlax = MyLax()\ny = lax.tie_in(x, y)\n", id="another-lax"),
        pytest.param("from jax import lax\ny = x.lax.tie_in(1, 2)\n", id="attribute-of-a-value"),
        pytest.param("from jax.lax import linalg\ny = linalg.cholesky(x)\n", id="linalg-of-today"),
        pytest.param("from jax import lax\ny = lax.pcast(x, 'i', to='varying')\n", id="pcast-already"),
        pytest.param("import jax\nfrom numpy import prod, zeros_like as zeros_like_array\ny = zeros_like_array(x)\n", id="numpy"),
        pytest.param('import jax\ndef f():\n    """No jax.lax.tie_in here."""\n', id="docstring"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lax.tie_in(x, y)", "y"),
        ("-lax.tie_in(x, a + b)", "-(a + b)"),
        ("lax.tie_in(y=a, x=b)", "a"),
        ("lax.pvary(x, ('i', 'j'))", "lax.pcast(x, ('i', 'j'), to=\"varying\")"),
        ("partial(lax.pvary, axis_name='i')", "partial(lax.pcast, axis_name='i', to=\"varying\")"),
        ("lax.lax.add_p", "lax.add_p"),
        ("lax.lax_control_flow.scan(f, c, xs)", "lax.scan(f, c, xs)"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    head = "from functools import partial\nfrom jax import lax\n"
    rewritten(f"{head}y = lax.abs({before})\n", f"{head}y = lax.abs({after})\n", select=SELECT)


def test_partials_and_values() -> None:
    head = "from functools import partial\nfrom jax import lax\n"
    rewritten(
        f"{head}y = partial(lax.pvary, axis_name='i')\nz = reduce(lax.tie_in, xs)\n",
        f"{head}y = partial(lax.pcast, axis_name='i', to=\"varying\")\nz = reduce(lambda x, y: y, xs)\n",
        select=SELECT,
    )


def test_modules_of_the_standard_library_are_imported() -> None:
    result = run("from jax import lax\nn = lax.prod(lax.psum(shape, 'i'))\n", select=SELECT)
    assert "import math\n" in result.after.decode()
    assert "n = math.prod(lax.psum(shape, 'i'))\n" in result.after.decode()


def test_old_linalg_module() -> None:
    result = run("from jax import lax_linalg\ny = lax_linalg.svd(x)\n", select=SELECT)
    assert "linalg.svd(x)" in result.after.decode()
    assert "lax_linalg" not in result.after.decode()


@pytest.mark.parametrize(
    ("source", "target", "part"),
    [
        pytest.param("lax.pvary(x, 'i')", "0.7.2", "choose by version", id="target-without-the-successor"),
        pytest.param("lax.tie_in(*xs)", None, "has done nothing", id="arguments-unknown"),
    ],
)
def test_manual(source: str, target: str | None, part: str) -> None:
    result = run(f"from jax import lax\ny = {source}\n", select=SELECT, target=target)
    assert not applied(result)
    assert any(part in f.message for f in result.findings), result.findings


def test_a_computation_that_is_dropped_is_for_review() -> None:
    found = run("from jax import lax\ny = lax.tie_in(f(x), y)\n", select=SELECT).findings
    assert [str(f.applicability) for f in found] == ["review"]


def test_a_primitive_with_operands_in_another_order_is_not_renamed() -> None:
    assert not applied(run("from jax import lax\ny = lax.select_p.bind(c, a, b)\n", select=SELECT))


@pytest.mark.parametrize("use", ["jax.lax_linalg.eigh_impl", "getattr(jax.lax_linalg, 'eigh_impl')"])
def test_what_the_new_home_of_a_module_lacks_is_reported_and_left(use: str) -> None:
    result = run(f"import jax\nx = {use}\ny = jax.lax_linalg.eigh(z)\n")
    assert result.after == f"import jax\nx = {use}\ny = jax.lax.linalg.eigh(z)\n".encode()
    assert [f.codemod for f in result.findings if f.position.line == 2] == ["removed-names"]


def test_what_the_new_home_of_a_module_lacks_is_looked_for_behind_a_path_too() -> None:
    source = "import importlib\nm = importlib.import_module('jax.lax_linalg')\nm.eigh(x)\n"
    assert b"'jax.lax.linalg'" in run(source).after
    unchanged(f"{source}m.eigh_impl(x)\n", findings=["has no eigh_impl"])
