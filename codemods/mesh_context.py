"""``with mesh:`` is deprecated, and `jax.set_mesh` is no drop-in for it; `jax.sharding.use_mesh` is `jax.set_mesh`.

https://docs.jax.dev/en/latest/changelog.html (0.7.1, 0.10.1)

Under `jax.set_mesh` whatever is made of numbers, or computed from what is not on the mesh, lies on all devices of the mesh, where
it lay on one under ``with mesh:``; pjit and `thread_resources` do not see it, and pmap refuses to run. So the edit is unsafe, and
offered where the block makes no arrays itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, UNSAFE, AttributeSite, CallSite, Codemod, FileSite, NameSite, Reports, Rewrite
from jaxmigrate.model import Severity
from jaxmigrate_codemods import _mesh
from jaxmigrate_codemods._arrays import uses_jax
from jaxmigrate_codemods._pjit import PJIT

if TYPE_CHECKING:
    from jaxmigrate.codemod import Report
    from jaxmigrate.names import Source

codemod = Codemod(
    "mesh-context",
    summary="with mesh: is deprecated; jax.sharding.use_mesh is jax.set_mesh",
    since="0.7.1",
    deprecated="0.10.1",
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"Mesh", "make_mesh", "use_mesh", "set_mesh"}),
    applicability=UNSAFE,
)

_DEPRECATED = "`with {mesh}:` is deprecated since JAX 0.10.1"
_ADVICE = (
    "give jax.jit, with_sharding_constraint and shard_map a NamedSharding or the mesh, and drop the `with`; or take jax.set_mesh "
    "(0.7.1), under which new arrays lie on all devices of the mesh"
)
_OTHER_EYES = ("thread_resources", "physical_mesh", "pmap", "xmap")
"""What does not see the mesh of `jax.set_mesh`, or does not bear it."""
_MAKING = ("jax.numpy.", "jax.random.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.image.")


@codemod.file
@codemod.only_where("with")
def with_mesh(site: FileSite) -> Iterator[Report]:
    """Every ``with mesh:`` of the file."""
    source = site.source
    if not uses_jax(source):
        return
    for statement in source.withs:
        for item in statement.items:
            if _mesh.is_mesh(source, item.context_expr):
                yield _entered(site, statement, item)


def _entered(site: FileSite, statement: ast.With, item: ast.withitem) -> Report:
    source, mesh = site.source, item.context_expr
    said = _DEPRECATED.format(mesh=source.segment(mesh))
    why = _no_set_mesh(source, statement, item)
    if why or not site.target_has(codemod.since):
        return site.manual(f"{said}{f' ({why})' if why else ''}: {_ADVICE}", mesh, Severity.LOW)
    doubt = "that all arrays the block computes with lie on the mesh already, or are given a sharding"
    change = site.replace("{jax.set_mesh}({mesh})", mesh, mesh=mesh)
    return Rewrite(f"{said}: jax.set_mesh does the same, assuming {doubt}", UNSAFE, (change,), mesh, severity=Severity.LOW)


def _no_set_mesh(source: Source, statement: ast.With, item: ast.withitem) -> str:
    """Why `jax.set_mesh` would surely not do; empty when it may."""
    if item.optional_vars is not None:
        return "the mesh is used by its name there, and jax.set_mesh gives none"
    if source.names(*PJIT):
        return "pjit, which takes its mesh from it, does not see that of jax.set_mesh"
    if word := next((word for word in _OTHER_EYES if source.mentions(word)), ""):
        return f"{word} does not go with jax.set_mesh"
    if not _mesh.has_automatic_axes(source, item.context_expr):
        return "the axes of the mesh may be explicit, which jax.set_mesh brings to bear"
    if source.tracing_evidence(statement):
        return "jax.set_mesh cannot be called while a function is traced"
    made = next((c for s in statement.body for c in _run_here(s) if _makes_arrays(source, c)), None)
    return f"line {source.original_line(made)} makes an array, which would lie on all devices" if made is not None else ""


def _run_here(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls of a block, those in functions that it defines apart."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _makes_arrays(source: Source, call: ast.Call) -> bool:
    """Whether it is a function of JAX that does, or a plain one of this file, which may."""
    if isinstance(call.func, ast.Name):
        bindings, _ = source.lookup(call.func.id, source.scope(call))
        if any(isinstance(b.node, ast.FunctionDef) and not b.node.decorator_list for b in bindings):
            return True
    return (source.resolve(call.func) or "").startswith(_MAKING)


@codemod.attribute("enter_context")
def on_a_stack(site: AttributeSite) -> Reports:
    """``stack.enter_context(mesh)``."""
    call = site.call()
    if call is None or len(call.args) != 1 or site.source.infer(call.args[0]) != "jax.sharding.Mesh":
        return None
    return site.manual(f"{_DEPRECATED.format(mesh=site.text(call.args[0]))}: {_ADVICE}", call, Severity.LOW)


def use_mesh(site: NameSite) -> Reports:
    """It took effect where it was entered; `jax.set_mesh` does where it is called."""
    call = site.parent()
    if not (isinstance(call, ast.Call) and call.func is site.node):
        return None
    around = site.source.parent(call)
    if isinstance(around, ast.withitem) or (isinstance(around, ast.Call) and _enters(around)):
        return None
    if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return site.manual("jax.set_mesh, which use_mesh is now, is no decorator: enter it in a `with` in the function's callers")
    return Rewrite("use_mesh is jax.set_mesh now, assuming that it is entered at once: the mesh is set by the call", REVIEW, ())


def _enters(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "enter_context"


codemod.rename({"jax.sharding.use_mesh": "jax.set_mesh"}, handler=use_mesh)


@codemod.call("jax.sharding.set_mesh", "jax.set_mesh")
def previous_mesh(site: CallSite) -> Reports:
    """Until 0.7.0 it gave the mesh that was set before."""
    if not site.is_older_than("0.7.1") or not isinstance(site.parent(), (ast.Assign, ast.Return, ast.NamedExpr)):
        return None
    return site.manual("set_mesh gave the previous mesh until JAX 0.7.0: `with jax.set_mesh(mesh):` restores it by itself")
