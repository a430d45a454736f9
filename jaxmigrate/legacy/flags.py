"""The options of old JAX that are gone: two that mattered, and those that a program of that time may set without effect."""

from __future__ import annotations

import functools
from typing import Any

from jax._src import config as modern

from . import state
from .journal import Journal

WITHOUT_EFFECT: dict[str, object] = {
    "jax_jit_pjit_api_merge": True,
    "jax_omnistaging": True,
    "jax_spmd_mode": "allow_jit",
    "jax_host_callback_inline": False,
    "jax_host_callback_outfeed": False,
    "jax_host_callback_ad_transforms": False,
    "jax_host_callback_max_queue_byte_size": 256_000_000,
    "jax_experimental_name_stack": True,
    "experimental_cpp_jit": True,
    "experimental_cpp_pmap": True,
    "experimental_cpp_pjit": True,
    "jax_dynamic_shapes": False,
    "jax_eager_pmap": True,
    "jax_coordination_service": True,
    "jax_experimental_subjaxpr_lowering_cache": False,
    "jax_remat_opt_barrier": True,
    "experimental_xmap_spmd_lowering": False,
    "experimental_xmap_spmd_lowering_manual": False,
    "experimental_xmap_ensure_fixed_sharding": False,
    "jax_enable_mlir": True,
    "jax_default_dtype_bits": "64",
    "jax2tf_default_experimental_native_lowering": False,
    "jax_platform_name": "",
    "jax_disable_most_optimizations": False,
    "jax_backend_target": "",
    "jax_rocm_visible_devices": "all",
    "jax_cuda_visible_devices": "all",
    "jax_new_eager_pmap": True,
    "jax_debug_log_modules": "",
    "jax_bcoo_cusparse_lowering": False,
    "jax_persistent_cache_min_instruction_count": 6,
    "jax_enable_key_reuse_checks": False,
    "jax_cpu_enable_gloo_collectives": False,
    "jax_pmap_no_rank_reduction": True,
    "jax_pmap_shmap_merge": True,
    "jax_enable_memories": True,
}
"""Name and default; only those that the installed JAX does not know are added."""


class _Plain:
    """An option without effect."""

    def __init__(self, value: object) -> None:
        self.value = value

    def _set(self, value: object) -> None:
        self.value = value


def install(journal: Journal) -> None:
    """Teach `jax.config` the old options; it finds them where its own are, and offers them to absl like those."""
    config = modern.config
    holders: dict[str, object] = {flag.name: flag for flag in (state.array_flag, state.gda_flag)}
    holders |= {name: _Plain(value) for name, value in WITHOUT_EFFECT.items() if name not in config._value_holders}
    for name, holder in holders.items():
        journal.item(config._value_holders, name, holder)
        kind = bool if isinstance(holder, state.Flag) else type(WITHOUT_EFFECT[name])
        journal.item(config.meta, name, (kind, (), {"help": "An option of old JAX."}))
        if not hasattr(modern.Config, name):
            journal.attribute(modern.Config, name, property(functools.partial(_value, name=name)))
    journal.attribute(modern.Config, "FLAGS", FLAGS)
    journal.attribute(modern.Config, "enable_omnistaging", lambda self: None)
    journal.attribute(modern.Config, "omnistaging_enabled", True)
    journal.attribute(modern, "jax_array", state.array_flag)
    journal.attribute(modern, "parallel_functions_output_gda", state.gda_flag)
    journal.attribute(modern, "FLAGS", FLAGS)


class _Namespace:
    """All options as attributes."""

    def __getattr__(self, name: str) -> object:
        if name not in modern.config._value_holders:
            raise AttributeError(f"Unrecognized config option: {name}")
        return modern.config._value_holders[name].value


FLAGS = _Namespace()
"""What was `jax.config.FLAGS`."""


def _value(config: Any, *, name: str) -> object:
    return config._value_holders[name].value
