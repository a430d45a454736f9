"""jax-core: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = "jax-core"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax import core\nisinstance(x, core.Tracer)\ncore.eval_jaxpr(j, c, x)\n", id="alive"),
        pytest.param("import jax\njax.core.ShapedArray((1,), 'float32')\n", id="alive-attribute"),
        pytest.param("from jax.extend import core\ncore.Primitive('p')\n", id="present-home"),
        pytest.param("import jax\nfrom mylib import core\ncore.Primitive('p')\n", id="another-core"),
        pytest.param("import jax\ndef f(core): return core.Primitive\n", id="parameter"),
        pytest.param("from jax._src import core\ncore.Primitive('p'), core.Literal\n", id="private-but-alive"),
        pytest.param("import jax\nx = 'jax.core.Primitive'\n# jax.core.Var\n", id="text"),
        pytest.param(
            "try:\n    from jax.extend.core import Primitive\nexcept ImportError:\n    from jax.core import Primitive\nPrimitive('p')\n",
            id="present-home-is-tried-first",
        ),
        pytest.param(
            "import jax\nif jax.__version_info__ >= (0, 4, 36):\n    from jax.extend import core\nelse:\n    from jax import core\ncore.Var\n",
            id="version-chooses",
        ),
        pytest.param("import jax\nfrom haiku._src.util import safe_map\nsafe_map(f, x)\n", id="another-safe-map"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from jax.core import Primitive, Tracer\nPrimitive('p'), Tracer\n",
            "from jax.core import Tracer\nfrom jax.extend.core import Primitive\nPrimitive('p'), Tracer\n",
            id="one-of-an-import",
        ),
        pytest.param(
            "from jax import core\nx: 'core.Jaxpr'\ny = core.Tracer\n",
            "import jax.extend.core\nfrom jax import core\nx: 'jax.extend.core.Jaxpr'\ny = core.Tracer\n",
            id="quoted-beside-a-living-use",
        ),
        pytest.param(
            "from jax import core\nexcept_ = core.TracerArrayConversionError\n",
            "import jax\nexcept_ = jax.errors.TracerArrayConversionError\n",
            id="errors",
        ),
        pytest.param("import jax\njax.core.get_aval(x).shape\n", "import jax\njax.typeof(x).shape\n", id="type"),
        pytest.param(
            "from jax import core\ncore.raise_to_shaped(core.get_aval(x))\n", "import jax\njax.typeof(x)\n", id="type-raised"
        ),
        pytest.param(
            "from jax import abstract_arrays\nf(abstract_arrays.raise_to_shaped(x))\n", "f(x)\n", id="raised-by-another-module"
        ),
        pytest.param(
            "from jax import core\n[*map(core.raise_to_shaped, xs)]\n", "[*map(lambda aval: aval, xs)]\n", id="raised-in-a-map"
        ),
        pytest.param(
            "import jax.numpy as jnp\nfrom jax import core\nfrom jax.abstract_arrays import make_shaped_array\n"
            "core.ShapedArray, make_shaped_array(x)\n",
            "import jax.numpy as jnp\nfrom jax import core\ncore.ShapedArray, core.ShapedArray(jnp.shape(x), jnp.result_type(x))\n",
            id="type-of-a-value",
        ),
        pytest.param(
            "from jax.core import partial\npartial(f, 1)\n", "from functools import partial\npartial(f, 1)\n", id="leak"
        ),
        pytest.param("from jax import core\nx = not core.definitely_equal(a, b)\n", "x = not (a == b)\n", id="equal-dimensions"),
        pytest.param("from jax import core\ncore.non_negative_dim(d)\n", "from jax import core\ncore.max_dim(d, 0)\n", id="dim"),
        pytest.param(
            "from jax.core import gensym\nnew = gensym([jaxpr], suffix='_x')\n",
            "from jax.extend.core import gensym\nnew = gensym()\n",
            id="variables-without-a-number",
        ),
        pytest.param("from jax import core\ncore.safe_zip(a, b)\n", "list(zip(a, b, strict=True))\n", id="safe-zip"),
        pytest.param("from jax import core\ncore.safe_map(f, a)\n", "list(map(f, a))\n", id="safe-map-of-one"),
        pytest.param(
            "from jax import core\ncore.safe_map(args, a, b)\n",
            "[args(*arguments) for arguments in zip(a, b, strict=True)]\n",
            id="safe-map-of-two",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        ("core.raise_to_shaped(x, weak_type=False)", "aval.update"),
        ("core.get_aval(x).val", "types hold no values"),
        ("core.axis_frame('i')", "frames of axes are private"),
        ("core.tuple_delete(f(), 0)", "t[:i]"),
        ("core.gensym([f(x)])", "leave its arguments out"),
        ("core.gensym(**options)", "leave its arguments out"),
    ],
)
def test_what_depends_on_more_is_reported(use: str, advice: str) -> None:
    unchanged(f"from jax import core\n{use}\n", select=SELECT, findings=[advice])


def test_a_taken_name_is_spelled_in_full() -> None:
    source = "from typing import Literal\nfrom jax import core\nx: Literal['a']\ny = type(v) is core.Literal, core.Tracer\n"
    after = (
        "from typing import Literal\nimport jax.extend.core\nfrom jax import core\n"
        "x: Literal['a']\ny = type(v) is jax.extend.core.Literal, core.Tracer\n"
    )
    rewritten(source, after, select=SELECT)


@pytest.mark.parametrize("name", ["Primitive", "Jaxpr", "Literal"])
def test_a_home_younger_than_the_target_is_a_choice(name: str) -> None:
    source = f"import jax\njax.core.{name}\n"
    unchanged(source, select=SELECT, target="0.4.13", findings=["choose by version"])
    rewritten(source, f"import jax\nimport jax.extend.core\njax.extend.core.{name}\n", select=SELECT, target="0.4.30")


def test_raise_to_shaped_is_needed_before_types_lost_their_values() -> None:
    unchanged("from jax import core\ncore.raise_to_shaped(x)\n", select=SELECT, target="0.4.30", findings=["choose by version"])


def test_rebound_builtins_are_not_relied_on() -> None:
    before = "from jax.core import safe_map\nmap, unsafe_map = safe_map, map\ndef f(x): return safe_map(g, x)\n"
    rewritten(before, before.replace("jax.core", "jax.api_util"), select=SELECT)


def test_functions_imported_as_builtins_come_from_elsewhere() -> None:
    before = "from jax.core import safe_map as map, safe_zip as zip\nx = map(f, y), zip(x, y)\n"
    after = (
        "from jax.api_util import safe_map as map\nfrom jax.example_libraries.optimizers import safe_zip as zip\n"
        "x = map(f, y), zip(x, y)\n"
    )
    rewritten(before, after, select=SELECT)


def test_import_that_shrinks_to_a_line_loses_its_brackets_and_a_long_one_gets_some() -> None:
    names = ["ClosedJaxpr", "Jaxpr", "JaxprEqn", "JaxprTypeError", "Literal", "Primitive", "Var", "jaxpr_as_fun"]
    lines = "".join(f"    {name},\n" for name in names)
    rewritten(
        f"from jax.core import (eval_jaxpr,\n{lines})\nprint(eval_jaxpr, {', '.join(names)})\n",
        f"from jax.core import eval_jaxpr\nfrom jax.extend.core import (\n{lines})\nprint(eval_jaxpr, {', '.join(names)})\n",
    )
