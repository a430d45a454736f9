"""Programs handed out as XLA computations, exported ones, and rules that translate primitives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Rule:
    """What `lower_fun` made of a function: a translation that the compiler of today can follow."""

    fun: Callable[..., Any]
    multiple_results: bool


def lower_fun(
    fun: Callable[..., Any], multiple_results: bool = True, backend: str | None = None, new_style: bool = False
) -> Rule:
    """A translation rule out of a function of JAX."""
    del backend, new_style
    return Rule(fun, multiple_results)


def register_translation(prim: Any, rule: Any, *, platform: str | None = None, **_: Any) -> None:
    """Translate a primitive by a rule; rules that build XLA operations themselves have nothing to build with any more."""
    if isinstance(rule, Rule):
        mlir.register_lowering(prim, mlir.lower_fun(rule.fun, multiple_results=rule.multiple_results), platform=platform)


class Translations(dict[Any, Any]):
    """A table of rules; what is put in is registered."""

    def __init__(self, platform: str | None = None) -> None:
        super().__init__()
        self.platform = platform

    def __setitem__(self, primitive: Any, rule: Any) -> None:
        super().__setitem__(primitive, rule)
        register_translation(primitive, rule, platform=self.platform)


class PlatformTranslations(dict[str, Translations]):
    """The tables of platforms, made when they are asked for."""

    def __missing__(self, platform: str) -> Translations:
        return self.setdefault(platform, Translations(platform))


_XLA: dict[str, object] = {
    "backend_specific_translations": PlatformTranslations(),
    "call_translations": {},
    "initial_style_translations": {},
    "lower_fun": lower_fun,
    "parallel_translations": {},
    "register_translation": register_translation,
    "translations": Translations(),
}

OBJECTS: dict[str, object] = {
    **{f"{home}.{name}": value for home in ("jax.interpreters.xla", "jax.xla") for name, value in _XLA.items()},
    **dict.fromkeys(("jax.xla_computation", "jax.api.xla_computation"), xla_computation),
    "jax.experimental.export.call": call_exported,
    "jax.experimental.export.call_exported": call_exported,
    "jax.experimental.export.export": export,
    "jax.experimental.export.maximum_supported_serialization_version": modern.maximum_supported_calling_convention_version,
    "jax.experimental.export.minimum_supported_serialization_version": modern.minimum_supported_calling_convention_version,
    "jax.experimental.export.serialize": serialize,
}
"""Old path -> object."""
