"""`jax.ShapeDtypeStruct` is immutable since 0.6.1: another one is made with `update`.

https://docs.jax.dev/en/latest/changelog.html (0.6.1)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, AttributeSite, Codemod, ReplaceStatement, Reports, Rewrite, Template

from ._changes import before, kind

if TYPE_CHECKING:
    from jaxmigrate.names import Scope, Source

codemod = Codemod(
    "shape-dtype-struct",
    summary="ShapeDtypeStruct is immutable: x.shape = ... becomes x = x.update(shape=...)",
    since="0.6.1",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.ShapeDtypeStruct.html",
    words=frozenset({"ShapeDtypeStruct", "eval_shape"}),
    applicability=REVIEW,
)

_STRUCT = "jax.ShapeDtypeStruct"


@codemod.attribute("shape", "dtype")
@before("0.6.1")
def assigned(site: AttributeSite) -> Reports:
    """``x.shape = ...`` of a struct with one name becomes an assignment of that name."""
    source, statement = site.source, site.parent()
    if not site.assignment or not _is_struct(source, site.value):
        return None
    why = f"a ShapeDtypeStruct cannot be changed since 0.6.1, and {site.text(site.value)} could"
    plain = isinstance(statement, ast.Assign) and statement.targets == [site.node] and isinstance(site.value, ast.Name)
    if not plain or not _is_only_name(source, site.value) or not site.target_has("0.6.1"):
        return site.manual(
            f"{why}: make another with x.update({site.symbol}=...), before 0.6.1 with jax.ShapeDtypeStruct(shape, dtype)"
        )
    assert isinstance(statement, ast.Assign)
    new = Template(f"{{x}} = {{x}}.update({site.symbol}={{new}})", {"x": site.value, "new": statement.value})
    return Rewrite(f"{why}; update makes another", REVIEW, (ReplaceStatement(statement, new),), requires="0.6.1")


def _is_struct(source: Source, node: ast.expr) -> bool:
    """Whether a value was made as a struct, or is annotated as one."""
    made = source.value_of(node)
    if isinstance(made, ast.Call) and source.resolve(made.func) in (_STRUCT, "jax.eval_shape"):
        return source.resolve(made.func) == _STRUCT or isinstance(node, ast.Name)
    return kind(source, node) == _STRUCT


def _is_only_name(source: Source, node: ast.expr) -> bool:
    """Whether a struct is made here and goes by this name alone when it is changed."""
    assert isinstance(node, ast.Name)
    bindings, scope = source.lookup(node.id, source.scope(node))
    if len(bindings) != 1 or not isinstance(source.value_of(node), ast.Call) or source.scope(node) is not scope:
        return False
    made = bindings[0].statement
    plain = (isinstance(made, ast.Assign) and made.targets == [bindings[0].node]) or isinstance(made, ast.AnnAssign)
    if not plain or bindings[0].value is not source.value_of(node):
        return False
    again = _loops(source, node) - _loops(source, bindings[0].node)
    others = (n for n in source.by_id.get(node.id, ()) if isinstance(n.ctx, ast.Load) and n is not node)
    return all(_is_read(source, n) for n in others if _may_run_before(source, n, node, scope, again))


def _loops(source: Source, node: ast.AST) -> set[ast.AST]:
    """The loops around a place, in its function."""
    return {a for a in source.ancestors(node) if isinstance(a, (ast.For, ast.AsyncFor, ast.While))}


def _may_run_before(source: Source, use: ast.Name, change: ast.Name, scope: Scope | None, again: set[ast.AST]) -> bool:
    """Whether a use may have run when the struct is changed: it stands above, or in a loop around both, or in a function."""
    if source.scope(use) is not scope or _loops(source, use) & again:
        return True
    return source.span(use)[0] < source.span(source.statement(change))[1]


def _is_read(source: Source, node: ast.Name) -> bool:
    """Whether a use only asks for a member, so that the struct gets no other name."""
    return isinstance(source.parent(node), ast.Attribute)
