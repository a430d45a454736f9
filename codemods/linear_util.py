"""Jax.linear_util is jax.extend.linear_util.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "linear-util",
    summary="jax.linear_util is jax.extend.linear_util",
    since="0.4.16",
    deprecated="0.4.16",
    removed="0.4.24",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
