"""`ShardedDeviceArray`, what `pmap` returned, is a `jax.Array` whose sharding spans several devices of this process.

JAX's words: https://docs.jax.dev/en/latest/jax_array_migration.html, the sections on the new type and on creating jax.Array

Where the guide says `PmapSharding`, which left JAX in 0.10.0, a `NamedSharding` over the devices of the buffers takes its place;
the shards keep the mapped dimension, with size 1.
"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    AttributeSite,
    CallSite,
    Change,
    Codemod,
    DeleteStatement,
    InsertBefore,
    NameSite,
    Piece,
    Reports,
    Rewrite,
    Site,
    Template,
)
from jaxmigrate_codemods._arrays import (
    ARRAY,
    MAKE_DEVICE,
    MAKE_SHARDED,
    PARTS_OF_SPECS,
    PMAP_SHARDINGS,
    SHARDED_DEVICE_ARRAYS,
    SPECS,
    VALUE_TYPES,
    assignment_for,
    defines,
    fresh,
    indentation,
    unused_in,
)
from jaxmigrate_codemods._pmap_sharding import use_of_pmap_sharding
from jaxmigrate_codemods._sharded_class import use_of_class
from jaxmigrate_codemods._sharding_spec import Layout, read_layout

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_PARAMETERS = ("aval", "sharding_spec", "device_buffers", "indices")

codemod = Codemod(
    "sharded-device-array",
    summary="ShardedDeviceArray becomes jax.Array, its test asks the sharding, its constructor names one",
    since="0.3.24",
    deprecated="0.4.7",
    removed="0.4.14",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset(n.rpartition(".")[2] for n in SHARDED_DEVICE_ARRAYS | MAKE_SHARDED | MAKE_DEVICE)
    | {"sharding_spec", "one_replica_buffer_indices", "PmapSharding", "ShardingSpec", "pxla", "sharding_specs"},
    applicability=REVIEW,
)


codemod.rename(
    dict.fromkeys(sorted(SHARDED_DEVICE_ARRAYS), ARRAY),
    handler=use_of_class,
    passed_on="modules that test against it match every array now, single-device ones too",
)


@codemod.call(*MAKE_SHARDED, *SHARDED_DEVICE_ARRAYS)
def make_sharded_device_array(site: CallSite) -> Reports:
    """Name the sharding that the spec described."""
    if site.partial:
        return site.manual("make_sharded_device_array is gone: see jax.make_array_from_single_device_arrays")
    bound = site.bind(*_PARAMETERS, optional=("indices",))
    spec = site.source.value_of(bound["sharding_spec"])
    shape, shape_piece = _shape(site.source, bound["aval"])
    if isinstance(spec, ast.Attribute) and spec.attr == "sharding_spec":
        template = f"{{jax.make_array_from_single_device_arrays}}({shape}, {{like}}.sharding, {{buffers}})"
        change = site.replace(template, aval=shape_piece, like=spec.value, buffers=bound["device_buffers"])
        return Rewrite(
            "the new array takes over the other one's sharding; its buffers must have the shape of those shards",
            REVIEW,
            (change,),
        )
    layout = read_layout(site.source, spec)
    if isinstance(layout, str):
        return site.manual(layout)
    return _make(site, layout, shape, shape_piece, bound["device_buffers"])


def _make(site: CallSite, layout: Layout, shape: str, aval: ast.expr, buffers: ast.expr) -> Reports:
    changes: list[Change] = _without_spec(site)
    piece: Piece = buffers
    name = site.text(buffers)
    if not site.source.is_pure(buffers):
        around = _room_before(site, buffers)
        if around is None:
            return site.manual("the buffers are needed twice (for the mesh and for the array): bind them to a name first")
        name = piece = fresh(site.source, "buffers", "device_buffers", "shards")
        changes.append(InsertBefore(around, Template(f"{name} = {{buffers}}", {"buffers": buffers})))
    b = unused_in(name, "b", "buffer")
    mesh = layout.mesh(f"[next(iter({b}.devices())) for {b} in {{buffers}}]")
    sharding = f"{{jax.sharding.NamedSharding}}({mesh}, {{jax.sharding.PartitionSpec}}({layout.spec}))"
    shards = f"[{layout.stack(b)} for {b} in {{buffers}}]" if layout.missing else "{buffers}"
    template = _call(site, shape, sharding, shards)
    changes.append(site.replace(template, aval=aval, buffers=piece))
    message = "the sharding is a NamedSharding over the devices of the buffers"
    if layout.missing:
        message += (
            "; each buffer gets the mapped dimension with size 1, and so do the shards of the result (a leading 1 for pmap)"
        )
    return Rewrite(message, REVIEW, tuple(changes))


def _room_before(site: CallSite, buffers: ast.expr) -> ast.stmt | None:
    """The statement before which the buffers can be made: nothing that does something is evaluated before them."""
    source, statement = site.source, site.source.statement(site.node)
    if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) or isinstance(source.parent(statement), ast.ClassDef):
        return None
    child: ast.AST = buffers
    for ancestor in source.ancestors(buffers):
        if ancestor is statement:
            return statement
        if not isinstance(ancestor, (ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Tuple, ast.List)):
            return None
        before = itertools.takewhile(lambda node: node is not child, list(ast.iter_child_nodes(ancestor)))  # noqa: B023
        if not all(_is_quiet(source, node) for node in before):
            return None
        child = ancestor
    return None


def _is_quiet(source: Source, node: ast.AST) -> bool:
    """Whether it does not matter when `node` is evaluated: no call in it but that of ShapedArray."""
    calls = [n for n in ast.walk(node) if isinstance(n, (ast.Call, ast.Await, ast.Yield, ast.NamedExpr))]
    return all(isinstance(c, ast.Call) and (source.resolve(c.func) or "").endswith(".ShapedArray") for c in calls)


def _without_spec(site: CallSite) -> list[Change]:
    """Delete what was computed for the old call alone: the spec, and the indices that were made of it."""
    bound = site.bind(*_PARAMETERS, optional=("indices",))
    gone: list[ast.stmt] = []
    for argument in (bound.get("indices"), bound["sharding_spec"]):
        if argument is not None:
            made = site.source.value_of(argument)
            statement = assignment_for(site.source, argument, made, (*gone, bound.get("indices", argument)))
            gone += [statement] if statement is not None else []
    return [DeleteStatement(statement) for statement in gone]


def _call(site: CallSite, *arguments: str) -> str:
    """Template of the call, an argument a line, as deep as its statement."""
    statement = site.source.statement(site.node)
    indent = "\n" + indentation(site.source, statement)
    inner = "".join(f"{indent}    {argument}," for argument in arguments)
    return f"{{jax.make_array_from_single_device_arrays}}({inner}{indent})"


def _shape(source: Source, aval: ast.expr) -> tuple[str, ast.expr]:
    """Template and piece for the shape of an aval: of ``ShapedArray(shape, dtype)`` its argument, of ``x.aval`` that of x."""
    if isinstance(aval, ast.Call) and (source.resolve(aval.func) or "").endswith(".ShapedArray") and aval.args:
        return "{aval}", aval.args[0]
    if isinstance(aval, ast.Attribute) and aval.attr == "aval":
        return "{aval}.shape", aval.value
    return "{aval}.shape", aval


@codemod.name_(*SPECS, *PARTS_OF_SPECS)
def sharding_spec(site: NameSite) -> Reports:
    """What describes a layout without naming a mesh; one that only fed a rewritten call is gone by the last round."""
    if not site.direct or _is_in_spec(site):
        return None
    name = site.symbol.rpartition(".")[2]
    if name == "spec_to_indices":
        return site.manual("spec_to_indices left JAX in 0.10.0: sharding.devices_indices_map(shape) says which device has what")
    return site.manual(f"{name} left JAX in 0.10.0: a NamedSharding(mesh, PartitionSpec(...)) says the layout")


def _is_in_spec(site: NameSite) -> bool:
    """Whether the name stands in a call, of a ShardingSpec or of what takes one, that has a finding of its own."""
    calls = (a for a in site.source.ancestors(site.node) if isinstance(a, ast.Call) and a.func is not site.node)
    spoken_of = SPECS | MAKE_SHARDED | SHARDED_DEVICE_ARRAYS | PMAP_SHARDINGS
    return any((site.source.resolve(c.func) or "") in spoken_of for c in calls)


codemod.name_(*PMAP_SHARDINGS)(use_of_pmap_sharding)


@codemod.name_(*MAKE_SHARDED, *MAKE_DEVICE)
def passed_on(site: NameSite) -> Reports:
    """The function as a value."""
    if site.role == "call" or _is_partial(site):
        return None
    return site.manual(
        f"{site.symbol.rpartition('.')[2]} is gone: see jax.make_array_from_single_device_arrays and jax.device_put"
    )


def _is_partial(site: Site) -> bool:
    parent = site.parent()
    return isinstance(parent, ast.Call) and (site.source.resolve(parent.func) or "") == "functools.partial"


@codemod.call(*MAKE_DEVICE)
def make_device_array(site: CallSite) -> Reports:
    """The buffer is an array already; `device` says where it is to stay."""
    if site.partial:
        return site.manual("make_device_array is gone: see jax.device_put")
    bound = site.bind("aval", "device", "device_buffer")
    buffer, device = bound["device_buffer"], bound["device"]
    message = "a buffer is an array today; its dtype is its own, not that of the aval"
    if isinstance(device, ast.Constant) and device.value is None:
        stays = f"{message}, and it stays committed to its device"
        return Rewrite(stays, REVIEW, (site.replace("{buffer}", buffer=buffer),))
    return Rewrite(message, REVIEW, (site.replace("{jax.device_put}({buffer}, {device})", buffer=buffer, device=device),))


@codemod.attribute("sharding_spec", "indices", "one_replica_buffer_indices")
def layout_attribute(site: AttributeSite) -> Reports:
    """What the array knew about its layout: `x.sharding` knows it now."""
    known = site.receiver_type in VALUE_TYPES
    if site.assignment or _in_constructor(site) or not (known or _is_likely_sharded(site)):
        return None
    x = site.text(site.value)
    if site.node.attr == "sharding_spec":
        return site.manual(f"{x}.sharding says how the array is laid out; ShardingSpec left JAX in 0.10.0")
    if site.node.attr == "one_replica_buffer_indices":
        return site.manual(f"positions in {x}.addressable_shards of one copy of everything: those with replica_id == 0")
    if not site.source.is_pure(site.value):
        return site.manual("list(x.sharding.addressable_devices_indices_map(x.shape).values()), with the array bound to a name")
    change = site.replace("list({x}.sharding.addressable_devices_indices_map({x}.shape).values())", x=site.value)
    return Rewrite(
        "the index of a mapped dimension was an int and is a slice of length 1 where pmap made the array", REVIEW, (change,)
    )


def _is_likely_sharded(site: AttributeSite) -> bool:
    """Whether an unknown value may be a ShardedDeviceArray: the name is its own, and the file has to do with them."""
    if site.node.attr == "indices" or site.receiver_type is not None or defines(site.source, site.node.attr):
        return False
    return any(site.source.mentions(word) for word in ("pmap", "ShardedDeviceArray", "device_buffers", "PmapSharding"))


def _in_constructor(site: AttributeSite) -> bool:
    """Whether the attribute is an argument of a constructor that another function here rewrites."""
    parent = site.parent()
    call = site.source.parent(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and (site.source.resolve(call.func) or "") in MAKE_SHARDED | SHARDED_DEVICE_ARRAYS
