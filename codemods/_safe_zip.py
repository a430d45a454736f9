"""`safe_map` and `safe_zip`: Python itself has them since it has ``zip(strict=True)``."""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, NameSite, ReplaceExpr, Reports, Rewrite, Site, Template

_STRICT = "0.4.31"
"""The first JAX that needs a Python whose zip knows `strict`."""


def register(codemod: Codemod, *modules: str) -> None:
    """Deal with the two functions of these modules."""
    maps, zips = [f"{m}.safe_map" for m in modules], [f"{m}.safe_zip" for m in modules]
    codemod.call(*maps)(_map)
    codemod.call(*zips)(_zip)
    codemod.name_(*maps, *zips)(_value)


def _map(site: CallSite) -> Reports:
    arguments = _arguments(site)
    if site.partial or len(arguments) < 2 or not _means_builtin(site, "map", "list", "zip"):
        return _named(site, site.node.args[0] if site.partial else site.node.func)
    if len(arguments) == 2:
        return _rewritten(site, "safe_map of one sequence is list(map(...))", "list(map({x0}, {x1}))", arguments)
    if not site.source.is_pure(arguments[0]) or not site.target_has(_STRICT):
        return _named(site, site.node.func)
    rest = ", ".join(f"{{x{i}}}" for i in range(1, len(arguments)))
    names = "args" if "args" not in site.text() else "arguments"
    template = f"[{{x0}}(*{names}) for {names} in zip({rest}, strict=True)]"
    return _rewritten(site, "safe_map is a map over zip(..., strict=True)", template, arguments)


def _zip(site: CallSite) -> Reports:
    arguments = _arguments(site)
    if site.partial or not arguments or not _means_builtin(site, "list", "zip") or not site.target_has(_STRICT):
        return _named(site, site.node.args[0] if site.partial else site.node.func)
    parts = ", ".join(f"{{x{i}}}" for i in range(len(arguments)))
    return _rewritten(site, "safe_zip is list(zip(..., strict=True))", f"list(zip({parts}, strict=True))", arguments)


def _rewritten(site: CallSite, message: str, template: str, arguments: list[ast.expr]) -> Rewrite:
    pieces = {f"x{i}": argument for i, argument in enumerate(arguments)}
    return Rewrite(message, SAFE, (ReplaceExpr(site.node, Template(template, pieces)),))


def _arguments(site: CallSite) -> list[ast.expr]:
    """The positional arguments, if there is nothing else."""
    return [] if site.has_star() or site.node.keywords else site.positional()


def _means_builtin(site: Site, *names: str) -> bool:
    """Whether these names are bound nowhere around the site."""
    return not any(site.source.lookup(name, site.source.scope(site.node))[0] for name in names)


def _value(site: NameSite) -> Reports:
    """The function as a value: ``map, unsafe_map = safe_map, map``."""
    parent = site.parent()
    called = isinstance(parent, ast.Call) and (parent.func is site.node or _is_partial(site, parent))
    return None if called or not site.direct else _named(site, site.node)


def _is_partial(site: Site, call: ast.Call) -> bool:
    return site.source.resolve(call.func) == "functools.partial" and call.args[:1] == [site.node]


def _named(site: CallSite | NameSite, node: ast.expr) -> Reports:
    """The function itself from elsewhere."""
    if site.symbol.endswith("safe_map"):
        message = "safe_map can still be had from jax.api_util, which does not document it"
        return Rewrite(message, REVIEW, (site.replace("{jax.api_util.safe_map}", node),))
    message = "zip with strict=True checks the lengths as safe_zip did, but gives an iterator, not a list"
    if not site.target_has(_STRICT) or not _strict_zip_is_free(site, node):
        return site.manual(f"{message} (Python 3.10)")
    return Rewrite(message, REVIEW, (site.replace("{functools.partial}(zip, strict=True)", node),))


def _strict_zip_is_free(site: Site, node: ast.expr) -> bool:
    """Whether `zip` is the builtin where `node` is evaluated: it may be re-bound by this very statement."""
    statement = site.source.statement(node)
    bindings, scope = site.source.lookup("zip", site.source.scope(node))
    return not bindings or (scope is site.source.scope_root and all(b.statement is statement for b in bindings))
