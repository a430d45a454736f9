"""What to write for each argument of a call that the table of arguments speaks of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Manual
from jaxmigrate.model import Severity, Version
from jaxmigrate_codemods._arguments import INTS, TABLE, Rule, Way

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument with a rule; `key` is its keyword, or its position."""

    key: str | int
    value: ast.expr
    node: ast.AST
    rule: Rule


@dataclass(slots=True)
class Plan:
    """What happens to the arguments of a call."""

    placed: dict[int, Argument] = field(default_factory=dict)
    """Position -> the keyword argument that moves there."""
    ways: list[tuple[Argument, Way]] = field(default_factory=list)
    reports: list[Manual] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Call:
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

    def arguments(self) -> Iterator[Argument]:
        """Those that have a rule."""
        for number, value in enumerate(self.positional):
            if isinstance(value, ast.Starred):
                break
            yield from self._ruled(number, value, value)
        for keyword in self.node.keywords:
            if keyword.arg is not None:
                yield from self._ruled(keyword.arg, keyword.value, keyword)

    def _ruled(self, key: str | int, value: ast.expr, node: ast.AST) -> Iterator[Argument]:
        rule = next((r for r in TABLE[self.function] if r.old == key and r.fits(value)), None)
        if rule is not None and rule.gone is not None:
            yield Argument(key, value, node, rule)

    def name(self, argument: Argument) -> str:
        """The argument, for messages."""
        if isinstance(argument.key, str):
            return f"{argument.key}= of {self.label}"
        return f"the {_ORDINALS[argument.key]} argument of {self.label}"


def place_arguments(call: Call, arguments: Sequence[Argument], plan: Plan) -> None:
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


def _keyword(argument: Argument, target: Version) -> Way | None:
    return next((way for way in argument.rule.ways if way.keyword and way.since <= target), None)


def decide(call: Call, argument: Argument, plan: Plan) -> None:
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
        now = f"{way.keyword}=" if way.keyword else "not needed"
        text = f"{name} is {now} since JAX {way.since}, which the target {call.target} lacks: choose by version"
        plan.reports.append(Manual(text, argument.node, severity))
    elif way.keyword and any(k.arg == way.keyword and k is not argument.node for k in call.node.keywords):
        plan.reports.append(Manual(f"{name} is {way.keyword}= now, which is given as well", argument.node, severity))
    else:
        plan.ways.append((argument, way))


def check_order(call: Call, arguments: Sequence[Argument], plan: Plan) -> None:
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


def _place_of(argument: Argument) -> int:
    assert isinstance(argument.key, int)
    return argument.key


def _since(argument: Argument) -> str:
    return f"gone since JAX {argument.rule.gone}"
