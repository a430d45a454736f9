"""Tests that a use fails are left alone, and only those."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Outcome, Status
from jaxmigrate.testing import applied, run

HEAD = "import jax, pytest\nimport jax.numpy as jnp\nfrom jax.sharding import NamedSharding\n"
ASSERTED = {
    "name": "with pytest.raises(AttributeError):\n    jax.tree_map(f, x)\n",
    "name_that_is_only_read": "with pytest.raises(AttributeError, match='gone'):\n    jax.tree_map\n",
    "name_of_an_import": "with pytest.raises(ImportError):\n    from jax import tree_map\n",
    "one_of_two": "with pytest.raises((AttributeError, ImportError)):\n    y = jax.tree_map(f, x)\n",
    "keyword": "def test(self):\n    with self.assertRaises(TypeError):\n        jax.scipy.special.beta(x=1, y=1)\n",
    "keyword_and_message": "def test(self):\n    with self.assertRaisesRegex(TypeError, 'unexpected'):\n        jnp.clip(x, a_min=0., a_max=1.)\n",
    "argument": "with pytest.raises(TypeError):\n    NamedSharding(mesh, None)\n",
    "refused_value": "from jax.experimental import multihost_utils\ndef test(self):\n    with self.assertRaisesRegex(ValueError, 'None'):\n"
                     "        multihost_utils.host_local_array_to_global_array(x, mesh, None)\n",
    "lambda": "def test(self):\n    self.assertRaises(AttributeError, lambda: jax.tree_map(f, x))\n",
    "callable": "def test(self):\n    self.assertRaises(AttributeError, jax.tree_map, f, x)\n",
    "warning": "with pytest.warns(DeprecationWarning):\n    jnp.clip(x, a_min=0., a_max=1.)\n",
    "deprecated_call": "with pytest.deprecated_call():\n    jnp.clip(x, a_min=0., a_max=1.)\n",
}  # fmt: skip
NOT_ASSERTED = {
    "another_error": "with pytest.raises(ValueError):\n    f(jax.tree_map(g, x))\n",
    "another_error_of_the_use": "with pytest.raises(ValueError):\n    jax.tree_map(g, x)\n",
    "error_of_arguments_for_a_name": "with pytest.raises(TypeError):\n    jax.tree_map(g)\n",
    "any_error": "with pytest.raises(Exception):\n    jax.tree_map(g, x)\n",
    "more_than_the_use": "with pytest.raises(AttributeError):\n    y = jax.tree_map(g, x)\n    y.z\n",
    "within_another_call": "with pytest.raises(AttributeError):\n    f(jax.tree_map(g, x))\n",
    "warning_of_a_name_that_is_gone": "with pytest.warns(DeprecationWarning):\n    jax.tree_map(g, x)\n",
    "keyword_within_another_call": "with pytest.raises(TypeError):\n    jax.jit(f)(jnp.reshape(x, newshape=(3,)))\n",
    "no_assertion": "with open(AttributeError):\n    jax.tree_map(g, x)\n",
}  # fmt: skip


@pytest.mark.parametrize("place", ASSERTED.values(), ids=ASSERTED)
def test_what_is_expected_to_fail_stays(place: str) -> None:
    result = run(HEAD + place)
    assert result.status is Status.UNCHANGED
    assert {f.outcome for f in result.findings} == {Outcome.GUARDED}


@pytest.mark.parametrize("place", NOT_ASSERTED.values(), ids=NOT_ASSERTED)
def test_what_is_expected_to_work_or_to_fail_otherwise_is_rewritten(place: str) -> None:
    assert applied(run(HEAD + place))
