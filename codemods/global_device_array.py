"""GlobalDeviceArray is jax.Array: its constructors make arrays out of a shape and a sharding.

A mesh and its axes become one NamedSharding; the batched constructors have no successor and are written out.
https://docs.jax.dev/en/latest/jax_array_migration.html
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, EditCall, NameSite, Reports, Rewrite, Template
from jaxmigrate_codemods import _gda, _gda_class, _gda_written_out
from jaxmigrate_codemods._gda import not_yet

codemod = Codemod(
    "global-device-array",
    summary="GlobalDeviceArray is jax.Array, made by jax.make_array_from_callback and its kin",
    since="0.3.19",
    deprecated="0.4.6",
    removed="0.4.7",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset({"global_device_array", "GlobalDeviceArray"}),
    applicability=REVIEW,
    options={"isinstance": ("jax-array", "multiprocess")},
)
codemod.gone = dict.fromkeys(_gda.HOMES, "GlobalDeviceArray was removed in JAX 0.4.7; every array is a jax.Array now")

_FROM_CALLBACK = tuple(f"{name}.from_callback" for name in _gda.CLASSES)
_MAKE = "jax.make_array_from_callback"
_NEW_KEYWORDS = {"global_shape": "shape", "global_mesh": "sharding", "device_buffers": "arrays"}
_INTERNAL = ("_gda_fast_path_args", "_enable_checks")


# -- the constructors ---------------------------------------------------------------------------------------------------------


@codemod.call(*_FROM_CALLBACK)
def from_callback(site: CallSite) -> Reports:
    """One array from one callback: the same call with a sharding instead of mesh and axes."""
    parameters = (*_gda.PLACE, "data_callback")
    bound = site.bind(*parameters, optional=parameters if site.partial else ())
    if not bound.keys() >= set(_gda.PLACE):  # a partial that leaves more than the callback open
        function = site.replace(_as_function(), site.node.args[0])
        return Rewrite("from_callback takes a sharding now: mesh and axes are joined when both are there", SAFE, (function,))
    callback = bound.get("data_callback")
    return _reshaped(site, bound, _MAKE, _gda.callback_note(site, callback) if callback is not None else "")


def _as_function() -> str:
    """from_callback as a function with its old parameters, for places that need one."""
    sharding = "{jax.sharding.NamedSharding}(global_mesh, mesh_axes)"
    return f"lambda {', '.join(_gda.PLACE)}, data_callback: {{{_MAKE}}}(global_shape, {sharding}, data_callback)"


@codemod.call(*_gda.CLASSES)
def constructor(site: CallSite) -> Reports:
    """An array from buffers that are on their devices already."""
    parameters = (*_gda.PLACE, "device_buffers", *_INTERNAL)
    bound = site.bind(*parameters, optional=parameters if site.partial else _INTERNAL)
    if not bound.keys() >= set(_gda.PLACE):
        return site.manual("an array is made from a sharding now, and this partial lacks mesh or axes to make one of")
    return _reshaped(site, bound, "jax.make_array_from_single_device_arrays")


def _reshaped(site: CallSite, bound: dict[str, ast.expr], make: str, note: str = "") -> Rewrite:
    """The call with the new callee, a sharding in the place of the mesh, and the axes dropped."""
    positions = {id(node): number for number, node in enumerate(site.node.args)}
    keys: dict[str, int | str] = {name: positions.get(id(node), name) for name, node in bound.items()}
    sharding = _gda.sharding_of(site, bound["global_mesh"], bound["mesh_axes"], bound["global_shape"])
    values = {keys["global_mesh"]: Template(sharding.text, sharding.pieces), **_corrected(site, bound, keys)}
    if site.partial:
        values[0] = Template(f"{{{make}}}")
    dropped = frozenset(keys[name] for name in ("mesh_axes", *_INTERNAL) if name in keys)
    func = None if site.partial else Template(f"{{{make}}}")
    assumptions = [text for text in (sharding.assumption, _gda.order(site, bound), note) if text]
    message = "; ".join((f"this is {make} with a NamedSharding now", *assumptions))
    return Rewrite(message, REVIEW if assumptions else SAFE, (EditCall(site.node, func, _NEW_KEYWORDS, dropped, values=values),))


def _corrected(site: CallSite, bound: dict[str, ast.expr], keys: dict[str, int | str]) -> dict[int | str, Template]:
    """Arguments whose old form the new functions do not take: a shape as a list, and before 0.12 buffers as a tuple."""
    found: dict[int | str, Template] = {}
    shape = _gda.shape_of(site.source, bound["global_shape"])
    if shape.text != "{shape}":
        found[keys["global_shape"]] = Template(shape.text, shape.pieces)
    buffers = bound.get("device_buffers")
    if isinstance(buffers, ast.Tuple) and not site.target_has("0.12"):
        found[keys["device_buffers"]] = Template("list({buffers})", {"buffers": buffers})
    return found


for _name, _expansion in _gda_written_out.EXPANSIONS.items():
    codemod.call(*_gda.named(_name))(_expansion)


# -- the functions of the module ------------------------------------------------------------------------------------------------

_METHOD = {"get_shard_indices": "devices_indices_map", "get_shard_shape": "shard_shape"}
_FUNCTIONS = _gda.in_homes(*_METHOD)


@codemod.call(*_FUNCTIONS)
def shard_layout(site: CallSite) -> Reports:
    """Questions about the layout are asked of the sharding."""
    name = site.symbol.rpartition(".")[2]
    if site.partial:
        return site.manual(f"{name} is {_METHOD[name]}(shape) of a NamedSharding(mesh, axes): write a function")
    bound = site.bind(*_gda.PLACE)
    shape = _gda.shape_of(site.source, bound["global_shape"])
    sharding = _gda.sharding_of(site, bound["global_mesh"], bound["mesh_axes"], bound["global_shape"])
    new = site.replace(f"{sharding.text}.{_METHOD[name]}({shape.text})", **shape.pieces, **sharding.pieces)
    notes = [sharding.assumption] if sharding.assumption else []
    if sum(not _gda.is_harmless(site.source, node) for node in bound.values()) > 1:
        notes.append("the shape is evaluated after mesh and axes now")
    if name == "get_shard_shape":
        notes.append("it raises where a dimension does not divide evenly, where the old function rounded down")
    return Rewrite("; ".join((f"{name} is {_METHOD[name]} of a NamedSharding", *notes)), REVIEW if notes else SAFE, (new,))


@codemod.name_(*_FROM_CALLBACK, *_FUNCTIONS, *(q for name in _gda_written_out.EXPANSIONS for q in _gda.named(name)))
def function_as_value(site: NameSite) -> Reports:
    """Handed on, or bound to a name."""
    if site.role == "call" or not site.direct or _gda.is_bound_by_partial(site):
        return ()
    name = site.symbol.rpartition(".")[2]
    if name == "from_callback":
        return Rewrite(
            "from_callback takes a sharding now: this value keeps its old parameters", SAFE, (site.replace(_as_function()),)
        )
    if name in _METHOD:
        body = f"{{jax.sharding.NamedSharding}}(global_mesh, mesh_axes).{_METHOD[name]}(global_shape)"
        new = site.replace(f"lambda {', '.join(_gda.PLACE)}: {body}")
        return Rewrite(f"{name} is {_METHOD[name]} of a NamedSharding", SAFE, (new,))
    return site.manual(f"{name} has no successor in one call: write a function with its parameters")


# -- the classes of the module ------------------------------------------------------------------------------------------

codemod.rename(
    dict.fromkeys(_gda.CLASSES, "jax.Array"),
    "GlobalDeviceArray is jax.Array now",
    _gda_class.use_of_class,
    passed_on="modules that take the name from here test for every jax.Array with it",
)


def use_of_shard(site: NameSite) -> Reports:
    """The class of shards is another one: same attributes, another constructor."""
    if site.role == "call":
        return site.manual(
            "jax.Shard takes (device, sharding, global_shape, data), no index and replica id: take the shards of an array"
        )
    if site.role == "base-class":
        return site.manual("jax.Shard is no dataclass: do not derive from it")
    return None


codemod.rename(dict.fromkeys(_gda.in_homes("Shard"), "jax.Shard"), handler=not_yet("jax.Shard", use_of_shard))
codemod.rename(
    dict.fromkeys(_gda.in_homes("MeshAxes"), "jax.sharding.PartitionSpec"), "MeshAxes was another name of PartitionSpec"
)
codemod.rename(dict.fromkeys(_gda.in_homes("Device"), "jax.Device"), handler=not_yet("jax.Device"))
codemod.rename(dict.fromkeys(_gda.in_homes("ArrayLike"), "jax.typing.ArrayLike"), handler=not_yet("jax.typing.ArrayLike"))


@codemod.name_(*_gda.in_homes("Shape", "Index"))
def tuple_type(site: NameSite) -> Reports:
    """Shape and Index were plain aliases of tuple types."""
    if not site.direct:
        return None
    name = site.symbol.rpartition(".")[2]
    holder = "tuple" if site.target_has("0.4.14") else "{typing.Tuple}"  # JAX 0.4.13 and older ran on Python 3.8
    new = site.replace(f"{holder}[{'int' if name == 'Shape' else 'slice'}, ...]")
    return Rewrite(f"{name} was an alias of a tuple type", SAFE, (new,))


@codemod.name_(*_gda.in_homes("_GdaFastPathArgs", "_get_sharding_spec", "_hashed_index", "_get_indices"))
def internal(site: NameSite) -> Reports:
    """Private helpers that nothing replaces."""
    if any(isinstance(a, ast.keyword) and a.arg == "_gda_fast_path_args" for a in site.source.ancestors(site.node)):
        return ()  # goes with the argument
    return site.manual(f"{site.symbol.rpartition('.')[2]} was internal and is gone: a NamedSharding answers what it was asked")
