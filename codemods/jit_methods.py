"""`lower` and `trace` belong to what `jax.jit` gives: functions around that have them no more since 0.6.0.

https://docs.jax.dev/en/latest/changelog.html (0.6.0)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import MANUAL, AttributeSite, Codemod, Reports

from ._changes import before

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "jit-methods",
    summary="lower and trace of a transformed function: jit must be the last transformation",
    since="0.6.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"lower", "trace"}),
    applicability=MANUAL,
)

_JIT = ("jax.jit", "jax.pmap", "jax.experimental.pjit.pjit", "jax.pjit")
_AROUND = (
    "jax.grad", "jax.value_and_grad", "jax.vmap", "jax.checkpoint", "jax.remat", "jax.jacfwd", "jax.jacrev", "jax.hessian",
    "functools.wraps",
)  # fmt: skip


@codemod.attribute("lower", "trace")
@before("0.6.0")
def of_what_is_around(site: AttributeSite) -> Reports:
    """``jax.grad(jax.jit(f)).lower(x)``, which lowered f."""
    outer = _outermost(site.source, site.value)
    if site.call() is None or outer is None or outer[0] not in _AROUND or not _holds_jit(site.source, outer[1]):
        return None
    around = outer[0].rpartition(".")[2]
    return site.manual(
        f"a function that {around} makes has no {site.symbol} since 0.6.0, and had that of the function inside: apply jit last"
    )


def _outermost(source: Source, node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """The last transformation of a function, and what it is given."""
    made = source.value_of(node)
    if isinstance(made, ast.Call):
        return source.resolve(made.func) or "", made.args[:1]
    bindings, _ = source.lookup(made.id, source.scope(made)) if isinstance(made, ast.Name) else ([], None)
    function = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
        return None
    first, *others = function.decorator_list
    arguments = first.args[:1] if isinstance(first, ast.Call) else []
    return _called(source, first), [*arguments, *others]


def _holds_jit(source: Source, inner: list[ast.expr]) -> bool:
    """Whether one of the inner functions is what jit made."""
    for node in inner:
        if _called(source, source.value_of(node)) in _JIT:
            return True
        further = _outermost(source, node)
        if further is not None and (further[0] in _JIT or _holds_jit(source, further[1])):
            return True
    return False


def _called(source: Source, node: ast.expr) -> str:
    """The transformation, also when it is called or given to partial."""
    if not isinstance(node, ast.Call):
        return source.resolve(node) or ""
    called = source.resolve(node.func) or ""
    return source.resolve(node.args[0]) or "" if called == "functools.partial" and node.args else called
