"""Attributes that arrays had while they were device buffers: `.device()`, `.device_buffers`, `.to_py()` and their like.

JAX's words: the entries 0.3.17 (to_py), 0.4.7, 0.4.22, 0.4.27 and 0.4.31 of https://docs.jax.dev/en/latest/changelog.html

`x.device` is a property today, `x.devices()` a set; the buffers are the `data` of `x.addressable_shards`, which keep the mapped
dimension of a pmap result since 0.4.34.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, SAFE, UNSAFE, AttributeSite, Codemod, Reports, Rewrite, StringSite
from jaxmigrate_codemods import _buffers
from jaxmigrate_codemods._arrays import VALUE_TYPES, defines, unused_in, uses_jax

if TYPE_CHECKING:
    from jaxmigrate.model import Applicability

_LEADING = "since 0.4.34 shards of a pmap result keep the mapped dimension, a leading 1 that the old buffers lacked"
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
            ".device()", ".devices()[", ".devices().index(", ".devices()\n", ".devices()\r", "device_buffer", "device_buffers",
            "to_py", "copy_to_device", "copy_to_host", "block_host_until_ready", "unsafe_raw_array", "xla_shape", "._device",
            ".client",
        }
    ),
    applicability=UNSAFE,
)  # fmt: skip


def _known(site: AttributeSite) -> bool:
    return site.receiver_type in VALUE_TYPES or _buffers.is_buffer(site.source, site.value)


def _certainty(site: AttributeSite, otherwise: Applicability) -> tuple[Applicability, str] | None:
    """Applicability and assumption for this receiver; None where it is something else, or the file's own attribute."""
    if site.assignment:
        return None
    if _known(site):
        return SAFE, ""
    if _buffers.is_shard_data(site.value):
        return REVIEW, f"{site.text(site.value)} is taken to be a jax.Array"
    if site.receiver_type is not None or defines(site.source, site.node.attr) or not uses_jax(site.source):
        return None
    if site.text(site.value) in ("self", "cls") or site.text(site.value).startswith("super("):
        return None
    return otherwise, f"{site.text(site.value)} is taken to be a jax.Array"


_ARRAYS_EVERYWHERE = "0.4.1"
"""From this release on every array is a jax.Array, which has shards."""


@codemod.attribute("device")
def device(site: AttributeSite) -> Reports:
    """``x.device()`` was a method; for one on several devices the property gives their sharding, where the method raised."""
    call = site.call()
    if call is None and _known(site) and _is_called_later(site):
        return site.manual("x.device is a property since 0.4.31: the name bound to it cannot be called any more")
    if call is None or call.args or call.keywords or _buffers.is_shard_of_comprehension(site):
        return None
    certain = _certainty(site, UNSAFE)
    if certain is None:
        return None
    applicability, assumed = certain
    if site.target_has("0.4.31"):
        template, message, needs = "{x}.device", "x.device is a property since 0.4.31; ", "0.4.31"
    else:
        template, message, needs = "next(iter({x}.devices()))", "the method x.device() is gone in 0.4.27; ", ""
    message += assumed or "of an array on several devices it is the sharding, where the method raised"
    return Rewrite(message, applicability, (site.replace(template, call, x=site.value),), requires=needs)


@codemod.attribute("devices")
def devices(site: AttributeSite) -> Reports:
    """``x.devices()[i]``: the set has no order, the shards have that of the old list."""
    call = site.call()
    if call is None or call.args or call.keywords:
        return None
    subscript = site.source.parent(call)
    if _wants_list(call, subscript) or any(_wants_list(use, around) for use, around in _later_uses(site, call)):
        return _as_list(site, call)
    if not isinstance(subscript, ast.Subscript):
        return None
    certain = _certainty(site, UNSAFE)
    if certain is None:
        return None
    applicability, assumed = certain
    change = site.replace("{x}.addressable_shards[{i}].device", subscript, x=site.value, i=subscript.slice)
    message = "x.devices() is a set since 0.4.7" + (f"; {assumed}" if assumed else "")
    return Rewrite(message, applicability, (change,), requires=_ARRAYS_EVERYWHERE)


_OF_LISTS = ("append", "count", "extend", "index", "insert", "reverse", "sort")


def _wants_list(node: ast.expr, around: ast.AST | None) -> bool:
    """Whether `node` is used as only a list can be; one element of the call itself is simpler to have."""
    if isinstance(around, ast.Subscript) and around.value is node:
        return not isinstance(node, ast.Call) or isinstance(around.slice, ast.Slice)
    if isinstance(around, ast.Compare) and len(around.comparators) == 1:
        other = around.comparators[0] if around.left is node else around.left
        return isinstance(around.ops[0], (ast.Eq, ast.NotEq)) and isinstance(other, (ast.List, ast.ListComp))
    if isinstance(around, ast.BinOp):
        return isinstance(around.op, (ast.Add, ast.Mult))
    return isinstance(around, ast.Attribute) and around.attr in _OF_LISTS


def _as_list(site: AttributeSite, call: ast.Call) -> Reports:
    """``ds = x.devices()`` where ``ds[i]`` follows, ``x.devices()[1:]``, ``x.devices().index(d)``."""
    certain = _certainty(site, UNSAFE)
    if certain is None:
        return None
    s = unused_in(site.text(site.value), "s", "shard")
    change = site.replace(f"[{s}.device for {s} in {{x}}.addressable_shards]", call, x=site.value)
    message = "x.devices() is a set since 0.4.7" + (f"; {certain[1]}" if certain[1] else "")
    return Rewrite(message, certain[0], (change,), requires=_ARRAYS_EVERYWHERE)


def _later_uses(site: AttributeSite, value: ast.expr) -> list[tuple[ast.Name, ast.AST | None]]:
    """The uses of a name that is bound to `value`, each with what stands around it."""
    statement = site.source.parent(value)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = [t for t in targets if isinstance(t, ast.Name)]
    uses = [n for t in names for n in site.source.by_id.get(t.id, ()) if site.source.definition(n) is value]
    return [(use, site.source.parent(use)) for use in uses]


def _is_called_later(site: AttributeSite) -> bool:
    return any(isinstance(around, ast.Call) and around.func is use for use, around in _later_uses(site, site.node))


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
    message = f"x.{site.node.attr} is gone; its device tells{uncommitted}"
    return Rewrite(message, REVIEW, (change,), requires=_ARRAYS_EVERYWHERE)


@codemod.attribute("device_buffer")
def device_buffer(site: AttributeSite) -> Reports:
    """The array itself, as far as it is on one device."""
    certain = _certainty(site, REVIEW)
    if certain is None:
        return None
    applicability, assumed = certain
    message = "x.device_buffer is x.addressable_data(0)" + (f"; {assumed}" if assumed else "")
    change = site.replace("{x}.addressable_data(0)", x=site.value)
    return Rewrite(message, applicability, (change,), requires=_ARRAYS_EVERYWHERE)


@codemod.attribute("device_buffers")
def device_buffers(site: AttributeSite) -> Reports:
    """One buffer, their number, or all of them, each in the shortest way that says it."""
    certain = _certainty(site, REVIEW)
    if certain is None:
        return None
    changes, leading = _buffers.buffers(site)
    message = "the buffers are the data of x.addressable_shards"
    if leading:
        message += f"; {_LEADING}"
    return Rewrite(message + (f"; {certain[1]}" if certain[1] else ""), REVIEW, changes, requires=_ARRAYS_EVERYWHERE)


@codemod.attribute("to_py")
def to_py(site: AttributeSite) -> Reports:
    """``x.to_py()``."""
    return _method(site, 0, "{numpy.asarray}({x})", "x.to_py() is numpy.asarray(x)", REVIEW)


@codemod.attribute("copy_to_host")
def copy_to_host(site: AttributeSite) -> Reports:
    """``x.copy_to_host()``, only of what is known to be an array: numba's device arrays live by a method of that name."""
    return _method(site, 0, "{numpy.asarray}({x})", "x.copy_to_host() is numpy.asarray(x)", REVIEW) if _known(site) else None


@codemod.attribute("unsafe_raw_array")
def unsafe_raw_array(site: AttributeSite) -> Reports:
    """``key.unsafe_raw_array()``."""
    if not site.target_has("0.4.16"):
        return None
    return _method(site, 0, "{jax.random.key_data}({x})", "key.unsafe_raw_array() is jax.random.key_data(key)", REVIEW)


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
