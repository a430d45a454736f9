"""Xla_bridge, xla_client and xla_extension.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "jax-lib",
    summary="xla_bridge, xla_client and xla_extension",
    since="0.4.31",
    deprecated="0.4.31",
    removed="0.8.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
