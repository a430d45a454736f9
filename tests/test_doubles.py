"""Test doubles of names that moved: the double and what it stands in for go together, or neither does."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

HEAD = "import jax, jax.numpy as jnp\nfrom unittest import mock\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        pytest.param(
            "mock.patch.object(jax, 'tree_map')\njax.tree_map(f, x)\n",
            ["no longer exists", "a test double stands in for it in line 3"],
            id="use-that-needs-a-look",
        ),
        pytest.param(
            "mock.patch.object(target=jax, attribute='tree_leaves')\njax.tree_leaves(x)\n",
            ["no longer exists", "a test double stands in for it in line 3"],
            id="by-keywords",
        ),
        pytest.param(
            "with mock.patch('jax.ops.index_add'):\n    jax.ops.index_add(x, 0, 1)\n",
            ["is gone", "jax.ops.index_add: a test double stands in for it in line 3"],
            id="call-that-is-reshaped",
        ),
        pytest.param("mock.patch.object(x, 'round_')\nmock.patch.object(jnp, 'round')\n", [], id="other-names"),
        pytest.param("mock.patch.object(jax.config, 'jax_enable_x64', True)\n", [], id="option"),
        pytest.param("mock.patch.object(jnp, 'ro' 'und_')\n", ["it is named in a string"], id="name-in-two-pieces"),
    ],
)
def test_neither(source: str, said: list[str]) -> None:
    unchanged(HEAD + source, findings=said)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "@mock.patch.object(jnp, 'round_', autospec=True)\ndef test(m):\n    jnp.round_(x)\n",
            "@mock.patch.object(jnp, 'round', autospec=True)\ndef test(m):\n    jnp.round(x)\n",
            id="name",
        ),
        pytest.param(
            "mock.patch.object(target=jnp, attribute='product')\njnp.product(x)\n",
            "mock.patch.object(target=jnp, attribute='prod')\njnp.prod(x)\n",
            id="by-keywords",
        ),
        pytest.param(
            "import jax.core\nmock.patch.object(jax.core, 'Primitive')\njax.core.Primitive(x)\n",
            "import jax.extend.core\nmock.patch.object(jax.extend.core, 'Primitive')\njax.extend.core.Primitive(x)\n",
            id="module",
        ),
    ],
)
def test_both(before: str, after: str) -> None:
    rewritten(HEAD + before, HEAD + after)
