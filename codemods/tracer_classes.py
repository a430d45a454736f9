"""The classes of tracers are no subclasses of `jax.Array` since 0.8.2: `issubclass` and `singledispatch` pass them by.

`isinstance(x, jax.Array)` is as true for tracers as ever. https://docs.jax.dev/en/latest/changelog.html (0.8.2)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, Codemod, NameSite, Reports, Rewrite
from jaxmigrate.model import Severity

from ._arrays import DEVICE_ARRAYS, SHARDED_DEVICE_ARRAYS, elements, typed
from ._changes import before, held

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "tracer-classes",
    summary="issubclass and singledispatch do not take tracers for jax.Array any more",
    since="0.8.2",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset(
        {"issubclass", "singledispatch", "singledispatchmethod", "register", "mro", "__mro__", "getmro", "multipledispatch"}
    ),
    applicability=REVIEW,
)

_ARRAYS = ("jax.Array", "jax.numpy.ndarray")
_TRACERS = ("jax.core.Tracer", "jax.extend.core.Tracer", "jax._src.core.Tracer")
_WHY = "classes of tracers are no subclasses of jax.Array since 0.8.2"
_UNREGISTERED = f"{_WHY}: singledispatch gives them to the default function"


@codemod.name_(*_ARRAYS)
@before("0.8.2")
def array_class(site: NameSite) -> Reports:
    """A test or a registration of the class; where it may stand for an old class, that never meant tracers."""
    if site.source.original is not None and held(site.source, *DEVICE_ARRAYS, *SHARDED_DEVICE_ARRAYS):
        return None
    if site.quoted:
        return None
    if _registers(site):
        return site.manual(f"{_UNREGISTERED}; register the function for jax.core.Tracer too")
    if site.role == "issubclass":
        return _issubclass(site)
    if site.role == "register":
        return _registered(site)
    return _looked_up(site) or _dispatched(site)


def _looked_up(site: NameSite) -> Reports:
    """``jax.Array in type(x).__mro__``, and a table by classes through which a file looks with the bases of a class."""
    source, parent = site.source, site.parent()
    if isinstance(parent, ast.Compare) and parent.left is site.node and isinstance(parent.ops[0], (ast.In, ast.NotIn)):
        if not _are_bases(source, parent.comparators[0]):
            return None
        return site.manual(f"{_WHY}, nor among their bases: ask a value with isinstance", parent)
    if not _is_entry(source, site.node, parent):
        return None
    if not any(_are_bases(source, n) for n in ast.walk(source.tree) if isinstance(n, ast.expr)):
        return None
    return site.manual(
        f"{_WHY}: a look-up with the bases of a tracer's class does not find this entry; add one for jax.core.Tracer"
    )


def _is_entry(source: Source, node: ast.expr, parent: ast.AST | None) -> bool:
    """``{jax.Array: f}``, ``TABLE[jax.Array] = f`` and ``@handler(jax.Array)``."""
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Store) and parent.slice is node
    if isinstance(parent, ast.Call):
        return source.parent(parent) is source.statement(parent) and parent.args[:1] == [node]
    return isinstance(parent, ast.Dict) and node in parent.keys


def _are_bases(source: Source, node: ast.expr) -> bool:
    """``type(x).__mro__``, ``cls.mro()`` and ``inspect.getmro(cls)``."""
    if isinstance(node, ast.Call):
        return source.resolve(node.func) == "inspect.getmro" or getattr(node.func, "attr", "") == "mro"
    return isinstance(node, ast.Attribute) and node.attr == "__mro__"


def _dispatched(site: NameSite) -> Reports:
    """``@dispatch(jax.Array)`` of the package multipledispatch, which goes by the classes of the arguments."""
    call = next((a for a in site.source.ancestors(site.node) if isinstance(a, ast.Call)), None)
    if call is None or site.source.resolve(call.func) != "multipledispatch.dispatch":
        return None
    if any(site.source.resolve(e) in _TRACERS for a in call.args for e in elements(a)):
        return None
    return site.manual(f"{_WHY}: multipledispatch does not give them to this function unless it names jax.core.Tracer too")


def _issubclass(site: NameSite) -> Reports:
    source = site.source
    call = next(a for a in source.ancestors(site.node) if isinstance(a, ast.Call))
    if len(call.args) != 2 or site.node not in elements(call.args[1]) or _first(source, call) is not site.node:
        return None  # once for a test
    if any(source.resolve(e) in _TRACERS for e in elements(call.args[1])):
        return None
    value = typed(call.args[0])
    if value is None:
        asked = site.text(call.args[0])
        message = f"{_WHY}: if {asked} may be one, also ask for jax.core.Tracer, or ask a value with isinstance"
        known = typed(source.value_of(call.args[0])) is not None
        return site.manual(message, call, Severity.NORMAL if known else Severity.LOW)
    change = site.replace("isinstance({x}, {classes})", call, x=value, classes=call.args[1])
    return Rewrite(f"{_WHY}; isinstance takes tracers for arrays as before", REVIEW, (change,), call)


def _first(source: Source, call: ast.Call) -> ast.expr | None:
    return next((e for e in elements(call.args[1]) if source.resolve(e) in _ARRAYS), None)


def _registered(site: NameSite) -> Reports:
    """``@f.register(jax.Array)`` of a singledispatch function."""
    source, call = site.source, site.parent()
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.args[:1] != [site.node]:
        return None
    if not _is_dispatcher(source, call.func.value) or _has_tracers(source, call.func):
        return None
    if not site.target_has("0.7.0"):  # Python 3.11, whose register takes a union, is not certain before
        return site.manual(f"{_UNREGISTERED}; register the function for jax.core.Tracer too")
    change = site.replace("{a} | {jax.core.Tracer}", a=site.node)
    return Rewrite(f"{_UNREGISTERED} unless they are registered too", REVIEW, (change,))


def _registers(site: NameSite) -> bool:
    """Whether the class annotates the argument by which ``@f.register`` tells what the function is for."""
    source, annotated = site.source, site.parent()
    if not isinstance(annotated, ast.arg):
        return False
    function = next((a for a in source.ancestors(annotated) if isinstance(a, ast.FunctionDef)), None)
    if function is None or annotated not in function.args.args[:2] or any(a.annotation for a in _before(function, annotated)):
        return False
    registers = [d for d in function.decorator_list if isinstance(d, ast.Attribute) and d.attr == "register"]
    return any(_is_dispatcher(source, d.value) and not _has_tracers(source, d) for d in registers)


def _before(function: ast.FunctionDef, argument: ast.arg) -> list[ast.arg]:
    return function.args.args[: function.args.args.index(argument)]


def _has_tracers(source: Source, register: ast.Attribute) -> bool:
    """Whether the dispatcher has a function for tracers already."""
    dispatcher = source.segment(register)
    calls = (c for n in source.names(*_TRACERS) for c in source.ancestors(n) if isinstance(c, ast.Call))
    return any(source.segment(c.func) == dispatcher for c in calls)


def _is_dispatcher(source: Source, node: ast.expr) -> bool:
    """Whether a function of this file is decorated with singledispatch, or made by it."""
    made = source.value_of(node)
    if isinstance(made, ast.Call):
        return _is_singledispatch(source, made.func)
    if not isinstance(made, ast.Name):
        return False
    bindings, _ = source.lookup(made.id, source.scope(made))
    definitions = [b.node for b in bindings if isinstance(b.node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(_is_singledispatch(source, d) for definition in definitions for d in definition.decorator_list)


def _is_singledispatch(source: Source, node: ast.expr) -> bool:
    return source.resolve(node) in ("functools.singledispatch", "functools.singledispatchmethod")
