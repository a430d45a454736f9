"""Functions that left jax.nn, jax.random, jax.scipy and jax.image.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "function-names",
    summary="functions that left jax.nn, jax.random, jax.scipy and jax.image",
    since="0.2.0",
    deprecated=None,
    removed="0.4.16",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
