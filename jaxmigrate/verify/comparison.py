"""What comparing two recorded values gives, and what it depends on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from jaxmigrate.verify.model import Difference, Json, Tolerance
from jaxmigrate.verify.words import shape_text


@dataclass(slots=True)
class Comparison:
    """What comparing two values gave."""

    differences: list[Difference] = field(default_factory=list)
    facts: int = 0
    """How many values were there on both sides to be compared; 0 means that nothing was learnt."""
    sampled: int = 0
    """How many large arrays were compared by samples."""
    rounded: int = 0
    """How many values differ within their tolerance."""
    cut: bool = False
    """Whether a part of a container was too large to be recorded in any way."""
    notes: list[str] = field(default_factory=list)
    dtypes: set[str] = field(default_factory=set)
    """Of the floats that were there to be compared."""

    def differ(self, aspect: str, before: object, after: object, where: str) -> None:
        """Add a difference."""
        self.differences.append(Difference(aspect, str(before), str(after), where))


@dataclass(frozen=True, slots=True)
class Context:
    """What the functions that compare hand on to each other."""

    out: Comparison
    tolerance: Tolerance
    converted: bool
    """Whether the edit put a conversion around this value: then host data may have become a global array."""
    seen: bool
    """Whether the program itself sees this value, so that a global shape where it saw the host-local one is a difference."""


_ASPECTS = {
    "weak": "weak type",
    "addressable": "fully addressable",
    "replicated": "fully replicated",
}


def exactly(c: Context, before: Json, after: Json, where: str, keys: Iterable[str]) -> None:
    """Compare fields that either side may leave unknown."""
    for key in keys:
        a, b = before.get(key), after.get(key)
        if a is not None and b is not None and a != b:
            shown = (shape_text(a), shape_text(b)) if key == "shape" else (a, b)
            c.out.differ(_ASPECTS.get(key, key), *shown, where)
