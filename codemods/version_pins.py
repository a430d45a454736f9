"""Requirements on jax and jaxlib: what keeps the target from being installed, and lower bounds that the rewritten code outgrew.

https://docs.jax.dev/en/latest/jep/9419-jax-versioning.html
"""

from __future__ import annotations

from jaxmigrate.codemod import UNSAFE, Codemod

codemod = Codemod(
    "version-pins",
    summary="requirements that forbid the target, and lower bounds below what the rewritten code needs",
    since="0.2.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/jep/9419-jax-versioning.html",
    words=frozenset({"jax"}),
    applicability=UNSAFE,
)
