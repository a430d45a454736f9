"""clear-backends: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = {"select": "clear-backends"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.extend.backend import clear_backends\nclear_backends()\n", id="already-migrated"),
        pytest.param("import jax\njax.clear_caches()\n", id="caches-alone"),
        pytest.param("from scipy._lib._uarray import clear_backends\nclear_backends(d)\n", id="another-library"),
        pytest.param("import jax\nif hasattr(jax, 'clear_backends'):\n    jax.clear_backends()\n", id="guard"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


def test_an_older_target_has_only_the_old_name() -> None:
    unchanged("import jax\njax.clear_backends()\n", findings=["choose by version"], target="0.4.13", **SELECT)


def test_called_and_passed_on() -> None:
    rewritten(
        "import atexit\nimport jax\njax.clear_backends()\natexit.register(jax.clear_backends)\n",
        "import atexit\nimport jax\nimport jax.extend.backend\njax.extend.backend.clear_backends()\n"
        "atexit.register(jax.extend.backend.clear_backends)\n",
        **SELECT,
    )
