"""Jax.ops.index_update and its kin become x.at[...].

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "index-update",
    summary="jax.ops.index_update and its kin become x.at[...]",
    since="0.2.0",
    deprecated="0.2.22",
    removed="0.3.2",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
