"""Whether two recorded values are the same: places, shapes and types exactly, floats within the tolerance of their dtype.

A value is what the recorder described, a dict with its kind under ``k``. Old and new array types are one family, so that a
GlobalDeviceArray and the `jax.Array` that replaced it are told apart only by what a program could notice: shape, dtype, weak
type, which device holds which index, the data. What the recorder could not describe (functions, classes, values that were cut)
compares as neither equal nor different: it is no evidence.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from jaxmigrate.verify.model import Difference, Json, Placement, Tolerance
from jaxmigrate.verify.texts import same_text
from jaxmigrate.verify.tolerance import EXACT, bounds, unequal

KEYWORDS = {
    "in_axis_resources": "in_shardings",
    "out_axis_resources": "out_shardings",
    "axis_resources": "shardings",
    "global_shape": "shape",
    "mesh_axes": "sharding",
    "device_buffers": "arrays",
}
"""Keyword arguments that were renamed, in the dicts that hold them."""

MESH = "global_mesh"
"""The keyword argument whose value went into the sharding."""

GONE = re.compile(r"--(?:no)?(?:jax_array|jax_parallel_functions_output_gda)(?:=.*)?|JAX_ARRAY|JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA")
"""Arguments and variables for flags that JAX has no more: command lines and environments lose them."""

OURS = "JAXMIGRATE_"
SET_FOR_RUNS = ("TMPDIR", "TEMP", "TMP", "PWD", "OLDPWD", "PYTHONPATH", "PYTHONHASHSEED", "XLA_FLAGS", "JAX_PLATFORMS")
"""Environment variables that are not the program's but differ between the runs."""

LAYOUT = frozenset({"opaque", "sharding", "spec", "mesh"})
"""Kinds that say how something is to be placed; where one replaces another, what they place is compared, not they."""

CANONICAL = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
"""What JAX makes of NumPy's 64-bit types unless it was told to keep them."""

NAMES = {
    "array": "array",
    "abstract": "traced value",
    "ndarray": "NumPy array",
    "deleted": "deleted array",
    "map": "mapping",
    "opaque": "object",
    "cut": "value too large to record",
}

MAX_ITEMS = 256
"""Of a container that are recorded."""

SHOWN = 4
"""Devices that the text of a difference lists; the picture shows all."""


@dataclass(slots=True)
class Comparison:
    """What comparing two values gave."""

    differences: list[Difference] = field(default_factory=list)
    facts: int = 0
    """How many values were there on both sides to be compared; 0 means that nothing was learnt."""
    sampled: int = 0
    """How many large arrays were compared by samples."""
    notes: list[str] = field(default_factory=list)
    dtypes: set[str] = field(default_factory=set)
    """Of the floats that were there to be compared."""

    def differ(self, aspect: str, before: object, after: object, where: str) -> None:
        """Add a difference."""
        self.differences.append(Difference(aspect, str(before), str(after), where))


@dataclass(frozen=True, slots=True)
class _Context:
    out: Comparison
    tolerance: Tolerance
    converted: bool
    """Whether the edit put a conversion around this value: then host data may have become a global array."""
    seen: bool
    """Whether the program itself sees this value, so that a global shape where it saw the host-local one is a difference."""


def compare(before: Json, after: Json, tolerance: Tolerance | None = None) -> list[Difference]:
    """The aspects in which two recorded values differ, none if they are the same as far as they were recorded."""
    return examine(before, after, tolerance).differences


def examine(
    before: Json, after: Json, tolerance: Tolerance | None = None, *, converted: bool = False, seen: bool = True
) -> Comparison:
    """Compare two recorded values and count what could be compared.

    Args:
        before: the value in the original program.
        after: the value in the migrated program.
        tolerance: how far floats may differ; their dtype's own by default.
        converted: the edit wrapped this argument of a call into a conversion, so that only what it holds is compared, not the
            type or placement that the conversion is there to change.
        seen: the program itself sees the value; what a function gives to a conversion around its call is not.
    """
    out = Comparison()
    _value(_Context(out, tolerance or Tolerance(), converted, seen), before, after, "")
    return out


_Check = Callable[[_Context, Json, Json, str], None]


def _value(c: _Context, before: Json, after: Json, where: str) -> None:
    kinds = before.get("k"), after.get("k")
    if "cut" in kinds or (_silent(before) and _silent(after)):
        return
    if c.converted and kinds[1] == "array" and kinds[0] in ("array", "ndarray", "scalar"):
        _conversion(c, before, after, where)
    elif kinds[0] == kinds[1]:
        c.out.facts += kinds[0] not in ("seq", "map", "record")
        _CHECKS.get(str(kinds[0]), _same)(c, before, after, where)
    elif _layout(before) and _layout(after):
        _layouts(c, before, after, where)
    elif set(kinds) == {"array", "shard"}:
        _buffer(c, before, after, where)
    else:
        c.out.facts += 1
        c.out.differ("type", _described(before), _described(after), where)


def _silent(value: Json) -> bool:
    """Whether this is something that was not described, or a container of nothing but such things."""
    if value.get("k") in ("seq", "set"):
        items = _items(value)
        return bool(items) and all(map(_silent, items))
    return value.get("k") in ("opaque", "cut")


def _same(c: _Context, before: Json, after: Json, where: str) -> None:
    if before != after:
        c.out.differ("value", _described(before), _described(after), where)


# Arrays


def _array(c: _Context, before: Json, after: Json, where: str) -> None:
    if _visible_only(before, after):
        _host_local(c, before, after, where)
        return
    found = len(c.out.differences)
    _exactly(c, before, after, where, ("shape", "dtype", "weak"))
    if _replica_of_all(before, after):
        c.out.notes.append("each process sees the whole of it, as its own array before and as part of a global one now")
    else:
        _exactly(c, before, after, where, ("committed", "addressable", "replicated"))
    _placement(c, before, after, where)
    local = before.get("local"), after.get("local")
    if local[0] != local[1] and before["shape"] == after["shape"]:
        if c.seen:
            texts = [f"{_shape(v.get('local') or v['shape'])} of {_shape(v['shape'])}" for v in (before, after)]
            c.out.differ("host-local shape", texts[0], texts[1], where)
        else:
            c.out.notes.append("host-local before, global now: judged where the program sees what becomes of it")
    if not any(d.aspect in ("shape", "dtype") for d in c.out.differences[found:]):
        _array_data(c, before, after, where)


_ASPECTS = {
    "weak": "weak type",
    "addressable": "fully addressable",
    "replicated": "fully replicated",
}


def _exactly(c: _Context, before: Json, after: Json, where: str, keys: Iterable[str]) -> None:
    """Compare fields that either side may leave unknown."""
    for key in keys:
        a, b = before.get(key), after.get(key)
        if a is not None and b is not None and a != b:
            shown = (_shape(a), _shape(b)) if key == "shape" else (a, b)
            c.out.differ(_ASPECTS.get(key, key), *shown, where)


def _visible_only(before: Json, after: Json) -> bool:
    """Whether one is a host-local view of several processes' array and the other an array of this process, of that shape."""
    return any(
        view.get("local") is not None and own.get("local") is None and own["shape"] == view["local"] and own.get("addressable")
        for view, own in ((before, after), (after, before))
    )


def _replica_of_all(before: Json, after: Json) -> bool:
    """Whether a process's own ShardedDeviceArray became a global array of the same shape, of which it has all."""
    return before["shape"] == after["shape"] and any(
        str(own.get("type")).endswith("ShardedDeviceArray") and own.get("addressable") and whole.get("addressable") is False
        for own, whole in ((before, after), (after, before))
    )


def _host_local(c: _Context, before: Json, after: Json, where: str) -> None:
    """Device by device: the indices of the one are those of the global array, of the other those of the process's own."""
    _exactly(c, before, after, where, ("dtype",))
    c.out.notes.append("what each device of the process holds was compared")
    old, new = ({int(s["d"]): s for s in _shards(v)} for v in (before, after))
    if set(old) != set(new):
        c.out.differ("devices", _devices(old), _devices(new), where)
        return
    for device in sorted(old):
        sizes = [[stop - start for start, stop in _index(s[device], v)] for s, v in ((old, before), (new, after))]
        place = f"{where} on device {device}".strip()
        if sizes[0] != sizes[1]:
            c.out.differ("shard shape", _shape(sizes[0]), _shape(sizes[1]), place)
            return
        data = old[device].get("v"), new[device].get("v")
        same = data[0] and data[1] and data[0].get("dtype") == data[1].get("dtype")
        if same and not _digests(c, data[0], data[1], sizes[0], place):
            return


def _conversion(c: _Context, before: Json, after: Json, where: str) -> None:
    """Host data or an array became the array that a call now wants: dtype (as JAX keeps it) and data must be the same."""
    c.out.facts += 1
    c.out.notes.append("the edit converts this argument: its data was compared, its placement counts where it is used")
    if before["k"] == "scalar":
        before = _scalar_array(before, str(after["dtype"]))
    old, new = str(before["dtype"]), str(after["dtype"])
    if old != new and CANONICAL.get(old) != new:
        c.out.differ("dtype", old, new, where)
        return
    seen = _assembled(after) if before["shape"] != after["shape"] else _content(after)
    visible = before.get("local") or before["shape"]
    if seen is None and before["shape"] != after["shape"]:
        c.out.facts -= 1
    elif seen is not None and list(seen.shape) != visible and before["shape"] != after["shape"]:
        c.out.differ("shape", _shape(visible), _shape(seen.shape), where)
    else:
        _contents(c, _content(before), seen, new, where)


def _scalar_array(scalar: Json, dtype: str) -> Json:
    value = _number(scalar)
    return {"k": "ndarray", "shape": [], "dtype": dtype, "number": value}


def _content(value: Json) -> Any:
    """The data of an array as far as this process has all of it, else None."""
    if "number" in value:
        return np.asarray(value["number"])
    digest = cast("Json | None", value.get("v"))
    if digest is None:
        return _assembled(value)
    data = _decode(digest) if digest.get("all") else None
    shape = cast("list[int]", value["shape"])
    return data.reshape(shape) if data is not None and data.size == math.prod(shape) else None


def _assembled(value: Json) -> Any:
    """What the shards of this process hold, put together in the order of their indices; None if some were only sampled."""
    pieces = {_index(s, value): _decode(s["v"]) for s in _shards(value) if s.get("v") and s["v"].get("all")}
    wanted = {_index(s, value) for s in _shards(value) if s.get("v")}
    if not wanted or set(pieces) != wanted or any(data is None for data in pieces.values()):
        return None
    spans = [sorted(set(dim)) for dim in zip(*pieces, strict=True)]
    starts = [dict(zip(dim, np.cumsum([0] + [b - a for a, b in dim]), strict=False)) for dim in spans]
    whole = np.zeros([sum(b - a for a, b in dim) for dim in spans], next(iter(pieces.values())).dtype)
    for index, data in pieces.items():
        at = tuple(slice(start[dim], start[dim] + dim[1] - dim[0]) for dim, start in zip(index, starts, strict=True))
        whole[at] = data.reshape([b - a for a, b in index])
    return whole


def _contents(c: _Context, before: Any, after: Any, dtype: str, where: str) -> None:
    if before is None or after is None:
        return
    if before.shape != after.shape:
        c.out.differ("shape", _shape(before.shape), _shape(after.shape), where)
        return
    if bounds(dtype) != EXACT:
        c.out.dtypes.add(dtype)
    wrong = unequal(before, after, bounds(dtype, c.tolerance))
    if wrong.any():
        _differing(c, before, after, wrong, where)


# Placement

Index = tuple[tuple[int, int], ...]


def _shards(value: Json) -> list[Any]:
    return cast("list[Any]", value.get("shards") or [])


def _index(shard: Json, value: Json) -> Index:
    """The (start, stop) of each dimension, unbounded ones filled in from the shape."""
    shape = cast("list[int]", value.get("shape") or [])
    spans = cast("list[list[int | None] | None]", shard.get("i") or [])
    return tuple(_bounded(span, shape[dim] if dim < len(shape) else 0) for dim, span in enumerate(spans))


def _bounded(span: list[int | None] | None, length: int) -> tuple[int, int]:
    start, stop = (span or [None, None])[:2]
    return start or 0, length if stop is None else stop


def _layout_of(value: Json) -> dict[int, tuple[Index, int | None]]:
    return {int(s["d"]): (_index(s, value), s.get("r")) for s in _shards(value)}


def _placement(c: _Context, before: Json, after: Json, where: str) -> None:
    old, new = _layout_of(before), _layout_of(after)
    if not old or not new:
        return
    pictures = Placement(*_picture(before, old)), Placement(*_picture(after, new))
    if set(old) != set(new):
        texts = _devices(old), _devices(new)
        c.out.differences.append(Difference("devices", *texts, where, pictures))
        return
    moved = [d for d in sorted(old) if old[d][0] != new[d][0]]
    if moved:
        texts = _holdings(old, moved), _holdings(new, moved)
        c.out.differences.append(Difference("placement", *texts, where, pictures))
        return
    replicas = [d for d in sorted(old) if None not in (old[d][1], new[d][1]) and old[d][1] != new[d][1]]
    if replicas:
        texts = _replicas(old, replicas), _replicas(new, replicas)
        c.out.differences.append(Difference("replica id", *texts, where, pictures))


def _picture(value: Json, layout: dict[int, tuple[Index, int | None]]) -> tuple[tuple[int, ...], tuple[tuple[int, Index], ...]]:
    shape = tuple(cast("list[int]", value.get("shape") or []))
    return shape, tuple((device, layout[device][0]) for device in sorted(layout))


def _devices(layout: Iterable[int]) -> str:
    ids = sorted(layout)
    if len(ids) > 2 and ids == list(range(ids[0], ids[-1] + 1)):
        return f"devices {ids[0]} to {ids[-1]}"
    return f"device{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


def _holdings(layout: dict[int, tuple[Index, int | None]], devices: Sequence[int]) -> str:
    texts = [f"device {d}: {spell(layout[d][0])}" for d in devices[:SHOWN]]
    return ", ".join(texts) + (f" and {len(devices) - SHOWN} more" if len(devices) > SHOWN else "")


def _replicas(layout: dict[int, tuple[Index, int | None]], devices: Sequence[int]) -> str:
    texts = [f"device {d}: replica {layout[d][1]}" for d in devices[:SHOWN]]
    return ", ".join(texts) + (f" and {len(devices) - SHOWN} more" if len(devices) > SHOWN else "")


def spell(index: Index) -> str:
    """An index as Python writes it: ``[0:2, 4:8]``."""
    return f"[{', '.join(f'{start}:{stop}' for start, stop in index)}]"


# Data


def _array_data(c: _Context, before: Json, after: Json, where: str) -> None:
    whole = before.get("v"), after.get("v")
    shape = cast("list[int]", before["shape"])
    if whole[0] and whole[1] and not _digests(c, cast("Json", whole[0]), cast("Json", whole[1]), shape, where):
        return
    held = {int(s["d"]): s for s in _shards(after)}
    for shard in _shards(before):
        other = held.get(int(shard["d"]))
        if other and shard.get("v") and other.get("v") and _index(shard, before) == _index(other, after):
            place = f"{where} on device {shard['d']}".strip()
            if not _digests(c, shard["v"], other["v"], [b - a for a, b in _index(shard, before)], place):
                return


def _ndarray(c: _Context, before: Json, after: Json, where: str) -> None:
    found = len(c.out.differences)
    _exactly(c, before, after, where, ("shape", "dtype"))
    digests = before.get("v"), after.get("v")
    if found == len(c.out.differences) and digests[0] and digests[1]:
        _digests(c, cast("Json", digests[0]), cast("Json", digests[1]), cast("list[int]", before["shape"]), where)
    for i, (a, b) in enumerate(zip(_items(before, "items"), _items(after, "items"), strict=False)):
        _value(c, a, b, f"{where}.flat[{i}]")


def _digests(c: _Context, before: Json, after: Json, shape: Sequence[int], where: str) -> bool:
    """Compare data by hash, then by the elements that were kept; report the first that differs."""
    dtype = str(before.get("dtype"))
    if bounds(dtype) != EXACT:
        c.out.dtypes.add(dtype)
    hashes = before.get("h"), after.get("h")
    if hashes[0] is not None and hashes[0] == hashes[1] and dtype == after.get("dtype"):
        return True
    if dtype != after.get("dtype") or before.get("n") != after.get("n"):
        c.out.differ("values", f"{before.get('n')} x {dtype}", f"{after.get('n')} x {after.get('dtype')}", where)
        return False
    a, b = _decode(before), _decode(after)
    allowed = bounds(dtype, c.tolerance)
    if a is None or b is None or a.shape != b.shape:
        c.out.differ("values", "other data (only its hash was kept)", "other data", where)
        return False
    wrong = unequal(a, b, allowed)
    complete = before.get("all") and after.get("all")
    if wrong.any():
        if complete and math.prod(shape) == a.size:
            a, b, wrong = a.reshape(shape), b.reshape(shape), wrong.reshape(shape)
        _differing(c, a, b, wrong, where, sampled=not complete)
        return False
    if not complete and None not in hashes and (allowed == EXACT or before.get("b") == after.get("b")):
        # Rounding would show among a thousand samples.
        c.out.differ("values", "other data (no sampled element differs, the hash does)", "other data", where)
        return False
    c.out.sampled += not complete
    return True


def _differing(c: _Context, before: Any, after: Any, wrong: Any, where: str, *, sampled: bool = False) -> None:
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    at = f"[{', '.join(map(str, first))}]" if first and not sampled else "a sampled element" if sampled else ""
    count = f" ({int(wrong.sum())} of {wrong.size}{' sampled' if sampled else ''} differ)" if wrong.size > 1 else ""
    prefix = f"{at} = " if at else ""
    c.out.differ("values", f"{prefix}{_item(before[first])}{count}", f"{prefix}{_item(after[first])}", where)


def _item(value: Any) -> str:
    item = value.item() if hasattr(value, "item") else value
    return f"{item:.9g}" if isinstance(item, float) else str(item)


def _decode(digest: Any) -> Any:
    dtype = _dtype(str(digest.get("dtype")))
    if dtype is None or digest.get("b") is None:
        return None
    try:
        data = base64.b64decode(str(digest["b"]))
    except ValueError:
        return None
    return np.frombuffer(data, dtype) if dtype.itemsize and len(data) % dtype.itemsize == 0 else None


def _dtype(name: str) -> Any:
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes  # comes with JAX; NumPy alone does not know bfloat16 and the 8-bit floats

        return np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError, TypeError):
        return None


# Everything else


def _abstract(c: _Context, before: Json, after: Json, where: str) -> None:
    _exactly(c, before, after, where, ("shape", "dtype", "weak"))
    if before.get("spec") is not None and after.get("spec") is not None:
        _specs(c, before["spec"], after["spec"], where)


def _number(scalar: Json) -> Any:
    value, kind = scalar.get("v"), scalar.get("t")
    if kind == "float":
        return float(str(value))
    if kind == "complex":
        real, imaginary = cast("list[object]", value)
        return complex(float(str(real)), float(str(imaginary)))
    return value


def _scalar(c: _Context, before: Json, after: Json, where: str) -> None:
    kind = before.get("t")
    if kind != after.get("t"):
        c.out.differ("type", _described(before), _described(after), where)
    elif kind in ("float", "complex"):
        a, b = np.asarray(_number(before)), np.asarray(_number(after))
        c.out.dtypes.add(_precision(a, b))
        if unequal(a, b, bounds(_precision(a, b), c.tolerance)):
            c.out.differ("value", before.get("v"), after.get("v"), where)
    elif kind == "str" and before != after:
        if "h" in before or not same_text(str(before.get("v")), str(after.get("v"))):
            c.out.differ("value", repr(before.get("v")), repr(after.get("v")), where)
    elif before.get("v") != after.get("v"):
        c.out.differ("value", before.get("v"), after.get("v"), where)


def _precision(*values: Any) -> str:
    """Python floats that came out of a float32 array are no more exact than it."""
    kind = "complex" if values[0].dtype.kind == "c" else "float"
    single = np.complex64 if kind == "complex" else np.float32
    with np.errstate(over="ignore"):
        fits = all(v.astype(single).astype(v.dtype) == v or v != v for v in values)
    return {("float", True): "float32", ("float", False): "float64", ("complex", True): "complex64"}.get(
        (kind, fits), "complex128"
    )


def _seq(c: _Context, before: Json, after: Json, where: str) -> None:
    if before.get("t") != after.get("t"):
        c.out.facts += 1
        c.out.differ("type", before.get("t"), after.get("t"), where)
    old, new = _without_gone_flags(_items(before), _items(after))
    sizes = [_count(v) - len(_items(v)) + len(items) for v, items in ((before, old), (after, new))]
    if sizes[0] != sizes[1]:
        c.out.facts += 1
        c.out.differ("length", before.get("n"), after.get("n"), where)
        return
    c.out.facts += not old and _count(before) == 0
    for i, (a, b) in enumerate(zip(old, new, strict=False)):
        _value(c, a, b, f"{where}[{i}]")


def _count(value: Json) -> int:
    return cast(int, value.get("n") or 0)


def _without_gone_flags(before: list[Json], after: list[Json]) -> tuple[list[Json], list[Json]]:
    """Both lists without what sets flags that only one of them sets."""
    if len(before) == len(after):
        return before, after
    flags = {str(v.get("v")) for items in (before, after) for v in items if _gone(v)}
    one_sided = {f for f in flags if any(v.get("v") == f for v in before) != any(v.get("v") == f for v in after)}
    old, new = ([v for v in items if not (_gone(v) and v.get("v") in one_sided)] for items in (before, after))
    return old, new


def _gone(value: Json) -> bool:
    return value.get("t") == "str" and GONE.fullmatch(str(value.get("v"))) is not None


def _items(value: Json, key: str = "v") -> list[Json]:
    return cast("list[Json]", value.get(key) or [])


def _map(c: _Context, before: Json, after: Json, where: str) -> None:
    if before.get("t") != after.get("t"):
        c.out.facts += 1
        c.out.differ("type", before.get("t"), after.get("t"), where)
    old, new = _without_ours(_pairs(before)), _without_ours(_pairs(after))
    if any(_silent(k) for side in (old, new) for k, _ in side.values()):
        # Keyed by classes or functions, which are others now and may have become one.
        old, new = ({name: pair for name, pair in side.items() if not _silent(pair[0])} for side in (old, new))
    else:
        c.out.facts += not old and not new
    if before.get("n") != after.get("n") and len(old) == len(new) == MAX_ITEMS:
        c.out.differ("length", before.get("n"), after.get("n"), where)
    _renamed(c, old, new, where)
    for key in [*old, *(k for k in new if k not in old)]:
        named = old[key][0] if key in old else new[key][0]
        name = _described(named)
        if key not in old or key not in new:
            if _gone(named):
                continue
            c.out.facts += 1
            texts = ("there", "missing") if key in old else ("missing", "there")
            c.out.differ("keys", *texts, f"{where}[{name}]")
        else:
            _value(c, old[key][1], new[key][1], f"{where}[{name}]")


def _without_ours(pairs: dict[str, tuple[Json, Json]]) -> dict[str, tuple[Json, Json]]:
    """An environment without the variables that we set for the runs."""
    names = {key: str(k.get("v")) for key, (k, _) in pairs.items() if k.get("t") == "str"}
    if not any(name.startswith(OURS) for name in names.values()):
        return pairs
    return {key: pair for key, pair in pairs.items() if not names.get(key, "").startswith((OURS, *SET_FOR_RUNS))}


def _pairs(value: Json) -> dict[str, tuple[Json, Json]]:
    return {_canonical(k): (k, v) for k, v in cast("list[tuple[Json, Json]]", value.get("v") or [])}


def _renamed(c: _Context, old: dict[str, tuple[Json, Json]], new: dict[str, tuple[Json, Json]], where: str) -> None:
    """Give the keyword arguments of the old JAX the names that they have now, in dicts that are there to be splatted."""
    for name, now in KEYWORDS.items():
        keys = _text_key(name), _text_key(now)
        if keys[0] in old and keys[1] in new and keys[0] not in new and keys[1] not in old:
            old[keys[1]] = old.pop(keys[0])
    mesh, sharding = old.get(_text_key(MESH)), new.get(_text_key("sharding"))
    if mesh and sharding and sharding[1].get("mesh") and _text_key(MESH) not in new:
        _value(c, mesh[1], cast("Json", sharding[1]["mesh"]), f"{where}['{MESH}']")
        del old[_text_key(MESH)]


def _text_key(name: str) -> str:
    return _canonical({"k": "scalar", "t": "str", "v": name})


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _set(c: _Context, before: Json, after: Json, where: str) -> None:
    old = {_canonical(v): v for v in _items(before)}
    new = {_canonical(v): v for v in _items(after)}
    alone = [v for k, v in old.items() if k not in new], [v for k, v in new.items() if k not in old]
    left = list(alone[1])
    for value in alone[0]:
        match = next((other for other in left if not compare(value, other, c.tolerance)), None)
        if match is None:
            c.out.differ("elements", _described(value), "missing", where)
        else:
            left.remove(match)
    for other in left:
        c.out.differ("elements", "missing", _described(other), where)


def _record(c: _Context, before: Json, after: Json, where: str) -> None:
    names = [str(v.get("t")).rpartition(".")[2].lstrip("_") for v in (before, after)]
    if names[0] != names[1]:
        c.out.facts += 1
        c.out.differ("type", names[0], names[1], where)
    old, new = cast("dict[str, Json]", before.get("v") or {}), cast("dict[str, Json]", after.get("v") or {})
    for name in sorted({*old, *new}):
        if name in old and name in new:
            _value(c, old[name], new[name], f"{where}.{name}")
        else:
            c.out.differ("fields", name if name in old else "missing", name if name in new else "missing", where)


def _shard(c: _Context, before: Json, after: Json, where: str) -> None:
    _exactly(c, before, after, where, ("p",))
    if before.get("d") != after.get("d"):
        c.out.differ("devices", f"device {before.get('d')}", f"device {after.get('d')}", where)
    data = [cast("Json", s.get("v") or {}) for s in (before, after)]
    old, new = _index(before, data[0]), _index(after, data[1])
    if old != new:
        c.out.differ("placement", spell(old), spell(new), where)
    if None not in (before.get("r"), after.get("r")) and before["r"] != after["r"]:
        c.out.differ("replica id", before["r"], after["r"], where)
    if data[0] and data[1]:
        _value(c, data[0], data[1], f"{where}.data")


def _buffer(c: _Context, before: Json, after: Json, where: str) -> None:
    """A buffer where there is a shard now, or the reverse: the data and its device must be the same."""
    arrays = [cast("Json", v["v"]) if v["k"] == "shard" else v for v in (before, after)]
    if None in arrays:
        return
    c.out.notes.append("a shard stands where its data stood: what is done with it tells whether that is right")
    _value(c, arrays[0], arrays[1], where)


def _device(c: _Context, before: Json, after: Json, where: str) -> None:
    if before.get("id") != after.get("id"):
        c.out.differ("devices", f"device {before.get('id')}", f"device {after.get('id')}", where)


def _slice(c: _Context, before: Json, after: Json, where: str) -> None:
    spans = [cast("list[int | None]", v.get("v") or [None] * 3) for v in (before, after)]
    old, new = ((start or 0, stop, step or 1) for start, stop, step in spans)
    if old != new:
        c.out.differ("index", f"{old[0]}:{_open(old[1])}", f"{new[0]}:{_open(new[1])}", where)


def _open(stop: int | None) -> str:
    return "" if stop is None else str(stop)


def _mesh(c: _Context, before: Json, after: Json, where: str) -> None:
    if before.get("axes") != after.get("axes"):
        c.out.differ("mesh axes", _axes(before), _axes(after), where)
    devices = before.get("devices"), after.get("devices")
    if None not in devices and devices[0] != devices[1]:
        c.out.differ("mesh devices", devices[0], devices[1], where)


def _axes(mesh: Json) -> str:
    return ", ".join(f"{name}={size}" for name, size in cast("list[tuple[str, int]]", mesh.get("axes") or []))


def _spec(c: _Context, before: Json, after: Json, where: str) -> None:
    _specs(c, before.get("v"), after.get("v"), where)


def _specs(c: _Context, before: object, after: object, where: str) -> None:
    old, new = _dims(before), _dims(after)
    if old != new:
        c.out.differ("spec", _spelled(old), _spelled(new), where)


def _dims(spec: object) -> list[tuple[str, ...]]:
    """The mesh axes of each dimension; trailing dimensions without any do not count."""
    found = [(d,) if isinstance(d, str) else tuple(d or ()) for d in cast("list[str | list[str] | None]", spec or [])]
    while found and not found[-1]:
        found.pop()
    return found


def _spelled(dims: list[tuple[str, ...]]) -> str:
    return f"P({', '.join(repr(d[0]) if len(d) == 1 else repr(d) if d else 'None' for d in dims)})"


def _sharding(c: _Context, before: Json, after: Json, where: str) -> None:
    if before.get("spec") is not None and after.get("spec") is not None:
        _specs(c, _bare(before["spec"]), _bare(after["spec"]), where)
    if before.get("mesh") and after.get("mesh"):
        _mesh(c, cast("Json", before["mesh"]), cast("Json", after["mesh"]), where)
    elif before.get("devices") and after.get("devices") and before["devices"] != after["devices"]:
        c.out.differ("devices", before["devices"], after["devices"], where)


def _bare(spec: object) -> object:
    return spec.get("v") if isinstance(spec, dict) else spec


def _layout(value: Json) -> bool:
    return value.get("k") in LAYOUT or (value.get("k") == "scalar" and value.get("t") == "none")


def _layouts(c: _Context, before: Json, after: Json, where: str) -> None:
    """A spec became a sharding, or None the spec that it meant: compare the specs as far as both name one."""
    specs = [_named_spec(v) for v in (before, after)]
    if None not in specs:
        c.out.facts += 1
        _specs(c, specs[0], specs[1], where)


def _named_spec(value: Json) -> object:
    if value.get("k") == "spec":
        return value.get("v") or []
    if value.get("k") == "sharding":
        return _bare(value.get("spec"))
    return None


def _exception(c: _Context, before: Json, after: Json, where: str) -> None:
    _exactly(c, before, after, where, ("family",))


_CHECKS: dict[str, _Check] = {
    "array": _array,
    "abstract": _abstract,
    "ndarray": _ndarray,
    "scalar": _scalar,
    "seq": _seq,
    "map": _map,
    "set": _set,
    "record": _record,
    "shard": _shard,
    "device": _device,
    "slice": _slice,
    "mesh": _mesh,
    "spec": _spec,
    "sharding": _sharding,
    "exception": _exception,
}


# Words


def _shape(value: Any) -> str:
    dims = tuple(value)
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"


def describe(value: Json) -> str:
    """A value in a few words."""
    return _described(value)


def truth(value: Json) -> bool | None:
    """What ``bool`` says of a value; None where that does not follow from its description."""
    kind, held = value.get("k"), value.get("v")
    if kind == "scalar" and value.get("t") in ("bool", "int", "none", "str", "bytes"):
        return bool(held)
    if kind == "scalar" and value.get("t") == "float":
        return float(str(held)) != 0
    if kind in ("seq", "map", "set"):
        return _count(value) > 0
    return None


def brief(value: Json) -> str:
    """What was compared, as evidence names it: ``float32[8,2] on 8 devices``."""
    kind = value.get("k")
    if kind in ("array", "ndarray", "abstract"):
        text = f"{value.get('dtype')}[{','.join(map(str, cast('list[int]', value.get('shape') or [])))}]"
        count = len(_shards(value))
        on = f" on {count} device{'' if count == 1 else 's'}" if count else ""
        return f"{'NumPy ' if kind == 'ndarray' else 'traced ' if kind == 'abstract' else ''}{text}{on}"
    if kind == "scalar":
        text = _described(value)
        return text if len(text) <= 24 else str(value.get("t"))
    if kind == "shard":
        return f"shard {spell(_index(value, cast('Json', value.get('v') or {})))} of device {value.get('d')}"
    if kind == "map":
        return f"{value.get('t')} of {value.get('n', len(_items(value)))}"
    return _described(value)


def _described(value: Json) -> str:
    kind = str(value.get("k"))
    if kind == "scalar":
        kind = str(value.get("t"))
        plain = {"none": "None", "ellipsis": "...", "float": str(value.get("v"))}
        return plain.get(kind, repr(value.get("v")))
    if kind in ("array", "ndarray", "abstract"):
        return f"{NAMES[kind]} {value.get('dtype')}{_shape(value.get('shape') or ())}"
    if kind == "seq":
        return f"{value.get('t')} of {value.get('n')}"
    if kind == "device":
        return f"device {value.get('id')}"
    if kind == "spec":
        return _spelled(_dims(value.get("v")))
    if kind == "opaque":
        return f"{value.get('t')} {value.get('v')}"
    if kind in ("record", "sharding"):
        return str(value.get("t") or value.get("type") or kind)
    return NAMES.get(kind, kind)


def leaves(value: Json) -> Iterator[Json]:
    """The values inside of a value that are no containers."""
    kind = value.get("k")
    if kind in ("seq", "set"):
        for item in _items(value):
            yield from leaves(item)
    elif kind == "map":
        for _, item in cast("list[tuple[Json, Json]]", value.get("v") or []):
            yield from leaves(item)
    elif kind == "record":
        for item in cast("dict[str, Json]", value.get("v") or {}).values():
            yield from leaves(item)
    else:
        yield value
