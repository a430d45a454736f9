"""Shard_map of jax.experimental is jax.shard_map.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "shard-map",
    summary="shard_map of jax.experimental is jax.shard_map",
    since="0.6.1",
    deprecated="0.8.0",
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
