"""What recorded values are: their parts, and how a report names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from jaxmigrate.verify.model import Json

UNCOVERED = "no codemod covers it yet"
"""How a sentence ends that says why the migrated program does something else, though no edit shows it."""

NAMES = {
    "array": "array",
    "abstract": "traced value",
    "ndarray": "NumPy array",
    "deleted": "deleted array",
    "map": "mapping",
    "opaque": "object",
    "cut": "value too large to record",
}


Index = tuple[tuple[int, int], ...]


def shards_of(value: Json) -> list[Any]:
    """The shards of an array that this process has."""
    return cast("list[Any]", value.get("shards") or [])


def index_of(shard: Json, value: Json) -> Index:
    """The (start, stop) of each dimension, unbounded ones filled in from the shape."""
    shape = cast("list[int]", value.get("shape") or [])
    spans = cast("list[list[int | None] | None]", shard.get("i") or [])
    return tuple(_bounded(span, shape[dim] if dim < len(shape) else 0) for dim, span in enumerate(spans))


def _bounded(span: list[int | None] | None, length: int) -> tuple[int, int]:
    start, stop = (span or [None, None])[:2]
    return start or 0, length if stop is None else stop


def spell(index: Index) -> str:
    """An index as Python writes it: ``[0:2, 4:8]``."""
    return f"[{', '.join(f'{start}:{stop}' for start, stop in index)}]"


def number_of(scalar: Json) -> Any:
    """The number that a Python scalar is."""
    value, kind = scalar.get("v"), scalar.get("t")
    if kind == "float":
        return float(str(value))
    if kind == "complex":
        real, imaginary = cast("list[object]", value)
        return complex(float(str(real)), float(str(imaginary)))
    return value


def count_of(value: Json) -> int:
    """How many elements a container has, recorded or not."""
    return cast(int, value.get("n") or 0)


def items_of(value: Json, key: str = "v") -> list[Json]:
    """The elements that were recorded."""
    return cast("list[Json]", value.get(key) or [])


def mesh_axes(mesh: Json) -> str:
    """``x=4, y=2``."""
    return ", ".join(f"{name}={size}" for name, size in cast("list[tuple[str, int]]", mesh.get("axes") or []))


def spec_dims(spec: object) -> list[tuple[str, ...]]:
    """The mesh axes of each dimension; trailing dimensions without any do not count."""
    found = [(d,) if isinstance(d, str) else tuple(d or ()) for d in cast("list[str | list[str] | None]", spec or [])]
    while found and not found[-1]:
        found.pop()
    return found


def spelled_spec(dims: list[tuple[str, ...]]) -> str:
    """A spec as Python writes it, without trailing None."""
    return f"P({', '.join(repr(d[0]) if len(d) == 1 else repr(d) if d else 'None' for d in dims)})"


def shape_text(value: Any) -> str:
    """A shape as Python writes it."""
    dims = tuple(value)
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"


def describe(value: Json) -> str:
    """A value in a few words."""
    kind = str(value.get("k"))
    if kind == "scalar":
        kind = str(value.get("t"))
        plain = {"none": "None", "ellipsis": "...", "float": str(value.get("v"))}
        return plain.get(kind, repr(value.get("v")))
    if kind in ("array", "ndarray", "abstract"):
        return f"{NAMES[kind]} {value.get('dtype')}{shape_text(value.get('shape') or ())}"
    if kind == "seq":
        return f"{value.get('t')} of {value.get('n')}"
    if kind == "device":
        return f"device {value.get('id')}"
    if kind == "spec":
        return spelled_spec(spec_dims(value.get("v")))
    if kind == "opaque":
        return f"{value.get('t')} {value.get('v')}"
    if kind in ("record", "sharding"):
        return str(value.get("t") or value.get("type") or kind)
    return NAMES.get(kind, kind)


def truth(value: Json) -> bool | None:
    """What ``bool`` says of a value; None where that does not follow from its description."""
    kind, held = value.get("k"), value.get("v")
    if kind == "scalar" and value.get("t") in ("bool", "int", "none", "str", "bytes"):
        return bool(held)
    if kind == "scalar" and value.get("t") == "float":
        return float(str(held)) != 0
    if kind in ("seq", "map", "set"):
        return count_of(value) > 0
    return None


def brief(value: Json) -> str:
    """What was compared, as evidence names it: ``float32[8,2] on 8 devices``."""
    kind = value.get("k")
    if kind in ("array", "ndarray", "abstract"):
        text = f"{value.get('dtype')}[{','.join(map(str, cast('list[int]', value.get('shape') or [])))}]"
        count = len(shards_of(value))
        on = f" on {count} device{'' if count == 1 else 's'}" if count else ""
        return f"{'NumPy ' if kind == 'ndarray' else 'traced ' if kind == 'abstract' else ''}{text}{on}"
    if kind == "scalar":
        text = describe(value)
        return text if len(text) <= 24 else str(value.get("t"))
    if kind == "shard":
        return f"shard {spell(index_of(value, cast('Json', value.get('v') or {})))} of device {value.get('d')}"
    if kind == "map":
        return f"{value.get('t')} of {value.get('n', len(items_of(value)))}"
    return describe(value)


def leaves(value: Json) -> Iterator[Json]:
    """The values inside of a value that are no containers."""
    kind = value.get("k")
    if kind in ("seq", "set"):
        for item in items_of(value):
            yield from leaves(item)
    elif kind == "map":
        for _, item in cast("list[tuple[Json, Json]]", value.get("v") or []):
            yield from leaves(item)
    elif kind == "record":
        for item in cast("dict[str, Json]", value.get("v") or {}).values():
            yield from leaves(item)
    else:
        yield value
