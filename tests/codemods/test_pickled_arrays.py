"""pickled-arrays: only names inside an unpickler are reported, once for each."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import unchanged

SELECT = {"select": "pickled-arrays"}
CLASS = "import pickle\nclass U(pickle.Unpickler):\n    def find_class(self, module, name):\n        "


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(CLASS + "return super().find_class(module, name)\n", id="no-name"),
        pytest.param(CLASS + "return {'numpy': 1}[module]\n", id="other-names"),
        pytest.param(CLASS + "print('not a DeviceArray')\n", id="name-within-a-message"),
        pytest.param("print('find_class', 'DeviceArray')\n", id="outside-an-unpickler"),
        pytest.param("import jax\nx = pickle.load(f)\n", id="loading"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("if (module, name) == ('jaxlib.xla_extension', 'DeviceArray'): return A\n", id="compared"),
        pytest.param("return {'jax.interpreters.xla._DeviceArray': A}[module + name]\n", id="in-a-table"),
        pytest.param("if name == '_reconstruct_array': return f\n", id="function"),
    ],
)
def test_reported(source: str) -> None:
    unchanged(CLASS + source, findings=["load them with the JAX that wrote them"], **SELECT)


LOADING = "import pickle\nimport jax\nx = pickle.load(f)\ny = pickle.loads(g)\n"


def test_an_old_program_that_loads_is_told_once() -> None:
    unchanged(LOADING, findings=["if this reads arrays"], origin="0.4.0", **SELECT)
    unchanged(LOADING, origin="0.4.1", **SELECT)
    unchanged(LOADING.replace("import jax", "import numpy"), origin="0.4.0", **SELECT)
    unchanged("import pickle\nimport jax\ny = pickle.loads(pickle.dumps(x))\n", origin="0.4.0", **SELECT)
