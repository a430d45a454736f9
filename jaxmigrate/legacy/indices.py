"""Which device holds which part of an array, by old JAX's rules and this module's own arithmetic.

A mesh is anything with ``devices`` (an array of objects with ``process_index``) and ``axis_names``; a spec is any iterable of
``None``, an axis name or a tuple of axis names. Nothing here asks the installed JAX, so that comparing its placement with this
one says something. Indices are spelled as JAX spelled them: ``slice(None)`` where a dimension is not cut, never a step.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

Axis = Hashable
Shape = tuple[int, ...]
Index = tuple["slice | int", ...]
Parts = tuple[tuple[Axis, ...], ...]
"""A spec in plain form: for each dimension the axes that cut it, the slowest first."""
Spec = Iterable[object] | None
Version = tuple[int, ...]

NEWEST: Version = (0, 4, 6)
WHOLE = slice(None)
CONTIGUOUS = "devices connected to a single host must form a contiguous subcube of the global device mesh"


class DeviceLike(Protocol):
    """What the rules need to know of a device."""

    @property
    def id(self) -> int:
        """Number of the device, unique over all processes."""

    @property
    def process_index(self) -> int:
        """Number of the process that the device belongs to."""


class MeshLike(Protocol):
    """What the rules need to know of a mesh."""

    @property
    def devices(self) -> np.ndarray:
        """Array of devices, one dimension for each axis."""

    @property
    def axis_names(self) -> Sequence[Axis]:
        """Names of the axes."""


@dataclass(frozen=True, slots=True)
class SubMesh:
    """The part of a mesh that one process holds."""

    devices: np.ndarray
    axis_names: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """What one device of this process holds of a host-local array."""

    device: DeviceLike
    local_index: Index
    global_index: Index
    replica_id: int
    """Among all devices that hold the same global index, in the order of the global mesh."""


@dataclass(frozen=True, slots=True)
class Copies:
    """A dimension of a ShardingSpec's device mesh along which the data repeat."""

    count: int


Cut = int | tuple[int, ...] | None
"""How a ShardingSpec treats one dimension: an int n unstacks it into n pieces, a tuple cuts it into chunks, None leaves it."""
Assignment = int | Copies
"""Where a dimension of the device mesh comes from: the number of a cut (counted over all dimensions), or copies."""


# Meshes and specs


def axis_sizes(mesh: MeshLike) -> dict[Axis, int]:
    """Size of each mesh axis, in the order of the mesh."""
    return dict(zip(mesh.axis_names, mesh.devices.shape, strict=True))


def spec_text(spec: Iterable[object]) -> str:
    """The repr that a PartitionSpec had while it was a tuple."""
    return f"PartitionSpec{tuple(spec)!r}"


def parse_spec(spec: Spec, what: str = "pspec to array_mapping") -> Parts:
    """The plain form of a spec, as long as the spec; `what` names it in the error for an axis that is used twice."""
    entries = () if spec is None else tuple(spec)
    plain = tuple(_axes(entry) for entry in entries)
    twice = sorted(f"`{axis}`" for axis, count in Counter(itertools.chain(*plain)).items() if count > 1)
    if twice:
        raise ValueError(
            f"A single {what} specification can map every mesh axis to at most one positional dimension, "
            f"but {spec_text(entries)} has duplicate entries for {', '.join(twice)}"
        )
    return plain


def _axes(entry: object) -> tuple[Axis, ...]:
    if entry is None:
        return ()
    return tuple(entry) if isinstance(entry, tuple | list) else (entry,)


def spec_title(version: Version) -> str:
    """What errors about a spec call it."""
    if version < (0, 3, 2):
        return "mesh_axes"
    return "GDA mesh_axes" if version < (0, 3, 15) else "pspec to array_mapping"


def check_divisible(shape: Sequence[int], spec: Spec, sizes: Mapping[Axis, int], version: Version = NEWEST) -> None:
    """Raise what a spec raised that does not fit the shape or the mesh."""
    rest = list(shape)
    for dim, axes in enumerate(parse_spec(spec, spec_title(version))):
        for axis in axes:
            if rest[dim] % sizes[axis]:
                raise _indivisible(dim, axis, rest[dim], shape[dim], sizes[axis], version)
            rest[dim] //= sizes[axis]


def _indivisible(dim: int, axis: Axis, rest: int, whole: int, size: int, version: Version) -> Exception:
    if version < (0, 3, 8):
        return AssertionError((size, whole))
    return ValueError(
        f"The aval shape on dimension {dim} is {rest} and the size of axis {axis} is {size}. "
        f"The aval shape % axis size should be zero but got {rest % size}"
    )


def shard_indices(shape: Sequence[int], spec: Spec, sizes: Mapping[Axis, int], version: Version = NEWEST) -> list[Index]:
    """The index that each device holds, row-major over a mesh whose axes have these names and sizes, in this order."""
    entries = () if spec is None else tuple(spec)
    check_divisible(shape, entries, sizes, version)
    plain = (parse_spec(entries) + ((),) * len(shape))[: len(shape)]
    return list(_pieces(tuple(shape), plain, tuple(sizes.items()), version < (0, 3, 16)))


@functools.lru_cache(maxsize=1024)
def _pieces(shape: Shape, plain: Parts, sizes: tuple[tuple[Axis, int], ...], spell_out: bool) -> tuple[Index, ...]:
    bases = dict(sizes)
    indices = []
    for place in itertools.product(*map(range, bases.values())):
        at = dict(zip(bases, place, strict=True))
        pieces = zip(shape, plain, strict=True)
        indices.append(tuple(_piece(n, [(at[axis], bases[axis]) for axis in axes], spell_out) for n, axes in pieces))
    return tuple(indices)


def _piece(n: int, digits: Sequence[tuple[int, int]], spell_out: bool) -> slice:
    """The slice of a dimension of `n` elements at a place given by digits (value, base), the slowest first.

    `spell_out`: a dimension that axes of size 1 cut is no whole one, as it was until shardings went through XLA's own form.
    """
    number, count = 0, 1
    for value, base in digits:
        number, count = number * base + value, count * base
    if count == 1:
        return slice(0, n) if digits and spell_out else WHOLE
    size = n // count
    return slice(number * size, (number + 1) * size)


def shard_shape(shape: Sequence[int], spec: Iterable[object], sizes: Mapping[Axis, int]) -> Shape:
    """Shape of one device's piece, rounded down where the spec does not divide the shape."""
    chunks = list(shape)
    for dim, (entry, size) in enumerate(zip(spec, shape, strict=False)):
        chunks[dim] = size // math.prod(sizes[axis] for axis in _axes(entry))
    return tuple(chunks)


def key(index: Index) -> Hashable:
    """Something hashable that is equal for equal indices (slices hash only since Python 3.12)."""
    return tuple((part.start, part.stop) if isinstance(part, slice) else part for part in index)


def replica_ids(indices: Iterable[Index]) -> list[int]:
    """How many earlier devices hold the same index."""
    seen: Counter[Hashable] = Counter()
    ids = []
    for index in indices:
        ids.append(seen[key(index)])
        seen[key(index)] += 1
    return ids


def one_replica(indices: Iterable[Index]) -> list[int]:
    """Positions of the devices that together hold the array once."""
    return [i for i, replica in enumerate(replica_ids(indices)) if replica == 0]


def bounds(index: Index, shape: Sequence[int]) -> list[tuple[int, int]]:
    """An index as (start, stop) for each dimension, whole dimensions included and an int as the one element it picks."""
    return [_bounds(part, n) for part, n in zip(index, shape, strict=True)]


def _bounds(part: slice | int, n: int) -> tuple[int, int]:
    if isinstance(part, int):
        return part, part + 1
    start, stop, _ = part.indices(n)
    return start, stop


def is_replicated(spec: Spec, sizes: Mapping[Axis, int], version: Version = NEWEST) -> bool:
    """Whether pjit took the spec for fully replicated, so that its values skipped the rule for host-local ones."""
    used = list(itertools.chain(*parse_spec(spec)))
    return not used if version < (0, 3, 16) else all(sizes[axis] == 1 for axis in used)


# Several processes


def local_devices(mesh: MeshLike, process: int) -> list[DeviceLike]:
    """The devices of a process, in the order of the mesh."""
    return [device for device in mesh.devices.flat if device.process_index == process]


def is_multi_process(mesh: MeshLike, process: int) -> bool:
    """Whether the mesh holds devices of other processes."""
    return len(local_devices(mesh, process)) != int(mesh.devices.size)


def local_box(mine: np.ndarray, version: Version = NEWEST) -> tuple[slice, ...]:
    """The smallest box that holds every true place; an error if it holds others as well."""
    places = np.nonzero(mine)
    box = tuple(slice(int(np.min(numbers)), int(np.max(numbers)) + 1) for numbers in places)
    if not mine[box].all():
        subject = "non-GlobalDeviceArray" if version < (0, 4, 2) else "host local"
        raise ValueError(f"When passing {subject} inputs to pjit or xmap, {CONTIGUOUS}")
    return box


def local_mesh(mesh: MeshLike, process: int, version: Version = NEWEST) -> SubMesh:
    """The smallest box of the mesh that holds the devices of a process; an error if it holds other devices as well."""
    if mesh.devices.ndim == 0:
        return SubMesh(mesh.devices, tuple(mesh.axis_names))
    mine = np.vectorize(lambda device: device.process_index == process, otypes=[bool])(mesh.devices)
    return SubMesh(mesh.devices[local_box(mine, version)], tuple(mesh.axis_names))


def local_to_global(shape: Sequence[int], spec: Spec, sizes: Mapping[Axis, int], local_sizes: Mapping[Axis, int]) -> Shape:
    """Shape of the global array, given that of the part on a local mesh; pieces have the same shape in both."""
    plain = parse_spec(spec)
    whole = list(shape)
    for dim, axes in enumerate(plain):
        for axis in axes:
            assert whole[dim] % local_sizes[axis] == 0
            whole[dim] //= local_sizes[axis]
    for dim, axes in enumerate(plain):
        for axis in axes:
            whole[dim] *= sizes[axis]
    return tuple(whole)


def global_to_local(shape: Sequence[int], spec: Spec, sizes: Mapping[Axis, int], local_sizes: Mapping[Axis, int]) -> Shape:
    """Shape of the part on a local mesh, given that of the global array."""
    return local_to_global(shape, spec, local_sizes, sizes)


def global_shape(local: Sequence[int], spec: Spec, mesh: MeshLike, process: int, version: Version = NEWEST) -> Shape:
    """Shape of the global array that a host-local argument of pjit was a part of."""
    sizes = axis_sizes(mesh)
    if is_replicated(spec, sizes, version):
        return tuple(local)
    return local_to_global(local, spec, sizes, axis_sizes(local_mesh(mesh, process, version)))


def local_shape(whole: Sequence[int], spec: Spec, mesh: MeshLike, process: int, version: Version = NEWEST) -> Shape:
    """Shape that the program of one process saw of a global result of pjit."""
    sizes = axis_sizes(mesh)
    if is_replicated(spec, sizes, version):
        return tuple(whole)
    return global_to_local(whole, spec, sizes, axis_sizes(local_mesh(mesh, process, version)))


def place(local: Sequence[int], spec: Spec, mesh: MeshLike, process: int, version: Version = NEWEST) -> list[Placed]:
    """Which piece of a host-local array goes to which device of the process, and where it lies in the global array.

    The devices come in the order of the local mesh, which is their order in the global mesh as well.
    """
    sizes = axis_sizes(mesh)
    indices = shard_indices(global_shape(local, spec, mesh, process, version), spec, sizes, version)
    there = dict(zip((device.id for device in mesh.devices.flat), zip(indices, replica_ids(indices), strict=True), strict=True))
    if is_replicated(spec, sizes, version):
        devices = local_devices(mesh, process)
        here = [there[device.id][0] for device in devices]
    else:
        box = local_mesh(mesh, process, version)
        devices = list(box.devices.flat)
        here = shard_indices(local, spec, axis_sizes(box), version)
    return [Placed(device, index, *there[device.id]) for device, index in zip(devices, here, strict=True)]


# ShardingSpec: shapes cut along dimensions, then laid out on a device mesh


def cut_sizes(cuts: Iterable[Cut]) -> list[int]:
    """Sizes of the cuts, in the order in which `Assignment` counts them."""
    return list(itertools.chain.from_iterable((cut,) if isinstance(cut, int) else cut or () for cut in cuts))


def spec_mesh_shape(cuts: Iterable[Cut], mapping: Iterable[Assignment]) -> Shape:
    """Shape of the device mesh of a ShardingSpec."""
    sizes = cut_sizes(cuts)
    return tuple(where.count if isinstance(where, Copies) else sizes[where] for where in mapping)


def spec_indices(
    shape: Sequence[int], cuts: Sequence[Cut], mapping: Sequence[Assignment], version: Version = NEWEST
) -> list[Index]:
    """The index that each device of a ShardingSpec holds, row-major over its device mesh."""
    assert len(shape) == len(cuts), (tuple(shape), tuple(cuts))
    if any(isinstance(cut, int) for cut in cuts):
        _check_cuts(shape, cuts)
        used = [where for where in mapping if not isinstance(where, Copies)]
        assert sorted(used) == list(range(len(cut_sizes(cuts))))
        # What went through XLA's own form came back without cuts into one chunk; this cannot go through it.
        spell_out = True
    else:
        spell_out = version < (0, 3, 16)
        mesh_shape = spec_mesh_shape(cuts, mapping)
        if all(isinstance(where, Copies) for where in mapping):
            return [(WHOLE,) * len(shape)] * math.prod(mesh_shape)
        _check_mapping(cuts, mapping)
        _check_cuts(shape, cuts)
    return [_spec_index(shape, cuts, mapping, place, spell_out) for place in np.ndindex(*spec_mesh_shape(cuts, mapping))]


def _check_mapping(cuts: Sequence[Cut], mapping: Sequence[Assignment]) -> None:
    used = [where for where in mapping if not isinstance(where, Copies)]
    for number in range(len(cut_sizes(cuts))):
        if number not in used:
            raise KeyError(number)
    if len(used) != len(set(used)):
        raise ValueError("axes don't match array")


def _check_cuts(shape: Sequence[int], cuts: Sequence[Cut]) -> None:
    unstacked = any(isinstance(cut, int) for cut in cuts)
    for dim, (n, cut) in enumerate(zip(shape, cuts, strict=True)):
        if isinstance(cut, int):
            assert n == cut, f"{n} != {cut}"
        elif cut is not None:
            count = math.prod(cut)
            assert n % count == 0, (n, count, dim) if unstacked else (n, count)


def _spec_index(
    shape: Sequence[int], cuts: Sequence[Cut], mapping: Sequence[Assignment], place: Sequence[int], spell_out: bool
) -> Index:
    digits = {where: value for where, value in zip(mapping, place, strict=True) if not isinstance(where, Copies)}
    numbers: Iterator[int] = itertools.count()
    index: list[slice | int] = []
    for n, cut in zip(shape, cuts, strict=True):
        if cut is None:
            index.append(WHOLE)
        elif isinstance(cut, int):
            index.append(digits[next(numbers)])
        else:
            # A cut into no chunks at all counts as one into one chunk.
            index.append(_piece(n, [(0, 1), *((digits[next(numbers)], size) for size in cut)], spell_out))
    return tuple(index)


def spec_shard_shape(shape: Sequence[int], cuts: Sequence[Cut]) -> Shape:
    """Shape of one buffer of a ShardingSpec: unstacked dimensions are gone, chunked ones are smaller."""
    return tuple(n // math.prod(cut or ()) for n, cut in zip(shape, cuts, strict=True) if not isinstance(cut, int))


def pmap_cuts(rank: int, dim: int | None, size: int) -> tuple[tuple[Cut, ...], tuple[Assignment, ...]]:
    """Cuts and mapping of an argument or result of pmap: one dimension unstacked over the devices, or all of it copied."""
    if dim is None:
        return (None,) * rank, (Copies(size),)
    return tuple(size if i == dim else None for i in range(rank)), (0,)
