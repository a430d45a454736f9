"""The options of old JAX that are gone: two that mattered, and those that a program of that time may set without effect."""

from __future__ import annotations

from collections.abc import Callable
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
}
"""Name and default; only those that the installed JAX does not know are added."""


def install(journal: Journal) -> None:
    """Teach `jax.config` the old options."""
    kind = modern.Config
    known = modern.config._value_holders
    table: dict[str, object] = {name: value for name, value in WITHOUT_EFFECT.items() if name not in known}
    live = {flag.name: flag for flag in (state.array_flag, state.gda_flag)}
    for name in live:
        journal.attribute(kind, name, _option(name))
    for name in table:
        if not hasattr(kind, name):
            journal.attribute(kind, name, _option(name))
    journal.attribute(kind, "update", _update(kind.update, table, live))
    journal.attribute(kind, "read", _read(kind.read, table, live))
    journal.attribute(kind, "_read", _read(kind._read, table, live))
    journal.attribute(kind, "FLAGS", property(lambda self: self))
    journal.attribute(kind, "values", _values(vars(kind)["values"], table, live))
    journal.attribute(modern, "jax_array", state.array_flag)
    journal.attribute(modern, "parallel_functions_output_gda", state.gda_flag)
    journal.attribute(modern, "FLAGS", modern.config)


def _values(before: property, table: dict[str, object], live: dict[str, state.Flag]) -> property:
    def values(self: Any) -> dict[str, object]:
        """All options by name."""
        current = {name: flag.value for name, flag in live.items()}
        known: dict[str, object] = before.__get__(self)
        return {**known, **table, **current}

    return property(values)


def _option(name: str) -> property:
    return property(lambda self: self._read(name))


def _update(before: Callable[..., None], table: dict[str, object], live: dict[str, state.Flag]) -> Callable[..., None]:
    def update(self: Any, name: str, val: Any) -> None:
        """Set an option, an old one included."""
        if name in live:
            live[name].default = bool(val)
        elif name in table:
            table[name] = val
        else:
            before(self, name, val)

    return update


def _read(before: Callable[..., Any], table: dict[str, object], live: dict[str, state.Flag]) -> Callable[..., Any]:
    def read(self: Any, name: str) -> Any:
        """The value of an option, an old one included."""
        if name in live:
            return live[name].value
        return table[name] if name in table else before(self, name)

    return read
