"""jax-interpreters: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = "jax-interpreters"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.interpreters import ad, mlir\nad.Zero, mlir.register_lowering\n", id="alive"),
        pytest.param("from jax.interpreters import partial_eval as pe\npe.PartialVal.unknown(a)\n", id="alive-member"),
        pytest.param("from jax._src.interpreters import batching\nbatching.moveaxis(x, 0, 1)\n", id="private"),
        pytest.param("import jax\ndef f(batching): return batching.moveaxis(1)\n", id="parameter"),
        pytest.param("import jax\nfrom mylib import xla\nxla.abstractify(x)\n", id="another-xla"),
        pytest.param("import jax\n# xla.abstractify\nx = 'jax.interpreters.xla.abstractify'\n", id="text"),
        pytest.param(
            "import jax\nif hasattr(jax, 'typeof'):\n    t = jax.typeof(x)\nelse:\n    t = jax.interpreters.xla.abstractify(x)\n",
            id="presence-chooses",
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from jax.interpreters import batching, ad\nbatching.Zero, ad.Zero\n",
            "from jax.interpreters import ad\nad.Zero, ad.Zero\n",
            id="zero",
        ),
        pytest.param(
            "from jax.interpreters.partial_eval import Jaxpr\nx: Jaxpr\n",
            "from jax.extend.core import Jaxpr\nx: Jaxpr\n",
            id="jaxpr",
        ),
        pytest.param("from jax.interpreters import xla\nxla.abstractify(x)\n", "import jax\njax.typeof(x)\n", id="type"),
        pytest.param("import jax\njax.xla.abstractify(x)\n", "import jax\njax.typeof(x)\n", id="type-by-the-short-path"),
        pytest.param(
            "import jax.numpy as jnp\nfrom jax.interpreters import batching\nbatching.moveaxis(x, 0, 1)\n",
            "import jax.numpy as jnp\njnp.moveaxis(x, 0, 1)\n",
            id="moveaxis",
        ),
        pytest.param(
            "from jax.interpreters import batching\nfrom jax.interpreters.batching import not_mapped\n"
            "a = b is batching.not_mapped\nc = x, not_mapped\nbatching.fancy_primitive_batchers\n",
            "from jax.interpreters import batching\na = b is None\nc = x, None\nbatching.fancy_primitive_batchers\n",
            id="not-mapped",
        ),
        pytest.param(
            "from jax.interpreters.batching import NotMapped\ndef f(a: int | NotMapped) -> NotMapped:\n    return isinstance(a, NotMapped)\n",
            "def f(a: int | None) -> None:\n    return isinstance(a, type(None))\n",
            id="class-of-none",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


def test_keywords_of_moveaxis_are_others() -> None:
    source = "from jax.interpreters import batching\nbatching.moveaxis(x, src=0, dst=1)\n"
    unchanged(source, select=SELECT, findings=["source, destination"])


def test_the_type_of_a_value_is_younger_than_the_target() -> None:
    source = "from jax.interpreters import xla\nxla.abstractify(x)\n"
    unchanged(source, select=SELECT, target="0.4.13", findings=["since 0.6.0"])


def test_a_value_made_canonical_is_a_review() -> None:
    source = "import jax.numpy as jnp\nfrom jax.interpreters import xla\nxla.canonicalize_dtype(x)\n"
    result = rewritten(source, "import jax.numpy as jnp\njnp.asarray(x)\n", select=SELECT)
    assert [f.applicability.name for f in result.findings] == ["REVIEW"]
