"""Doctests in docstrings: one quiet word for each name that is gone."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Severity, Status
from jaxmigrate.testing import findings, run

HEAD = "import jax, jax.numpy as jnp\n"


def docstring(*lines: str) -> str:
    body = "\n    ".join(lines)
    return f'{HEAD}def f():\n    """Do it.\n\n    {body}\n    """\n'


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(docstring(">>> jax.tree.map(f, x)", ">>> jnp.clip(x, min=0)"), id="living"),
        pytest.param(docstring("jax.tree_map(f, x)", "Use jax.tree_map."), id="prose"),
        pytest.param(docstring(">>> 1", "jax.tree_map(f, x)"), id="output"),
        pytest.param(docstring(">>> jax.tree_map(f, x", ">>> this is no Python jax.tree_map"), id="no-python"),
        pytest.param(docstring(">>> print('jax.tree_map')", ">>> # jax.tree_map"), id="string-and-comment"),
        pytest.param(docstring(">>> other.tree_map(f)", ">>> tree_map(f)"), id="other-names"),
        pytest.param(docstring(">>> from mine import jax", ">>> jax.tree_map(f)"), id="import-of-its-own"),
        pytest.param('def f():\n    """\n    >>> jax.tree_map(f)\n    """\n    import jax\n', id="import-of-the-function"),
        pytest.param(docstring(">>> jax.never_was", ">>> jnp.never_was"), id="never-was"),
        pytest.param(f'{HEAD}jax.tree_map = mine\ndef f():\n    """\n    >>> jax.tree_map(f)\n    """\n', id="put-there"),
        pytest.param(f"{HEAD}x = '>>> jax.tree_map(f)'\n", id="data"),
    ],
)
def test_nothing_is_said(source: str) -> None:
    assert not [f for f in findings(source) if "doctest" in f.message]


@pytest.mark.parametrize(
    ("source", "symbols"),
    [
        pytest.param(docstring(">>> jax.tree_map(f, x)"), ["jax.tree_map"], id="imports-of-the-file"),
        pytest.param(docstring(*[">>> jax.tree_map(f, x)"] * 10), ["jax.tree_map"], id="once"),
        pytest.param(docstring(">>> for i in x:", "...     jax.tree_map(f, i)"), ["jax.tree_map"], id="further-lines"),
        pytest.param(docstring(">>> jnp.product(jax.tree_map(f, x))"), ["jax.numpy.product", "jax.tree_map"], id="two-names"),
        pytest.param(docstring(">>> from jax.experimental import maps"), ["jax.experimental.maps"], id="import"),
        pytest.param(
            docstring(">>> import jax.numpy as np", ">>> np.product(x)"), ["jax.numpy.product"], id="imports-of-its-own"
        ),
        pytest.param(docstring(">>> jnp.clip(x, a_min=0)"), ["jax.numpy.clip(a_min=)"], id="keyword"),
        pytest.param('"""\n>>> import jax\n>>> jax.tree_map(f)\n"""\n', ["jax.tree_map"], id="of-the-module"),
        pytest.param(f'{HEAD}class A:\n    """\n    >>> jax.tree_map(f)\n    """\n', ["jax.tree_map"], id="of-a-class"),
    ],
)
def test_a_name_that_is_gone_is_said_once(source: str, symbols: list[str]) -> None:
    result = run(source)
    assert result.status is Status.UNCHANGED
    assert sorted(f.symbol for f in result.findings) == symbols
    assert {f.severity for f in result.findings} == {Severity.LOW}


def test_the_line_of_the_example_is_named() -> None:
    [finding] = findings(docstring("Text.", "", ">>> x = 1", ">>> jax.tree_map(f, x)"))
    assert finding.message.endswith("it stands in a doctest, line 8")


def test_keywords_in_code_that_is_run() -> None:
    [finding] = findings(f"{HEAD}exec(f'jnp.clip({{x}}, a_min=0)')\n")
    assert finding.symbol == "jax.numpy.clip(a_min=)"
