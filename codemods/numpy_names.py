"""Functions and constants that left jax.numpy.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "numpy-names",
    summary="functions and constants that left jax.numpy",
    since="0.2.0",
    deprecated=None,
    removed="0.4.16",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
