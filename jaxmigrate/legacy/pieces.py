"""The buffers of what pmap gave, made when they are asked for: most results only go into the next call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

import jax

from . import live

_waiting: WeakSet[Pieces] = WeakSet()


class Pieces(list[Any]):
    """A list of arrays of one device each, cut from one array of today, whose pieces have a dimension more."""

    def __init__(self, whole: jax.Array, axis: int | None) -> None:
        super().__init__()
        self._axis = axis
        self._whole: jax.Array | None = whole
        self._count = len(whole.sharding.addressable_devices)
        _waiting.add(self)

    __hash__ = object.__hash__  # type: ignore[assignment]

    def fill(self) -> None:
        """Cut the array, if that was not done yet."""
        if self._whole is None:
            return
        whole, self._whole = self._whole, None
        _waiting.discard(self)
        shards = sorted(whole.addressable_shards, key=self._start)
        list.extend(self, [self._piece(shard.data) for shard in shards])

    def _start(self, shard: Any) -> int:
        return 0 if self._axis is None else shard.index[self._axis].start or 0

    def _piece(self, data: jax.Array) -> jax.Array:
        if self._axis is None:
            return data
        live.hide(data)
        return data.reshape(tuple(n for i, n in enumerate(data.shape) if i != self._axis))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        self.fill()
        return list.__iter__(self)

    def __reversed__(self) -> Iterator[Any]:
        self.fill()
        return list.__reversed__(self)

    def __getitem__(self, position: Any) -> Any:
        self.fill()
        return list.__getitem__(self, position)

    def __contains__(self, item: object) -> bool:
        self.fill()
        return list.__contains__(self, item)

    def __eq__(self, other: object) -> bool:
        self.fill()
        return list.__eq__(self, other)

    def __add__(self, other: Any) -> Any:
        self.fill()
        return list.__add__(self, other)

    def __repr__(self) -> str:
        self.fill()
        return list.__repr__(self)


def fill_all() -> None:
    """Make all buffers that somebody could ask a device for."""
    for pieces in list(_waiting):
        pieces.fill()
