"""Write ``codemods/quiet.txt``: what lets the run pass over a file without loading a codemod (see `jaxmigrate.quiet`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from jaxmigrate.codemod import Codemod, Handler
from jaxmigrate.completeness import OBJECTS
from jaxmigrate.fates import Fate, judge
from jaxmigrate.history import Entry, History
from jaxmigrate.quiet import ALL, ALWAYS, ASKED, FILE, MODULE, OBJECT, WITH, Table
from jaxmigrate.registry import load
from jaxmigrate.signatures import Signatures

PATH = Path(__file__).resolve().parents[1] / "codemods" / FILE
_LOST = "parameters of "
_HEAD = """\
# Derived by tools/words.py from the codemods and the history: of what a run can say nothing at the newest release.
# Names of modules stand behind the release from which on they are there; / is a module, : an object used like one, * a name that
# some codemod looks at (only for programs of a known age, or with certain arguments).
"""


def text() -> str:
    """The table."""
    codemods, history = list(load().codemods.values()), load().history
    looked = _Looked(codemods)
    looked.learn(history)
    names = "".join(_names(history, looked.everything))
    head = f"{_HEAD}[libraries]\n{' '.join(sorted(history.members('')))}\n"
    known = Table(f"{head}[loud]\n[calls]\n[takes]\n[methods]\n{names}")
    loud = {name: owners for name, owners in looked.loud.items() if known.is_quiet(name)}
    asked = [n for n in sorted(looked.everything) if n.startswith("jax.") and known.is_quiet(n) and not _own(known, n)]
    sections = {
        "codemods": "\n\n".join(filter(None, map(_triggers, codemods))),
        "loud": _listed(loud),
        "calls": _listed(looked.calls),
        "takes": "\n".join(_takes(load().facts.signatures)),
        "methods": _listed(looked.methods),
        "asked": "\n".join(asked),
        "members": "\n".join(
            sorted(name for name, owners in history.members_gone.items() if not owners.keys().isdisjoint(OBJECTS))
        ),
    }
    sections["gone"] = _listed(_gone(history))
    return head + "".join(f"[{section}]\n{body}\n" for section, body in sections.items()) + names


class _Looked:
    """What all codemods look at."""

    def __init__(self, codemods: Iterable[Codemod]) -> None:
        self.everything: set[str] = set()
        """Qualified names for which anything is registered."""
        self.loud: dict[str, set[str]] = {}
        self.calls: dict[str, set[str]] = {}
        self.methods: dict[str, set[str]] = {}
        for codemod in codemods:
            self.everything |= codemod.moves.keys() | codemod.names.keys() | codemod.calls.keys()
            speaking = [*codemod.moves, *codemod.gone, *_open(codemod.names), *_needed(codemod)]
            for name, handlers in codemod.calls.items():
                speaking += [name] if _arguments(codemod, name, handlers, self.calls) else []
            for name in speaking:
                self.loud.setdefault(name, set()).add(codemod.name)
            for name, handlers in codemod.attributes.items():
                _arguments(codemod, name, handlers, self.methods)

    def learn(self, history: History) -> None:
        """Add what is said by the history alone, by whatever way a name is reached."""
        for section in ("flags", "jax.config"):
            for name, entry in history.members(section).items():
                if not entry.alive:
                    self.loud.setdefault(f"absl.flags.FLAGS.{name}", set()).add(ALL)
        for name in ("jax.config.read", "jax.config.values"):
            self.loud.setdefault(name, set()).add(ALL)
        for owner, name in ((o, n) for n, owners in history.members_gone.items() for o in owners):
            self.loud.setdefault(f"{owner}.{name}", set()).add(ALL)
        for section in history.all_sections():
            function = section.removeprefix(_LOST)
            lost = [name for name, entry in history.section(section).items() if not entry.alive] if function != section else []
            if lost:
                self.calls.setdefault(function, set()).update(lost)


def _takes(signatures: Signatures) -> Iterator[str]:
    """What functions take that refuse calls of once."""
    lives = ((function, signatures.life(function)) for function in sorted(signatures.functions))
    return (f"{function} {life.today.text}" for function, life in lives if life is not None)


def _gone(history: History) -> dict[str, set[str]]:
    """Module that is alive -> the names that it lost."""
    newest, found = history.versions[-1], dict[str, set[str]]()
    for module in filter(None, history.sections()):
        if (own := history.entry(module)) is None or own.alive:
            lost = (name for name, entry in history.members(module).items() if not entry.alive)
            verdicts = ((name, judge(history, f"{module}.{name}", newest)) for name in lost)
            found[module] = {name for name, verdict in verdicts if verdict is not None and verdict.fate is Fate.GONE}
    return {module: names for module, names in found.items() if names}


def _is_gated(handler: Handler) -> bool:
    """Whether a handler is asked only for programs that are known to be older than some release."""
    return hasattr(handler, "before")


def _open(table: Mapping[str, list[Handler]]) -> Iterator[str]:
    """The keys for which some handler is always asked."""
    return (key for key, handlers in table.items() if not all(map(_is_gated, handlers)))


def _arguments(codemod: Codemod, name: str, handlers: Iterable[Handler], found: dict[str, set[str]]) -> list[Handler]:
    """Note which arguments a call needs to be spoken of; returns the handlers that do not say so."""
    asked = [handler for handler in handlers if not _is_gated(handler)]
    for handler in asked:
        for key, arguments in codemod.arguments.get(handler, {}).items():
            if name in (key, key.rpartition("].")[2]):
                found.setdefault(key, set()).update(arguments)
    return [handler for handler in asked if handler not in codemod.arguments]


def _triggers(codemod: Codemod) -> str:
    attributes = [n for n, handlers in codemod.attributes.items() if _arguments(codemod, n, handlers, {})]
    lines = [f"attribute {name}" for name in sorted(attributes)]
    lines += [f"string {word}" for word in sorted(_open(codemod.strings))]
    lines += [f"file {kind}" for kind in _file(codemod)]
    words = [f"word {word}" for word in sorted(codemod.words)]
    return "\n".join([codemod.name, *(line.replace("\n", "\\n").replace("\r", "\\r") for line in (*words, *lines))])


def _file(codemod: Codemod) -> list[str]:
    """Which files it looks at as a whole, if any but those with certain names."""
    asked = [handler for handler in codemod.files if not _is_gated(handler)]
    if any(handler not in codemod.needs for handler in asked):
        return [ALWAYS]
    return [WITH] if any(WITH in codemod.needs[handler] for handler in asked) else []


def _needed(codemod: Codemod) -> Iterator[str]:
    """The names without which its handlers of whole files say nothing; what is no module can be imported nowhere."""
    return (need for needs in codemod.needs.values() for need in needs if need != WITH and " " not in need)


def _names(history: History, looked_at: set[str]) -> Iterator[str]:
    """A section for each module: its names of today, by the release that brought them."""
    for module in sorted(history.sections()):
        by_release: dict[tuple[int, ...], list[str]] = {}
        for name, entry in history.members(module).items() if module else ():
            if entry.alive and judge(history, entry.symbol, history.versions[-1]) is None:
                by_release.setdefault(entry.since.numbers, []).append(name + _mark(history, entry, looked_at))
        if by_release:
            yield f"[{module}]\n" + "".join(line for since in sorted(by_release) for line in _wrapped(since, by_release[since]))


def _mark(history: History, entry: Entry, looked_at: set[str]) -> str:
    if history.is_module(entry.symbol):
        return MODULE if "module" in entry.kinds else OBJECT
    return ASKED if entry.symbol in looked_at else ""


def _own(known: Table, name: str) -> bool:
    """Whether the name has a place in the section of its module, with a mark that tells of it."""
    module, _, leaf = name.rpartition(".")
    found = known.names(module).get(leaf)
    return found is not None and found.mark == ASKED


def _wrapped(since: tuple[int, ...], names: list[str]) -> Iterator[str]:
    line = _digits(since)
    for name in sorted(names):
        if len(line) + len(name) > 128:
            yield f"{line}\n"
            line = _digits(since)
        line += f" {name}"
    yield f"{line}\n"


def _listed(table: Mapping[str, set[str]]) -> str:
    return "\n".join(f"{name} {' '.join(sorted(values))}" for name, values in sorted(table.items()))


def _digits(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def main() -> None:
    """Write the file, or with ``--check`` fail where it is out of date."""
    if "--check" in sys.argv:
        sys.exit(0 if PATH.read_text("utf-8") == text() else f"{PATH.name} is out of date: run python tools/words.py")
    PATH.write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
