"""`jax.linear_util` is `jax.extend.linear_util`.

https://docs.jax.dev/en/latest/changelog.html (0.4.16, 0.4.24)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import SAFE, Codemod, NameSite, Reports, Rewrite
from jaxmigrate.registry import history
from jaxmigrate_codemods._moved_modules import move_module

_OLD, _NEW = "jax.linear_util", "jax.extend.linear_util"
_WARNS = f"wrap_init is in {_NEW} now; since 0.5.1 it warns where debug_info=jax.api_util.debug_info(...) is not given"

codemod = Codemod(
    "linear-util",
    summary="jax.linear_util is jax.extend.linear_util",
    since="0.2.0",
    deprecated="0.4.16",
    removed="0.4.24",
    link="https://docs.jax.dev/en/latest/changelog.html#jax-0-4-24-feb-6-2024",
    words=frozenset({"linear_util"}),
)


def _wrapped(site: NameSite) -> Reports:
    """The function still does without a `debug_info`, and says that it would like one."""
    if isinstance(site.node, ast.Attribute):
        return ()  # it follows its module
    return Rewrite(_WARNS, SAFE, ()) if site.role == "call" else None


move_module(codemod, _OLD, _NEW, history().moves("linear-util"))
codemod.rename({f"{_OLD}.wrap_init": f"{_NEW}.wrap_init"}, handler=_wrapped)
