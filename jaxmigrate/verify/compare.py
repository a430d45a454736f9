"""Whether two recorded values are the same: places, shapes and types exactly, floats within the tolerance of their dtype.

A value is what the recorder described, a dict with its kind under ``k``. Old and new array types are one family, so that a
GlobalDeviceArray and the `jax.Array` that replaced it are told apart only by what a program could notice: shape, dtype, weak
type, which device holds which index, the data. What the recorder could not describe (functions, classes, values that were cut)
compares as neither equal nor different: it is no evidence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from jaxmigrate.verify.arrays import compare_arrays, compare_converted, compare_ndarrays
from jaxmigrate.verify.comparison import Comparison, Context, exactly
from jaxmigrate.verify.layouts import (
    compare_layouts,
    compare_meshes,
    compare_shardings,
    compare_spec_parts,
    compare_specs,
    is_layout,
)
from jaxmigrate.verify.model import Difference, Json, Tolerance
from jaxmigrate.verify.texts import same_text
from jaxmigrate.verify.tolerance import bounds, unequal
from jaxmigrate.verify.words import count_of, describe, index_of, items_of, number_of, spell

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


MAX_ITEMS = 256
"""Of a container that are recorded."""


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
    _value(Context(out, tolerance or Tolerance(), converted, seen), before, after, "")
    return out


_Check = Callable[[Context, Json, Json, str], None]


def _value(c: Context, before: Json, after: Json, where: str) -> None:
    kinds = before.get("k"), after.get("k")
    if "cut" in kinds or (_silent(before) and _silent(after)):
        _kinds_of_objects(c, before, after, where)
        return
    if c.converted and kinds[1] == "array" and kinds[0] in ("array", "ndarray", "scalar"):
        compare_converted(c, before, after, where)
    elif kinds[0] == kinds[1]:
        c.out.facts += kinds[0] not in ("seq", "map", "record")
        _CHECKS.get(str(kinds[0]), _same)(c, before, after, where)
    elif is_layout(before) and is_layout(after):
        compare_layouts(c, before, after, where)
    elif set(kinds) == {"array", "shard"}:
        _buffer(c, before, after, where)
    else:
        c.out.facts += 1
        c.out.differ("type", describe(before), describe(after), where)


def _kinds_of_objects(c: Context, before: Json, after: Json, where: str) -> None:
    """Of what was not described it is known whether it is a class or an instance of one."""
    kinds = {_kind_of_object(v) for v in (before, after) if v.get("k") == "opaque"}
    if kinds == {"class", "object"} or (len(kinds) == 2 and "module" in kinds):
        c.out.facts += 1
        c.out.differ("type", describe(before), describe(after), where)


def _kind_of_object(value: Json) -> str:
    """What `typing` makes stands where a class does."""
    typed = str(value.get("v")).startswith(("typing.", "types.", "_abc", "collections.abc.", "typing_extensions."))
    return "class" if value.get("t") == "object" and typed else str(value.get("t"))


def _silent(value: Json) -> bool:
    """Whether this is something that was not described, or a container of nothing but such things."""
    if value.get("k") in ("seq", "set"):
        items = items_of(value)
        return bool(items) and all(map(_silent, items))
    return value.get("k") in ("opaque", "cut")


def _same(c: Context, before: Json, after: Json, where: str) -> None:
    if before != after:
        c.out.differ("value", describe(before), describe(after), where)


def _objects(c: Context, before: Json, after: Json, where: str) -> None:
    compare_ndarrays(c, before, after, where)
    for i, (a, b) in enumerate(zip(items_of(before, "items"), items_of(after, "items"), strict=False)):
        _value(c, a, b, f"{where}.flat[{i}]")


def _abstract(c: Context, before: Json, after: Json, where: str) -> None:
    exactly(c, before, after, where, ("shape", "dtype", "weak"))
    if before.get("spec") is not None and after.get("spec") is not None:
        compare_spec_parts(c, before["spec"], after["spec"], where)


def _scalar(c: Context, before: Json, after: Json, where: str) -> None:
    kind = before.get("t")
    if kind != after.get("t"):
        c.out.differ("type", describe(before), describe(after), where)
    elif kind in ("float", "complex"):
        a, b = np.asarray(number_of(before)), np.asarray(number_of(after))
        c.out.dtypes.add(_precision(a, b))
        c.out.rounded += before.get("v") != after.get("v")
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


def _seq(c: Context, before: Json, after: Json, where: str) -> None:
    if before.get("t") != after.get("t"):
        c.out.facts += 1
        c.out.differ("type", before.get("t"), after.get("t"), where)
    old, new = _without_gone_flags(items_of(before), items_of(after))
    sizes = [count_of(v) - len(items_of(v)) + len(items) for v, items in ((before, old), (after, new))]
    if sizes[0] != sizes[1]:
        c.out.facts += 1
        c.out.differ("length", before.get("n"), after.get("n"), where)
        return
    c.out.facts += not old and count_of(before) == 0
    _unrecorded(c, before, after, where)
    for i, (a, b) in enumerate(zip(old, new, strict=False)):
        _value(c, a, b, f"{where}[{i}]")


def _unrecorded(c: Context, before: Json, after: Json, where: str) -> None:
    """The elements beyond those that were recorded: by their hash, if there is one."""
    if all(count_of(v) <= len(items_of(v)) for v in (before, after)):
        return
    hashes = before.get("h"), after.get("h")
    if None in hashes:
        c.out.cut = True
    elif hashes[0] != hashes[1] and all(a == b for a, b in zip(items_of(before), items_of(after), strict=False)):
        c.out.differ("elements", f"other elements beyond the first {len(items_of(before))}", "other elements", where)


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


def _map(c: Context, before: Json, after: Json, where: str) -> None:
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
    _unrecorded(c, before, after, where)
    _renamed(c, old, new, where)
    for key in [*old, *(k for k in new if k not in old)]:
        named = old[key][0] if key in old else new[key][0]
        name = describe(named)
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


def _renamed(c: Context, old: dict[str, tuple[Json, Json]], new: dict[str, tuple[Json, Json]], where: str) -> None:
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


def _set(c: Context, before: Json, after: Json, where: str) -> None:
    _unrecorded(c, before, after, where)
    old = {_canonical(v): v for v in items_of(before)}
    new = {_canonical(v): v for v in items_of(after)}
    alone = [v for k, v in old.items() if k not in new], [v for k, v in new.items() if k not in old]
    left = list(alone[1])
    for value in alone[0]:
        match = next((other for other in left if not compare(value, other, c.tolerance)), None)
        if match is None:
            c.out.differ("elements", describe(value), "missing", where)
        else:
            left.remove(match)
    for other in left:
        c.out.differ("elements", "missing", describe(other), where)


def _record(c: Context, before: Json, after: Json, where: str) -> None:
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


def _shard(c: Context, before: Json, after: Json, where: str) -> None:
    exactly(c, before, after, where, ("p",))
    if before.get("d") != after.get("d"):
        c.out.differ("devices", f"device {before.get('d')}", f"device {after.get('d')}", where)
    data = [cast("Json", s.get("v") or {}) for s in (before, after)]
    old, new = index_of(before, data[0]), index_of(after, data[1])
    if old != new:
        c.out.differ("placement", spell(old), spell(new), where)
    if None not in (before.get("r"), after.get("r")) and before["r"] != after["r"]:
        c.out.differ("replica id", before["r"], after["r"], where)
    if data[0] and data[1]:
        _value(c, data[0], data[1], f"{where}.data")


def _buffer(c: Context, before: Json, after: Json, where: str) -> None:
    """A buffer where there is a shard now, or the reverse: the data and its device must be the same."""
    arrays = [cast("Json", v["v"]) if v["k"] == "shard" else v for v in (before, after)]
    if None in arrays:
        return
    c.out.notes.append("a shard stands where its data stood: what is done with it tells whether that is right")
    _value(c, arrays[0], arrays[1], where)


def _device(c: Context, before: Json, after: Json, where: str) -> None:
    if before.get("id") != after.get("id"):
        c.out.differ("devices", f"device {before.get('id')}", f"device {after.get('id')}", where)


def _slice(c: Context, before: Json, after: Json, where: str) -> None:
    spans = [cast("list[int | None]", v.get("v") or [None] * 3) for v in (before, after)]
    old, new = ((start or 0, stop, step or 1) for start, stop, step in spans)
    if old != new:
        c.out.differ("index", f"{old[0]}:{_open(old[1])}", f"{new[0]}:{_open(new[1])}", where)


def _open(stop: int | None) -> str:
    return "" if stop is None else str(stop)


def _exception(c: Context, before: Json, after: Json, where: str) -> None:
    exactly(c, before, after, where, ("family",))


_CHECKS: dict[str, _Check] = {
    "array": compare_arrays,
    "abstract": _abstract,
    "ndarray": _objects,
    "scalar": _scalar,
    "seq": _seq,
    "map": _map,
    "set": _set,
    "record": _record,
    "shard": _shard,
    "device": _device,
    "slice": _slice,
    "mesh": compare_meshes,
    "spec": compare_specs,
    "sharding": compare_shardings,
    "exception": _exception,
}
