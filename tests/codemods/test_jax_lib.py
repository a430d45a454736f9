"""jax-lib: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = "jax-lib"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\njax.default_backend()\njax.errors.JaxRuntimeError\n", id="public-names"),
        pytest.param("from jax.extend import backend\nbackend.get_backend().platform\n", id="present-home"),
        pytest.param("from jax._src import xla_bridge\nxla_bridge.get_backend()\n", id="private-but-alive"),
        pytest.param("import jax\nfrom mylib import xla_bridge\nxla_bridge.get_backend().platform\n", id="another-bridge"),
        pytest.param("import jax\nfrom keras import backend\nbackend.get_backend()\n", id="another-backend"),
        pytest.param("import jax\ndef f(xla_bridge): return xla_bridge.device_count()\n", id="parameter"),
        pytest.param("import jax\nclass XlaRuntimeError(Exception): ...\nraise XlaRuntimeError\n", id="own-error"),
        pytest.param("import jax\n# jax.lib.xla_bridge\nx = 'xla_bridge.get_backend'\n", id="text"),
        pytest.param(
            "try:\n    from jax.extend.backend import get_backend\nexcept ImportError:\n"
            "    from jax.lib.xla_bridge import get_backend\nget_backend()\n",
            id="present-home-is-tried-first",
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from jax.lib import xla_bridge\nprint(xla_bridge.get_backend().platform)\n",
            "import jax\nprint(jax.default_backend())\n",
            id="platform",
        ),
        pytest.param(
            "from jax.lib.xla_bridge import get_backend\nbackend = get_backend()\nbackend.platform\n",
            "from jax.extend.backend import get_backend\nbackend = get_backend()\nbackend.platform\n",
            id="backend",
        ),
        pytest.param(
            "from jax.lib import xla_bridge\nbackend = xla_bridge.get_backend('gpu')\n",
            "import jax.extend.backend\nbackend = jax.extend.backend.get_backend('gpu')\n",
            id="local-variable-backend",
        ),
        pytest.param(
            "import jax\nfrom jax.lib import xla_bridge\nxla_bridge.device_count(), xla_bridge.process_index()\n",
            "import jax\njax.device_count(), jax.process_index()\n",
            id="devices",
        ),
        pytest.param(
            "from jax.lib import xla_bridge\nxla_bridge.host_ids('cpu')\n",
            "import jax\nlist(range(jax.process_count('cpu')))\n",
            id="host-ids",
        ),
        pytest.param(
            "from jaxlib.xla_extension import XlaRuntimeError as Error\ntry: f()\nexcept (TypeError, Error): pass\n",
            "from jax.errors import JaxRuntimeError as Error\ntry: f()\nexcept (TypeError, Error): pass\n",
            id="error",
        ),
        pytest.param(
            "import jax\njax.lib.xla_bridge.get_backend.cache_clear()\n",
            "import jax\nimport jax.extend.backend\njax.extend.backend.get_backend.cache_clear()\n",
            id="cache-clear",
        ),
        pytest.param(
            "from jaxlib.xla_extension.pytree import GetAttrKey\nfrom jaxlib.xla_extension import PyTreeDef\nGetAttrKey('a'), PyTreeDef\n",
            "from jax.tree_util import GetAttrKey, PyTreeDef\nGetAttrKey('a'), PyTreeDef\n",
            id="trees",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


def test_a_backend_with_arguments_keeps_its_platform() -> None:
    rewritten(
        "import jax\njax.lib.xla_bridge.get_backend('cpu').platform\n",
        "import jax\nimport jax.extend.backend\njax.extend.backend.get_backend('cpu').platform\n",
        select=SELECT,
    )


def test_the_platform_has_a_name_for_every_target() -> None:
    before = "import jax\njax.lib.xla_bridge.get_backend().platform\n"
    rewritten(before, "import jax\njax.default_backend()\n", select=SELECT, target="0.4.13")


def test_the_home_of_backends_is_younger_than_the_target() -> None:
    unchanged("import jax\njax.lib.xla_bridge.get_backend()\n", select=SELECT, target="0.4.30", findings=["choose by version"])


def test_a_member_without_a_home_is_reported() -> None:
    unchanged("import jax\njax.lib.xla_bridge.make_c_api_client()\n", select=SELECT, findings=["no public successor"])


def test_an_error_caught_under_several_names_is_caught_once() -> None:
    rewritten(
        "import jax\nimport jaxlib\ntry: f()\nexcept (jaxlib.xla_extension.XlaRuntimeError, jax.lib.xla_extension.XlaRuntimeError): g()\n",
        "import jax\ntry: f()\nexcept jax.errors.JaxRuntimeError: g()\n",
    )
    rewritten(
        "from jaxlib.xla_extension import XlaRuntimeError\nimport jax\ntry: f()\n"
        "except (ValueError, XlaRuntimeError, jax.lib.xla_extension.XlaRuntimeError): g()\n",
        "import jax\ntry: f()\nexcept (ValueError, jax.errors.JaxRuntimeError): g()\n",
    )


def test_what_jaxlib_gave_stays_for_a_target_without_its_successor() -> None:
    source = "import jax\nfrom jaxlib.xla_extension import XlaRuntimeError\ntry: f()\nexcept XlaRuntimeError: jax.jit\n"
    unchanged(source, target="0.4.30", select="jax-lib", findings=["line 4", "choose by version"])


def test_a_module_of_jaxlib_that_is_gone_is_told_once() -> None:
    unchanged("import jaxlib.xla_extension\njaxlib.xla_extension.Foo\n", findings=1)
