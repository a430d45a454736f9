"""Arguments that JAX renamed, dropped, or takes only by keyword or by position now; `arguments.tsv` lists them.

https://docs.jax.dev/en/latest/changelog.html

Where an argument can stand at a position in every release, that is what is written: `jnp.clip(x, 0, 1)` suits all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    AttributeSite,
    CallSite,
    Change,
    Codemod,
    EditCall,
    Manual,
    Piece,
    ReplaceExpr,
    ReplaceText,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate.model import Severity
from jaxmigrate.registry import history
from jaxmigrate_codemods._argument_plan import Argument, Call, Plan, check_order, decide, place_arguments
from jaxmigrate_codemods._arguments import TABLE, Way

if TYPE_CHECKING:
    from jaxmigrate.model import Version
    from jaxmigrate.names import Source

codemod = Codemod(
    "renamed-arguments",
    summary="arguments that were renamed, removed or may only be given by keyword or position",
    since="0.2.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)
_METHODS = "jax.Array."
_PLACES = "jax.Array.at."


def _ruled(name: str) -> list[str]:
    """The arguments with a rule, and ``**``, which may bring them."""
    return ["#*", *(f"#{rule.old}" if isinstance(rule.old, int) else rule.old for rule in TABLE[name])]


@codemod.call(*(function for function in TABLE if not function.startswith(_METHODS)))
@codemod.only_with({name: _ruled(name) for name in TABLE})
def function(site: CallSite) -> Reports:
    """A call of a function, or a partial of it."""
    return _reports(Call(site.node, site.symbol, site.symbol, site.partial, site.source, site.target))


@codemod.attribute("sort", "argsort")
@codemod.only_with({name: _ruled(_METHODS + name) for name in ("sort", "argsort")})
def method(site: AttributeSite) -> Reports:
    """Methods of arrays, where the receiver is known to be one."""
    call = site.call()
    if call is None or site.receiver_type != "jax.Array":
        return ()
    return _reports(Call(call, _METHODS + site.node.attr, f"x.{site.node.attr}", False, site.source, site.target))


@codemod.attribute(*(name.removeprefix(_PLACES) for name in TABLE if name.startswith(_PLACES)))
@codemod.only_with({f"at[].{name.removeprefix(_PLACES)}": _ruled(name) for name in TABLE if name.startswith(_PLACES)})
def place(site: AttributeSite) -> Reports:
    """``x.at[i].set(y, True)``."""
    call, subscript = site.call(), site.value
    if call is None or not isinstance(subscript, ast.Subscript) or not isinstance(subscript.value, ast.Attribute):
        return ()
    if subscript.value.attr != "at" or not (_is_array(site, subscript.value.value) or _gives_flags(call, site.node.attr)):
        return ()
    return _reports(Call(call, _PLACES + site.node.attr, f"x.at[...].{site.node.attr}", False, site.source, site.target))


def _is_array(site: AttributeSite, value: ast.expr) -> bool:
    return site.source.infer(value) == "jax.Array"


def _gives_flags(call: ast.Call, method: str) -> bool:
    """Whether the further arguments are written as flags, which tells the indexer from that of pandas."""
    flags = call.args if method == "get" else call.args[1:]
    return bool(flags) and all(isinstance(flag, ast.Constant) and isinstance(flag.value, bool) for flag in flags)


_MESH = "jax.sharding.AbstractMesh"


@codemod.call(_MESH)
@codemod.only_with({_MESH: ["#0"]})
def mesh_of_pairs(site: CallSite) -> Reports:
    """``AbstractMesh((("x", 2), ("y", 4)))``; axes were Auto, which later releases have to be told."""
    pairs = _pairs(site)
    if not pairs:
        return None
    message = "AbstractMesh takes the sizes and the names apart since JAX 0.5.3"
    if not site.target_has("0.5.3"):
        return site.manual(f"{message}, which the target {site.target} lacks: choose by version")
    names, sizes = ({f"{kind}{n}": pair.elts[i] for n, pair in enumerate(pairs)} for i, kind in enumerate(("name", "size")))
    types = "{jax.sharding.AxisType}.Auto"
    template = f"{{function}}({_row(sizes)}, {_row(names)}, axis_types={_row([types] * len(pairs), '')})"
    new = Template(template, {"function": site.node.func, **names, **sizes})
    level = SAFE if all(map(site.source.is_pure, (*names.values(), *sizes.values()))) else REVIEW
    return Rewrite(f"{message}; its axes stay Auto", level, (ReplaceExpr(site.node, new),), requires="0.5.3")


def _pairs(site: CallSite) -> list[ast.Tuple]:
    """The written pairs of a name and a size that are the only argument."""
    given = site.node.args[0] if len(site.node.args) == 1 and not site.partial and not site.node.keywords else None
    pairs = given.elts if isinstance(given, (ast.Tuple, ast.List)) else []
    written = [pair for pair in pairs if isinstance(pair, ast.Tuple) and len(pair.elts) == 2]
    return written if len(written) == len(pairs) and not any(isinstance(e, ast.Starred) for p in written for e in p.elts) else []


def _row(holes: Iterable[str], braces: str = "{}") -> str:
    """A tuple of holes of a template."""
    texts = [f"{braces[:1]}{hole}{braces[1:]}" for hole in holes]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


_BLOCK = "jax.experimental.pallas.BlockSpec"


@codemod.call(_BLOCK)
@codemod.only_with({_BLOCK: ["#0"]})
def blocks(site: CallSite) -> Reports:
    """``pl.BlockSpec(lambda i: (i, 0), (8, 128))``: the shape is the first argument."""
    given = site.positional()
    if site.partial or site.has_star() or not given or not _is_function(site.source, given[0]):
        return None
    change = EditCall(site.node, to_keyword=dict(enumerate(("index_map", "block_shape")[: len(given)])))
    return Rewrite("BlockSpec takes block_shape before index_map since 0.4.31", REVIEW, (change,))


def _is_function(source: Source, node: ast.expr) -> bool:
    """A lambda, or the name of a function of the file."""
    value = source.value_of(node)
    bindings, _ = source.lookup(value.id, source.scope(value)) if isinstance(value, ast.Name) else ([], None)
    return isinstance(value, ast.Lambda) or (bool(bindings) and all(isinstance(b.node, ast.FunctionDef) for b in bindings))


_ELSEWHERE = (
    "jax.experimental.pjit.",
    "jax.experimental.shard_map.",
    "jax.experimental.layout.",
    "jax.lax.with_sharding_constraint",
)
"""What other codemods deal with."""
_OF_ENUM = "boundary"
"""A parameter of every Enum, whose lost parameters mean nothing."""
_LOST = "parameters of "
_FUNCTIONS = [s.removeprefix(_LOST) for s in history().all_sections() if s.startswith(_LOST)]


@codemod.call(*(f for f in _FUNCTIONS if not f.startswith(_ELSEWHERE)))
@codemod.only_with({f: [k for k, entry in history().lost_parameters(f).items() if not entry.alive] for f in _FUNCTIONS})
def lost(site: CallSite) -> Iterator[Manual]:
    """Any other keyword that a function of today took once."""
    record = site.source.facts.history
    entry, parameters = record.entry(site.symbol), record.lost_parameters(site.symbol)
    if entry is None or not entry.alive or _OF_ENUM in parameters:
        return
    rules = TABLE.get(site.symbol, ())
    for keyword in site.node.keywords:
        found = parameters.get(keyword.arg or "")
        ruled = any(rule.old == keyword.arg and rule.fits(keyword.value) for rule in rules)
        if found is not None and not found.alive and not ruled:
            yield site.manual(f"{keyword.arg}= of {site.symbol} is gone since JAX {record.removed(found)}", keyword)


def _reports(call: Call) -> Iterator[Rewrite | Manual]:
    plan = Plan()
    arguments = list(call.arguments())
    place_arguments(call, arguments, plan)
    placed = list(plan.placed.values())
    for argument in arguments:
        if argument not in placed:
            decide(call, argument, plan)
    check_order(call, arguments, plan)
    if plan.placed and _may_be_joined(call, plan.ways):
        yield _joined(_by_position(call, plan.placed, plan.ways), _edited(call, plan.ways))
    elif plan.placed:
        yield _by_position(call, plan.placed)
    elif plan.ways:
        yield _edited(call, plan.ways)
    yield from plan.reports
    yield from _unpacked(call)


def _unpacked(call: Call) -> Iterator[Manual]:
    """``**{"a_min": 0}``, ``**dict(a_min=0)`` and ``**bounds`` where the dictionary is in sight; once for a dictionary."""
    for keyword in call.node.keywords:
        given = call.source.value_of(keyword.value) if keyword.arg is None else None
        lost: dict[str, Version] = {}
        for name, value in _entries(given):
            rule = next((r for r in TABLE[call.function] if r.old == name and r.fits(value)), None)
            if rule is not None and rule.gone is not None and not rule.still_taken:
                lost[name] = rule.gone
        if lost:
            names = " and ".join(f"{name}=" for name in lost)
            verb = "are" if len(lost) > 1 else "is"
            since = max(lost.values())
            yield Manual(f"{names} of {call.label}, which the dictionary holds, {verb} gone since JAX {since}", keyword)


def _entries(given: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    """The names and values of ``{"a": 1}`` and of ``dict(a=1)``."""
    if isinstance(given, ast.Dict):
        for key, value in zip(given.keys, given.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and given.func.id == "dict":
        yield from ((k.arg, k.value) for k in given.keywords if k.arg is not None)


def _may_be_joined(call: Call, ways: Sequence[tuple[Argument, Way]]) -> bool:
    """Whether keywords can be renamed or left out by the edit that moves others: else that comes next, by itself."""
    return bool(ways) and all(isinstance(a.key, str) for a, _ in ways) and call.node.lineno == call.node.end_lineno


def _joined(placing: Rewrite, naming: Rewrite) -> Rewrite:
    """One finding for both: the edit is that of the first."""
    message = f"{placing.message}; {naming.message}"
    return replace(
        placing, message=message, applicability=max(placing.applicability, naming.applicability), requires=naming.requires
    )


def _by_position(call: Call, placed: Mapping[int, Argument], ways: Sequence[tuple[Argument, Way]] = ()) -> Rewrite:
    names = ", ".join(f"{argument.key}=" for argument in placed.values())
    gone = max(argument.rule.gone for argument in placed.values() if argument.rule.gone)
    message = f"{names} of {call.label} {'are' if len(placed) > 1 else 'is'} gone since JAX {gone}; by position it works in all"
    remarks = [argument.rule.remark for argument in placed.values() if argument.rule.remark]
    moved = [argument.node for _, argument in sorted(placed.items())]
    first = len(call.positional)
    in_place = list(placed) == list(range(first, first + len(placed))) and moved == call.node.keywords[: len(moved)]
    if in_place and not ways:
        changes: tuple[Change, ...] = tuple(_without_name(call.source, argument) for argument in placed.values())
    else:
        changes = (_reordered(call, placed, {a.node: way for a, way in ways}),)
        if not in_place and not all(call.source.is_pure(k.value) for k in call.node.keywords):
            remarks.append("its arguments can be evaluated in another order")
    return Rewrite("; ".join([message, *remarks]), REVIEW if remarks else SAFE, changes)


def _without_name(source: Source, argument: Argument) -> ReplaceText:
    start = source.span(argument.node)[0]
    found = re.match(rb"\w+\s*=\s*", source.utf8[start : source.span(argument.value)[0]])
    assert found is not None
    return ReplaceText(start, start + found.end(), "")


def _reordered(call: Call, placed: Mapping[int, Argument], ways: Mapping[ast.AST, Way]) -> ReplaceExpr:
    """The call written anew, with what was not given filled in as None, and the other keywords as they are today."""
    pieces: dict[str, Piece] = {"function": call.node.func}
    texts: list[str] = []
    moved = {argument.node for argument in placed.values()}
    values: list[ast.expr | None] = [*call.positional]
    values += [placed[p].value if p in placed else None for p in range(len(values), max(placed) + 1)]
    for number, value in enumerate(values):
        texts.append("None" if value is None else f"{{p{number}}}")
        if value is not None:
            pieces[f"p{number}"] = value
    for number, keyword in enumerate(k for k in call.node.keywords if k not in moved):
        way = ways.get(keyword, Way(keyword=keyword.arg or ""))
        if keyword.arg is None:
            texts.append(f"**{{k{number}}}")
        elif way.keyword:
            texts.append(f"{way.keyword}={way.value or f'{{k{number}}}'}")
        else:
            continue
        pieces[f"k{number}"] = keyword.value
    return ReplaceExpr(call.node, Template(f"{{function}}({', '.join(texts)})", pieces))


def _edited(call: Call, ways: Sequence[tuple[Argument, Way]]) -> Rewrite:
    """Renamed, named and dropped arguments in one edit."""
    shift = 1 if call.partial else 0
    edit = EditCall(
        call.node,
        rename={a.key: w.keyword for a, w in ways if isinstance(a.key, str) and w.keyword},
        drop=frozenset(a.key + shift if isinstance(a.key, int) else a.key for a, w in ways if not w.keyword),
        to_keyword={a.key + shift: w.keyword for a, w in ways if isinstance(a.key, int) and w.keyword},
        values={a.key: Template(w.value) for a, w in ways if w.value},
    )
    remarks = list(dict.fromkeys(a.rule.remark for a, _ in ways if a.rule.remark))
    message = "; ".join([*(_told(call, a, w) for a, w in ways), *remarks])
    severity = Severity.LOW if all(a.rule.still_taken for a, _ in ways) else None
    needed = str(max(w.since for _, w in ways))
    rewrite = Rewrite(message, REVIEW if remarks else SAFE, (edit,), requires=needed, severity=severity)
    lost = [a for a, w in ways if not w.keyword and not a.rule.values and not call.source.is_pure(a.value)]
    return replace(rewrite, applicability=REVIEW, message=f"{message}; what it computes is left out") if lost else rewrite


def _told(call: Call, argument: Argument, way: Way) -> str:
    name, rule = call.name(argument), argument.rule
    if not way.keyword:
        return f"{name} is gone since JAX {rule.gone}; left out, the meaning is the same"
    if isinstance(argument.key, int):
        return f"{name} is given by keyword since JAX {rule.gone}: {way.keyword}="
    value = f"={way.value}" if way.value else "="
    verb = "deprecated" if rule.still_taken else "gone"
    return f"{name} is {way.keyword}{value} now ({verb} since JAX {rule.gone})"
