"""The functions on trees under jax.tree and jax.tree_util.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "tree-map",
    summary="the functions on trees under jax.tree and jax.tree_util",
    since="0.2.0",
    deprecated="0.4.26",
    removed="0.6.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
