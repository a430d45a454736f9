"""stax-optimizers: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, run, unchanged

SELECT = "stax-optimizers"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.example_libraries import stax, optimizers\nstax.Dense, optimizers.adam\n", id="present-home"),
        pytest.param("import jax\nfrom neural_tangents import stax\nstax.Dense(1)\n", id="neural-tangents"),
        pytest.param("import jax\nfrom keras import optimizers\noptimizers.Adam()\n", id="keras"),
        pytest.param("import jax\ndef f(optimizers): return optimizers.adam(1)\n", id="parameter"),
        pytest.param("import jax\nself.stax.serial()\n", id="attribute"),
        pytest.param("import jax\n# jax.experimental.stax\nx = 'jax.experimental.optimizers'\n", id="text"),
        pytest.param(
            "try:\n    from jax.example_libraries import stax\nexcept ImportError:\n    from jax.experimental import stax\nstax.Dense\n",
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
            "from jax.experimental import stax\nstax.serial(stax.Dense(1), stax.Relu)\n",
            "from jax.example_libraries import stax\nstax.serial(stax.Dense(1), stax.Relu)\n",
            id="module",
        ),
        pytest.param(
            "from jax.experimental import optimizers as opt, pjit\nopt.adam(1e-3), pjit\n",
            "from jax.example_libraries import optimizers as opt\nfrom jax.experimental import pjit\nopt.adam(1e-3), pjit\n",
            id="beside-one-that-lives",
        ),
        pytest.param(
            "from jax.experimental.stax import Dense, softmax\nDense(1), softmax\n",
            "from jax.example_libraries.stax import Dense\nfrom jax.nn import softmax\nDense(1), softmax\n",
            id="names-of-two-homes",
        ),
        pytest.param(
            "import jax.experimental.stax as stax\nstax.Dense(1), stax.relu(x)\n",
            "import jax\nimport jax.example_libraries.stax as stax\nstax.Dense(1), jax.nn.relu(x)\n",
            id="import-as",
        ),
        pytest.param(
            "import jax\nopt = jax.experimental.optimizers.adam(1e-3)\nlayer = jax.experimental.stax\n",
            "from jax.example_libraries import stax\nfrom jax.example_libraries import optimizers\n"
            "opt = optimizers.adam(1e-3)\nlayer = stax\n",
            id="by-its-path-without-an-import",
        ),
        pytest.param(
            "from jax.experimental import optimizers\ndef f(s: 'optimizers.OptimizerState'): ...\n",
            "from jax.example_libraries import optimizers\ndef f(s: 'optimizers.OptimizerState'): ...\n",
            id="quoted",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


def test_a_private_member_keeps_the_old_import() -> None:
    source = "from jax.experimental import stax\nstax._private()\n"
    unchanged(source, select=SELECT, findings=["cannot be imported", "no public successor"])


@pytest.mark.parametrize("loaded", ["", "import jax.example_libraries\n"])
def test_a_module_that_cannot_take_its_old_name_is_loaded_itself(loaded: str) -> None:
    source = f"{loaded}from jax.experimental import stax\nprint(stax.Dense(3), stax.nope)\n"
    result = run(source, select="stax-optimizers").after.decode()
    assert "import jax.example_libraries.stax\n" in result
    assert "print(jax.example_libraries.stax.Dense(3), stax.nope)\n" in result
