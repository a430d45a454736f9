"""Arrays as Python numbers: only those without dimensions since 0.4.25; no truth of an empty array since 0.4.24.

https://docs.jax.dev/en/latest/changelog.html (0.4.24, 0.4.25, 0.4.36)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, CallSite, Codemod, FileSite, NameSite, Report, Reports, Rewrite

from ._changes import before, builtin_calls, resolved_call
from ._shapes import shape

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "array-conversions",
    summary="arrays with dimensions are no Python numbers, empty arrays have no truth value",
    since="0.4.25",
    deprecated="0.4.14",
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.Array.item.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)

_ONE = "an array of one element with dimensions is no number since 0.4.25; item() takes the element out"


@codemod.file
@before("0.4.25")
def numbers(site: FileSite) -> Iterator[Report]:
    """``float(x)``, ``int(x)`` and ``complex(x)``."""
    for call in builtin_calls(site.source, "float", "int", "complex"):
        if len(call.args) == 1 and not call.keywords and _is_one(site.source, call.args[0]):
            change = site.replace("{x}.item()", call.args[0], x=call.args[0])
            yield Rewrite(_ONE, REVIEW, (change,), call)


@codemod.name_(
    *(f"math.{name}" for name in ("sqrt", "exp", "log", "log2", "log10", "floor", "ceil", "isnan", "isfinite", "sin", "cos"))
)
@before("0.4.25")
def mathematics(site: NameSite) -> Reports:
    """``math.sqrt(x)`` asks for a number too."""
    call = site.parent()
    if not isinstance(call, ast.Call) or call.func is not site.node or len(call.args) != 1 or call.keywords:
        return None
    if not _is_one(site.source, call.args[0]):
        return None
    return Rewrite(_ONE, REVIEW, (site.replace("{x}.item()", call.args[0], x=call.args[0]),), call)


def _is_one(source: Source, node: ast.expr) -> bool:
    """Whether the file shows a JAX array with one element and at least one dimension."""
    found = shape(source, node)
    return bool(found) and all(n == 1 for n in found or ())


@codemod.file
@before("0.4.24")
def truth(site: FileSite) -> Iterator[Report]:
    """``bool(x)`` and ``if x:`` of an array that the file shows to be empty."""
    tests = [call.args[0] for call in builtin_calls(site.source, "bool") if len(call.args) == 1]
    tests += [n.test for n in ast.walk(site.node) if isinstance(n, (ast.If, ast.While, ast.IfExp))]
    for test in tests:
        node = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        if isinstance(node, (ast.Name, ast.Call)) and 0 in (shape(site.source, node) or ()):
            change = site.replace("{x}.size", node, x=node)
            yield Rewrite("an empty array has no truth value since 0.4.24, and was False", REVIEW, (change,), node)


@codemod.name_("numpy.asarray", "numpy.array")
@before("0.4.36")
def keys(site: NameSite) -> Reports:
    """A typed key as an array of NumPy."""
    call = site.parent()
    if not isinstance(call, ast.Call) or call.func is not site.node or not call.args:
        return None
    if not _is_typed_key(site.source, call.args[0]):
        return None
    return site.manual(
        "a typed key is no array of NumPy since 0.4.36 (it was one of objects): its numbers are in jax.random.key_data(key)", call
    )


def _is_typed_key(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        return _is_typed_key(source, node.value)
    made = resolved_call(source, node)
    if made is None:
        return False
    qualified, call = made
    if qualified in ("jax.random.split", "jax.random.fold_in", "jax.random.clone") and call.args:
        return _is_typed_key(source, call.args[0])
    return qualified in ("jax.random.key", "jax.random.wrap_key_data")


@codemod.call("jax.numpy.nonzero")
@before("0.4.27")
def nonzero(site: CallSite) -> Reports:
    """A scalar has no indices."""
    if site.partial or not site.node.args or shape(site.source, site.node.args[0]) != ():
        return None
    change = site.replace("{jax.numpy.atleast_1d}({x})", site.node.args[0], x=site.node.args[0])
    return Rewrite("nonzero of an array without dimensions is an error since 0.4.27", REVIEW, (change,))
