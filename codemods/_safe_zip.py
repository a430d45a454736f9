"""`safe_map` and `safe_zip`: Python itself has them since it has ``zip(strict=True)``."""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, Codemod, NameSite, ReplaceExpr, Reports, Rewrite, Site, Template

_STRICT = "0.4.31"
"""The first JAX that needs a Python whose zip knows `strict`."""
_HOMES = {"safe_map": "jax.api_util.safe_map", "safe_zip": "jax.example_libraries.optimizers.safe_zip"}
"""Where the functions can still be had."""


def register(codemod: Codemod, *modules: str) -> None:
    """Deal with the two functions of these modules: calls are written out, the rest gets them from elsewhere."""
    codemod.rename({f"{m}.{name}": home for m in modules for name, home in _HOMES.items()}, handler=_use)


def _use(site: NameSite) -> Reports:
    name = site.symbol.rpartition(".")[2]
    call = site.parent()
    if isinstance(call, ast.Call) and call.func is site.node and not call.keywords:
        template = _map(site, call.args) if name == "safe_map" else _zip(site, call.args)
        if template and not any(isinstance(a, ast.Starred) for a in call.args):
            pieces = {f"x{i}": argument for i, argument in enumerate(call.args)}
            return Rewrite(f"{name} written out", SAFE, (ReplaceExpr(call, Template(template, pieces)),))
    return Rewrite(f"{name} can still be had from {_HOMES[name].rpartition('.')[0]}, which does not document it", REVIEW, ())


def _map(site: NameSite, arguments: list[ast.expr]) -> str:
    """``list(map(f, x))``, or a comprehension over a strict zip; empty where that is not possible."""
    if len(arguments) < 2 or not means_builtin(site, "map", "list", "zip"):
        return ""
    if len(arguments) == 2:
        return "list(map({x0}, {x1}))"
    if not site.source.is_pure(arguments[0]) or not site.target_has(_STRICT):
        return ""
    rest = ", ".join(f"{{x{i}}}" for i in range(1, len(arguments)))
    call = site.parent()
    names = "args" if call is not None and "args" not in site.text(call) else "arguments"
    return f"[{{x0}}(*{names}) for {names} in zip({rest}, strict=True)]"


def _zip(site: NameSite, arguments: list[ast.expr]) -> str:
    """``list(zip(x, y, strict=True))``; empty where that is not possible."""
    if not arguments or not site.target_has(_STRICT) or not means_builtin(site, "list", "zip"):
        return ""
    return f"list(zip({', '.join(f'{{x{i}}}' for i in range(len(arguments)))}, strict=True))"


def means_builtin(site: Site, *names: str) -> bool:
    """Whether these names are bound nowhere around the site."""
    return not any(site.source.lookup(name, site.source.scope(site.node))[0] for name in names)
