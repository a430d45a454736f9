"""The pjit of old JAX: host-local arguments and results, GlobalDeviceArrays, and the mesh of the surrounding ``with`` block."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax import tree_util
from jax._src import core
from jax._src.array import ArrayImpl
from jax._src.interpreters import ad

from . import arrays, hostlocal, indices, resources, state
from .resources import AUTO, FROM_GDA, UNSPECIFIED, Entry, P

__all__ = ["AUTO", "FROM_GDA", "UNSPECIFIED", "pjit", "with_sharding_constraint"]

NamedSharding = jax.sharding.NamedSharding
Function = Callable[..., Any]
_constrain_now = jax.lax.with_sharding_constraint
_EAGER = (ad.JVPTracer, ad.LinearizeTracer)
"""Tracers under which values are computed while the program runs."""


def pjit(fun: Function, *given: Any, **named: Any) -> Function:
    """Compile a function for the mesh that is there when it is called."""
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun}")
    program = _Program(fun, resources.settings(fun, given, named))

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return program.call(args, kwargs)

    functools.update_wrapper(wrapped, fun)
    for name, method in (("lower", program.lower), ("clear_cache", program.clear)):
        setattr(wrapped, name, method)
    return wrapped


class _Program:
    """A function with what pjit was told about it, and what was compiled for it so far."""

    def __init__(self, fun: Function, settings: resources.Settings) -> None:
        self._fun = fun
        self._settings = settings
        self._compiled: dict[object, Any] = {}

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run it on what the program of this process sees."""
        if state.jax_array():
            return self._call_arrays(args, kwargs)
        mesh = resources.required_mesh()
        if mesh != _outer_mesh(mesh):
            raise RuntimeError("Changing the physical mesh is not allowed inside pjit.")
        self._check_arguments(args, kwargs)
        bound = self._bind(mesh, args, kwargs)
        if _tracing(bound.leaves):
            return self._call_traced(bound)
        values, shardings = bound.place()
        with _inside(mesh):
            results = self._jitted(bound, shardings)(*bound.fill(values), **bound.kwargs(values))
        return self._results(results, mesh)

    def lower(self, *args: Any, _global_avals: bool = False, **kwargs: Any) -> Any:
        """Lower it for arguments like these."""
        if state.jax_array():
            jitted, new_args, new_kwargs = self._arrays(args, kwargs)
            return jitted.lower(*new_args, **new_kwargs)
        mesh = resources.required_mesh()
        self._check_arguments(args, kwargs)
        bound = self._bind(mesh, args, kwargs)
        shapes, shardings = bound.describe(whole=_global_avals)
        lowered = self._jitted(bound, shardings).lower(*bound.fill(shapes), **bound.kwargs(shapes))
        return _Lowered(lowered, lambda compiled: functools.partial(self._run_compiled, compiled, mesh))

    def clear(self) -> None:
        """Forget what was compiled."""
        self._compiled.clear()

    def _check_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        settings = self._settings
        if kwargs and state.version < (0, 4, 2):
            raise NotImplementedError("pjit does not support kwargs")
        says_inputs = not (isinstance(settings.inputs, Entry) and resources.is_unspecified(settings.inputs.value))
        if kwargs and says_inputs:
            what = "in_axis_resources" if state.version < (0, 4, 4) else "in_shardings"
            raise ValueError(f"pjit does not support kwargs when {what} is specified.")
        if max(settings.static_argnums + settings.donate_argnums, default=-1) >= len(args) and state.version < (0, 4, 2):
            raise ValueError(
                f"jitted function has static_argnums={settings.static_argnums}, donate_argnums={settings.donate_argnums} but "
                f"was called with only {len(args)} positional arguments."
            )

    def _bind(self, mesh: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Bound:
        return _Bound(self._settings, mesh, args, kwargs)

    def _jitted(self, bound: _Bound, shardings: Sequence[Any]) -> Any:
        statics = tuple(bound.static_values())
        key = (bound.mesh, bound.tree, tuple(shardings), jax.default_backend() == "cpu", len(statics))
        found = self._compiled.get(key)
        if found is None:
            found = self._compiled[key] = self._jit(bound, shardings)
        return found

    def _jit(self, bound: _Bound, shardings: Sequence[Any]) -> Any:
        settings = self._settings
        options: dict[str, Any] = dict(settings.options)
        if bound.said_inputs:
            options["in_shardings"] = bound.input_tree(shardings)
        if not (isinstance(settings.outputs, Entry) and resources.is_unspecified(settings.outputs.value)):
            options["out_shardings"] = tree_util.tree_map(lambda entry: _sharding(bound.mesh, entry), settings.outputs)
        return self._jit_with(options)

    def _jit_with(self, options: dict[str, Any]) -> Any:
        settings = self._settings
        if settings.donate_argnums and hostlocal.donates():
            options["donate_argnums"] = settings.donate_argnums
        return jax.jit(self._fun, static_argnums=settings.static_argnums, static_argnames=settings.static_argnames, **options)

    def _call_traced(self, bound: _Bound) -> Any:
        """A call inside of another function that is traced: its values are those of the whole mesh."""
        if not _meshes.stack and indices.is_multi_process(bound.mesh, jax.process_index()):
            _refuse_host_local(bound.leaves)
        values, shardings = bound.place_traced()
        with _inside(bound.mesh):
            return self._jitted(bound, shardings)(*bound.fill(values), **bound.kwargs(values))

    def _run_compiled(self, compiled: Any, mesh: Any, *args: Any, **kwargs: Any) -> Any:
        bound = self._bind(mesh, args, kwargs)
        values, _ = bound.place()
        positional = [arg for i, arg in enumerate(bound.fill(values)) if i not in bound.static]
        return self._results(compiled(*positional, **bound.kwargs(values)), mesh)

    def _results(self, results: Any, mesh: Any) -> Any:
        leaves, tree = tree_util.tree_flatten(results)
        entries = resources.spread(self._settings.outputs, tree, "pjit out_axis_resources", arguments=False)
        return tree_util.tree_unflatten(tree, [_result(leaf, mesh, entry) for leaf, entry in zip(leaves, entries, strict=True)])

    def _call_arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        jitted, new_args, new_kwargs = self._arrays(args, kwargs)
        try:
            return jitted(*new_args, **new_kwargs)
        except ValueError as error:
            text = str(error)
            if not text.startswith("Sharding passed to jit"):
                raise
        raise ValueError(text.replace("passed to jit", "passed to pjit", 1))

    def _arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any], dict[str, Any]]:
        """With `jax_array` on, pjit is what `jax.jit` is today, but for specs, None and the mesh."""
        mesh, settings = resources.physical_mesh(), self._settings
        bound = self._bind(mesh, args, kwargs)
        values = [_array_value(mesh, leaf, entry) for leaf, entry in zip(bound.leaves, bound.entries, strict=True)]
        key = ("arrays", mesh, not bound.leaves)
        if key not in self._compiled:
            options: dict[str, Any] = dict(settings.options)
            for name, tree in (("in_shardings", settings.inputs), ("out_shardings", settings.outputs)):
                if not (isinstance(tree, Entry) and resources.is_unspecified(tree.value)):
                    options[name] = tree_util.tree_map(lambda entry: _array_sharding(mesh, entry), tree)
            if not bound.leaves and not mesh.empty:
                # Nothing tells today's jit of the mesh, on all devices of which the results were.
                options.setdefault("out_shardings", NamedSharding(mesh, P()))
            self._compiled[key] = self._jit_with(options)
        return self._compiled[key], bound.fill(values), bound.kwargs(values)


class _Bound:
    """The arguments of one call, flat, with what pjit was told about each leaf."""

    def __init__(self, settings: resources.Settings, mesh: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.mesh = mesh
        self._args = args
        self.static = {i % len(args) if args else i for i in settings.static_argnums}
        self._static_kwargs = {name: kwargs[name] for name in kwargs if name in settings.static_argnames}
        dynamic = tuple(arg for i, arg in enumerate(args) if i not in self.static)
        named = {name: value for name, value in kwargs.items() if name not in settings.static_argnames}
        self.said_inputs = not (isinstance(settings.inputs, Entry) and resources.is_unspecified(settings.inputs.value))
        self.leaves, self.tree = tree_util.tree_flatten((dynamic, named))
        if self.said_inputs:
            tree = tree_util.tree_structure(dynamic)
            self.entries = resources.spread(settings.inputs, tree, "pjit in_axis_resources", arguments=True)
        else:
            self.entries = [Entry(UNSPECIFIED)] * len(self.leaves)

    def static_values(self) -> list[Any]:
        """Arguments that are no arrays."""
        return [arg for i, arg in enumerate(self._args) if i in self.static]

    def fill(self, values: Sequence[Any]) -> list[Any]:
        """The positional arguments with other leaves."""
        dynamic = iter(tree_util.tree_unflatten(self.tree, values)[0])
        return [arg if i in self.static else next(dynamic) for i, arg in enumerate(self._args)]

    def kwargs(self, values: Sequence[Any]) -> dict[str, Any]:
        """The keyword arguments with other leaves."""
        return {**tree_util.tree_unflatten(self.tree, values)[1], **self._static_kwargs}

    def input_tree(self, shardings: Sequence[Any]) -> Any:
        """The shardings in the form that `jax.jit` takes."""
        return tree_util.tree_unflatten(self.tree, shardings)[0]

    def place(self) -> tuple[list[Any], list[Any]]:
        """The arrays of the whole mesh and their shardings."""
        call = hostlocal.Call(self.mesh)
        for leaf, entry in zip(self.leaves, self.entries, strict=True):
            _check_entry(leaf, entry)
        values = [self._place(leaf, entry, call) for leaf, entry in zip(self.leaves, self.entries, strict=True)]
        return values, [value.sharding for value in values]

    def _place(self, leaf: Any, entry: Entry, call: hostlocal.Call) -> jax.Array:
        call.next_argument()
        if isinstance(leaf, arrays.GlobalDeviceArray):
            _check_gda(leaf, entry)
            return hostlocal.from_gda(leaf)
        if isinstance(leaf, ArrayImpl) and _stays(leaf, self.mesh, _spec(entry)):
            return leaf
        return hostlocal.to_global(leaf, self.mesh, _spec(entry), call)

    def place_traced(self) -> tuple[list[Any], list[Any]]:
        """The same inside of a trace, where host-local values are those of the whole mesh."""
        shardings = [_traced_sharding(self.mesh, leaf, entry) for leaf, entry in zip(self.leaves, self.entries, strict=True)]
        values = [_traced_value(leaf, sharding) for leaf, sharding in zip(self.leaves, shardings, strict=True)]
        return values, shardings

    def describe(self, *, whole: bool) -> tuple[list[Any], list[Any]]:
        """Shapes and types of the arrays of the whole mesh, and their shardings."""
        shardings = [_traced_sharding(self.mesh, leaf, entry) for leaf, entry in zip(self.leaves, self.entries, strict=True)]
        shapes = [
            _describe(leaf, self.mesh, _spec(entry), whole=whole) for leaf, entry in zip(self.leaves, self.entries, strict=True)
        ]
        return shapes, shardings


class _Lowered:
    """What `.lower()` gives: as today, but its compiled form takes what the program of one process sees."""

    def __init__(self, lowered: Any, bind: Callable[[Any], Function]) -> None:
        self._lowered = lowered
        self._bind = bind

    def compile(self, *args: Any, **kwargs: Any) -> _Compiled:
        """Compile it."""
        compiled = self._lowered.compile(*args, **kwargs)
        return _Compiled(compiled, self._bind(compiled))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lowered, name)


class _Compiled:
    """A compiled function that takes what the program of one process sees."""

    def __init__(self, compiled: Any, call: Function) -> None:
        self._compiled = compiled
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)


def _refuse_host_local(leaves: Sequence[Any]) -> None:
    if any(isinstance(leaf, _EAGER) for leaf in leaves):
        raise NotImplementedError(
            "jax.grad and the like over a pjit-ed function whose mesh spans several processes are not emulated; "
            "take the gradient inside of the function"
        )


class _Meshes(threading.local):
    """The meshes of the pjit-ed functions that are being traced, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


_meshes = _Meshes()


def _outer_mesh(default: Any) -> Any:
    return _meshes.stack[-1] if _meshes.stack else default


@contextmanager
def _inside(mesh: Any) -> Iterator[None]:
    _meshes.stack.append(mesh)
    try:
        yield
    finally:
        _meshes.stack.pop()


def _tracing(leaves: Sequence[Any]) -> bool:
    return not core.trace_state_clean() or any(isinstance(leaf, core.Tracer) for leaf in leaves)


def _spec(entry: Entry) -> jax.sharding.PartitionSpec:
    if isinstance(entry.value, NamedSharding):
        return entry.value.spec
    return entry.spec if entry.says_spec else P()


def _stays(leaf: jax.Array, mesh: Any, spec: Any) -> bool:
    """Whether an array of several devices, such as a gradient of a pjit-ed function, need not be moved."""
    if not leaf.is_fully_addressable:
        return True
    return len(leaf.sharding.device_set) > 1 and leaf.sharding.is_equivalent_to(NamedSharding(mesh, spec), leaf.ndim)


def _check_entry(leaf: Any, entry: Entry) -> None:
    if resources.is_from_gda(entry.value) and not isinstance(leaf, arrays.GlobalDeviceArray):
        raise ValueError("For a non-GDA input, the corresponding resource in in_axis_resources cannot be `pjit.FROM_GDA`.")
    if resources.is_auto(entry.value):
        raise ValueError(
            "Auto sharding is only enabled for global inputs. Please set `_global_avals=True` during `.lower()`. "
            "Use the compiled object to call the inputs."
        )


def _check_gda(gda: Any, entry: Entry) -> None:
    if not (entry.says_spec or isinstance(entry.value, NamedSharding)):
        return
    wanted, sizes = _spec(entry), indices.axis_sizes(gda.mesh)
    if _cuts(gda.mesh_axes, sizes) != _cuts(wanted, sizes):
        raise ValueError(
            "Got an input GDA to pjit with different partitioning than specified in the in_axis_resources argument to pjit. "
            "The partitioning must match, or use `jax.experimental.pjit.FROM_GDA` in `in_axis_resources` for GDA. "
            f"Got GDA spec: {gda.mesh_axes} and pjit spec: {wanted} for GDA: {gda}"
        )


def _cuts(spec: Any, sizes: dict[Any, int]) -> tuple[tuple[Any, ...], ...]:
    """A spec up to what makes no difference: axes of size 1, trailing dimensions that are not cut."""
    parts = [tuple(axis for axis in axes if sizes.get(axis, 0) != 1) for axes in indices.parse_spec(spec)]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _sharding(mesh: Any, entry: Entry) -> Any:
    if entry.says_spec:
        resources.check_axes(entry.spec, mesh)
        return NamedSharding(mesh, entry.spec)
    if isinstance(entry.value, jax.sharding.Sharding):
        return entry.value
    return None


def _array_sharding(mesh: Any, entry: Entry) -> Any:
    if entry.says_spec and mesh.empty:
        raise RuntimeError(
            "pjit requires a non-empty mesh! Is a mesh defined at the call site? Alternatively, provide a "
            "XLACompatibleSharding to pjit and then the mesh context manager is not required."
        )
    return _sharding(mesh, entry)


def _array_value(mesh: Any, leaf: Any, entry: Entry) -> Any:
    if isinstance(leaf, arrays.GlobalDeviceArray):
        return hostlocal.from_gda(leaf)
    if isinstance(leaf, arrays.HostLocalArray):
        leaf = np.asarray(leaf)
    if mesh.empty or entry.says_spec or isinstance(leaf, core.Tracer) or isinstance(entry.value, jax.sharding.Sharding):
        return leaf
    if isinstance(leaf, ArrayImpl) and leaf.committed:
        if leaf.sharding.device_set != set(mesh.devices.flat):
            raise ValueError(
                "Received incompatible devices for pjitted computation. "
                f"Got argument on {sorted(device.id for device in leaf.sharding.device_set)} and the mesh {mesh}"
            )
        return leaf
    # What was placed nowhere went to all devices of the mesh.
    return jax.device_put(leaf, NamedSharding(mesh, P())) if hostlocal.is_array(leaf) else leaf


def _traced_sharding(mesh: Any, leaf: Any, entry: Entry) -> Any:
    if isinstance(leaf, arrays.GlobalDeviceArray):
        _check_gda(leaf, entry)
        return hostlocal.gda_sharding(leaf)
    if resources.is_unspecified(entry.value) or resources.is_auto(entry.value):
        return None
    _check_entry(leaf, entry)
    return _sharding(mesh, entry)


def _traced_value(leaf: Any, sharding: Any) -> Any:
    if isinstance(leaf, arrays.GlobalDeviceArray):
        return hostlocal.from_gda(leaf)
    if isinstance(leaf, arrays.HostLocalArray):
        return np.asarray(leaf)
    if isinstance(leaf, _EAGER) and sharding is not None:
        # The value under the tracer may be committed to one device, which `jax.jit` would not move.
        return jax.device_put(leaf, sharding)
    return leaf


def _describe(leaf: Any, mesh: Any, spec: Any, *, whole: bool) -> Any:
    shape, dtype = np.shape(leaf), getattr(leaf, "dtype", None)
    if isinstance(leaf, arrays.GlobalDeviceArray) or whole:
        return jax.ShapeDtypeStruct(shape, dtype)
    if dtype is None:
        return leaf
    return jax.ShapeDtypeStruct(indices.global_shape(shape, spec, mesh, jax.process_index(), state.version), dtype)


def _result(leaf: Any, mesh: Any, entry: Entry) -> Any:
    spec = _spec(entry)
    if resources.is_unspecified(entry.value) and isinstance(leaf.sharding, NamedSharding):
        mesh, spec = leaf.sharding.mesh, leaf.sharding.spec
    if state.output_gda():
        return hostlocal.to_gda(leaf, mesh, spec)
    return hostlocal.to_local(leaf, mesh, spec)


def with_sharding_constraint(x: Any, *given: Any, **named: Any) -> Any:
    """Tell the compiler how a value inside of a pjit-ed function should be placed."""
    axis_resources = _constraint(given, named)
    entries = resources.prepare(axis_resources, "axis_resources", unconstrained=True)
    leaves, tree = tree_util.tree_flatten(x)
    flat = resources.spread(entries, tree, "with_sharding_constraint sharding", arguments=False)
    if not _tracing(leaves):
        raise NotImplementedError("with_sharding_constraint() should only be called inside pjit()")
    mesh = resources.physical_mesh()
    return tree_util.tree_unflatten(tree, [_constrain(leaf, mesh, entry) for leaf, entry in zip(leaves, flat, strict=True)])


def _constraint(given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    values = [*given, *(named.pop(name) for name in ("axis_resources", "shardings") if name in named)]
    values = [value for value in values if not resources.is_unspecified(value)]
    if named or len(values) != 1:
        raise TypeError("with_sharding_constraint() takes a value and axis_resources")
    return values[0]


def _constrain(leaf: Any, mesh: Any, entry: Entry) -> Any:
    if entry.says_spec and mesh.empty:
        raise ValueError("with_sharding_constraint requires a non-empty mesh! Are you sure that it's defined at the call site?")
    sharding = _sharding(mesh, entry)
    return leaf if sharding is None else _constrain_now(leaf, sharding)
