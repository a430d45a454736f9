"""Helpers of jax.test_util.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "test-util",
    summary="helpers of jax.test_util",
    since="0.2.0",
    deprecated="0.3.8",
    removed="0.3.14",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
