"""The knowledge: one module for each migration. Loaded through the entry-point group ``jaxmigrate.codemods``."""

NEWEST = "0.12.0.1"
"""The newest JAX release whose public API these codemods were checked against."""

PINS = ("version-pins", "jax", "jaxlib")
"""The codemod that judges version requirements, and the distributions it looks for; the first is the library itself."""

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
    "tree_map",
    "key_array",
    "config_module",
    "config_flags",
    "linear_util",
    "jax_core",
    "jax_lib",
    "jax_interpreters",
    "stax_optimizers",
    "test_util",
    "moved_names",
    "index_update",
    "shard_map",
    "mesh_context",
    "device_put_sharded",
    "host_callback",
    "xla_computation",
    "library_setup",
    "xmap",
    "numpy_names",
    "lax_names",
    "function_names",
    "renamed_arguments",
    "changed_behaviour",
    "version_pins",
    "removed_names",
    "deprecated_names",
    "unknown_names",
)

# fmt: off
WORDS = (
    ", AUTO", "._device", ".client", ".device()", ".devices()\n", ".devices()\r", ".devices().index(", ".devices()[",
    ".global_shards", ".is_fully_addressable()", ".is_fully_replicated()", ".mesh_axes", "ArrayImpl", "AttributeKeyPathEntry",
    "Buffer", "CppDeviceArray", "Device", "DeviceArray", "DeviceArrayBase", "DeviceArrayProtocol", "DeviceValue", "FROM_GDA",
    "GSPMDSharding", "GlobalDeviceArray", "JAX_ARRAY", "JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA", "MeshPspecSharding",
    "NamedSharding", "OpShardingSharding", "ParsedPartitionSpec", "PartitionSpec", "PmapSharding", "PyLocalBuffer",
    "ShapedArray", "ShardedDeviceArray", "ShardedDeviceArrayBase", "ShardingSpec", "XLACompatibleSharding", "_CppDeviceArray",
    "_DeviceArray", "_ShardedDeviceArray", "_UNSPECIFIED", "_device_buffers", "_is_unspecified", "_local_shards",
    "array_serialization", "axis_resources", "block_host_until_ready", "build_tree", "config.DEFINE", "config.FLAGS",
    "config.define_", "copy_to_device", "device_array_types", "device_buffer", "device_buffers", "experimental import array",
    "experimental import sharding", "experimental import with_sharding_constraint", "experimental.array", "experimental.maps",
    "experimental.sharding", "experimental.with_sharding_constraint", "final_checkpoint_dir", "gda_serialization",
    "global_array_to_host_local_array", "global_device_array", "global_meshes", "host_callback",
    "host_local_array_to_global_array", "import AUTO", "import maps", "in_axis_resources", "index_add", "index_max",
    "index_min", "index_mul", "index_update", "jax", "jax.config", "jax.ops", "jax_array", "jax_parallel_functions_output_gda",
    "jaxlib", "live_buffers", "local_data", "local_shards", "make_device_array", "make_sharded_device_array", "maps as",
    "maps.Mesh", "maps.mesh", "maps.thread_resources", "maps.xmap", "nojax_array", "nojax_parallel_functions_output_gda",
    "omnistaging", "one_replica_buffer_indices", "ops.index", "out_axis_resources", "pjit", "pjit.AUTO", "process_allgather",
    "pxla", "sharded_jit", "sharding_spec", "sharding_specs", "to_py", "tree_flatten", "tree_leaves", "tree_map",
    "tree_multimap", "tree_structure", "tree_transpose", "tree_unflatten", "treedef_is_leaf", "xla_shape",
)
# fmt: on
"""All words of these codemods, kept here so that a file without any costs no import of them (a test compares)."""
