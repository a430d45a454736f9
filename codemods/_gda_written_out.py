"""The calls of `global_device_array` that no single call replaces: they are written out before the statement they stand in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, InsertBefore, Piece, Reports, Rewrite, Template
from jaxmigrate_codemods import _gda

_MANUAL = (
    "{name} has no successor in one call, and here is no room for several statements: get the indices from NamedSharding(mesh, "
    "axes).{method}(shape){then}"
)
_ASSEMBLE = "{jax.make_array_from_single_device_arrays}"


@dataclass(frozen=True, slots=True)
class _Outline:
    """How a call is written out; ``{made}`` stands for the sharding's making."""

    names: tuple[str, ...]
    """Variables to introduce, beside ``sharding``."""
    before: str
    instead: str


_BATCHED = _Outline(
    ("shard_indices", "shards"),
    "{sharding} = {made}\n"
    "{shard_indices} = {sharding}.addressable_devices_indices_map({shape})\n"
    "{shards} = {callback}(list({shard_indices}.values()))",
    _ASSEMBLE + "({shape}, {sharding}, [{jax.device_put}(s, d) for s, d in zip({shards}, {shard_indices})])",
)
# Slices cannot be hashed before Python 3.12, so groups are kept by how their index is written.
_WITH_DEVICES = _Outline(
    ("shard_groups", "shards", "device", "index"),
    "{sharding} = {made}\n"
    "{shard_groups} = {{}}\n"
    "for {device}, {index} in {sharding}.addressable_devices_indices_map({shape}).items():\n"
    "    {shard_groups}.setdefault(str({index}), ({index}, []))[1].append({device})\n"
    "{shards} = {callback}([(index, tuple(devices)) for index, devices in {shard_groups}.values()])",
    _ASSEMBLE + "({shape}, {sharding}, {shards})",
)


def from_batched_callback(site: CallSite) -> Reports:
    """One call of the callback with all indices of this process."""
    return _written_out(site, _BATCHED)


def from_batched_callback_with_devices(site: CallSite) -> Reports:
    """One call of the callback with every index and the devices that hold it; it puts the data there itself."""
    return _written_out(site, _WITH_DEVICES)


def _written_out(site: CallSite, outline: _Outline) -> Reports:
    bound = site.bind(*_gda.PLACE, "data_callback")
    statement = None if site.partial else _gda.room_before(site.source, site.node)
    name = site.symbol.rpartition(".")[2]
    if statement is None:
        then = ", and put the shards together with jax.make_array_from_single_device_arrays"
        return site.manual(_MANUAL.format(name=name, method="addressable_devices_indices_map", then=then))
    if not _is_first(site, statement):
        return ()  # its turn comes in the next round, when the names for the first are taken
    return _expanded(site, bound, statement, outline)


def _expanded(site: CallSite, bound: dict[str, ast.expr], statement: ast.stmt, outline: _Outline) -> Rewrite:
    wanted = ("sharding", "global_shape", *outline.names)
    new = dict(zip(wanted, _gda.fresh(site.source, statement, wanted), strict=True))
    shape = _gda.shape_of(site.source, bound["global_shape"])
    sharding = _gda.sharding_of(site, bound["global_mesh"], bound["mesh_axes"], bound["global_shape"])
    pieces: dict[str, Piece] = {**new, **shape.pieces, **sharding.pieces, "callback": _callee(site, bound["data_callback"])}
    before = outline.before.replace("{made}", sharding.text)
    if shape.text == "{shape}" and _gda.is_harmless(site.source, bound["global_shape"]):
        pieces["shape"] = bound["global_shape"]
    else:
        before = f"{{global_shape}} = {shape.text}\n{before.replace('{shape}', '{global_shape}')}"
    instead = outline.instead if "{global_shape}" not in before else outline.instead.replace("{shape}", "{global_shape}")
    notes = [text for text in (sharding.assumption, _gda.order(site, bound)) if text]
    name = site.symbol.rpartition(".")[2]
    message = f"{name} has no successor in one call: indices, callback and array are written out"
    changes = (InsertBefore(statement, Template(before, pieces)), site.replace(instead, None, **pieces))
    return Rewrite("; ".join((message, *notes)), REVIEW if notes else SAFE, changes)


def _callee(site: CallSite, callback: ast.expr) -> Piece:
    plain = isinstance(callback, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return callback if plain else f"({site.text(callback)})"


def get_shard_indices_replica_ids(site: CallSite) -> Reports:
    """Replicas are counted in the order of the mesh, as they were."""
    bound = site.bind(*_gda.PLACE)
    statement = None if site.partial else _gda.room_before(site.source, site.node)
    simple = all(_gda.is_harmless(site.source, node) for node in bound.values())
    if statement is None or not simple:
        then = "; a replica's number is the count of equal indices before it, in that order"
        return site.manual(_MANUAL.format(name="get_shard_indices_replica_ids", method="devices_indices_map", then=then))
    if not _is_first(site, statement):
        return ()
    shape = _gda.shape_of(site.source, bound["global_shape"])
    sharding = _gda.sharding_of(site, bound["global_mesh"], bound["mesh_axes"], bound["global_shape"])
    (name,) = _gda.fresh(site.source, statement, ("shard_indices",))
    before = Template(f"{name} = {sharding.text}.devices_indices_map({shape.text})", {**shape.pieces, **sharding.pieces})
    counted = "{{d: (i, list({name}.values())[:n].count(i)) for n, (d, i) in enumerate({name}.items())}}"
    message = "get_shard_indices_replica_ids has no successor: replicas are counted over devices_indices_map"
    note = f"; {sharding.assumption}" if sharding.assumption else ""
    changes = (InsertBefore(statement, before), site.replace(counted, name=name))
    return Rewrite(message + note, REVIEW if note else SAFE, changes)


EXPANSIONS = {
    "from_batched_callback": from_batched_callback,
    "from_batched_callback_with_devices": from_batched_callback_with_devices,
    "get_shard_indices_replica_ids": get_shard_indices_replica_ids,
}


def _is_first(site: CallSite, statement: ast.stmt) -> bool:
    """Whether no other call of this kind stands before this one in its statement."""
    return next(_calls_in(site, statement)) is site.node


def _calls_in(site: CallSite, statement: ast.stmt) -> Iterator[ast.Call]:
    source = site.source
    calls = source.calls(*(qualified for name in EXPANSIONS for qualified in _gda.named(name)))
    return iter(sorted((c for c in calls if source.statement(c) is statement), key=source.span))
