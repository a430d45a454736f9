"""Programs handed out as XLA computations, as they were before there was lowering ahead of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import export as modern
from jax._src.interpreters import mlir
from jax._src.lib import _jax


def xla_computation(
    fun: Callable[..., Any],
    static_argnums: Any = (),
    axis_env: Any = None,
    in_parts: Any = None,
    out_parts: Any = None,
    backend: str | None = None,
    tuple_args: bool = False,
    instantiate_const_outputs: bool | None = None,
    return_shape: bool = False,
    donate_argnums: Any = (),
) -> Callable[..., Any]:
    """A function that gives the XLA computation of `fun`: all parameters, and always a tuple of results."""
    del instantiate_const_outputs, in_parts, out_parts
    if axis_env:
        raise NotImplementedError("axis_env of xla_computation")
    jitted = jax.jit(fun, static_argnums=static_argnums, donate_argnums=donate_argnums, keep_unused=True)
    platforms = None if backend is None else (backend,)

    def computation(*args: Any, **kwargs: Any) -> Any:
        lowered = jitted.trace(*args, **kwargs).lower(lowering_platforms=platforms)
        module = mlir.module_to_bytecode(lowered.compiler_ir("stablehlo"))
        program = _jax.mlir.mlir_module_to_xla_computation(module, use_tuple_args=tuple_args, return_tuple=True)
        return (program, lowered.out_info) if return_shape else program

    return computation


def export(
    fun_jax: Callable[..., Any], *, lowering_platforms: Sequence[str] | None = None, disabled_checks: Sequence[Any] = ()
) -> Callable[..., Any]:
    """Export a function, jitted or not."""
    jitted = fun_jax if hasattr(fun_jax, "lower") else jax.jit(fun_jax)
    exporting: Callable[..., Any] = modern.export(jitted, platforms=lowering_platforms, disabled_checks=disabled_checks)
    return exporting


def call_exported(exported: modern.Exported) -> Callable[..., Any]:
    """A function that runs what was exported."""
    return lambda *args, **kwargs: exported.call(*args, **kwargs)


def serialize(exp: modern.Exported, vjp_order: int = 0) -> bytearray:
    """The bytes of what was exported."""
    written: bytearray = exp.serialize(vjp_order=vjp_order)
    return written


OBJECTS: dict[str, object] = {
    **dict.fromkeys(("jax.xla_computation", "jax.api.xla_computation"), xla_computation),
    "jax.experimental.export.call": call_exported,
    "jax.experimental.export.call_exported": call_exported,
    "jax.experimental.export.export": export,
    "jax.experimental.export.maximum_supported_serialization_version": modern.maximum_supported_calling_convention_version,
    "jax.experimental.export.minimum_supported_serialization_version": modern.minimum_supported_calling_convention_version,
    "jax.experimental.export.serialize": serialize,
}
"""Old path -> object."""
