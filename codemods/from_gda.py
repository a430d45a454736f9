"""`FROM_GDA` told pjit to take an input's sharding from the array; every jax.Array is taken that way when nothing is said.

All FROM_GDA: the keyword goes. Mixed with specs: the keyword goes too, and what had a spec that shards is made a global array at
every call. What had None, ``P()`` or ``P(None)`` is global already and stays as it is, although the example of the guide converts
its ``P(None)`` array too: the guide itself says elsewhere that fully replicated inputs need no conversion, and
`host_local_array_to_global_array` raises AttributeError for the Python numbers among them. Run on JAX 0.12 in one process and in
two: beside a global array, jit without in_shardings gives the same values for NumPy arrays, Python numbers, uncommitted jnp
arrays, results of other jits, and keys of both kinds, left alone or converted. Only an array that was committed to one device by
`jax.device_put` is refused (ValueError), which the finding says.

https://docs.jax.dev/en/latest/jax_array_migration.html#from-gda-and-jax-array
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    Change,
    Codemod,
    DeleteStatement,
    EditCall,
    FileSite,
    InsertBefore,
    Manual,
    NameSite,
    Piece,
    ReplaceExpr,
    ReplaceText,
    Report,
    Rewrite,
    Template,
)
from jaxmigrate_codemods import _host_local, _mesh
from jaxmigrate_codemods._pjit import Argument, Called, Pjit, grouped, is_guarded, is_traced, line, uses
from jaxmigrate_codemods._specs import (
    FROM_GDA,
    HOST_LOCAL,
    Unreadable,
    copied_spec,
    has_replicated,
    needs_no_conversion,
    only_from_gda,
    parts,
    sentinels,
    short,
)

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "from-gda",
    summary="FROM_GDA goes: a jax.Array brings its sharding; other inputs become global arrays at the call",
    since="0.4.1",
    deprecated="0.4.7",
    removed="0.4.8",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html#from-gda-and-jax-array",
    words=frozenset({"FROM_GDA"}),
    applicability=REVIEW,
)

_ALL = "every jax.Array brings its sharding, so without in_shardings pjit follows its inputs"
_MIXED = (
    "without in_shardings pjit follows its inputs, so what had a spec is made a global array at every call; assumes that it is "
    "host-local there, as arrays other than GDAs were"
)
_FOLLOWS = "without in_shardings pjit follows its inputs"
_WHOLE = "; what had None or P() is global already and stays as it is: any value but an array committed to one device is taken"
_LEAVES = "; assumes that all leaves of {names} are arrays, since Python numbers cannot be converted"
_PUBLIC = "; assumes that no other module reads {names}, deleted with it"
_BY_HAND = "; by hand: drop {keyword}, and at the calls pass multihost_utils.host_local_array_to_global_array(x, mesh, spec)"
_ADVICE = {
    "compared": "FROM_GDA is compared: nothing stands for it any more; leave in_shardings out where all inputs bring their "
    "sharding, or use a sentinel of your own and pass x.sharding for it",
    "returned": "FROM_GDA is returned: return the sharding of the array itself instead (x.sharding), which in_shardings takes",
    "stored": "FROM_GDA is stored: put the sharding of the array itself (x.sharding) there, or leave in_shardings out where "
    "every entry says FROM_GDA",
    "passed": "FROM_GDA is passed on: leave the argument out if that reaches pjit's in_shardings as a whole, else pass the "
    "sharding of the array itself (x.sharding)",
}


class _Manual(Exception):
    """Why a use cannot be rewritten."""


@dataclass(slots=True, eq=False)
class _Plan:
    """What becomes of one pjit whose inputs mention FROM_GDA."""

    use: Pjit
    mixed: bool
    whole: bool = False
    """Whether some inputs had no sharding and stay as they are."""
    leaves: list[str] = field(default_factory=list)
    """Arguments whose leaves must all be arrays."""
    changes: list[Change] = field(default_factory=list)
    definitions: set[ast.stmt] = field(default_factory=set)
    """Assignments of the value, which go when nothing reads them any more."""

    def shared(self) -> set[ast.stmt | ReplaceText]:
        """What must change only once for several of them."""
        return {*self.definitions, *(c for c in self.changes if isinstance(c, ReplaceText))}


@codemod.name_(*FROM_GDA)
def mention(site: NameSite) -> None:
    """Registers the name, so that imports of it are known to fail; `from_gda` judges its uses together."""


@codemod.file
def from_gda(site: FileSite) -> Iterator[Report]:
    """All places of a file that mention FROM_GDA."""
    source = site.source
    handled: set[ast.expr] = set()
    plans: list[_Plan] = []
    for use in uses(source):
        argument = use.in_shardings()
        if argument is None or is_guarded(source, use.name):
            continue
        mentioned = set(sentinels(source, argument[1]))
        if not mentioned or any(is_guarded(source, m) for m in mentioned):
            continue
        handled |= mentioned
        try:
            plans.append(_plan(source, use, argument))
        except _Manual as reason:
            keyword = argument[0] if isinstance(argument[0], str) else "the input resources"
            yield Manual(f"FROM_GDA is mixed with specs, and {reason}{_BY_HAND.format(keyword=keyword)}", at=use.at)
    yield from _rewrites(source, plans)
    for node in source.names(*FROM_GDA):
        if node not in handled and not is_guarded(source, node):
            yield from _elsewhere(source, node)


def _plan(source: Source, use: Pjit, argument: Argument) -> _Plan:
    plan = _Plan(use, mixed=not only_from_gda(source, argument[1]))
    if use.has_star():
        raise _Manual("the arguments of pjit hold * or **")
    plan.changes += _dropped(use, argument[0])
    plan.definitions |= _definitions(source, argument[1])
    if plan.mixed:
        plan.whole = has_replicated(source, argument[1])
        plan.changes += _converted(source, plan, argument[1])
    return plan


def _dropped(use: Pjit, key: str | int) -> Iterator[Change]:
    for call in use.calls_with_arguments():
        if isinstance(key, int):
            rest = {2: "out_shardings"} if len(call.args) > 2 else {}
            yield EditCall(call, drop=frozenset({1}), to_keyword=rest)
        elif any(k.arg == key for k in call.keywords):
            yield EditCall(call, drop=frozenset({key}))


def _definitions(source: Source, node: ast.expr) -> set[ast.stmt]:
    """The assignments through which the value came, as far as they hold FROM_GDA."""
    values = (source.definition(part) for part in parts(source, node))
    return {source.statement(v) for v in values if v is not None and any(sentinels(source, v))}


def _rewrites(source: Source, plans: list[_Plan]) -> Iterator[Report]:
    """One rewrite for each pjit, or for those that share a definition."""
    for members, shared in grouped(plans, _Plan.shared):
        definitions = {s for s in shared if isinstance(s, ast.stmt)}
        owner = members[0].use.at
        kept = next((d for d in definitions if not _is_orphaned(source, d, members)), None)
        if kept is not None:
            where = f"FROM_GDA comes from line {source.original_line(kept)}"
            yield Manual(f"{where}, which serves other code too: drop the input resources by hand", at=owner)
            continue
        changes = [c for p in members for c in p.changes] + [DeleteStatement(d) for d in definitions]
        mixed = any(p.mixed for p in members)
        public = sorted(name for d in definitions if (name := _public_name(source, d)))
        message = _message(members) + (_PUBLIC.format(names=" and ".join(public)) if public else "")
        yield Rewrite(message, REVIEW if mixed or public else SAFE, tuple(_once(changes)), at=owner)


def _message(plans: list[_Plan]) -> str:
    """What the rewrite does, and what it takes for granted."""
    if not any(p.mixed for p in plans):
        return _ALL
    converts = any(isinstance(c, ReplaceExpr) for p in plans for c in p.changes)
    leaves = dict.fromkeys(n for p in plans for n in p.leaves)
    text = _MIXED if converts else _FOLLOWS
    text += _LEAVES.format(names=" and ".join(leaves)) if leaves else ""
    return text + (_WHOLE if any(p.whole for p in plans) else "")


def _public_name(source: Source, statement: ast.stmt) -> str:
    """The name that an assignment of this module offers to others; empty for one that is its own affair."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or target.id.startswith("_"):
        return ""
    return target.id if source.lookup(target.id, source.scope(target))[1] is source.scope_root else ""


def _once(changes: list[Change]) -> Iterator[Change]:
    """The changes without repetition: one definition may serve several functions, one argument several calls."""
    seen: set[tuple[type, object]] = set()
    for change in changes:
        key = (type(change), change if isinstance(change, ReplaceText) else change.node)
        if key not in seen:
            yield change
        seen.add(key)


def _is_orphaned(source: Source, statement: ast.stmt, members: list[_Plan]) -> bool:
    """Whether a plain assignment is read by nothing but the arguments that are dropped."""
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)):
        return False
    target = statement.targets[0]
    scope = source.lookup(target.id, source.scope(target))[1]
    exported = target.id in source.index.consumed.get(source.module, ()) or any(s.value == target.id for s in source.strings)
    if scope is source.scope_root and exported:
        return False
    dropped: set[ast.AST] = set()
    for plan in members:
        argument = plan.use.in_shardings()
        dropped.update(ast.walk(argument[1]) if argument is not None else ())
        dropped.update(n for d in plan.definitions for n in ast.walk(d))
    loads = (n for n in source.by_id[target.id] if isinstance(n.ctx, ast.Load))
    return all(n in dropped for n in loads if source.lookup(n.id, source.scope(n))[1] is scope)


def _converted(source: Source, plan: _Plan, value: ast.expr) -> Iterator[Change]:
    """What makes the arguments that had specs global, at every call."""
    use, specs = plan.use, source.value_of(value)
    if needs_no_conversion(source, value) and not use.made.lowered:
        return
    if not isinstance(specs, (ast.Tuple, ast.List)):
        raise _Manual("one argument holds both")
    if use.made.leak is not None:
        where = f"{use.made.why} in line {source.original_line(use.made.leak)}"
        raise _Manual(f"the calls of this function cannot all be followed: {where}")
    if use.made.lowered:
        raise _Manual(f"it is lowered ahead of time in line {source.original_line(use.made.lowered[0])}")
    if not use.made.calls:
        raise _Manual("the calls of this function cannot all be followed: this file holds none")
    for called in use.made.calls:
        yield from _converted_call(source, plan, called, specs.elts)


def _converted_call(source: Source, plan: _Plan, called: Called, specs: list[ast.expr]) -> Iterator[Change]:
    where = f"the call in line {source.original_line(called.call)}"
    arguments = plan.use.dynamic(source, called.arguments)
    if is_traced(source, called.call):
        raise _Manual(f"{where} is inside a function that is itself transformed")
    if called.starred or called.call.keywords:
        raise _Manual(f"{where} passes its arguments by * or by keyword")
    if arguments is None or len(arguments) != len(specs):
        raise _Manual(f"{where} does not have one argument for each spec")
    wanted = [i for a, s in zip(arguments, specs, strict=True) for i in _host_local.sharded(source, a, s)]
    _check(source, plan, wanted, where)
    if not wanted:
        return
    mesh = _mesh.near(source, called.call, plan.use.at)
    if mesh is None:
        raise _Manual(f"no mesh can be named at {where}")
    try:
        triples = [(i.argument, copied_spec(source, i.spec, called.call)) for i in wanted]
    except Unreadable as problem:
        raise _Manual(f"the spec {short(source, problem.node)!r} cannot be written at {where}") from None
    if mesh.binds is not None:
        yield mesh.binds
    yield from _in_a_statement(source, called.call, triples, mesh.mesh) or _inline(triples, mesh.mesh)


def _check(source: Source, plan: _Plan, wanted: list[_host_local.Input], where: str) -> None:
    """Refuse what cannot be converted as a whole, and note what can only be if its leaves are arrays."""
    for one in wanted:
        if any(sentinels(source, one.spec)):
            raise _Manual("one argument holds both")
        if one.mixed and _host_local.holds_number(source, one.argument, one.spec):
            raise _Manual(f"{short(source, one.argument)} at {where} holds a Python number, which cannot be converted")
        if one.mixed:
            plan.leaves.append(short(source, one.argument))


def _inline(arguments: list[tuple[ast.expr, Template]], mesh: Piece) -> list[Change]:
    changes: list[Change] = []
    for argument, spec in arguments:
        text = f"{{{HOST_LOCAL}}}({{value}}, {{mesh}}, {spec.text})"
        changes.append(ReplaceExpr(argument, Template(text, {"value": argument, "mesh": mesh, **spec.pieces})))
    return changes


def _in_a_statement(source: Source, call: ast.Call, arguments: list[tuple[ast.expr, Template]], mesh: Piece) -> list[Change]:
    """The form of the guide, several arguments at once, where a statement fits in before the call and changes nothing else."""
    statement = source.statement(call)
    if len(arguments) < 2 or not _fits_before(source, call, statement) or not all(source.is_pure(a) for a, _ in arguments):
        return []
    names = [f"global_{a.id}" if isinstance(a, ast.Name) else f"global_argument_{i}" for i, (a, _) in enumerate(arguments)]
    if len(set(names)) < len(names) or any(source.mentions(n) for n in names):
        return []
    pieces: dict[str, Piece] = {"mesh": mesh}
    for number, (argument, spec) in enumerate(arguments):
        pieces |= {f"value{number}": argument, **spec.pieces}
    values = ", ".join(f"{{value{i}}}" for i in range(len(arguments)))
    specs = ", ".join(spec.text for _, spec in arguments)
    text = f"{', '.join(names)} = {{{HOST_LOCAL}}}(\n    ({values}), {{mesh}}, ({specs}))"
    replaced = [ReplaceExpr(a, Template(n)) for (a, _), n in zip(arguments, names, strict=True)]
    return [InsertBefore(statement, Template(text, pieces)), *replaced]


def _fits_before(source: Source, call: ast.Call, statement: ast.stmt) -> bool:
    if not isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)):
        return False
    block = source.parent(statement)
    if line(block) == line(statement) if block is not None and not isinstance(block, ast.Module) else False:
        return False  # `if x: f(a)` on one line
    lazy = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await)
    for ancestor in source.ancestors(call):
        if ancestor is statement:
            return True
        if isinstance(ancestor, lazy):
            return False
    return False


def _elsewhere(source: Source, node: ast.expr) -> Iterator[Report]:
    """FROM_GDA outside the arguments of a pjit: compared, returned, stored."""
    parent = source.parent(node)
    if isinstance(parent, ast.Assign) and parent.value is node and any(_is_read(source, t) for t in parent.targets):
        return  # another name of it; its uses are reported
    kind = "stored"
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.Compare):
            kind = "compared"
        elif isinstance(ancestor, ast.Call):
            leaf = ancestor.func.id if isinstance(ancestor.func, ast.Name) else ""
            kind = "compared" if leaf in ("isinstance", "type") else "passed"
        elif isinstance(ancestor, (ast.Return, ast.Lambda)):
            kind = "returned"
        elif not isinstance(ancestor, (ast.IfExp, ast.Tuple, ast.List, ast.keyword)):
            break
        else:
            continue
        break
    yield Manual(_ADVICE[kind], at=node)


def _is_read(source: Source, target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and any(isinstance(n.ctx, ast.Load) for n in source.by_id.get(target.id, ()))
