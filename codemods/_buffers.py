"""The buffers of an array as the data of its shards: one of them, all of them, and the loops that run over them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import AttributeSite, Change
from jaxmigrate_codemods._arrays import unused_in

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_OF_BUFFERS = ("delete", "is_deleted", "unsafe_buffer_pointer", "on_device_size_in_bytes")


def is_shard_data(node: ast.expr) -> bool:
    """What the other functions here take for an array, or make of one: if that is right, this is an array too."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "addressable_data"
    if isinstance(node, ast.Subscript):
        return is_shard_data(node.value) or (isinstance(node.value, ast.Attribute) and node.value.attr == "device_buffers")
    if not isinstance(node, ast.Attribute):
        return False
    shard = node.value.value if node.attr == "data" and isinstance(node.value, ast.Subscript) else None
    return node.attr == "device_buffer" or (isinstance(shard, ast.Attribute) and shard.attr == "addressable_shards")


def is_buffer(source: Source, node: ast.expr) -> bool:
    """Whether `node` is a variable that runs over ``x.device_buffers``, also as the parameter of a ``key=`` function."""
    if not isinstance(node, ast.Name):
        return False
    for ancestor in source.ancestors(node):
        for loop in getattr(ancestor, "generators", [ancestor]):
            if isinstance(loop, (ast.For, ast.comprehension)) and (iterated := _iterated(loop, node.id)) is not None:
                return _yields_buffers(source, iterated)
        if isinstance(ancestor, ast.Lambda) and any(a.arg == node.id for a in ancestor.args.args):
            keyword = source.parent(ancestor)
            call = source.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "key" else None
            return isinstance(call, ast.Call) and bool(call.args) and _yields_buffers(source, call.args[0])
    return False


def _iterated(loop: ast.For | ast.comprehension, name: str) -> ast.expr | None:
    """What the variable `name` of a loop runs over, also in ``for i, b in enumerate(x)`` and ``for a, b in zip(x, y)``."""
    if isinstance(loop.target, ast.Name):
        return loop.iter if loop.target.id == name else None
    if not isinstance(loop.target, ast.Tuple) or not isinstance(loop.iter, ast.Call):
        return None
    position = next((i for i, t in enumerate(loop.target.elts) if isinstance(t, ast.Name) and t.id == name), None)
    called = getattr(loop.iter.func, "id", "")
    position = position - 1 if position is not None and called == "enumerate" else position
    if position is None or called not in ("enumerate", "zip") or not 0 <= position < len(loop.iter.args):
        return None
    return loop.iter.args[position]


def _yields_buffers(source: Source, node: ast.expr) -> bool:
    """``x.device_buffers``, a part of it, or what this codemod makes of it."""
    node = source.value_of(node)
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("sorted", "list", "reversed") and node.args:
        return _yields_buffers(source, node.args[0])
    if isinstance(node, ast.ListComp) and len(node.generators) == 1:
        loop = node.generators[0]
        shards = isinstance(loop.iter, ast.Attribute) and loop.iter.attr == "addressable_shards"
        data = node.elt.value if isinstance(node.elt, ast.Subscript) else node.elt
        return shards and isinstance(data, ast.Attribute) and data.attr == "data"
    return isinstance(node, ast.Attribute) and node.attr == "device_buffers"


def buffers(site: AttributeSite) -> tuple[tuple[Change, ...], bool]:
    """The changes, and whether shapes may differ."""
    parent = site.parent()
    row = "[0]" if _is_pmap_result(site) else ""
    if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "len" and parent.args == [site.node]:
        return (site.replace("{x}.addressable_shards", x=site.value),), False
    if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "list" and parent.args == [site.node]:
        return (_listed(site, site.node, row, parent),), not row
    if not isinstance(parent, ast.Subscript) or parent.value is not site.node:
        return _in_comprehension(site, site.node, row) or (_listed(site, site.node, row),), not row
    if isinstance(parent.slice, ast.Slice):
        return _in_comprehension(site, parent, row) or (_listed(site, parent, row),), not row
    if isinstance(parent.slice, ast.Constant) and parent.slice.value == 0:
        return (site.replace("{x}.addressable_data(0)" + row, parent, x=site.value),), not row
    change = site.replace("{x}.addressable_shards[{i}].data" + row, parent, x=site.value, i=parent.slice)
    return (change,), not row


def _listed(site: AttributeSite, whole: ast.expr, row: str, replaced: ast.expr | None = None) -> Change:
    """All buffers, or a slice of them, as a list."""
    s = unused_in(site.text(site.value), "s", "shard")
    cut = site.text(whole)[len(site.text()) :]
    return site.replace(f"[{s}.data{row} for {s} in {{x}}.addressable_shards{cut}]", replaced or whole, x=site.value)


def _in_comprehension(site: AttributeSite, whole: ast.expr, row: str) -> tuple[Change, ...]:
    """``[f(b) for b in x.device_buffers]``: the variable runs over the shards, ``b.device()`` and ``b`` become theirs."""
    source = site.source
    loop = source.parent(whole)
    if not isinstance(loop, ast.comprehension) or loop.iter is not whole or not isinstance(loop.target, ast.Name):
        return ()
    owner = source.parent(loop)
    uses = [
        n for n in source.by_id.get(loop.target.id, ()) if n is not loop.target and any(a is owner for a in source.ancestors(n))
    ]
    if any(source.scope(n) is not source.scope(loop.target) for n in uses):
        return ()  # used in an inner lambda or comprehension
    return (site.replace("{x}.addressable_shards", x=site.value), *(_shard_use(site, n, row) for n in uses))


def _shard_use(site: AttributeSite, name: ast.Name, row: str) -> Change:
    attribute = site.source.parent(name)
    call = site.source.parent(attribute) if isinstance(attribute, ast.Attribute) and attribute.attr == "device" else None
    if isinstance(call, ast.Call) and call.func is attribute and not call.args:
        return site.replace("{b}.device", call, b=name)
    return site.replace("{b}.data" + row, name, b=name)


def is_shard_of_comprehension(site: AttributeSite) -> bool:
    """Whether `device_buffers` rewrites this ``b.device()`` as part of its comprehension."""
    if not isinstance(site.value, ast.Name):
        return False
    for ancestor in site.source.ancestors(site.node):
        for loop in getattr(ancestor, "generators", []):
            if isinstance(loop.target, ast.Name) and loop.target.id == site.value.id:
                whole = loop.iter.value if isinstance(loop.iter, ast.Subscript) else loop.iter
                return isinstance(whole, ast.Attribute) and whole.attr in ("device_buffers", "addressable_shards")
    return False


def _is_pmap_result(site: AttributeSite) -> bool:
    """Whether the file shows that the array is what a pmap-ed function returned, on a JAX where that shows in the shards."""
    return site.target_has("0.4.34") and not _wants_buffer(site) and is_pmap_made(site.source, site.value)


def is_pmap_made(source: Source, value: ast.expr, surely: bool = True) -> bool:
    """Whether the file shows that an array is what a pmap-ed function returned, mapped in its first dimension.

    Not `surely`: also where that is so once a loop before has run.
    """
    made = unpacked(source, source.value_of(value))
    if isinstance(made, ast.Name):
        made = _bound_last(source, made, surely) or made
    return isinstance(made, ast.Call) and any(_maps_rows(source, maker) for maker in _makers(source, made.func))


def _bound_last(source: Source, name: ast.Name, surely: bool) -> ast.expr | None:
    """What a name that is bound several times (``state = step(state)``) was last bound to, where this is certain."""
    bindings, scope = source.lookup(name.id, source.scope(name))
    if source.scope(name) is not scope:
        return None
    earlier = [b.statement for b in bindings if b.statement is not None and b.statement.lineno < source.statement(name).lineno]
    last = max(earlier, key=lambda s: s.lineno, default=None)
    if not isinstance(last, ast.Assign) or len(last.targets) != 1:
        return None
    around = list(source.ancestors(name))
    loops = [a for a in around if isinstance(a, (ast.For, ast.While))]
    outside = [loop for loop in loops if not any(a is loop for a in source.ancestors(last))]
    again = any(a in outside for b in bindings if b.statement is not None for a in source.ancestors(b.statement))
    return last.value if _passes(source, last, around, surely) and not again else None


def _passes(source: Source, statement: ast.stmt, around: list[ast.AST], surely: bool) -> bool:
    """Whether what comes to a place, with `around` around it, came through a statement before it."""
    block = source.parent(statement)
    while not surely and isinstance(block, (ast.For, ast.While, ast.With)) and block not in around:
        block = source.parent(block)
    return block in around and not isinstance(block, (ast.If, ast.Try))


def unpacked(source: Source, value: ast.expr) -> ast.expr:
    """The call of ``a, b = f(x)`` for the name ``b``, or `value`."""
    bindings = source.lookup(value.id, source.scope(value))[0] if isinstance(value, ast.Name) else []
    target = source.parent(bindings[0].node) if len(bindings) == 1 else None
    statement = source.parent(target) if isinstance(target, ast.Tuple) else None
    return statement.value if isinstance(statement, ast.Assign) else value


def _wants_buffer(site: AttributeSite) -> bool:
    """Whether the buffer itself is wanted (``.delete()``, its address), which a row of it, a copy, is not."""
    around: ast.AST = site.node
    for ancestor in site.source.ancestors(site.node):
        around = ancestor
        if isinstance(ancestor, (ast.For, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.stmt)):
            break
    return any(isinstance(n, ast.Attribute) and n.attr in _OF_BUFFERS for n in ast.walk(around))


def _makers(source: Source, function: ast.expr) -> list[ast.expr]:
    """What makes a callable: the call that it is bound to, or the decorator of its definition, if that is the only one."""
    made = source.value_of(function)
    if not isinstance(made, ast.Name):
        return [made]
    bindings, _ = source.lookup(made.id, source.scope(made))
    definition = bindings[0].node if len(bindings) == 1 else None
    decorators = definition.decorator_list if isinstance(definition, ast.FunctionDef) else []
    return decorators if len(decorators) == 1 else []


def _maps_rows(source: Source, maker: ast.expr) -> bool:
    """``jax.pmap``, ``jax.pmap(f)`` or ``partial(jax.pmap, ...)`` with its default `out_axes`."""
    if not isinstance(maker, ast.Call):
        return source.resolve(maker) == "jax.pmap"
    called = source.resolve(maker.func)
    if called == "functools.partial" and maker.args:
        called = source.resolve(maker.args[0])
    return called == "jax.pmap" and not any(k.arg in ("out_axes", None) for k in maker.keywords)
