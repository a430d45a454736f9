"""What became of a dotted name of a library, by its history: gone, only deprecated, younger than the target, or never there."""

from __future__ import annotations

import enum
import sys
from dataclasses import dataclass
from itertools import takewhile

from jaxmigrate.history import Entry, History
from jaxmigrate.model import Version


class Fate(enum.Enum):
    """Why a name cannot be used as it stands."""

    GONE = "gone"
    NEWER = "newer"
    """The newest release has it, the target does not."""
    DEPRECATED = "deprecated"
    PRIVATE = "private"
    """A private name that the newest release lacks; about older ones nothing is on record."""
    UNKNOWN = "unknown"
    """No release on record had it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The first name of a chain that is at fault."""

    fate: Fate
    symbol: str
    """The name at fault; of a gone module, the deepest name below it that is on record."""
    root: str
    """The shortest prefix that is at fault: the gone module of a gone name."""
    entry: Entry | None = None
    """The life of `root`."""


def judge(history: History, qualified: str, target: Version, *, as_module: bool = False) -> Verdict | None:
    """What is wrong with a dotted name; None when nothing is, or nothing is known.

    Only names of modules are looked at: what follows the first object that is none is its own business. `as_module` says that
    the whole is imported as a module, which an object of that name is not.
    """
    first, *names = qualified.split(".")
    rest = [*takewhile(lambda name: not _is_special(name), names)]
    if first not in history.members(""):
        return None
    if rest and any(part.startswith("_") for part in rest) and (found := _private(history, ".".join((first, *rest)))):
        return found
    symbol = first
    soft: Verdict | None = None
    for number, part in enumerate(rest):
        parent, symbol = symbol, f"{symbol}.{part}"
        entry = history.members(parent).get(part)
        last = number == len(rest) - 1
        if entry is None:
            return _missing(history, parent, part) or _beyond(history, first, qualified)
        if _may_live(history, entry, parent):
            return soft
        if not entry.alive or (as_module and last and _is_object(history, entry)):
            return Verdict(Fate.GONE, _deepest(history, symbol, rest[number + 1 :]), symbol, entry)
        soft = _soft(history, entry, target, soft)
        if not history.is_module(symbol):
            break
    return soft


def _is_special(name: str) -> bool:
    """Whether every module has it: ``__file__``, ``__dict__``."""
    return name.startswith("__") and name.endswith("__")


def _soft(history: History, entry: Entry, target: Version, soft: Verdict | None) -> Verdict | None:
    """What is wrong with a living name, or was with the module it lives in (`soft`)."""
    if entry.since > target:  # the name itself is named rather than its module
        older = soft is not None and soft.entry is not None and soft.entry.since > entry.since
        return soft if older else Verdict(Fate.NEWER, entry.symbol, entry.symbol, entry)
    if soft is None and entry.deprecated is not None and entry.deprecated >= entry.since and not _is_object(history, entry):
        return Verdict(Fate.DEPRECATED, entry.symbol, entry.symbol, entry)
    return soft


def is_dead(history: History, qualified: str) -> bool:
    """Whether the newest release lacks the name, as far as is known."""
    found = judge(history, qualified, history.versions[-1]) if history.versions else None
    return found is not None and found.fate in (Fate.GONE, Fate.PRIVATE, Fate.UNKNOWN)


def _private(history: History, qualified: str) -> Verdict | None:
    """A private name that the newest release lacks, as far as its own record tells."""
    if history.entry(qualified) is not None or history.has_private(qualified) is not False:
        return None
    parts = qualified.split(".")
    prefixes = (".".join(parts[:end]) for end in range(2, len(parts) + 1))
    root = next((p for p in prefixes if history.has_private(p) is False), qualified)
    return Verdict(Fate.PRIVATE, qualified, root)


def _beyond(history: History, library: str, qualified: str) -> Verdict | None:
    """A name below a library whose own names alone are on record; that of the newest release says what its packages hold."""
    owner = history.entry(library)
    return _private(history, qualified) if owner is not None and "open" in owner.kinds else None


def _may_live(history: History, entry: Entry, parent: str) -> bool:
    """Whether a name was last seen by reading the source of a module that is still there: it may be bound in a way not seen."""
    if entry.alive or "static" not in entry.kinds or entry.symbol in history.advices:
        return False
    owner = history.entry(parent)
    return owner is None or owner.alive


def _is_object(history: History, entry: Entry) -> bool:
    """Whether a name that holds others is an object of the newest release, though it was a module once."""
    return "module" not in entry.kinds and history.is_module(entry.symbol)


def _deepest(history: History, symbol: str, rest: list[str]) -> str:
    for part in rest:
        if part not in history.members(symbol) and f"{symbol}.{part}" not in history.advices:
            break
        symbol = f"{symbol}.{part}"
    return symbol


def _missing(history: History, parent: str, name: str) -> Verdict | None:
    """A name that a module is not known to have had: never there, unless the record of the module may have a gap."""
    owner = history.entry(parent)
    symbol = f"{parent}.{name}"
    if owner is None and "." in parent:
        return None
    if owner is not None and "module" not in owner.kinds and len(owner.ranges) > 1:
        return Verdict(Fate.GONE, symbol, symbol, Entry(symbol, owner.ranges[:-1]))  # a name that is back as something else
    if owner is not None and "open" in owner.kinds and history.has_private(symbol) is False:
        return Verdict(Fate.PRIVATE, symbol, symbol)
    if (
        name.startswith("_")
        or (owner is not None and "open" in owner.kinds)
        or (owner is not None and not _is_complete(history, owner))
    ):
        return None
    if _may_leak(history, parent, name):
        return None
    return Verdict(Fate.UNKNOWN, symbol, symbol)


def _is_complete(history: History, owner: Entry) -> bool:
    """Whether the record of a module holds all its names: it was imported, and it had some."""
    members = history.members(owner.symbol)
    return "module" in owner.kinds and bool(members) and not any("static" in e.kinds for e in members.values() if e.alive)


def _may_leak(history: History, parent: str, name: str) -> bool:
    """Whether the name may be an import of the module's own, which the record leaves out where it is of no library's."""
    if not any("leak" in e.kinds for e in history.members(parent).values() if e.alive):
        return False
    import collections.abc
    import functools
    import typing

    standard = (typing, functools, collections.abc, collections)
    return (
        name in ("np", "annotations", "dataclass", "field", "replace", "op", "it")
        or name in sys.stdlib_module_names
        or any(hasattr(module, name) for module in standard)
    )
