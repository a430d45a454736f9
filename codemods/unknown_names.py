"""Uses of names that no JAX release on record has: misspelt, or of a JAX that was never released.

https://docs.jax.dev/en/latest/jax.html
"""

from __future__ import annotations

from jaxmigrate.codemod import MANUAL, Codemod

codemod = Codemod(
    "unknown-names",
    summary="a name that no JAX release has",
    since="0.2.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/jax.html",
    words=frozenset({"jax", "jaxlib"}),
    applicability=MANUAL,
)
