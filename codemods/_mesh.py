"""Which mesh is in force where a function is called, and where it can be named."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Piece, ReplaceText, last_part
from jaxmigrate_codemods._pjit import PJIT, is_partial, line, use_of
from jaxmigrate_codemods._specs import is_visible

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
        known = is_mesh(source, item.context_expr) or (not strict and "mesh" in last_part(item.context_expr).lower())
        if known and isinstance(mesh, ast.Call):
            return _named_here(source, statement, mesh)
        if known:
            return Context(key_of(source, mesh) or ("unknown", statement), mesh, (statement,))
    return None


def suspect(source: Source, node: ast.AST) -> ast.expr | None:
    """What a ``with`` around `node` enters that may be a mesh or not: its name says so, or it is a parameter of unknown type."""
    for _, item in source.enclosing_withs(node):
        entered = item.context_expr
        bindings = source.lookup(entered.id, source.scope(entered))[0] if isinstance(entered, ast.Name) else []
        parameter = bool(bindings) and all(b.kind == "param" for b in bindings)
        if source.infer(entered) is None and (parameter or "mesh" in last_part(entered).lower()):
            return entered
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
    for context in _candidates(source, call, made_at):
        if context is None or context.key[0] == "unknown":
            continue
        inside = context.withs[0] in source.ancestors(call)
        if inside if isinstance(context.mesh, str) else is_visible(source, context.mesh, call):
            return context
    return None


def _candidates(source: Source, call: ast.AST, made_at: ast.AST) -> Iterator[Context | None]:
    yield enclosing(source, call, strict=False)
    yield at_call(source, call)
    yield enclosing(source, made_at, strict=False)
    function = source.function(call)
    while function is not None:  # a lambda or def under a mesh most likely is for that mesh
        yield enclosing(source, function, strict=False)
        function = source.function(function)


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
