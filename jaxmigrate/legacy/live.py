"""`device.live_buffers()`: the arrays of one device, those that a sharded array consists of included."""

from __future__ import annotations

import weakref
from typing import Any

import jax

from .journal import Journal

_hidden: dict[int, weakref.ref[Any]] = {}


def hide(array: jax.Array) -> None:
    """Leave out an array that old JAX did not have: it is there for the sake of the installed one."""
    key = id(array)
    _hidden[key] = weakref.ref(array, lambda _: _hidden.pop(key, None))


def live_buffers(self: Any) -> list[Any]:
    """The arrays that lie on this device alone."""
    from . import pieces

    pieces.fill_all()
    arrays = (array for array in self.client.live_arrays() if not array.is_deleted() and id(array) not in _hidden)
    return [array for array in arrays if array.sharding.device_set == {self}]


def install(journal: Journal) -> None:
    """Give devices the method."""
    journal.attribute(jax.Device, "live_buffers", live_buffers)
