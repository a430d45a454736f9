"""The knowledge: one module for each migration. Loaded through the entry-point group ``jaxmigrate.codemods``."""

NEWEST = "0.12.0.1"
"""The newest JAX release whose public API these codemods were checked against."""

MODULES = (
    "device_array",
    "sharded_device_array",
    "global_device_array",
    "gda_attributes",
    "from_gda",
    "axis_resources",
    "sharding_paths",
    "pjit_to_jit",
    "host_local_inputs",
    "live_buffers",
    "array_attributes",
    "jax_array_flag",
    "recursive_jit",
)

# fmt: off
WORDS = (
    "._device", ".client", ".device()", ".devices()[", "AUTO", "ArrayImpl", "Buffer", "Device", "DeviceArray", "DeviceArrayBase",
    "DeviceArrayProtocol", "FROM_GDA", "GSPMDSharding", "GlobalDeviceArray", "JAX_ARRAY", "JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA",
    "MeshPspecSharding", "NamedSharding", "OpShardingSharding", "PartitionSpec", "PmapSharding", "PyLocalBuffer", "ShapedArray",
    "ShardedDeviceArray", "ShardedDeviceArrayBase", "XLACompatibleSharding", "_CppDeviceArray", "_DeviceArray",
    "_ShardedDeviceArray", "_device_buffers", "_global_mesh", "_local_shards", "addressable_data", "addressable_shards",
    "array_serialization", "axis_resources", "block_host_until_ready", "copy_to_device", "device_array_types", "device_buffer",
    "device_buffers", "experimental import array", "experimental import sharding", "experimental.array", "experimental.sharding",
    "final_checkpoint_dir", "gda_serialization", "global_device_array", "global_meshes", "global_shards", "in_axis_resources",
    "is_fully_addressable", "is_fully_replicated", "jax_array", "jax_parallel_functions_output_gda", "live_buffers", "local_data",
    "local_shards", "make_device_array", "make_sharded_device_array", "maps", "mesh_axes", "nojax_array",
    "nojax_parallel_functions_output_gda", "one_replica_buffer_indices", "out_axis_resources", "pjit", "process_allgather",
    "pxla", "sharded_jit", "sharding_spec", "to_py", "with_sharding_constraint", "xla_shape",
)
# fmt: on
"""All words of these codemods, kept here so that a file without any costs no import of them (a test compares)."""
