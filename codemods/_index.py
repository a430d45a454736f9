"""Indices of `jax.ops.index_update` as they are written with `x.at[...]`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Piece, Site

if TYPE_CHECKING:
    from jaxmigrate.names import Source

INDEX = ("jax.ops.index", "jax._src.ops.scatter.index")
_PLAIN = (ast.Constant, ast.UnaryOp, ast.BinOp)
_NESTED = (ast.List, ast.Tuple, ast.ListComp)
_BOUND = (ast.Starred, ast.NamedExpr)
"""Elements with which a tuple keeps its parentheses in brackets: older Pythons want them."""


def is_index(source: Source, node: ast.expr) -> bool:
    """Whether it is `jax.ops.index`, also through a star import."""
    if source.resolve(node) in INDEX:
        return True
    free = isinstance(node, ast.Name) and node.id == "index" and source.lookup("index", source.scope(node))[1] is None
    return free and any(source.absolute(s.module, s.level) == "jax.ops" for s in source.stars)


def index_text(site: Site, index: ast.expr) -> tuple[str, Mapping[str, Piece], str]:
    """Template text and pieces of what goes into the brackets of `.at[...]`, and what is assumed of it."""
    source = site.source
    if isinstance(index, ast.Subscript) and is_index(source, index.value):
        inner = index.slice
        if not isinstance(inner, ast.List):
            return literal(source, *source.span(inner)), {}, ""
        index = inner
    if isinstance(index, ast.List):
        return _list(site, index)
    if isinstance(index, ast.Tuple) and len(index.elts) > 1 and not any(isinstance(e, _BOUND) for e in index.elts):
        start, end = source.span(index)
        return literal(source, start + 1, end - 1).strip().removesuffix(","), {}, ""
    if isinstance(source.value_of(index), (ast.List, ast.ListComp)):
        return "{jax.numpy.array}({idx})", {"idx": index}, f"that the list {site.text(index)} means an array of numbers"
    return "{idx}", {"idx": index}, ""


def literal(source: Source, start: int, end: int) -> str:
    """Source text for a template."""
    return source.unix(start, end).replace("{", "{{").replace("}", "}}")


def _list(site: Site, index: ast.List) -> tuple[str, Mapping[str, Piece], str]:
    """A list of numbers was an array, one with slices or lists in it a tuple (until 0.2.6; an error since)."""
    if any(_is_nested(site.source, element) for element in index.elts):
        elements = ", ".join(literal(site.source, *site.source.span(e)) for e in index.elts)
        return (elements if len(index.elts) > 1 else f"({elements},)"), {}, "that this list of indices means a tuple"
    doubt = "" if all(isinstance(e, _PLAIN) for e in index.elts) else f"that the elements of {site.text(index)} are numbers"
    return "{jax.numpy.array}({idx})", {"idx": index}, doubt


def _is_nested(source: Source, element: ast.expr) -> bool:
    if isinstance(element, ast.Call):
        return isinstance(element.func, ast.Name) and element.func.id == "slice"
    if isinstance(element, ast.Subscript):
        return is_index(source, element.value)
    return isinstance(element, _NESTED) or (isinstance(element, ast.Constant) and element.value in (None, ...))


def is_unwrapped(source: Source, node: ast.expr, functions: Mapping[str, str]) -> bool:
    """Whether ``index`` stands in the index of a call that becomes ``x.at[...]``, which takes it away."""
    subscript = source.parent(node)
    around = source.parent(subscript) if subscript is not None else None
    call = source.parent(around) if isinstance(around, ast.keyword) else around
    if not (isinstance(subscript, ast.Subscript) and subscript.value is node and isinstance(call, ast.Call)):
        return False
    is_index = around.arg == "idx" if isinstance(around, ast.keyword) else call.args[1:2] == [subscript]
    resolved = source.resolved(call.func)
    known = resolved is not None and resolved.qualified in functions and (resolved.binding.kind == "import" or resolved.direct)
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    return is_index and known and not starred
