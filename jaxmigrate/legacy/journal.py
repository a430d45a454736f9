"""Changes to modules, classes and tables that can be undone in the reverse order, whatever happened in between."""

from __future__ import annotations

import sys
from collections.abc import Callable, MutableMapping
from types import ModuleType

_MISSING = object()


class Journal:
    """A list of changes and how to take each back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def attribute(self, owner: object, name: str, value: object) -> None:
        """Set an attribute of a module or a class; what it inherits stays untouched."""
        before = vars(owner).get(name, _MISSING)
        setattr(owner, name, value)
        self._undo.append(lambda: delattr(owner, name) if before is _MISSING else setattr(owner, name, before))

    def item(self, table: MutableMapping[object, object], key: object, value: object) -> None:
        """Set an item of a table."""
        before = table.get(key, _MISSING)
        table[key] = value
        self._undo.append(lambda: _restore(table, key, before))

    def module(self, name: str, module: ModuleType) -> None:
        """Put a module where ``import`` finds it."""
        before: object = sys.modules.get(name, _MISSING)
        sys.modules[name] = module
        self._undo.append(lambda: _restore(sys.modules, name, before))

    def later(self, undo: Callable[[], None]) -> None:
        """Remember how to take back a change that was made elsewhere."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Take all changes back, the last first."""
        while self._undo:
            self._undo.pop()()


def _restore(table: MutableMapping[object, object], key: object, before: object) -> None:
    if before is _MISSING:
        table.pop(key, None)
    else:
        table[key] = before
