"""deg2rad: first what must be left alone."""

import pytest

from jaxmigrate.testing import rewritten, unchanged


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax.numpy as jnp\ny = jnp.radians(x)\n", id="new-spelling"),
        pytest.param("import jax, numpy as np\ny = np.deg2rad(x)\n", id="another-library"),
        pytest.param("import jax\ndef deg2rad(x): return x\ny = deg2rad(x)\n", id="own-function"),
        pytest.param("import jax.numpy as jnp\ndef g(jnp): return jnp.deg2rad(x)\n", id="shadowed-module"),
        pytest.param("import jax\nclass Angle:\n    deg2rad = 1\ny = Angle.deg2rad\n", id="own-attribute"),
        pytest.param('import jax\ndef g():\n    """Like jnp.deg2rad."""\n', id="docstring"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select="deg2rad")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "import jax.numpy as jnp\ny = jnp.deg2rad(x)\n", "import jax.numpy as jnp\ny = jnp.radians(x)\n", id="attribute"
        ),
        pytest.param(
            "from jax.numpy import deg2rad as rad\nrad(x)\n", "from jax.numpy import radians as rad\nrad(x)\n", id="alias"
        ),
        pytest.param("import jax as J\nm = J.numpy.deg2rad\n", "import jax as J\nm = J.numpy.radians\n", id="as-a-value"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select="deg2rad")
