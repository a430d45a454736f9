"""config-module: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = "config-module"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax import config\nconfig.update('jax_enable_x64', True)\n", id="present-home"),
        pytest.param(
            "import jax\njax.config.update('jax_enable_x64', True)\njax.config.read('jax_platform_name')\n", id="attribute"
        ),
        pytest.param("from mylib.config import config\nimport jax\nconfig.update(1)\n", id="another-config"),
        pytest.param("from .config import config\nimport jax\nconfig.FLAGS.x\n", id="relative-config"),
        pytest.param("import jax\nconfig = load()\nconfig.FLAGS.jax_enable_x64\n", id="variable-called-config"),
        pytest.param(
            "from absl import flags\nimport jax.numpy\nflags.FLAGS.jax_enable_x64\nflags.DEFINE_bool('a', 1, '')\n", id="absl"
        ),
        pytest.param("from jax._src.config import config\nconfig.update('a', 1)\n", id="private-but-alive"),
        pytest.param(
            "try:\n    from jax import config\nexcept ImportError:\n    from jax.config import config\nconfig.update('a', 1)\n",
            id="present-home-is-tried-first",
        ),
        pytest.param("import jax\n# from jax.config import config\nx = 'from jax.config import config'\n", id="text"),
        pytest.param("import jax\ndef f(jax): jax.config.enable_omnistaging()\n", id="shadowed"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from jax.config import config as c\nc.update('a', 1)\n",
            "from jax import config as c\nc.update('a', 1)\n",
            id="alias",
        ),
        pytest.param("import jax.config\njax.config.update('a', 1)\n", "import jax\njax.config.update('a', 1)\n", id="module"),
        pytest.param(
            "import jax\nimport jax.config\njax.config.update('a', 1)\n",
            "import jax\njax.config.update('a', 1)\n",
            id="beside-jax",
        ),
        pytest.param(
            "import jax.numpy as jnp\nimport jax.config\njax.config.update('a', jnp)\n",
            "import jax.numpy as jnp\nimport jax\njax.config.update('a', jnp)\n",
            id="beside-a-submodule-under-another-name",
        ),
        pytest.param(
            "import jax.numpy\nimport jax.config\njax.config.update('a', 1)\njax.numpy\n",
            "import jax.numpy\njax.config.update('a', 1)\njax.numpy\n",
            id="beside-a-submodule",
        ),
        pytest.param(
            "def f():\n    import jax.config as c\n    c.update('a', 1)\n",
            "def f():\n    from jax import config as c\n    c.update('a', 1)\n",
            id="module-as-inside-a-function",
        ),
        pytest.param(
            "import sys, jax.config as c, os\nc.update(sys, os)\n",
            "import sys, os\nfrom jax import config as c\nc.update(sys, os)\n",
            id="among-others",
        ),
        pytest.param("import jax\njax.config.config.update('a', 1)\n", "import jax\njax.config.update('a', 1)\n", id="doubled"),
        pytest.param(
            "from jax.config import config\nif config.omnistaging_enabled:\n    new()\nelse:\n    old()\n",
            "new()\n",
            id="omnistaging",
        ),
        pytest.param(
            "from jax import config\nconfig.FLAGS.jax_enable_x64\nconfig.FLAGS.jax_dump_ir_to\n",
            'from jax import config\nconfig.jax_enable_x64\nconfig.read("jax_dump_ir_to")\n',
            id="namespace",
        ),
        pytest.param(
            "from jax.config import debug_nans\nwith debug_nans(True): pass\n",
            "from jax import debug_nans\nwith debug_nans(True): pass\n",
            id="manager-of-one-option",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("jax.config.define_bool_state('a', True, '')", "absl.flags"),
        ("jax.config.DEFINE_integer('a', 1, '')", "absl.flags"),
        ("jax.config.disable_omnistaging()", "cannot be turned off"),
        ("jax.config.FLAGS", "no FLAGS"),
        ("jax.config.FLAGS.never_an_option", "no option never_an_option"),
    ],
)
def test_what_has_no_successor_is_explained(line: str, advice: str) -> None:
    unchanged(f"import jax\n{line}\n", select=SELECT, findings=[advice])


def test_an_option_younger_than_the_target_is_read_by_name() -> None:
    before = "from jax import config\nconfig.FLAGS.jax_cpu_collectives_implementation\n"
    after = 'from jax import config\nconfig.read("jax_cpu_collectives_implementation")\n'
    rewritten(before, after, select=SELECT, target="0.4.30")
    rewritten(before, before.replace("FLAGS.", ""), select=SELECT)
