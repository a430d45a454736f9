"""`jax.tree_map` is `jax.tree_util.tree_map`, which every release has.

https://docs.jax.dev/en/latest/changelog.html (0.4.26, 0.6.0)
"""

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "tree-map",
    summary="jax.tree_map is jax.tree_util.tree_map",
    since="0.2.0",
    deprecated="0.4.26",
    removed="0.6.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"tree_map"}),
)
codemod.rename({"jax.tree_map": "jax.tree_util.tree_map"})
