"""key-array: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import findings, rewritten, unchanged

SELECT = "key-array"
TEST = "isinstance(k, jax.Array) and jax.dtypes.issubdtype(k.dtype, jax.dtypes.prng_key)"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\nfrom jaxtyping import PRNGKeyArray\ndef f(k: PRNGKeyArray): ...\n", id="jaxtyping"),
        pytest.param("import jaxtyping as jt\nimport jax\ndef f(k: 'jt.PRNGKeyArray'): ...\n", id="jaxtyping-quoted"),
        pytest.param("import jax\nfrom mylib.types import KeyArray\ndef f(k: KeyArray): ...\n", id="another-package"),
        pytest.param("import jax\nclass KeyArray: ...\ndef f(k: KeyArray): return isinstance(k, KeyArray)\n", id="own-class"),
        pytest.param("import jax\ndef f(random): return random.KeyArray\n", id="shadowed"),
        pytest.param("from chex import PRNGKey\nimport jax\nPRNGKey\n", id="chex"),
        pytest.param("import numpy.random as random\nimport jax\nrandom.KeyArray\n", id="another-random"),
        pytest.param("from mylib import prng\nimport jax\nprng.threefry_prng_impl\n", id="another-prng"),
        pytest.param("import jax\n# jax.random.KeyArray\nx = 'a KeyArray'\n", id="text"),
        pytest.param(
            "import jax\nif hasattr(jax.random, 'KeyArray'):\n    Key = jax.random.KeyArray\nelse:\n    Key = jax.Array\n",
            id="presence-chooses",
        ),
        pytest.param(
            "try:\n    from jax import Array as Key\nexcept ImportError:\n    from jax.random import KeyArray as Key\nx: Key\n",
            id="array-is-tried-first",
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "import jax\ndef f(k: jax.random.KeyArray): ...\n", "import jax\ndef f(k: jax.Array): ...\n", id="annotation"
        ),
        pytest.param(
            "import jax\ndef f(k: 'list[jax.random.PRNGKeyArray]'): ...\n",
            "import jax\ndef f(k: 'list[jax.Array]'): ...\n",
            id="quoted",
        ),
        pytest.param(
            "from jax.random import KeyArray as K, split\ndef f(k: K): split(k)\n",
            "from jax import Array as K\nfrom jax.random import split\ndef f(k: K): split(k)\n",
            id="one-of-an-import",
        ),
        pytest.param(
            "import jax\nfrom typing import NewType\nK = NewType('K', jax.random.KeyArray)\n",
            "import jax\nfrom typing import NewType\nK = NewType('K', jax.Array)\n",
            id="new-type",
        ),
        pytest.param(
            "import jax\nfrom jax._src.prng import PRNGKeyArray\ndef f(k: PRNGKeyArray): jax\n",
            "import jax\ndef f(k: jax.Array): jax\n",
            id="private-home",
        ),
        pytest.param("import jax\nisinstance(k, jax.random.KeyArray)\n", f"import jax\n{TEST}\n", id="isinstance"),
        pytest.param(
            "import jax\nif not isinstance(k, jax.random.KeyArray): ...\n", f"import jax\nif not ({TEST}): ...\n", id="negated"
        ),
        pytest.param(
            "import jax\nisinstance(k, (int, jax.Array, jax.random.KeyArray))\n",
            "import jax\nisinstance(k, (int, jax.Array))\n",
            id="beside-arrays",
        ),
        pytest.param(
            "import jax\nfrom jax.random import KeyArray\nfrom jax._src.prng import PRNGKeyArray\n"
            "isinstance(k, (KeyArray, PRNGKeyArray))\n",
            f"import jax\n{TEST}\n",
            id="two-classes-of-keys",
        ),
        pytest.param(
            "import jax\nif not isinstance(k, (int, (str, jax.random.KeyArray))): ...\n",
            f"import jax\nif not (isinstance(k, (int, str)) or {TEST}): ...\n",
            id="among-others",
        ),
        pytest.param(
            "import jax\nisinstance(k, int | jax.random.KeyArray)\n",
            f"import jax\nisinstance(k, int) or {TEST}\n",
            id="in-a-union",
        ),
        pytest.param(
            "import jax\nfrom typing import Union\nSeed = Union[int, jax.random.KeyArray]\ndef f(s: Seed): ...\n",
            "import jax\nfrom typing import Union\nSeed = Union[int, jax.Array]\ndef f(s: Seed): ...\n",
            id="union-for-annotations",
        ),
        pytest.param(
            "from jax import prng\nprng.seed_with_impl(i, 0)\n",
            "from jax.extend import random\nrandom.seed_with_impl(i, 0)\n",
            id="module",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        ("isinstance(make(), jax.random.KeyArray)", "prng_key"),
        ("isinstance(make(), (int, jax.random.KeyArray))", "prng_key"),
        ("KEYS = (int, jax.random.KeyArray)\nisinstance(k, KEYS)", "prng_key"),
        ("def f(k, kinds=(int, jax.random.KeyArray)): return isinstance(k, kinds)", "prng_key"),
        ("any(isinstance(k, t) for t in (int, jax.random.KeyArray))", "prng_key"),
        ("Key = int | jax.random.KeyArray\nisinstance(k, Key)", "prng_key"),
        ("isinstance(k, (int, *[jax.random.KeyArray]))", "prng_key"),
        ("self.assertIsInstance(k, jax.random.KeyArray)", "prng_key"),
        ("issubclass(t, jax.random.KeyArray)", "no class of their own"),
        ("type(k) is jax.random.PRNGKeyArray", "no class of their own"),
        ("f.register(jax.random.KeyArray)", "no class of their own"),
        ("jax.prng.PRNGKeyArray(impl, data)", "wrap_key_data"),
        ("handle(jax.random.KeyArray)", "prng_key"),
    ],
)
def test_a_use_that_depends_on_the_class_is_reported(use: str, advice: str) -> None:
    unchanged(f"import jax\n{use}\n", select=SELECT, findings=[advice])


def test_a_subclass_is_reported() -> None:
    unchanged("import jax\nclass K(jax.random.KeyArray): ...\n", select=SELECT, findings=["no class of their own"])


def test_the_test_for_keys_is_younger_than_the_target() -> None:
    unchanged("import jax\nisinstance(k, jax.random.KeyArray)\n", select=SELECT, target="0.4.13", findings=["choose by version"])


def test_a_test_through_an_alias_does_not_widen() -> None:
    rewritten(
        "import jax\nKey = jax.random.KeyArray\nisinstance(k, Key)\n", f"import jax\nKey = jax.Array\n{TEST}\n", select=SELECT
    )


def test_a_name_passed_on_is_a_review() -> None:
    result = rewritten(
        "from jax.random import KeyArray\n__all__ = ['KeyArray']\n",
        "from jax import Array as KeyArray\n__all__ = ['KeyArray']\n",
        select=SELECT,
    )
    assert [f.applicability.name for f in result.findings] == ["REVIEW"]


def test_a_test_for_several_classes_is_one_finding() -> None:
    source = "import jax\nisinstance(k, (jax.random.KeyArray, jax.random.PRNGKeyArray))\n"
    assert len(findings(source, select=SELECT)) == 1


def test_an_alias_that_is_tested_where_nothing_can_be_asked_stays() -> None:
    source = "import jax\nKey = jax.random.KeyArray\nisinstance(make(), (Key, jax.random.PRNGKeyArray))\n"
    unchanged(source, select=SELECT, findings=["prng_key"] * 3)
    source = "import jax\nKey = jax.random.KeyArray\nisinstance(k, Key)\n"
    unchanged(source, select=SELECT, target="0.4.13", findings=["prng_key", "choose by version"])


def test_an_alias_that_became_an_array_lets_no_array_through() -> None:
    rewritten(
        "import jax\nKey = jax.random.KeyArray\nisinstance(k, (Key, jax.random.PRNGKeyArray))\n",
        f"import jax\nKey = jax.Array\n{TEST}\n",
        select=SELECT,
    )
