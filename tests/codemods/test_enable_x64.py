"""enable-x64: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = {"select": "enable-x64"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\njax.config.update('jax_enable_x64', True)\n", id="flag"),
        pytest.param("import jax\nwith jax.enable_x64(True): pass\n", id="already-migrated"),
        pytest.param("import numpyro\nnumpyro.enable_x64()\n", id="function-of-another-library"),
        pytest.param("import jax\ndef enable_x64(): pass\nenable_x64()\n", id="own-function"),
        pytest.param("import os\nos.environ['JAX_ENABLE_X64'] = '1'\n", id="environment"),
        pytest.param(
            "try:\n    from jax import enable_x64\nexcept ImportError:\n    from jax.experimental import enable_x64\n", id="guard"
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


def test_no_name_serves_an_older_target_and_the_newest_release() -> None:
    unchanged(
        "import jax.experimental\nwith jax.experimental.enable_x64(): pass\n",
        findings=["choose by version"],
        target="0.4.30",
        **SELECT,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("with jax.experimental.enable_x64(): pass", "with jax.enable_x64(True): pass", id="default-is-said"),
        pytest.param("with jax.experimental.enable_x64(on): pass", "with jax.enable_x64(on): pass", id="argument-stays"),
        pytest.param("with jax.experimental.enable_x64(*on): pass", "with jax.enable_x64(*on): pass", id="star"),
        pytest.param("with jax.experimental.disable_x64(), f: pass", "with jax.enable_x64(False), f: pass", id="off"),
        pytest.param("off = jax.experimental.disable_x64", "off = lambda: jax.enable_x64(False)", id="off-as-a-value"),
        pytest.param("on = jax.experimental.enable_x64", "on = jax.enable_x64", id="on-as-a-value"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(f"import jax\nimport jax.experimental\n{before}\n", f"import jax\n{after}\n", **SELECT)
