"""The data of `sharding_paths`: new name -> every old one, as recorded from the releases, and the dead ends."""

from __future__ import annotations


def _at(name: str, *modules: str) -> tuple[str, ...]:
    return tuple(f"{module}.{name}" for module in modules)


_PJIT = "jax.experimental.pjit"
_MAPS = "jax.experimental.maps"
_PXLA = "jax.interpreters.pxla"
_SRC_PJIT = ("jax._src.pjit", "jax._src.interpreters.pxla", "jax._src.sharding_impls")
_SHARDED_JIT = ("jax.interpreters.sharded_jit", "jax.experimental.sharded_jit")
_EARLY = "jax.experimental.sharding"
_EARLY_ARRAY = "jax.experimental.array"
_SRC = "jax._src.sharding"
_SHARD_MAP = "jax.experimental.shard_map"
_GDA = ("jax.experimental.global_device_array", "jax._src.global_device_array")

MOVES: dict[str, tuple[str, ...]] = {
    "jax.sharding.PartitionSpec": _at("PartitionSpec", "jax.experimental", _PJIT, _PXLA, *_SHARDED_JIT, *_GDA, _SRC, _SHARD_MAP),
    "jax.sharding.Mesh": (*_at("Mesh", _MAPS, _PXLA), "jax.experimental.maps.mesh"),
    "jax.sharding.NamedSharding": (
        *_at("NamedSharding", _PJIT, _MAPS, _SRC, _SHARD_MAP),
        *_at("MeshPspecSharding", "jax.sharding", _EARLY, _PJIT, _MAPS, _SRC),
    ),
    "jax.sharding.Sharding": (
        *_at("Sharding", _EARLY, _EARLY_ARRAY),
        *_at("XLACompatibleSharding", "jax.sharding", _EARLY, _EARLY_ARRAY, _PJIT, _SRC),
    ),
    "jax.sharding.SingleDeviceSharding": _at("SingleDeviceSharding", _EARLY, _EARLY_ARRAY),
    "jax.Array": _at("Array", _EARLY_ARRAY),
    "jax.Shard": _at("Shard", _EARLY_ARRAY),
    "jax.make_array_from_callback": _at("make_array_from_callback", _EARLY_ARRAY),
    "jax.make_array_from_single_device_arrays": _at("make_array_from_single_device_arrays", _EARLY_ARRAY),
    "jax.typing.ArrayLike": _at("ArrayLike", _EARLY_ARRAY),
    "jax.Device": _at("Device", _EARLY, _EARLY_ARRAY),
    "jax.interpreters.pxla.thread_resources": _at("thread_resources", _MAPS),
    "jax.lax.with_sharding_constraint": _at("with_sharding_constraint", _SHARDED_JIT[0], "jax.experimental"),
    "jax.core.ShapedArray": _at("ShapedArray", "jax", "jax.abstract_arrays", "jax.interpreters.xla"),
}

GSPMD = (*_at("OpShardingSharding", "jax.sharding", _EARLY, _PJIT, _SRC), *_at("GSPMDSharding", "jax.sharding", _SRC))
"""Public in jax.sharding from 0.4.5 to 0.6.2, and in jax.extend.sharding from 0.7.0: only recent targets can have it."""

_XMAP = (
    "xmap left JAX in 0.4.31: write it with jax.shard_map, or with jax.vmap and shardings "
    "(docs.jax.dev/en/latest/notebooks/shard_map.html)"
)
_AUTO = "AUTO has no public name any more: leave the sharding unspecified, or give one"
_LEFT_OUT = "_UNSPECIFIED is private now: leave the argument out, or say what is meant"
_IS_LEFT_OUT = "_is_unspecified went with _UNSPECIFIED: let None, or a missing argument, stand for what is not specified"
_PARSED = "ParsedPartitionSpec was internal and is gone: iterate over the PartitionSpec itself"
_ENV = "ResourceEnv is private now: jax.set_mesh sets a mesh, jax.sharding.get_mesh() gives it"
_PMAP = (
    "PmapSharding left JAX in 0.10.0: a NamedSharding over a mesh of one axis splits the first dimension too, "
    "but its shards keep that dimension"
)
_ASYNC = "is private now: await the data, then put it together with jax.make_array_from_single_device_arrays"
SERIALIZATION = ("jax.experimental.gda_serialization.serialization", "jax.experimental.array_serialization.serialization")
"""The old and the new module."""

NO_SUCCESSOR: dict[str, str] = {
    **dict.fromkeys(_at("xmap", _MAPS), _XMAP),
    **{f"{_MAPS}.{name}": f"{name} went with xmap; {_XMAP}" for name in ("SerialLoop", "serial_loop", "make_xmap_callable")},
    f"{_MAPS}.FrozenDict": "FrozenDict went with xmap: nothing in JAX makes one any more, so take another mapping",
    **dict.fromkeys(_at("ResourceEnv", _MAPS, _PXLA), _ENV),
    **dict.fromkeys(_at("AUTO", _PJIT, _PXLA, *_SRC_PJIT[:2]), _AUTO),
    **dict.fromkeys((*_at("_UNSPECIFIED", _PJIT, _PXLA, *_SRC_PJIT), *_at("UNSPECIFIED", _PJIT, _PXLA, _SRC_PJIT[1])), _LEFT_OUT),
    **dict.fromkeys(_at("_is_unspecified", _PJIT, _PXLA, *_SRC_PJIT), _IS_LEFT_OUT),
    **dict.fromkeys(_at("ParsedPartitionSpec", _PJIT, *_SRC_PJIT), _PARSED),
    **dict.fromkeys(_at("PmapSharding", _EARLY, _EARLY_ARRAY, _PJIT), _PMAP),
    **dict.fromkeys(_at("sharded_jit", *_SHARDED_JIT), "sharded_jit is jax.jit with in_shardings and out_shardings"),
    **{
        f"{home}.{name}": f"{name} {_ASYNC}"
        for home in SERIALIZATION
        for name in ("create_async_gda_from_callback", "create_async_array_from_callback")
    },
    **dict.fromkeys(
        _at("estimate_read_memory_footprint", *SERIALIZATION), "estimate_read_memory_footprint left the public module"
    ),
}

_MEMBERS = (
    "AsyncManager", "GlobalAsyncCheckpointManager", "GlobalAsyncCheckpointManagerBase", "TS_CONTEXT", "async_deserialize",
    "async_serialize", "get_tensorstore_spec", "run_deserialization", "run_serialization",
)  # fmt: skip
SERIALIZATION_MOVES = {f"{SERIALIZATION[0]}.{name}": f"{SERIALIZATION[1]}.{name}" for name in _MEMBERS}

GONE = {
    "jax.experimental.array": "jax.Array and the functions that make one are in jax itself",
    "jax.experimental.gda_serialization": "see jax.experimental.array_serialization",
    "jax.experimental.maps": "Mesh is in jax.sharding; xmap has no successor",
    "jax.experimental.sharding": "see jax.sharding",
    "jax.experimental.sharded_jit": "jax.jit takes in_shardings and out_shardings",
    "jax.interpreters.sharded_jit": "jax.jit takes in_shardings and out_shardings",
}
