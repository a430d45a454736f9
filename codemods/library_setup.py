"""Compilation cache, export, x64 context, backends and layouts under their present names.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "library-setup",
    summary="compilation cache, export, x64 context, backends and layouts under their present names",
    since="0.4.30",
    deprecated=None,
    removed="0.4.36",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
