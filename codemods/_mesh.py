"""Which mesh is in force where a function is called, where it can be named, and what else looks at it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Piece, ReplaceText
from jaxmigrate_codemods._pjit import (
    CONSTRAINT,
    LAX_CONSTRAINT,
    PJIT,
    SHARDINGS,
    function_body,
    is_partial,
    is_visible,
    line,
    use_of,
)

if TYPE_CHECKING:
    from jaxmigrate.names import Source

MESHES = frozenset(
    {
        "jax.sharding.Mesh", "jax.experimental.maps.Mesh", "jax.interpreters.pxla.Mesh", "jax.experimental.pjit.Mesh",
        "jax.experimental.sharding.Mesh", "jax._src.mesh.Mesh", "jax._src.sharding.Mesh", "jax._src.interpreters.pxla.Mesh",
    }
)  # fmt: skip
_MESH_CONTEXT = "jax.experimental.maps.mesh"
"""Until 0.3.7 a function that gave a context, not a mesh."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLIND_MODULES = (
    "functools", "numpy", "math", "time", "os", "sys", "logging", "json", "itertools", "collections", "operator", "random", "re",
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
    "jax.tree_map": (0,), "jax.tree_util.tree_map": (0,),
}  # fmt: skip
"""Where these functions take functions, which they run."""
_ITERATING = frozenset({"enumerate", "list", "range", "reversed", "sorted", "tuple", "zip"})
_CONTEXTS = ("jax.experimental.maps.", "jax.interpreters.pxla.thread_resources", "jax._src.mesh.thread_resources")
_CONSTRAINTS = (*CONSTRAINT, LAX_CONSTRAINT)


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The mesh that is in force at a place."""

    key: tuple[object, ...]
    """Equal for expressions that are provably the same mesh."""
    mesh: Piece
    """How it is spelled there."""
    withs: tuple[ast.With, ...]
    """The statements that put it in force."""
    binds: ReplaceText | None = None
    """What gives it that name, where it had none: ``with Mesh(...) as mesh:``."""


def is_mesh(source: Source, node: ast.expr) -> bool:
    """Whether the value is known to be a Mesh."""
    value = source.value_of(node)
    if isinstance(value, ast.Call) and source.resolve(value.func) in (*MESHES, _MESH_CONTEXT):
        return source.resolve(value.func) != _MESH_CONTEXT
    return source.infer(node) == "jax.sharding.Mesh" or _used_as_mesh(source, node)


def has_automatic_axes(source: Source, node: ast.expr) -> bool:
    """Whether the mesh is made by the constructor, whose axes are of the old kind (those of `jax.make_mesh` are explicit)."""
    made = source.value_of(node)
    plain = isinstance(made, ast.Call) and source.resolve(made.func) in MESHES
    return plain and isinstance(made, ast.Call) and all(k.arg in ("devices", "axis_names") for k in made.keywords)


def _used_as_mesh(source: Source, node: ast.expr) -> bool:
    """Whether the file asks this very name for what only a mesh has."""
    if not isinstance(node, ast.Name):
        return False
    scope = source.lookup(node.id, source.scope(node))[1]
    attributes = (a for word in ("axis_names", "device_ids") for a in source.by_attribute.get(word, ()))
    owners = [a.value for a in attributes if isinstance(a.value, ast.Name) and a.value.id == node.id]
    return any(source.lookup(node.id, source.scope(owner))[1] is scope for owner in owners)


def key_of(source: Source, node: ast.expr) -> tuple[object, ...] | None:
    """Identity of a mesh expression: a name bound once, or an attribute of self assigned once."""
    if isinstance(node, ast.Name):
        bindings, scope = source.lookup(node.id, source.scope(node))
        return ("name", node.id, scope) if scope is not None and len(bindings) == 1 else None
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"):
        return None
    known = source.definition(node) is not None and not _set_from_outside(source, node.attr)
    return ("self", node.attr, source.enclosing_class(node)) if known else None


def _set_from_outside(source: Source, attribute: str) -> bool:
    """Whether some object other than self is given this attribute."""
    stores = (a for a in source.by_attribute.get(attribute, ()) if not isinstance(a.ctx, ast.Load))
    return any(not (isinstance(a.value, ast.Name) and a.value.id == "self") for a in stores)


def enclosing(source: Source, node: ast.AST, *, strict: bool = True) -> Context | None:
    """The mesh of the innermost ``with`` around `node` in the same function.

    `strict` wants proof that it is a mesh; otherwise a name that says so is enough.
    """
    for statement, item in source.enclosing_withs(node):
        if isinstance(statement, ast.AsyncWith):
            continue
        plain = key_of(source, item.context_expr) is not None or not isinstance(item.optional_vars, ast.Name)
        mesh = item.context_expr if plain else item.optional_vars
        assert mesh is not None
        known = is_mesh(source, item.context_expr) or (not strict and "mesh" in _last_name(item.context_expr).lower())
        if known and isinstance(mesh, ast.Call):
            return _named_here(source, statement, mesh)
        if known:
            return Context(key_of(source, mesh) or ("unknown", statement), mesh, (statement,))
    return None


def _named_here(source: Source, statement: ast.With, made: ast.Call) -> Context:
    name = next((n for n in ("mesh", "device_mesh") if _is_free(source, n)), None)
    if name is None or source.resolve(made.func) not in MESHES:
        return Context(("unknown", statement), made, (statement,))
    end = source.span(made)[1]
    return Context(("with", statement), name, (statement,), ReplaceText(end, end, f" as {name}"))


def _is_free(source: Source, name: str) -> bool:
    """Whether nothing in the file goes by this name."""
    return not source.mentions(name) and name not in (n.arg for n in ast.walk(source.tree) if isinstance(n, ast.arg))


def near(source: Source, call: ast.AST, made_at: ast.AST) -> Context | None:
    """The mesh to name at a call: of the context there, of all callers around it, or of where the function was made."""
    found = (enclosing(source, call, strict=False), at_call(source, call), enclosing(source, made_at, strict=False))
    for context in found:
        if context is None or context.key[0] == "unknown":
            continue
        inside = context.withs[0] in source.ancestors(call)
        if inside if isinstance(context.mesh, str) else is_visible(source, context.mesh, call):
            return context
    return None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def at_call(source: Source, node: ast.AST, depth: int = 4) -> Context | None:
    """The mesh in force when `node` is evaluated, also seen from all callers of the function around it."""
    found = enclosing(source, node)
    if found is not None or depth == 0:
        return found
    function = source.function(node)
    if function is None:
        return None
    places = _run_from(source, function)
    contexts = [at_call(source, place, depth - 1) for place in places or ()]
    first = next(iter(contexts), None)
    if first is None or any(c is None or c.key != first.key for c in contexts):
        return None
    return Context(first.key, first.mesh, tuple(dict.fromkeys(w for c in contexts if c for w in c.withs)), first.binds)


def _run_from(source: Source, function: ast.AST) -> list[ast.AST] | None:
    """Every place from which the body of `function` is run; None when that cannot be told."""
    if isinstance(function, ast.Lambda):
        return _wrapped_at(source, function)
    assert isinstance(function, _FUNCTIONS)
    scope = source.scope(function)
    if isinstance(scope.node, ast.ClassDef) or (scope.node is source.tree and _is_consumed(source, function.name)):
        return None
    decorators = [d for d in function.decorator_list if _pjit_in(source, d) is None]
    if decorators:
        return None
    places: list[ast.AST] = []
    for decorator in function.decorator_list:
        use = use_of(source, _pjit_in(source, decorator) or decorator)
        if use is None or use.made.leak is not None:
            return None
        places += [c.call for c in use.made.calls]
    for node in source.by_id.get(function.name, ()):
        if isinstance(node.ctx, ast.Load) and source.lookup(node.id, source.scope(node))[1] is scope:
            parent = source.parent(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                places.append(parent)
                continue
            wrapped = _wrapped_at(source, node)
            if wrapped is None:
                return None
            places += wrapped
    return places


def _is_consumed(source: Source, name: str) -> bool:
    return name in source.index.consumed.get(source.module, ())


def _pjit_in(source: Source, decorator: ast.expr) -> ast.expr | None:
    """The reference to pjit in a decorator such as ``@pjit`` or ``@partial(pjit, ...)``."""
    if source.resolve(decorator) in PJIT:
        return decorator
    if isinstance(decorator, ast.Call) and decorator.args and is_partial(source, decorator):
        return decorator.args[0] if source.resolve(decorator.args[0]) in PJIT else None
    return None


def _wrapped_at(source: Source, node: ast.AST) -> list[ast.AST] | None:
    """The calls of the pjit-ed function that `node` is wrapped into."""
    parent = source.parent(node)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node] and source.resolve(parent.func) in PJIT:
        use = use_of(source, parent.func)
        if use is not None and use.made.leak is None:
            return [c.call for c in use.made.calls]
    return None


def speakable(source: Source, context: Context, at: ast.AST) -> bool:
    """Whether the mesh can be named at `at`, where a pjit-ed function is made: bound before it, and the same binding."""
    kind, name, owner = (*context.key, None, None)[:3]
    if kind == "with":
        return any(a is name for a in source.ancestors(at))
    if kind == "self":
        function = source.function(at)
        if source.enclosing_class(at) is not owner or function is None or isinstance(function, ast.Lambda):
            return False
        return _assigned_before(source, str(name), function, at)
    if kind != "name":
        return False
    bindings, scope = source.lookup(str(name), source.scope(at))
    if scope is not owner or not bindings:
        return False
    binding = bindings[0]
    if scope is not source.scope(at) or binding.statement is None:  # runs later than the binding, or a parameter
        return True
    block = source.parent(binding.statement)
    if isinstance(binding.statement, ast.With):
        block = binding.statement
    return any(a is block for a in source.ancestors(at)) and line(binding.statement) <= line(at)


def _assigned_before(source: Source, attribute: str, function: ast.AST, at: ast.AST) -> bool:
    """Whether ``self.attribute`` has its value at `at`; assigned in another method counts as earlier."""
    owner = source.enclosing_class(at)
    for node in source.by_attribute.get(attribute, ()):
        if isinstance(node.ctx, ast.Store) and source.enclosing_class(node) is owner and source.function(node) is function:
            return bool(line(node) < line(at))
    return True


@dataclass(slots=True, eq=False)
class Needs:
    """Why a piece of code needs the mesh of its context."""

    constraints: list[ast.Call] = field(default_factory=list)
    """Calls of with_sharding_constraint with a bare spec: any mesh context serves them."""
    other: list[ast.AST] = field(default_factory=list)
    """Anything that may look at it for all one can see."""


def needs_of(source: Source, roots: Collection[ast.AST], converted: Collection[ast.Call]) -> Needs:
    """What of this code may look at the context's mesh, `converted` calls (which no longer do) apart."""
    needs = Needs()
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


def header_end(source: Source, statement: ast.With) -> int | None:
    """Offset just behind the line of ``with ...:``; None when the body begins on it or a comment stands there."""
    first = statement.body[0]
    last_item = statement.items[-1]
    after = source.span(last_item.optional_vars or last_item.context_expr)[1]
    end = source.offset(line(first), 0)
    between = source.utf8[after:end]
    heading, _, _ = between.partition(b"\n")
    return after + len(heading) + 1 if heading.strip(b" \t\r") == b":" else None


def is_droppable(source: Source, statement: ast.With) -> bool:
    """Whether the statement holds nothing but the mesh, and can be taken out of its lines."""
    if len(statement.items) != 1 or statement.items[0].optional_vars is not None:
        return False
    return isinstance(statement.items[0].context_expr, (ast.Name, ast.Attribute)) and header_end(source, statement) is not None


def dedented(source: Source, statement: ast.With) -> list[tuple[int, int]]:
    """The byte ranges to delete so that the body takes the place of the ``with``: its heading, and one indentation a line."""
    start = source.offset(line(statement), 0)
    body_start = header_end(source, statement)
    assert body_start is not None
    width = statement.body[0].col_offset - statement.col_offset
    ranges = [(start, body_start)]
    inside = _string_lines(statement)
    begin = source.position(body_start).line
    for number in range(begin, _last_line(source, statement) + 1):
        at = source.offset(number, 0)
        leading = source.utf8[at : at + width]
        if number not in inside and leading.isspace() and not leading.strip(b" \t") and len(leading) == width:
            ranges.append((at, at + width))
    return ranges


def _last_line(source: Source, statement: ast.With) -> int:
    """The last line of the body, comments below it at its indentation included."""
    last = statement.end_lineno or statement.lineno
    column = statement.body[0].col_offset
    for number in range(last + 1, len(source.line_starts) + 1):
        start = source.offset(number, 0)
        text = source.utf8[start:].partition(b"\n")[0]
        bare = text.strip()
        if bare and not (bare.startswith(b"#") and len(text) - len(text.lstrip()) >= column):
            return last
        last = number if bare else last
    return last


def _string_lines(statement: ast.AST) -> set[int]:
    """The lines that begin inside a string, whose blanks are part of it."""
    found: set[int] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))):
            found.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return found
