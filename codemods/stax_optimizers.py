"""Stax and optimizers are example libraries.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "stax-optimizers",
    summary="stax and optimizers are example libraries",
    since="0.2.25",
    deprecated="0.2.25",
    removed="0.3.16",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
