"""Arguments that JAX renamed, dropped, or takes only by keyword or by position now; `arguments.tsv` lists them.

https://docs.jax.dev/en/latest/changelog.html

Where an argument can stand at a position in every release, that is what is written: `jnp.clip(x, 0, 1)` suits all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from jaxmigrate.model import Severity, Version
from jaxmigrate.registry import history
from jaxmigrate_codemods._arguments import INTS, TABLE, Rule, Way

if TYPE_CHECKING:
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
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument with a rule; `key` is its keyword, or its position."""

    key: str | int
    value: ast.expr
    node: ast.AST
    rule: Rule


@dataclass(slots=True)
class _Plan:
    """What happens to the arguments of a call."""

    placed: dict[int, _Argument] = field(default_factory=dict)
    """Position -> the keyword argument that moves there."""
    ways: list[tuple[_Argument, Way]] = field(default_factory=list)
    reports: list[Manual] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a function of the table."""

    node: ast.Call
    function: str
    label: str
    """How messages name the function."""
    partial: bool
    source: Source
    target: Version

    @property
    def positional(self) -> Sequence[ast.expr]:
        """The positional arguments of the function itself."""
        return self.node.args[1:] if self.partial else self.node.args

    @property
    def starred(self) -> bool:
        """Whether positions are not known."""
        return any(isinstance(a, ast.Starred) for a in self.node.args)

    def arguments(self) -> Iterator[_Argument]:
        """Those that have a rule."""
        for number, value in enumerate(self.positional):
            if isinstance(value, ast.Starred):
                break
            yield from self._ruled(number, value, value)
        for keyword in self.node.keywords:
            if keyword.arg is not None:
                yield from self._ruled(keyword.arg, keyword.value, keyword)

    def _ruled(self, key: str | int, value: ast.expr, node: ast.AST) -> Iterator[_Argument]:
        rule = next((r for r in TABLE[self.function] if r.old == key and r.fits(value)), None)
        if rule is not None and rule.gone is not None:
            yield _Argument(key, value, node, rule)

    def name(self, argument: _Argument) -> str:
        """The argument, for messages."""
        if isinstance(argument.key, str):
            return f"{argument.key}= of {self.label}"
        return f"the {_ORDINALS[argument.key]} argument of {self.label}"


@codemod.call(*(function for function in TABLE if not function.startswith(_METHODS)))
def function(site: CallSite) -> Reports:
    """A call of a function, or a partial of it."""
    return _reports(_Call(site.node, site.symbol, site.symbol, site.partial, site.source, site.target))


@codemod.attribute("sort", "argsort")
def method(site: AttributeSite) -> Reports:
    """Methods of arrays, where the receiver is known to be one."""
    call = site.call()
    if call is None or site.receiver_type != "jax.Array":
        return ()
    return _reports(_Call(call, _METHODS + site.node.attr, f"x.{site.node.attr}", False, site.source, site.target))


@codemod.attribute(*(name.removeprefix(_PLACES) for name in TABLE if name.startswith(_PLACES)))
def place(site: AttributeSite) -> Reports:
    """``x.at[i].set(y, True)``."""
    call, subscript = site.call(), site.value
    if call is None or not isinstance(subscript, ast.Subscript) or getattr(subscript.value, "attr", "") != "at":
        return ()
    return _reports(_Call(call, _PLACES + site.node.attr, f"x.at[...].{site.node.attr}", False, site.source, site.target))


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
def lost(site: CallSite) -> Iterator[Manual]:
    """Any other keyword that a function of today took once."""
    record = site.source.facts.history
    entry, parameters = record.entry(site.symbol), record.lost_parameters(site.symbol)
    if entry is None or not entry.alive or _OF_ENUM in parameters:
        return
    ruled = {rule.old for rule in TABLE.get(site.symbol, ())}
    for keyword in site.node.keywords:
        found = parameters.get(keyword.arg or "")
        if found is not None and not found.alive and keyword.arg not in ruled:
            yield site.manual(f"{keyword.arg}= of {site.symbol} is gone since JAX {record.removed(found)}", keyword)


def _reports(call: _Call) -> Iterator[Rewrite | Manual]:
    plan = _Plan()
    arguments = list(call.arguments())
    _place(call, arguments, plan)
    placed = list(plan.placed.values())
    for argument in arguments:
        if argument not in placed:
            _decide(call, argument, plan)
    _check_order(call, arguments, plan)
    if plan.placed:
        yield _by_position(call, plan.placed)
    elif plan.ways:
        yield _edited(call, plan.ways)
    yield from plan.reports


# -- what to write --------------------------------------------------------------------------------------------------------------


def _place(call: _Call, arguments: Sequence[_Argument], plan: _Plan) -> None:
    """Keyword arguments that can follow the positional ones, as far as they reach without a gap."""
    if call.partial or call.starred:
        return
    wanted = {a.rule.position: a for a in arguments if isinstance(a.key, str) and a.rule.position is not None}
    position: int = len(call.positional)
    reach = max((p for p in wanted if p is not None), default=-1)
    optional = {r.position for r in TABLE[call.function] for way in r.ways if way.optional}
    while position <= reach:
        if position in wanted:
            plan.placed[position] = wanted[position]
        elif position not in optional or all(
            _keyword(a, call.target) for p, a in wanted.items() if p is not None and p > position
        ):
            return
        position += 1


def _keyword(argument: _Argument, target: Version) -> Way | None:
    return next((way for way in argument.rule.ways if way.keyword and way.since <= target), None)


def _decide(call: _Call, argument: _Argument, plan: _Plan) -> None:
    """Choose what to write for an argument that takes no other position."""
    rule, name = argument.rule, call.name(argument)
    severity = Severity.LOW if rule.still_taken else None
    since = f"deprecated since JAX {rule.gone}" if rule.still_taken else f"gone since JAX {rule.gone}"
    if not rule.ways:
        plan.reports.append(Manual(f"{name} is {since}: {rule.remark}", argument.node, severity))
        return
    way = _keyword(argument, call.target) or next((w for w in rule.ways if w.position is None), None)
    if way is None:
        where = f"its place is the {_ORDINALS[rule.position or 0]} argument now"
        plan.reports.append(Manual(f"{name} is {since}; {where}, which cannot be written here", argument.node, severity))
    elif INTS in rule.values and argument.key != len(call.positional) - 1:
        plan.reports.append(Manual(f"{name} and those after it must be given by keyword: see which release this was written for"))
    elif way.since > call.target and (rule.gone is None or rule.gone > call.target):
        text = f"{name} is {way.keyword}= since JAX {way.since}, which the target {call.target} lacks: choose by version"
        plan.reports.append(Manual(text, argument.node, severity))
    elif way.keyword and any(k.arg == way.keyword and k is not argument.node for k in call.node.keywords):
        plan.reports.append(Manual(f"{name} is {way.keyword}= now, which is given as well", argument.node, severity))
    else:
        plan.ways.append((argument, way))


def _check_order(call: _Call, arguments: Sequence[_Argument], plan: _Plan) -> None:
    """Of positional arguments all from one on change, or none: what is left must not slide into another place."""
    ruled = [argument for argument in arguments if isinstance(argument.key, int)]
    changed = {argument.key for argument, _ in plan.ways}
    if not ruled or (not call.starred and all(n in changed for n in range(_place_of(ruled[0]), len(call.positional)))):
        return
    plan.ways = [entry for entry in plan.ways if not isinstance(entry[0].key, int)]
    if not plan.reports:
        plan.reports.append(
            Manual(f"{call.name(ruled[0])} is {_since(ruled[0])}; give what follows it by keyword", ruled[0].node)
        )


def _place_of(argument: _Argument) -> int:
    assert isinstance(argument.key, int)
    return argument.key


def _since(argument: _Argument) -> str:
    return f"gone since JAX {argument.rule.gone}"


# -- the edits ------------------------------------------------------------------------------------------------------------------


def _by_position(call: _Call, placed: Mapping[int, _Argument]) -> Rewrite:
    names = ", ".join(f"{argument.key}=" for argument in placed.values())
    gone = max(argument.rule.gone for argument in placed.values() if argument.rule.gone)
    message = f"{names} of {call.label} {'are' if len(placed) > 1 else 'is'} gone since JAX {gone}; by position it works in all"
    remarks = [argument.rule.remark for argument in placed.values() if argument.rule.remark]
    moved = [argument.node for _, argument in sorted(placed.items())]
    first = len(call.positional)
    if list(placed) == list(range(first, first + len(placed))) and moved == call.node.keywords[: len(moved)]:
        changes: tuple[Change, ...] = tuple(_without_name(call.source, argument) for argument in placed.values())
    else:
        changes = (_reordered(call, placed),)
        if not all(call.source.is_pure(k.value) for k in call.node.keywords):
            remarks.append("its arguments can be evaluated in another order")
    return Rewrite("; ".join([message, *remarks]), REVIEW if remarks else SAFE, changes)


def _without_name(source: Source, argument: _Argument) -> ReplaceText:
    start = source.span(argument.node)[0]
    found = re.match(rb"\w+\s*=\s*", source.utf8[start : source.span(argument.value)[0]])
    assert found is not None
    return ReplaceText(start, start + found.end(), "")


def _reordered(call: _Call, placed: Mapping[int, _Argument]) -> ReplaceExpr:
    """The call written anew, with what was not given filled in as None."""
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
        pieces[f"k{number}"] = keyword.value
        texts.append(f"**{{k{number}}}" if keyword.arg is None else f"{keyword.arg}={{k{number}}}")
    return ReplaceExpr(call.node, Template(f"{{function}}({', '.join(texts)})", pieces))


def _edited(call: _Call, ways: Sequence[tuple[_Argument, Way]]) -> Rewrite:
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
    lost = [a for a, w in ways if not w.keyword and not call.source.is_pure(a.value)]
    return replace(rewrite, applicability=REVIEW, message=f"{message}; what it computes is left out") if lost else rewrite


def _told(call: _Call, argument: _Argument, way: Way) -> str:
    name, rule = call.name(argument), argument.rule
    if not way.keyword:
        return f"{name} is gone since JAX {rule.gone}; left out, the meaning is the same"
    if isinstance(argument.key, int):
        return f"{name} is given by keyword since JAX {rule.gone}: {way.keyword}="
    value = f"={way.value}" if way.value else "="
    verb = "deprecated" if rule.still_taken else "gone"
    return f"{name} is {way.keyword}{value} now ({verb} since JAX {rule.gone})"
