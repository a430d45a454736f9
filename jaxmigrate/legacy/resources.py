"""What old pjit was told about the placement of its arguments and results, and how that spreads over their leaves."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax import api_util, tree_util
from jax._src.mesh import thread_resources

from . import indices, state

P = jax.sharding.PartitionSpec


class _UnspecifiedValue:
    """Nothing was said."""

    def __repr__(self) -> str:
        return "UnspecifiedValue"


class _AUTOAxisResource:
    """The compiler may choose."""


class _FromGdaSingleton:
    """As the argument, a GlobalDeviceArray, lies already."""


UNSPECIFIED = _UnspecifiedValue()
AUTO = _AUTOAxisResource()
FROM_GDA = _FromGdaSingleton()


@dataclass(frozen=True, slots=True)
class Entry:
    """One leaf of what the program said; a leaf of a tree whatever it holds."""

    value: object

    @property
    def says_spec(self) -> bool:
        """Whether it is a spec, None for a replicated value included."""
        return self.value is None or isinstance(self.value, P)

    @property
    def spec(self) -> jax.sharding.PartitionSpec:
        """The spec; only if there is one."""
        assert self.says_spec
        return P() if self.value is None else self.value


def is_from_gda(value: object) -> bool:
    """Whether it is the marker for arguments that stay where they are."""
    return isinstance(value, _FromGdaSingleton)


def is_auto(value: object) -> bool:
    """Whether it leaves the choice to the compiler."""
    return isinstance(value, _AUTOAxisResource)


def is_unspecified(value: object) -> bool:
    """Whether it says nothing."""
    return isinstance(value, _UnspecifiedValue)


def prepare(resources: object, what: str, *, unconstrained: bool = False) -> object:
    """The tree of entries of an argument such as ``in_axis_resources``, checked as old pjit checked it."""
    entries = tree_util.tree_map(Entry, resources, is_leaf=lambda x: x is None)
    for entry in tree_util.tree_leaves(entries):
        _check(entry.value, what, unconstrained)
    return entries


def _check(value: object, what: str, unconstrained: bool) -> None:
    if value is None or isinstance(value, _UnspecifiedValue | _AUTOAxisResource | _FromGdaSingleton | jax.sharding.Sharding):
        return
    if not isinstance(value, P):
        raise TypeError(f"{what} leaf specifications are expected to be PartitionSpec instances or None, but got {value}")
    axes = [axis for part in value for axis in (part if isinstance(part, tuple | list) else (part,)) if axis is not None]
    if P.UNCONSTRAINED in axes and not unconstrained:
        raise ValueError(f"Unconstrained dims are not allowed: {value}")
    twice = [axis for axis, count in Counter(axes).items() if count > 1 and axis is not P.UNCONSTRAINED]
    if twice:
        raise ValueError(
            f"A single {what} specification can map every mesh axis to at most one positional dimension, but {value} "
            f"has duplicate entries for {', '.join(sorted(f'`{axis}`' for axis in twice))}"
        )


def spread(entries: object, tree: tree_util.PyTreeDef, what: str, *, arguments: bool) -> list[Entry]:
    """One entry for each leaf of `tree`, of which `entries` is a prefix."""
    try:
        return list(api_util.flatten_axes(what, tree, entries, tupled_args=arguments))
    except ValueError:
        pass
    if arguments and (type(entries) is not tuple or len(entries) != len(tree.children())):
        raise ValueError(_prefix_message(entries, tree, what))
    dummy = tree_util.tree_unflatten(tree, [object()] * tree.num_leaves)
    for error in _prefix_errors(entries, dummy):
        raise error(what)
    raise ValueError(f"{what} is not a tree prefix of {tree}")


def _prefix_errors(entries: object, dummy: object) -> Sequence[Callable[[str], Exception]]:
    from jax._src.tree_util import prefix_errors

    errors: Sequence[Callable[[str], Exception]] = prefix_errors(entries, dummy)
    return errors


def _prefix_message(entries: object, tree: tree_util.PyTreeDef, what: str) -> str:
    count = len(tree.children())
    message = (
        f"{what} specification must be a tree prefix of the positional arguments tuple passed to the `pjit`-decorated "
        f"function. In particular, {what} must either be a None, a PartitionSpec, or a tuple of length equal to the number "
        "of positional arguments."
    )
    if type(entries) is not tuple:
        return message + f" But {what} is not a tuple: got {type(entries)} instead."
    message += (
        f" But {what} is the wrong length: got a tuple or list of length {len(entries)} for an args tuple of length {count}."
    )
    if count == 1:
        message += (
            f" Given the corresponding argument being passed, it looks like {what} might need to be wrapped in a singleton tuple."
        )
    return message


def physical_mesh() -> jax.sharding.Mesh:
    """The mesh of the ``with`` block that the program is in."""
    return thread_resources.env.physical_mesh


def required_mesh() -> jax.sharding.Mesh:
    """The same; an error outside of such a block."""
    mesh = physical_mesh()
    if mesh.empty:
        raise RuntimeError("pjit requires a non-empty mesh! Are you sure that it's defined at the call site?")
    return mesh


def check_axes(spec: Any, mesh: Any) -> None:
    """Raise what old pjit raised for a spec that names an axis that the mesh has not."""
    for axis in (axis for axes in indices.parse_spec(spec) for axis in axes):
        if axis not in mesh.axis_names and axis is not P.UNCONSTRAINED:
            raise ValueError(f"Resource axis: {axis} of {indices.spec_text(spec)} is undefined.")


def check_fits(shape: Sequence[int], spec: Any, sizes: dict[Any, int], what: str) -> None:
    """Raise what old pjit raised for a value that its spec cannot cut evenly."""
    parts = indices.parse_spec(spec)
    if len(parts) > len(shape):
        raise ValueError(
            f"One of {what} is incompatible with its sharding annotation {spec}: it is only valid for values of rank at "
            f"least {len(parts)}, but was applied to a value of rank {len(shape)}"
        )
    for dim, axes in enumerate(parts):
        pieces = 1
        for axis in axes:
            pieces *= sizes[axis]
        if shape[dim] % pieces:
            raise ValueError(
                f"One of {what} was given the sharding of {spec}, which implies that the size of its dimension {dim} should "
                f"be divisible by {pieces}, but it is equal to {shape[dim]} (full shape: {tuple(shape)})"
            )


_REST = ("static_argnums", "static_argnames", "donate_argnums", "keep_unused", "device", "backend", "inline", "abstracted_axes")
_ALL_NAMES = frozenset({"in_shardings", "out_shardings", "in_axis_resources", "out_axis_resources", *_REST})


def positional_names() -> tuple[str, ...]:
    """The parameters of pjit in the order of the version that is stood for."""
    if state.version < (0, 4, 2):
        return ("in_axis_resources", "out_axis_resources", "static_argnums", "donate_argnums")
    if state.version < (0, 4, 4):
        return ("in_axis_resources", "out_axis_resources", *_REST)
    return ("in_shardings", "out_shardings", "in_axis_resources", "out_axis_resources", *_REST)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a program gave pjit besides the function."""

    inputs: object
    """Tree of entries."""
    outputs: object
    static_argnums: tuple[int, ...]
    static_argnames: tuple[str, ...]
    donate_argnums: tuple[int, ...]
    options: tuple[tuple[str, object], ...]
    """Given through to `jax.jit`."""


def settings(fun: Callable[..., object], given: tuple[object, ...], named: dict[str, object]) -> Settings:
    """Bind the arguments of pjit by the signature of the version that is stood for."""
    names = positional_names()
    if len(given) > len(names):
        raise TypeError(f"pjit() takes from 1 to {len(names) + 1} positional arguments but {len(given) + 1} were given")
    bound = dict(zip(names, given, strict=False))
    for name, value in named.items():
        if name not in _ALL_NAMES:
            raise TypeError(f"pjit() got an unexpected keyword argument '{name}'")
        if name in bound:
            raise TypeError(f"pjit() got multiple values for argument '{name}'")
        bound[name] = value
    inputs, outputs = _either(bound, "in"), _either(bound, "out")
    _check_specified(inputs, outputs)
    static_argnums, static_argnames = _static(fun, bound.get("static_argnums"), bound.get("static_argnames"))
    return Settings(
        # A list of the arguments' specs counts as a tuple, which is what the arguments are.
        inputs=prepare(tuple(inputs) if isinstance(inputs, list) else inputs, _what("in")),
        outputs=prepare(outputs, _what("out")),
        static_argnums=static_argnums,
        static_argnames=static_argnames,
        donate_argnums=_numbers(bound.get("donate_argnums")),
        options=tuple((name, bound[name]) for name in ("keep_unused", "inline") if bound.get(name)),
    )


def _what(side: str) -> str:
    return f"{side}_axis_resources" if state.version < (0, 4, 4) else f"{side}_shardings"


def _either(bound: dict[str, object], side: str) -> object:
    new, old = bound.get(f"{side}_shardings", UNSPECIFIED), bound.get(f"{side}_axis_resources", UNSPECIFIED)
    if is_unspecified(new):
        return old
    if not is_unspecified(old):
        raise ValueError(
            f"Setting both {side}_shardings and {side}_axis_resources is not allowed. {side}_axis_resources is deprecated, "
            f"please use {side}_shardings."
        )
    return new


def _check_specified(inputs: object, outputs: object) -> None:
    if state.jax_array() or state.version >= (0, 4, 2) or not (is_unspecified(inputs) or is_unspecified(outputs)):
        return
    if state.version < (0, 3, 14):
        raise TypeError("pjit() missing required positional arguments: 'in_axis_resources' and 'out_axis_resources'")
    raise ValueError(
        "in_axis_resources and out_axis_resouces should not be the unspecified singleton value. Please enable `jax.Array` to "
        "use this feature. You can use jax.config.update('jax_array', True) or set the environment variable  JAX_ARRAY=1 , or "
        "set the `jax_array` boolean flag to something true-like."
    )


def _numbers(value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)  # type: ignore[arg-type]


def _static(fun: Callable[..., object], numbers: object, names: object) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Numbers and names of static parameters, each completed from the other as `jax.jit` does it."""
    positions = _numbers(numbers)
    words = () if names is None else (names,) if isinstance(names, str) else tuple(names)  # type: ignore[arg-type]
    try:
        parameters = inspect.signature(fun).parameters
    except (ValueError, TypeError):
        return positions, words
    usual = [name for name, p in parameters.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if numbers is None and words:
        positions = tuple(usual.index(word) for word in words if word in usual)
    if names is None and positions:
        words = tuple(usual[i] for i in positions if -len(usual) <= i < len(usual))
    return positions, words
