"""config-flags: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = "config-flags"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "import jax\njax.config.update('jax_enable_x64', True)\njax.config.update('jax_debug_nans', x)\n", id="alive"
        ),
        pytest.param("import jax\njax.config.update('my_option', True)\njax.config.update(name, True)\n", id="own-options"),
        pytest.param("import jax\nconfig = {}\nconfig.update('jax_omnistaging', True)\n", id="a-dict"),
        pytest.param("import jax\nsettings.update(jax_omnistaging=True)\nx = 'jax_omnistaging'\n", id="own-name"),
        pytest.param("import jax\njax.config.update('jax_array', True)\n", id="flag-of-another-codemod"),
        pytest.param(
            "import jax\ntry:\n    jax.config.update('jax_omnistaging', True)\nexcept AttributeError:\n    pass\n", id="tried"
        ),
        pytest.param("import os, jax\nos.environ['JAX_ENABLE_X64'] = '1'\nenv['JAX_OMNISTAGING'] = '1'\n", id="environment"),
        pytest.param("import jax\ndef f(jax): jax.config.update('jax_omnistaging', True)\n", id="shadowed"),
        pytest.param("import jax\n# jax.config.update('jax_omnistaging', True)\n", id="comment"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("import jax\njax.config.update('jax_omnistaging', True)\njax.jit\n", "import jax\njax.jit\n", id="always"),
        pytest.param(
            "from jax import config\nconfig.update(name='jax_dynamic_shapes', val=False)\nconfig.update('jax_enable_x64', 1)\n",
            "from jax import config\nconfig.update('jax_enable_x64', 1)\n",
            id="keywords",
        ),
        pytest.param(
            "import jax\nif x:\n    jax.config.update('jax_spmd_mode', 'allow_all')\njax.jit\n",
            "import jax\nif x:\n    pass\njax.jit\n",
            id="only-statement",
        ),
        pytest.param(
            "import jax\njax.config.update('jax_enable_key_reuse_checks', flag())\n",
            'import jax\njax.config.update("jax_debug_key_reuse", flag())\n',
            id="renamed",
        ),
        pytest.param("import jax\nx = a if not jax.config.jax_omnistaging else b\n", "x = b\n", id="read"),
        pytest.param("import os\nos.environ['JAX_OMNISTAGING'] = 'true'\nos.x\n", "import os\nos.x\n", id="variable"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        ("jax.config.update('jax_omnistaging', False)", "nothing brings the other behaviour back"),
        ("jax.config.update('jax_pmap_shmap_merge', value)", "nothing brings the other behaviour back"),
        ("x = jax.config.update('jax_omnistaging', True)", "is gone"),
        ("jax.config.update('jax_remat_opt_barrier', ask())", "is gone"),
        ("jax.config.update('jax_default_dtype_bits', '32')", "jax_enable_x64"),
        ("jax.config.update('jax_cpu_enable_gloo_collectives', False)", "is gone"),
        ("jax.config.update('jax_memory_fitting_effort', 0.5)", "jax_memory_fitting_level"),
    ],
)
def test_what_asked_for_more_is_explained(use: str, advice: str) -> None:
    unchanged(f"import jax\n{use}\n", select=SELECT, findings=[advice])


def test_an_option_that_the_target_has_is_a_choice() -> None:
    source = "import jax\njax.config.update('jax_spmd_mode', 'allow_all')\n"
    unchanged(source, select=SELECT, target="0.4.30", findings=["is in jax.config.values"])


def test_a_variable_that_asked_for_more_is_explained() -> None:
    unchanged("import os\nos.environ['JAX_OMNISTAGING'] = '0'\n", select=SELECT, findings=["no JAX reads"])
