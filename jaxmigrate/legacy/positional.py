"""`jax.sharding.PositionalSharding`, which JAX removed in 0.7.0: an array of devices in the place of a mesh and a spec."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax._src.lib import xla_client


class PositionalSharding(jax.sharding.Sharding):  # type: ignore[misc]
    """Cuts each dimension into as many pieces as the array of device sets has there."""

    def __init__(self, devices: Sequence[Any] | np.ndarray, *, memory_kind: str | None = None) -> None:
        array = devices if isinstance(devices, np.ndarray) else np.array(devices, dtype=object)
        if not array.size:
            raise ValueError(f"{type(self).__name__}.__init__ requires at least one device, got {devices}")
        self._devices = tuple(array.flat)
        self._memory_kind = memory_kind
        self._ids = np.empty(array.shape, dtype=object)
        for position, place in enumerate(np.ndindex(*array.shape)):
            self._ids[place] = frozenset({position})

    def _remake(self, ids: np.ndarray) -> PositionalSharding:
        sharding = PositionalSharding(self._devices, memory_kind=self._memory_kind)
        sharding._ids = ids
        return sharding

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of pieces of each dimension."""
        return tuple(self._ids.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions that are cut."""
        return len(self._ids.shape)

    def reshape(self, *shape: Any) -> PositionalSharding:
        """The device sets in another shape."""
        return self._remake(self._ids.reshape(*shape))

    def transpose(self, *axes: Any) -> PositionalSharding:
        """The device sets with other dimensions first."""
        return self._remake(self._ids.transpose(*axes))

    T = property(transpose)

    def replicate(self, axis: int | None = None, keepdims: bool = True) -> PositionalSharding:
        """Join the device sets along a dimension, each of which then holds the same."""
        union = np.frompyfunc(frozenset.union, 2, 1)
        axes = tuple(range(self.ndim)) if axis is None else axis
        ids = self._ids
        for dim in sorted(np.atleast_1d(axes), reverse=True):
            ids = union.reduce(ids, axis=dim, keepdims=keepdims)
        joined = np.empty(np.shape(ids), dtype=object)
        joined[...] = ids
        return self._remake(joined)

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Raise if an array of the shape cannot be cut like this."""
        if len(aval_shape) != self.ndim and not self.is_fully_replicated:
            raise ValueError(
                f"Sharding {self} is only valid for values of rank {self.ndim}, "
                f"but was applied to a value of rank {len(aval_shape)}"
            )

    def __repr__(self) -> str:
        name = self._devices[0].platform.upper()
        ids = np.vectorize(lambda held: f"{{{name} {', '.join(str(self._devices[i].id) for i in sorted(held))}}}")(self._ids)
        return f"{type(self).__name__}({ids}, shape={self.shape})"

    def __hash__(self) -> int:
        return hash((self._devices, self._memory_kind))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PositionalSharding)
            and (self._devices, self._memory_kind) == (other._devices, other._memory_kind)
            and np.array_equal(self._ids, other._ids)
        )

    @property
    def num_devices(self) -> int:
        """Number of devices."""
        return len(self._devices)

    @functools.cached_property
    def device_set(self) -> set[Any]:
        """All devices."""
        return set(self._devices)

    @property
    def memory_kind(self) -> str | None:
        """The memory of the devices that is meant."""
        return self._memory_kind

    def with_memory_kind(self, kind: str) -> PositionalSharding:
        """The same in another memory."""
        return PositionalSharding(self._devices, memory_kind=kind)

    @functools.cached_property
    def is_fully_replicated(self) -> bool:
        """Whether nothing is cut."""
        return self.shape == (1,) * self.ndim

    @functools.cached_property
    def is_fully_addressable(self) -> bool:
        """Whether all devices are of this process."""
        return all(device.process_index == jax.process_index() for device in self._devices)

    @property
    def _device_assignment(self) -> tuple[Any, ...]:
        return self._devices

    @functools.cached_property
    def _internal_device_list(self) -> Any:
        return xla_client.DeviceList(self._devices)

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> Any:
        if self.is_fully_replicated:
            return xla_client.HloSharding.replicate()
        proto = xla_client.OpSharding()
        proto.type = xla_client.OpSharding.Type.OTHER
        tiles = list(self.shape[self.ndim - num_dimensions :])
        copies = len(self._devices) // int(np.prod(tiles))
        if copies > 1:
            proto.last_tile_dims = [xla_client.OpSharding.Type.REPLICATED]
            tiles.append(copies)
        proto.tile_assignment_dimensions = tiles
        proto.tile_assignment_devices = [i for held in self._ids.flat for i in sorted(held)]
        return xla_client.HloSharding.from_proto(proto)
