"""pjit read each process's arrays as parts of one global array; jax.Array programs say so with `multihost_utils`.

https://docs.jax.dev/en/latest/jax_array_migration.html#handling-of-host-local-inputs-to-pjit-like-batch-etc
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    UNSAFE,
    Change,
    Codemod,
    FileSite,
    Manual,
    Piece,
    ReplaceExpr,
    Report,
    Rewrite,
    Template,
)
from jaxmigrate_codemods import _host_local, _mesh
from jaxmigrate_codemods._pjit import PJIT, Called, Pjit, grouped, is_guarded, uses
from jaxmigrate_codemods._specs import HOST_LOCAL, TO_LOCAL, Unreadable, copied_spec, is_replicated, short, spliced

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "host-local-inputs",
    summary="arrays that a process has to itself become global before pjit, and its results local after it",
    since="0.3.24",
    deprecated=None,
    removed="0.4.7",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html#handling-of-host-local-inputs-to-pjit-like-batch-etc",
    words=frozenset({"pjit"}),
    applicability=UNSAFE,
)

_ASSUMES = (
    "with several processes pjit takes global arrays now: a NumPy array is refused, and an uncommitted jnp array is silently "
    "read as the global value, each process using only its slice of its own copy; assumes that {names} is the part of this "
    "process"
)
_LEAVES = "; and that all leaves of {names} are arrays, since Python numbers cannot be converted"
_NUMBER = "{name} holds a Python number, which cannot be converted, where its spec is None or P(): convert its other leaves"
_NO_MATCH = (
    "several processes run this, and pjit takes global arrays now (an uncommitted jnp array is silently read as the global "
    "value): convert what is local to a process with multihost_utils.host_local_array_to_global_array(x, mesh, spec); {why}"
)
_SCATTERED = (
    "the devices of one process may not form a contiguous part of this mesh, which host_local_array_to_global_array needs: build "
    "the inputs with jax.make_array_from_callback(global_shape, NamedSharding(mesh, spec), callback)"
)
_REORDERING = frozenset({"transpose", "T", "swapaxes", "moveaxis", "permutation", "shuffle", "flip", "roll", "rollaxis"})


@codemod.file
@codemod.only_where(*PJIT)
def host_local_inputs(site: FileSite) -> Iterator[Report]:
    """All calls of pjit-ed functions in a file that says that several processes run it."""
    source = site.source
    if not _host_local.is_multi_process(source) or _host_local.has_global_arrays(site) or _host_local.says_shardings(source):
        return
    rewrites: list[tuple[Rewrite, _mesh.Context]] = []
    for use in uses(source):
        given = use.in_shardings()
        if given is None or _waits(source, use) or is_guarded(source, use.name):
            continue
        lost = use.made.leak or next(iter(use.made.lowered), None)
        if lost is not None and not is_replicated(source, given[1]):
            fate = use.made.why or "it is lowered ahead of time"
            why = f"not all calls of this function can be seen ({fate} in line {source.original_line(lost)})"
            yield Manual(_NO_MATCH.format(why=why), at=use.at)
            continue
        for called in use.made.calls:
            report = _call(source, use, called)
            if isinstance(report, Manual):
                yield report
            elif report is not None:
                rewrites.append(report)
    yield from _joined(rewrites)


def _waits(source: Source, use: Pjit) -> bool:
    """Whether other codemods have to put the arguments of pjit in order first, or cannot."""
    return use.has_sentinel(source) or use.has_star() or len(use.positional()) > 2


def _joined(rewrites: list[tuple[Rewrite, _mesh.Context]]) -> Iterator[Rewrite]:
    """Calls under a mesh that gets a name first change together."""
    for members, binds in grouped(rewrites, lambda r: {r[1].binds} - {None}):
        first = members[0][0]
        changes = tuple(c for rewrite, _ in members for c in rewrite.changes)
        yield replace(first, changes=(*changes, *(b for b in binds if b is not None)))


def _call(source: Source, use: Pjit, called: Called) -> Manual | tuple[Rewrite, _mesh.Context] | None:
    inputs = _host_local.inputs(source, use, called)
    if inputs is None:
        return Manual(_NO_MATCH.format(why="the arguments here cannot be matched with the specs"), at=called.call)
    if not inputs:
        return None
    number = next((i.argument for i in inputs if i.mixed and _host_local.holds_number(source, i.argument, i.spec)), None)
    if number is not None:
        return Manual(_NO_MATCH.format(why=_NUMBER.format(name=short(source, number))), at=called.call)
    mesh = _mesh.near(source, called.call, use.at)
    if mesh is None:
        return Manual(_NO_MATCH.format(why="no mesh can be named here"), at=called.call)
    if _may_scatter(source, mesh):
        return Manual(_SCATTERED, at=called.call)
    if use.out_shardings() is None and not _host_local.outputs_stay_global(source):
        return Manual(_NO_MATCH.format(why="the function has no out_shardings to convert its results by"), at=called.call)
    try:
        changes = _changes(source, use, called, inputs, mesh.mesh)
    except Unreadable as problem:
        why = f"the spec {short(source, problem.node)!r} cannot be written here"
        return Manual(_NO_MATCH.format(why=why), at=called.call)
    names = ", ".join(dict.fromkeys(short(source, i.argument) for i in inputs))
    leaves = ", ".join(dict.fromkeys(short(source, i.argument) for i in inputs if i.mixed))
    message = _ASSUMES.format(names=names) + (_LEAVES.format(names=leaves) if leaves else "")
    return Rewrite(message, UNSAFE, tuple(changes), at=called.call), mesh


def _changes(source: Source, use: Pjit, called: Called, inputs: list[_host_local.Input], mesh: Piece) -> list[Change]:
    call = called.call
    wrapped = [(i.argument, _wrapped(source, i, mesh, call)) for i in inputs]
    output = _host_local.local_output(source, use, called)
    if output is None:
        return [ReplaceExpr(node, new) for node, new in wrapped]
    own = {id(n) for a in call.args for n in ast.walk(a)}
    bound = [ReplaceExpr(node, new) for node, new in wrapped if id(node) not in own]  # by functools.partial
    inner = spliced(source, call, [(node, new) for node, new in wrapped if id(node) in own])
    spec = copied_spec(source, output, call)
    text = f"{{{TO_LOCAL}}}({inner.text}, {{mesh}}, {spec.text})"
    return [*bound, ReplaceExpr(call, Template(text, {**inner.pieces, **spec.pieces, "mesh": mesh}))]


def _wrapped(source: Source, one: _host_local.Input, mesh: Piece, at: ast.AST) -> Template:
    spec = copied_spec(source, one.spec, at)
    return Template(f"{{{HOST_LOCAL}}}({{value}}, {{mesh}}, {spec.text})", {"value": one.argument, "mesh": mesh, **spec.pieces})


def _may_scatter(source: Source, context: _mesh.Context) -> bool:
    """Whether the devices of the mesh were put into an order of the program's own."""
    named = context.withs[0].items[0].context_expr if isinstance(context.mesh, str) else context.mesh
    made = source.value_of(named)
    if not (isinstance(made, ast.Call) and made.args):
        return False
    stack: list[ast.AST] = [made.args[0]]
    for _ in range(50):
        if not stack:
            break
        node = stack.pop()
        if isinstance(node, ast.Attribute) and node.attr in _REORDERING:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("sorted", "reversed"):
            return True
        if isinstance(node, ast.Slice) and node.step is not None:
            return True
        value = source.definition(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        stack.extend([value] if value is not None else ast.iter_child_nodes(node))
    return False
