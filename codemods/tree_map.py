"""The functions on trees that lay in `jax` itself are those of `jax.tree` and `jax.tree_util`; `tree_multimap` is `tree_map`.

https://docs.jax.dev/en/latest/changelog.html (0.3.16, 0.4.26, 0.6.0)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, NameSite, Reports, Rewrite
from jaxmigrate.imports import exported
from jaxmigrate.registry import history

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_MAPS = frozenset({"jax.tree_map", "jax.tree_multimap", "jax.tree_util.tree_multimap"})
_NONE = (
    "None in the first tree of a map over several gave None until 0.4.33; today it is an error unless the other trees have None "
    "there too: is_leaf=lambda x: x is None hands it to the function"
)

codemod = Codemod(
    "tree-map",
    summary="jax.tree_map, tree_multimap and the other functions on trees that lay in jax itself",
    since="0.2.0",
    deprecated="0.4.14",
    removed="0.6.0",
    link="https://docs.jax.dev/en/latest/changelog.html#jax-0-4-26-april-3-2024",
    words=frozenset(
        {"tree_flatten", "tree_leaves", "tree_map", "tree_multimap", "tree_structure", "tree_transpose", "tree_unflatten",
         "treedef_is_leaf", "build_tree", "AttributeKeyPathEntry"}
    ),
    applicability=REVIEW,
)  # fmt: skip


def _use(site: NameSite) -> Reports:
    """A plain rename; a None that the source shows needs a look, and a file without ``import jax`` takes tree_util."""
    message, verdict = (_NONE, REVIEW) if site.symbol in _MAPS and _maps_none(site) else ("", SAFE)
    home = f"jax.tree_util.{site.symbol.rpartition('.')[2].replace('multimap', 'map')}"
    old = site.symbol.count(".") == 1
    if old and site.direct and isinstance(site.node, ast.Name) and (_only_visible(site, home) or _takes_its_place(site)):
        return Rewrite(message or f"{site.symbol} is {home} now", verdict, (site.replace(f"{{{home}}}"),))
    return Rewrite(message, verdict, ()) if message else None


def _only_visible(site: NameSite, home: str) -> bool:
    """Whether the file can say `home` without a new import, but not `jax.tree`."""
    return site.source.visible(home, site.node) is not None and site.source.visible("jax", site.node) is None


def _takes_its_place(site: NameSite) -> bool:
    """Whether ``from jax import tree_multimap`` can become an import of tree_map, in a file without ``import jax``."""
    bound = site.source.scope_root.bindings
    if not isinstance(site.node, ast.Name) or site.node.id != "tree_multimap" or {"jax", "tree_map"} & bound.keys():
        return False
    if exported(site.source, "tree_multimap"):
        return False  # the name stays for those who take it from here
    return len(bound.get("tree_multimap", ())) <= 1  # else another arm gives the name too, and it stays


def _maps_none(site: NameSite) -> bool:
    """Whether the first of several trees is written out and holds None."""
    call = site.parent()
    if not isinstance(call, ast.Call) or call.func is not site.node or len(call.args) < 3:
        return False
    first, *others = map(ast.dump, call.args[1:])
    return set(others) != {first} and _holds_none(site.source, site.source.value_of(call.args[1]))


def _holds_none(source: Source, tree: ast.expr) -> bool:
    if isinstance(tree, (ast.Tuple, ast.List)):
        return any(_holds_none(source, member) for member in tree.elts)
    if isinstance(tree, ast.Dict):
        return any(_holds_none(source, member) for member in tree.values)
    return isinstance(tree, ast.Constant) and tree.value is None


codemod.rename(history().moves("tree-map"), handler=_use)


@codemod.call("jax.tree_util.build_tree")
def build_tree(site: CallSite) -> Reports:
    """The function called a method of the structure, and nothing more."""
    bound = site.bind("treedef", "xs")
    if site.partial:
        return site.manual("build_tree(treedef, xs) is treedef.from_iterable_tree(xs) now")
    change = site.replace("{treedef}.from_iterable_tree({xs})", treedef=bound["treedef"], xs=bound["xs"])
    return Rewrite("build_tree is the method from_iterable_tree of the structure", SAFE, (change,))
