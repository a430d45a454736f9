"""linear-util: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = "linear-util"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.extend import linear_util as lu\nlu.wrap_init(f)\n", id="present-home"),
        pytest.param("from jax._src import linear_util as lu\nlu.wrap_init(f)\n", id="private-but-alive"),
        pytest.param("import jax\nfrom mylib import linear_util as lu\nlu.wrap_init(f)\n", id="another-module"),
        pytest.param("import jax\ndef f(linear_util): return linear_util.wrap_init(f)\n", id="parameter"),
        pytest.param(
            "try:\n    from jax.extend import linear_util as lu\nexcept ImportError:\n    from jax import linear_util as lu\n"
            "lu.wrap_init(f)\n",
            id="present-home-is-tried-first",
        ),
        pytest.param("import jax\n# jax.linear_util\nx = 'jax.linear_util'\n", id="text"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from jax import linear_util as lu\nlu.wrap_init(f)\n",
            "from jax.extend import linear_util as lu\nlu.wrap_init(f)\n",
            id="module-under-another-name",
        ),
        pytest.param(
            "from jax.linear_util import wrap_init\nwrap_init(f)\n",
            "from jax.extend.linear_util import wrap_init\nwrap_init(f)\n",
            id="name",
        ),
        pytest.param(
            "import jax\n@jax.linear_util.transformation\ndef f(): yield\n",
            "import jax\nimport jax.extend.linear_util\n@jax.extend.linear_util.transformation\ndef f(): yield\n",
            id="path",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


def test_a_member_that_is_private_now_is_explained() -> None:
    unchanged(
        "from jax import linear_util as lu\nlu.Store()\n", select=SELECT, findings=["cannot be imported", "does not export"]
    )


def test_the_home_is_younger_than_the_target() -> None:
    source = "from jax import linear_util as lu\nlu.wrap_init(f)\n"
    unchanged(source, select=SELECT, target="0.4.13", findings=["cannot be imported", "choose by version"])
    rewritten(source, source.replace("jax import", "jax.extend import"), select=SELECT, target="0.4.16")
