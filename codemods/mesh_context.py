"""With mesh: is deprecated.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "mesh-context",
    summary="with mesh: is deprecated",
    since="0.7.1",
    deprecated="0.10.1",
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
