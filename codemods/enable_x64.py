"""`jax.experimental.enable_x64` and `disable_x64` are `jax.enable_x64(True)` and `jax.enable_x64(False)`.

https://docs.jax.dev/en/latest/changelog.html (0.8.0, 0.9.0)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import SAFE, Codemod, EditCall, NameSite, Reports, Rewrite, Template

_HOMES = ("jax.experimental", "jax.experimental.x64_context")
_NEW = "jax.enable_x64"

codemod = Codemod(
    "enable-x64",
    summary="enable_x64() and disable_x64() of jax.experimental are jax.enable_x64(True) and jax.enable_x64(False)",
    since="0.8.0",
    deprecated="0.8.0",
    removed="0.9.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"enable_x64", "disable_x64", "x64_context"}),
)


def enabled(site: NameSite) -> Reports:
    """What was the default is said."""
    call = site.parent()
    if not site.target_has(codemod.since):
        return None
    if not isinstance(call, ast.Call) or call.func is not site.node or call.args or call.keywords or not site.direct:
        return None
    change = EditCall(call, func=Template(f"{{{_NEW}}}"), append=((None, Template("True")),))
    return Rewrite("enable_x64() is jax.enable_x64(True)", SAFE, (change,))


def disabled(site: NameSite) -> Reports:
    """Turning off is the same function with False."""
    call = site.parent()
    if not site.target_has(codemod.since):
        return None
    message = "disable_x64() is jax.enable_x64(False)"
    if isinstance(call, ast.Call) and call.func is site.node and not call.args and not call.keywords and site.direct:
        return Rewrite(message, SAFE, (site.replace(f"{{{_NEW}}}(False)", call),))
    return Rewrite(message, SAFE, (site.replace(f"lambda: {{{_NEW}}}(False)"),)) if site.direct else None


codemod.rename({f"{home}.enable_x64": _NEW for home in _HOMES}, handler=enabled)
codemod.rename({f"{home}.disable_x64": _NEW for home in _HOMES}, handler=disabled)
