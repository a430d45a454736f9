"""The knowledge: one module for each migration. Loaded through the entry-point group ``jaxmigrate.codemods``."""

NEWEST = "0.12.0.1"
"""The newest JAX release whose public API these codemods were checked against."""

_ALL = (
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

from os.path import dirname, exists, join  # noqa: E402  # until all are there

MODULES = tuple(m for m in _ALL if exists(join(dirname(__file__), m + ".py")))
