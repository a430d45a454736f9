"""`compiled.cost_analysis()` is one dict since 0.5.0, and was a list of one.

https://docs.jax.dev/en/latest/changelog.html (0.5.0)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, AttributeSite, Codemod, Reports, Rewrite

from ._arrays import defines, uses_jax
from ._changes import before

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxmigrate.names import Source

codemod = Codemod(
    "cost-analysis",
    summary="compiled.cost_analysis() is a dict, and was a list of one",
    since="0.5.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.stages.Compiled.html",
    words=frozenset({"cost_analysis"}),
    applicability=REVIEW,
    about=frozenset({"jax.stages.Compiled.cost_analysis"}),
)

_WHY = "cost_analysis() of a compiled function is a dict since 0.5.0, and was a list of one"


@codemod.attribute("cost_analysis")
@before("0.5.0")
def cost_analysis(site: AttributeSite) -> Reports:
    """``[0]`` goes, also where the list has a name; a loop over it runs over keys now."""
    call = site.call()
    if call is None or not uses_jax(site.source) or defines(site.source, "cost_analysis"):
        return None
    uses = list(_uses(site.source, call))
    firsts = [u for use in uses if (u := _first_of(site.source, use)) is not None]
    taken = [t for use in uses if (t := _only_target(site.source, use)) is not None]
    if not firsts and not taken:
        return site.manual(f"{_WHY}: this runs over its keys") if any(_is_iterated(site.source, u) for u in uses) else None
    at = firsts[0] if firsts else taken[0]
    if not site.target_has("0.5.0"):
        return site.manual(f"{_WHY}: take its first element only where isinstance says that it is a list", at)
    changes = [site.replace("{costs}", u, costs=u.value) for u in firsts]
    changes += [site.replace("{costs}", t, costs=t.elts[0]) for t in taken]
    return Rewrite(_WHY, REVIEW, tuple(changes), at, requires="0.5.0")


def _only_target(source: Source, node: ast.expr) -> ast.List | ast.Tuple | None:
    """The ``[costs]`` of ``[costs] = node``."""
    statement = source.parent(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, (ast.List, ast.Tuple)) or len(target.elts) != 1 or isinstance(target.elts[0], ast.Starred):
        return None
    return target


def _uses(source: Source, call: ast.Call) -> Iterator[ast.expr]:
    """The call, or the uses of the one name that it is bound to."""
    statement = source.parent(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        yield call
        return
    name = targets[0].id
    _, scope = source.lookup(name, source.scope(targets[0]))
    for node in source.by_id.get(name, ()):
        same = isinstance(node.ctx, ast.Load) and source.lookup(name, source.scope(node))[1] is scope
        if same and source.value_of(node) is call:
            yield node


def _first_of(source: Source, node: ast.expr) -> ast.Subscript | None:
    """``node[0]`` and ``node[-1]``, unless it is asked for only where it is a list."""
    parent = source.parent(node)
    if not isinstance(parent, ast.Subscript) or parent.value is not node or source.segment(parent.slice) not in ("0", "-1"):
        return None
    text = source.segment(node)
    asked = (a for a in source.ancestors(parent) if isinstance(a, (ast.If, ast.IfExp)))
    if any("isinstance" in (test := source.segment(a.test)) and text in test for a in asked):
        return None
    return parent


def _is_iterated(source: Source, node: ast.expr) -> bool:
    """Whether a loop over it takes what it gets for a dict of costs, not for a key of one."""
    parent = source.parent(node)
    if not isinstance(parent, (ast.For, ast.comprehension)) or parent.iter is not node or not isinstance(parent.target, ast.Name):
        return False
    around = (source.parent(use) for use in source.by_id.get(parent.target.id, ()))
    return any(isinstance(a, (ast.Subscript, ast.Attribute)) and isinstance(a.value, ast.Name) for a in around)
