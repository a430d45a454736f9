"""Jax.config is an object, not a module.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "config-module",
    summary="jax.config is an object, not a module",
    since="0.2.0",
    deprecated="0.4.20",
    removed="0.4.25",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
