"""The table of arguments that JAX renamed, dropped or bound to a position or keyword: `arguments.tsv`, whose head explains it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jaxmigrate.model import Version

INTS, STRINGS, WRITTEN = "<ints>", "<strings>", "<written>"
_KINDS = (INTS, STRINGS, WRITTEN)
_ALWAYS = Version.parse("0.2.0")
_GROUP = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Way:
    """One way to write an argument today: by `position`, by `keyword` (perhaps with another value), or not at all."""

    position: int | None = None
    optional: bool = False
    """None may stand at the position where nothing was given."""
    keyword: str = ""
    value: str = ""
    since: Version = _ALWAYS


@dataclass(frozen=True, slots=True)
class Rule:
    """What became of one argument of a function."""

    old: str | int
    values: tuple[str, ...]
    """The constants for which it holds, as `ast.dump` gives them; empty for any."""
    ways: tuple[Way, ...]
    gone: Version | None
    """The release that stopped taking it; None where it is fine as it is."""
    still_taken: bool
    remark: str

    def fits(self, value: ast.expr) -> bool:
        """Whether the rule speaks of this value."""
        if not self.values:
            return True
        if self.values[0] in _KINDS:
            return _TESTS[self.values[0]](value)
        return ast.dump(value) in self.values

    @property
    def position(self) -> int | None:
        """Where it can stand in every release."""
        return next((way.position for way in self.ways if way.position is not None), None)


def _is_ints(value: ast.expr) -> bool:
    if isinstance(value, (ast.Tuple, ast.List)):
        return bool(value.elts) and all(_is_ints(element) for element in value.elts)
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.USub) and _is_ints(value.operand)
    return isinstance(value, ast.Constant) and type(value.value) is int


def _is_strings(value: ast.expr) -> bool:
    if isinstance(value, (ast.Tuple, ast.List)):
        return bool(value.elts) and all(_is_strings(element) for element in value.elts)
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_written(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError):
        return False
    return True


_TESTS = {INTS: _is_ints, STRINGS: _is_strings, WRITTEN: _is_written}


def read() -> dict[str, tuple[Rule, ...]]:
    """Function -> rules, in the order of the table."""
    table: dict[str, list[Rule]] = {}
    for line in Path(__file__).with_name("arguments.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            functions, *fields = [*line.split("\t"), "", "", ""][:5]
            rule = _rule(*fields)
            for function in _expanded(functions):
                table.setdefault(function, []).append(rule)
    return {function: tuple(rules) for function, rules in table.items()}


def _expanded(functions: str) -> Iterator[str]:
    group = _GROUP.search(functions)
    if group is None:
        yield functions
    else:
        yield from (functions[: group.start()] + name + functions[group.end() :] for name in group[1].split(","))


def _rule(old: str, new: str, gone: str, remark: str) -> Rule:
    name, _, values = old.partition("=")
    dumps = tuple(value if value in _KINDS else ast.dump(_constant(value)) for value in values.split("|")) if values else ()
    release = Version.parse(gone.lstrip("~")) if gone else None
    place = int(name[1:]) if name.startswith("#") else name
    return Rule(place, dumps, tuple(map(_way, new.split())), release, gone.startswith("~"), remark)


def _constant(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _way(text: str) -> Way:
    if text.startswith("-"):
        return Way(since=Version.parse(text[2:])) if text[1:] else Way()
    if text.startswith("#"):
        number, _, default = text[1:].partition("=")
        return Way(position=int(number), optional=default == "None")
    spelled, _, since = text.partition("@")
    keyword, _, value = spelled.partition("=")
    return Way(keyword=keyword, value=value, since=Version.parse(since))


TABLE = read()
