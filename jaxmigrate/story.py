"""The life of one name of a library, told from the history: what was asked for, what became of it, what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from jaxmigrate.codemod import Codemod
from jaxmigrate.history import Advice, Entry, History, Successor
from jaxmigrate.model import Version
from jaxmigrate.question import asked as name_asked

_MANY = 8
"""How many names of the same last part are listed."""


@dataclass(frozen=True, slots=True)
class Instead:
    """A successor, and the targets it is right for."""

    name: str
    since: Version
    """Usable from this release on."""
    before: Version | None
    """For targets from this release on there is a newer spelling; None for the newest."""


@dataclass(frozen=True, slots=True)
class Holds:
    """The names of a module, counted."""

    names: int
    """All that it ever had."""
    gone: int
    codemods: tuple[str, ...]
    """Who rewrites some of them."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Another behaviour under the same name."""

    codemod: Codemod
    """Who speaks of it in programs that are older."""
    releases: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """What there is to tell about a name."""

    symbol: str
    entry: Entry
    removed: Version | None
    instead: tuple[Instead, ...]
    advice: str
    by_hand: bool
    """No codemod has an edit for it."""
    codemods: tuple[Codemod, ...]
    """Who deals with it."""
    changed: tuple[Changed, ...]
    """What it does otherwise than before."""
    lost: tuple[Entry, ...]
    """Arguments and members that it lost."""
    also: tuple[str, ...]
    """Other names that the question may have meant."""
    holds: Holds | None = None
    """What there is to say about the names of a module."""
    of: str = ""
    """The member or argument that was asked for, where only what has it is on record."""

    @property
    def state(self) -> str:
        """``alive``, ``deprecated`` or ``gone``."""
        if not self.entry.alive:
            return "gone"
        return "deprecated" if self.entry.deprecated is not None else "alive"


def tell(question: str, history: History, codemods: Mapping[str, Codemod], short: Mapping[str, str]) -> Story | None:
    """The story of the name that was asked for; None when no release on record had one like it.

    `short` are the usual names of modules (``jnp``); a name without a module is looked for in all of them.
    """
    asked = name_asked(question)
    names = list(meant(asked, history, short))
    if names:
        return _story(names[0], names[1:], history, codemods)
    if (moved := _moved(asked, codemods)) is not None:
        return moved
    owner, part = _owner(asked)
    names = list(meant(owner, history, short)) if part else []
    entry = history.entry(names[0]) if names else None
    if entry is None or not (asked.endswith(")") or "class" in entry.kinds):
        return None
    changed = tuple(_changed(entry.symbol + part, entry, codemods.values()))
    return replace(_story(entry.symbol, [], history, codemods), of=part, changed=changed)


def _moved(name: str, codemods: Mapping[str, Codemod]) -> Story | None:
    """The story of a name that no record has, but a codemod moves: one of jaxlib, or a private one."""
    dealing = tuple(c for c in codemods.values() if name in c.moves)
    if not dealing:
        return None
    codemod, move = dealing[0], dealing[0].moves[name]
    entry = Entry(name, (), Version.parse(codemod.deprecated) if codemod.deprecated else None)
    removed = Version.parse(codemod.removed) if codemod.removed else None
    successors = move.successors or (Successor(Version.parse(codemod.since), move.new),)
    return Story(name, entry, removed, tuple(_successive(successors)), "", False, dealing, (), (), ())


def _owner(name: str) -> tuple[str, str]:
    """What has a member or takes an argument, and that."""
    if name.endswith(")"):
        return name.partition("(")[0], name.partition("(")[2].rstrip(")")
    owner, _, member = name.rpartition(".")
    return owner, f".{member}" if owner else ""


def meant(asked: str, history: History, short: Mapping[str, str]) -> Iterator[str]:
    """The names on record that a question may mean, the likeliest first."""
    first, dot, rest = asked.partition(".")
    flag = _flag(asked)
    whole = short.get(first, first) + dot + rest if first in short else ""
    names = [_namesake(whole, history) if not dot else "", asked, whole, flag, f"jax.{asked}" if dot else ""]
    if flag and asked.startswith(("config.", "jax.config.")):
        names.reverse()
    seen = set()
    for name in names:
        entry = _entry(name, history) if name else None
        if entry is not None and entry.symbol not in seen:
            seen.add(entry.symbol)
            yield entry.symbol
    if not seen and not dot:
        yield from _by_last_part(asked, history)
    elif not seen and (found := _whatever_case(short.get(first.lower(), first) + dot + rest, history)):
        yield found


def _namesake(module: str, history: History) -> str:
    """The function that a module is named after; empty when none lives there."""
    symbol = f"{module}.{module.rpartition('.')[2]}"
    entry = history.entry(symbol) if module else None
    return symbol if entry is not None and entry.alive and not entry.kinds & {"leak", "module"} else ""


def _entry(name: str, history: History) -> Entry | None:
    """What is on record of a name; one with advice alone lives as long as what it belongs to."""
    found = history.entry(name)
    advice = history.advices.get(name) if found is None else None
    owner = history.entry(_owner(name)[0]) if advice is not None else None
    if advice is None or owner is None:
        return found
    return Entry(name, owner.ranges if advice.verb != "move" else tuple(r for r in owner.ranges if r.last is not None))


def _whatever_case(name: str, history: History) -> str:
    """The name on record that differs in capitals alone; empty when there is none."""
    module, _, leaf = name.rpartition(".")
    return next((f"{module.lower()}.{m}" for m in history.members(module.lower()) if m.lower() == leaf.lower()), "")


def near(asked: str, history: History, short: Mapping[str, str]) -> str:
    """A name on record that is spelled like the one asked for; empty when none is."""
    first, dot, rest = asked.partition(".")
    whole = short.get(first, first) + dot + rest
    parent, _, name = whole.rpartition(".")
    found = difflib.get_close_matches(name, history.members(parent), 1, 0.75)
    if found:
        return f"{parent}.{found[0]}"
    while "." in parent and not history.members(parent):
        parent, _, name = parent.rpartition(".")
    found = difflib.get_close_matches(name, history.members(parent), 1, 0.75)
    return f"{parent}.{found[0]}" if found else ""


def _flag(name: str) -> str:
    leaf = name.rpartition(".")[2]
    return f"flags.{leaf.lower()}" if leaf.lower().startswith("jax_") or name.startswith("flags.") else ""


def _by_last_part(name: str, history: History) -> list[str]:
    if name.endswith(")"):
        function, part = _owner(name)
        symbols = (f"{s.rpartition(' ')[2]}({part})" for s in history.all_sections() if s.endswith(f".{function}"))
        found = [e for symbol in symbols if (e := history.entry(symbol)) is not None]
    else:
        found = [e for s in history.all_sections() if (e := history.section(s).get(name)) is not None]
    found.sort(key=lambda e: _likelihood(history, e))
    return [e.symbol for e in found if "leak" not in e.kinds] or [e.symbol for e in found[:1]]


def _likelihood(history: History, entry: Entry) -> tuple[object, ...]:
    """How likely a name is meant by its last part: first what is in the front room today, then what there is to say about."""
    in_front = entry.alive and entry.symbol.count(".") == 1
    silent = entry.symbol not in history.advices and not history.lost_parameters(entry.symbol)
    unlikely = "module" in entry.kinds or entry.symbol.startswith("flags.")
    return "leak" in entry.kinds, not in_front, unlikely, silent, entry.symbol.count("."), entry.symbol


def _story(symbol: str, also: list[str], history: History, codemods: Mapping[str, Codemod]) -> Story:
    entry = _entry(symbol, history)
    assert entry is not None
    advice = history.advices.get(symbol)
    if advice is None and (not entry.alive or entry.deprecated is not None):
        advice = history.advice(symbol)
    dealing = tuple(_dealing(symbol, advice, codemods))
    text = advice.text.removeprefix("?") if advice is not None else ""
    by_hand = not any(_has_edit(symbol, advice, codemod) for codemod in dealing)
    if symbol.endswith(")") and symbol not in history.advices and (tried := _tried(symbol, codemods)) is not None:
        by_hand, text, dealing = tried
    lost = sorted({**history.lost_parameters(symbol), **history.lost_members(symbol)}.items())
    return Story(
        symbol,
        entry,
        history.removed(entry),
        tuple(_successive(advice.successors)) if advice is not None else (),
        text,
        by_hand,
        dealing,
        tuple(_changed(symbol, entry, codemods.values())),
        tuple(e for _, e in lost),
        tuple(also[:_MANY]),
        _holds(symbol, history) if history.is_module(symbol) else None,
    )


def _changed(symbol: str, entry: Entry, codemods: Iterable[Codemod]) -> Iterator[Changed]:
    """Who speaks of another behaviour of a name, in releases that had it."""
    for codemod in codemods:
        releases = {Version.parse(version) for version in codemod.changes(symbol)}
        if releases := {version for version in releases if entry.last is None or version <= entry.last}:
            yield Changed(codemod, tuple(sorted(releases)))


def _has_edit(symbol: str, advice: Advice | None, codemod: Codemod) -> bool:
    """Whether a codemod has an edit for a name, as far as its declarations tell."""
    if symbol in codemod.moves:
        return True
    if advice is not None and advice.verb == "none":
        return False
    by_name = symbol in codemod.names or symbol in codemod.calls
    return by_name or not _is_name(symbol, advice)


def _is_name(symbol: str, advice: Advice | None) -> bool:
    """Whether codemods register the name itself: not an argument, a flag or the member of a class."""
    by_other_means = symbol.endswith(")") or symbol.startswith("flags.") or symbol.split(".")[-2][:1].isupper()
    return advice is None or not by_other_means


def _tried(symbol: str, codemods: Mapping[str, Codemod]) -> tuple[bool, str, tuple[Codemod, ...]] | None:
    """What the codemods do about a call with a keyword argument: whether it is left to do by hand, what they say, and who."""
    from jaxmigrate.engine import rewrite_source
    from jaxmigrate.model import Outcome, Settings
    from jaxmigrate.registry import known_newest

    function, _, argument = symbol.rstrip("=)").partition("(")
    program = f"import {function.partition('.')[0]}\n{function}({argument}=value)\n"
    for finding in rewrite_source(program.encode(), Settings(target=known_newest())).findings:
        if finding.codemod in codemods:
            return finding.outcome is not Outcome.APPLIED, finding.message, (codemods[finding.codemod],)
    return None


def _holds(module: str, history: History) -> Holds | None:
    members = [e for e in history.members(module).values() if "leak" not in e.kinds]
    advised = [a for e in members if not e.alive and (a := history.advices.get(e.symbol)) is not None and a.verb != "none"]
    codemods = tuple(sorted({a.codemod for a in advised}))
    return Holds(len(members), sum(not e.alive for e in members), codemods) if members else None


def _dealing(symbol: str, advice: Advice | None, codemods: Mapping[str, Codemod]) -> Iterator[Codemod]:
    first = codemods.get(advice.codemod) if advice is not None and advice.verb != "none" else None
    if first is not None:
        yield first
    for codemod in codemods.values():
        known = (codemod.moves, codemod.names, codemod.calls, codemod.about)
        if codemod is not first and any(symbol in names for names in known):
            yield codemod


def _successive(successors: Iterable[Successor]) -> Iterator[Instead]:
    before = None
    for successor in successors:
        yield Instead(successor.name, successor.since, before)
        before = successor.since
