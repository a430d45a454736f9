"""Objects with `__jax_array__` are no arguments of jit, its like and most of jax.numpy any more since 0.8.0.

`jnp.asarray(x)` and operators with arrays still call the method. https://docs.jax.dev/en/latest/changelog.html (0.6.1, 0.8.0)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, Codemod, FileSite, Report, Rewrite
from jaxmigrate.model import Severity

from ._changes import before, has_star

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxmigrate.names import Source

codemod = Codemod(
    "jax-array-protocol",
    summary="objects with __jax_array__ must be made arrays before they are given to functions of JAX",
    since="0.8.0",
    deprecated="0.6.1",
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"__jax_array__"}),
    applicability=REVIEW,
)

_WHY = (
    "jax.jit and its like, and most functions of jax.numpy and jax.lax, do not call __jax_array__ of their arguments since 0.8.0"
)
_CONVERT = ("jax.numpy.asarray", "jax.numpy.array")


@codemod.file
@before("0.8.0")
def objects(site: FileSite) -> Iterator[Report]:
    """One finding for a class; where the file shows an object of it as an argument, an edit too."""
    for method in (n for n in ast.walk(site.node) if isinstance(n, ast.FunctionDef) and n.name == "__jax_array__"):
        owner = site.source.parent(method)
        if not isinstance(owner, ast.ClassDef):
            continue
        advice = f"a {owner.name} that is given to one must be made an array first: jnp.asarray(x)"
        yield site.manual(f"{_WHY}: {advice}", method, Severity.LOW)
        for given in _given(site.source, owner):
            yield Rewrite(_WHY, REVIEW, (site.replace("{jax.numpy.asarray}({x})", given, x=given),), given)


def _given(source: Source, owner: ast.ClassDef) -> Iterator[ast.expr]:
    """The objects of a class that functions of jax.numpy and jax.lax are given."""
    for call in (n for n in ast.walk(source.tree) if isinstance(n, ast.Call) and not has_star(n)):
        qualified = source.resolve(call.func) or ""
        module = qualified.rpartition(".")[0]
        if module in ("jax.numpy", "jax.lax", "jax.nn", "jax.numpy.linalg") and qualified not in _CONVERT:
            yield from (a for a in call.args if _is_object(source, a, owner))


def _is_object(source: Source, node: ast.expr, owner: ast.ClassDef) -> bool:
    """``self`` in a method of the class, what calls the class, and a parameter annotated with it."""
    if not isinstance(node, (ast.Name, ast.Call)):
        return False
    if isinstance(node, ast.Name) and node.id == "self":
        return source.enclosing_class(node) is owner
    made = source.value_of(node)
    if isinstance(made, ast.Call):
        return isinstance(made.func, ast.Name) and _is_class(source, made.func, owner)
    bindings, _ = source.lookup(node.id, source.scope(node)) if isinstance(node, ast.Name) else ([], None)
    argument = bindings[0].node if len(bindings) == 1 else None
    annotation = argument.annotation if isinstance(argument, ast.arg) else None
    return isinstance(annotation, ast.Name) and _is_class(source, annotation, owner)


def _is_class(source: Source, name: ast.Name, owner: ast.ClassDef) -> bool:
    bindings, _ = source.lookup(name.id, source.scope(name))
    return len(bindings) == 1 and bindings[0].node is owner
