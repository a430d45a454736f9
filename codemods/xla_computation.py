"""Xla_computation becomes jit(...).lower(...).

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "xla-computation",
    summary="xla_computation becomes jit(...).lower(...)",
    since="0.4.2",
    deprecated="0.4.30",
    removed="0.6.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
