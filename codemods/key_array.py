"""Keys are arrays: `KeyArray` and `PRNGKeyArray` become `jax.Array`, and a test for them asks the dtype.

JAX's words: https://docs.jax.dev/en/latest/jep/9263-typed-keys.html

Only keys of `jax.random.key` (once of `jax_enable_custom_prng`) were instances of the class; the arrays of numbers that
`jax.random.PRNGKey` gives never were, though annotations meant them too.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxmigrate.codemod import REVIEW, Codemod, Handler, Manual, NameSite, Reports, Rewrite, last_part, reports
from jaxmigrate.registry import history
from jaxmigrate_codemods._arrays import classes_text, container, elements
from jaxmigrate_codemods._moved_modules import move_module

_ARRAY = "jax.Array"
_CLASSES = (
    "jax.random.KeyArray",
    "jax.random.PRNGKeyArray",
    "jax.prng.PRNGKeyArray",
    "jax._src.prng.PRNGKeyArray",
    "jax._src.random.KeyArray",
    "jax._src.random.PRNGKeyArray",
)
_TEST = "isinstance({x}, {jax.Array}) and {jax.dtypes.issubdtype}({x}.dtype, {jax.dtypes.prng_key})"
_ADVICE = "a key of jax.random.key is an array x for which jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key) holds"
_RAW = "a test for keys asks the dtype now; it is False for the arrays of numbers of jax.random.PRNGKey, as it was"
_ELSEWHERE = "another module that tests isinstance with it would take every array for a key"

codemod = Codemod(
    "key-array",
    summary="KeyArray and PRNGKeyArray become jax.Array, tests for them ask the dtype",
    since="0.2.20",
    deprecated="0.4.16",
    removed="0.4.24",
    link="https://docs.jax.dev/en/latest/jep/9263-typed-keys.html",
    words=frozenset({"KeyArray", "PRNGKeyArray", "jax.prng", "import prng"}),
    applicability=REVIEW,
)


def _class(site: NameSite) -> Reports:
    """Decide one use of the class by its role; annotations and aliases name the type of arrays."""
    handler = _ROLES.get(site.role)
    return handler(site) if handler is not None else None


def _tested(site: NameSite) -> Reports:
    """``isinstance(x, KeyArray)``, alone or among other classes."""
    classes = _all_classes(site)
    call = site.source.parent(classes)
    if _has_arrays(site, classes):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or len(call.args) != 2:
        return site.manual(_ADVICE)
    keys = [k for k in elements(classes) if site.source.resolve(k) in _CLASSES]
    if not keys or isinstance(call.args[0], ast.Constant) or not site.source.is_pure(call.args[0]):
        return site.manual(_ADVICE)
    if not site.target_has("0.4.14"):
        return site.manual(f"{_ADVICE} (since 0.4.14), and the class went with 0.4.24: choose by version")
    return _asking_the_dtype(site, call, classes, keys) if site.node is keys[0] else ()


def _asking_the_dtype(site: NameSite, call: ast.Call, classes: ast.expr, keys: list[ast.expr]) -> Rewrite:
    """One edit for all key classes of a test; the others are tested for as before."""
    text, pieces = _TEST, {"x": call.args[0]}
    if rest := [k for k in elements(classes) if k not in keys]:
        others, named = classes_text(site.source, rest)
        text, pieces = f"isinstance({{x}}, {others}) or {_TEST}", pieces | named
    return Rewrite(_RAW, REVIEW, (site.replace(text, call, **pieces),))


def _all_classes(site: NameSite) -> ast.expr:
    """The outermost tuple, or ``|`` chain, that the class is an element of, or the class."""
    outer: ast.expr = container(site.source, site.node)
    parent = site.source.parent(outer)
    while isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.BitOr):
        outer = container(site.source, parent)
        parent = site.source.parent(outer)
    return outer


def _has_arrays(site: NameSite, classes: ast.expr) -> bool:
    """Whether every array is let through anyway, by a class of that name: another name may be one of keys that went."""
    named = (n for n in ast.walk(classes) if last_part(n) in ("Array", "ndarray"))
    return any(site.source.facts.canonical(site.source.resolve(n) or "") == _ARRAY for n in named)


def _bound(site: NameSite) -> Reports:
    """``KEYS = (KeyArray, ...)`` is there for tests, as is a union that one is made with; else it names the type of arrays."""
    outer = _all_classes(site)
    if _has_arrays(site, outer):
        return None
    is_display = outer is not site.node and not isinstance(outer, ast.BinOp)
    is_display = is_display and not isinstance(site.source.parent(outer), ast.Subscript)
    return site.manual(_ADVICE) if is_display or _is_tested_by_name(site) else None


def _is_tested_by_name(site: NameSite) -> bool:
    """Whether what the class, or something made of it, is bound to is asked for where that cannot be written in another way."""
    statement = site.source.statement(site.node)
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return False
    uses = [use for use in site.source.by_id.get(targets[0].id, ()) if isinstance(use.ctx, ast.Load)]
    if getattr(statement, "value", None) is site.node:
        return any(_stays(replace(site, node=use, direct=False)) for use in uses)
    return any(site.source.role(use) in ("isinstance", "issubclass") for use in uses)


def _stays(site: NameSite) -> bool:
    """Whether a use of an alias keeps the class."""
    return site.role != "alias" and any(isinstance(report, Manual) for report in reports(_class(site)))


def _exact(site: NameSite) -> Reports:
    """``type(x) is KeyArray``, a table or a dispatcher by class, a subclass."""
    return site.manual(f"keys have no class of their own any more: {_ADVICE}")


def _constructed(site: NameSite) -> Reports:
    """``PRNGKeyArray(impl, data)``."""
    return site.manual("jax.random.wrap_key_data(data, impl=...) makes a key of its numbers (0.4.16)")


def _passed(site: NameSite) -> Reports:
    """The class as an argument of a call; elsewhere it is a value like that of an alias."""
    call = site.parent()
    if isinstance(call, ast.Call):
        return None if (site.source.resolve(call.func) or "").startswith("typing.") else site.manual(_ADVICE)
    return site.manual(_ADVICE) if isinstance(call, ast.MatchClass) else _bound(site)


_ROLES: dict[str, Handler] = {
    "isinstance": _tested,
    "issubclass": _exact,
    "register": _exact,
    "type-compare": _exact,
    "dict-key": _exact,
    "base-class": _exact,
    "attribute": _exact,
    "call": _constructed,
    "value": _passed,
    "alias": _bound,
}

move_module(codemod, "jax.prng", "jax.extend.random", history().moves("key-array"), _CLASSES)
codemod.rename(dict.fromkeys(_CLASSES, _ARRAY), handler=_class, passed_on=_ELSEWHERE)
