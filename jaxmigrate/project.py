"""What the modules of a tree pass to each other: the first pass of a run, by regular expressions over the files with hits.

It knows too little rather than too much of what a module exports (a name bound in two ways is left out) and too much rather than
too little of what others take from it: the first decides what is rewritten, the second what is kept.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from jaxmigrate.model import ProjectIndex

_FROM = re.compile(
    rb"^([ \t]*)(?:try:[ \t]*)?from[ \t]+([.\w]+)[ \t]+import[ \t]*(\((?:[^)#]|#[^\n]*)*\)|(?:[^\n;#\\]|\\\n)*)", re.MULTILINE
)
_IMPORT = re.compile(rb"^([ \t]*)import[ \t]+([^\n;#]*)", re.MULTILINE)
_ALIAS = re.compile(rb"^[ \t]*([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=[ \t]*([A-Za-z_][\w.]*)[ \t]*(?:#.*)?$", re.MULTILINE)
_BOUND = re.compile(
    rb"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)"
    rb"|^[ \t]*(?:(?:if|elif|else|try|except|with|for)\b[^\n:]*:[ \t]*)?([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_NEVER_OURS = sys.stdlib_module_names | {"jax", "jaxlib", "numpy", "scipy"}
_ROUNDS = 5
"""A name is followed through at most this many modules."""


class ModuleNames:
    """Dotted names of files, found by the chain of ``__init__`` files above them; looks at each folder once."""

    def __init__(self) -> None:
        self._packages: dict[str, tuple[str, ...]] = {}

    def of(self, path: str) -> tuple[str, bool]:
        """The dotted name of the module in `path`, and whether it is a package."""
        folder, name = os.path.split(os.path.abspath(path))
        stem = name.partition(".")[0]
        package = self._package(folder)
        if stem == "__init__":
            return ".".join(package) or os.path.basename(folder), True
        return ".".join((*package, stem)), False

    def root(self, path: str) -> str:
        """The folder that holds the outermost package of `path`."""
        folder = os.path.dirname(os.path.abspath(path))
        for _ in self._package(folder):
            folder = os.path.dirname(folder)
        return folder

    def _package(self, folder: str) -> tuple[str, ...]:
        known = self._packages.get(folder)
        if known is None:
            inside = any(os.path.exists(os.path.join(folder, name)) for name in ("__init__.py", "__init__.pyi"))
            parent, base = os.path.split(folder)
            known = (*self._package(parent), base) if inside and base else ()
            self._packages[folder] = known
        return known


def module_name(path: str) -> tuple[str, bool]:
    """The dotted name of the module in `path`, and whether it is a package (``__init__``)."""
    return ModuleNames().of(path)


class _Taken(NamedTuple):
    """An import that takes `name` (``*`` for all) from `module`."""

    module: str
    name: str


class _Module(NamedTuple):
    """What one file binds at its top level, and what it takes from other modules."""

    path: str
    name: str
    binds: dict[str, str]
    """Name -> qualified name of what it is imported as, or assigned from."""
    stars: tuple[str, ...]
    imported: frozenset[str]
    """Those of the bound names that an import binds: the ones that can become unused."""


def build_index(files: Iterable[tuple[str, bytes]]) -> ProjectIndex:
    """The index of a tree, given path and content of its files."""
    indexer = Indexer()
    for path, data in files:
        indexer.add(path, data)
    return indexer.finish()


class Indexer:
    """Takes the files of a tree one by one and says in the end how they hang together."""

    def __init__(self) -> None:
        self.names = ModuleNames()
        self._modules: dict[str, _Module] = {}
        self._ambiguous: set[str] = set()
        self._taken: set[_Taken] = set()

    def add(self, path: str, data: bytes) -> None:
        """Learn what the file exports and what it takes."""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        name, is_package = self.names.of(path)
        imports = list(_imports(data, name, is_package))
        self._take(imports, data)
        if path.endswith(".pyi"):
            return
        if name in self._modules and self._modules[name].path != path:
            self._ambiguous.add(name)
        stars = tuple(i.module for i in imports if i.name == "*" and not i.indented)
        imported = frozenset(i.local for i in imports)
        self._modules[name] = _Module(path, name, _bindings(data, imports), stars, imported)

    def add_consumer(self, path: str, data: bytes) -> None:
        """Learn only what the file takes from others."""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._take(list(_imports(data, *self.names.of(path))), data)

    def _take(self, imports: list[_Import], data: bytes) -> None:
        aliases: dict[bytes, list[str]] = {}
        for item in imports:
            if item.module.partition(".")[0] in _NEVER_OURS:
                continue
            if item.name:
                self._taken.add(_Taken(item.module, item.name))
            whole = f"{item.module}.{item.name}" if item.name else item.module
            local = item.local or item.module
            aliases.setdefault(local.encode(), []).append(whole)
        if aliases:
            pattern = rb"(?<![.\w])(" + b"|".join(sorted(map(re.escape, aliases), reverse=True)) + rb")\.(\w+)"
            for local_name, attribute in set(re.findall(pattern, data)):
                self._taken.update(_Taken(module, attribute.decode()) for module in aliases[local_name])

    def exports(self) -> dict[str, dict[str, str]]:
        """Module -> name -> qualified name of the JAX object behind it, followed through modules of the tree."""
        found = {m.name: _jax_only(m.binds) for m in self._modules.values() if m.name not in self._ambiguous}
        for _ in range(_ROUNDS):
            before = sum(map(len, found.values()))
            for name in found:
                self._follow(self._modules[name], found)
            if sum(map(len, found.values())) == before:
                break
        return {name: names for name, names in found.items() if names}

    @staticmethod
    def _follow(module: _Module, found: dict[str, dict[str, str]]) -> None:
        own = found[module.name]
        for star in module.stars:
            for name, qualified in found.get(star, {}).items():
                if name not in module.binds and not name.startswith("_"):
                    own.setdefault(name, qualified)
        for name, qualified in module.binds.items():
            source, _, leaf = qualified.rpartition(".")
            if name not in own and leaf in found.get(source, ()):
                own[name] = found[source][leaf]

    def legacy(self, matters: Callable[[bytes], bool]) -> set[tuple[bytes, bytes]]:
        """(last part of the module's name, name) of each import at the top level of a module whose qualified name `matters`."""
        return {
            (module.rpartition(".")[2].encode(), name.encode())
            for module, names in self.exports().items()
            for name, qualified in names.items()
            if name in self._modules[module].imported and matters(qualified.encode())
        }

    def paths_of(self, tails: set[bytes]) -> list[str]:
        """The files of the modules whose names end like this."""
        return [m.path for m in self._modules.values() if m.name.rpartition(".")[2].encode() in tails]

    def finish(self) -> ProjectIndex:
        """The index of everything that was added."""
        exports = self.exports()
        by_tail: dict[str, list[str]] = {}
        for name in self._modules:
            by_tail.setdefault(name.rpartition(".")[2], []).append(name)
        consumed: dict[str, set[str]] = {}
        for taken in self._taken:
            for module in by_tail.get(taken.module.rpartition(".")[2], ()):
                if _may_be(taken.module, module):
                    names = exports.get(module, ()) if taken.name == "*" else (taken.name,)
                    consumed.setdefault(module, set()).update(names)
        return ProjectIndex(exports, {module: frozenset(names) for module, names in consumed.items() if names})


def _may_be(imported: str, module: str) -> bool:
    """Whether the import may mean the module: folders without ``__init__`` and changed search paths shorten either name."""
    return f".{imported}".endswith(f".{module}") or f".{module}".endswith(f".{imported}")


def _jax_only(binds: dict[str, str]) -> dict[str, str]:
    return {name: qualified for name, qualified in binds.items() if qualified.partition(".")[0] == "jax"}


class _Import(NamedTuple):
    """One name of an import statement; `name` is empty for ``import module``, `local` for one without ``as``."""

    module: str
    name: str
    local: str
    indented: bool

    @property
    def qualified(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def _imports(data: bytes, module: str, is_package: bool) -> Iterator[_Import]:
    for indent, source, names in _FROM.findall(data):
        base = _absolute(source.decode(), module, is_package)
        if base is not None:
            for name, local in _aliases(names):
                yield _Import(base, name, local or name, bool(indent))
    for indent, names in _IMPORT.findall(data):
        for name, local in _aliases(names):
            yield _Import(name, "", local, bool(indent))


def _aliases(names: bytes) -> Iterator[tuple[str, str]]:
    """``a, b as c`` -> (a, ""), (b, c)."""
    for item in _COMMENT.sub(b"", names).strip(b"() \t\n").split(b","):
        words = item.replace(b"\\", b" ").decode("utf-8", "replace").split()
        if len(words) == 1:
            yield words[0], ""
        elif len(words) == 3 and words[1] == "as":
            yield words[0], words[2]


def _absolute(source: str, module: str, is_package: bool) -> str | None:
    """The absolute name of what ``from source import`` names in `module`; None beyond the top."""
    relative = source.lstrip(".")
    level = len(source) - len(relative)
    if not level:
        return source
    parts = module.split(".")
    keep = len(parts) - level + (1 if is_package else 0)
    if keep < 0 or (keep == 0 and not relative):
        return None
    return ".".join([*parts[:keep], *([relative] if relative else [])])


def _bindings(data: bytes, imports: list[_Import]) -> dict[str, str]:
    """Names with exactly one meaning at the top level of a module, and that meaning."""
    binds: dict[str, str] = {}
    doubtful: set[str] = set()
    modules = {"jax": "jax"} if any(i.module == "jax" or i.module.startswith("jax.") for i in imports if not i.name) else {}
    for item in imports:
        if item.name == "*" or not item.local:
            continue
        if item.indented or binds.get(item.local, item.qualified) != item.qualified:
            doubtful.add(item.local)
        binds[item.local] = item.qualified
    counts: dict[str, int] = {}
    for defined, assigned in _BOUND.findall(data):
        name = (defined or assigned).decode()
        counts[name] = counts.get(name, 0) + 1
    aliases = {match[1].decode(): match[2].decode() for match in _ALIAS.finditer(data) if not match[0][:1].isspace()}
    for name in counts:
        value = aliases.get(name)
        if name in binds or counts[name] > 1 or value is None:
            doubtful.add(name)
            continue
        first, _, rest = value.partition(".")
        known = binds.get(first) or modules.get(first)
        if known and first not in doubtful:
            binds[name] = f"{known}.{rest}" if rest else known
    return {name: qualified for name, qualified in binds.items() if name not in doubtful}
