"""Programs handed out as XLA computations, as they were before there was lowering ahead of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
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


OBJECTS: dict[str, object] = dict.fromkeys(("jax.xla_computation", "jax.api.xla_computation"), xla_computation)
"""Old path -> object."""
