"""`jnp.empty` and `jnp.empty_like` do not fill their result with zeros any more since 0.11.0.

https://docs.jax.dev/en/latest/changelog.html (0.11.0)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import UNSAFE, Change, Codemod, EditCall, FileSite, ReplaceExpr, Reports, Rewrite, Template

from ._changes import before, first, is_constant, lines
from ._shapes import shape

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_ZEROS = {"jax.numpy.empty": "jax.numpy.zeros", "jax.numpy.empty_like": "jax.numpy.zeros_like"}

codemod = Codemod(
    "uninitialised-empty",
    summary="jnp.empty and jnp.empty_like held zeros, and hold anything now",
    since="0.11.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.empty.html",
    words=frozenset({"empty", "empty_like"}),
    applicability=UNSAFE,
    about=frozenset(_ZEROS),
)


@codemod.file
@before("0.11.0")
def empty(site: FileSite) -> Reports:
    """One finding for a file, which most often writes over what it made; the edit is for all places."""
    source = site.source
    places = [n for n in first(source, source.names(*_ZEROS)) if not _holds_nothing(source, n) and not source.guard(n)]
    if not places:
        return None
    changes = tuple(_zeros(source, n) for n in places)
    spelled = " and ".join(sorted({source.segment(n) for n in places}))
    message = (
        f"{spelled} ({lines(source, places)}) gave zeros before 0.11.0 and anything since: where it is read before it is written "
        "it must be zeros"
    )
    return Rewrite(message, UNSAFE, changes, places[0])


def _zeros(source: Source, node: ast.expr) -> Change:
    """The function by its successor's name; `empty_like` calls its first parameter otherwise."""
    new = Template(f"{{{_ZEROS[source.resolve(node) or '']}}}")
    call = source.parent(node)
    if isinstance(call, ast.Call) and call.func is node:
        return EditCall(call, func=new, rename={"prototype": "a"} if any(k.arg == "prototype" for k in call.keywords) else {})
    return ReplaceExpr(node, new)


def _holds_nothing(source: Source, node: ast.expr) -> bool:
    """``jnp.empty(0)``, ``jnp.empty((0, 3))`` and ``jnp.empty(n).at[:].set(x)``: nothing of what was there is read."""
    call = source.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return False
    found = shape(source, call)
    if found is not None and 0 in found:
        return True
    at = source.parent(call)
    index = source.parent(at) if isinstance(at, ast.Attribute) and at.attr == "at" else None
    method = source.parent(index) if isinstance(index, ast.Subscript) else None
    if not isinstance(method, ast.Attribute) or method.attr != "set":
        return False
    assert isinstance(index, ast.Subscript)
    whole = isinstance(index.slice, ast.Slice) and index.slice.lower is index.slice.upper is index.slice.step is None
    return whole or is_constant(index.slice, Ellipsis)
