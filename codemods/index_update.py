"""`jax.ops.index_update` and its kin become `x.at[...].set(...)`, and `jax.ops.index` is `jnp.s_`.

https://docs.jax.dev/en/latest/changelog.html (0.2.22, 0.3.2)

The functions made an array of whatever they were given, while only arrays of JAX have `.at`: what is known to be something else
is wrapped in `jnp.asarray`. Updates out of bounds were dropped then as they are now.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    CallSite,
    Codemod,
    EditCall,
    FileSite,
    NameSite,
    ReplaceExpr,
    Report,
    Reports,
    Rewrite,
    StringSite,
    Template,
    Unbindable,
)
from jaxmigrate_codemods._as_value import as_value, by_name, is_imported
from jaxmigrate_codemods._index import INDEX, index_text, is_unwrapped, literal
from jaxmigrate_codemods._lines import is_long, spread
from jaxmigrate_codemods._receivers import is_array, is_no_array

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "index-update",
    summary="jax.ops.index_update and its kin become x.at[...].set(...)",
    since="0.2.0",
    deprecated="0.2.22",
    removed="0.3.2",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"index_update", "index_add", "index_mul", "index_min", "index_max", "jax.ops", "ops.index", "ops.scatter"}),
    applicability=REVIEW,
    options={"unknown": ("assume", "convert")},
)

_METHODS = {"index_update": "set", "index_add": "add", "index_mul": "multiply", "index_min": "min", "index_max": "max"}
_OLD = {f"{home}.{name}": method for home in ("jax.ops", "jax._src.ops.scatter") for name, method in _METHODS.items()}
_FLAGS = ("indices_are_sorted", "unique_indices")
_PARAMETERS = ("x", "idx", "y", *_FLAGS)
_ADVICES = {old: f"x.at[idx].{method}(y) does what it did" for old, method in _OLD.items()}


@codemod.call(*_OLD)
def update(site: CallSite) -> Reports:
    """A call. One through another name of the function stays as it is: that name holds a lambda then."""
    if site.partial or not is_imported(site, site.node.func):
        return None
    return _unpacking(site) if site.has_star() else _rewritten(site)


def _unpacking(site: CallSite) -> Rewrite:
    """``index_update(*args)``: a lambda with the parameters of old takes the arguments apart."""
    parameters = ", ".join(f"{flag}=False" for flag in _FLAGS)
    flags = ", ".join(f"{flag}={flag}" for flag in _FLAGS)
    function = f"(lambda x, idx, y, {parameters}: {{jax.numpy.asarray}}(x).at[idx].{_OLD[site.symbol]}(y, {flags}))"
    return Rewrite(f"a lambda does what {site.symbol} did", SAFE, (EditCall(site.node, Template(function)),))


def _rewritten(site: CallSite, besides: str = "") -> Rewrite:
    bound = site.bind(*_PARAMETERS, optional=_FLAGS)
    method, x = _OLD[site.symbol], bound["x"]
    receiver, assumed = _receiver(site, x)
    index, pieces, doubt = index_text(site, bound["idx"])
    arguments = ["{y}", *(f"{flag}={{{flag}}}" for flag in _FLAGS if flag in bound)]
    given = {**{name: value for name, value in bound.items() if name != "idx"}, **pieces}
    inside = spread(site, arguments) if is_long(site) else ", ".join(arguments)
    change = ReplaceExpr(site.node, Template(f"{receiver}.at[{index}].{method}({inside})", given))
    order = "that its arguments may be evaluated in another order" if _is_reordered(site.source, bound) else ""
    assumptions = [reason for reason in (assumed, doubt, order, besides) if reason]
    message = f"{site.symbol.rpartition('.')[2]}(x, idx, y) is x.at[idx].{method}(y)"
    if assumptions:
        return Rewrite(f"{message}, assuming {' and '.join(assumptions)}", REVIEW, (change,))
    return Rewrite(message, SAFE, (change,))


def _receiver(site: CallSite, x: ast.expr) -> tuple[str, str]:
    """Template of the array, and what is assumed of it."""
    if is_array(site.source, x):
        return "{x}", ""
    if is_no_array(site.source, x) or site.option("index-update.unknown", "assume") == "convert":
        return "{jax.numpy.asarray}({x})", ""
    return "{x}", f"that {site.text(x)} is an array of JAX (write jnp.asarray({site.text(x)}).at if NumPy's or a list may come)"


def _is_reordered(source: Source, bound: dict[str, ast.expr]) -> bool:
    """Whether keywords had arguments evaluated in another order, and that could be noticed."""
    values = [bound[name] for name in _PARAMETERS if name in bound]
    return values != sorted(values, key=source.span) and not all(source.is_pure(value) for value in values)


@codemod.name_(*_OLD)
def function_as_value(site: NameSite) -> Reports:
    """The function passed on, stored or given another name."""
    method = _OLD[site.symbol]
    function = f"lambda x, idx, y, **flags: {{jax.numpy.asarray}}(x).at[idx].{method}(y, **flags)"
    found: Reports = as_value(site, function, "it is given its flags by keyword and that ", _ADVICES[site.symbol])
    return found


def index(site: NameSite) -> Reports:
    """Where the call around it becomes ``x.at[...]``, or where it indexes at once, what it holds goes into those brackets."""
    source, subscript = site.source, site.parent()
    if is_unwrapped(source, site.node, _OLD):
        return ()
    if not (isinstance(subscript, ast.Subscript) and subscript.value is site.node):
        return None
    outer = source.parent(subscript)
    if not (isinstance(outer, ast.Subscript) and outer.slice is subscript and isinstance(outer.ctx, ast.Load)):
        return None
    inside = literal(source, *source.span(subscript.slice))
    return Rewrite("the index goes into the brackets", SAFE, (site.replace(f"{{value}}[{inside}]", outer, value=outer.value),))


codemod.rename(dict.fromkeys(INDEX, "jax.numpy.s_"), handler=index)


@codemod.file
def through_a_star(site: FileSite) -> Iterator[Report]:
    """``from jax.ops import *`` gave these names too."""
    source = site.source
    stars = {source.absolute(s.module, s.level) for s in source.stars}
    if "jax.ops" not in stars:
        return
    doubt = "that the name comes from jax.ops, not from another star import" if len(stars) > 1 else ""
    for name in _METHODS:
        for node in _free(source, name):
            call = source.parent(node)
            if isinstance(call, ast.Call) and call.func is node:
                yield _through_star(CallSite(source, call, site.settings, f"jax.ops.{name}"), doubt)
    for node in _free(source, "index"):
        subscript = source.parent(node)
        if isinstance(subscript, ast.Subscript) and subscript.value is node and not _is_argument(source, subscript):
            change = site.replace("{jax.numpy.s_}", node)
            yield Rewrite("jax.ops.index is jax.numpy.s_ now", REVIEW if doubt else SAFE, (change,), node)


def _free(source: Source, name: str) -> Iterator[ast.Name]:
    """The uses of a name that nothing in the file binds."""
    return (n for n in source.by_id.get(name, ()) if source.lookup(name, source.scope(n))[1] is None)


def _is_argument(source: Source, subscript: ast.Subscript) -> bool:
    call = source.parent(subscript)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _METHODS


def _through_star(site: CallSite, doubt: str) -> Report:
    try:
        return replace(_rewritten(site, doubt), at=site.node)
    except Unbindable as error:
        return site.manual(f"not rewritten, {error}", site.node)


@codemod.string(*_METHODS)
def in_a_string(site: StringSite) -> Reports:
    """The function looked up by its name."""
    found: Reports = by_name(site, _ADVICES)
    return found
