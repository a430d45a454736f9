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
        pytest.param("import jax\njax.config.DEFINE_bool('jax_mine', 1)\njax.config.update('jax_mine', 0)\n", id="defined-here"),
        pytest.param("import jax\nx = 'jax_omnistaging' in jax.config.values\n", id="asked-for"),
        pytest.param("import jax\nx = getattr(jax.config, 'jax_omnistaging', True)\n", id="read-with-a-default"),
        pytest.param("import jax\nx = ['jax_omnistaging']\njax.config.update('jax_enable_x64', x)\n", id="a-list-of-names"),
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
        ("jax.config.update('jax_no_such_thing', True)", "not an option of any known release"),
        ("jax.config.read('jax_omnistaging')", "is gone"),
        ("x = jax.config.values['jax_host_callback_legacy']", "is gone"),
        ("x = jax.config.jax_host_callback_legacy", "is gone"),
        ("x = getattr(jax.config, 'jax_host_callback_legacy')", "is gone"),
        ("for o in ('jax_enable_x64', 'jax_omnistaging'):\n    jax.config.update(o, True)", "is gone"),
        ("for o, v in {'jax_omnistaging': True}.items():\n    jax.config.update(o, v)", "is gone"),
        ("monkeypatch.setenv('JAX_OMNISTAGING', '1')", "no JAX reads"),
        ("run(command, env={'JAX_OMNISTAGING': '1'})", "no JAX reads"),
    ],
)
def test_what_asked_for_more_is_explained(use: str, advice: str) -> None:
    unchanged(f"import jax\n{use}\n", select=SELECT, findings=[advice])


def test_an_option_that_the_target_has_is_a_choice() -> None:
    source = "import jax\njax.config.update('jax_spmd_mode', 'allow_all')\n"
    unchanged(source, select=SELECT, target="0.4.30", findings=["is in jax.config.values"])


def test_a_variable_that_asked_for_more_is_explained() -> None:
    unchanged("import os\nos.environ['JAX_OMNISTAGING'] = '0'\n", select=SELECT, findings=["no JAX reads"])


@pytest.mark.parametrize(
    "use",
    [
        "for name in ('jax_omnistaging',):\n    jax.config.update(name, True)",
        "for name, on in {'jax_omnistaging': True}.items():\n    jax.config.update(name, on)",
        "setattr(jax.config, 'jax_omnistaging', True)",
        "self.config.update('jax_omnistaging', True)",
    ],
)
def test_an_option_that_may_reach_the_configuration_is_explained(use: str) -> None:
    unchanged(f"import jax\n{use}\n", select=SELECT, findings=["if this reaches jax.config.update"])


@pytest.mark.parametrize(
    "use",
    [
        "print('jax_omnistaging')",
        "seen = {'jax_omnistaging': True}",
        "table.update('jax_omnistaging')",
        "setattr(x, 'jax_omnistaging', 1)",
    ],
)
def test_the_name_of_an_option_alone_is_none(use: str) -> None:
    unchanged(f"import jax\n{use}\n", select=SELECT)


def test_an_option_that_the_target_does_not_have_yet() -> None:
    source = "import jax\njax.config.update('jax_pgle_profiling_runs', 1)\n"
    unchanged(source, select=SELECT, target="0.4.13", findings=["exists since JAX 0.4.29"])
    unchanged(source, select=SELECT)
    asked = (
        "import jax\nif 'jax_pgle_profiling_runs' in jax.config.values:\n    jax.config.update('jax_pgle_profiling_runs', 1)\n"
    )
    unchanged(asked, select=SELECT, target="0.4.13")
