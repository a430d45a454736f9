"""KeyArray and PRNGKeyArray become jax.Array.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "key-array",
    summary="KeyArray and PRNGKeyArray become jax.Array",
    since="0.3.18",
    deprecated="0.4.16",
    removed="0.4.24",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
