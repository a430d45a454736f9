"""function-names: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import applied, rewritten, run, unchanged

SELECT = "function-names"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\nimport random\nrandom.shuffle(xs)\n", id="random-of-python"),
        pytest.param("import jax\nfrom numpy import random\nrandom.shuffle(xs)\n", id="random-of-numpy"),
        pytest.param("import jax\nfrom sklearn.utils import shuffle\ny = shuffle(x)\n", id="shuffle-of-scikit-learn"),
        pytest.param("from jax import random\ny = random.permutation(key, x)\n", id="permutation-already"),
        pytest.param("import jax\nfrom sklearn.preprocessing import normalize\ny = normalize(x)\n", id="normalize-of-another"),
        pytest.param("import jax\nimport torch.nn as nn\ny = nn.normalize(x)\n", id="nn-of-torch"),
        pytest.param("import jax\nfrom scipy.special import sph_harm\ny = sph_harm(m, n, t, p)\n", id="scipy-itself"),
        pytest.param("import jax, scipy\ny = scipy.linalg.tril(x)\n", id="tril-of-scipy"),
        pytest.param("import jax.numpy as jnp\ny = jnp.tril(x)\n", id="tril-of-numpy"),
        pytest.param("import jax\ndef f(random): return random.shuffle(key, x)\n", id="shadowed-module"),
        pytest.param("from jax import random\nk = random.PRNGKey(0, impl='rbg')\n", id="key-with-a-generator"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("random.shuffle(key, x)", "random.permutation(key, x, independent=True)"),
        ("random.shuffle(key, x, axis=1)", "random.permutation(key, x, axis=1, independent=True)"),
        ("random.shuffle(key, x, 1)", "random.permutation(key, x, 1, independent=True)"),
        ("random.rbg_key(0)", 'random.PRNGKey(0, impl="rbg")'),
        ("random.unsafe_rbg_key(seed=0)", 'random.PRNGKey(seed=0, impl="unsafe_rbg")'),
        ("nn.normalize(x, axis=0)", "nn.standardize(x, axis=0)"),
        ("linalg.polar_unitary(x)", "linalg.polar(x)[0]"),
        ("linalg.polar_unitary(x, maxiter=9) @ z", "linalg.polar(x, max_iterations=9)[0] @ z"),
        ("special.sph_harm(m, n, t, p)", "special.sph_harm_y(n, m, p, t)"),
        ("special.sph_harm(m, n, phi=p, theta=t, n_max=4)", "special.sph_harm_y(n, m, p, t, n_max=4)"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    head = "from jax import nn, random\nfrom jax.scipy import linalg, special\n"
    rewritten(f"{head}y = {before}\n", f"{head}y = {after}\n", select=SELECT)


def test_a_function_that_is_passed_on() -> None:
    rewritten(
        "from functools import partial\nfrom jax import random, vmap\ny = vmap(random.shuffle)(keys, xs)\n",
        "from functools import partial\nfrom jax import random, vmap\n"
        "y = vmap(partial(random.permutation, independent=True))(keys, xs)\n",
        select=SELECT,
    )


def test_partials_and_values() -> None:
    head = "from functools import partial\nfrom jax import random\nfrom jax.scipy import special\n"
    rewritten(
        f"{head}y = partial(random.rbg_key, 3)\nz = map(random.rbg_key, seeds), f(special.sph_harm)\n",
        f'{head}y = partial(random.PRNGKey, 3, impl="rbg")\nz = map(partial(random.PRNGKey, impl="rbg"), seeds), '
        "f(lambda m, n, theta, phi, n_max=None: special.sph_harm_y(n, m, phi, theta, n_max=n_max))\n",
        select=SELECT,
    )


def test_a_function_whose_argument_the_target_lacks_stays() -> None:
    unchanged("from jax import random\nk = map(random.rbg_key, seeds)\n", select=SELECT, target="0.4.13")


def test_a_name_that_others_import_from_here_stays() -> None:
    rewritten(
        "from jax.nn import normalize\n__all__ = ['normalize']\n",
        "from jax.nn import standardize as normalize\n__all__ = ['normalize']\n",
        select=SELECT,
    )


@pytest.mark.parametrize(
    ("source", "target", "part"),
    [
        pytest.param("special.sph_harm(m, n, t, p)", "0.4.38", "choose by version", id="harmonics-of-an-old-target"),
        pytest.param("special.sph_harm(*xs)", None, "hold *", id="arguments-unknown"),
        pytest.param("random.rbg_key(0)", "0.4.13", "choose by version", id="keys-of-an-old-target"),
        pytest.param("linalg.polar_unitary(x, 'svd')", None, "the first of", id="method-by-position"),
        pytest.param("nn.normalize(x)", "0.3.4", "choose by version", id="standardize-is-younger"),
    ],
)
def test_manual(source: str, target: str | None, part: str) -> None:
    head = "from jax import nn, random\nfrom jax.scipy import linalg, special\n"
    result = run(f"{head}y = {source}\n", select=SELECT, target=target)
    assert not applied(result)
    assert any(part in f.message for f in result.findings), result.findings


def test_calls_in_another_order_of_evaluation_are_for_review() -> None:
    found = run("from jax.scipy.special import sph_harm\ny = sph_harm(next(i), next(i), t, p)\n", select=SELECT).findings
    assert [str(f.applicability) for f in found if f.codemod == SELECT][:1] == ["review"]
