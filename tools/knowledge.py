"""What the codemods know of the names that JAX removed, counted: for the table in README.md and the test that holds it.

Whether a name is detected is measured: a program that uses it is given to the engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jaxmigrate.engine import rewrite_source
from jaxmigrate.history import Entry, History
from jaxmigrate.model import Settings, Status
from jaxmigrate.registry import history, load

FAMILIES = (
    ("`jax.numpy`", r"jax\.numpy\b"),
    ("`jax.lax`, `nn`, `random`, `scipy`, `image`, `ops`", r"jax\.(lax|nn|random|scipy|image|ops)\b"),
    ("`jax.core`, `jax.extend`, `jax.errors`", r"jax\.(core|extend|errors)\b"),
    ("`jax.interpreters`", r"jax\.interpreters\b"),
    ("`jax.lib`, `jaxlib`", r"(jax\.lib|jaxlib)\b"),
    ("`jax.experimental`", r"jax\.experimental\b"),
    ("flags, `jax.config`", r"(flags|jax\.config)\b"),
    ("`jax` itself and other modules", r""),
)
"""Groups of names and the pattern that begins them; the first that fits counts."""
CHUNK = 400
"""How many names a program uses that is given to the engine."""


@dataclass(slots=True)
class Count:
    """What is known of the names of a group."""

    gone: int = 0
    deprecated: int = 0
    detected: int = 0
    rewritten: int = 0
    advised: int = 0

    def add(self, other: Count) -> None:
        """Take in another group."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def counts() -> dict[str, Count]:
    """The table: group -> its count, accidental exports left out."""
    known = history()
    entries = list(lost(known))
    missed = {entry.symbol for entry in undetected(entries)}
    edited = edits()
    table = {name: Count() for name, _ in FAMILIES}
    for entry in entries:
        advice = known.advice(entry.symbol)
        by_codemod = entry.symbol in edited
        one = Count(
            gone=not entry.alive,
            deprecated=entry.alive,
            detected=entry.symbol not in missed,
            rewritten=by_codemod,
            advised=not by_codemod and advice is not None and bool(advice.text),
        )
        table[next(name for name, pattern in FAMILIES if re.match(pattern, entry.symbol))].add(one)
    return table


def lost(known: History) -> Iterator[Entry]:
    """Names that the newest release lacks or warns of."""
    for section in known.sections():
        for entry in known.members(section).values():
            if "leak" not in entry.kinds and (not entry.alive or entry.deprecated is not None):
                yield entry


def edits() -> frozenset[str]:
    """Names that a codemod has an edit for, at least in some position."""
    advices = history().advices
    codemods = load().codemods.values()
    moved = {name for c in codemods for name in c.moves}
    handled = {name for c in codemods for name in (*c.calls, *c.names)} - {a.symbol for a in advices.values() if a.verb == "none"}
    flags = {a.symbol for a in advices.values() if a.verb != "none" and a.symbol.startswith("flags.")}
    return frozenset(moved | handled | flags)


def undetected(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Names whose use the engine says nothing about at the newest release."""
    todo = list(entries)
    for start in range(0, len(todo), CHUNK):
        yield from _silent(todo[start : start + CHUNK])


def _silent(entries: Sequence[Entry]) -> Iterator[Entry]:
    lines = ["import jax, jaxlib", *map(_use, entries)]
    result = rewrite_source("\n".join(lines).encode() + b"\n", Settings(target=history().versions[-1]))
    if result.status is Status.FAILED:
        raise RuntimeError(result.reason)
    found = {finding.position.line for finding in result.findings}
    yield from (entry for line, entry in enumerate(entries, 2) if line not in found)


def _use(entry: Entry) -> str:
    if entry.symbol.startswith("flags."):
        return f"jax.config.update({entry.symbol.removeprefix('flags.')!r}, 1)"
    return f"print({entry.symbol})"


def table() -> str:
    """The table of README.md."""
    rows = [
        "| names | gone | only deprecated | detected | rewritten | by hand, with advice |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    total = Count()
    for name, count in counts().items():
        total.add(count)
        rows.append(_row(name, count))
    return "\n".join([*rows, _row("**all**", total)]) + "\n"


def _row(name: str, count: Count) -> str:
    every = count.gone + count.deprecated
    detected = f"{count.detected}" + (" (100 %)" if count.detected == every else f" ({count.detected / every:.1%})")
    return f"| {name} | {count.gone} | {count.deprecated} | {detected} | {count.rewritten} | {count.advised} |"
