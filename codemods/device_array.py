"""`DeviceArray`, in all its homes, becomes `jax.Array`, the one class of arrays since JAX 0.4.1.

JAX's words: https://docs.jax.dev/en/latest/jax_array_migration.html#new-public-type-named-jax-array

`jax.Array` is abstract. Tracers are instances of it (they were none of `DeviceArray`), no value has exactly that type, and its
methods cannot be called on the class.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, Codemod, FileSite, Handler, Manual, NameSite, Reports, Rewrite, StringSite
from jaxmigrate_codemods._arrays import (
    ARRAY,
    DEVICE_ARRAYS,
    DEVICES,
    container,
    line,
    registered_beside,
    traced,
    typed,
)
from jaxmigrate_codemods._beside_array import tracers_arm, yields_to_array
from jaxmigrate_codemods._exact_class import as_isinstance, compared, compared_by_call, keyed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxmigrate.names import Source

_MODULES = frozenset({"jaxlib.xla_extension", "jax.lib.xla_extension", "jax.lib.xla_client"})
"""Modules that are gone as a whole; other codemods speak of those whose every member is known."""
_TYPES = "jax._src.device_array.device_array_types"
_ABSTRACT = (
    "the methods of jax.Array itself cannot be called, it is abstract; the class that arrays really have is asked of one, "
    "which starts JAX's backend where the expression runs"
)
_CONCRETE = "type({jax.numpy.zeros}(()))"
_WIDER = "isinstance with jax.Array is also True for tracers, with DeviceArray it was False"
_NAMED = "the class of arrays is called ArrayImpl now: use isinstance(x, jax.Array)"
_PATCHED = "attributes set on jax.Array do not reach all arrays: patch the function that uses them instead"

codemod = Codemod(
    "device-array",
    summary="DeviceArray and its whole family become jax.Array",
    since="0.3.18",
    deprecated="0.4.7",
    removed="0.4.14",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset(name.rpartition(".")[2] for name in DEVICE_ARRAYS | DEVICES) | {"device_array_types"},
    applicability=REVIEW,
)


def _array(site: NameSite) -> Reports:
    """Decide one use of the class by its role."""
    handler = _ROLES.get(site.role)
    return handler(site) if handler is not None else None


def _tested(site: NameSite) -> Reports:
    """``isinstance(x, DeviceArray)``: wider now, which matters where tracers come by."""
    if not site.direct:
        return None
    dead: Reports = yields_to_array(site)
    if dead:
        return dead
    reason = traced(site) or tracers_arm(site)
    call = next((a for a in site.source.ancestors(site.node) if isinstance(a, ast.Call)), None)
    if not reason and call is not None and site.text(call.func).endswith("assertNotIsInstance"):
        reason = "so the assertion fails if the value is one"
    negation = site.source.parent(call) if call is not None else None
    if not reason and isinstance(negation, ast.UnaryOp) and isinstance(negation.op, ast.Not):
        reason = "so the negated test no longer holds for them"
    if not reason:
        return None
    return Rewrite(f"{_WIDER}; {reason}", REVIEW, ())


def _of_class(site: NameSite) -> Reports:
    """``issubclass(t, DeviceArray)``: no tracer class is a subclass of either."""
    dead: Reports = yields_to_array(site) if site.direct else None
    return dead


def _defined(site: NameSite) -> Reports:
    """A tuple of classes by name: what holds for isinstance holds for it. A plain alias or a Union names a type."""
    whole = container(site.source, site.node)
    if whole is not site.node:
        return None if isinstance(site.source.parent(whole), ast.Subscript) else _tested(site)
    statement = site.parent()
    names = [t for t in statement.targets if isinstance(t, ast.Name)] if isinstance(statement, ast.Assign) else []
    for use in (n for name in names for n in site.source.by_id.get(name.id, ()) if isinstance(n.ctx, ast.Load)):
        if site.source.role(use) == "isinstance" and (reason := site.source.tracing_evidence(use)):
            return Rewrite(f"{_WIDER}; {reason} (line {line(site.source, use)})", REVIEW, ())
    return None


def _registered(site: NameSite) -> Reports:
    """``singledispatch.register``: tracers dispatch as before, since 0.8.2 no tracer class is a subclass of jax.Array."""
    parent = site.parent()
    leaf = parent.func.attr if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) else "register"
    if leaf != "register":
        return site.manual(f"{leaf} goes by the exact class, which is private today; JAX treats arrays as leaves itself")
    if registered_beside(site, ARRAY):
        return site.manual("the same dispatcher registers jax.Array, which is for all arrays now: take this registration out")
    if site.target_has("0.8.2"):
        return None
    return Rewrite("before JAX 0.8.2 tracers dispatch on jax.Array too, which they did not on DeviceArray", REVIEW, ())


def _subclassed(site: NameSite) -> Reports:
    """``class X(DeviceArray)``."""
    return site.manual(
        "a subclass of the array class: JAX functions do not take one; hold an array and define __jax_array__ instead"
    )


def _constructed(site: NameSite) -> Reports:
    """``DeviceArray(aval, device, buffer)``."""
    return site.manual("jax.Array has no constructor: use jax.numpy.asarray, or jax.device_put(value, device)")


def _member(site: NameSite) -> Reports:
    """``DeviceArray.method``: found on the class that arrays really have."""
    attribute = site.parent()
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        return site.manual(_PATCHED)
    if attribute.attr in ("from_pyval", "make"):
        return _constructed(site)
    return Rewrite(_ABSTRACT, REVIEW, (site.replace(_CONCRETE),))


def _passed(site: NameSite) -> Reports:
    """The class as an argument: getattr and patching look inside it."""
    call = site.parent()
    if isinstance(call, ast.MatchClass):
        return _tested(site)
    if not isinstance(call, ast.Call):
        return None
    if any(typed(a) is not None for a in call.args):
        result: Reports = compared_by_call(site, call)
        return result
    if call.args[:1] != [site.node]:
        return None
    if site.source.resolve(call.func) == "copyreg.pickle":
        return site.manual("copyreg goes by the exact class, which is private today; arrays pickle by themselves")
    called = site.source.segment(call.func).rpartition(".")[2]
    if called in ("setattr", "delattr", "object"):
        return site.manual(_PATCHED)
    if called in ("getattr", "hasattr", "getmembers", "dir", "vars"):
        return Rewrite(_ABSTRACT, REVIEW, (site.replace(_CONCRETE),))
    return None


_ROLES: dict[str, Handler] = {
    "isinstance": _tested,
    "issubclass": _of_class,
    "alias": _defined,
    "register": _registered,
    "base-class": _subclassed,
    "call": _constructed,
    "attribute": _member,
    "value": _passed,
    "type-compare": compared,
    "dict-key": keyed,
}

codemod.gone = {"jax._src.device_array": "there is one class of arrays, jax.Array"}
codemod.rename(dict.fromkeys(sorted(DEVICE_ARRAYS), ARRAY), handler=_array)
codemod.rename(dict.fromkeys(sorted(DEVICES), "jax.Device"))


@codemod.name_(_TYPES)
def device_array_types(site: NameSite) -> Reports:
    """The private list of array classes: only asking whether it holds a value's class can be rewritten."""
    parent = site.parent()
    if isinstance(parent, ast.Call) and site.text(parent.func) == "tuple":
        outer = site.source.parent(parent)
        if isinstance(outer, ast.Call) and site.text(outer.func) in ("isinstance", "issubclass") and parent in outer.args:
            reason = traced(site)
            tracers = f", which is also True for tracers; {reason}" if reason else ""
            return Rewrite(f"the one array class is {ARRAY}{tracers}", REVIEW, (site.replace(f"{{{ARRAY}}}", parent),))
    if isinstance(parent, ast.Compare) and parent.comparators == [site.node] and (value := typed(parent.left)) is not None:
        result: Reports = as_isinstance(site, parent, value, [], "(")
        return result
    return site.manual(f"the list of array classes is gone: there is one, {ARRAY}, and the class of a value is private")


@codemod.file
@codemod.only_where(*_MODULES)
def module_that_is_gone(site: FileSite) -> Iterator[Manual]:
    """``from jax.lib import xla_extension`` fails, however carefully what it binds is asked for its members afterwards."""
    source = site.source
    for statement in source.imports:
        module = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
        for name in (f"{module}{a.name}" for a in statement.names):
            uses = source.names(name) if name in _MODULES else []
            quiet = uses and all(source.guard(use) or _is_asked(source, use) for use in uses)
            if quiet and not source.guard(statement) and not _is_tried(source, statement):
                yield site.manual(
                    f"{name} cannot be imported any more: take what you need from jax, or from jax.extend", statement
                )


def _is_asked(source: Source, node: ast.expr) -> bool:
    """Whether the module is only asked for a name: ``hasattr(xla_extension, "DeviceArray")``."""
    call = source.parent(node)
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("hasattr", "getattr")


def _is_tried(source: Source, statement: ast.stmt) -> bool:
    """Whether the failure of an import is caught."""
    return any(isinstance(a, ast.Try) and a.handlers and statement in a.body for a in source.ancestors(statement))


@codemod.string("DeviceArray", "_DeviceArray", "ShardedDeviceArray")
def class_name(site: StringSite) -> Reports:
    """A comparison with the *name* of a class (``type(x).__name__ == "DeviceArray"``) is reported; other strings are prose."""
    around = site.source.parent(container(site.source, site.node))
    asked: list[ast.expr] = []
    if isinstance(around, ast.Compare):
        asked = [around.left, *around.comparators]
    elif isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute):
        asked = [around.func.value]  # type(x).__name__.endswith("DeviceArray")
    return Manual(_NAMED) if any(_asks_name(part) for part in asked) else None


def _asks_name(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("__name__", "__qualname__")
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("str", "repr")
        and bool(node.args)
        and typed(node.args[0]) is not None
    )
