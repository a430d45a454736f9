"""Options of jax.config that are gone.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "config-flags",
    summary="options of jax.config that are gone",
    since="0.2.0",
    deprecated=None,
    removed="0.4.36",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
