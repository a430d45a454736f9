"""Where a new name comes from: a `from` import that has run gains it, if nothing else of that name is meant there."""

from __future__ import annotations

import pytest

from jaxmigrate.model import ProjectIndex
from jaxmigrate.testing import rewritten, run

INSIDE = {
    "function": (
        "def f(x):\n    from jax.numpy import row_stack, sum\n    return row_stack(x) + sum(x)\n",
        "def f(x):\n    from jax.numpy import sum, vstack\n    return vstack(x) + sum(x)\n",
    ),
    "inner_function": (
        "def f(x):\n    from jax.numpy import row_stack\n    return lambda y: row_stack(y)\n",
        "def f(x):\n    from jax.numpy import vstack\n    return lambda y: vstack(y)\n",
    ),
    "method": (
        "class A:\n    def f(self):\n        from jax.numpy import trapz\n        return trapz(self.y)\n",
        "class A:\n    def f(self):\n        from jax.numpy import trapezoid\n        return trapezoid(self.y)\n",
    ),
    "arm": (
        "def f(x):\n    if x:\n        from jax.tree_util import tree_multimap\n        tree_multimap(x)\n",
        "def f(x):\n    if x:\n        from jax.tree_util import tree_map\n        tree_map(x)\n",
    ),
    "own_function_of_the_name_is_called_there": (
        "def vstack(x): ...\ndef f(x):\n    from jax.numpy import row_stack\n    return row_stack(x) + vstack(x)\n",
        "def vstack(x): ...\ndef f(x):\n    import jax\n    return jax.numpy.vstack(x) + vstack(x)\n",
    ),
    "own_variable_of_the_name": (
        "def f(x, vstack):\n    from jax.numpy import row_stack\n    return row_stack(x)\n",
        "def f(x, vstack):\n    import jax\n    return jax.numpy.vstack(x)\n",
    ),
    "under_a_condition_that_does_not_hold_everywhere": (
        "def f(x):\n    for y in x:\n        from jax.numpy import row_stack\n    return row_stack(x)\n",
        "def f(x):\n    for y in x:\n        import jax\n    return jax.numpy.vstack(x)\n",
    ),
    "inside_a_try": (
        "def f(x):\n    try:\n        from jax.numpy import row_stack\n    except OSError:\n        g()\n    return row_stack(x)\n",
        "def f(x):\n    try:\n        import jax\n    except OSError:\n        g()\n    return jax.numpy.vstack(x)\n",
    ),
    "inside_a_try_that_catches_nothing": (
        "def f(x):\n    try:\n        from jax.numpy import row_stack\n    finally:\n        g()\n    return row_stack(x)\n",
        "def f(x):\n    try:\n        from jax.numpy import vstack\n    finally:\n        g()\n    return vstack(x)\n",
    ),
    "inside_an_if_of_the_module": (
        "if a:\n    from jax.numpy import row_stack\n    y = row_stack(x)\n",
        "if a:\n    from jax.numpy import vstack\n    y = vstack(x)\n",
    ),
    "inside_an_if_of_the_module_and_used_elsewhere": (
        "if a:\n    from jax.numpy import row_stack\ny = row_stack(x)\n",
        "if a:\n    import jax\ny = jax.numpy.vstack(x)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), INSIDE.values(), ids=INSIDE)
def test_an_import_inside_a_function(before: str, after: str) -> None:
    rewritten(before, after)


def test_the_comment_of_a_name_goes_to_its_successor_in_the_same_list() -> None:
    before = "from jax.numpy import (\n    add,\n    product,  # the product\n    zeros,\n)\nproduct(add, zeros)\n"
    result = run(before)
    assert result.after.decode() == before.replace("product,", "prod,").replace("product(add", "prod(add")
    assert not [f for f in result.findings if "comment" in f.message]


@pytest.mark.parametrize(
    ("source", "symbol"),
    [
        (
            "from jax import (\n    grad,\n    tree_multimap,  # why\n    vmap,\n)\ntree_multimap(grad, vmap)\n",
            "jax.tree_multimap",
        ),
        (
            "from jax.experimental import (\n    stax,\n    maps,  # why\n)\nmaps.Mesh(stax)\n",
            "jax.experimental.maps.Mesh",
        ),
        ("from jax.numpy import alltrue  # why\nalltrue(x)\n", "jax.numpy.alltrue"),
    ],
    ids=["name", "module", "whole statement"],
)
def test_a_comment_that_goes_with_an_import_is_told_of(source: str, symbol: str) -> None:
    result = run(source)
    assert b"why" not in result.after
    (told,) = [f for f in result.findings if f.message.endswith("a comment goes with it: # why")]
    assert told.symbol == symbol


@pytest.mark.parametrize("pragma", ["noqa: F401", "type: ignore", "pylint: disable=C", "isort:skip"])
def test_a_pragma_goes_with_its_import_without_a_word(pragma: str) -> None:
    result = run(f"from jax.numpy import alltrue  # {pragma}\nalltrue(x)\n")
    assert pragma.encode() not in result.after
    assert not [f for f in result.findings if "comment" in f.message]


STARS = {
    "another_star_import_may_give_the_name": (
        "from jax import tree_multimap\nfrom own import *\ny = tree_multimap(max, x, y)\n",
        "import jax\nfrom own import *\ny = jax.tree_util.tree_map(max, x, y)\n",
    ),
    "a_statement_that_would_gain_it_comes_before_the_star": (
        "from jax.numpy import row_stack, sum\nfrom own import *\ny = row_stack(x), sum(x)\n",
        "import jax\nfrom jax.numpy import sum\nfrom own import *\ny = jax.numpy.vstack(x), sum(x)\n",
    ),
    "a_star_import_that_has_no_such_name": (
        "from jax import tree_multimap\nfrom jax.numpy import *\ny = tree_multimap(max, x, y)\n",
        "from jax.numpy import *\nfrom jax.tree_util import tree_map\ny = tree_map(max, x, y)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), STARS.values(), ids=STARS)
def test_a_bare_name_beside_a_star_import(before: str, after: str) -> None:
    rewritten(before, after)


@pytest.mark.parametrize("taken", [{"tree_multimap", "*"}, {"tree_multimap"}])
def test_a_name_that_others_take_stays_and_none_is_added(taken: set[str]) -> None:
    index = ProjectIndex(consumed={"p.use": frozenset(taken)})
    before = "from jax import tree_multimap\ny = tree_multimap(max, x, y)\n"
    rewritten(before, before.replace("jax import", "jax.tree import map as"), module="p.use", index=index)
