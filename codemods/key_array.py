"""Keys are arrays: `KeyArray` and `PRNGKeyArray` become `jax.Array`, and a test for them asks the dtype.

JAX's words: https://docs.jax.dev/en/latest/jep/9263-typed-keys.html

Only keys of `jax.random.key` (once of `jax_enable_custom_prng`) were instances of the class; the arrays of numbers that
`jax.random.PRNGKey` gives never were, though annotations meant them too.
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, Codemod, Handler, NameSite, Reports, Rewrite
from jaxmigrate.registry import history
from jaxmigrate_codemods._arrays import container
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
    classes = container(site.source, site.node)
    call = site.source.parent(classes)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or len(call.args) != 2:
        return site.manual(_ADVICE)
    if classes is not site.node:
        others = {site.source.facts.canonical(site.source.resolve(n) or "") for n in ast.walk(classes)}
        return None if _ARRAY in others and site.direct else site.manual(_ADVICE)
    if not site.source.is_pure(call.args[0]):
        return site.manual(_ADVICE)
    if not site.target_has("0.4.14"):
        return site.manual(f"{_ADVICE} (since 0.4.14), and the class went with 0.4.24: choose by version")
    return Rewrite(_RAW, REVIEW, (site.replace(_TEST, call, x=call.args[0]),))


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
    return site.manual(_ADVICE) if isinstance(call, ast.MatchClass) else None


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
}

move_module(codemod, "jax.prng", "jax.extend.random", history().moves("key-array"), _CLASSES)
codemod.rename(dict.fromkeys(_CLASSES, _ARRAY), handler=_class, passed_on=_ELSEWHERE)
