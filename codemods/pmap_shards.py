"""The shards of what `pmap` returned keep the mapped dimension, with size 1, since 0.4.34.

https://docs.jax.dev/en/latest/changelog.html (0.4.34)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, AttributeSite, Codemod, Reports, Rewrite

from ._buffers import is_pmap_made
from ._changes import before

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "pmap-shards",
    summary="the shards of a result of pmap have a leading dimension of 1",
    since="0.4.34",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/migrate_pmap.html",
    words=frozenset({"pmap"}),
    applicability=REVIEW,
    about=frozenset({"jax.pmap"}),
)

_SAME = frozenset({
    "dtype", "device", "sharding", "devices", "delete", "is_deleted", "unsafe_buffer_pointer", "nbytes", "block_until_ready",
    "weak_type", "size", "sum", "mean", "max", "min", "item", "on_device_size_in_bytes", "reshape", "squeeze", "ravel", "flatten",
})  # fmt: skip
"""What is asked of an array, whatever its shape."""
_WHY = "since 0.4.34 the shards of a result of pmap have the mapped dimension, a leading 1"


@codemod.attribute("addressable_data")
@before("0.4.34")
def addressable_data(site: AttributeSite) -> Reports:
    """``y.addressable_data(0)``."""
    call = site.call()
    return _row(site, site.value, call) if call is not None else None


@codemod.attribute("data")
@before("0.4.34")
def shard_data(site: AttributeSite) -> Reports:
    """``y.addressable_shards[0].data``, and ``s.data`` of a loop over the shards."""
    shards = _shards(site.source, site.value)
    return _row(site, shards.value, site.node) if shards is not None else None


def _shards(source: Source, node: ast.expr) -> ast.Attribute | None:
    """The ``y.addressable_shards`` that `node` is one of."""
    if isinstance(node, ast.Name) and isinstance(source.value_of(node), ast.Subscript):
        node = source.value_of(node)
    if isinstance(node, ast.Subscript):
        found: ast.expr | None = source.value_of(node.value)
    elif isinstance(node, ast.Name):
        found = _iterated(source, node)
    else:
        return None
    return found if isinstance(found, ast.Attribute) and found.attr == "addressable_shards" else None


def _iterated(source: Source, name: ast.Name) -> ast.expr | None:
    """What the variable of a loop runs over."""
    for ancestor in source.ancestors(name):
        for loop in getattr(ancestor, "generators", [ancestor]):
            if isinstance(loop, (ast.For, ast.comprehension)) and isinstance(loop.target, ast.Name) and loop.target.id == name.id:
                return source.value_of(loop.iter)
    return None


def _row(site: AttributeSite, array: ast.expr, whole: ast.expr) -> Reports:
    """The row that the shard was: its only one, by a spelling that fits both sides where the target has the old one."""
    source, around = site.source, site.source.parent(whole)
    if site.assignment or _is_looked_at(around, whole):
        return None
    if not is_pmap_made(source, array):
        if not is_pmap_made(source, array, surely=False):
            return None
        return site.manual(f"{_WHY}, and so has this one once the loop has run", whole)
    if site.target_has("0.4.34"):
        return Rewrite(_WHY, REVIEW, (site.replace("{shard}[0]", whole, shard=whole),), whole, requires="0.4.34")
    if not source.is_pure(array):
        return site.manual(f"{_WHY}: reshape it to the array's shape without the first dimension", whole)
    new = site.replace("{shard}.reshape({array}.shape[1:])", whole, shard=whole, array=array)
    return Rewrite(_WHY, REVIEW, (new,), whole)


def _is_looked_at(around: ast.AST | None, whole: ast.expr) -> bool:
    """Whether only what is no matter of the shape is asked, or the first row is taken already, or the buffer is freed."""
    if isinstance(around, ast.Attribute):
        return around.attr in _SAME
    is_first = isinstance(around, ast.Subscript) and isinstance(around.slice, ast.Constant) and around.slice.value == 0
    return is_first and isinstance(around, ast.Subscript) and around.value is whole
