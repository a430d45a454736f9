"""`device.live_buffers()`: the arrays of one device, those that a sharded array consists of included."""

from __future__ import annotations

from typing import Any

import jax

from .journal import Journal


def live_buffers(self: Any) -> list[Any]:
    """The arrays that lie on this device alone."""
    return [array for array in self.client.live_arrays() if not array.is_deleted() and array.sharding.device_set == {self}]


def install(journal: Journal) -> None:
    """Give devices the method; for each class of devices that there is a backend for, once it is started."""
    journal.attribute(jax.Device, "live_buffers", live_buffers)
