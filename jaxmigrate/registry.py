"""Loads the packs of codemods: ours and everybody's through the entry-point group ``jaxmigrate.codemods``.

An entry point names a package with ``MODULES`` (names of its codemod modules) and, beside it, optional ``api.toml`` and
``types.toml``. The metadata files are read directly: importing ``importlib.metadata`` costs as much as importing click.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jaxmigrate.codemod import Codemod
from jaxmigrate.model import Version
from jaxmigrate.values import Facts

GROUP = "jaxmigrate.codemods"
_BUILTIN = "jaxmigrate_codemods"
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(slots=True)
class Pack:
    """All loaded codemods and the facts they rest on."""

    codemods: dict[str, Codemod]
    packages: tuple[str, ...] = ()
    _facts: Facts | None = field(default=None)
    _tables: dict[str, Any] | None = field(default=None)

    @property
    def words(self) -> frozenset[str]:
        """Identifiers one of which a file must hold to be of interest."""
        return frozenset().union(*(c.words for c in self.codemods.values()))

    @property
    def facts(self) -> Facts:
        """What is known about libraries; read on first use."""
        if self._facts is None:
            self._facts = _facts(self.tables)
        return self._facts

    @property
    def tables(self) -> dict[str, Any]:
        """The merged TOML tables of the packages."""
        if self._tables is None:
            self._tables = _read_tables(self.packages)
        return self._tables

    def dead(self) -> frozenset[str]:
        """The old qualified names that the newest release lacks (or that mean something else there)."""
        alive = set(self.tables.get("alive", {}).get("names", ()))
        names: set[str] = set()
        for codemod in self.codemods.values():
            names |= codemod.moves.keys()
            if codemod.removed is not None:
                names |= codemod.names.keys() | codemod.calls.keys()
        return frozenset(names - alive)

    def dead_members(self) -> frozenset[str]:
        """Attributes that only the old classes have."""
        return frozenset(self.tables.get("gone", {}).get("members", ()))


@functools.cache
def load() -> Pack:
    """All packs, ours first."""
    packages = (_BUILTIN, *(p for p in _entry_points() if p != _BUILTIN))
    codemods: dict[str, Codemod] = {}
    for package in packages:
        for module in importlib.import_module(package).MODULES:
            codemod: Codemod = importlib.import_module(f"{package}.{module}").codemod
            codemods[codemod.name] = codemod
    return Pack(codemods, packages)


def known_newest() -> Version:
    """The newest JAX release that the packs know."""
    return Version.parse(importlib.import_module(_BUILTIN).NEWEST)


@functools.cache
def _gates() -> tuple[frozenset[bytes], frozenset[bytes]]:
    words = frozenset(w.encode() for w in load().words)
    return words, frozenset(w for w in words if b"DeviceArray" in w)


def prefilter(data: bytes) -> bool:
    """Whether a file's bytes may hold anything for any codemod; false for most files, and cheap.

    A substring search comes first, identifiers only where it hits: a word-boundary regex over a whole tree costs ten times more
    (``field/SPEED.md``). ``DeviceArray`` is looked for too, since a module may get the class from its own package.
    """
    if b"jax" not in data and b"DeviceArray" not in data and b"JAX_ARRAY" not in data:
        return False
    return not _gates()[0].isdisjoint(_IDENTIFIER.findall(data))


def _entry_points() -> Iterator[str]:
    """Packages named by ``jaxmigrate.codemods`` entry points of the installed distributions."""
    seen: set[str] = set()
    for directory in sys.path:
        try:
            entries = [e.path for e in os.scandir(directory or ".") if e.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for entry in sorted(entries):
            for package in _entry_points_in(os.path.join(entry, "entry_points.txt")):
                if package not in seen:
                    seen.add(package)
                    yield package


def _entry_points_in(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return []
    if GROUP not in text:
        return []
    match = re.search(rf"^\[{re.escape(GROUP)}\]\s*$(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\s*[\w.-]+\s*=\s*([\w.]+)", match[1], re.MULTILINE) if match else []


def _read_tables(packages: tuple[str, ...]) -> dict[str, Any]:
    import tomllib

    merged: dict[str, Any] = {}
    for package in packages:
        folder = os.path.dirname(importlib.import_module(package).__file__ or "")
        for name in ("api.toml", "types.toml"):
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    tables = tomllib.load(file)
            except FileNotFoundError:
                continue
            for key, table in tables.items():
                slot = merged.setdefault(key, {})
                for inner, value in table.items():
                    slot[inner] = [*slot[inner], *value] if isinstance(value, list) and inner in slot else value
    return merged


def _facts(tables: dict[str, Any]) -> Facts:
    modules = tables.get("modules", {})
    return Facts(
        returns=tables.get("returns", {}),
        members=tables.get("members", {}),
        aliases=tables.get("aliases", {}),
        types=frozenset(tables.get("types", {}).get("classes", ())),
        foreign=frozenset(tables.get("foreign", {}).get("packages", ())),
        transforms=frozenset(tables.get("transforms", {}).get("names", ())),
        autoimported=frozenset(modules.get("autoimported", ())),
        modules=frozenset(modules.get("names", ())),
        gone_modules=frozenset(tables.get("gone", {}).get("modules", ())),
        since={name: Version.parse(version) for name, version in tables.get("since", {}).items()},
    )
