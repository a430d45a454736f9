"""`jax.clear_backends` is `jax.extend.backend.clear_backends`.

https://docs.jax.dev/en/latest/changelog.html (0.4.26, 0.4.36)
"""

from jaxmigrate.codemod import Codemod
from jaxmigrate.registry import history

codemod = Codemod(
    "clear-backends",
    summary="jax.clear_backends is jax.extend.backend.clear_backends",
    since="0.4.26",
    deprecated="0.4.26",
    removed="0.4.36",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"clear_backends"}),
)
codemod.rename(history().moves("clear-backends"))
