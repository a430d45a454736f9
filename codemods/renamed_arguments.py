"""Arguments that were renamed, removed or may only be given by keyword or position.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "renamed-arguments",
    summary="arguments that were renamed, removed or may only be given by keyword or position",
    since="0.2.0",
    deprecated=None,
    removed="0.4.14",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
