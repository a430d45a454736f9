"""Functions that left jax.lax.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "lax-names",
    summary="functions that left jax.lax",
    since="0.2.0",
    deprecated=None,
    removed="0.4.14",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
