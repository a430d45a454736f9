"""Which JAX the edits need whose new text holds no new name: what they wrote works from a release on, or everywhere."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Version
from jaxmigrate.testing import run

JAX = "import jax, jax.numpy as jnp\n"


@pytest.mark.parametrize(
    ("program", "needs"),
    [
        pytest.param("c = jax.jit(f).lower(x).compile()\nc.cost_analysis()[0]", "0.5.0", id="costs-as-a-dict"),
        pytest.param("y = jax.pmap(f)(x)\nz = y.addressable_data(0) + 1", "0.4.34", id="shards-with-the-mapped-dimension"),
        pytest.param("def f(x: jax.Array): return x.devices()[0]", "0.4.1", id="device-of-a-shard"),
        pytest.param("def f(x: jax.Array): return x.devices()[1:]", "0.4.1", id="devices-of-the-shards"),
        pytest.param("def f(x: jax.Array): return x.client", "0.4.1", id="client-of-a-device"),
        pytest.param('q = jax.scipy.linalg.qr(jnp.eye(3), mode="r")', "0.3.8", id="qr-in-a-tuple"),
        pytest.param('jax.config.update("jax_array", True)', "0.4.1", id="flag-that-is-on"),
        pytest.param("if jax.config.jax_array:\n    f()\nelse:\n    g()", "0.4.1", id="arm-of-the-flag"),
        pytest.param("aval = jax.core.raise_to_shaped(a)", "0.4.36", id="types-without-values"),
        pytest.param("m = jnp.zeros((4, 3, 3))\ny = jnp.linalg.solve(m, jnp.zeros((4, 3)))", None, id="solve-either-side"),
        pytest.param("y = jnp.floor(jnp.array([1, 2]))", None, id="cast-either-side"),
    ],
)
def test_edit_says_from_which_release_its_text_works(program: str, needs: str | None) -> None:
    result = run(JAX + program, origin="0.3.0", allowed="unsafe")
    assert result.before != result.after
    assert result.requires == (Version.parse(needs) if needs else None)
