"""Changes to modules, classes and tables that can be undone in the reverse order, whatever happened in between."""

from __future__ import annotations

import sys
from collections.abc import Callable, MutableMapping
from types import ModuleType
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
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

    def item(self, table: MutableMapping[Key, Value], key: Key, value: Value) -> None:
        """Set an item of a table."""
        if key in table:
            before = table[key]
            self._undo.append(lambda: table.__setitem__(key, before))
        else:
            self._undo.append(lambda: _drop(table, key))
        table[key] = value

    def module(self, name: str, module: ModuleType) -> None:
        """Put a module where ``import`` finds it."""
        self.item(sys.modules, name, module)

    def later(self, undo: Callable[[], None]) -> None:
        """Remember how to take back a change that was made elsewhere."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Take all changes back, the last first."""
        while self._undo:
            self._undo.pop()()


def _drop(table: MutableMapping[Key, Value], key: Key) -> None:
    table.pop(key, None)
