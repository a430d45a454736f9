"""`None` is a tree without leaves and, since 0.4.34, no prefix of anything else; `jnp.array(None)` is an error since 0.6.0.

https://docs.jax.dev/en/latest/changelog.html (0.4.34, 0.6.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, CallSite, Codemod, Reports, Rewrite

from ._buffers import unpacked
from ._changes import before, has_star, is_constant

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "none-in-trees",
    summary="None matches no other subtree any more, and is no value of an array",
    since="0.4.34",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/pytrees.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)

_MAPS = ("jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map", "jax.tree_multimap", "jax.tree_util.tree_multimap")


@codemod.call(*_MAPS, "jax.tree_util.tree_map_with_path", "jax.tree.map_with_path")
@before("0.4.34")
def tree_map(site: CallSite) -> Reports:
    """A None in the first tree, where the call shows the trees."""
    trees = site.node.args[2 if site.partial else 1 :]
    if site.has_star() or len(trees) < 2 or site.keyword("is_leaf") is not None:
        return None
    nones = list(_unmatched(site.source, trees[0], trees[1:]))
    if not nones:
        return _masked(site, trees[0], trees[1:])
    return site.manual(
        "None in the first tree stands for no subtree of the others since 0.4.34 and raises: give "
        "is_leaf=lambda x: x is None, and a function that takes None",
        nones[0] if site.source.statement(nones[0]) is site.source.statement(site.node) else None,
    )


def _masked(site: CallSite, tree: ast.expr, others: list[ast.expr]) -> Reports:
    """A first tree in which None stands for what was left out, beside the tree that it was made of."""
    source, made = site.source, unpacked(site.source, site.source.value_of(tree))
    if not isinstance(made, ast.Call) or not made.args:
        return None
    called = source.resolve(made.func)
    if called in _MAPS and len(made.args) > 1 and _gives_none(source, made.args[0]):
        whole, has = made.args[1], "has"
    elif called in ("equinox.filter", "equinox.partition"):
        whole, has = made.args[0], "may have"
    else:
        return None
    if not isinstance(whole, (ast.Name, ast.Attribute)) or not any(ast.dump(o) == ast.dump(whole) for o in others):
        return None
    return site.manual(
        f"{site.text(tree)} {has} None where {site.text(whole)} has something, which raises since 0.4.34: give "
        "is_leaf=lambda x: x is None, and a function that takes None"
    )


def _gives_none(source: Source, function: ast.expr) -> bool:
    """Whether a lambda or a function of the file gives None for some leaves."""
    function = source.value_of(function)
    if isinstance(function, ast.Lambda):
        return _may_be_none(function.body)
    bindings, _ = source.lookup(function.id, source.scope(function)) if isinstance(function, ast.Name) else ([], None)
    definition = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(definition, ast.FunctionDef):
        return False
    returns = [n for n in ast.walk(definition) if isinstance(n, ast.Return) and source.function(n) is definition]
    return any(n.value is not None and _may_be_none(n.value) for n in returns)


def _may_be_none(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _may_be_none(node.body) or _may_be_none(node.orelse)
    return is_constant(node, None)


def _unmatched(source: Source, tree: ast.expr, others: list[ast.expr]) -> Iterator[ast.expr]:
    """Nones of a written tree against which another tree has, or may have, something else."""
    tree = source.value_of(tree)
    others = [source.value_of(o) for o in others]
    if is_constant(tree, None):
        if not all(is_constant(o, None) for o in others):
            yield tree
    elif isinstance(tree, ast.Dict):
        for key, value in zip(tree.keys, tree.values, strict=True):
            if (there := [_value_at(o, key) for o in others]) and all(t is not None for t in there):
                yield from _unmatched(source, value, [t for t in there if t is not None])
    elif isinstance(tree, (ast.Tuple, ast.List)):
        for position, element in enumerate(tree.elts):
            there = [o.elts[position] if isinstance(o, type(tree)) and position < len(o.elts) else None for o in others]
            if all(t is not None for t in there):
                yield from _unmatched(source, element, [t for t in there if t is not None])


def _value_at(tree: ast.expr, key: ast.expr | None) -> ast.expr | None:
    """The value that a written dict has for a key."""
    if not isinstance(tree, ast.Dict) or key is None:
        return None
    return next((v for k, v in zip(tree.keys, tree.values, strict=True) if k is not None and ast.dump(k) == ast.dump(key)), None)


@codemod.call("jax.numpy.array", "jax.numpy.asarray")
@before("0.6.0")
def array_of_none(site: CallSite) -> Reports:
    """None was taken for a number that is none."""
    if site.partial or not site.node.args or has_star(site.node):
        return None
    nones = list(_nones(site.node.args[0]))
    if not nones:
        return None
    changes = tuple(site.replace("{jax.numpy.nan}", n) for n in nones)
    return Rewrite("None is no value of an array since 0.6.0; it became NaN", REVIEW, changes)


def _nones(node: ast.expr) -> Iterator[ast.expr]:
    if is_constant(node, None):
        yield node
    elif isinstance(node, (ast.List, ast.Tuple)):
        for element in node.elts:
            yield from _nones(element)
