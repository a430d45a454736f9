"""Tracers have no hash since 0.4.36: they are no keys of dicts, no elements of sets and no arguments of cached functions.

https://docs.jax.dev/en/latest/changelog.html (0.4.30, 0.4.36)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import MANUAL, Codemod, FileSite, Report

from ._arrays import VALUE_TYPES
from ._changes import before, builtin_calls, kind

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "tracer-hashes",
    summary="tracers have no hash: hash(), keys of dicts, elements of sets, arguments of cached functions",
    since="0.4.36",
    deprecated="0.4.30",
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=MANUAL,
)

_WHY = "tracers have no hash since 0.4.36 (arrays never had one)"
_CACHES = ("functools.lru_cache", "functools.cache")
_KEYED = ("get", "pop", "setdefault", "add", "discard", "remove")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@codemod.file
@before("0.4.36")
def hashed(site: FileSite) -> Iterator[Report]:
    """A value that is an array by all that the file says, where something asks for its hash: it worked for tracers only.

    Once for a value in a function.
    """
    source = site.source
    said: set[tuple[ast.AST | None, str]] = set()
    for node, why in sorted((*_asked(source), *_cached(source)), key=lambda a: (a[0].lineno, a[0].col_offset)):
        once = (source.function(node), source.segment(node))
        if once not in said and _is_array(source, node) and not _may_fail(source, node):
            said.add(once)
            yield site.manual(f"{_WHY}: {site.text(node)} {why}", node)
    for function, maker in _cached_under_transformation(source):
        yield site.manual(
            f"{_WHY}, and {source.segment(maker)} asks for those of its arguments: transform inside, or cache outside", function
        )


def _asked(source: Source) -> Iterator[tuple[ast.expr, str]]:
    """What is hashed, looked up or put into a set, with what to do instead."""
    for call in builtin_calls(source, "hash"):
        if len(call.args) == 1:
            yield call.args[0], f"is hashed; {_instead(source, call.args[0])}"
    for node in ast.walk(source.tree):
        for key in _keys(source, node):
            if _is_looked_up(source, node):
                yield (
                    key,
                    f"is looked up among values, which takes a number that is known: int({source.segment(key)}), not traced",
                )
            else:
                yield key, f"is a key; {_instead(source, key)}"


def _instead(source: Source, key: ast.expr) -> str:
    """What can stand for a key: the identity of an array only where the array itself is kept."""
    if isinstance(key, (ast.Name, ast.Attribute)):
        return f"id({source.segment(key)}) tells one from the other"
    return "give something with a hash, such as a name, a shape or a number that is known"


def _is_looked_up(source: Source, node: ast.AST) -> bool:
    """Whether a key is compared with constants: those of a table that the file spells out, or of a written set."""
    if isinstance(node, ast.Subscript):
        table = node.value if isinstance(node.ctx, ast.Load) else None
    elif isinstance(node, ast.Compare):
        table = node.comparators[0]
    else:
        is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
        table = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_get else None
    made = source.value_of(table) if table is not None else None
    held = made.keys if isinstance(made, ast.Dict) else made.elts if isinstance(made, ast.Set) else []
    return bool(held) and all(isinstance(k, ast.Constant) for k in held)


def _keys(source: Source, node: ast.AST) -> list[ast.expr]:
    """The expressions that a node makes keys or elements of."""
    if isinstance(node, ast.Dict):
        return [k for k in node.keys if k is not None]
    if isinstance(node, ast.Set):
        return node.elts
    if isinstance(node, ast.DictComp):
        return [node.key]
    if isinstance(node, ast.SetComp):
        return [node.elt]
    if isinstance(node, ast.Subscript):
        return [node.slice] if _is_table(source, node.value) else []
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return [node.left] if _is_table(source, node.comparators[0]) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEYED:
        return node.args[:1] if _is_table(source, node.func.value) else []
    return []


def _is_table(source: Source, node: ast.expr) -> bool:
    """Whether a value is a dict or a set."""
    made = source.value_of(node)
    if isinstance(made, (ast.Dict, ast.DictComp, ast.Set, ast.SetComp)):
        return True
    called = made.func if isinstance(made, ast.Call) else None
    if isinstance(called, ast.Name) and called.id in ("dict", "set", "frozenset"):
        return source.lookup(called.id, source.scope(called))[1] is None
    return called is not None and source.resolve(called) in ("collections.defaultdict", "collections.OrderedDict")


def _cached(source: Source) -> Iterator[tuple[ast.expr, str]]:
    """The arguments of the calls of cached functions."""
    for function, _ in _caching(source):
        for name in source.by_id.get(function.name, ()):
            call = source.parent(name)
            bindings, _ = source.lookup(function.name, source.scope(name))
            if isinstance(call, ast.Call) and call.func is name and any(b.node is function for b in bindings):
                for argument in (*call.args, *(k.value for k in call.keywords)):
                    yield argument, f"is given to {function.name}, which keeps results by their arguments"


def _caching(source: Source) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.expr]]:
    """The functions that a cache decorates, with the decorator."""
    for name in source.names(*_CACHES):
        parent = source.parent(name)
        maker = parent if isinstance(parent, ast.Call) and parent.func is name else name
        function = source.parent(maker)
        if isinstance(function, _FUNCTIONS) and maker in function.decorator_list:
            yield function, maker


def _cached_under_transformation(source: Source) -> Iterator[tuple[ast.AST, ast.expr]]:
    """``@jax.jit`` above ``@lru_cache``: the cache is asked with tracers."""
    for function, maker in _caching(source):
        above = function.decorator_list[: function.decorator_list.index(maker)]
        arguments = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
        for decorator in above:
            parts = [n for n in ast.walk(decorator) if isinstance(n, (ast.Name, ast.Attribute))]
            is_transform = any((source.resolve(n) or "") in source.facts.transforms for n in parts)
            if is_transform and arguments and "static" not in source.segment(decorator):
                yield maker, maker


def _is_array(source: Source, node: ast.expr) -> bool:
    """Whether it is an array by what made it or by its annotation; in a function, since elsewhere there are no tracers."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(_is_array(source, e) for e in node.elts)
    return source.function(node) is not None and kind(source, node) in VALUE_TYPES


def _may_fail(source: Source, node: ast.expr) -> bool:
    """Whether the error is expected: an array without tracing gave it at any time."""
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.Try) and child in ancestor.body and ancestor.handlers:
            return True
        if isinstance(ancestor, (ast.With, ast.AsyncWith)) and any("raises" in source.segment(i).lower() for i in ancestor.items):
            return True
        child = ancestor
    return False
