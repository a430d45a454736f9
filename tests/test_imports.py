"""Where a new name comes from: a `from` import that has run gains it, if nothing else of that name is meant there."""

from __future__ import annotations

import pytest

from jaxmigrate.model import ProjectIndex
from jaxmigrate.testing import applied, rewritten, run

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


ORDER = {
    "a_sorted_block_stays_sorted": (
        "import jax\nfrom jax.experimental.maps import Mesh\nfrom jax.experimental.pjit import pjit\nf(jax, Mesh, pjit)\n",
        "import jax\nfrom jax.experimental.pjit import pjit\nfrom jax.sharding import Mesh\nf(jax, Mesh, pjit)\n",
    ),
    "an_unsorted_one_keeps_its_order": (
        "from jax.numpy import sum\nfrom jax.core import Var\nfrom jax import lax\nf(sum, Var, lax)\n",
        "from jax.numpy import sum\nfrom jax.extend.core import Var\nfrom jax import lax\nf(sum, Var, lax)\n",
    ),
    "a_try_keeps_its_order": (
        "try:\n    from jax.core import Var\n    from jax.core import NamedShape\nexcept ImportError:\n    Var = None\nf(Var)\n",
        "try:\n    from jax.extend.core import Var\n    from jax.core import NamedShape\nexcept ImportError:\n    Var = None\nf(Var)\n",
    ),
    "a_line_for_each_name": (
        "from jax.experimental.maps import Mesh\nfrom jax.experimental.pjit import PartitionSpec\n"
        "from jax.experimental.pjit import pjit\nf(Mesh, PartitionSpec, pjit)\n",
        "from jax.experimental.pjit import pjit\nfrom jax.sharding import Mesh\nfrom jax.sharding import PartitionSpec\n"
        "f(Mesh, PartitionSpec, pjit)\n",
    ),
    "joined_in_a_function": (
        "def f():\n    from jax.experimental.maps import Mesh\n    from jax.sharding import NamedSharding\n"
        "    return Mesh, NamedSharding\n",
        "def f():\n    from jax.sharding import Mesh, NamedSharding\n    return Mesh, NamedSharding\n",
    ),
    "not_joined_with_one_that_has_a_comment": (
        "from jax.experimental.maps import Mesh  # noqa\nfrom jax.sharding import NamedSharding\nf(Mesh, NamedSharding)\n",
        "from jax.sharding import Mesh  # noqa\nfrom jax.sharding import NamedSharding\nf(Mesh, NamedSharding)\n",
    ),
    "what_python_itself_has_goes_to_its_like": (
        "import os\nfrom typing import Any\n\nfrom jax import tree_util, partial\n\nf(os, Any, partial, tree_util)\n",
        "import os\nfrom functools import partial\nfrom typing import Any\n\nfrom jax import tree_util\n\n"
        "f(os, Any, partial, tree_util)\n",
    ),
    "two_that_moved_both": (
        "import x\nfrom jax.experimental import PartitionSpec\nfrom jax.experimental.maps import thread_resources\nf(PartitionSpec, thread_resources)\n",
        "import x\nfrom jax.interpreters.pxla import thread_resources\nfrom jax.sharding import PartitionSpec\nf(PartitionSpec, thread_resources)\n",
    ),
    "another_name_of_the_same_module": (
        "from jax.nn import normalize\nfrom jax.nn import relu\nf(normalize, relu)\n__all__ = ['normalize']\n",
        "from jax.nn import relu\nfrom jax.nn import standardize as normalize\nf(normalize, relu)\n__all__ = ['normalize']\n",
    ),
    "among_the_plain_imports": (
        "import numpy\nimport ray\nfrom jax.numpy import DeviceArray, zeros\nf(DeviceArray, zeros)\n",
        "import jax\nimport numpy\nimport ray\nfrom jax.numpy import zeros\nf(jax.Array, zeros)\n",
    ),
    "a_try_of_which_both_arms_became_the_same": (
        "try:\n    from jax.numpy import DeviceArray\nexcept ImportError:\n    from jax.interpreters.xla import DeviceArray\n"
        "isinstance(x, DeviceArray)\n",
        "from jax import Array as DeviceArray\nisinstance(x, DeviceArray)\n",
    ),
    "a_section_of_its_own": (
        "import jax\n\nimport mine\n\nf = jax.partial(mine)\n",
        "import functools\n\nimport mine\n\nf = functools.partial(mine)\n",
    ),
    "not_among_the_imports_of_the_project": (
        "from jax.numpy import DeviceArray\nimport optax\n\nimport mine\n\n\ndef f(x: DeviceArray):\n    return x.to_py()\n",
        "import jax\nimport numpy as np\nimport optax\n\nimport mine\n\n\ndef f(x: jax.Array):\n    return np.asarray(x)\n",
    ),
    "behind_what_the_module_says_of_itself": (
        "__all__ = ['f']\nimport jax.numpy as jnp\nfrom jax.interpreters.xla import DeviceArray\nf = lambda x: isinstance(x, DeviceArray)\n",
        "__all__ = ['f']\nimport jax\nimport jax.numpy as jnp\nf = lambda x: isinstance(x, jax.Array)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), ORDER.values(), ids=ORDER)
def test_the_place_of_an_import(before: str, after: str) -> None:
    result = run(before)
    assert result.after.decode() == after
    assert not applied(run(result.after))


HEADED = {
    "not_joined_over_a_comment_of_its_own": (
        "def f():\n    from jax import numpy as jnp\n\n    # Enable float64 support\n    from jax.config import config\n\n"
        "    config.update('jax_enable_x64', True)\n    return jnp\n",
        "def f():\n    from jax import numpy as jnp\n\n    # Enable float64 support\n    from jax import config\n\n"
        "    config.update('jax_enable_x64', True)\n    return jnp\n",
    ),
    "not_joined_over_a_blank_line": (
        "def f():\n    from jax import numpy as jnp\n\n    from jax.config import config\n\n    return jnp, config\n",
        "def f():\n    from jax import numpy as jnp\n\n    from jax import config\n\n    return jnp, config\n",
    ),
    "joined_with_the_one_beside_it": (
        "from jax.experimental.maps import Mesh\n\nfrom jax.experimental.pjit import PartitionSpec\nfrom jax.sharding import NamedSharding\n"
        "f(Mesh, PartitionSpec, NamedSharding)\n",
        "from jax.sharding import Mesh\n\nfrom jax.sharding import NamedSharding, PartitionSpec\nf(Mesh, PartitionSpec, NamedSharding)\n",
    ),
    "not_sorted_away_from_its_comment": (
        "def f():\n    import numpy as np\n    # the trees\n    from jax import tree_map\n    import jax\n    return np, tree_map, jax\n",
        "def f():\n    import numpy as np\n    # the trees\n    from jax.tree_util import tree_map\n    import jax\n    return np, tree_map, jax\n",
    ),
    "not_sorted_in_below_the_comment_of_another": (
        "# rows\nfrom jax.lax import scan\nfrom jax.random import split\nfrom jax.tools import a\nfrom jax.util import safe_zip\n"
        "f(scan, split, a, safe_zip)\n",
        "# rows\nfrom jax.lax import scan\nfrom jax.random import split\nfrom jax.tools import a\n"
        "from jax.example_libraries.optimizers import safe_zip\nf(scan, split, a, safe_zip)\n",
    ),
    "what_python_itself_has_stays_below_its_comment": (
        "import os\n\nimport mine\n# no lambda\nfrom jax import partial\nf(os, mine, partial)\n",
        "import os\n\nimport mine\n# no lambda\nfrom functools import partial\nf(os, mine, partial)\n",
    ),
    "jax_itself_comes_below_the_comment": (
        "import os\nimport jax.numpy as jnp\n\n# the array type\nfrom jax.interpreters.xla import DeviceArray\n"
        "f = lambda x: isinstance(x, DeviceArray), os, jnp\n",
        "import os\nimport jax.numpy as jnp\n\n# the array type\nimport jax\nf = lambda x: isinstance(x, jax.Array), os, jnp\n",
    ),
    "a_repeated_one_with_a_comment": (
        "from jax import lax\nfrom jax import nn\nfrom jax.sharding import Mesh\n# old\nfrom jax.experimental.maps import Mesh\nf(lax, nn, Mesh)\n",
        "from jax import lax\nfrom jax import nn\nfrom jax.sharding import Mesh\n# old\nfrom jax.sharding import Mesh\nf(lax, nn, Mesh)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), HEADED.values(), ids=HEADED)
def test_an_import_stays_below_its_comment(before: str, after: str) -> None:
    result = run(before)
    assert result.after.decode() == after
    assert not applied(run(result.after))


def test_an_import_as_long_as_the_lines_that_its_author_wrote() -> None:
    names = "random, vmap, numpy as jnp, local_device_count, devices as get_devices, pmap, jit, device_get"
    before = f"from jax import {names}, tree_map, \\\n    tree_multimap\nf({names.replace(' as ', ', ')}, tree_map(g), tree_multimap(h))\n"
    after = run(before).after.decode()
    assert after.startswith(f"from jax import {names}\n")


IDLE = {
    "nobody_uses_it": ("from jax.util import safe_zip\nx = 1\n", "x = 1\n"),
    "another_name": ("from jax.experimental.maps import Mesh, mesh\nf(Mesh)\n", "from jax.sharding import Mesh\nf(Mesh)\n"),
    "a_list_of_names_for_others": ("from jax.numpy import DeviceArray\n", "from jax import Array as DeviceArray\n"),
    "there_on_purpose": (
        "from jax.numpy import DeviceArray  # noqa\nx = 1\n",
        "from jax import Array as DeviceArray  # noqa\nx = 1\n",
    ),
    "in_all": (
        "from jax.numpy import DeviceArray\n__all__ = ['DeviceArray']\n",
        "from jax import Array as DeviceArray\n__all__ = ['DeviceArray']\n",
    ),
    "its_own_name_in_its_new_home": (
        "from jax.experimental.maps import Mesh\nx = 1\n",
        "from jax.sharding import Mesh\nx = 1\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), IDLE.values(), ids=IDLE)
def test_a_name_that_nobody_uses(before: str, after: str) -> None:
    rewritten(before, after)


COMMENTS = {
    "of_the_name_that_stays": (
        "from jax.core import (Tracer,  # noqa\n                      Var)\nf(Tracer, Var)\n",
        "from jax.core import Tracer  # noqa\nfrom jax.extend.core import Var\nf(Tracer, Var)\n",
    ),
    "of_the_name_that_moves": (
        "from jax.core import (\n    Jaxpr,  # one\n    Tracer,  # two\n    Var,\n)\nf(Jaxpr, Tracer, Var)\n",
        "from jax.core import (\n    Tracer,  # two\n)\nfrom jax.extend.core import (\n    Jaxpr,  # one\n    Var,\n)\nf(Jaxpr, Tracer, Var)\n",
    ),
    "for_checkers_behind_all": (
        "from jax.core import Tracer, Var  # type: ignore\nf(Tracer, Var)\n",
        "from jax.core import Tracer  # type: ignore\nfrom jax.extend.core import Var  # type: ignore\nf(Tracer, Var)\n",
    ),
    "aligned_with_the_bracket": (
        "from jax.core import (Jaxpr,  # one\n                      Var)\nf(Jaxpr, Var)\n",
        "from jax.extend.core import (Jaxpr,  # one\n                             Var)\nf(Jaxpr, Var)\n",
    ),
    "on_a_shared_line": (
        "from jax.core import (Tracer,  # one\n    Var); x = 1\nf(Tracer, Var)\n",
        "from jax.core import (Tracer  # one\n); from jax.extend.core import Var; x = 1\nf(Tracer, Var)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), COMMENTS.values(), ids=COMMENTS)
def test_comments_stay_with_their_names(before: str, after: str) -> None:
    result = rewritten(before, after)
    assert not [f for f in result.findings if "comment goes" in f.message]


BINDS = {
    "before_a_later_import": (
        "import jax.tools.colab_tpu\njax.tools.colab_tpu.setup_tpu()\nprint(jax.devices())\nimport jax\n",
        "import jax\nprint(jax.devices())\nimport jax\n",
    ),
    "in_a_branch": (
        "if a:\n    import jax.tools.colab_tpu\n    jax.tools.colab_tpu.setup_tpu()\n    print(jax.devices())\nimport jax\nprint(jax)\n",
        "if a:\n    import jax\n    print(jax.devices())\nimport jax\nprint(jax)\n",
    ),
    "beside_an_earlier_one": (
        "import jax\nimport jax.tools.colab_tpu\njax.tools.colab_tpu.setup_tpu()\nprint(jax.devices())\n",
        "import jax\nprint(jax.devices())\n",
    ),
    "for_other_members": ("import jax.experimental.maps\nx = jax.numpy.zeros(3)\n", "import jax\nx = jax.numpy.zeros(3)\n"),
    "for_nobody": ("import jax.experimental.maps\nx = 1\n", "x = 1\n"),
    "beside_one_in_the_same_statement": ("import jax, jax.experimental.maps\nf(jax.numpy)\n", "import jax\nf(jax.numpy)\n"),
    "beside_another_module": (
        "import os, jax.experimental.maps, jax.experimental.pjit\nf(jax.numpy, os, jax.experimental.pjit)\n",
        "import os, jax.experimental.pjit\nf(jax.numpy, os, jax.experimental.pjit)\n",
    ),
    "beside_one_that_goes_too": (
        "import jax.experimental.maps\nimport jax.experimental.pjit\n"
        "print(jax.experimental.pjit.PartitionSpec, jax.experimental.maps.Mesh)\n",
        "import jax\nprint(jax.sharding.PartitionSpec, jax.sharding.Mesh)\n",
    ),
    "beside_one_in_the_same_statement_that_goes_too": (
        "import jax.experimental.maps, jax.experimental.pjit\n"
        "print(jax.experimental.pjit.PartitionSpec, jax.experimental.maps.Mesh)\n",
        "import jax\nprint(jax.sharding.PartitionSpec, jax.sharding.Mesh)\n",
    ),
    "beside_two_that_go_too_in_a_function": (
        "def f():\n    import jax.experimental.maps\n    import jax.experimental.pjit\n    import jax.experimental.host_callback\n"
        "    jax.experimental.host_callback.id_print(1)\n"
        "    return jax.experimental.pjit.PartitionSpec, jax.experimental.maps.Mesh\n",
        "def f():\n    import jax\n    jax.debug.print(\"{}\", 1)\n    return jax.sharding.PartitionSpec, jax.sharding.Mesh\n",
    ),
    "beside_one_of_another_arm_that_goes_too": (
        "if a:\n    import jax.experimental.maps\n    f(jax.experimental.maps.Mesh)\n"
        "else:\n    import jax.experimental.pjit\n    f(jax.experimental.pjit.PartitionSpec)\n",
        "if a:\n    import jax\n    f(jax.sharding.Mesh)\nelse:\n    import jax\n    f(jax.sharding.PartitionSpec)\n",
    ),
    "beside_one_further_down_that_stays": (
        "import jax.experimental.maps\nimport jax.experimental.pjit\nf(jax.experimental.maps.Mesh, jax.experimental.pjit.pjit)\n",
        "import jax.experimental.pjit\nf(jax.sharding.Mesh, jax.experimental.pjit.pjit)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), BINDS.values(), ids=BINDS)
def test_what_a_dotted_import_binds_stays_bound(before: str, after: str) -> None:
    assert run(before).after.decode() == after


def test_a_module_that_its_package_does_not_load_is_imported_itself() -> None:
    before = "import jax.example_libraries as libraries\nfrom jax.experimental import stax\nf(stax, libraries)\n"
    rewritten(before, before.replace("jax.experimental", "jax.example_libraries"))


def test_a_successor_that_is_a_module_of_python() -> None:
    rewritten("import jax\nf(jax.lax.itertools)\n", "import itertools\n\nf(itertools)\n")
