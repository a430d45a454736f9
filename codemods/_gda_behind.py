"""What runs only when a test is true: its branch, the rest of its condition, what follows an early exit, a flag's branches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def behind(source: Source, test: ast.expr) -> Iterator[ast.AST]:
    """What is only evaluated when `test` is true."""
    part, parent = test, source.parent(test)
    while isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
        yield from parent.values[parent.values.index(part) + 1 :]
        part, parent = parent, source.parent(parent)
    negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    if isinstance(parent, ast.UnaryOp) and negated:
        part, parent = parent, source.parent(parent)
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name) and not negated:  # a flag
        uses = source.by_id.get(parent.targets[0].id, ())
        for use in (u for u in uses if isinstance(u.ctx, ast.Load) and source.value_of(u) is part):
            yield from behind(source, use)
    elif isinstance(parent, ast.comprehension) and part in parent.ifs and not negated:
        yield from filter(None, [source.parent(parent)])
    elif isinstance(parent, ast.IfExp) and parent.test is part:
        yield parent.orelse if negated else parent.body
    elif isinstance(parent, (ast.If, ast.While)) and parent.test is part:
        yield from parent.orelse if negated else parent.body
        if negated and isinstance(parent.body[-1], _LEAVES):
            yield from following(source, parent)


def same(source: Source, one: ast.expr, other: ast.expr) -> bool:
    """Whether two equal expressions read the same variable."""
    if not (isinstance(one, ast.Name) and isinstance(other, ast.Name)):
        return source.function(one) is source.function(other)
    return source.lookup(one.id, source.scope(one))[1] is source.lookup(other.id, source.scope(other))[1]


def following(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statements behind this one in its block."""
    parent = source.parent(statement)
    blocks = (getattr(parent, field, None) for field in ("body", "orelse", "finalbody"))
    block = next((b for b in blocks if isinstance(b, list) and statement in b), [])
    return block[block.index(statement) + 1 :] if block else []
