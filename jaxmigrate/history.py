"""What existed when: the packs' record of a library's public names, release by release, and what to write instead of lost ones.

Read from two text files of a pack, `history.txt` and `successors.tsv` (their heads say how); only what is asked for is parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from jaxmigrate.model import Version

_SECTION = re.compile(r"^\[([^\]\n]*)\]\n", re.MULTILINE)
_version = cache(Version.parse)  # a hundred releases are named ten thousand times

_CORNERS = re.compile(r"\.(?:experimental|interpreters|extend|example_libraries|internal|_\w+)\b|^jaxlib")
"""Parts of a library where the same names lie as in its front room."""
_OF_CLASS, _OF_FUNCTION = "members of ", "parameters of "
"""How the sections of what classes and functions lost begin."""


@dataclass(frozen=True, slots=True)
class Range:
    """Releases that have a name: from `first` to `last`, both included; `last` is None when the newest release has it."""

    first: Version
    last: Version | None

    def __contains__(self, version: Version) -> bool:
        return self.first <= version and (self.last is None or version <= self.last)


@dataclass(frozen=True, slots=True)
class Entry:
    """The life of one public name."""

    symbol: str
    """Its dotted name; of a keyword argument ``function(name=)``."""
    ranges: tuple[Range, ...]
    """In order; more than one when it was away for a while, none when it is not on record."""
    deprecated: Version | None = None
    """Since when a use warns; of an alive name only if the newest release does."""
    kinds: frozenset[str] = frozenset()
    """What it is.

    Of ``module``, ``class``, ``leak`` (an accidental export), ``static`` (read from the source, never imported) and ``open`` (a
    module whose names are not on record).
    """

    @property
    def alive(self) -> bool:
        """Whether the newest release has it."""
        return bool(self.ranges) and self.ranges[-1].last is None

    @property
    def since(self) -> Version:
        """Where its last unbroken range begins."""
        return self.ranges[-1].first

    @property
    def last(self) -> Version | None:
        """The last release that had it; None when it is alive."""
        return self.ranges[-1].last

    def at(self, version: Version) -> bool:
        """Whether that release has it."""
        return any(version in r for r in self.ranges)


@dataclass(frozen=True, slots=True)
class Successor:
    """A name that can be used from a release on, up to the newest."""

    since: Version
    name: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What became of an old name."""

    symbol: str
    """The name, or ``module.*`` for all that have no line of their own."""
    codemod: str
    """Who deals with it."""
    verb: str
    """``move`` (a plain rename), ``call`` (the call is reshaped), ``drop`` (it is left out) or ``none`` (no successor)."""
    successors: tuple[Successor, ...] = ()
    """The newest first."""
    text: str = ""
    """What to know, in a sentence; may be empty."""

    def at(self, target: Version) -> Successor | None:
        """The newest spelling that every release since `target` has; the newest of all when there is none."""
        fitting = (s for s in self.successors if s.since <= target)
        return next(fitting, self.successors[0] if self.successors else None)


class History:
    """The records of all packs."""

    def __init__(
        self, histories: tuple[str, ...] = (), successors: tuple[str, ...] = (), private_files: tuple[str, ...] = ()
    ) -> None:
        self._successors = successors
        self._private_files = private_files
        self._sections: dict[str, list[str]] = {}
        self._parsed: dict[str, _Section] = {}
        self.versions: tuple[Version, ...] = ()
        """The releases on record, in order."""
        for text in histories:
            head = re.search(r"^versions (.*)$", text, re.MULTILINE)
            if head:
                self.versions = tuple(sorted({*self.versions, *map(_version, head[1].split())}))
            parts = _SECTION.split(text)
            for name, body in zip(parts[1::2], parts[2::2], strict=True):
                self._sections.setdefault(name, []).append(body)

    def entry(self, symbol: str) -> Entry | None:
        """The life of a public name, or None when no release on record had it.

        Also of a keyword argument (``jax.numpy.clip(a_min=)``) and of a member of a class (``jax.Array.device_buffer``); of those
        only what is gone or deprecated is on record.
        """
        if symbol.endswith(")"):
            function, _, argument = symbol.rstrip("=)").partition("(")
            return self.section(_OF_FUNCTION + function).get(argument)
        module, _, name = symbol.rpartition(".")
        return self.section(module).get(name) or self.section(_OF_CLASS + module).get(name)

    def members(self, module: str) -> Mapping[str, Entry]:
        """All names that a module ever had."""
        return self.section(module)

    def elsewhere(self, name: str) -> list[str]:
        """The living names of that last part, wherever they are; those in remote corners only if there are no others."""
        modules = [s for s in self.sections() if name in self.members(s) and s]
        living = [s for s in modules if (e := self.members(s)[name]).alive and not e.kinds & {"leak", "static"}]
        near = [s for s in living if not _CORNERS.search(s)] or living
        nearest = min((s.count(".") for s in near), default=0)
        return sorted(f"{s}.{name}" for s in near if s.count(".") == nearest)

    def lost_members(self, name: str) -> Mapping[str, Entry]:
        """The members that a class lost or deprecated."""
        return self.section(_OF_CLASS + name)

    @cached_property
    def members_gone(self) -> dict[str, dict[str, Entry]]:
        """Member -> class -> its life there, for all members that a class of some release had and the newest lacks."""
        found: dict[str, dict[str, Entry]] = {}
        for section in self._sections:
            if section.startswith(_OF_CLASS):
                for name, entry in self.section(section).items():
                    if not entry.alive:
                        found.setdefault(name, {})[section.removeprefix(_OF_CLASS)] = entry
        return found

    @cached_property
    def names_gone(self) -> frozenset[str]:
        """The last parts of the names that living modules lost."""
        modules = (s for s in self.sections() if s and ((own := self.entry(s)) is None or own.alive))
        return frozenset(name for module in modules for name in self.section(module).lost())

    @cached_property
    def parameters_gone(self) -> frozenset[str]:
        """The parameters that some function lost."""
        return frozenset(n for name in self._sections if name.startswith(_OF_FUNCTION) for n in self.section(name).lost())

    def lost_parameters(self, function: str) -> Mapping[str, Entry]:
        """The parameters that a function lost or deprecated."""
        return self.section(_OF_FUNCTION + function)

    def section(self, name: str) -> _Section:
        """The lines of one section."""
        found = self._parsed.get(name)
        if found is None:
            found = self._parsed[name] = _Section(name, self._sections.get(name, ()))
        return found

    def sections(self) -> Iterator[str]:
        """The modules (and objects used like modules) with names on record."""
        return (s for s in self._sections if not s.startswith((_OF_CLASS, _OF_FUNCTION)))

    def all_sections(self) -> Iterator[str]:
        """These, and the sections of what classes and functions lost."""
        yield from self._sections

    def removed(self, entry: Entry) -> Version | None:
        """The first release on record without it; None when it is alive."""
        if entry.last is None:
            return None
        index = bisect_right(self.versions, entry.last)
        return self.versions[index] if index < len(self.versions) else None

    def is_module(self, symbol: str) -> bool:
        """Whether some release had a module of that name."""
        found = self.entry(symbol)
        return symbol in self._sections if found is None else "module" in found.kinds or symbol in self._sections

    @cached_property
    def advices(self) -> dict[str, Advice]:
        """All lines of the tables of successors, by old name."""
        return {advice.symbol: advice for text in self._successors for advice in _advices(text)}

    def advice(self, symbol: str) -> Advice | None:
        """What to do about an old name: its own line, that of all leaks, or that of the nearest module around it."""
        found = self.advices.get(symbol)
        if found is not None:
            return found
        if symbol.endswith(")"):
            return self.advices.get("argument")
        if (entry := self.entry(symbol)) is not None and "leak" in entry.kinds:
            found = self.advices.get("leak")
        name = symbol
        while found is None and "." in name:
            name = name.rpartition(".")[0]
            found = self.advices.get(f"{name}.*")
        return found

    def moves(self, codemod: str) -> dict[str, tuple[Successor, ...]]:
        """The plain renames that a codemod makes: old name -> successors, the newest first."""
        return {a.symbol: a.successors for a in self.advices.values() if a.codemod == codemod and a.verb == "move"}

    def has_private(self, qualified: str) -> bool | None:
        """Whether the newest release has a private name (``jax._src.core.Trace``); None when the record does not tell.

        What a private module of the newest release binds at its top level is on record, and the private names of a public one;
        nothing about older releases.
        """
        parts = qualified.split(".")
        hidden = [part for part in parts if part.startswith("_")]
        if hidden and all(part.startswith("__") for part in hidden):
            return None  # jax.__version__, so common that it must not read the record
        ends = range(len(parts), 0, -1)
        end = next((n for n in ends if ".".join(parts[:n]) in self._private), None)
        if end is None:
            return None
        if end == len(parts):
            return True
        module, name = ".".join(parts[:end]), parts[end]
        names = self._private[module]
        if name.startswith("__") or (module in self._sections and not name.startswith("_")):
            return None
        return True if name in names else None if "*" in names or "__getattr__" in names else False

    def public_namesake(self, qualified: str) -> str:
        """The public name of what a private name was called, likely the same object; empty if no release had one.

        A living one before one that is gone: ``jax.numpy.einsum`` for ``jax._src.numpy.lax_numpy.einsum``, and
        ``jax.experimental.pjit.pjit_p`` for ``jax._src.pjit.pjit_p``.
        """
        *path, name = qualified.split(".")
        module = [part for part in path if not part.startswith("_")]
        public = name.lstrip("_")
        ends = range(len(module), 0, -1) if module != path else (len(module),)
        around = [".".join(module[:end]) for end in ends]
        kin = [s for s in self.sections() if module != path and s.rpartition(".")[2] == path[-1] and public in self.section(s)]
        found = [e for s in (*around, *kin) if (e := self.section(s).get(public)) is not None and "leak" not in e.kinds]
        living = (e.symbol for e in found if e.alive)
        advised = (e.symbol for e in found if e.symbol in self.advices)
        return next((symbol for symbol in (*living, *advised) if symbol != qualified), "")

    @cached_property
    def _private(self) -> dict[str, frozenset[str]]:
        import gzip
        import json

        found: dict[str, frozenset[str]] = {}
        for path in self._private_files:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                found |= {module: frozenset(names) for module, names in json.load(file).items()}
        return found

    def since(self, symbol: str) -> Version | None:
        """From which release on a name can be used up to the newest; None if the newest lacks it, or it is unknown."""
        found = self.entry(symbol)
        return found.since if found is not None and found.alive else None


class _Section(Mapping[str, Entry]):
    """The names of one section; a line is parsed when it is asked for, since most never are."""

    def __init__(self, name: str, bodies: Sequence[str]) -> None:
        self._name = name
        self._lines: dict[str, str] = {}
        for body in bodies:
            for line in body.splitlines():
                if line and not line.startswith("#"):
                    self._lines[line.partition(" ")[0]] = line
        self._entries: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        found = self._entries.get(name)
        if found is None:
            _, spans, *rest = self._lines[name].split(" ")
            deprecated = next((_version(t[1:]) for t in rest if t[0] == "~"), None)
            kinds = frozenset(next((t[1:] for t in rest if t[0] == "="), "").split("+")) - {""}
            found = Entry(symbol(self._name, name), tuple(map(_range, spans.split(","))), deprecated, kinds)
            self._entries[name] = found
        return found

    def lost(self) -> Iterator[str]:
        """The names that the newest release lacks: their last range has an end."""
        spans = ((name, line.split(" ", 2)[1]) for name, line in self._lines.items())
        return (name for name, span in spans if span.rpartition(",")[2].partition("-")[2])

    def __contains__(self, name: object) -> bool:
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def symbol(section: str, name: str) -> str:
    """The dotted name of what a line of a section is about."""
    if section.startswith(_OF_FUNCTION):
        return f"{section.removeprefix(_OF_FUNCTION)}({name}=)"
    return f"{section.removeprefix(_OF_CLASS)}.{name}" if section else name


@cache
def _range(text: str) -> Range:
    first, _, last = text.partition("-")
    return Range(_version(first), _version(last) if last else None)


def _advices(text: str) -> Iterator[Advice]:
    codemod = ""
    for line in text.splitlines():
        if line.startswith("["):
            codemod = line.strip("[]")
        elif line and not line.startswith("#"):
            symbol, verb, news, advice, *_ = [*line.split("\t"), "", ""]
            yield Advice(symbol, codemod, verb, tuple(map(_successor, news.split())), advice)


def _successor(text: str) -> Successor:
    name, _, since = text.partition("@")
    return Successor(_version(since), name)
