"""A function that is gone, used as a value: a lambda that does the same takes its place."""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, NameSite, Reports, Rewrite, Site, StringSite

_NO_VALUE = ("annotation", "isinstance", "issubclass", "type-compare", "base-class", "dict-key", "attribute")


def is_imported(site: Site, node: ast.expr) -> bool:
    """Whether the name is the function itself; another name of it holds the lambda."""
    resolved = site.source.resolved(node)
    return resolved is not None and (resolved.binding.kind == "import" or resolved.direct)


def as_value(site: NameSite, function: str, besides: str, advice: str) -> Reports:
    """Put the template `function`, a lambda, in the place of a name that is not called; `besides` is what it assumes."""
    if site.role == "call" or not is_imported(site, site.node):
        return None
    stored = not isinstance(getattr(site.node, "ctx", None), ast.Load)
    if stored or site.quoted or site.role in _NO_VALUE or isinstance(site.parent(), (ast.Compare, ast.FunctionDef, ast.ClassDef)):
        return site.manual(f"{site.symbol} is gone: {advice}")
    message = f"a lambda does what {site.symbol} did, assuming that {besides}it is not pickled"
    return Rewrite(message, REVIEW, (site.replace(function),))


def by_name(site: StringSite, advices: dict[str, str]) -> Reports:
    """``getattr(jax.ops, "index_add")`` and ``mock.patch("jax.ops.index_add")``; `advices` has a text for each function."""
    call = site.parent()
    if not isinstance(call, ast.Call) or site.node not in call.args:
        return None
    path = site.value
    if isinstance(call.func, ast.Name) and call.func.id == "getattr" and call.args[1:] == [site.node]:
        path = f"{site.source.resolve(call.args[0])}.{path}"
    return site.manual(f"{path} is gone: {advices[path]}") if path in advices else None
