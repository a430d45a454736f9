"""Meshes, specs and shardings against each other, however the two JAX versions spell them."""

from __future__ import annotations

from typing import cast

from jaxmigrate.verify.comparison import Context
from jaxmigrate.verify.model import Json
from jaxmigrate.verify.words import mesh_axes, spec_dims, spelled_spec

LAYOUT = frozenset({"opaque", "sharding", "spec", "mesh"})
"""Kinds that say how something is to be placed; where one replaces another, what they place is compared, not they."""


def compare_meshes(c: Context, before: Json, after: Json, where: str) -> None:
    """By the names and sizes of the axes, and the order of the devices."""
    if before.get("axes") != after.get("axes"):
        c.out.differ("mesh axes", mesh_axes(before), mesh_axes(after), where)
    devices = before.get("devices"), after.get("devices")
    if None not in devices and devices[0] != devices[1]:
        c.out.differ("mesh devices", devices[0], devices[1], where)


def compare_specs(c: Context, before: Json, after: Json, where: str) -> None:
    """PartitionSpecs."""
    compare_spec_parts(c, before.get("v"), after.get("v"), where)


def compare_spec_parts(c: Context, before: object, after: object, where: str) -> None:
    """By the mesh axes of each dimension."""
    old, new = spec_dims(before), spec_dims(after)
    if old != new:
        c.out.differ("spec", spelled_spec(old), spelled_spec(new), where)


def compare_shardings(c: Context, before: Json, after: Json, where: str) -> None:
    """By spec and mesh where both have them, else by devices; the class of a sharding does not count."""
    if before.get("spec") is not None and after.get("spec") is not None:
        compare_spec_parts(c, _bare(before["spec"]), _bare(after["spec"]), where)
    if before.get("mesh") and after.get("mesh"):
        compare_meshes(c, cast("Json", before["mesh"]), cast("Json", after["mesh"]), where)
    elif before.get("devices") and after.get("devices") and before["devices"] != after["devices"]:
        c.out.differ("devices", before["devices"], after["devices"], where)


def _bare(spec: object) -> object:
    return spec.get("v") if isinstance(spec, dict) else spec


def is_layout(value: Json) -> bool:
    """Whether a value says how something is to be placed; None may mean a spec."""
    return value.get("k") in LAYOUT or (value.get("k") == "scalar" and value.get("t") == "none")


def compare_layouts(c: Context, before: Json, after: Json, where: str) -> None:
    """A spec became a sharding, or None the spec that it meant: compare the specs as far as both name one."""
    specs = [_named_spec(v) for v in (before, after)]
    if None not in specs:
        c.out.facts += 1
        compare_spec_parts(c, specs[0], specs[1], where)


def _named_spec(value: Json) -> object:
    if value.get("k") == "spec":
        return value.get("v") or []
    if value.get("k") == "sharding":
        return _bare(value.get("spec"))
    return None
