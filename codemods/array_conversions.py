"""Arrays as Python numbers: only those without dimensions since 0.4.25; no truth of an empty array since 0.4.24.

https://docs.jax.dev/en/latest/changelog.html (0.4.24, 0.4.25, 0.4.36)
"""

from __future__ import annotations

import ast
import re
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


@codemod.file
@before("0.4.25")
def implied(site: FileSite) -> Iterator[Report]:
    """``"%.3f" % x`` and ``a[i] = x`` with an array of NumPy ask for a number too."""
    for node in ast.walk(site.node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            yield from _formatted(site, node)
        elif isinstance(node, ast.Assign) and _is_element(site.source, node.targets[0]) and _is_one(site.source, node.value):
            yield Rewrite(_ONE, REVIEW, (site.replace("{x}.item()", node.value, x=node.value),), node)


def _formatted(site: FileSite, node: ast.BinOp) -> Iterator[Report]:
    """The numbers of a format that does not take text."""
    text = node.left.value if isinstance(node.left, ast.Constant) else None
    if not isinstance(text, str):
        return
    kinds = [k for k in re.findall(r"%[-+ #0]*[\d.]*([a-zA-Z%])", text) if k != "%"]
    values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    if len(kinds) != len(values):
        return
    numbers = [value for kind, value in zip(kinds, values, strict=True) if kind in "dieEfFgGoxX" and _is_one(site.source, value)]
    if numbers:
        yield Rewrite(_ONE, REVIEW, tuple(site.replace("{x}.item()", value, x=value) for value in numbers), node)


def _is_element(source: Source, target: ast.expr) -> bool:
    """Whether one number of a flat array of NumPy is set."""
    if not isinstance(target, ast.Subscript):
        return False
    made = source.value_of(target.value)
    if not isinstance(made, ast.Call) or source.resolve(made.func) not in ("numpy.zeros", "numpy.ones", "numpy.empty"):
        return False
    size = source.value_of(made.args[0]) if made.args else None
    if isinstance(size, ast.Tuple):
        flat = len(size.elts) == 1 and not isinstance(size.elts[0], ast.Starred)
    else:
        flat = isinstance(size, (ast.Constant, ast.Name)) or (
            isinstance(size, ast.Call) and getattr(size.func, "id", "") == "len"
        )
    index = target.slice
    counted = isinstance(index, ast.Constant) and type(index.value) is int
    return flat and (counted or (isinstance(index, ast.Name) and _counts(source, index)))


def _counts(source: Source, name: ast.Name) -> bool:
    """Whether a name is the variable of a loop over range, or the first of one over enumerate."""
    for loop in source.ancestors(name):
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
            continue
        called = getattr(loop.iter.func, "id", "")
        target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and called == "enumerate" else loop.target
        if called in ("range", "enumerate") and isinstance(target, ast.Name) and target.id == name.id:
            return True
    return False


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
        elif isinstance(node, (ast.Name, ast.Call, ast.Subscript)) and _is_found(site.source, node):
            yield site.manual(
                f"an empty array has no truth value since 0.4.24, and was False; {site.text(node)} may be empty: ask its size",
                node,
            )


def _is_found(source: Source, node: ast.expr) -> bool:
    """What a search found, which may be nothing: ``jnp.where(x)[0]``, ``jnp.nonzero(x)[0]``, ``jnp.argwhere(x)``."""
    value = source.value_of(node)
    single = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant)
    call = value.value if isinstance(value, ast.Subscript) and single else value
    if not isinstance(call, ast.Call) or any(k.arg == "size" for k in call.keywords):
        return False
    qualified = source.resolve(call.func)
    if single:
        return qualified == "jax.numpy.nonzero" or (qualified == "jax.numpy.where" and len(call.args) == 1)
    return qualified in ("jax.numpy.argwhere", "jax.numpy.flatnonzero")


@codemod.name_(
    *(f"numpy.{name}" for name in ("array", "asarray", "array_equal", "concatenate", "save", "savez", "stack")),
    *(f"numpy.testing.{name}" for name in ("assert_allclose", "assert_array_equal", "assert_equal")),
)
@before("0.4.36")
def keys(site: NameSite) -> Reports:
    """A typed key as an array of NumPy."""
    call = site.parent()
    if not isinstance(call, ast.Call) or call.func is not site.node:
        return None
    if not any(_is_typed_key(site.source, given) for given in (*call.args, *(k.value for k in call.keywords))):
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
