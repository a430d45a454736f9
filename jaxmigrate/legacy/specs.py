"""ShardingSpec, its parts, and PmapSharding, which JAX removed in 0.10.0: how one array is cut over a row of devices."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn, Protocol

import jax
import numpy as np

from . import indices as rules
from . import state
from .indices import Axis, Index, Shape

_MODULE = "jaxlib.xla_extension.pmap_lib"


class AvalLike(Protocol):
    """What a spec needs to know of an abstract value."""

    @property
    def shape(self) -> Shape:
        """Shape of the whole array."""


class NoSharding:
    """A dimension that is not cut."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoSharding)

    def __hash__(self) -> int:
        return hash(NoSharding)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _restore, ("NoSharding",)

    def __repr__(self) -> str:
        return "NoSharding()"


class _Number:
    """A part of a spec that is one number."""

    __slots__ = ("_number",)

    def __init__(self, number: int, /) -> None:
        self._number = _whole(number, type(self).__name__, "int")

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _restore, (type(self).__name__, self._number)


class Unstacked(_Number):
    """A dimension with one element for each device, which the devices' buffers lack."""

    __slots__ = ()

    @property
    def size(self) -> int:
        """Size of the dimension."""
        return self._number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unstacked) and self.size == other.size

    def __repr__(self) -> str:
        return f"Unstacked({self.size})"


class Chunked:
    """A dimension cut into equal chunks, over one mesh dimension or several."""

    __slots__ = ("_chunks",)

    def __init__(self, chunks: Iterable[int], /) -> None:
        if not isinstance(chunks, Iterable):
            raise _incompatible("Chunked", "List[int]", chunks)
        self._chunks = tuple(_whole(chunk, "Chunked", "List[int]") for chunk in chunks)

    @property
    def chunks(self) -> list[int]:
        """Numbers of chunks, the slowest first."""
        return list(self._chunks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chunked) and self.chunks == other.chunks

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _restore, ("Chunked", self.chunks)

    def __repr__(self) -> str:
        return f"Chunked({','.join(map(str, self.chunks))})"


class ShardedAxis(_Number):
    """A dimension of the device mesh over which the cut with this number runs."""

    __slots__ = ()

    @property
    def axis(self) -> int:
        """Number of the cut, counted over all dimensions of the array."""
        return self._number

    def __eq__(self, other: object) -> bool:
        return self.axis == other.axis if isinstance(other, ShardedAxis) else _not_alike(self, other)

    def __repr__(self) -> str:
        return f"ShardedAxis(axis={self.axis})"


class Replicated(_Number):
    """A dimension of the device mesh over which the data repeat."""

    __slots__ = ()

    @property
    def replicas(self) -> int:
        """Number of copies."""
        return self._number

    def __eq__(self, other: object) -> bool:
        return self.replicas == other.replicas if isinstance(other, Replicated) else _not_alike(self, other)

    def __repr__(self) -> str:
        return f"Replicated(replicas={self.replicas})"


def _whole(number: object, name: str, wanted: str) -> int:
    try:
        return operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise _incompatible(name, wanted, number) from None


def _incompatible(name: str, wanted: str, given: object) -> TypeError:
    return TypeError(
        "__init__(): incompatible constructor arguments. The following argument types are supported:\n"
        f"    1. {_MODULE}.{name}(arg0: {wanted})\n\nInvoked with: {given!r}"
    )


def _not_alike(one: object, other: object) -> NoReturn:
    name = f"{_MODULE}.{type(one).__name__}"
    raise TypeError(
        "__eq__(): incompatible function arguments. The following argument types are supported:\n"
        f"    1. (self: {name}, arg0: {name}) -> bool\n\nInvoked with: {one!r}, {other!r}"
    )


class ShardingSpec:
    """How the dimensions of an array are cut, and how the pieces lie on a mesh of devices."""

    __slots__ = ("_mesh_mapping", "_sharding")

    def __init__(self, sharding: Iterable[object], mesh_mapping: Iterable[object]) -> None:
        self._sharding = tuple(sharding)
        self._mesh_mapping = tuple(mesh_mapping)
        if not all(isinstance(cut, NoSharding | Chunked | Unstacked) for cut in self._sharding) or not all(
            isinstance(where, ShardedAxis | Replicated) for where in self._mesh_mapping
        ):
            raise RuntimeError("Unable to cast Python instance to C++ type")

    @property
    def sharding(self) -> tuple[object, ...]:
        """For each dimension NoSharding, Chunked or Unstacked."""
        return self._sharding

    @property
    def mesh_mapping(self) -> tuple[object, ...]:
        """For each dimension of the device mesh ShardedAxis or Replicated."""
        return self._mesh_mapping

    @property
    def mesh_shape(self) -> Shape:
        """Shape of the device mesh."""
        return rules.spec_mesh_shape(cuts(self), assignments(self))

    def indices(self, shape: Sequence[int]) -> np.ndarray:
        """The index of each device, in an array shaped like the device mesh."""
        assert len(shape) == len(self.sharding), (shape, self.sharding)
        flat = rules.spec_indices(shape, cuts(self), assignments(self), state.version)
        # Filled one by one: NumPy would make another dimension of tuples of equal length.
        result = np.empty(len(flat), dtype=np.object_)
        for i, index in enumerate(flat):
            result[i] = index
        return result.reshape(self.mesh_shape)

    def sharding_proto(self, special_axes: Mapping[int, object] | None = None) -> object:
        """The spec in XLA's own form."""
        if any(isinstance(cut, Unstacked) for cut in self.sharding):
            raise RuntimeError("Cannot convert unstacked sharding specs to XLA OpSharding")
        return _op_sharding(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShardingSpec):
            _not_alike(self, other)
        return cuts(self) == cuts(other) and assignments(self) == assignments(other)

    def __hash__(self) -> int:
        return hash((cuts(self), assignments(self)))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _restore, ("ShardingSpec", self.sharding, self.mesh_mapping)

    def __repr__(self) -> str:
        return f"ShardingSpec({self.sharding}, {self.mesh_mapping})"


def cuts(spec: ShardingSpec) -> tuple[rules.Cut, ...]:
    """The plain form of a spec's dimensions."""
    return tuple(_cut(part) for part in spec.sharding)


def _cut(part: object) -> rules.Cut:
    if isinstance(part, Unstacked):
        return part.size
    return tuple(part.chunks) if isinstance(part, Chunked) else None


def assignments(spec: ShardingSpec) -> tuple[rules.Assignment, ...]:
    """The plain form of a spec's device mesh."""
    return tuple(_assignment(part) for part in spec.mesh_mapping)


def _assignment(part: object) -> rules.Assignment:
    return rules.Copies(part.replicas) if isinstance(part, Replicated) else part.axis  # type: ignore[attr-defined]


def _op_sharding(spec: ShardingSpec) -> object:
    from jax._src.lib import xla_client

    proto = xla_client.OpSharding()
    where = assignments(spec)
    cut_numbers = {part: dim for dim, part in enumerate(where) if not isinstance(part, rules.Copies)}
    copies = [dim for dim, part in enumerate(where) if isinstance(part, rules.Copies)]
    if not cut_numbers:
        proto.type = xla_client.OpSharding.Type.REPLICATED
        return proto
    proto.type = xla_client.OpSharding.Type.OTHER
    order = [cut_numbers[number] for number in range(len(rules.cut_sizes(cuts(spec))))] + copies
    tiles = [math.prod(cut or ()) for cut in cuts(spec)]  # type: ignore[arg-type]
    if copies:
        tiles.append(math.prod(spec.mesh_shape[dim] for dim in copies))
        proto.last_tile_dims = [xla_client.OpSharding.Type.REPLICATED]
    ids = np.arange(math.prod(spec.mesh_shape)).reshape(spec.mesh_shape).transpose(order)
    proto.tile_assignment_dimensions = tiles
    proto.tile_assignment_devices = [int(i) for i in ids.flat]
    return proto


def spec_to_indices(shape: Sequence[int], spec: ShardingSpec) -> tuple[Index, ...]:
    """The index of each device, in the order of a ShardedDeviceArray's buffers."""
    return tuple(spec.indices(shape).flat)


def sharding_spec_sharding_proto(self: ShardingSpec, special_axes: Mapping[int, object] | None = None) -> object:
    """The spec in XLA's own form."""
    return self.sharding_proto(special_axes)


def build_spec(cut: Iterable[rules.Cut], mapping: Iterable[rules.Assignment]) -> ShardingSpec:
    """A spec from its plain form."""
    return ShardingSpec(
        [NoSharding() if c is None else Unstacked(c) if isinstance(c, int) else Chunked(c) for c in cut],
        [Replicated(part.count) if isinstance(part, rules.Copies) else ShardedAxis(part) for part in mapping],
    )


def pmap_sharding_spec(
    nrep: int, axis_size: int, npart: int, parts: Sequence[int] | None, sharded_aval: AvalLike, map_axis: int | None
) -> ShardingSpec:
    """The spec of an argument or a result of pmap of which other pmaps, or sharded_jit, take further dimensions.

    `sharded_aval` is the value as the mapped function sees it, `nrep` the number of devices of all pmaps together.
    """
    copies, ragged = divmod(nrep, axis_size)
    assert not ragged
    cut: list[rules.Cut] = [None] * len(sharded_aval.shape) if parts is None else [(part,) for part in parts]
    inner: list[rules.Assignment] = list(range(len(cut))) if parts is not None else []
    if parts is None and npart > 1:
        inner = [rules.Copies(npart)]
    outer: list[rules.Assignment] = [] if copies == 1 else [rules.Copies(copies)]
    if map_axis is None:
        return build_spec(cut, [rules.Copies(axis_size), *outer, *inner])
    number = sum(part is not None for part in cut[:map_axis])
    shifted = [part + 1 if isinstance(part, int) and part >= number else part for part in inner]
    return build_spec([*cut[:map_axis], axis_size, *cut[map_axis:]], [number, *outer, *shifted])


def create_pmap_sharding_spec(aval: AvalLike, sharded_dim: int | None = 0, sharded_dim_size: int | None = None) -> ShardingSpec:
    """The spec of an argument or a result of pmap."""
    if sharded_dim is None:
        assert sharded_dim_size is not None
        return build_spec(*rules.pmap_cuts(len(aval.shape), None, sharded_dim_size))
    size = aval.shape[sharded_dim] if sharded_dim_size is None else sharded_dim_size
    return build_spec(*rules.pmap_cuts(len(aval.shape), sharded_dim, size))


def new_mesh_sharding_specs(
    axis_sizes: Mapping[Axis, int], axis_names: Sequence[Axis]
) -> Callable[[int, Mapping[Axis, int]], ShardingSpec]:
    """A function that makes the spec of an array of some rank whose dimensions are cut by mesh axes."""

    def make(num_dimensions: int, aval_axes: Mapping[Axis, int]) -> ShardingSpec:
        chunks: dict[int, list[int]] = {}
        numbers: dict[Axis, int] = {}
        for number, (name, dim) in enumerate(sorted(aval_axes.items(), key=lambda pair: pair[1])):
            chunks.setdefault(dim, []).append(axis_sizes[name])
            numbers[name] = number
        cut = [tuple(chunks[dim]) if dim in chunks else None for dim in range(num_dimensions)]
        return build_spec(cut, [numbers.get(name, rules.Copies(axis_sizes[name])) for name in axis_names])

    return make


def mesh_sharding_specs(
    axis_sizes: Mapping[Axis, int], axis_names: Sequence[Axis], allow_uneven_axes: bool = False
) -> Callable[[AvalLike, Mapping[Axis, int]], ShardingSpec]:
    """The same for an abstract value, whose shape the axes must divide."""
    make_for_rank = new_mesh_sharding_specs(axis_sizes, axis_names)

    def make(aval: AvalLike, aval_axes: Mapping[Axis, int]) -> ShardingSpec:
        spec = [tuple(name for name, dim in aval_axes.items() if dim == i) for i in range(len(aval.shape))]
        if not allow_uneven_axes:
            rules.check_divisible(aval.shape, spec, axis_sizes, state.version)
        return make_for_rank(len(aval.shape), aval_axes)

    return make


class PmapSharding(jax.sharding.Sharding):  # type: ignore[misc]
    """Pmap's layout: one dimension unstacked over a row of devices, or the whole array on each."""

    def __init__(self, devices: np.ndarray, sharding_spec: ShardingSpec) -> None:
        self.devices = np.asarray(devices)
        self.sharding_spec = sharding_spec

    @classmethod
    def default(cls, shape: Shape, sharded_dim: int = 0, devices: Sequence[object] | None = None) -> PmapSharding:
        """The layout in which pmap gives an array of this shape, on the first local devices or, later, on given ones."""
        assert sharded_dim is not None
        size = shape[sharded_dim]
        spec = build_spec(*rules.pmap_cuts(len(shape), sharded_dim, size))
        return cls(np.array(jax.local_devices()[:size] if devices is None else devices), spec)

    @property
    def device_set(self) -> set[object]:
        """The devices."""
        return set(self.devices.flat)

    @property
    def addressable_devices(self) -> set[object]:
        """The devices of this process."""
        return {device for device in self.devices.flat if device.process_index == jax.process_index()}

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices belong to this process."""
        return len(self.addressable_devices) == len(self.device_set)

    @property
    def is_fully_replicated(self) -> bool:
        """Whether nothing is cut; the old class had no such member."""
        raise AttributeError("'jaxlib.xla_extension.PmapSharding' object has no attribute 'is_fully_replicated'")

    @property
    def num_devices(self) -> int:
        """Number of devices."""
        return int(self.devices.size)

    @property
    def memory_kind(self) -> str | None:
        """Nothing was said of memories."""
        return None

    @property
    def _device_assignment(self) -> list[object]:
        return list(self.devices.flat)

    def with_memory_kind(self, kind: str) -> NoReturn:
        """There was no such member."""
        raise NotImplementedError("pmap does not support memories.")

    def devices_indices_map(self, global_shape: Shape) -> Mapping[object, Index]:
        """The index that each device holds."""
        hash(global_shape)
        indices = spec_to_indices(global_shape, self.sharding_spec)
        assert len(indices) == self.devices.size, f"length mismatch: [{self.devices.size}, {len(indices)}]"
        return dict(zip(self.devices.flat, indices, strict=True))

    def addressable_devices_indices_map(self, global_shape: Shape) -> Mapping[object, Index]:
        """The index that each device of this process holds."""
        mine = self.addressable_devices
        return {device: index for device, index in self.devices_indices_map(global_shape).items() if device in mine}

    def shard_shape(self, global_shape: Shape) -> Shape:
        """Shape of each buffer: the unstacked dimension is gone."""
        for dim, part in enumerate(self.sharding_spec.sharding):
            if isinstance(part, Unstacked):
                if global_shape[dim] != part.size:
                    raise ValueError(
                        "The sharded dimension must be equal to the number of devices passed to PmapSharding. Got sharded "
                        f"dimension {dim} with value {global_shape[dim]} in shape {global_shape} and the number of "
                        f"devices={self.devices.size}"
                    )
                return global_shape[:dim] + global_shape[dim + 1 :]
        return global_shape

    def is_equivalent_to(self, other: object, ndim: int) -> bool:
        """Whether both place arrays alike."""
        return self == other

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> NoReturn:
        raise NotImplementedError("pmap doesn't use OpSharding.")

    _to_xla_op_sharding = _to_xla_hlo_sharding

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PmapSharding):
            return False
        return self.sharding_spec == other.sharding_spec and bool(np.array_equal(self.devices, other.devices))

    def __hash__(self) -> int:
        return hash((tuple(self.devices.flat), self.sharding_spec))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _restore, ("PmapSharding", self.devices, self.sharding_spec)

    def __str__(self) -> str:
        return (
            f"PmapSharding(sharding_spec={self.sharding_spec}, device_ids={[d.id for d in self.devices.flat]}, "
            f"device_platform={self.devices.flat[0].platform.upper()}, device_shape={self.devices.shape})"
        )

    def __repr__(self) -> str:
        return f"PmapSharding(sharding_spec={self.sharding_spec}, devices={self.devices})"


def _restore(name: str, *args: object) -> object:
    """Unpickle by a name of this module: the classes bear that of the C++ module in which they once were."""
    return globals()[name](*args)


for _class in (NoSharding, Unstacked, Chunked, ShardedAxis, Replicated, ShardingSpec):
    _class.__module__ = _MODULE
PmapSharding.__module__ = "jaxlib.xla_extension"
