"""Objects with `__jax_array__` are no arguments of jit, its like and most of jax.numpy any more since 0.8.0.

`jnp.asarray(x)` and operators with arrays still call the method. https://docs.jax.dev/en/latest/changelog.html (0.6.1, 0.8.0)
"""

from __future__ import annotations

import ast
import re
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
_TREES = frozenset(
    f"jax.{name}"
    for name in (
        *("numpy.copy", "numpy.iterable", "numpy.isscalar", "numpy.ndim", "numpy.shape", "numpy.size", "numpy.vectorize"),
        *("numpy.apply_along_axis", "numpy.apply_over_axes", "numpy.frompyfunc", "numpy.piecewise", "numpy.save"),
        *("lax.associative_scan", "lax.cond", "lax.custom_linear_solve", "lax.custom_root", "lax.fori_loop", "lax.map"),
        *("lax.optimization_barrier", "lax.reduce", "lax.scan", "lax.stop_gradient", "lax.switch", "lax.while_loop"),
        *("lax.all_gather", "lax.all_to_all", "lax.pbroadcast", "lax.pcast", "lax.pmax", "lax.pmean", "lax.pmin"),
        *("lax.ppermute", "lax.pshuffle", "lax.psum", "lax.psum_scatter", "lax.pswapaxes", "lax.pvary", "lax.composite"),
        *("lax.with_sharding_constraint", "lax.ragged_all_to_all", "lax.all_gather_invariant", "lax.psum_invariant"),
    )
)
"""What takes trees, functions or objects of any kind, of modules whose other functions take arrays."""
_REGISTERING = re.compile(r"register_(pytree|static|dataclass)")


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
        for given in () if _is_tree(site.source, owner) else _given(site.source, owner):
            yield Rewrite(_WHY, REVIEW, (site.replace("{jax.numpy.asarray}({x})", given, x=given),), given)


def _is_tree(source: Source, owner: ast.ClassDef) -> bool:
    """Whether objects of a class may be trees of arrays, which go through functions that take trees as they are."""
    inherits = any(getattr(base, "id", "") != "object" for base in owner.bases) or bool(owner.keywords)
    return inherits or bool(owner.decorator_list) or bool(_REGISTERING.search(source.text))


def _given(source: Source, owner: ast.ClassDef) -> Iterator[ast.expr]:
    """The objects of a class that functions of jax.numpy and jax.lax are given."""
    for call in (n for n in ast.walk(source.tree) if isinstance(n, ast.Call) and not has_star(n)):
        qualified = source.resolve(call.func) or ""
        module = qualified.rpartition(".")[0]
        takes_any = qualified in _CONVERT or qualified in _TREES
        if module in ("jax.numpy", "jax.lax", "jax.nn", "jax.numpy.linalg") and not takes_any:
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
