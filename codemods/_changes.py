"""What the codemods of changed behaviour share: a gate by the program's age, and small questions about calls."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from jaxmigrate.codemod import Reports, Site
    from jaxmigrate.names import Source

S = TypeVar("S", bound="Site")

ARRAY = "jax.Array"


def before(version: str) -> Callable[[Callable[[S], Reports]], Callable[[S], Reports]]:
    """Ask a handler only for programs that are known to be older than `version`, in which the behaviour changed."""

    def decorate(handler: Callable[[S], Reports]) -> Callable[[S], Reports]:
        @functools.wraps(handler)
        def asked(site: S) -> Reports:
            return handler(site) if site.is_older_than(version) else None

        asked.before = version  # type: ignore[attr-defined]  # tools/quiet.py looks for it
        return asked

    return decorate


def held(source: Source, *names: str) -> bool:
    """Whether the file used one of these names when it was read: other codemods may have replaced them since."""
    return bool((source.original or source).names(*names))


def builtin_calls(source: Source, *names: str) -> Iterator[ast.Call]:
    """The calls of built-in functions that nothing in the file shadows."""
    for name in names:
        for node in source.by_id.get(name, ()):
            call = source.parent(node)
            if isinstance(call, ast.Call) and call.func is node and source.lookup(name, source.scope(node))[1] is None:
                yield call


def has_star(call: ast.Call) -> bool:
    """Whether arguments of the call are hidden behind ``*`` or ``**``."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def argument(call: ast.Call, position: int | None, name: str | None = None) -> ast.expr | None:
    """An argument by its position or its keyword, where the call shows it."""
    if name is not None and (keyword := next((k.value for k in call.keywords if k.arg == name), None)) is not None:
        return keyword
    if position is None or position >= len(call.args) or any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return None
    return call.args[position]


def is_constant(node: ast.expr | None, value: object) -> bool:
    """Whether `node` is this very constant."""
    return isinstance(node, ast.Constant) and node.value is value


def lines(source: Source, nodes: Iterable[ast.AST], most: int = 5) -> str:
    """``line 3``, ``lines 3, 7, 9`` or ``lines 3, 7, 9 and 4 more``, as the user has them."""
    found = sorted({source.original_line(n) for n in nodes})
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return f"line{'s' if len(found) > 1 else ''} {', '.join(map(str, found[:most]))}{more}"


def first(source: Source, nodes: Iterable[ast.expr]) -> list[ast.expr]:
    """The nodes in the order of the text, without those in quotes."""
    return sorted((n for n in nodes if not source.is_quoted(n)), key=lambda n: (n.lineno, n.col_offset))


def resolved_call(source: Source, node: ast.expr) -> tuple[str, ast.Call] | None:
    """The call behind an expression and the qualified name of what it calls."""
    made = source.value_of(node)
    if not isinstance(made, ast.Call):
        return None
    qualified = source.resolve(made.func)
    return (qualified, made) if qualified else None


def made(source: Source, node: ast.expr) -> ast.expr:
    """The expression behind a name, also behind one of several (``a, b = x, y``)."""
    value = source.value_of(node)
    if not isinstance(value, ast.Name):
        return value
    bindings, _ = source.lookup(value.id, source.scope(value))
    target = source.parent(bindings[0].node) if len(bindings) == 1 else None
    statement = source.parent(target) if isinstance(target, ast.Tuple) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Tuple) or not isinstance(statement.value, ast.Tuple):
        return value
    both = zip(target.elts, statement.value.elts, strict=False)
    plain = len(target.elts) == len(statement.value.elts) and not any(isinstance(e, ast.Starred) for e in target.elts)
    return next((v for t, v in both if t is bindings[0].node), value) if plain else value


_CONTAINERS = ("list", "tuple", "sorted", "reversed", "set", "frozenset")


def kind(source: Source, node: ast.expr) -> str | None:
    """The type of a value; None where it, or what its name is bound to at some time, is made a list or tuple of it."""
    values = [node]
    if isinstance(node, ast.Name):
        bindings, _ = source.lookup(node.id, source.scope(node))
        values += [b.value for b in bindings if b.value is not None]
    if any(isinstance(v, ast.Call) and isinstance(v.func, ast.Name) and v.func.id in _CONTAINERS for v in values):
        return None
    return source.infer(node)
