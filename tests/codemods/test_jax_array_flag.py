"""jax-array-flag: above all, what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import findings, rewritten, unchanged

SELECT = {"select": "jax-array-flag"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "import argparse\nconfig = argparse.ArgumentParser().parse_args()\nif config.jax_array: pass\n", id="argparse"
        ),
        pytest.param(
            "import ml_collections\nconfig = ml_collections.ConfigDict()\nprint(config.jax_array)\n", id="ml_collections"
        ),
        pytest.param("def f(config):\n    return config.jax_array\n", id="parameter-called-config"),
        pytest.param("import jax\nclass C:\n    def f(self):\n        return self.config.jax_array\n", id="own-attribute-config"),
        pytest.param("import jax\nconfig = {'jax_array': True}\nprint(config['jax_array'])\n", id="dict-key"),
        pytest.param("import jax\noptions = dict(jax_array=True)\noptions.update({'jax_array': False})\n", id="dict-update"),
        pytest.param("import jax\njax_array = jax.numpy.ones(1)\nif jax_array: print(jax_array)\n", id="local-variable"),
        pytest.param("import jax\ndef f(jax_array=True):\n    if jax_array:\n        return 1\n", id="parameter"),
        pytest.param("import jax\njax.config.update('jax_array_something', True)\n", id="longer-flag-name"),
        pytest.param("import jax\nif jax.config.jax_array_something: pass\n", id="longer-attribute"),
        pytest.param("import jax\njax.config.update('jax_enable_x64', True)\n", id="another-flag"),
        pytest.param("import jax\njax.config.parse_flags_with_absl()\n", id="parse-flags-with-absl"),
        pytest.param("import jax\nfrom absl import app\njax.config.config_with_absl()\n", id="config-with-absl"),
        pytest.param('import jax\ndef f():\n    """Needs jax.config.update("jax_array", True)."""\n', id="docstring"),
        pytest.param('"""Run with JAX_ARRAY=1 or --jax_array."""\nimport jax\n', id="module-docstring"),
        pytest.param("import jax\n# jax.config.update('jax_array', True)\nx = 1  # JAX_ARRAY=1\n", id="comment"),
        pytest.param(
            "from jax._src.test_util import with_config\n@with_config(jax_enable_x64=True)\nclass A: pass\njax_array = 1\n",
            id="with-config-of-another-flag",
        ),
        pytest.param("import enum\nclass Kind(enum.Enum):\n    jax_array = 1\nprint(Kind.jax_array)\n", id="own-enum"),
        pytest.param("from mylib.config import config\nconfig.update(jax_array=True)\n", id="own-config-module"),
        pytest.param("import jax\nfrom mylib import config\nif config.jax_array: pass\n", id="own-config-beside-jax"),
        pytest.param("import torch as jax\nif jax.config.jax_array: pass\n", id="another-library-called-jax"),
        pytest.param(
            "import jax\ndef f(jax):\n    jax.config.update('jax_enable_x64', True)\n    return jax.config.jax_array\n",
            id="shadowed-jax",
        ),
        pytest.param("import jax\nKINDS = ['numpy_array', 'jax_array', 'torch_tensor']\n", id="list-of-own-words"),
        pytest.param("import jax\nprint('jax_array', jax.numpy.ones(1))\n", id="printed-word"),
        pytest.param("import jax\ndef jax_array(x):\n    return x\nwith jax_array(True): pass\n", id="own-function"),
        pytest.param("import os\nos.environ['MY_JAX_ARRAY'] = '1'\nos.environ['JAX_ARRAY_DIR'] = '/tmp'\n", id="longer-variable"),
        pytest.param("settings = {'JAX_ARRAY': '1'}\nprint(settings['JAX_ARRAY'])\n", id="own-dict-with-the-variable-s-name"),
        pytest.param("JAX_ARRAY = True\nif JAX_ARRAY: print(JAX_ARRAY)\n", id="own-constant"),
        pytest.param(
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--jax_array', action='store_true')\n"
            "args = p.parse_args(['--jax_array'])\n",
            id="own-argparse-flag",
        ),
        pytest.param(
            "from absl import flags\nflags.DEFINE_bool('jax_array', True, '')\nif flags.FLAGS.jax_array: pass\n",
            id="own-absl-flag",
        ),
        pytest.param(
            "import subprocess\nsubprocess.run(['tool', '--jax_array_dir=/tmp', '--no-jax_array'])\n", id="longer-argument"
        ),
        pytest.param(
            "import jax\nif hasattr(jax.config, 'jax_array'):\n    jax.config.update('jax_array', True)\n", id="guard-of-update"
        ),
        pytest.param(
            "import jax\nfrom contextlib import suppress\nwith suppress(AttributeError):\n    jax.config.update('jax_array', True)\n",
            id="suppressed",
        ),
        pytest.param(
            "import jax\ntry:\n    jax.config.update('jax_array', True)\nexcept AttributeError:\n    print('always on')\n",
            id="tried",
        ),
        pytest.param("import jax\nif getattr(jax.config, 'jax_array', True): print(1)\n", id="getattr-with-the-right-default"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("import jax\njax.config.update('jax_array', False)\n", "no longer exist", id="switched-off"),
        pytest.param(
            "import jax\ndef f(on):\n    jax.config.update('jax_array', on)\n", "delete this", id="switched-by-variable"
        ),
        pytest.param("import jax\nassert not jax.config.jax_array\n", "cannot hold", id="assert-off"),
        pytest.param(
            "def f(cfg):\n    cfg.update('jax_array', True)\n", "if this is JAX's own", id="update-of-an-unknown-object"
        ),
        pytest.param("import jax\nhas = hasattr(jax.config, 'jax_array')\n", "asks whether JAX has the flag", id="presence-kept"),
        pytest.param(
            "import jax\nif 'jax_array' in jax.config.values: print()\n", "asks whether JAX has the flag", id="in-values"
        ),
        pytest.param(
            "import jax, functools\non = functools.partial(jax.config.update, 'jax_array', True)\n", "remove it", id="partial"
        ),
        pytest.param(
            "from jax._src.config import jax_array\nwith jax_array(False):\n    pass\n", "no longer exist", id="context-off"
        ),
        pytest.param(
            "from jax._src.config import jax_array\nwith jax_array(True) as c:\n    print(c)\n", "remove it", id="context-named"
        ),
        pytest.param("import os\nos.environ['JAX_ARRAY'] = '0'\n", "no longer exist", id="variable-off"),
        pytest.param("import os\non = os.getenv('JAX_ARRAY')\n", "nothing in JAX reads", id="variable-read"),
        pytest.param("import os\nif 'JAX_ARRAY' in os.environ: print()\n", "nothing in JAX reads", id="variable-asked-for"),
        pytest.param(
            "import os\nos.environ['JAX_ARRAY'] = '1'\nprint(os.environ['JAX_ARRAY'])\n",
            "nothing in JAX reads",
            id="variable-set-and-read",
        ),
        pytest.param(
            "import os\nos.system('JAX_ARRAY=1 python x.py')\n", "remove the variable from the command", id="shell-command"
        ),
        pytest.param(
            "import os\nos.system('python x.py --jax_array')\n", "remove the flag from the command", id="flag-in-shell-command"
        ),
        pytest.param("a = ['x.py', '--nojax_array']\n", "no longer exist", id="argument-off"),
        pytest.param("run('x.py', '--jax_array')\n", "remove it", id="argument-of-a-call"),
        pytest.param(
            "SOURCE = '''\nimport jax\njax.config.update('jax_array', True)\n'''\n", "in a string", id="program-in-a-string"
        ),
        pytest.param(
            "import jax\nfrom unittest import mock\nwith mock.patch('jax.config.jax_array', True): pass\n",
            "in a string",
            id="mock-patch",
        ),
        pytest.param(
            "import jax\noptions = {'jax_array': True}\n[jax.config.update(k, v) for k, v in options.items()]\n",
            "if this reaches",
            id="option-in-a-dict",
        ),
        pytest.param("import jax\njax.config.update(*('jax_array', True))\n", "if this reaches", id="starred"),
        pytest.param("import jax\njax.config.jax_array = False\n", "no longer exist", id="assigned-off"),
        pytest.param("import jax\njax.config.values['jax_array'] = True\n", "remove it", id="values-stored"),
    ],
)
def test_reported_without_an_edit(source: str, message: str) -> None:
    found = findings(source, **SELECT)
    assert any(message in f.message for f in found), found
    assert not [f for f in found if f.after or str(f.outcome.value) == "applied"]


def test_assignment_to_the_configuration() -> None:
    rewritten("import jax\njax.config.jax_array = True\nprint(jax)\n", "import jax\nprint(jax)\n", **SELECT)


def test_targets_before_the_default_changed_are_reported() -> None:
    source = "import jax\njax.config.update('jax_array', True)\nif jax.config.jax_array:\n    print(1)\n"
    unchanged(source, findings=["raise the target", "raise the target"], target="0.3.25", **SELECT)


def test_target_0_4_13_folds_too() -> None:
    before = "import jax\njax.config.update('jax_array', True)\nif jax.config.jax_array:\n    print(jax)\n"
    rewritten(before, "import jax\nprint(jax)\n", target="0.4.13", **SELECT)


def test_flag_kept_for_more_than_putting_it_back_becomes_true() -> None:
    before = "import jax\nwas = jax.config.jax_array\nprint(was)\njax.config.update('jax_array', was)\n"
    rewritten(before, "was = True\nprint(was)\n", **SELECT)


def test_generator_stays_a_generator() -> None:
    before = "import jax\ndef f():\n    if not jax.config.jax_array:\n        yield 1\n"
    rewritten(before, "def f():\n    if False:\n        yield 1\n", **SELECT)


def test_call_with_side_effects_before_the_flag_is_kept() -> None:
    before = "import jax\nif setup() or jax.config.jax_array:\n    print(jax)\n"
    rewritten(before, "import jax\nif setup() or True:\n    print(jax)\n", **SELECT)


def test_negated_flag_after_a_call_with_side_effects() -> None:
    before = "import jax\nif setup() and not jax.config.jax_array:\n    print(jax)\n"
    rewritten(before, "import jax\nif setup() and False:\n    print(jax)\n", **SELECT)


def test_value_of_or_is_not_its_truth() -> None:
    before = "import jax\nx = name or jax.config.jax_array\ny = jax.config.jax_array or name\n"
    rewritten(before, "x = name or True\ny = True\n", **SELECT)


def test_parentheses_around_what_remains() -> None:
    before = "import jax\nif jax.config.jax_array and (a or b):\n    print(jax)\nx = not (jax.config.jax_array and a) is b\n"
    after = "import jax\nif a or b:\n    print(jax)\nx = not (a) is b\n"
    rewritten(before, after, **SELECT)


def test_while_keeps_its_loop() -> None:
    rewritten("import jax\nwhile jax.config.jax_array:\n    break\n", "while True:\n    break\n", **SELECT)


def test_comprehension_condition() -> None:
    rewritten("import jax\nx = [a for a in b if jax.config.jax_array]\n", "x = [a for a in b if True]\n", **SELECT)


def test_tuple_of_two_keeps_its_comma() -> None:
    before = "ARGS = ('x', '--jax_array')\nMORE = ('--jax_array=1', 'x')\nONE = ('--jax_array',)\n"
    rewritten(before, "ARGS = ('x',)\nMORE = ('x',)\nONE = ()\n", **SELECT)


def test_environment_cleared_again() -> None:
    before = (
        "import os\nos.environ['JAX_ARRAY'] = '1'\nprint(os)\ndel os.environ['JAX_ARRAY']\nos.environ.pop('JAX_ARRAY', None)\n"
    )
    rewritten(before, "import os\nprint(os)\n", **SELECT)


def test_monkeypatch_setenv() -> None:
    before = "def test(monkeypatch):\n    monkeypatch.setenv('JAX_ARRAY', '1')\n"
    rewritten(before, "def test(monkeypatch):\n    pass\n", **SELECT)


def test_pytest_skipif() -> None:
    before = (
        "import jax, pytest\n@pytest.mark.skipif(not jax.config.jax_array,\n                    reason='old')\n"
        "@pytest.mark.slow\ndef test():\n    pass\n"
    )
    rewritten(before, "import pytest\n@pytest.mark.slow\ndef test():\n    pass\n", **SELECT)


def test_output_gda_switched_off_names_the_way_back() -> None:
    before = "import jax\njax.config.update('jax_parallel_functions_output_gda', False)\nprint(jax)\n"
    rewritten(before, "import jax\nprint(jax)\n", **SELECT)
    (found,) = findings(before, **SELECT)
    assert "global_array_to_host_local_array" in found.message


def test_output_gda_value_with_a_side_effect_stays() -> None:
    source = "import jax\njax.config.update('jax_parallel_functions_output_gda', choose())\n"
    unchanged(source, findings=["global_array_to_host_local_array"], **SELECT)


def test_safe_only_keeps_what_the_older_flag_hangs_on() -> None:
    source = (
        "import jax\njax.config.update('jax_array', True)\n"
        "if jax.config.jax_parallel_functions_output_gda:\n    a\nelif jax.config.jax_array:\n    b\n"
    )
    unchanged(source, findings=3, allowed="safe", **SELECT)
    rewritten(source, "b\n", **SELECT)


def test_hasattr_of_the_older_flag_in_a_file_that_knows_both() -> None:
    older = "jax_parallel_functions_output_gda"
    before = f"import jax\nif hasattr(jax.config, '{older}') and jax.config.{older}:\n    a\nelif jax.config.jax_array:\n    b\n"
    rewritten(before, "b\n", **SELECT)


def test_with_config_of_the_test_utilities() -> None:
    before = "from jax._src import test_util as jtu\n@jtu.with_config(jax_array=True, x64=True)\nclass A: pass\n"
    rewritten(before, "from jax._src import test_util as jtu\n@jtu.with_config(x64=True)\nclass A: pass\n", **SELECT)


def test_absl_flags_object_of_jax() -> None:
    before = "from absl import flags\nFLAGS = flags.FLAGS\nif FLAGS.jax_array:\n    print(FLAGS)\n"
    rewritten(before, "from absl import flags\nFLAGS = flags.FLAGS\nprint(FLAGS)\n", **SELECT)


def test_hasattr_with_more_conditions() -> None:
    before = "import jax\nif x and hasattr(jax.config, 'jax_array') and jax.config.jax_array:\n    print(jax)\n"
    rewritten(before, "import jax\nif x:\n    print(jax)\n", **SELECT)
