"""Host_callback becomes io_callback, pure_callback or debug.callback.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "host-callback",
    summary="host_callback becomes io_callback, pure_callback or debug.callback",
    since="0.4.2",
    deprecated="0.4.31",
    removed="0.8.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
