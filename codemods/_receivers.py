"""What `jax.ops.index_update` is given: an array of JAX, which has `.at`, or something that has none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate_codemods._arrays import GLOBAL_DEVICE_ARRAYS, VALUE_TYPES

if TYPE_CHECKING:
    from jaxmigrate.names import Binding, Source

_ARRAYS = VALUE_TYPES | GLOBAL_DEVICE_ARRAYS
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPILING = ("jax.jit", "jax.pmap", "jax.experimental.pjit.pjit", "jax.api.jit")
_RUNNING = {
    **dict.fromkeys(_COMPILING, (0,)), "jax.lax.scan": (0,), "jax.lax.map": (0,), "jax.lax.fori_loop": (2,),
    "jax.lax.while_loop": (0, 1), "jax.lax.cond": (1, 2), "jax.lax.associative_scan": (0,),
}  # fmt: skip
"""Where these functions take functions, to all arguments of which they give tracers, which are arrays."""
_LIKE_ARRAYS = frozenset({"numpy.ndarray", "numpy.typing.NDArray", "numpy.typing.ArrayLike", "jax.typing.ArrayLike"})
"""What may be given for parameters of these types has no `.at`, or need not."""


def is_array(source: Source, node: ast.expr) -> bool:
    """Whether the value is known to be an array of JAX, which has `.at`."""
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return is_array(source, node.operand)
    if _is_update(node) or (source.infer(node) in _ARRAYS and not _is_only_updated(source, node)):
        return True
    bindings = source.lookup(node.id, source.scope(node))[0] if isinstance(node, ast.Name) else []
    return bool(bindings) and all(_binds_array(source, binding) for binding in bindings)


def _binds_array(source: Source, binding: Binding) -> bool:
    if binding.kind == "param":
        return _is_traced(source, binding.node)
    return binding.value is not None and (_is_update(binding.value) or source.infer(binding.value) in _ARRAYS)


def _is_only_updated(source: Source, node: ast.expr) -> bool:
    """Whether an attribute of self is assigned nothing but updates of itself, which tell nothing of its first value."""
    owner = source.enclosing_class(node)
    values = list(_values(source, node)) if isinstance(node, ast.Attribute) else []
    if owner is None or not values or any(not (_is_update(v) or _was_update(source, v)) for v in values):
        return False
    fields = (
        s.target if isinstance(s, ast.AnnAssign) else s.targets[0]
        for s in owner.body
        if isinstance(s, (ast.AnnAssign, ast.Assign))
    )
    return not any(isinstance(f, ast.Name) and f.id == getattr(node, "attr", "") for f in fields)


def _was_update(source: Source, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and (source.resolve(node.func) or "").startswith("jax.ops.index_")


def _is_update(node: ast.expr) -> bool:
    """Whether it is ``x.at[...].set(...)``, which nothing but an array of JAX has."""
    function = node.func if isinstance(node, ast.Call) else None
    place = function.value if isinstance(function, ast.Attribute) else None
    return isinstance(place, ast.Subscript) and isinstance(place.value, ast.Attribute) and place.value.attr == "at"


def is_no_array(source: Source, node: ast.expr) -> bool:
    """Whether the value is known to be something that has no `.at`, always or on one of the ways to this place."""
    if is_array(source, node):
        return False
    if isinstance(node, ast.Name) and any(_is_annotated(source, b.node) for b in source.lookup(node.id, source.scope(node))[0]):
        return True
    return any(_is_foreign(source.infer(value)) for value in (node, *_values(source, node), *_given(source, node)))


def _is_annotated(source: Source, parameter: ast.AST) -> bool:
    """Whether a parameter is said to be something else than an array of JAX, or possibly so."""
    annotation = parameter.annotation if isinstance(parameter, ast.arg) else None
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = source.quoted(annotation)
    parts = ast.walk(annotation) if annotation is not None else ()
    return any(source.resolve(part) in _LIKE_ARRAYS for part in parts if isinstance(part, (ast.Name, ast.Attribute)))


def _values(source: Source, node: ast.expr) -> Iterator[ast.expr]:
    """What a name or an attribute of self is assigned in several places."""
    if isinstance(node, ast.Name):
        yield from (b.value for b in source.lookup(node.id, source.scope(node))[0] if b.value is not None)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        owner = source.enclosing_class(node)
        for other in source.by_attribute.get(node.attr, ()):
            statement = source.parent(other)
            if isinstance(statement, ast.Assign) and other in statement.targets and source.enclosing_class(other) is owner:
                yield statement.value


def _is_foreign(kind: str | None) -> bool:
    return kind is not None and (kind in ("numpy.ndarray", "?other") or kind.startswith(("builtins.", "list[")))


def _given(source: Source, node: ast.expr) -> Iterator[ast.expr]:
    return _arguments(source, node) if isinstance(node, ast.Name) else iter(())


def _is_traced(source: Source, parameter: ast.AST) -> bool:
    """Whether the parameter's function is only run with tracers."""
    function = source.parent(source.parent(parameter) or parameter)
    if isinstance(function, ast.Lambda):
        return _is_run_by(source, function)
    if not isinstance(function, _FUNCTIONS):
        return False
    if any(_compiles(source, decorator) for decorator in function.decorator_list):
        return True
    scope = source.scope(function)
    uses = [n for n in source.by_id.get(function.name, ()) if source.lookup(n.id, source.scope(n))[1] is scope]
    return bool(uses) and not scope.is_class and all(_is_run_by(source, use) for use in uses)


def _compiles(source: Source, decorator: ast.expr) -> bool:
    """``@jax.jit``, ``@partial(jax.jit, ...)``, without static arguments."""
    if not isinstance(decorator, ast.Call):
        return source.resolve(decorator) in _COMPILING
    if any((k.arg or "static").startswith("static") for k in decorator.keywords):
        return False
    names = [decorator.func, *decorator.args[:1]]
    return any(source.resolve(n) in _COMPILING for n in names if isinstance(n, (ast.Name, ast.Attribute)))


def _is_run_by(source: Source, use: ast.AST) -> bool:
    """Whether the function is given to one that runs it with tracers."""
    call = source.parent(use)
    if (
        not isinstance(call, ast.Call)
        or use not in call.args
        or any((k.arg or "static").startswith("static") for k in call.keywords)
    ):
        return False
    return call.args.index(use) in _RUNNING.get(source.resolve(call.func) or "", ())


def _arguments(source: Source, name: ast.Name) -> Iterator[ast.expr]:
    """What calls in this file give for a parameter, and its default."""
    for binding in source.lookup(name.id, source.scope(name))[0]:
        function = source.parent(source.parent(binding.node) or name)
        if binding.kind != "param" or not isinstance(function, _FUNCTIONS):
            continue
        parameters = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        defaults = [*zip(reversed(parameters), reversed(function.args.defaults), strict=False)]
        yield from (default for parameter, default in defaults if parameter == name.id)
        if isinstance(source.scope(function).node, ast.ClassDef):
            del parameters[:1]
        for call in source.callers(function)[0]:
            yield from (k.value for k in call.keywords if k.arg == name.id)
            plain = call.args[: next((i for i, a in enumerate(call.args) if isinstance(a, ast.Starred)), len(call.args))]
            yield from (a for parameter, a in zip(parameters, plain, strict=False) if parameter == name.id)
