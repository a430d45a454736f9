"""`device.live_buffers()` becomes the arrays of that device out of `jax.live_arrays()`.

JAX's words: https://docs.jax.dev/en/latest/jax_array_migration.html#live-buffers-replaced-with-live-arrays

The old call still exists and returns an empty list. The list on a backend (client) still works under the name `live_arrays`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    AttributeSite,
    Change,
    Codemod,
    DeleteStatement,
    KeepBlock,
    Piece,
    Reports,
    Rewrite,
    StringSite,
)
from jaxmigrate_codemods._arrays import assignment_for, defines, unused_in, uses_jax

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_GET_BACKEND = frozenset(
    {
        "jax.lib.xla_bridge.get_backend",
        "jax._src.xla_bridge.get_backend",
        "jax._src.lib.xla_bridge.get_backend",
        "jax.extend.backend.get_backend",
    }
)
_DEVICES = frozenset({"jax.devices", "jax.local_devices"})
_DEVICE_NAMES = frozenset({"d", "dev", "device", "gpu", "tpu", "cpu", "gpu_device", "cpu_device", "first_device", "local_device"})
_CLIENT_NAMES = frozenset({"client", "backend", "xla_client", "xla_backend"})
_SHARDED = "a sharded array is listed (counted, deleted) as a whole, where the old list held its piece on the device"
_ADVICE = "of a device: [a for a in jax.live_arrays() if device in a.devices()]; of a backend: jax.live_arrays()"

codemod = Codemod(
    "live-buffers",
    summary="device.live_buffers(), which returns an empty list today, asks jax.live_arrays()",
    since="0.3.24",
    deprecated="0.4.7",
    removed=None,
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset({"live_buffers"}),
    applicability=REVIEW,
)


@codemod.attribute("live_buffers")
def live_buffers(site: AttributeSite) -> Reports:
    """Tell devices from backends; anything else is left alone or described."""
    kind, assumed = _kind(site)
    if kind == "":
        return None
    call = site.call()
    if call is None or call.args or call.keywords or kind == "unknown":
        return site.manual(f"live_buffers() of a device returns an empty list today; {_ADVICE}")
    if kind == "client":
        return _of_client(site, call, assumed)
    return _of_device(site, call, assumed)


def _kind(site: AttributeSite) -> tuple[str, str]:
    """Whether the receiver is a ``device`` or a ``client``, ``unknown``, or nothing of JAX's; and what was assumed."""
    if site.assignment:
        return "", ""
    if site.receiver_type in ("jax.Device", "jax.Client"):
        return site.receiver_type.rpartition(".")[2].lower(), ""
    if site.receiver_type is not None or not uses_jax(site.source):
        return "", ""
    leaf = site.text(site.value).rpartition(".")[2]
    if leaf in _DEVICE_NAMES:
        return "device", f"{site.text(site.value)} is taken to be a jax.Device; "
    if leaf in _CLIENT_NAMES:
        return "client", f"{site.text(site.value)} is taken to be a backend of JAX; "
    own = _is_own(site) or site.source.resolve(site.value) is not None
    return ("", "") if own else ("unknown", "")


def _is_own(site: AttributeSite) -> bool:
    """Whether the value is one of a class of this file that has live_buffers itself, by its type or by its name."""
    if not defines(site.source, "live_buffers"):
        return False
    if site.call() is None:
        return True  # a field, or a method passed on: devices are asked at once
    x = site.value
    if isinstance(x, ast.Call):
        return isinstance(x.func, ast.Name) and (x.func.id == "super" or x.func.id in _owners(site.source))
    if isinstance(x, ast.Name) and x.id in ("self", "cls"):
        around = site.source.enclosing_class(site.node)
        return around is None or around.name in _owners(site.source) or bool(around.bases)
    leaf = site.text(x).rpartition(".")[2].strip("_").lower()
    return leaf in {owner.strip("_").lower() for owner in _owners(site.source)}


def _owners(source: Source) -> set[str]:
    """The classes of this file that make the attribute themselves, or derive from one that does."""
    classes = [node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]
    found = {c.name for c in classes if any(_makes(node) for node in ast.walk(c))}
    for c in classes:  # bases stand before what derives from them
        if any(isinstance(base, ast.Name) and base.id in found for base in c.bases):
            found.add(c.name)
    return found


def _makes(node: ast.AST) -> bool:
    """Whether it is a method, a field, or an assignment to it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name == "live_buffers"
    if isinstance(node, ast.Name):
        return node.id == "live_buffers" and isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Attribute) and node.attr == "live_buffers" and isinstance(node.ctx, ast.Store)


def _of_device(site: AttributeSite, call: ast.Call, assumed: str) -> Reports:
    """The arrays that have a shard on the device, which is evaluated once."""
    device = site.value
    text = site.text(device)
    a = unused_in(text, "a", "array")
    platform = _platform(site.source, device)
    pieces: dict[str, Piece] = {"device": device}
    arrays = "{jax.live_arrays}()"
    if platform is not None:
        arrays, pieces["platform"] = "{jax.live_arrays}({platform})", platform
    once = site.source.is_pure(device) and not _in_class_body(site)
    d = "{device}" if once else unused_in(text, "device", "d")
    bound = "" if once else f"for {d} in [{{device}}] "
    template = f"[{a} {bound}for {a} in {arrays} if {d} in {a}.devices()]"
    where = "" if platform is not None else "; only arrays of the default platform are seen"
    return Rewrite(f"{assumed}{_SHARDED}{where}", REVIEW, (site.replace(template, call, **pieces),))


def _in_class_body(site: AttributeSite) -> bool:
    """Whether names of a class body are in play, which a comprehension does not see."""
    return site.source.enclosing_class(site.node) is not None and site.source.function(site.node) is None


def _platform(source: Source, device: ast.expr) -> ast.expr | None:
    """The platform that was named where the device came from (``jax.devices("cpu")[0]``)."""
    node = source.value_of(device)
    if isinstance(node, ast.Name):
        node = _loop_source(source, node)
    while isinstance(node, ast.Subscript):
        node = source.value_of(node.value)
    if not isinstance(node, ast.Call) or (source.resolve(node.func) or "") not in _DEVICES:
        return None
    named = next((k.value for k in node.keywords if k.arg == "backend"), None)
    position = 0 if (source.resolve(node.func) or "") == "jax.devices" else 1
    platform = node.args[position] if len(node.args) > position else named
    return platform if isinstance(platform, ast.Constant) and platform.value is not None else None


def _loop_source(source: Source, name: ast.Name) -> ast.expr:
    """What the loop or comprehension that binds `name` runs over, or `name`."""
    for ancestor in source.ancestors(name):
        loops = getattr(ancestor, "generators", [ancestor])
        for loop in loops:
            if isinstance(loop, (ast.For, ast.comprehension)) and isinstance(loop.target, ast.Name) and loop.target.id == name.id:
                return source.value_of(loop.iter)
    return name


def _of_client(site: AttributeSite, call: ast.Call, assumed: str) -> Reports:
    """A backend lists its arrays under another name; one that `get_backend` made for this alone is not needed any more."""
    client = _made(site.source, site.value)
    if not isinstance(client, ast.Call) or (site.source.resolve(client.func) or "") not in _GET_BACKEND:
        return _renamed(site, assumed)
    arguments = [*client.args, *(k.value for k in client.keywords)]
    if len(arguments) > 1 or not all(site.source.is_pure(a) for a in arguments):
        return _renamed(site, "")
    changes: list[Change] = [_live_arrays(site, call, arguments)]
    message = "jax.live_arrays lists the arrays of a backend"
    deleted = _deleted(site)
    if (statement := assignment_for(site.source, site.value, client, deleted)) is not None:
        changes += [DeleteStatement(s) for s in (statement, *deleted)]
    elif client is not site.value and "xla_bridge" in site.text(client.func):
        message += "; where the backend itself is still needed, jax.extend.backend.get_backend makes it (xla_bridge is gone)"
    return Rewrite(message, REVIEW, tuple(changes))


def _made(source: Source, value: ast.expr) -> ast.expr:
    """What a backend's name is bound to; that it is deleted later is no other binding."""
    bindings = source.lookup(value.id, source.scope(value))[0] if isinstance(value, ast.Name) else []
    values = [b.value for b in bindings if b.kind != "del"]
    return values[0] if len(values) == 1 and values[0] is not None else source.value_of(value)


def _deleted(site: AttributeSite) -> list[ast.stmt]:
    """``del backend``."""
    name = site.value.id if isinstance(site.value, ast.Name) else ""
    uses = (n for n in site.source.by_id.get(name, ()) if isinstance(n.ctx, ast.Del))
    return [s for n in uses if isinstance(s := site.source.statement(n), ast.Delete) and s.targets == [n]]


def _without_test(site: StringSite, test: ast.Call) -> Reports:
    """``backend = get_backend()`` and ``if hasattr(backend, ..):`` around what has become jax.live_arrays()."""
    backend, block = test.args[0], site.source.parent(test)
    made = site.source.value_of(backend)
    if not isinstance(made, ast.Call) or (site.source.resolve(made.func) or "") not in _GET_BACKEND:
        return None
    statement = assignment_for(site.source, backend, made)
    if statement is None or not isinstance(block, ast.If) or block.test is not test or block.orelse:
        return None
    message = "the backend was only asked for live_buffers: jax.live_arrays needs no test"
    return Rewrite(message, REVIEW, (DeleteStatement(statement), KeepBlock(block, "body")))


def _renamed(site: AttributeSite, assumed: str) -> Reports:
    message = f"{assumed}live_buffers of a backend is called live_arrays"
    return Rewrite(message, REVIEW if assumed else SAFE, (site.replace("{x}.live_arrays", x=site.value),))


def _live_arrays(site: AttributeSite, call: ast.Call, arguments: list[ast.expr]) -> Change:
    if arguments:
        return site.replace("{jax.live_arrays}({platform})", call, platform=arguments[0])
    return site.replace("{jax.live_arrays}()", call)


@codemod.string("live_buffers")
def presence_test(site: StringSite) -> Reports:
    """``hasattr(device, "live_buffers")`` is still True; asked of a backend that nothing else needs any more it goes with it."""
    call = site.parent()
    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "hasattr" and call.args[1:] == [site.node]:
        return _without_test(site, call)
    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "getattr" and call.args[1:2] == [site.node]:
        return site.manual(f"live_buffers() of a device returns an empty list today; {_ADVICE}")
    return None
