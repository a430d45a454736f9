"""Attributes that arrays had while they were device buffers: `.device()`, `.device_buffers`, `.to_py()` and their like.

JAX's words: the entries 0.3.17 (to_py), 0.4.7, 0.4.22, 0.4.27 and 0.4.31 of https://docs.jax.dev/en/latest/changelog.html

`x.device` is a property today, `x.devices()` a set; the buffers are the `data` of `x.addressable_shards`, which keep the mapped
dimension of a pmap result since 0.4.34.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, SAFE, UNSAFE, AttributeSite, Change, Codemod, Reports, Rewrite, StringSite
from jaxmigrate_codemods._arrays import VALUE_TYPES, defines, unused_in, uses_jax

if TYPE_CHECKING:
    from jaxmigrate.model import Applicability
    from jaxmigrate.names import Source

_LEADING = "since 0.4.34 shards of a pmap result keep the mapped dimension, a leading 1 that the old buffers lacked"
_OF_BUFFERS = ("delete", "is_deleted", "unsafe_buffer_pointer", "on_device_size_in_bytes")
_NO_SUCCESSOR = "no successor: an array does not tell its XLA shape any more"

codemod = Codemod(
    "array-attributes",
    summary="x.device(), x.device_buffers, x.to_py() and other attributes of the old buffers",
    since="0.3.19",
    deprecated="0.4.21",
    removed="0.4.27",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset(
        {
            ".device()", ".devices()[", "device_buffer", "device_buffers", "to_py", "copy_to_device", "block_host_until_ready",
            "xla_shape", "._device", ".client",
        }
    ),
    applicability=UNSAFE,
)  # fmt: skip


def _known(site: AttributeSite) -> bool:
    return site.receiver_type in VALUE_TYPES or _is_buffer(site.source, site.value)


def _certainty(site: AttributeSite, otherwise: Applicability) -> tuple[Applicability, str] | None:
    """Applicability and assumption for this receiver; None where it is something else, or the file's own attribute."""
    if site.assignment:
        return None
    if _known(site):
        return SAFE, ""
    if _is_shard_data(site.value):
        return REVIEW, f"{site.text(site.value)} is taken to be a jax.Array"
    if site.receiver_type is not None or defines(site.source, site.node.attr) or not uses_jax(site.source):
        return None
    if site.text(site.value) in ("self", "cls") or site.text(site.value).startswith("super("):
        return None
    return otherwise, f"{site.text(site.value)} is taken to be a jax.Array"


def _is_shard_data(node: ast.expr) -> bool:
    """What the other functions here take for an array, or make of one: if that is right, this is an array too."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "addressable_data"
    if isinstance(node, ast.Subscript):
        return _is_shard_data(node.value) or (isinstance(node.value, ast.Attribute) and node.value.attr == "device_buffers")
    if not isinstance(node, ast.Attribute):
        return False
    shard = node.value.value if node.attr == "data" and isinstance(node.value, ast.Subscript) else None
    return node.attr == "device_buffer" or (isinstance(shard, ast.Attribute) and shard.attr == "addressable_shards")


def _is_buffer(source: Source, node: ast.expr) -> bool:
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


@codemod.attribute("device")
def device(site: AttributeSite) -> Reports:
    """``x.device()`` was a method; for one on several devices the property gives their sharding, where the method raised."""
    call = site.call()
    if call is None and _known(site) and _is_called_later(site):
        return site.manual("x.device is a property since 0.4.31: the name bound to it cannot be called any more")
    if call is None or call.args or call.keywords or _shard_of_comprehension(site):
        return None
    certain = _certainty(site, UNSAFE)
    if certain is None:
        return None
    applicability, assumed = certain
    if site.target_has("0.4.31"):
        template, message = "{x}.device", "x.device is a property since 0.4.31; "
    else:
        template, message = "next(iter({x}.devices()))", "the method x.device() is gone in 0.4.27; "
    message += assumed or "of an array on several devices it is the sharding, where the method raised"
    return Rewrite(message, applicability, (site.replace(template, call, x=site.value),))


@codemod.attribute("devices")
def devices(site: AttributeSite) -> Reports:
    """``x.devices()[i]``: the set has no order, the shards have that of the old list."""
    call = site.call()
    subscript = site.source.parent(call) if call is not None else None
    if call is not None and not call.args and _is_indexed_later(site, call):
        return _as_list(site, call)
    if call is None or call.args or not isinstance(subscript, ast.Subscript) or isinstance(subscript.slice, ast.Slice):
        return None
    certain = _certainty(site, UNSAFE)
    if certain is None:
        return None
    applicability, assumed = certain
    change = site.replace("{x}.addressable_shards[{i}].device", subscript, x=site.value, i=subscript.slice)
    return Rewrite("x.devices() is a set since 0.4.7" + (f"; {assumed}" if assumed else ""), applicability, (change,))


def _as_list(site: AttributeSite, call: ast.Call) -> Reports:
    """``ds = x.devices()`` where ``ds[i]`` follows."""
    certain = _certainty(site, UNSAFE)
    if certain is None:
        return None
    s = unused_in(site.text(site.value), "s", "shard")
    change = site.replace(f"[{s}.device for {s} in {{x}}.addressable_shards]", call, x=site.value)
    return Rewrite("x.devices() is a set since 0.4.7" + (f"; {certain[1]}" if certain[1] else ""), certain[0], (change,))


def _later_uses(site: AttributeSite, value: ast.expr) -> list[ast.AST | None]:
    """What stands around the uses of a name that is bound to `value`."""
    statement = site.source.parent(value)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = [t for t in targets if isinstance(t, ast.Name)]
    return [site.source.parent(n) for t in names for n in site.source.by_id.get(t.id, ()) if site.source.definition(n) is value]


def _is_called_later(site: AttributeSite) -> bool:
    uses = _later_uses(site, site.node)
    return any(isinstance(p, ast.Call) and site.source.value_of(p.func) is site.node for p in uses)


def _is_indexed_later(site: AttributeSite, call: ast.Call) -> bool:
    uses = _later_uses(site, call)
    return any(isinstance(p, ast.Subscript) and site.source.value_of(p.value) is call for p in uses)


@codemod.attribute("_device", "client", "xla_shape")
def private(site: AttributeSite) -> Reports:
    """Seen in old code; only where the value is known to be an array, the names are too common otherwise."""
    if not _known(site) or site.assignment:
        return None
    if site.node.attr == "xla_shape":
        return site.manual(_NO_SUCCESSOR)
    suffix = ".client" if site.node.attr == "client" else ""
    change = site.replace("next(iter({x}.devices()))" + suffix, x=site.value)
    uncommitted = "" if suffix else "; it was None for an array not committed to a device"
    return Rewrite(f"x.{site.node.attr} is gone; its device tells{uncommitted}", REVIEW, (change,))


@codemod.attribute("device_buffer")
def device_buffer(site: AttributeSite) -> Reports:
    """The array itself, as far as it is on one device."""
    certain = _certainty(site, REVIEW)
    if certain is None:
        return None
    applicability, assumed = certain
    message = "x.device_buffer is x.addressable_data(0)" + (f"; {assumed}" if assumed else "")
    return Rewrite(message, applicability, (site.replace("{x}.addressable_data(0)", x=site.value),))


@codemod.attribute("device_buffers")
def device_buffers(site: AttributeSite) -> Reports:
    """One buffer, their number, or all of them, each in the shortest way that says it."""
    certain = _certainty(site, REVIEW)
    if certain is None:
        return None
    changes, leading = _buffers(site)
    message = "the buffers are the data of x.addressable_shards"
    if leading:
        message += f"; {_LEADING}"
    return Rewrite(message + (f"; {certain[1]}" if certain[1] else ""), REVIEW, changes)


def _buffers(site: AttributeSite) -> tuple[tuple[Change, ...], bool]:
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


def _shard_of_comprehension(site: AttributeSite) -> bool:
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
    made = _unpacked(site.source, site.source.value_of(site.value))
    if not isinstance(made, ast.Call) or not site.target_has("0.4.34") or _wants_buffer(site):
        return False
    return any(_maps_rows(site.source, maker) for maker in _makers(site.source, made.func))


def _unpacked(source: Source, value: ast.expr) -> ast.expr:
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


@codemod.attribute("to_py")
def to_py(site: AttributeSite) -> Reports:
    """``x.to_py()``."""
    return _method(site, 0, "{numpy.asarray}({x})", "x.to_py() is numpy.asarray(x)", REVIEW)


@codemod.attribute("copy_to_device")
def copy_to_device(site: AttributeSite) -> Reports:
    """``x.copy_to_device(device)``; numba's device arrays have a method of that name."""
    otherwise = UNSAFE if site.source.mentions("numba") or site.source.mentions("cuda") else REVIEW
    return _method(site, 1, "{jax.device_put}({x}, {argument})", "x.copy_to_device(d) is jax.device_put(x, d)", otherwise)


@codemod.attribute("block_host_until_ready")
def block_host_until_ready(site: AttributeSite) -> Reports:
    """``x.block_host_until_ready()``."""
    certain = _certainty(site, REVIEW)
    if certain is None:
        return None
    change = site.replace("{x}.block_until_ready", x=site.value)
    message = "block_host_until_ready is block_until_ready, which returns the array"
    return Rewrite(f"{message}; {certain[1]}" if certain[1] else message, certain[0], (change,))


def _method(site: AttributeSite, arguments: int, template: str, message: str, otherwise: Applicability) -> Reports:
    """Replace a method call by a function call; a method that is passed on is described."""
    certain = _certainty(site, otherwise)
    if certain is None:
        return None
    call = site.call()
    if call is None or len(call.args) != arguments or call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return site.manual(f"{message}; here the method is passed on or called in another way")
    pieces = {"argument": call.args[0]} if arguments else {}
    change = site.replace(template, call, x=site.value, **pieces)
    return Rewrite(f"{message}; {certain[1]}" if certain[1] else message, certain[0], (change,))


@codemod.string("device")
def device_by_name(site: StringSite) -> Reports:
    """``getattr(x, "device")()``."""
    call = site.parent()
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "getattr" or call.args[1:] != [site.node]:
        return None
    called = site.source.parent(call)
    if not isinstance(called, ast.Call) or called.func is not call or site.source.infer(call.args[0]) not in VALUE_TYPES:
        return None
    return site.manual("x.device is a property since 0.4.31 and cannot be called any more")


@codemod.string("device_buffer", "device_buffers", "to_py", "copy_to_device", "block_host_until_ready")
def presence_test(site: StringSite) -> Reports:
    """``hasattr(x, "device_buffers")``."""
    call = site.parent()
    asks = isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("hasattr", "getattr") and call.args[1:2] == [site.node]
    if not asks or defines(site.source, site.value) or not uses_jax(site.source):
        return None
    return site.manual(f"no array has {site.value!r} any more, so this is always False or the default")
