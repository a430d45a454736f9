"""Every use of a name that JAX removed and that no other codemod deals with, with what became of it.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import REVIEW, Codemod

codemod = Codemod(
    "removed-names",
    summary="a name that JAX removed, or that the target does not have yet",
    since="0.2.0",
    deprecated=None,
    removed="0.12.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax", "jaxlib"}),
    applicability=REVIEW,
)
