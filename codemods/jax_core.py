"""Names of jax.core under jax.extend.core and others.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "jax-core",
    summary="names of jax.core under jax.extend.core and others",
    since="0.4.31",
    deprecated="0.4.36",
    removed="0.6.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
