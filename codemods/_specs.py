"""Trees of PartitionSpecs and shardings: what they say, and how to write them at another place."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Piece, Template

if TYPE_CHECKING:
    from jaxmigrate.names import Source

FROM_GDA = ("jax.experimental.pjit.FROM_GDA", "jax._src.pjit.FROM_GDA")
HOST_LOCAL = "jax.experimental.multihost_utils.host_local_array_to_global_array"
TO_LOCAL = "jax.experimental.multihost_utils.global_array_to_host_local_array"
GDA = ("jax.experimental.global_device_array.GlobalDeviceArray", "jax._src.global_device_array.GlobalDeviceArray")
GDA_TYPES = frozenset(GDA)
UNSPECIFIED = frozenset(
    {
        "jax._src.pjit.UNSPECIFIED", "jax._src.pjit._UNSPECIFIED", "jax._src.sharding_impls.UNSPECIFIED",
        "jax.experimental.pjit.UNSPECIFIED", "jax.experimental.pjit._UNSPECIFIED", "jax.interpreters.pxla.UNSPECIFIED",
        "jax.interpreters.pxla._UNSPECIFIED",
    }
)  # fmt: skip
SPECS = frozenset(
    {
        "jax.sharding.PartitionSpec", "jax.P", "jax.experimental.PartitionSpec", "jax.experimental.pjit.PartitionSpec",
        "jax.interpreters.pxla.PartitionSpec", "jax._src.interpreters.pxla.PartitionSpec",
        "jax.interpreters.sharded_jit.PartitionSpec", "jax.experimental.global_device_array.PartitionSpec",
        "jax.experimental.sharding.PartitionSpec", "jax._src.sharding.PartitionSpec", "jax._src.partition_spec.PartitionSpec",
    }
)  # fmt: skip
SHARDINGS = frozenset(
    {
        "jax.sharding.NamedSharding", "jax.sharding.MeshPspecSharding", "jax.experimental.pjit.NamedSharding",
        "jax.experimental.pjit.MeshPspecSharding", "jax.experimental.sharding.MeshPspecSharding",
        "jax.experimental.sharding.NamedSharding", "jax._src.sharding.NamedSharding", "jax._src.sharding.MeshPspecSharding",
        "jax._src.sharding_impls.NamedSharding", "jax.sharding.SingleDeviceSharding", "jax.NamedSharding",
    }
)  # fmt: skip
_TREE_MAPS = ("jax.tree_map", "jax.tree_util.tree_map", "jax.tree.map")
_FILLING = frozenset({"append", "extend", "insert", "setdefault", "update"})


def short(source: Source, node: ast.AST) -> str:
    """The text of `node` for a message."""
    text = " ".join(source.segment(node).split())
    return text if len(text) <= 40 else text[:37] + "..."


def is_none(node: ast.expr) -> bool:
    """Whether `node` is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None


def branches(node: ast.expr) -> list[ast.expr] | None:
    """The elements of a tuple or list, the values of a dict; None for anything else."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return node.elts
    if isinstance(node, ast.Dict) and all(k is not None for k in node.keys):
        return node.values
    return None


def is_spec(source: Source, node: ast.expr) -> bool:
    """Whether `node` is a call of PartitionSpec."""
    return isinstance(node, ast.Call) and source.resolve(node.func) in SPECS


def spec_name(source: Source, at: ast.AST) -> str:
    """How PartitionSpec is spelled at `at`: by a name the file imports already, or a template hole for the engine to import."""
    spelled = (source.visible(q, at) for q in sorted(SPECS))
    return next((s for s in spelled if s and "." not in s), "{jax.sharding.PartitionSpec}")


def is_gone(source: Source, node: ast.expr) -> bool:
    """Whether `node` is the sentinel FROM_GDA."""
    return source.resolve(node) in FROM_GDA


def sentinels(source: Source, node: ast.expr) -> Iterator[ast.expr]:
    """The references to FROM_GDA in a value, seen through names that have one definition."""
    for part in parts(source, node):
        if is_gone(source, part):
            yield part


def parts(source: Source, node: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """The names and attributes in a value, and in the definitions behind those that have one."""
    stack: list[ast.expr] = [node]
    seen: set[ast.AST] = set()
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        for part in ast.walk(value):
            if isinstance(part, (ast.Name, ast.Attribute)):
                yield part
                behind = source.definition(part)
                if behind is not None:
                    stack.append(behind)


def only_from_gda(source: Source, node: ast.expr) -> bool:
    """Whether every leaf of a value is FROM_GDA."""
    return _every_leaf(source, node, is_gone)


def is_replicated(source: Source, node: ast.expr) -> bool:
    """Whether a spec, or every spec of a tree, says "the same everywhere": None, ``P()``, ``P(None)``."""
    return _every_leaf(source, node, _is_whole)


def needs_no_conversion(source: Source, node: ast.expr) -> bool:
    """Whether every leaf is FROM_GDA or says "the same everywhere": such inputs are global already."""
    return _every_leaf(source, node, lambda s, n: is_gone(s, n) or _is_whole(s, n))


def has_replicated(source: Source, node: ast.expr, depth: int = 6) -> bool:
    """Whether any leaf that can be read says "the same everywhere"."""
    children = branches(source.value_of(node))
    if children is not None:
        return depth > 0 and any(has_replicated(source, c, depth - 1) for c in children)
    return is_replicated(source, node)


def _is_whole(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and source.resolve(node.func) in SHARDINGS and len(node.args) == 2:
        return is_replicated(source, node.args[1])
    plain = isinstance(node, ast.Call) and is_spec(source, node) and not node.keywords
    return is_none(node) or (plain and isinstance(node, ast.Call) and all(map(is_none, node.args)))


def _every_leaf(source: Source, node: ast.expr, test: Callable[[Source, ast.expr], bool], depth: int = 8) -> bool:
    """Whether every leaf of a tree passes `test`; False where the leaves cannot be told."""
    if test(source, node):
        return True
    if not depth:
        return False
    if isinstance(node, (ast.Name, ast.Attribute)):
        behind = source.definition(node)
        inside = [behind] if behind is not None and not may_be_filled(source, node, behind) else None
    else:
        inside = _subtrees(source, node)
    return inside is not None and all(_every_leaf(source, n, test, depth - 1) for n in inside)


def _subtrees(source: Source, node: ast.expr) -> list[ast.expr] | None:
    """The expressions that hold all leaves of a tree; None for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [node.left]
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return [node.elt]
    if isinstance(node, ast.DictComp):
        return [node.value]
    if isinstance(node, ast.Call) and node.args and source.resolve(node.func) in _TREE_MAPS:
        return [node.args[0].body] if isinstance(node.args[0], ast.Lambda) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("dict", "list", "tuple"):
        known = not source.lookup(node.func.id, source.scope(node))[0] and all(k.arg is not None for k in node.keywords)
        generated = node.func.id != "dict" and isinstance(next(iter(node.args), None), (ast.GeneratorExp, ast.ListComp))
        return [*node.args, *(k.value for k in node.keywords)] if known and (generated or not node.args) else None
    return branches(node)


def may_be_filled(source: Source, node: ast.Name | ast.Attribute, value: ast.expr) -> bool:
    """Whether a list or dict with this name is changed somewhere: ``specs["x"] = P("x")``, ``specs.append(...)``."""
    if not isinstance(value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.Call, ast.BinOp)):
        return False
    if isinstance(node, ast.Name):
        scope = source.lookup(node.id, source.scope(node))[1]
        same: list[ast.expr] = [n for n in source.by_id.get(node.id, ()) if source.lookup(n.id, source.scope(n))[1] is scope]
    else:
        same = list(source.by_attribute.get(node.attr, ()))
    return any(_fills(source.parent(n)) for n in same)


def _fills(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Attribute) and node.attr in _FILLING


def is_global(source: Source, node: ast.expr) -> bool:
    """Whether an argument is known to be a global array already."""
    value = source.value_of(node)
    if isinstance(value, ast.Starred):
        value = source.value_of(value.value)
    if isinstance(value, ast.Call):
        qualified = source.resolve(value.func) or ""
        if qualified.startswith("jax.make_array_from_") or qualified == HOST_LOCAL or qualified.startswith(GDA):
            return True
    return source.infer(node) in GDA_TYPES or _unpacked_global(source, node)


def _unpacked_global(source: Source, node: ast.expr) -> bool:
    """``a, b = host_local_array_to_global_array((a, b), ...)``."""
    if not isinstance(node, ast.Name):
        return False
    bindings = source.lookup(node.id, source.scope(node))[0]
    values = [b.statement.value for b in bindings if isinstance(b.statement, ast.Assign)]
    made = [v for v in values if isinstance(v, ast.Call) and source.resolve(v.func) == HOST_LOCAL]
    return bool(bindings) and len(made) == len(bindings)


@dataclass(frozen=True, slots=True)
class Unreadable(Exception):
    """A tree of specs that cannot be copied to another place; `node` is the part that is to blame."""

    node: ast.expr


def copied_spec(source: Source, node: ast.expr, at: ast.AST, depth: int = 6) -> Template:
    """A tree of specs as an argument for multihost_utils at another place, where None must be written ``P()``.

    Raises:
        Unreadable: it holds something else, or a name that means something else there.
    """
    changes = list(_spec_changes(source, node, at, depth))
    return spliced(source, node, changes)


def _spec_changes(source: Source, node: ast.expr, at: ast.AST, depth: int) -> Iterator[tuple[ast.expr, Template]]:
    children = branches(node)
    if not depth:
        raise Unreadable(node)
    if is_none(node):
        yield node, Template(f"{spec_name(source, at)}()")
    elif children is not None:
        for child in children:
            yield from _spec_changes(source, child, at, depth - 1)
    elif is_spec(source, node):
        _check_visible(source, node, at)
    elif isinstance(node, ast.Call) and source.resolve(node.func) in SHARDINGS and len(node.args) == 2:
        yield node, copied_spec(source, node.args[1], at, depth - 1)
    elif isinstance(node, (ast.Name, ast.Attribute)) and source.definition(node) is not None:
        value = source.value_of(node)
        same = not list(_spec_changes(source, value, at, depth - 1)) and is_visible(source, node, at)
        if not same:
            yield node, copied_spec(source, value, at, depth - 1)
    else:
        raise Unreadable(node)


def _check_visible(source: Source, node: ast.expr, at: ast.AST) -> None:
    if not is_visible(source, node, at):
        raise Unreadable(node)


def is_visible(source: Source, node: ast.expr, at: ast.AST) -> bool:
    """Whether every name of `node` means the same thing at `at`."""
    scope = source.scope(at)
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            here, there = source.lookup(part.id, source.scope(part)), source.lookup(part.id, scope)
            if part.id == "self" and source.enclosing_class(part) is source.enclosing_class(at):
                continue
            if here[1] is not there[1]:
                return False
    return True


def spliced(source: Source, root: ast.expr, changes: Iterable[tuple[ast.expr, Template]]) -> Template:
    """The text of `root` with some of its parts replaced."""
    start, end = source.span(root)
    text, pieces, at = "", dict[str, Piece](), start
    for number, (node, new) in enumerate(sorted(changes, key=lambda c: source.span(c[0]))):
        low, high = source.span(node)
        renamed = {name: f"{name}_{number}" for name in new.pieces}
        inner = re.sub(r"\{(\w+)\}", lambda m, names=renamed: f"{{{names.get(m[1], m[1])}}}", new.text)  # type: ignore[misc]
        text += escaped(source.utf8[at:low]) + inner
        pieces |= {renamed[name]: piece for name, piece in new.pieces.items()}
        at = high
    return Template(text + escaped(source.utf8[at:end]), pieces)


def escaped(text: bytes) -> str:
    """Source text as a template without holes."""
    return text.decode("utf-8").replace("{", "{{").replace("}", "}}")
