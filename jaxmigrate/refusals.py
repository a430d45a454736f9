"""Calls of living functions that today's signature refuses and that of an older release took: a TypeError on every run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.guards import catches
from jaxmigrate.signatures import PARTIALS, Life, given

if TYPE_CHECKING:
    from jaxmigrate.model import Version
    from jaxmigrate.names import Source

_BROAD = {"Exception", "BaseException"}
_TRIED = "the code around it expects that it can fail"
_ASKED = "the code around it asks how the function is called"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that fails."""

    call: ast.Call
    function: str
    message: str
    guard: str
    """Why it is likely reached only where it works; may be empty."""


def refusals(source: Source, target: Version) -> Iterator[Refusal]:
    """All of a file; a call that gives ``*`` or ``**`` may be anything, and what no release took is not of our making."""
    known = source.facts.signatures
    for function, uses in source.meanings().items() if known.functions else ():
        life = known.life(function)
        for node, _ in uses if life is not None else ():
            call = _taking(source, node)
            message = _refused(source, call, life, target) if call is not None and life is not None else ""
            if call is not None and message:
                yield Refusal(call, function, f"{function} {message}", _guard(source, call, function))


def _taking(source: Source, node: ast.expr) -> ast.Call | None:
    """The call of a function, or the partial that takes it first."""
    call = source.parent(node)
    return call if isinstance(call, ast.Call) and (call.func is node or _is_partial(source, call, node)) else None


def _is_partial(source: Source, call: ast.Call, node: ast.expr) -> bool:
    return call.args[:1] == [node] and source.resolve(call.func) in PARTIALS


def _refused(source: Source, call: ast.Call, life: Life, target: Version) -> str:
    found = given(call, partial=source.resolve(call.func) in PARTIALS)
    why = life.today.refusal(found) if found is not None else ""
    taken = [last for last, old in life.before if found is not None and why and not old.refusal(found)]
    if not taken or taken[0] >= target:
        return ""
    since = next(version for version in source.facts.history.versions if version > taken[0])
    return f"refuses such a call since JAX {since}: {why}; it takes {life.today.shown()}"


def _guard(source: Source, call: ast.Call, function: str) -> str:
    """Whether another way to call the function is at hand, or the code asks for one."""
    child: ast.AST = call
    for ancestor in source.ancestors(call):
        if isinstance(ancestor, ast.Try) and any(_is_between(source, ancestor, child, h, function) for h in ancestor.handlers):
            return _TRIED
        if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test and _uses(source, [ancestor.test], function):
            return _ASKED
        child = ancestor
    return ""


def _is_between(source: Source, statement: ast.Try, child: ast.AST, handler: ast.ExceptHandler, function: str) -> bool:
    """Whether a part of a ``try`` is tried because it may fail so, or what a handler of such errors does instead."""
    other = statement.body if child is handler else handler.body if child in statement.body else []
    if not other or not catches(handler, {"TypeError", *_BROAD}):
        return False
    return (child is not handler and not catches(handler, _BROAD)) or _uses(source, other, function)


def _uses(source: Source, nodes: Sequence[ast.AST], function: str) -> bool:
    return any(
        source.resolve(n) == function for node in nodes for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))
    )
