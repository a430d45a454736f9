"""`PmapSharding`, which the guide put in the place of a ShardingSpec, as a NamedSharding over a mesh of one axis."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, Change, DeleteStatement, NameSite, Piece, Reports, Rewrite
from jaxmigrate_codemods._arrays import assignment_for
from jaxmigrate_codemods._sharding_spec import read_layout

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_MAKE = "jax.make_array_from_single_device_arrays"
_GONE = "PmapSharding left JAX in 0.10.0"
_ADVICE = f"{_GONE}: NamedSharding(Mesh(devices, ('i',)), PartitionSpec('i')) splits the first dimension too; its shards keep it"
_KEPT = (
    f"{_GONE}: a NamedSharding splits the dimension too, but its shards keep it, with size 1, where they lacked it before 0.4.34"
)
_BUFFERS = f"{_ADVICE}, so that the buffers of {_MAKE} need it with size 1: those made for JAX before 0.4.34 lack it"
_TESTED = f"{_GONE}: what pmap returns has a NamedSharding since 0.8.0"


def use_of_pmap_sharding(site: NameSite) -> Reports:
    """Name a mesh where the source shows it; describe every other use."""
    outer = site.parent()
    if site.role in ("isinstance", "issubclass", "type-compare"):
        return site.manual(_TESTED)
    if site.role == "annotation":
        return site.manual(f"{_GONE}: annotate what takes any sharding as jax.sharding.Sharding")
    if isinstance(outer, ast.Call) and outer.func is site.node:
        return _of_spec(site, outer)
    call = site.source.parent(outer) if isinstance(outer, ast.Attribute) and outer.attr == "default" else None
    if isinstance(call, ast.Call) and call.func is outer:
        return _default(site, call)
    return site.manual(_ADVICE)


def _default(site: NameSite, call: ast.Call) -> Reports:
    """``PmapSharding.default(shape, sharded_dim=0, devices=None)``: the devices in the order of jax.local_devices()."""
    bound = _bound(call, "shape", "sharded_dim", "devices")
    if bound is None or "shape" not in bound:
        return site.manual(_ADVICE)
    dim = _dimension(bound.get("sharded_dim"))
    if dim is None:
        return site.manual(_ADVICE)
    if _is_for_buffers(site.source, call):
        return site.manual(_BUFFERS)
    pieces: dict[str, Piece] = {}
    devices = bound.get("devices")
    if devices is None or (isinstance(devices, ast.Constant) and devices.value is None):
        size = _size(site.source, bound["shape"], dim)
        if size is None:
            return site.manual(_ADVICE)
        text, pieces["size"] = size
        listed = f"{{jax.local_devices}}()[:{text}]"
    elif site.source.is_pure(bound["shape"]) or isinstance(bound["shape"], ast.Tuple):
        listed, pieces["devices"] = "{devices}", devices
    else:
        return site.manual(_ADVICE)  # a shape that does something would not be asked any more
    entries = ", ".join(["None"] * dim + ['"i"'])
    return _named(site, call, f'{{jax.sharding.Mesh}}({listed}, ("i",))', entries, pieces)


def _size(source: Source, shape: ast.expr, dim: int) -> tuple[str, ast.expr] | None:
    """Template and piece for the size of a dimension; None where the shape has no such dimension, or hides it."""
    if not isinstance(shape, (ast.Tuple, ast.List)):
        return f"{{size}}[{dim}]", shape
    others = shape.elts[:dim] + shape.elts[dim + 1 :]
    if dim >= len(shape.elts) or any(isinstance(e, ast.Starred) for e in shape.elts[: dim + 1]):
        return None
    if not all(source.is_pure(e.value if isinstance(e, ast.Starred) else e) for e in others):
        return None
    return "{size}", shape.elts[dim]


def _dimension(node: ast.expr | None) -> int | None:
    """The dimension that is split; None where the source does not show it."""
    if node is None:
        return 0
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 0:
        return node.value
    return None


def _of_spec(site: NameSite, call: ast.Call) -> Reports:
    """``PmapSharding(devices, sharding_spec)`` with a spec that can be read."""
    bound = _bound(call, "devices", "sharding_spec")
    if bound is None or len(bound) != 2:
        return site.manual(_ADVICE)
    spec = site.source.value_of(bound["sharding_spec"])
    layout = read_layout(site.source, spec) if isinstance(spec, ast.Call) else ""
    if isinstance(layout, str):
        return site.manual(_ADVICE)
    if layout.missing and _is_for_buffers(site.source, call):
        return site.manual(_BUFFERS)
    pieces: dict[str, Piece] = {"devices": bound["devices"]}
    made = assignment_for(site.source, bound["sharding_spec"], spec)
    gone: tuple[Change, ...] = (DeleteStatement(made),) if made is not None else ()
    return _named(site, call, layout.mesh("{devices}"), layout.spec, pieces, gone, kept=bool(layout.missing))


def _named(
    site: NameSite,
    call: ast.Call,
    mesh: str,
    spec: str,
    pieces: dict[str, Piece],
    others: tuple[Change, ...] = (),
    *,
    kept: bool = True,
) -> Rewrite:
    sharding = f"{{jax.sharding.NamedSharding}}({mesh}, {{jax.sharding.PartitionSpec}}({spec}))"
    message = _KEPT if kept else f"{_GONE}: the sharding is a NamedSharding over the same devices"
    return Rewrite(message, REVIEW, (*others, site.replace(sharding, call, **pieces)))


def _is_for_buffers(source: Source, call: ast.Call) -> bool:
    """Whether buffers are, or may be, put together with this sharding: they must have the shape of its shards, which changed."""
    for made in source.calls(_MAKE):
        arguments = {k.arg: k.value for k in made.keywords}
        sharding = made.args[1] if len(made.args) > 1 else arguments.get("sharding")
        value = source.value_of(sharding) if sharding is not None else None
        if value is call or not _is_another(source, value):
            return True
    return False


def _is_another(source: Source, value: ast.expr | None) -> bool:
    """Whether the source shows where a sharding comes from: the constructor of one, or an array."""
    if isinstance(value, ast.Attribute):
        return value.attr == "sharding"
    return isinstance(value, ast.Call) and (source.resolve(value.func) or "").startswith("jax.sharding.")


def _bound(call: ast.Call, *parameters: str) -> dict[str, ast.expr] | None:
    """Arguments by parameter; None where they cannot be told."""
    if any(isinstance(a, ast.Starred) for a in call.args) or len(call.args) > len(parameters):
        return None
    if any(k.arg not in parameters for k in call.keywords):
        return None
    return dict(zip(parameters, call.args, strict=False)) | {k.arg or "": k.value for k in call.keywords}
