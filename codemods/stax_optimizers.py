"""`jax.experimental.stax` and `jax.experimental.optimizers` live on in `jax.example_libraries`.

https://docs.jax.dev/en/latest/changelog.html (0.2.25)
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod
from jaxmigrate.registry import history
from jaxmigrate_codemods._moved_modules import move_module

_MODULES = {f"jax.experimental.{name}": f"jax.example_libraries.{name}" for name in ("stax", "optimizers")}

codemod = Codemod(
    "stax-optimizers",
    summary="jax.experimental.stax and optimizers live on in jax.example_libraries",
    since="0.2.0",
    deprecated="0.2.25",
    removed="0.3.16",
    link="https://docs.jax.dev/en/latest/jax.example_libraries.html",
    words=frozenset({"stax", "optimizers"}),
)

for _old, _new in _MODULES.items():
    move_module(codemod, _old, _new, history().moves("stax-optimizers"))
