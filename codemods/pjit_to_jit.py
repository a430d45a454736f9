"""`pjit` and the mesh context around it become `jax.jit` with shardings that bring their mesh.

jit never takes a bare PartitionSpec under ``with mesh:``, and reads None as "unspecified" where pjit read "replicated"; so the
shardings, the function and the context change together, where the mesh is provably one and the same, or not at all.
https://docs.jax.dev/en/latest/changelog.html (0.8.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    SAFE,
    Change,
    Codemod,
    EditCall,
    FileSite,
    Manual,
    Piece,
    ReplaceExpr,
    ReplaceText,
    Report,
    Rewrite,
    Template,
)
from jaxmigrate.model import Severity
from jaxmigrate_codemods import _host_local, _layout, _mesh, _mesh_needs, _unwrap
from jaxmigrate_codemods._pjit import (
    CONSTRAINT,
    LAX_CONSTRAINT,
    PJIT,
    Argument,
    Pjit,
    function_body,
    grouped,
    is_guarded,
    use_of,
)
from jaxmigrate_codemods._specs import SHARDINGS, UNSPECIFIED, is_none, is_spec, short, spec_name, spliced

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "pjit-to-jit",
    summary="pjit is jax.jit: with shardings that name their mesh, and without the mesh context",
    since="0.4.4",
    deprecated="0.8.0",
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"pjit"}),
    applicability=SAFE,
)
codemod.rename(dict.fromkeys(CONSTRAINT, LAX_CONSTRAINT), "with_sharding_constraint lives in jax.lax")

_KEPT = "pjit is kept: {why}; it still works but is deprecated since JAX 0.8.0, so give jax.jit shardings of its own: {advice}"
_ADVICE = "NamedSharding(mesh, spec), and NamedSharding(mesh, P()) where pjit had None"
_COMMITTED = (
    "jax.device_put",
    "jax.make_array_from_callback",
    "jax.make_array_from_single_device_arrays",
    "jax.make_array_from_process_local_data",
    "jax.experimental.multihost_utils.host_local_array_to_global_array",
)


_TREE = ast.Constant(...)
"""Marks a name of a whole tree of specs, which other code needs as it is."""


class _Stays(Exception):
    """This pjit cannot be changed without changing what it means; the text says why."""


class _Waits(Exception):
    """Another codemod has something to do here first."""


@dataclass(slots=True, eq=False)
class _Plan:
    """One pjit on its way to jit."""

    use: Pjit
    context: _mesh.Context | None = None
    leaves: list[tuple[ast.expr, ast.expr | None]] = field(default_factory=list)
    """A spec (or None) among the shardings, and the spec to put into its NamedSharding (None: replicated; or `_TREE`)."""


@codemod.file
@codemod.only_where(*PJIT)
def pjit(site: FileSite) -> Iterator[Report]:
    """All uses of pjit of a file, since those that share a mesh context change together."""
    if not site.target_has("0.8.0"):
        return
    plans: list[_Plan] = []
    for node in site.source.names(*PJIT):
        resolved = site.source.resolved(node)
        if is_guarded(site.source, node) or (resolved and not resolved.direct):
            continue
        try:
            plans.append(_plan(site, node))
        except _Stays as reason:
            yield Manual(_KEPT.format(why=reason, advice=_ADVICE), at=node, severity=Severity.LOW)
        except _Waits:
            continue
    yield from _rewrites(site.source, plans)


def _plan(site: FileSite, node: ast.expr) -> _Plan:
    source = site.source
    use = use_of(source, node)
    if use is None:
        raise _Stays("it is passed on, or gets another name, here")
    if use.has_sentinel(source) or use.keyword("in_axis_resources", "out_axis_resources") or len(use.positional()) > 2:
        raise _Waits  # from-gda and axis-resources put them in order first
    if use.has_star():
        raise _Stays("its arguments hold * or **, or a partial of it binds some by position")
    if use.keyword("fun") is not None and _fun_by_keyword(source, use) is None:
        raise _Stays("its function is given by keyword behind other arguments, which jax.jit does not take")
    if not _host_local.has_global_arrays(site) and _host_local.is_concerned(source, use):
        raise _Stays("what its callers pass may be local to a process, which has to be settled first (host-local-inputs)")
    return _planned(source, use)


def _fun_by_keyword(source: Source, use: Pjit) -> ReplaceText | None:
    """Take ``fun=`` away from the first argument: jax.jit takes the function by position only."""
    call = use.call
    if call is None or call.args or not call.keywords or call.keywords[0].arg != "fun":
        return None
    keyword = call.keywords[0]
    return ReplaceText(source.offset(keyword.lineno, keyword.col_offset), source.span(keyword.value)[0], "")


def _planned(source: Source, use: Pjit) -> _Plan:
    plan = _Plan(use)
    shardings = [a for a in (use.in_shardings(), use.out_shardings()) if a is not None and not _is_unspecified(source, a)]
    for _, value in shardings:
        plan.leaves += _leaves(source, value)
    if plan.leaves or not shardings:
        context = plan.context = _context(source, use)
        if not all(_mesh.speakable(source, context, leaf) for leaf, _ in plan.leaves):
            raise _Stays("the mesh has no name yet where the shardings are written")
    if not shardings:
        _follows_its_inputs(source, use)
    return plan


def _is_unspecified(source: Source, argument: Argument) -> bool:
    return source.resolve(argument[1]) in UNSPECIFIED


def _leaves(source: Source, node: ast.expr, depth: int = 8) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The specs of a tree of shardings; those that are shardings already need nothing."""
    if isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            yield from _leaves(source, element, depth)
    elif isinstance(node, ast.Dict) and all(k is not None for k in node.keys):
        for value in node.values:
            yield from _leaves(source, value, depth)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, (ast.Tuple, ast.List)):
        yield from _leaves(source, node.left, depth)
    elif is_none(node):
        yield node, None
    elif is_spec(source, node):
        yield node, node
    elif isinstance(node, ast.Call) and source.resolve(node.func) in SHARDINGS:
        return
    elif isinstance(node, (ast.Name, ast.Attribute)) and depth and (behind := source.definition(node)) is not None:
        yield from _named(source, node, behind, depth)
    else:
        raise _Stays(f"the shardings {short(source, node)} cannot be read off")


def _named(
    source: Source, node: ast.Name | ast.Attribute, value: ast.expr, depth: int
) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """A spec behind a name is wrapped where it is used; a tree behind a name that only pjit uses, where it is written."""
    behind = source.value_of(value)
    if is_none(behind):
        yield node, None
    elif is_spec(source, behind):
        yield node, node
    elif isinstance(behind, ast.Call) and source.resolve(behind.func) in SHARDINGS:
        return
    elif isinstance(value, (ast.Tuple, ast.List, ast.Dict)) and isinstance(node, ast.Name):
        leaves = list(_leaves(source, value, depth - 1))
        if _only_use(source, node):
            yield from leaves
        elif any(spec is None for _, spec in leaves) or not leaves:
            raise _Stays(f"the shardings behind {short(source, node)} serve other code too, and hold None")
        else:
            yield node, _TREE
    else:
        raise _Stays(f"the shardings behind {short(source, node)} cannot be read off")


def _only_use(source: Source, node: ast.Name) -> bool:
    scope = source.lookup(node.id, source.scope(node))[1]
    consumed = scope is source.scope_root and node.id in source.index.consumed.get(source.module, ())
    return not consumed and all(n is node for n in source.by_id[node.id] if isinstance(n.ctx, ast.Load))


def _context(source: Source, use: Pjit) -> _mesh.Context:
    """The one mesh that is in force at all calls of what pjit makes here."""
    made = use.made
    if made.leak is not None:
        raise _Stays(f"{made.why} in line {source.original_line(made.leak)}, so the mesh at its calls is not known")
    places: list[ast.AST] = [*(c.call for c in made.calls), *made.lowered]
    if not places:
        raise _Stays("nothing in this file calls it, so the mesh at its calls is not known")
    contexts: list[_mesh.Context] = []
    for place in places:
        context, number = _mesh.at_call(source, place), source.original_line(place)
        if context is None:
            raise _Stays(f"no mesh is certain to be in force at its call in line {number}{_suspicion(source, place)}")
        if context.key[0] == "unknown":
            raise _Stays(f"the mesh at its call in line {number} has no name that is bound only once")
        if contexts and contexts[0].key != context.key:
            raise _Stays(f"its call in line {number} is under another mesh than the first")
        contexts.append(context)
    first = contexts[0]
    withs = dict.fromkeys(w for c in contexts for w in c.withs)
    return _mesh.Context(first.key, first.mesh, tuple(withs), first.binds)


def _suspicion(source: Source, place: ast.AST) -> str:
    """What would be the mesh, if only its type were known."""
    suspect = _mesh.suspect(source, place)
    if suspect is None:
        return ""
    advice = ": annotate it" if isinstance(suspect, ast.Name) else ""
    return f"; `{short(source, suspect)}` may be something else than a mesh{advice}"


def _follows_its_inputs(source: Source, use: Pjit) -> None:
    """Without shardings, jit does as pjit does only if an input says where to compute."""
    for called in use.made.calls:
        if not any(_is_committed(source, a) for a in called.arguments):
            raise _Stays(
                "it has no shardings, so that under a mesh uncommitted inputs give results on all devices of the mesh, "
                f"and under jit on one (call in line {source.original_line(called.call)})"
            )
    if use.made.lowered:
        raise _Stays("it has no shardings, and is lowered ahead of time under a mesh")


def _is_committed(source: Source, node: ast.expr) -> bool:
    value = source.value_of(node)
    if not isinstance(value, ast.Call):
        return False
    qualified = source.resolve(value.func) or ""
    if qualified == "jax.device_put":
        return len(value.args) + len(value.keywords) > 1
    return qualified in _COMMITTED or qualified.startswith("jax.experimental.global_device_array.GlobalDeviceArray")


def _rewrites(source: Source, plans: list[_Plan]) -> Iterator[Rewrite]:
    """One rewrite for each group of functions that share a context which goes."""
    fates = _fates(source, plans)
    for members, withs in grouped(plans, lambda p: _shared(p, fates)):
        gone = {w for w in withs if any(isinstance(c, ReplaceText) for c in fates.get(w, ()))}
        changes = [c for p in members for c in _changes(source, p, gone)]
        for statement in withs:
            changes += fates.get(statement, ())
        changes += dict.fromkeys(p.context.binds for p in members if p.context and p.context.binds and p.leaves)
        ends = {type(fates[w][0]) for w in withs if w in fates}
        context = ", the mesh context goes" if ReplaceText in ends else ", jax.set_mesh is the context" if ends else ""
        message = f"pjit is jax.jit with shardings that bring their mesh{context}"
        yield Rewrite(message, SAFE, tuple(changes), at=members[0].use.at, requires=codemod.since)


def _shared(plan: _Plan, fates: dict[ast.With, list[Change]]) -> set[ast.With]:
    """The statements that this function has in common with others that must change with it."""
    context = plan.context
    return {w for w in context.withs if w in fates or context.binds} if context is not None else set()


def _fates(source: Source, plans: list[_Plan]) -> dict[ast.With, list[Change]]:
    """The mesh contexts that nothing needs any more, and those that only bare constraints need, with what becomes of them."""
    converted: set[ast.Call] = {c for p in plans for c in p.use.calls_with_arguments()}
    converted |= {c for p in plans for c in (*(k.call for k in p.use.made.calls), *p.use.made.lowered)}
    fates: dict[ast.With, list[Change]] = {}
    for statement in dict.fromkeys(w for p in plans if p.context for w in p.context.withs):
        if not _unwrap.is_droppable(source, statement):
            continue
        inside = [p for p in plans if p.context and statement in p.context.withs]
        bodies = [function_body(source, f, rebound=True) for p in inside for f in p.use.functions]
        if None in bodies:
            continue
        needs = _mesh_needs.needs_of(source, [*statement.body, *_inner(b for b in bodies if b is not None)], converted)
        if needs.other:
            continue
        if not needs.constraints:
            fates[statement] = [ReplaceText(a, b, "") for a, b in _unwrap.dedented(source, statement)]
        elif _may_set_mesh(source, statement, converted):
            item = statement.items[0].context_expr
            fates[statement] = [ReplaceExpr(item, Template("{jax.set_mesh}({mesh})", {"mesh": item}))]
    return fates


def _inner(functions: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for function in functions:
        if isinstance(function, ast.Lambda):
            yield function.body
        elif isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from function.body


def _may_set_mesh(source: Source, statement: ast.With, converted: set[ast.Call]) -> bool:
    mesh = statement.items[0].context_expr
    if source.tracing_evidence(statement) or not _mesh.has_automatic_axes(source, mesh):
        return False
    return all(_makes_no_arrays(source, s, converted) for s in statement.body)


def _makes_no_arrays(source: Source, statement: ast.stmt, converted: set[ast.Call]) -> bool:
    """Whether under `jax.set_mesh` this statement does what it did: an array made there would be committed to the whole mesh."""
    if not isinstance(statement, (ast.Expr, ast.Assign, ast.Return, ast.Pass)):
        return False
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and node not in converted:
            numpy = (source.resolve(node.func) or "").startswith("numpy.")
            if not numpy and not (isinstance(node.func, ast.Name) and node.func.id in ("print", "len", "float", "int")):
                return False
        elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)):
            return False
    return True


def _changes(source: Source, plan: _Plan, gone: set[ast.With]) -> Iterator[Change]:
    use = plan.use
    positional = use.positional()
    inline = {id(leaf): spec for leaf, spec in plan.leaves}
    func = Template("{jax.jit}")
    by_keyword = _fun_by_keyword(source, use)
    if by_keyword is not None:
        yield by_keyword
    if positional:
        assert use.call is not None
        names = {1: "in_shardings", 2: "out_shardings"}
        values: dict[str | int, Template] = {i: _wrapped_tree(source, plan, p) for i, p in enumerate(positional, 1)}
        inside = {id(n) for value in positional for n in ast.walk(value)}
        inline = {key: spec for key, spec in inline.items() if key not in inside}
        yield EditCall(use.call, func, to_keyword={i: names[i] for i in names if i in values}, values=values)
    else:
        yield ReplaceExpr(use.name, func)
    edits = [(leaf, _named_sharding(source, plan, leaf, spec)) for leaf, spec in plan.leaves if id(leaf) in inline]
    yield from (ReplaceExpr(leaf, new) for leaf, new in edits)
    for call in use.calls_with_arguments() if not positional else ():
        dedent = sum(w.body[0].col_offset - w.col_offset for w in gone if w in source.ancestors(call))
        yield from _layout.broken(source, call, edits, dedent)
    for argument in (use.in_shardings(), use.out_shardings()):
        tree = source.value_of(argument[1]) if argument is not None else None
        if isinstance(tree, (ast.Tuple, ast.List)) and argument is not None and tree is not argument[1]:
            yield from _layout.broken(source, tree, edits)


def _named_sharding(source: Source, plan: _Plan, leaf: ast.expr, spec: ast.expr | None) -> Template:
    assert plan.context is not None
    pieces: dict[str, Piece] = {"mesh": plan.context.mesh}
    if spec is None:
        return Template(f"{{jax.sharding.NamedSharding}}({{mesh}}, {spec_name(source, leaf)}())", pieces)
    if spec is _TREE:
        text = "{jax.tree_util.tree_map}(lambda spec: {jax.sharding.NamedSharding}({mesh}, spec), {tree})"
        return Template(text, {**pieces, "tree": leaf})
    return Template("{jax.sharding.NamedSharding}({mesh}, {spec})", {**pieces, "spec": spec})


def _wrapped_tree(source: Source, plan: _Plan, root: ast.expr) -> Template:
    """The whole value with its specs wrapped, for an argument that moves to a keyword in the same edit."""
    start, end = source.span(root)
    inside = [(leaf, spec) for leaf, spec in plan.leaves if start <= source.span(leaf)[0] < end]
    whole: Template = spliced(source, root, [(leaf, _named_sharding(source, plan, leaf, spec)) for leaf, spec in inside])
    return whole
