"""What the array codemods share: the homes of the old classes, and small questions about a file."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from jaxmigrate.codemod import last_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxmigrate.codemod import NameSite, Site
    from jaxmigrate.names import Source


_TRACING = re.compile(r"(?<![a-z])(?:is_concrete|tracers?|traced|tracing)(?![a-z])", re.IGNORECASE)
_XLA = ("jax.interpreters.xla", "jax.xla")
_PXLA = ("jax.interpreters.pxla", "jax.pxla", "jax._src.interpreters.pxla")
_IMPLEMENTATION = ("DeviceArray", "_DeviceArray", "_CppDeviceArray", "Buffer", "DeviceArrayProtocol")
_INTERNAL = ("jax._src.lib.xla_extension", "jax._src.lib.xla_client")
_EXTENSION = ("jaxlib.xla_extension", "jax.lib.xla_extension", "jaxlib.xla_client._xla", "jax.lib.xla_client._xla")
_CLIENT = ("jaxlib.xla_client", "jax.lib.xla_client")

DEVICE_ARRAYS = frozenset(
    {
        "jax.numpy.DeviceArray",
        "jax.experimental.global_device_array.DeviceArray",
        "jax.lib.xla_client.ArrayImpl",
        "jax.DeviceArray",
        "jax.interpreters.xla.CppDeviceArray",
        "jax.interpreters.xla.DeviceArrayProtocol",
        "jax.interpreters.xla.DeviceValue",
        "jax._src.numpy.lax_numpy.DeviceArray",
        "jax._src.numpy.lax_numpy._DeviceArray",
        "jax._src.numpy.ndarray.DeviceArray",
        *(f"{m}.{n}" for m in _XLA for n in ("DeviceArray", "_DeviceArray", "_CppDeviceArray", "Buffer")),
        *(f"jax._src.device_array.{n}" for n in _IMPLEMENTATION),
        *(f"{m}.{n}" for m in _EXTENSION for n in ("DeviceArray", "Buffer", "PyLocalBuffer", "DeviceArrayBase", "ArrayImpl")),
        *(f"{m}.{n}" for m in _CLIENT for n in ("Buffer", "DeviceArray", "DeviceArrayBase")),
        *(f"{m}.{n}" for m in _INTERNAL for n in ("DeviceArray", "Buffer", "PyLocalBuffer", "DeviceArrayBase")),
    }
)
"""Every qualified name under which the class of single-device arrays could be had, or was looked for."""

DEVICES = frozenset({*(f"{m}.Device" for m in _XLA), *(f"{m}.Device" for m in _EXTENSION), "jax.lib.xla_client.Device"})
"""The class of devices where it lived beside the array class."""

SHARDED_DEVICE_ARRAYS = frozenset(
    f"{m}.{n}" for m in _PXLA for n in ("ShardedDeviceArray", "_ShardedDeviceArray", "ShardedDeviceArrayBase")
)
GLOBAL_DEVICE_ARRAYS = frozenset(
    f"{m}.GlobalDeviceArray" for m in ("jax.experimental.global_device_array", "jax._src.global_device_array")
)
MAKE_SHARDED = frozenset(f"{m}.make_sharded_device_array" for m in _PXLA)
_SPEC_HOMES = (*_PXLA, "jax._src.sharding_specs")
PMAP_SHARDINGS = frozenset(f"{m}.PmapSharding" for m in ("jax.sharding", "jax._src.sharding", "jax._src.sharding_impls"))
SPECS = frozenset(f"{m}.{n}" for m in _SPEC_HOMES for n in ("ShardingSpec", "spec_to_indices"))
"""What described the layout of an array without a mesh."""

PARTS_OF_SPECS = frozenset(
    f"{m}.{n}" for m in _SPEC_HOMES for n in ("Chunked", "NoSharding", "Replicated", "ShardedAxis", "Unstacked")
)

MAKE_DEVICE = frozenset(f"{m}.make_device_array" for m in (*_XLA, "jax._src.device_array"))

ARRAY = "jax.Array"
ALL_ARRAYS = DEVICE_ARRAYS | SHARDED_DEVICE_ARRAYS | GLOBAL_DEVICE_ARRAYS | {ARRAY}
VALUE_TYPES = DEVICE_ARRAYS | SHARDED_DEVICE_ARRAYS | {ARRAY, "jax.numpy.ndarray"}
"""What inference calls a value that is a jax.Array today (a GlobalDeviceArray had none of the old buffer attributes)."""


def traced(site: Site) -> str:
    """Why the code at this site may see tracers: what the engine knows, or comments and strings of the function that say so."""
    reason = site.may_be_traced()
    function = site.source.function(site.node)
    if reason or function is None:
        return reason
    said = _TRACING.search(site.source.segment(function))
    return f"the function around it speaks of {said[0]!r}" if said else ""


def container(source: Source, node: ast.expr) -> ast.expr:
    """The outermost tuple, list or set display that `node` is an element of, or `node`."""
    parent = source.parent(node)
    while isinstance(parent, (ast.Tuple, ast.List, ast.Set)):
        node, parent = parent, source.parent(parent)
    return node


def is_spelled_array(source: Source, node: ast.AST) -> bool:
    """``jax.Array`` by that name: an old class that an import has just made jax.Array keeps its own (``GDA``)."""
    leaf = last_part(node)
    return leaf == "Array" and source.resolve(node) == ARRAY


def elements(node: ast.expr) -> list[ast.expr]:
    """The classes of a tuple, list, set or ``|`` chain of classes, flat; of a single class: itself."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [e for inner in node.elts for e in elements(inner)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*elements(node.left), *elements(node.right)]
    return [node]


def typed(node: ast.expr) -> ast.expr | None:
    """``x`` of ``type(x)`` and ``x.__class__``."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
        return node.args[0] if len(node.args) == 1 and not node.keywords else None
    return None


def classes_text(source: Source, nodes: list[ast.expr]) -> tuple[str, dict[str, ast.expr]]:
    """Template text and pieces for one class, or for a tuple of several."""
    pieces = {f"class{i}": node for i, node in enumerate(nodes)}
    text = ", ".join(f"{{{name}}}" for name in pieces)
    return (text if len(nodes) == 1 else f"({text})"), pieces


def fresh(source: Source, *candidates: str) -> str:
    """The first of the candidate names that the file does not use, with underscores added if it uses all of them."""
    taken = source.by_id.keys() | {binding.name for binding in source.bindings()}
    return next(name + suffix for suffix in ("", "_", "__", "___") for name in candidates if name + suffix not in taken)


def line(source: Source, node: ast.AST) -> int:
    """The line of `node` in the file as the user has it."""
    return source.original_line(node)


def indentation(source: Source, statement: ast.stmt) -> str:
    """The white space before a statement; that of its line when other statements stand before it there."""
    line = source.utf8[source.offset(statement.lineno, 0) : source.span(statement)[0]].decode("utf-8")
    return line[: len(line) - len(line.lstrip(" \t"))]


def unused_in(text: str, *candidates: str) -> str:
    """The first candidate that is no identifier of `text`: for the variable of a comprehension."""
    return next(c for c in (*candidates, "an_array_of_jax") if not re.search(rf"\b{c}\b", text))


def assignment_for(source: Source, name: ast.expr, value: ast.expr, besides: Sequence[ast.AST] = ()) -> ast.stmt | None:
    """The statement ``name = value``, if `name` is the only use of what it binds, so that it can go with that use.

    Uses inside `besides`, which go too, do not count.
    """
    statement = source.parent(value)
    if not isinstance(name, ast.Name) or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    if source.scope(statement) is source.scope_root and _is_public(source, name.id):
        return None
    scope = source.lookup(name.id, source.scope(name))[1]
    same = (n for n in source.by_id.get(name.id, ()) if source.lookup(n.id, source.scope(n))[1] is scope)
    going = {name, statement.targets[0]}
    left = [n for n in same if n not in going and not any(a in besides for a in source.ancestors(n))]
    return statement if not left and isinstance(statement.targets[0], ast.Name) else None


def _is_public(source: Source, name: str) -> bool:
    """Whether another module imports the name from here, or ``__all__`` lists it."""
    return name in source.index.consumed.get(source.module, ()) or any(s.value == name for s in source.strings)


def defines(source: Source, attribute: str) -> bool:
    """Whether the file makes an attribute of that name itself: a method, a field or an assignment to it."""
    if any(_stores(source, a) for a in source.by_attribute.get(attribute, ())):
        return True
    if re.search(rf"^[ \t]+(?:async[ \t]+)?def[ \t]+{attribute}\b".encode(), source.utf8, re.MULTILINE):
        return True
    fields = (n for n in source.by_id.get(attribute, ()) if isinstance(n.ctx, ast.Store))
    return any(isinstance(source.parent(source.statement(n)), ast.ClassDef) for n in fields)


def _stores(source: Source, attribute: ast.Attribute) -> bool:
    """Whether it is assigned to, other than from the same attribute of another value (``self.indices = x.indices``)."""
    if isinstance(attribute.ctx, ast.Load):
        return False
    statement = source.parent(attribute)
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    return not (isinstance(value, ast.Attribute) and value.attr == attribute.attr)


def uses_jax(source: Source) -> bool:
    """Whether the file imports anything of jax, flax, haiku or their like: one whose values may be JAX arrays."""
    for statement in source.imports:
        names = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else [a.name for a in statement.names]
        if any("jax" in n or n.partition(".")[0] in ("flax", "haiku", "optax", "chex") for n in names):
            return True
    return False


def registered_beside(site: NameSite, *classes: str) -> bool:
    """Whether another function is registered for one of these classes on the dispatcher that `site` registers with."""
    source, here = site.source, site.parent()
    dispatcher = source.segment(here.func) if isinstance(here, ast.Call) else ""
    for node in source.names(*classes):
        call = source.parent(node)
        if isinstance(call, ast.Call) and source.role(node) == "register" and source.segment(call.func) == dispatcher:
            return source.parent(call) is not source.parent(here) if here is not None else True
    return False
