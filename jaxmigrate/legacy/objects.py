"""What the emulation puts under the old names: its own classes and functions."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import jax
from jax import tree_util
from jax._src import mesh as modern_mesh

from . import (
    arrays,
    functions,
    hostcallback,
    indices,
    internals,
    keys,
    lowering,
    meshcontext,
    numerics,
    pjit,
    pmap,
    positional,
    resources,
    scattering,
    serialization,
    shardmap,
    specs,
    state,
)

Mesh = Any
_MODERN_NAMED_SHARDING = jax.sharding.NamedSharding


class _NamedShardingMeta(type):
    """Makes the class one of the installed JAX's for all that matters; it cannot be inherited from."""

    def __call__(cls, mesh: Any, spec: Any = None, **options: Any) -> Any:
        return _MODERN_NAMED_SHARDING(mesh, resources.P() if spec is None else spec, **options)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _MODERN_NAMED_SHARDING)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, _MODERN_NAMED_SHARDING)

    def __getattr__(cls, name: str) -> Any:
        return getattr(_MODERN_NAMED_SHARDING, name)


class NamedSharding(metaclass=_NamedShardingMeta):
    """A mesh and a spec, which may be None for arrays that are replicated."""


class OutputType(enum.Enum):
    """What the results of a program of several devices were."""

    Array = 0
    GlobalDeviceArray = 1
    ShardedDeviceArray = 2


class InputsHandlerMode(enum.Enum):
    """Whether a program got its arguments by pjit, xmap or pmap."""

    pmap = 0
    pjit_or_xmap = 1


class _PmapFunctionMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return hasattr(instance, pmap.MARK)


class PmapFunction(metaclass=_PmapFunctionMeta):
    """The class of what pmap gives."""


class PositionalSemantics(enum.Enum):
    """Whether shapes are those that one process sees."""

    LOCAL = 0
    GLOBAL = 1


class _CurrentSemantics:
    """The semantics of arguments where the program is."""

    val = PositionalSemantics.LOCAL


class ResourceEnv:
    """A mesh, and loops that took the part of devices."""

    def __new__(cls, physical_mesh: Mesh, loops: tuple[Any, ...] = ()) -> Any:
        """Today's environment, which knows no loops."""
        del loops
        return modern_mesh.ResourceEnv(physical_mesh)


def get_array_mapping(spec: Any) -> dict[Any, int]:
    """Axis -> dimension that it cuts."""
    return {axis: dim for dim, axes in enumerate(indices.parse_spec(spec)) for axis in axes}


def array_mapping_to_axis_resources(array_mapping: dict[Any, int]) -> Any:
    """The spec of a mapping of axes to dimensions."""
    dims: list[Any] = [None] * (max(array_mapping.values(), default=-1) + 1)
    for axis, dim in array_mapping.items():
        dims[dim] = axis if dims[dim] is None else (*_tuple(dims[dim]), axis)
    return resources.P(*dims)


def _tuple(part: Any) -> tuple[Any, ...]:
    return part if isinstance(part, tuple) else (part,)


def local_to_global(positional_semantics: Any, avals: Any, axes: Any, mesh: Mesh) -> list[Any]:
    """Types of the arrays of the whole mesh, given those of this process."""
    del positional_semantics
    return [
        aval.update(shape=indices.global_shape(aval.shape, spec, mesh, jax.process_index(), state.version))
        for aval, spec in zip(avals, axes, strict=True)
    ]


def global_to_local(positional_semantics: Any, avals: Any, axes: Any, mesh: Mesh) -> list[Any]:
    """Types of the arrays of this process, given those of the whole mesh."""
    del positional_semantics
    return [
        aval.update(shape=indices.local_shape(aval.shape, spec, mesh, jax.process_index(), state.version))
        for aval, spec in zip(avals, axes, strict=True)
    ]


class ParsedPartitionSpec:
    """A spec as the axes of each dimension."""

    def __init__(self, user_spec: Any, partitions: Any) -> None:
        self.unsafe_user_spec = user_spec
        self.partitions = tuple(partitions)

    @classmethod
    def from_user_input(cls, entry: Any, arg_name: str, allow_unconstrained_dims: bool = False) -> ParsedPartitionSpec:
        """Parse what a program said."""
        resources.prepare(entry, arg_name, unconstrained=allow_unconstrained_dims)
        return cls(entry, indices.parse_spec(entry))

    @property
    def user_spec(self) -> Any:
        """What the program said."""
        return self.unsafe_user_spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParsedPartitionSpec) and self.partitions == other.partitions

    def __hash__(self) -> int:
        return hash(self.partitions)

    def __len__(self) -> int:
        return len(self.partitions)

    def __getitem__(self, i: int) -> tuple[Any, ...]:
        return self.partitions[i]  # type: ignore[no-any-return]


def hashable_pytree(pytree: Any) -> Callable[[], Any]:
    """A function without arguments that gives the tree."""
    leaves, tree = tree_util.tree_flatten(pytree)
    return lambda: tree_util.tree_unflatten(tree, leaves)


def xmap(*_: Any, **__: Any) -> Any:
    """Named axes of arrays are not emulated."""
    raise NotImplementedError("jax.experimental.maps.xmap is not emulated")


def sharded_jit(*_: Any, **__: Any) -> Any:
    """The forerunner of pjit is not emulated."""
    raise NotImplementedError("jax.interpreters.sharded_jit.sharded_jit is not emulated")


def serial_loop(*_: Any, **__: Any) -> Any:
    """A part of `xmap`, which is not emulated."""
    raise NotImplementedError("jax.experimental.maps.serial_loop is not emulated")


class SerialLoop:
    """A loop that took the part of devices in `xmap`."""

    def __init__(self, length: int) -> None:
        self.length = length


_DEVICE_ARRAY = {
    "DeviceArray": arrays.DeviceArray,
    "_DeviceArray": arrays._DeviceArray,
    "_CppDeviceArray": arrays._CppDeviceArray,
    "Buffer": arrays.Buffer,
    "make_device_array": arrays.make_device_array,
}
_XLA_CLIENT: dict[str, object] = {**_DEVICE_ARRAY, "DeviceArrayBase": arrays.DeviceArray}
_XLA_EXTENSION = {
    **_DEVICE_ARRAY,
    "DeviceArray": arrays.Buffer,
    "DeviceArrayBase": arrays.DeviceArray,
    "PyLocalBuffer": arrays.Buffer,
    "CompiledFunction": type(jax.jit(lambda: None)),
    "PmapFunction": PmapFunction,
}
_SHARDED = {
    "ShardedDeviceArray": arrays.ShardedDeviceArray,
    "_ShardedDeviceArray": arrays._ShardedDeviceArray,
    "ShardedDeviceArrayBase": arrays.ShardedDeviceArrayBase,
    "make_sharded_device_array": arrays.make_sharded_device_array,
    "Chunked": specs.Chunked,
    "NoSharding": specs.NoSharding,
    "Replicated": specs.Replicated,
    "ShardedAxis": specs.ShardedAxis,
    "ShardingSpec": specs.ShardingSpec,
    "Unstacked": specs.Unstacked,
    "_pmap_sharding_spec": specs.pmap_sharding_spec,
    "_create_pmap_sharding_spec": specs.create_pmap_sharding_spec,
    "mesh_sharding_specs": specs.mesh_sharding_specs,
    "new_mesh_sharding_specs": specs.new_mesh_sharding_specs,
    "sharding_spec_sharding_proto": specs.sharding_spec_sharding_proto,
    "spec_to_indices": specs.spec_to_indices,
    "AUTO": resources.AUTO,
    "_AUTOAxisResource": type(resources.AUTO),
    "_UNSPECIFIED": resources.UNSPECIFIED,
    "_UnspecifiedValue": type(resources.UNSPECIFIED),
    "_is_auto": resources.is_auto,
    "_is_unspecified": resources.is_unspecified,
    "Index": indices.Index,
    "InputsHandlerMode": InputsHandlerMode,
    "OutputType": OutputType,
    "ShardInfo": object,
    "array_mapping_to_axis_resources": array_mapping_to_axis_resources,
    "_get_array_mapping": get_array_mapping,
    "get_array_mapping": get_array_mapping,
    "global_result_handlers": {},
}
_GDA = {
    "GlobalDeviceArray": arrays.GlobalDeviceArray,
    "Shard": arrays.Shard,
    "get_shard_indices": arrays.get_shard_indices,
    "get_shard_indices_replica_ids": arrays.get_shard_indices_replica_ids,
    "get_shard_shape": arrays.get_shard_shape,
    "PartitionSpec": resources.P,
    "DeviceArray": arrays.DeviceArray,
    "Device": jax.Device,
    "MeshAxes": resources.P,
    "Shape": tuple[int, ...],
    "Index": indices.Index,
    "ArrayLike": jax.typing.ArrayLike,
    "_GdaFastPathArgs": arrays._GdaFastPathArgs,
    "_get_sharding_spec": arrays._get_sharding_spec,
    "_hashed_index": arrays._hashed_index,
}
_PJIT = {
    "pjit": pjit.pjit,
    "with_sharding_constraint": pjit.with_sharding_constraint,
    "FROM_GDA": resources.FROM_GDA,
    "_FromGdaSingleton": type(resources.FROM_GDA),
    "AUTO": resources.AUTO,
    "_UNSPECIFIED": resources.UNSPECIFIED,
    "ParsedPartitionSpec": ParsedPartitionSpec,
    "_is_auto": resources.is_auto,
    "_is_from_gda": resources.is_from_gda,
    "_is_unspecified": resources.is_unspecified,
    "get_array_mapping": get_array_mapping,
    "global_to_local": global_to_local,
    "hashable_pytree": hashable_pytree,
    "local_to_global": local_to_global,
    "MeshPspecSharding": NamedSharding,
    "NamedSharding": NamedSharding,
}
_MAPS = {
    "ResourceEnv": ResourceEnv,
    "SerialLoop": SerialLoop,
    "_PositionalSemantics": PositionalSemantics,
    "_positional_semantics": _CurrentSemantics(),
    "serial_loop": serial_loop,
    "xmap": xmap,
}
_SHARDINGS: dict[str, object] = {
    "MeshPspecSharding": NamedSharding,
    "NamedSharding": NamedSharding,
    "PmapSharding": specs.PmapSharding,
    "PositionalSharding": positional.PositionalSharding,
}
_MODULES: dict[str, dict[str, object]] = {
    "jax": {
        "device_put_replicated": pmap.device_put_replicated,
        "device_put_sharded": pmap.device_put_sharded,
        "pmap": pmap.pmap,
    },
    "jax.api": {
        "device_put_replicated": pmap.device_put_replicated,
        "device_put_sharded": pmap.device_put_sharded,
        "pmap": pmap.pmap,
    },
    "jax.numpy": {"DeviceArray": arrays.DeviceArray},
    "jax.interpreters.xla": {**_DEVICE_ARRAY},
    "jax._src.device_array": {
        **_DEVICE_ARRAY,
        "DeviceArrayProtocol": arrays.DeviceArrayProtocol,
        "device_array_types": arrays.device_array_types,
    },
    "jax.interpreters.pxla": _SHARDED,
    "jax._src.interpreters.pxla": _SHARDED,
    "jax._src.sharding_specs": _SHARDED,
    "jax.interpreters.sharded_jit": {"sharded_jit": sharded_jit, "with_sharding_constraint": pjit.with_sharding_constraint},
    "jax.experimental": {"with_sharding_constraint": pjit.with_sharding_constraint},
    "jax._src.lib": {"xla_extension_version": 96},
    "jax.lax": {"with_sharding_constraint": pjit.with_sharding_constraint},
    "jax.experimental.global_device_array": _GDA,
    "jax.experimental.maps": _MAPS,
    "jax.experimental.pjit": _PJIT,
    "jax._src.pjit": _PJIT,
    "jax.experimental.sharding": _SHARDINGS,
    "jax.sharding": _SHARDINGS,
    "jax._src.sharding": _SHARDINGS,
    "jax.lib.xla_client": _XLA_CLIENT,
    "jaxlib.xla_client": _XLA_CLIENT,
    "jax.lib.xla_extension": _XLA_EXTENSION,
    "jaxlib.xla_extension": _XLA_EXTENSION,
}

OBJECTS: dict[str, object] = {
    **functions.OBJECTS,
    **hostcallback.OBJECTS,
    **lowering.OBJECTS,
    **numerics.OBJECTS,
    **internals.OBJECTS,
    **keys.OBJECTS,
    **meshcontext.OBJECTS,
    **scattering.OBJECTS,
    **serialization.OBJECTS,
    **shardmap.OBJECTS,
    **{f"{module}.{name}": value for module, names in _MODULES.items() for name, value in names.items()},
}
"""Old path -> object."""

REPLACED: frozenset[str] = frozenset(
    f"{module}.{name}"
    for module, names in _MODULES.items()
    for name in names
    if not module.startswith("jax._src.") or name in ("pjit", "with_sharding_constraint")
) | {"jax.tree_util.tree_map"}
"""Paths that also give way where the installed JAX has something of its own there; JAX itself does not go through them."""
