"""tree-map: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, run, unchanged

SELECT = "tree-map"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.tree_util import tree_map\ny = tree_map(f, x)\n", id="home-that-stays"),
        pytest.param("import jax\ny = jax.tree.map(f, x)\n", id="newer-spelling"),
        pytest.param("import jax\ny = jax.tree_util.tree_map(f, x)\n", id="older-spelling-that-lives"),
        pytest.param("import jax\ndef tree_map(f, x): return jax.jit(f)(x)\ny = tree_map(f, x)\n", id="own-function"),
        pytest.param("import jax\ndef g(jax): return jax.tree_map(f, x)\n", id="shadowed-module"),
        pytest.param("import jax\nimport tree\ny = tree.tree_map(f, x), tree.map_structure(f, x)\n", id="dm-tree"),
        pytest.param("import jax\nfrom haiku import tree_multimap\ny = tree_multimap(f, x, y)\n", id="another-package"),
        pytest.param("import jax\nclass A:\n    def f(self): return self.tree_flatten(), A.tree_unflatten(1, 2)\n", id="methods"),
        pytest.param('import jax\ndef g():\n    """Like jax.tree_map."""\n', id="docstring"),
        pytest.param("import jax\nx = 'jax.tree_map'\ny = {'tree_multimap': 1}\n", id="strings"),
        pytest.param("import torch as jax\ny = jax.tree_map(f, x)\n", id="another-library-called-jax"),
        pytest.param("import optree\ny = optree.tree_map(f, x)\n", id="optree"),
        pytest.param(
            "import jax\nif hasattr(jax, 'tree'):\n    tmap = jax.tree.map\nelse:\n    tmap = jax.tree_map\n",
            id="presence-chooses",
        ),
        pytest.param(
            "try:\n    from jax.tree_util import tree_multimap\nexcept ImportError:\n"
            "    from jax.tree_util import tree_map as tree_multimap\ntree_multimap(f, x)\n",
            id="both-are-tried",
        ),
        pytest.param("import jax\ndef f(build_tree): return build_tree(1, 2)\n", id="parameter-build-tree"),
        pytest.param("from sklearn.tree_util import build_tree\nimport jax\nbuild_tree(1, 2)\n", id="another-build-tree"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("import jax\ny = jax.tree_map(f, x)\n", "import jax\ny = jax.tree.map(f, x)\n", id="attribute"),
        pytest.param(
            "import jax\ny = jax.tree_multimap(f, x, *z)\n", "import jax\ny = jax.tree.map(f, x, *z)\n", id="multimap-with-star"
        ),
        pytest.param("import jax as J\nm = J.tree_map\n", "import jax as J\nm = J.tree.map\n", id="as-a-value"),
        pytest.param(
            "import jax\ndef g(tree):\n    return jax.tree_map(f, tree)\n",
            "import jax\ndef g(tree):\n    return jax.tree.map(f, tree)\n",
            id="local-variable-tree",
        ),
        pytest.param(
            "import jax\nimport tree\ny = jax.tree_map(f, tree.flatten(x))\n",
            "import jax\nimport tree\ny = jax.tree.map(f, tree.flatten(x))\n",
            id="beside-dm-tree",
        ),
        pytest.param(
            "import jax\nfrom functools import partial\n@partial(jax.tree_map, f)\ndef g(): ...\n",
            "import jax\nfrom functools import partial\n@partial(jax.tree.map, f)\ndef g(): ...\n",
            id="decorator",
        ),
        pytest.param(
            "from jax.tree_util import tree_flatten, tree_multimap\ntree_multimap(f, tree_flatten(x))\n",
            "from jax.tree_util import tree_flatten, tree_map\ntree_map(f, tree_flatten(x))\n",
            id="name-beside-one-that-lives",
        ),
        pytest.param(
            "import jax.tree_util as jtu\njtu.tree_multimap(f, x)\n",
            "import jax.tree_util as jtu\njtu.tree_map(f, x)\n",
            id="jtu",
        ),
        pytest.param(
            "import jax\ntmap = jax.tree_map\ntmap(f, x)\n", "import jax\ntmap = jax.tree.map\ntmap(f, x)\n", id="rebound-once"
        ),
        pytest.param(
            "import jax\nfrom jax import tree_multimap\nclass A:\n    tree_multimap = staticmethod(tree_multimap)\ntree_multimap(f, x)\n",
            "import jax\nclass A:\n    tree_multimap = staticmethod(jax.tree.map)\njax.tree.map(f, x)\n",
            id="attribute-of-a-class-named-after-what-it-holds",
        ),
        pytest.param(
            "import jax\nfrom jax import tree_multimap\nclass A:\n    def tree_multimap(self, f=tree_multimap): return f\n",
            "import jax\nclass A:\n    def tree_multimap(self, f=jax.tree.map): return f\n",
            id="default-of-a-method-of-the-same-name",
        ),
        pytest.param(
            "import jax\nfrom jax import tree_multimap as t\nclass A:\n    t = 1\n    u = t\nt(f, x)\n",
            "import jax\nfrom jax.tree import map as t\nclass A:\n    t = 1\n    u = t\nt(f, x)\n",
            id="attribute-of-a-class-once-it-is-bound",
        ),
        pytest.param("import jax\ngetattr(jax, 'tree_map')(f, x)\n", "import jax\njax.tree.map(f, x)\n", id="getattr"),
        pytest.param("import jax\njax.tree_util.build_tree(d, [1, 2])\n", "d.from_iterable_tree([1, 2])\n", id="build-tree"),
        pytest.param(
            "import jax\njax.tree_util.build_tree(xs=x, treedef=s(y))\n",
            "s(y).from_iterable_tree(x)\n",
            id="build-tree-keywords",
        ),
        pytest.param(
            "from jax.tree_util import AttributeKeyPathEntry as A\nA('w')\n",
            "from jax.tree_util import GetAttrKey as A\nA('w')\n",
            id="key-path-entry",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


@pytest.mark.parametrize(
    ("target", "spelling"),
    [("0.4.13", "tree_util.tree_map"), ("0.4.24", "tree_util.tree_map"), ("0.4.25", "tree.map"), ("0.9.2", "tree.map")],
)
def test_the_target_decides(target: str, spelling: str) -> None:
    rewritten("import jax\njax.tree_map(f, x)\n", f"import jax\njax.{spelling}(f, x)\n", select=SELECT, target=target)


def test_every_chain_of_renames_ends_at_one_spelling() -> None:
    for old in ("tree_multimap", "tree_map"):
        rewritten(f"import jax\njax.{old}(f, x)\n", "import jax\njax.tree.map(f, x)\n", select=SELECT)
    unchanged("import jax\njax.tree.map(f, x)\n", select=SELECT)


def test_none_in_the_first_of_several_trees_needs_a_look() -> None:
    tree = 'tree = {"a": None, "b": 1}\n'
    result = rewritten(
        f"import jax\n{tree}jax.tree_map(f, tree, other)\n", f"import jax\n{tree}jax.tree.map(f, tree, other)\n", select=SELECT
    )
    assert [f.applicability.name for f in result.findings] == ["REVIEW"]


@pytest.mark.parametrize("arguments", ["tree, tree", "tree", "other, tree"])
def test_none_that_cannot_matter_is_not_mentioned(arguments: str) -> None:
    source = f"import jax\ntree = (None, 1)\njax.tree_map(f, {arguments})\n"
    result = rewritten(source, source.replace("tree_map", "tree.map"), select=SELECT)
    assert [f.applicability.name for f in result.findings] == ["SAFE"]


@pytest.mark.parametrize("call", ["jax.tree_util.build_tree(*both)", "partial(jax.tree_util.build_tree, d)"])
def test_a_build_tree_whose_structure_is_not_shown_is_left(call: str) -> None:
    source = f"import jax\nfrom functools import partial\n{call}\n"
    unchanged(source, select=SELECT, findings=1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from jax import tree_multimap\ny = tree_multimap(f, x)\n",
            "from jax.tree_util import tree_map\ny = tree_map(f, x)\n",
            id="alone",
        ),
        pytest.param(
            "from jax import jit, tree_multimap\nfrom jax import tree_map\ny = tree_multimap(jit, tree_map)\n",
            "from jax import jit\nfrom jax.tree_util import tree_map\ny = tree_map(jit, tree_map)\n",
            id="beside-tree-map",
        ),
        pytest.param(
            "from jax.tree_util import (tree_leaves, tree_multimap,  # noqa\n    Partial)\ntree_multimap(tree_leaves, Partial)\n",
            "from jax.tree_util import (tree_leaves,  # noqa\n    Partial, tree_map)\ntree_map(tree_leaves, Partial)\n",
            id="comment-at-the-end-of-its-line",
        ),
        pytest.param(
            "from jax import (jit, tree_map,  # noqa\n    grad)\njit(grad(tree_map))\n",
            "from jax import (jit,  # noqa\n    grad)\nfrom jax.tree_util import tree_map  # noqa\njit(grad(tree_map))\n",
            id="comment-at-the-end-of-a-line-that-stays",
        ),
    ],
)
def test_imported_as_it_was(before: str, after: str) -> None:
    rewritten(before, after, select=SELECT)


def test_import_under_another_name_gains_no_second_one() -> None:
    before = "import jax\nfrom jax.tree_util import tree_map as M\ny = M(f, x), jax.tree_leaves(x), jax.tree_map(f, x)\n"
    result = run(before, select=SELECT, target="0.4.13")
    assert b"tree_map as M, tree_map" not in result.after
    assert b"jax.tree_map" not in result.after


def test_a_name_that_an_except_clause_gives_too_stays() -> None:
    source = "try:\n    from jax{0}\nexcept ImportError:\n    tree_multimap = None\nif tree_multimap: tree_multimap(f, y)\n"
    rewritten(source.format(" import tree_multimap"), source.format(".tree import map as tree_multimap"))
