"""Loads the packs of codemods: ours and everybody's through the entry-point group ``jaxmigrate.codemods``.

An entry point names a package with ``MODULES`` (names of its codemod modules) and, beside it, optional ``api.toml`` and
``types.toml``.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from jaxmigrate.codemod import Codemod
from jaxmigrate.fates import judge
from jaxmigrate.gate import holds_own_word, newest, packages, prefilter
from jaxmigrate.history import History
from jaxmigrate.model import Version
from jaxmigrate.signatures import Signatures
from jaxmigrate.values import Facts


@dataclass(slots=True)
class Pack:
    """All loaded codemods and the facts they rest on."""

    codemods: dict[str, Codemod]
    packages: tuple[str, ...] = ()
    _facts: Facts | None = field(default=None)
    _dead: frozenset[str] | None = field(default=None)
    _tables: dict[str, Any] | None = field(default=None)
    _leaves: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)

    @property
    def history(self) -> History:
        """What existed when, and what to write instead."""
        return history()

    @property
    def words(self) -> frozenset[str]:
        """Identifiers one of which a file must hold to be of interest."""
        return frozenset().union(*(c.words for c in self.codemods.values()))

    @property
    def facts(self) -> Facts:
        """What is known about libraries; read on first use."""
        if self._facts is None:
            self._facts = _facts(self.tables, self.history)
        return self._facts

    @property
    def tables(self) -> dict[str, Any]:
        """The merged TOML tables of the packages."""
        if self._tables is None:
            self._tables = _read_tables(self.packages)
        return self._tables

    def leaves(self, codemods: Sequence[Codemod]) -> frozenset[str]:
        """The words and the last parts of all old names of these codemods."""
        names = tuple(c.name for c in codemods)
        if names not in self._leaves:
            self._leaves[names] = frozenset().union(*(c.leaves() for c in codemods))
        return self._leaves[names]

    def dead(self) -> frozenset[str]:
        """The old qualified names that the newest release lacks (or that mean something else there)."""
        if self._dead is None:
            self._dead = self._find_dead()
        return self._dead

    def _find_dead(self) -> frozenset[str]:
        alive = set(self.tables.get("alive", {}).get("names", ()))
        names: set[str] = set()
        for codemod in self.codemods.values():
            names |= codemod.moves.keys()
            if codemod.removed is not None:
                names |= codemod.names.keys() | codemod.calls.keys()
        return frozenset(n for n in names - alive if self.history.since(n) is None)

    def concerns(self, qualified: str) -> bool:
        """Whether anything may be said about a qualified name."""
        tables = (table for c in self.codemods.values() for table in (c.moves, c.names, c.calls))
        if any(qualified in table for table in tables) or holds_own_word(qualified.encode()):
            return True
        return bool(self.history.versions) and judge(self.history, qualified, self.history.versions[-1]) is not None

    def dead_members(self) -> frozenset[str]:
        """Attributes that only the old classes have."""
        return frozenset(self.tables.get("gone", {}).get("members", ()))


@functools.cache
def load() -> Pack:
    """All packs, ours first."""
    names = packages()
    codemods: list[Codemod] = [import_module(f"{p}.{m}").codemod for p in names for m in import_module(p).MODULES]
    return Pack({c.name: c for c in codemods}, names)


@functools.cache
def history() -> History:
    """The records of all packs; reading them needs no codemod."""
    private = (os.path.join(folder, "private.json.gz") for folder in _folders())
    return History(text_files("history.txt"), text_files("successors.tsv"), tuple(filter(os.path.exists, private)))


def text_files(name: str) -> tuple[str, ...]:
    """A text file of each pack that has it."""
    return tuple(filter(None, (_text(folder, name) for folder in _folders())))


def _folders() -> list[str]:
    return [os.path.dirname(import_module(package).__file__ or "") for package in packages()]


def _text(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def known_newest() -> Version:
    """The newest JAX release that the packs know."""
    return Version.parse(newest())


def _read_tables(packages: tuple[str, ...]) -> dict[str, Any]:
    import tomllib

    merged: dict[str, Any] = {}
    for package in packages:
        folder = os.path.dirname(import_module(package).__file__ or "")
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


def _versions(table: dict[str, str]) -> dict[str, Version]:
    return {name: Version.parse(version) for name, version in table.items()}


def _facts(tables: dict[str, Any], history: History) -> Facts:
    modules = tables.get("modules", {})
    return Facts(
        returns=tables.get("returns", {}),
        members=tables.get("members", {}),
        aliases=tables.get("aliases", {}),
        types=frozenset(tables.get("types", {}).get("classes", ())),
        foreign=frozenset(tables.get("foreign", {}).get("packages", ())),
        transforms=frozenset(tables.get("transforms", {}).get("names", ())),
        uncallable=frozenset(tables.get("gone", {}).get("uncallable", ())),
        traced_classes=frozenset(tables.get("transforms", {}).get("classes", ())),
        autoimported=frozenset(modules.get("autoimported", ())),
        containers=frozenset(modules.get("containers", ())),
        by_path=frozenset(modules.get("by_path", ())),
        news=_versions(tables.get("news", {})),
        since=_versions(tables.get("since", {})),
        history=history,
        signatures=Signatures(text_files("signatures.tsv")),
    )


__all__ = ["Pack", "history", "known_newest", "load", "prefilter"]
