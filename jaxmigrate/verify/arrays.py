"""Arrays against each other: shape and types, which device holds which index, the data."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from jaxmigrate.verify.comparison import Context, exactly
from jaxmigrate.verify.model import Difference, Json, Placement
from jaxmigrate.verify.tolerance import EXACT, bounds, unequal
from jaxmigrate.verify.words import Index, index_of, number_of, shape_text, shards_of, spell

CANONICAL = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
"""What JAX makes of NumPy's 64-bit types unless it was told to keep them."""


SHOWN = 4
"""Devices that the text of a difference lists; the picture shows all."""


def compare_arrays(c: Context, before: Json, after: Json, where: str) -> None:
    """Arrays of any class: old and new are one family."""
    if _visible_only(before, after):
        _host_local(c, before, after, where)
        return
    found = len(c.out.differences)
    exactly(c, before, after, where, ("shape", "dtype", "weak"))
    if _replica_of_all(before, after):
        c.out.notes.append("each process sees the whole of it, as its own array before and as part of a global one now")
    else:
        exactly(c, before, after, where, ("committed", "addressable", "replicated"))
    _placement(c, before, after, where)
    local = before.get("local"), after.get("local")
    if local[0] != local[1] and before["shape"] == after["shape"]:
        if c.seen:
            texts = [f"{shape_text(v.get('local') or v['shape'])} of {shape_text(v['shape'])}" for v in (before, after)]
            c.out.differ("host-local shape", texts[0], texts[1], where)
        else:
            c.out.notes.append("host-local before, global now: judged where the program sees what becomes of it")
    if not any(d.aspect in ("shape", "dtype") for d in c.out.differences[found:]):
        _array_data(c, before, after, where)


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


def _host_local(c: Context, before: Json, after: Json, where: str) -> None:
    """Device by device: the indices of the one are those of the global array, of the other those of the process's own."""
    exactly(c, before, after, where, ("dtype",))
    c.out.notes.append("what each device of the process holds was compared")
    old, new = ({int(s["d"]): s for s in shards_of(v)} for v in (before, after))
    if set(old) != set(new):
        c.out.differ("devices", _devices(old), _devices(new), where)
        return
    for device in sorted(old):
        sizes = [[stop - start for start, stop in index_of(s[device], v)] for s, v in ((old, before), (new, after))]
        place = f"{where} on device {device}".strip()
        if sizes[0] != sizes[1]:
            c.out.differ("shard shape", shape_text(sizes[0]), shape_text(sizes[1]), place)
            return
        data = old[device].get("v"), new[device].get("v")
        same = data[0] and data[1] and data[0].get("dtype") == data[1].get("dtype")
        if same and not _digests(c, data[0], data[1], sizes[0], place):
            return


def compare_converted(c: Context, before: Json, after: Json, where: str) -> None:
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
        c.out.differ("shape", shape_text(visible), shape_text(seen.shape), where)
    else:
        _contents(c, _content(before), seen, new, where)


def _scalar_array(scalar: Json, dtype: str) -> Json:
    value = number_of(scalar)
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
    pieces = {index_of(s, value): _decode(s["v"]) for s in shards_of(value) if s.get("v") and s["v"].get("all")}
    wanted = {index_of(s, value) for s in shards_of(value) if s.get("v")}
    if not wanted or set(pieces) != wanted or any(data is None for data in pieces.values()):
        return None
    spans = [sorted(set(dim)) for dim in zip(*pieces, strict=True)]
    starts = [dict(zip(dim, np.cumsum([0] + [b - a for a, b in dim]), strict=False)) for dim in spans]
    whole = np.zeros([sum(b - a for a, b in dim) for dim in spans], next(iter(pieces.values())).dtype)
    for index, data in pieces.items():
        at = tuple(slice(start[dim], start[dim] + dim[1] - dim[0]) for dim, start in zip(index, starts, strict=True))
        whole[at] = data.reshape([b - a for a, b in index])
    return whole


def _contents(c: Context, before: Any, after: Any, dtype: str, where: str) -> None:
    if before is None or after is None:
        return
    if before.shape != after.shape:
        c.out.differ("shape", shape_text(before.shape), shape_text(after.shape), where)
        return
    if bounds(dtype) != EXACT:
        c.out.dtypes.add(dtype)
    wrong = unequal(before, after, bounds(dtype, c.tolerance))
    if wrong.any():
        _differing(c, before, after, wrong, where)


Layout = dict[int, tuple[Index, int | None]]
"""Device -> its index and replica id."""


def _layout_of(value: Json) -> Layout:
    return {int(s["d"]): (index_of(s, value), s.get("r")) for s in shards_of(value)}


def _placement(c: Context, before: Json, after: Json, where: str) -> None:
    old, new = _layout_of(before), _layout_of(after)
    if not old or not new:
        return
    if any(str(v.get("type")).endswith("ShardedDeviceArray") for v in (before, after)):
        old, new = _ranked(old), _ranked(new)
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


def _ranked(layout: Layout) -> Layout:
    """Replicas counted among the devices that are there: a host-local array may be a part of one with more of them."""
    seen: dict[Index, int] = {}
    ranked: Layout = {}
    for device, (index, replica) in sorted(layout.items(), key=lambda item: (item[1][1] or 0, item[0])):
        ranked[device] = index, None if replica is None else seen.get(index, 0)
        seen[index] = seen.get(index, 0) + 1
    return ranked


def _picture(value: Json, layout: Layout) -> tuple[tuple[int, ...], tuple[tuple[int, Index], ...]]:
    shape = tuple(cast("list[int]", value.get("shape") or []))
    return shape, tuple((device, layout[device][0]) for device in sorted(layout))


def _devices(layout: Iterable[int]) -> str:
    ids = sorted(layout)
    if len(ids) > 2 and ids == list(range(ids[0], ids[-1] + 1)):
        return f"devices {ids[0]} to {ids[-1]}"
    return f"device{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


def _holdings(layout: Layout, devices: Sequence[int]) -> str:
    texts = [f"device {d}: {spell(layout[d][0])}" for d in devices[:SHOWN]]
    return ", ".join(texts) + (f" and {len(devices) - SHOWN} more" if len(devices) > SHOWN else "")


def _replicas(layout: Layout, devices: Sequence[int]) -> str:
    texts = [f"device {d}: replica {layout[d][1]}" for d in devices[:SHOWN]]
    return ", ".join(texts) + (f" and {len(devices) - SHOWN} more" if len(devices) > SHOWN else "")


def _array_data(c: Context, before: Json, after: Json, where: str) -> None:
    whole = before.get("v"), after.get("v")
    shape = cast("list[int]", before["shape"])
    if whole[0] and whole[1] and not _digests(c, cast("Json", whole[0]), cast("Json", whole[1]), shape, where):
        return
    held = {int(s["d"]): s for s in shards_of(after)}
    for shard in shards_of(before):
        other = held.get(int(shard["d"]))
        if other and shard.get("v") and other.get("v") and index_of(shard, before) == index_of(other, after):
            place = f"{where} on device {shard['d']}".strip()
            if not _digests(c, shard["v"], other["v"], [b - a for a, b in index_of(shard, before)], place):
                return


def compare_ndarrays(c: Context, before: Json, after: Json, where: str) -> None:
    """NumPy arrays, and scalars of NumPy."""
    found = len(c.out.differences)
    exactly(c, before, after, where, ("shape", "dtype"))
    digests = before.get("v"), after.get("v")
    if found == len(c.out.differences) and digests[0] and digests[1]:
        _digests(c, cast("Json", digests[0]), cast("Json", digests[1]), cast("list[int]", before["shape"]), where)


def _digests(c: Context, before: Json, after: Json, shape: Sequence[int], where: str) -> bool:
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
    if not complete and not _sums_agree(before, after, allowed):
        c.out.differ("values", "other data (its sums differ, no sampled element does)", "other data", where)
        return False
    c.out.sampled += not complete
    c.out.rounded += before.get("b") != after.get("b") or hashes[0] != hashes[1]
    return True


def _sums_agree(before: Json, after: Json, allowed: tuple[float, float]) -> bool:
    """Whether what was summed up of each part of a large array shows no more than rounding."""
    parts = [cast("list[list[float | None]]", digest.get("m") or []) for digest in (before, after)]
    size = cast(int, before.get("n")) / max(1, len(parts[0]))
    return all(_part_agrees(a, b, size, allowed) for a, b in zip(*parts, strict=False))


def _part_agrees(before: list[float | None], after: list[float | None], size: float, allowed: tuple[float, float]) -> bool:
    """Smallest, largest, sum, sum of absolute values, number of elements that are not finite."""
    if before[4] != after[4]:
        return False
    if None in (*before, *after):
        return before == after
    rtol, atol = allowed
    a, b = np.asarray(before[:4], float), np.asarray(after[:4], float)
    scale = np.asarray([*np.maximum(abs(a[:2]), abs(b[:2])), *[max(a[3], b[3])] * 2])
    return bool(np.all(abs(a - b) <= atol * np.asarray([1, 1, size, size]) + rtol * scale))


def _differing(c: Context, before: Any, after: Any, wrong: Any, where: str, *, sampled: bool = False) -> None:
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
