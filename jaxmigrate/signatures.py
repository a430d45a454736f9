"""How functions were and are called: of those that refuse calls today which an older release took, what each takes.

Read from a text file of a pack, `signatures.tsv` (its head says how).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jaxmigrate.model import Version

PARTIALS = frozenset({"functools.partial", "functools.partialmethod", "toolz.curry", "cytoolz.curry", "toolz.partial"})
"""What makes a function of another one and some of its arguments."""
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call; of a partial what is there already."""

    positional: int
    keywords: frozenset[str] = frozenset()
    partial: bool = False


def given(call: ast.Call, *, partial: bool = False) -> Given | None:
    """What a call gives; of a partial what follows the function. None where ``*`` or ``**`` hide it."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    return Given(len(call.args) - partial, frozenset(k.arg for k in call.keywords if k.arg), partial)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes, without the values of defaults."""

    text: str
    only_positional: tuple[str, ...]
    free: tuple[str, ...]
    """Given by position or by keyword."""
    only_keyword: tuple[str, ...]
    required: frozenset[str]
    any_positional: bool
    any_keyword: bool

    def shown(self) -> str:
        """The signature for messages, without what is meant for others."""
        parts = (part for part in self.text.split(",") if not (part.startswith("_") and part[-1] == "="))
        return f"({', '.join(f'{part}...' if part[-1:] == '=' else part for part in parts)})"

    def refusal(self, given: Given) -> str:
        """Why a call with these arguments raises TypeError; empty where it does not."""
        places = (*self.only_positional, *self.free)
        if given.positional > len(places) and not self.any_positional:
            return f"at most {_counted(len(places))} can be given by position"
        by_place, last = frozenset(places[: given.positional]), given.keywords
        if unknown := sorted(last.difference(self.free, self.only_keyword)) if not self.any_keyword else []:
            names = [name for name in unknown if name in self.only_positional]
            return f"{names[0]} can be given by position only" if names else f"there is no {unknown[0]}="
        if twice := by_place & last.intersection(self.free):
            return f"{min(twice)} would be given twice"
        missing = [n for n in (*places, *self.only_keyword) if n in self.required - by_place - last]
        if missing and not given.partial:
            return f"{' and '.join(missing)} must be given"
        return ""

    def calls(self) -> Iterator[Given]:
        """Calls that it takes, as many as tell it from another: by position as far as that goes, and each name by keyword."""
        places = (*self.only_positional, *self.free)
        for count in range(len(self.required.intersection(self.only_positional)), len(places) + 1):
            needed = frozenset(n for n in (*self.free, *self.only_keyword) if n in self.required - frozenset(places[:count]))
            named = [frozenset({n}) for n in (*places[count:], *self.only_keyword) if n not in self.only_positional]
            yield from (Given(count, needed | more) for more in (frozenset[str](), *named))
        if self.any_positional:
            yield Given(len(places) + 1, frozenset(n for n in self.only_keyword if n in self.required))


def _counted(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


@cache
def signature(text: str) -> Signature:
    """``x,/,y=,*,z`` as the table writes it."""
    parts = [part for part in text.split(",") if part]
    names = [part.rstrip("=") for part in parts]
    stop = next((n for n, part in enumerate(parts) if part.startswith("*")), len(parts))
    slash = names.index("/") if "/" in names else -1
    return Signature(
        text,
        tuple(names[: max(slash, 0)]),
        tuple(names[slash + 1 : stop]),
        tuple(name for name in names[stop:] if not name.startswith("*")),
        frozenset(part for part in parts if part[-1] != "=" and part[0] not in "*/"),
        any(part.startswith("*") and part != "*" and not part.startswith("**") for part in parts),
        any(part.startswith("**") for part in parts),
    )


@dataclass(frozen=True, slots=True)
class Life:
    """How one function is called."""

    today: Signature
    before: tuple[tuple[Version, Signature], ...]
    """What older releases took that is refused today, each with the last of them; the newest first."""


class Signatures:
    """The tables of all packs."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        lines = (line for text in texts for line in text.splitlines() if line and not line.startswith("#"))
        self._lines = {name: fields for line in lines for names, fields in [line.split("\t", 1)] for name in names.split()}

    @property
    def functions(self) -> Mapping[str, str]:
        """Function -> the rest of its line."""
        return self._lines

    def life(self, function: str) -> Life | None:
        """What is on record of a function; None if every call that any release took is taken today."""
        fields = self._lines.get(function)
        return None if fields is None else life(fields)


@cache
def life(fields: str) -> Life:
    """The fields of a line behind its functions."""
    today, *before = fields.split("\t")
    found = (entry.partition(" ") for entry in before)
    return Life(signature(today), tuple((Version.parse(last), signature(text)) for last, _, text in found))
