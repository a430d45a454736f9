"""Names that moved to another module.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "moved-names",
    summary="names that moved to another module",
    since="0.2.0",
    deprecated=None,
    removed="0.3.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
