"""Classes derived from GlobalDeviceArray: what they inherit goes with it, use by use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Manual, NameSite

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_BASE = "nothing can subclass jax.Array: hold an array instead of being one"
_MADE = "make an array with jax.make_array_from_callback or jax.make_array_from_single_device_arrays, and hold it"
_OWN = {
    "local_shards": "addressable_shards", "_local_shards": "addressable_shards", "local_data": "addressable_shards[index].data",
    "_device_buffers": "the data of addressable_shards",
}  # fmt: skip
"""Names that no other class has."""
_INHERITED = _OWN | {
    "mesh": "sharding.mesh", "_global_mesh": "sharding.mesh", "mesh_axes": "sharding.spec", "_mesh_axes": "sharding.spec",
    "_global_shape": "shape", "_local_devices": "sharding.mesh.local_devices", "_current_process": "jax.process_index()",
}  # fmt: skip
_CONSTRUCTORS = ("__init__", "from_callback", "from_batched_callback", "from_batched_callback_with_devices")


def derived(site: NameSite) -> Iterator[Manual]:
    """The class itself, and every use of what it inherits."""
    yield site.manual(_BASE)
    owner = site.parent()
    if not isinstance(owner, ast.ClassDef):
        return
    family = _family(site.source, owner)
    own = {name for member in family for name in _defined(member)}
    for name, instead in _INHERITED.items():
        for node in site.source.by_attribute.get(name, ()):
            if _is_of(site.source, node, family) and (name not in own or is_super(node.value)):
                yield site.manual(f"{name} comes from GlobalDeviceArray, which is gone: of the array held it is {instead}", node)
    for name in _CONSTRUCTORS if "__init__" not in own else _CONSTRUCTORS[1:]:
        for made in _constructions(site.source, name, family):
            yield site.manual(f"this makes a GlobalDeviceArray of a derived class, which is gone: {_MADE}", made)


def _family(source: Source, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """The class and those of the file that derive from it."""
    family = [owner]
    classes = [node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]
    while more := [c for c in classes if c not in family and any(_class_of(source, base) in family for base in c.bases)]:
        family += more
    return family


def _class_of(source: Source, node: ast.AST) -> ast.AST | None:
    """The class statement that a name means."""
    if not isinstance(node, ast.Name):
        return None
    bindings, _ = source.lookup(node.id, source.scope(node))
    return bindings[0].node if len(bindings) == 1 and bindings[0].kind == "class" else None


def _defined(owner: ast.ClassDef) -> Iterator[str]:
    for statement in owner.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _is_of(source: Source, node: ast.Attribute, family: list[ast.ClassDef]) -> bool:
    """Whether the attribute is taken from one of these classes, or from an instance."""
    value = node.value
    if isinstance(value, ast.Call):
        inner = is_super(value) and source.enclosing_class(node) in family
        return inner or _class_of(source, value.func) in family
    if isinstance(value, ast.Name) and value.id in ("self", "cls"):
        return source.enclosing_class(node) in family
    return _class_of(source, value) in family or (node.attr in _OWN and source.infer(value) == "?other")


def is_super(node: ast.expr) -> bool:
    """Whether this is ``super()``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _constructions(source: Source, name: str, family: list[ast.ClassDef]) -> Iterator[ast.AST]:
    for node in source.by_attribute.get(name, ()):
        if _is_of(source, node, family):
            yield node
    if name != "__init__":
        return
    for member in family:
        for used in source.by_id.get(member.name, ()):
            parent = source.parent(used)
            if isinstance(parent, ast.Call) and parent.func is used and _class_of(source, used) is member:
                yield parent
