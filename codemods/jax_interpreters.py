"""Names of jax.interpreters that moved.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "jax-interpreters",
    summary="names of jax.interpreters that moved",
    since="0.4.16",
    deprecated="0.4.16",
    removed="0.10.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
