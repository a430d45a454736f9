"""APIs without a mechanical successor: xmap, soft_pmap, old callbacks of transformations.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "xmap",
    summary="APIs without a mechanical successor: xmap, soft_pmap, old callbacks of transformations",
    since="0.4.31",
    deprecated=None,
    removed="0.4.31",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
