"""tree-map: first what must be left alone."""

import pytest

from jaxmigrate.testing import rewritten, unchanged


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.tree_util import tree_map\ny = tree_map(f, x)\n", id="home-that-stays"),
        pytest.param("import jax\ny = jax.tree.map(f, x)\n", id="newer-spelling"),
        pytest.param("import jax\ndef tree_map(f, x): return jax.jit(f)(x)\ny = tree_map(f, x)\n", id="own-function"),
        pytest.param("import jax\ndef g(jax): return jax.tree_map(f, x)\n", id="shadowed-module"),
        pytest.param("import jax\nimport tree\ny = tree.tree_map(f, x)\n", id="another-library"),
        pytest.param('import jax\ndef g():\n    """Like jax.tree_map."""\n', id="docstring"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select="tree-map")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("import jax\ny = jax.tree_map(f, x)\n", "import jax\ny = jax.tree_util.tree_map(f, x)\n", id="attribute"),
        pytest.param(
            "from jax import tree_map as tm\ntm(f, x)\n", "from jax.tree_util import tree_map as tm\ntm(f, x)\n", id="alias"
        ),
        pytest.param("import jax as J\nm = J.tree_map\n", "import jax as J\nm = J.tree_util.tree_map\n", id="as-a-value"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select="tree-map")
