"""Uses of names that the newest JAX still has, but warns of.

https://docs.jax.dev/en/latest/api_compatibility.html
"""

from __future__ import annotations

from jaxmigrate.codemod import MANUAL, Codemod
from jaxmigrate.model import Severity

codemod = Codemod(
    "deprecated-names",
    summary="a name that JAX deprecated",
    since="0.2.0",
    deprecated="0.12.0",
    removed=None,
    link="https://docs.jax.dev/en/latest/api_compatibility.html",
    words=frozenset({"jax", "jaxlib"}),
    applicability=MANUAL,
    severity=Severity.LOW,
)
