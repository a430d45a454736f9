"""Old names of JAX as modules and attributes: found when asked for, and gone again after `uninstall`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from . import aliases
from .journal import Journal

MISSING = object()
"""What `resolve` gives for a path that leads nowhere."""


class Names:
    """What each old name stands for."""

    def __init__(self, objects: Mapping[str, object]) -> None:
        self._objects = objects
        self._busy: set[tuple[str, str]] = set()

    def find(self, module: str, name: str) -> Any:
        """The object that an old module had under a name, or `AttributeError`."""
        if (module, name) in self._busy or name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        self._busy.add((module, name))
        try:
            found = self._search(module, name)
        finally:
            self._busy.discard((module, name))
        if found is MISSING:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return found

    def _search(self, module: str, name: str) -> object:
        if f"{module}.{name}" in self._objects:
            return self._objects[f"{module}.{name}"]
        path = aliases.RENAMED.get(module, {}).get(name)
        found = MISSING if path is None else resolve(path)
        for counterpart in aliases.COUNTERPARTS.get(module, ()):
            if found is MISSING:
                found = resolve(f"{counterpart}.{name}")
        if found is MISSING and f"{module}.{name}" in aliases.MODULES:
            return importlib.import_module(f"{module}.{name}")
        return found


def resolve(path: str) -> object:
    """The object at a dotted path, imported as far as needed; `MISSING` if there is none. Deprecations are not reported."""
    parts = path.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in range(max(len(parts) - 1, 1), 0, -1):
            try:
                found: object = importlib.import_module(".".join(parts[:length]))
            except ImportError:
                continue
            for part in parts[length:]:
                try:
                    found = getattr(found, part)
                except AttributeError:
                    return MISSING
            return found
    return MISSING


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the old modules when they are imported."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._made: list[ModuleType] = []
        self._wanted = {name for name in aliases.MODULES if _absent(name)}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A place for an old module, None for any other."""
        if fullname not in self._wanted:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """A module that looks its names up when they are asked for."""
        module = ModuleType(spec.name, "A module of old JAX, emulated.")
        module.__dict__["__getattr__"] = _getter(self._names, spec.name)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Remember the module, so that it can be taken away."""
        self._made.append(module)

    def install(self, journal: Journal) -> None:
        """Come before the other finders."""
        sys.meta_path.insert(0, self)
        journal.later(self._remove)

    def _remove(self) -> None:
        sys.meta_path.remove(self)
        for module in reversed(self._made):
            name = module.__name__
            made = sys.modules.pop(name, None)
            parent, _, leaf = name.rpartition(".")
            holder = sys.modules.get(parent)
            if holder is not None and vars(holder).get(leaf) in (module, made):
                delattr(holder, leaf)


def _absent(name: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.util.find_spec(name) is None
    except (ImportError, ValueError, AttributeError):
        return True


def _getter(names: Names, module: str) -> Callable[[str], Any]:
    def __getattr__(name: str) -> Any:
        return names.find(module, name)

    return __getattr__


def extend(journal: Journal, names: Names, module: ModuleType) -> None:
    """Let a module of today answer for old names as well."""
    before = vars(module).get("__getattr__")
    label = module.__name__

    def __getattr__(name: str) -> Any:
        try:
            return names.find(label, name)
        except AttributeError:
            if before is None:
                raise
        return before(name)

    journal.attribute(module, "__getattr__", __getattr__)
