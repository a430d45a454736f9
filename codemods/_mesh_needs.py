"""What a piece of code needs the mesh of its context for."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxmigrate.codemod import last_part
from jaxmigrate_codemods._mesh import MESHES
from jaxmigrate_codemods._pjit import CONSTRAINT, LAX_CONSTRAINT, function_body
from jaxmigrate_codemods._specs import SHARDINGS

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_BLIND_MODULES = (
    "functools", "numpy", "math", "time", "os", "sys", "logging", "json", "collections", "random", "re",
    "jax.numpy", "jax.random", "jax.nn", "jax.tree", "jax.scipy", "jax.sharding", "jax.dtypes",
    "jax.experimental.multihost_utils",
)  # fmt: skip
"""Packages whose functions do not look at the mesh of the context."""
_BLIND = frozenset(
    {
        "jax.block_until_ready", "jax.device_count", "jax.device_get", "jax.device_put", "jax.devices", "jax.local_device_count",
        "jax.local_devices", "jax.make_array_from_callback", "jax.make_array_from_process_local_data",
        "jax.make_array_from_single_device_arrays", "jax.process_count", "jax.process_index", "jax.config.update",
        "jax.profiler.start_trace", "jax.profiler.stop_trace", "jax.tree_util.tree_map", "jax.tree_util.tree_leaves",
    }
)  # fmt: skip
_ARRAY_METHODS = frozenset(
    {
        "addressable_data", "all", "any", "argmax", "argmin", "astype", "block_until_ready", "copy_to_host_async", "is_deleted",
        "item", "max", "mean", "min", "ravel", "reshape", "squeeze", "std", "sum", "tolist", "transpose",
    }
)  # fmt: skip
"""Methods that only arrays have, or that look at nothing else even where something else has them."""
_FUNCTIONS_AT = {
    "functools.partial": (0,), "functools.reduce": (0,), "jax.lax.associative_scan": (0,), "jax.lax.cond": (1, 2),
    "jax.lax.custom_linear_solve": (0, 2, 3), "jax.lax.custom_root": (0, 2, 3), "jax.lax.fori_loop": (2,), "jax.lax.map": (0,),
    "jax.lax.reduce": (2,), "jax.lax.scan": (0,), "jax.lax.switch": (1,), "jax.lax.while_loop": (0, 1),
    "jax.make_array_from_callback": (2,), "jax.numpy.apply_along_axis": (0,), "jax.numpy.vectorize": (0,), "jax.tree.map": (0,),
    "jax.tree_map": (0,), "jax.tree_util.tree_map": (0,), "numpy.apply_along_axis": (0,), "numpy.fromfunction": (0,),
    "numpy.vectorize": (0,),
}  # fmt: skip
"""Where these functions take functions, which they run."""
_ITERATING = frozenset({"enumerate", "list", "range", "reversed", "sorted", "tuple", "zip"})
_CONTEXTS = ("jax.experimental.maps.", "jax.interpreters.pxla.thread_resources", "jax._src.mesh.thread_resources")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FALLBACKS = ("__getattr__", "__getattribute__")
_CONSTRAINTS = (*CONSTRAINT, LAX_CONSTRAINT)


@dataclass(slots=True, eq=False)
class Needs:
    """Why a piece of code needs the mesh of its context."""

    classes: list[ast.ClassDef]
    """All of the file, whose properties run code when they are read."""
    constraints: list[ast.Call] = field(default_factory=list)
    """Calls of with_sharding_constraint with a bare spec: any mesh context serves them."""
    other: list[ast.AST] = field(default_factory=list)
    """Anything that may look at it for all one can see."""


def needs_of(source: Source, roots: Collection[ast.AST], converted: Collection[ast.Call]) -> Needs:
    """What of this code may look at the context's mesh, `converted` calls (which no longer do) apart."""
    needs = Needs([c for c in ast.walk(source.tree) if isinstance(c, ast.ClassDef)])
    seen: set[ast.AST] = set()
    stack = list(roots)
    while stack:
        root = stack.pop()
        if root in seen:
            continue
        seen.add(root)
        for node in ast.walk(root):
            stack.extend(_look(source, node, converted, needs))
    return needs


def _look(source: Source, node: ast.AST, converted: Collection[ast.Call], needs: Needs) -> Iterator[ast.AST]:
    """Judge one node; gives the bodies of local functions that it runs."""
    if isinstance(node, ast.Call) and node not in converted:
        yield from _look_at_call(source, node, needs)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        if not _is_plain_iterable(source, node.iter):
            needs.other.append(node.iter)
    elif isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.With, ast.AsyncWith, ast.Import, ast.ImportFrom)):
        needs.other.append(node)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        qualified = source.resolve(node) or ""
        if qualified.startswith(_CONTEXTS) and qualified not in MESHES:
            needs.other.append(node)
        elif isinstance(node, ast.Attribute) and not qualified:
            yield from _look_at_attribute(source, node, needs)


def _look_at_attribute(source: Source, node: ast.Attribute, needs: Needs) -> Iterator[ast.AST]:
    """The functions behind an attribute that runs some: the properties of this name, `__getattr__` where nothing sets it."""
    for statement in (s for owner in _classes_of(source, node, needs.classes) for s in owner.body):
        if isinstance(statement, _DEFINITIONS) and statement.name == node.attr:
            yield from _run_by_reading(source, statement, node, needs)
        elif isinstance(statement, ast.Assign) and node.attr in (t.id for t in statement.targets if isinstance(t, ast.Name)):
            yield from _run_by_property(source, statement.value, node, needs)
        elif isinstance(statement, _DEFINITIONS) and statement.name in _FALLBACKS and _is_of_self(node):
            yield from () if _is_set(source, node.attr, needs.classes) else statement.body


def _run_by_reading(source: Source, definition: ast.AST, node: ast.Attribute, needs: Needs) -> Iterator[ast.AST]:
    """The body of a property; a decorator that one does not know may make anything of a definition."""
    assert isinstance(definition, _DEFINITIONS)
    for decorator in definition.decorator_list:
        made_by = decorator.func if isinstance(decorator, ast.Call) else decorator
        qualified = source.resolve(made_by) or ""
        name = last_part(made_by)
        if "property" in (qualified or name).rpartition(".")[2] or name in ("setter", "deleter", "getter"):
            yield from definition.body
        elif not qualified.startswith(("jax.", "functools.", "contextlib.")) and name not in ("staticmethod", "classmethod"):
            needs.other.append(node)


def _run_by_property(source: Source, value: ast.expr, node: ast.Attribute, needs: Needs) -> Iterator[ast.AST]:
    """The functions of ``name = property(read, write)`` in a class."""
    if not isinstance(value, ast.Call) or "property" not in last_part(value.func):
        return
    for argument in (*value.args, *(k.value for k in value.keywords)):
        body = function_body(source, argument)
        if body is None or (isinstance(body, _DEFINITIONS) and body.decorator_list):
            needs.other.append(node)
        else:
            yield body


def _classes_of(source: Source, node: ast.Attribute, classes: list[ast.ClassDef]) -> list[ast.ClassDef]:
    """The classes of this file that may define an attribute; those related to its own for ``self``."""
    if (source.infer(node.value) or "").startswith(("jax.", "numpy.", "builtins.", "list[")):
        return []
    own = source.enclosing_class(node)
    if own is None or not _is_of_self(node):
        return classes
    return [c for c in classes if c is own or _extends(own, c, classes) or _extends(c, own, classes)]


def _is_of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _extends(cls: ast.ClassDef, base: ast.ClassDef, classes: list[ast.ClassDef], depth: int = 8) -> bool:
    names = {b.id for b in cls.bases if isinstance(b, ast.Name)}
    if base.name in names:
        return True
    return depth > 0 and any(_extends(c, base, classes, depth - 1) for c in classes if c.name in names and c is not cls)


def _is_set(source: Source, attribute: str, classes: list[ast.ClassDef]) -> bool:
    """Whether the file gives some object this attribute, or a class defines it."""
    if any(not isinstance(a.ctx, ast.Load) for a in source.by_attribute.get(attribute, ())):
        return True
    return any(isinstance(s, _DEFINITIONS) and s.name == attribute for c in classes for s in c.body)


def _look_at_call(source: Source, call: ast.Call, needs: Needs) -> Iterator[ast.AST]:
    qualified = source.resolve(call.func)
    if qualified in _CONSTRAINTS:
        if not _brings_mesh(source, call):
            needs.constraints.append(call)
    elif qualified is not None and _is_blind(qualified):
        for position in _FUNCTIONS_AT.get(qualified, ()):
            yield from _run_by(source, call, position, needs)
    elif (body := function_body(source, call.func)) is not None and not getattr(body, "decorator_list", ()):
        yield body
    elif not _is_blind_builtin(source, call.func) and not _is_blind_method(source, call.func):
        needs.other.append(call)


def _brings_mesh(source: Source, constraint: ast.Call) -> bool:
    """Whether with_sharding_constraint is given a sharding, not a bare spec."""
    given = constraint.args[1] if len(constraint.args) > 1 else next((k.value for k in constraint.keywords), None)
    value = source.value_of(given) if given is not None else None
    return isinstance(value, ast.Call) and source.resolve(value.func) in SHARDINGS


def _run_by(source: Source, call: ast.Call, position: int, needs: Needs) -> Iterator[ast.AST]:
    """The function that a higher-order one is given."""
    given = call.args[position] if position < len(call.args) else None
    elements = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
    for element in elements:
        body = function_body(source, element) if element is not None else None
        if body is not None and not getattr(body, "decorator_list", ()):
            yield body
        elif element is None or not _is_blind(source.resolve(element) or ""):
            needs.other.append(call)


def _is_blind_builtin(source: Source, function: ast.expr) -> bool:
    if not isinstance(function, ast.Name) or source.lookup(function.id, source.scope(function))[0]:
        return False
    return hasattr(builtins, function.id) and function.id not in ("eval", "exec", "__import__", "map", "filter", "next", "iter")


def _is_blind_method(source: Source, function: ast.expr) -> bool:
    """A method of an array, of a literal or of what NumPy made."""
    if not isinstance(function, ast.Attribute) or source.resolve(function) is not None:
        return False
    if function.attr in _ARRAY_METHODS:
        return True
    if isinstance(function.value, ast.Subscript) and _is_at(function.value.value):
        return True
    value = source.value_of(function.value)
    kind = source.infer(function.value) or ""
    if isinstance(value, (ast.Constant, ast.Dict, ast.List, ast.Set, ast.JoinedStr)) or kind.startswith(("builtins.", "list[")):
        return True
    return isinstance(value, ast.Call) and (source.resolve(value.func) or "").startswith("numpy.")


def _is_at(node: ast.expr) -> bool:
    """``x.at``, of ``x.at[i].set(v)``."""
    return isinstance(node, ast.Attribute) and node.attr == "at"


def _is_blind(qualified: str) -> bool:
    """Whether a function does not look at the mesh of the context."""
    if qualified in _BLIND or qualified in MESHES or qualified.rpartition(".")[2] in ("PartitionSpec", "NamedSharding"):
        return True
    if qualified.startswith("jax.lax."):
        return bool(qualified != LAX_CONSTRAINT)
    return any(qualified == m or qualified.startswith(m + ".") for m in _BLIND_MODULES)


def _is_plain_iterable(source: Source, node: ast.expr) -> bool:
    """Whether iterating over it runs no code that one cannot see."""
    value = source.value_of(node)
    if isinstance(value, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.DictComp, ast.Constant)):
        return True
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Name) and value.func.id in _ITERATING:
            return value.func.id == "range" or all(_is_plain_iterable(source, a) for a in value.args)
        if isinstance(value.func, ast.Attribute) and value.func.attr in ("items", "keys", "values") and not value.args:
            return _is_plain_iterable(source, value.func.value)
        return (source.resolve(value.func) or "").startswith(("numpy.", "jax.numpy.", "jax.devices", "jax.random."))
    return isinstance(node, ast.Attribute) and node.attr in ("addressable_shards", "shape", "local_shards", "global_shards")
