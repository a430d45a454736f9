"""Run a program and write down what its marked expressions and statements gave: `python recorder.py JOB.json`.

One file that imports the standard library and NumPy only, so that any interpreter since Python 3.8 with any JAX since 0.3 runs
it. The marked places of a file are wrapped in its syntax tree when it is compiled; the text, line and column numbers stay.

The job is a JSON object: ``program`` (script, module or pytest), ``target``, ``args``, ``root``, ``cwd``, ``search``, ``world``
(legacy or plain), ``legacy`` (``package`` and ``version``), ``scope`` (the files that decide the version),
``devices_per_process``, ``platform``, ``process``, ``processes``, ``coordinator``, ``records`` (the file to write) and
``sites``: relative path -> list of ``id``, ``kind``, ``span``, ``names``.

A record is a line of JSON. Its key ``e`` says what happened; ``s`` is the site, ``c`` the running test or an empty text, ``n``
the number of the event from 1 on (values and raises of a site count together, its calls on their own), ``t`` true in a trace:

* ``start``: ``pid python jax jaxlib numpy world legacy program``, ``legacy`` being the emulated version; ``legacy``:
  ``version jax_array`` once it is in force. Without ``start`` the world could not be set up, and the program did not run.
* ``load``: ``path``, a file of the tree that is compiled or loaded. ``lost``: site ``s`` can not be marked,
  ``text`` says where.
* ``hit``: ``v``, the value of an expression. ``call``: ``v``, what a call of the callable gave that the expression gave.
* ``raise``: ``x``, the exception that left the expression or the statements; ``of`` is "call" if a call of the callable raised.
* ``reach``: the statements, the context or the annotation were executed. ``state``: ``v``, name -> value after the statements;
  the name "return" is the value of a return statement in them.
* ``hazard``: ``kind key v``, undefined behaviour that the emulation saw. ``test``: ``id outcome x``.
* ``final``: ``v``, arrays, scalars and small containers among the globals of the program at its end.
* ``backend``: ``platform devices local``, if one was started. ``count``: ``n`` and ``calls``, totals beyond what was recorded,
  ``fp`` and ``calls_fp`` fingerprints of the values that were not (the first 10000 events; content of the first 256).
* ``end``: ``status x``, the exception with ``path`` and ``line`` of the innermost frame in the tree; missing if the program left
  by `os._exit` or was killed.

A value has a kind ``k``:

* ``array``: ``type shape dtype weak committed addressable replicated shards v local``; a shard has device ``d``, process ``p``,
  index ``i`` as [start, stop] of each dimension, replica ``r`` and digest ``v``. The array's own ``v`` is the digest of the whole
  value if this process has it. ``local`` is the shape that the program sees where it is not the global one.
* ``deleted``; ``abstract``: ``shape dtype weak spec`` of a traced value; ``ndarray``: ``shape dtype v``, ``items`` if objects.
* ``scalar``: ``t v``; floats as repr, complex as a pair of them, bytes as base64; ``h`` and ``n`` where a long text was cut.
* ``seq``: ``t n v``; ``map``: ``t n v`` as pairs; ``set``: ``n v``; ``record``: ``t v`` for dataclasses, named tuples and trees.
* ``shard``: ``d p i r v``; ``device``: ``id p``; ``slice``: ``v``; ``mesh``: ``axes devices``; ``spec``: ``v``; ``dtype``: ``v``;
  ``sharding``: ``type mesh spec devices``; ``exception``: ``type module bases family message``.
* ``h`` of a container is a hash of all its items if more are there than are written down.
* ``opaque``: ``t`` (class, function, module, object) and ``v`` its qualified name; ``cut``: beyond the bounds.

A digest: ``h`` sha1 of the little-endian bytes in C order (null for a large array that came often), ``n`` elements, ``dtype``,
``all`` whether ``b`` holds all of the bytes, in base64, or those of 1024 evenly spaced elements, number i * n // 1024. Hashed
floats that are not all there have ``m``: for each of m parts, from element k * n // m on, the smallest and the largest value,
the sum, the sum of absolute values (null without finite ones) and how many are not finite.
"""

from __future__ import annotations

import sys

__before__ = frozenset(sys.modules)  # What the interpreter imports for itself.

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]  # The folder of this file, whose modules would hide those of the standard library.

import ast
import atexit
import base64
import builtins
import collections
import contextlib
import copy
import enum
import functools
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import runpy
import signal
import threading
import traceback
import types
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

Json = Dict[str, Any]
runner: Any = runpy
Bounds = List[List[Optional[int]]]

MAX_FINGERPRINTS = 10000
"""Events of a site and test of which there is at least a fingerprint."""
MAX_READ = 256
"""Events of a site and test up to which their fingerprints have the content of small arrays."""
FULL_HITS = 20
"""As many hits of a site are recorded in each test; from there on only every power of two."""
MAX_ITEMS = 256
MAX_ITEMS_HASHED = 100000
"""Items of a container up to which those that are not written down are hashed."""
MAX_DEPTH = 6
MAX_SAMPLES = 1024
BLOCKS = 64
MAX_TEXT = 1 << 16
MAX_VALUE = 4 << 20
MAX_RECORDS = 64 << 20
MAX_WHOLE = 64 << 20
"""Bytes of an array up to which it is put together in memory; a larger one is hashed in slabs."""
MAX_HASHED = 256 << 20
"""Bytes of a value that are hashed; of the rest there are samples."""
MAX_OFTEN = 8 << 20
"""Bytes of a value that are hashed from the third hit on."""

CUT: Json = {"k": "cut"}


def class_name(cls: type) -> str:
    """The name of a class, whatever its metaclass says."""
    return str(type.__dict__["__name__"].__get__(cls))


def class_module(cls: type) -> str:
    """The module of a class, whatever its metaclass says."""
    try:
        return str(type.__dict__["__module__"].__get__(cls))
    except AttributeError:
        return ""


def qualified(cls: type) -> str:
    """Module and qualified name of a class."""
    return "{}.{}".format(class_module(cls), type.__dict__["__qualname__"].__get__(cls))


def lineage(cls: type) -> Tuple[type, ...]:
    """The classes from which one inherits, itself first."""
    mro: Tuple[type, ...] = type.__dict__["__mro__"].__get__(cls)
    return mro


def describe(value: object, often: bool = False) -> Json:
    """What is written down of a value; never raises what is not the user's own signal, keeps no reference to the value.

    Args:
        value: Anything at all.
        often: Whether large arrays are to be sampled instead of hashed.
    """
    return _Describer(often).value(value)


class _Describer:
    """Describes one value within bounds of size, depth and memory.

    `small` is the number of elements up to which arrays are read at all.
    """

    def __init__(self, often: bool = False, small: Optional[int] = None) -> None:
        self.small = small
        self.room = MAX_VALUE
        self.hashed = MAX_OFTEN if often else MAX_HASHED
        self.abstract = False
        self.open: Set[int] = set()

    def value(self, x: object, depth: int = 0) -> Json:
        if self.room <= 0 or depth > MAX_DEPTH or id(x) in self.open:
            return dict(CUT)
        self.room -= 32
        self.open.add(id(x))
        try:
            return self._value(x, depth)
        except BaseException as error:
            if _from_signal(error):
                raise
            return _opaque(x)
        finally:
            self.open.discard(id(x))

    def _value(self, x: Any, depth: int) -> Json:
        cls = type(x)
        if cls is Watched:
            return self._value(inner_of(x), depth)
        plain = _SCALARS.get(cls)
        if plain is not None:
            return self._charged(plain(x))
        if cls in _SEQUENCES:
            return self._sequence(x, depth)
        classes = lineage(cls)
        for base in classes:
            family = _FAMILIES.get(class_name(base))
            if family is not None and class_module(base).partition(".")[0] in _OURS:
                described: Json = getattr(self, family)(x, depth)
                return described
        return self._other(x, classes, depth)

    def _charged(self, described: Json) -> Json:
        text = described.get("v")
        if isinstance(text, str):
            self.room -= len(text)
        return described

    def _other(self, x: Any, classes: Tuple[type, ...], depth: int) -> Json:
        """A value of no type that JAX or we know by name."""
        for base in classes:
            described = _BUILTINS.get(base)
            if described is not None:
                result: Optional[Json] = described(self, x, depth)
                if result is not None:
                    return result
        if any("__dataclass_fields__" in base.__dict__ for base in classes):
            return self._dataclass(x, depth)
        return self._tree(x, depth) or _opaque(x)

    def _reads(self, size: int) -> bool:
        return self.small is None or size <= self.small

    def _rest(self, described: Json, size: int, items: Callable[[], Iterable[Any]], ordered: bool = True) -> Json:
        """With a hash of all items, if there are more than are written down."""
        if MAX_ITEMS < size <= MAX_ITEMS_HASHED and self.small is None:
            hashes = _item_hashes(items())
            if hashes is not None:
                described["h"] = hashlib.sha1(b"\0".join(hashes if ordered else sorted(hashes))).hexdigest()
        return described

    def _items(self, items: Iterable[Any], depth: int) -> List[Json]:
        described: List[Json] = []
        for item in items:
            if len(described) >= MAX_ITEMS or self.room <= 0:
                break
            described.append(self.value(item, depth + 1))
        return described

    def _sequence(self, x: Any, depth: int) -> Json:
        for base in lineage(type(x)):
            if base in _SEQUENCES:
                fields = _named_fields(type(x))
                if base is tuple and fields is not None:
                    return self._record(x, zip(fields, tuple.__iter__(x)), depth)
                size, items = base.__len__(x), self._items(base.__iter__(x), depth)
                described = {"k": "seq", "t": class_name(type(x)), "n": size, "v": items}
                return self._rest(described, size, functools.partial(base.__iter__, x))
        return _opaque(x)

    def _map(self, x: Any, depth: int) -> Json:
        pairs: List[List[Json]] = []
        for key, value in dict.items(x):
            if len(pairs) >= MAX_ITEMS or self.room <= 0:
                break
            pairs.append([self.value(key, depth + 1), self.value(value, depth + 1)])
        size = dict.__len__(x)
        described = {"k": "map", "t": class_name(type(x)), "n": size, "v": pairs}
        return self._rest(described, size, functools.partial(dict.items, x))

    def _set(self, x: Any, depth: int) -> Json:
        base = set if issubclass(type(x), set) else frozenset
        size, items = base.__len__(x), self._items(base.__iter__(x), depth)
        described = {"k": "set", "n": size, "v": sorted(items, key=lambda item: json.dumps(item, sort_keys=True))}
        return self._rest(described, size, functools.partial(base.__iter__, x), ordered=False)

    def _record(self, x: Any, fields: Iterable[Tuple[str, Any]], depth: int) -> Json:
        values = {name: self.value(value, depth + 1) for name, value in fields if self.room > 0}
        return {"k": "record", "t": qualified(type(x)), "v": values}

    def _dataclass(self, x: Any, depth: int) -> Json:
        names = type(x).__dataclass_fields__
        found = []
        for name in names:
            try:
                found.append((name, object.__getattribute__(x, name)))
            except AttributeError:
                continue
        return self._record(x, found, depth)

    def _tree(self, x: Any, depth: int) -> Optional[Json]:
        """The children of a type that is registered with JAX as a tree."""
        children = _children(x)
        if children is None:
            return None
        return self._record(x, ((str(i), child) for i, child in enumerate(children[:MAX_ITEMS])), depth)

    def _ndarray(self, x: Any, depth: int) -> Json:
        array = np.asarray(x)
        described: Json = {"k": "ndarray", "shape": list(array.shape), "dtype": dtype_name(array.dtype)}
        if array.dtype.hasobject:
            items = array.reshape(-1)[:MAX_ITEMS] if array.dtype == object else ()
            described["v"] = None
            described["items"] = self._items(items, depth)
        else:
            described["v"] = self._digest(array) if self._reads(array.size) else None
        return described

    def _digest(self, array: Any) -> Json:
        found = digest(array, self._hashes(array.nbytes))
        self.room -= len(found["b"]) + 64
        return found

    def _hashes(self, size: int) -> bool:
        """Whether so many bytes more are to be hashed."""
        if size > self.hashed:
            return False
        self.hashed -= size
        return True

    def _exception(self, x: Any, depth: int) -> Json:
        return dict(exception(x), k="exception")

    def _enum(self, x: Any, depth: int) -> Json:
        name = object.__getattribute__(x, "__dict__").get("_name_")
        return {"k": "opaque", "t": "object", "v": "{}.{}".format(qualified(type(x)), name)}

    def _slice(self, x: Any, depth: int) -> Json:
        return {"k": "slice", "v": [_integer(part) for part in (x.start, x.stop, x.step)]}

    def _opaque(self, x: Any, depth: int) -> Json:
        return _opaque(x)

    def _tracer(self, x: Any, depth: int) -> Json:
        self.abstract = True
        return self._aval(x.aval, depth)

    def _aval(self, x: Any, depth: int) -> Json:
        self.abstract = True
        spec = None
        sharding = getattr(x, "sharding", None)
        if sharding is not None and any(part is not None for part in getattr(sharding, "spec", None) or ()):
            spec = spec_parts(sharding.spec)
        weak = getattr(x, "weak_type", None)
        shape = getattr(x, "shape", None)
        if shape is None:
            return _opaque(x)
        dtype = dtype_name(x.dtype) if getattr(x, "dtype", None) is not None else None
        return {"k": "abstract", "shape": [_integer(n) for n in shape], "dtype": dtype, "weak": weak, "spec": spec}

    def _array(self, x: Any, depth: int) -> Json:
        """A `jax.Array`."""
        if x.is_deleted():
            return {"k": "deleted"}
        twin = _twin(x)
        shards = [_Piece.of_shard(shard, x.shape) for shard in twin.addressable_shards]
        return self._placed(
            x,
            shape=x.shape,
            shards=shards,
            committed=_flag(x, "_committed"),
            addressable=_flag(x, "is_fully_addressable"),
            replicated=_flag(x, "is_fully_replicated"),
        )

    def _key(self, x: Any, depth: int) -> Json:
        """An array of random keys: its bits, under its own shape and dtype."""
        base = getattr(x, "_base_array", None)
        described = self.value(base if base is not None else x.unsafe_raw_array(), depth)
        if described["k"] in ("array", "abstract"):
            rank = len(x.shape)
            for shard in described.get("shards", ()):
                shard["i"] = shard["i"][:rank]
            described.update(type=class_name(type(x)), shape=list(x.shape), dtype=str(x.dtype))
        return described

    def _gda(self, x: Any, depth: int) -> Json:
        if _is_deleted(x):
            return {"k": "deleted"}
        mesh = getattr(x, "mesh", None) or x._global_mesh
        shards = [_Piece.of_shard(shard, x.shape) for shard in x.local_shards]
        addressable = len(shards) == mesh.devices.size
        replicated = all(piece.covers(x.shape) for piece in shards)
        return self._placed(x, shape=x.shape, shards=shards, committed=None, addressable=addressable, replicated=replicated)

    def _sda(self, x: Any, depth: int) -> Json:
        if _is_deleted(x):
            return {"k": "deleted"}
        placement = getattr(x, "_placement", None)
        shape, indices = (x.shape, x.indices) if placement is None else (placement.shape, placement.indices)
        numbers = _replicas(indices, shape) if placement is None else placement.replica_ids
        shards = [
            _Piece(_device_of(buffer), bounds(index, shape), number, buffer)
            for buffer, index, number in zip(x.device_buffers, indices, numbers)
        ]
        replicated = all(piece.covers(shape) for piece in shards)
        addressable = placement is None or _covered(shards, shape)
        described = self._placed(x, shape=shape, shards=shards, committed=None, addressable=addressable, replicated=replicated)
        if described["k"] == "array" and tuple(x.shape) != tuple(shape):
            described["local"] = list(x.shape)
        return described

    def _device_array(self, x: Any, depth: int) -> Json:
        """An old array on one device."""
        if _is_deleted(x):
            return {"k": "deleted"}
        piece = _Piece(_device_of(x), bounds((), x.shape), 0, x)
        committed = getattr(x, "_device", None) is not None
        return self._placed(x, shape=x.shape, shards=[piece], committed=committed, addressable=True, replicated=True)

    def _placed(
        self,
        x: Any,
        shape: Sequence[int],
        shards: List[_Piece],
        committed: Optional[bool],
        addressable: Optional[bool],
        replicated: Optional[bool],
    ) -> Json:
        values = [piece.host() for piece in shards] if self._reads(int(np.prod(shape))) else []
        digests: List[Any] = [self._digest(value) for value in values]
        whole = None
        if not values:
            digests = [None] * len(shards)
        elif addressable:
            whole = self._whole(shape, shards, values, digests)
        elif replicated:
            whole = digests[0]
        return {
            "k": "array",
            "type": class_name(type(x)),
            "shape": list(shape),
            "dtype": dtype_name(x.dtype),
            "weak": _weak(x),
            "committed": committed,
            "addressable": addressable,
            "replicated": replicated,
            "shards": [piece.record(found) for piece, found in zip(shards, digests)],
            "v": whole,
            "local": None,
        }

    def _whole(self, shape: Sequence[int], shards: List[_Piece], values: List[Any], digests: List[Json]) -> Optional[Json]:
        if not shards:
            return None
        if shards[0].covers(shape):
            return digests[0]
        total = int(np.prod(shape)) * values[0].dtype.itemsize
        if total > MAX_WHOLE:
            return _slabs(shape, shards, values, self._hashes(total))
        return self._digest(_assemble(shape, shards, values))

    def _shard(self, x: Any, depth: int) -> Json:
        data = x.data
        known = getattr(x, "_global_shape", None)
        index = bounds(x.index, known) if known is not None else _bounds_by_data(x.index, data)
        described = self.value(data, depth + 1) if data is not None else None
        device = x.device
        return {"k": "shard", "d": device.id, "p": process_of(device), "i": index, "r": x.replica_id, "v": described}

    def _device(self, x: Any, depth: int) -> Json:
        return {"k": "device", "id": x.id, "p": process_of(x)}

    def _mesh(self, x: Any, depth: int) -> Json:
        pairs = getattr(x, "shape_tuple", None) or list(x.shape.items())
        devices = None
        if class_name(type(x)) != "AbstractMesh":
            devices = [device.id for device in np.asarray(x.devices, dtype=object).flat]
        return {"k": "mesh", "axes": [[str(name), int(size)] for name, size in pairs], "devices": devices}

    def _spec(self, x: Any, depth: int) -> Json:
        return {"k": "spec", "v": spec_parts(x)}

    def _sharding(self, x: Any, depth: int) -> Json:
        described: Json = {"k": "sharding", "type": class_name(type(x)), "mesh": None, "spec": None}
        if hasattr(x, "spec") and hasattr(x, "mesh"):
            described.update(mesh=self.value(x.mesh, depth + 1), spec=spec_parts(x.spec))
        else:
            order = getattr(x, "_device_assignment", None)
            devices = order if order is not None else sorted(x.device_set, key=lambda device: device.id)
            described["devices"] = [device.id for device in devices]
        return described

    def _dtype(self, x: Any, depth: int) -> Json:
        return {"k": "dtype", "v": dtype_name(x)}


def fingerprint(value: object, small: int = MAX_SAMPLES) -> bytes:
    """A hash of what matters of a value: the content of scalars and small arrays, shape, dtype and devices of all arrays."""
    text = json.dumps(_essence(_Describer(small=small).value(value)), separators=(",", ":"))
    return hashlib.sha1(text.encode("ascii")).digest()


_PLAIN = frozenset((int, float, bool, str, type(None)))


def _item_hashes(items: Iterable[Any]) -> Optional[List[bytes]]:
    """What stands for each item in the hash of a container; None if that would take long."""
    everything = list(items)
    kinds = set(map(type, everything))
    if kinds <= _PLAIN:
        return [repr(item).encode("utf-8", "surrogatepass") for item in everything]
    if len(everything) > MAX_FINGERPRINTS and kinds != {tuple}:
        return None
    return [_item_hash(item) for item in everything]


def _item_hash(item: Any) -> bytes:
    if type(item) is tuple and all(type(part) in _PLAIN for part in item):
        return repr(item).encode("utf-8", "surrogatepass")
    return fingerprint(item)


def _essence(described: Any) -> Any:
    """A description without what is spelled one way in the old JAX and another way in the new."""
    if isinstance(described, list):
        return [_essence(part) for part in described]
    if not isinstance(described, dict):
        return described
    kind = described["k"]
    if kind == "array":
        shards = [[shard["d"], shard["i"], (shard["v"] or {}).get("h")] for shard in described["shards"]]
        return [kind, described["shape"], described["dtype"], sorted(shards, key=str)]
    if kind == "ndarray":
        return [kind, described["shape"], described["dtype"], (described["v"] or {}).get("h")]
    if kind == "record":
        return [kind, [[name, _essence(part)] for name, part in described["v"].items()]]
    if kind in ("seq", "map", "set"):
        return [kind, described["n"], _essence(described["v"])]
    keys = {"scalar": ("t", "v", "h"), "abstract": ("shape", "dtype")}.get(kind, ())
    return [kind, *(described.get(key) for key in keys)]


class _Piece(NamedTuple):
    """The part of an array that one device holds."""

    device: Any
    place: Bounds
    replica: Optional[int]
    data: Any

    @classmethod
    def of_shard(cls, shard: Any, shape: Sequence[int]) -> _Piece:
        return cls(shard.device, bounds(shard.index, shape), shard.replica_id, shard.data)

    def covers(self, shape: Sequence[int]) -> bool:
        return all(part == [0, size] for part, size in zip(self.place, shape))

    def host(self) -> Any:
        return to_host(self.data)

    def record(self, found: Optional[Json]) -> Json:
        return {"d": self.device.id, "p": process_of(self.device), "i": self.place, "r": self.replica, "v": found}


def to_host(x: Any) -> Any:
    """The value of an array on one device, without leaving a copy of it in the array."""
    cached = getattr(x, "_npy_value", x)
    with _transfers_allowed():
        value = np.asarray(x)
    if cached is None:
        with contextlib.suppress(AttributeError, TypeError):
            x._npy_value = None
    return value


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def _transfers_allowed() -> Any:
    """Lets us copy from a device where the program forbade it to itself."""
    jax = sys.modules.get("jax")
    guarded = any(getattr(getattr(jax, "config", None), name, None) for name in _GUARDS)
    return jax.transfer_guard("allow") if jax is not None and guarded else _Nothing()


_GUARDS = ("jax_transfer_guard", "jax_transfer_guard_device_to_host")


def _twin(x: Any) -> Any:
    """Another handle on the same buffers: taking an array apart leaves its parts in the handle, and among the live arrays."""
    clone = getattr(x, "clone", None)
    try:
        return clone() if clone is not None else x
    except Exception:
        return x


def _is_deleted(x: Any) -> bool:
    asked = getattr(x, "is_deleted", None)
    return bool(asked()) if callable(asked) else False


def _flag(x: Any, name: str) -> Optional[bool]:
    found = getattr(x, name, None)
    if callable(found):
        found = found()
    return None if found is None else bool(found)


def _weak(x: Any) -> Optional[bool]:
    weak = getattr(x, "weak_type", None)
    if weak is None:
        weak = getattr(getattr(x, "aval", None), "weak_type", None)
    return None if weak is None else bool(weak)


def _device_of(x: Any) -> Any:
    device = getattr(x, "device", None)
    if callable(device):
        return device()
    return device if device is not None else next(iter(x.devices()))


def process_of(device: Any) -> int:
    """The number of the process that a device belongs to."""
    index = getattr(device, "process_index", None)
    return int(device.host_id if index is None else index)


def bounds(index: Any, shape: Sequence[int]) -> Bounds:
    """An index of any spelling as start and stop of every dimension."""
    parts = index if isinstance(index, tuple) else (index,)
    found: Bounds = []
    for dimension, size in enumerate(shape):
        part = parts[dimension] if dimension < len(parts) else slice(None)
        if isinstance(part, slice):
            start, stop, _ = part.indices(size)
            found.append([start, stop])
        else:
            found.append([int(part), int(part) + 1])
    return found


def _bounds_by_data(index: Any, data: Any) -> Bounds:
    """The index of a shard that does not know the shape of the whole: what is open takes the size of the data."""
    parts = index if isinstance(index, tuple) else (index,)
    sizes = list(getattr(data, "shape", ()))
    found: Bounds = []
    for part in parts:
        if not isinstance(part, slice):
            found.append([int(part), int(part) + 1])
            continue
        size = sizes.pop(0) if sizes else None
        start = part.start or 0
        found.append([start, part.stop if part.stop is not None or size is None else start + size])
    return found


def _replicas(indices: Iterable[Any], shape: Sequence[int]) -> List[int]:
    seen: Dict[str, int] = collections.Counter()
    numbers = []
    for index in indices:
        key = str(bounds(index, shape))
        numbers.append(seen[key])
        seen[key] += 1
    return numbers


def _covered(shards: List[_Piece], shape: Sequence[int]) -> bool:
    """Whether the parts that this process has make up the whole."""
    parts = {tuple((start or 0, stop or 0) for start, stop in piece.place) for piece in shards}
    return sum(int(np.prod([stop - start for start, stop in part])) for part in parts) >= int(np.prod(shape))


def _assemble(shape: Sequence[int], shards: List[_Piece], values: List[Any]) -> Any:
    whole = np.empty(tuple(shape), values[0].dtype)
    for piece, value in zip(shards, values):
        place = tuple(slice(start, stop) for start, stop in piece.place)
        whole[place] = value.reshape(whole[place].shape)
    return whole


def _slabs(shape: Sequence[int], shards: List[_Piece], values: List[Any], hashed: bool) -> Json:
    """The digest of an array that is put together a few rows at a time."""
    row = max(1, int(np.prod(shape[1:]))) * values[0].dtype.itemsize
    step = max(1, MAX_WHOLE // 4 // row)
    found = _Digest(int(np.prod(shape)), values[0].dtype, hashed)
    for first in range(0, shape[0], step):
        found.add(_slab(shape, shards, values, first, min(first + step, shape[0])).reshape(-1))
    return found.record()


def _slab(shape: Sequence[int], shards: List[_Piece], values: List[Any], first: int, last: int) -> Any:
    whole = np.empty((last - first, *shape[1:]), values[0].dtype)
    for piece, value in zip(shards, values):
        start, stop = piece.place[0][0] or 0, piece.place[0][1] or 0
        low, high = max(start, first), min(stop, last)
        if low < high:
            place = (slice(low - first, high - first), *(slice(a, b) for a, b in piece.place[1:]))
            rows = value.reshape((stop - start, *whole[place].shape[1:]))
            whole[place] = rows[low - start : high - start]
    return whole


def digest(array: Any, hashed: bool = True) -> Json:
    """Hash, samples and sums of a NumPy array; samples alone where it is not to be hashed."""
    if array.dtype.kind in "fc" and array.dtype.itemsize > (16 if array.dtype.kind == "c" else 8):
        array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)  # Long doubles have bytes without meaning.
    if array.size > MAX_SAMPLES:
        return _large_digest(array, hashed)
    data = _bytes(np.ascontiguousarray(array).reshape(-1))
    sha = hashlib.sha1(data).hexdigest()
    text = base64.b64encode(data).decode("ascii")
    return {"h": sha, "n": array.size, "dtype": dtype_name(array.dtype), "all": True, "b": text}


def _large_digest(array: Any, hashed: bool) -> Json:
    found = _Digest(array.size, array.dtype, hashed)
    if not hashed:
        found.samples.append(array[np.unravel_index(found.picked, array.shape)])
    elif array.flags.c_contiguous:
        found.add(array.reshape(-1))
    elif array.nbytes > MAX_WHOLE:
        for row in array:
            found.add(np.ascontiguousarray(row).reshape(-1))
    else:
        found.add(np.ascontiguousarray(array).reshape(-1))
    return found.record()


class _Digest:
    """The digest of a large array that is given a part at a time."""

    def __init__(self, size: int, dtype: Any, hashed: bool) -> None:
        self.size = size
        self.dtype = dtype
        self.sha = hashlib.sha1() if hashed else None
        self.picked = np.arange(MAX_SAMPLES) * size // MAX_SAMPLES if size > MAX_SAMPLES else np.arange(size)
        self.samples: List[Any] = []
        self.sums = [_Sums() for _ in range(_blocks(size))] if hashed and _is_inexact(dtype) else []
        self.offset = 0

    def add(self, flat: Any) -> None:
        """The next elements."""
        picked = self.picked - self.offset
        self.samples.append(flat[picked[(picked >= 0) & (picked < flat.size)]])
        if self.sha is not None:
            self.sha.update(_bytes(flat))
        with np.errstate(all="ignore"):
            self._sum(flat)
        self.offset += flat.size

    def _sum(self, flat: Any) -> None:
        count = len(self.sums)
        for number, sums in enumerate(self.sums):
            first, last = (max(0, part * self.size // count - self.offset) for part in (number, number + 1))
            if first < min(last, flat.size):
                sums.add(flat[first:last])

    def record(self) -> Json:
        """What is written down."""
        text = base64.b64encode(_bytes(np.concatenate(self.samples))).decode("ascii")
        record: Json = {
            "h": self.sha.hexdigest() if self.sha is not None else None,
            "n": self.size,
            "dtype": dtype_name(self.dtype),
        }
        record.update(all=self.size <= MAX_SAMPLES, b=text)
        if self.sums:
            record["m"] = [sums.record() for sums in self.sums]
        return record


class _Sums:
    """Sums over a part of an array, in which a change between the samples shows."""

    def __init__(self) -> None:
        self.low, self.high, self.total, self.absolute, self.odd = np.inf, -np.inf, 0.0, 0.0, 0

    def add(self, flat: Any) -> None:
        values = _real(flat)
        total = float(values.sum(dtype=np.float64))
        if not np.isfinite(total):
            finite = values[np.isfinite(values)]
            self.odd += values.size - finite.size
            values, total = finite, float(finite.sum(dtype=np.float64))
        if values.size:
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
            self.total += total
            self.absolute += float(np.abs(values).sum(dtype=np.float64))

    def record(self) -> List[Any]:
        numbers = (self.low, self.high, self.total, self.absolute)
        return [*(number if np.isfinite(number) else None for number in numbers), self.odd]


def _real(flat: Any) -> Any:
    """The elements as floats that NumPy adds by itself; real and imaginary parts as elements of their own."""
    if flat.dtype.kind == "c":
        return flat.view(np.float32 if flat.dtype.itemsize == 8 else np.float64)
    return flat if flat.dtype.kind == "f" and flat.dtype.itemsize > 2 else flat.astype(np.float32)


def _blocks(size: int) -> int:
    return max(1, min(BLOCKS, size // 8192))


def _is_inexact(dtype: Any) -> bool:
    return dtype.kind in "fc" or dtype_name(dtype).startswith(("bfloat", "float"))


def _bytes(flat: Any) -> Any:
    """The bytes of a contiguous flat array, little end first; a view where possible."""
    if not flat.size:
        return b""
    big = flat.dtype.byteorder == ">" or (flat.dtype.byteorder == "=" and sys.byteorder == "big")
    if big:
        flat = flat.astype(flat.dtype.newbyteorder("<"))
    return memoryview(flat.view(np.uint8)) if flat.dtype.itemsize else b""


def dtype_name(dtype: Any) -> str:
    """The name of a dtype, the same for every byte order."""
    if isinstance(dtype, np.dtype) and dtype.byteorder == ">":
        dtype = dtype.newbyteorder("=")
    return str(dtype)


def spec_parts(spec: Any) -> List[Any]:
    """The parts of a PartitionSpec: null, a name, or several."""
    return [_spec_part(part) for part in spec]


def _spec_part(part: Any) -> Any:
    if part is None or part == ():
        return None
    if isinstance(part, (tuple, list)):
        return str(part[0]) if len(part) == 1 else [str(name) for name in part]
    return str(part)


def _children(x: Any) -> Optional[List[Any]]:
    util = sys.modules.get("jax.tree_util")
    registry = getattr(util, "default_registry", None)
    if registry is None or issubclass(type(x), type):
        return None
    found = registry.flatten_one_level(x)
    return None if found is None else list(found[0])


def _named_fields(cls: type) -> Optional[Tuple[str, ...]]:
    for base in lineage(cls):
        fields = base.__dict__.get("_fields")
        if type(fields) is tuple and all(type(field) is str for field in fields):
            return fields
    return None


def _integer(x: Any) -> Any:
    if x is None or type(x) is int:
        return x
    try:
        return int(x.__index__())
    except Exception:
        return str(type(x).__name__)


def _text(x: str) -> Json:
    x = str.__str__(x)
    if len(x) <= MAX_TEXT:
        return {"k": "scalar", "t": "str", "v": x}
    sha = hashlib.sha1(x.encode("utf-8", "surrogatepass")).hexdigest()
    return {"k": "scalar", "t": "str", "v": x[:MAX_TEXT], "n": len(x), "h": sha}


def _binary(x: Any) -> Json:
    text = base64.b64encode(x[:MAX_TEXT]).decode("ascii")
    described: Json = {"k": "scalar", "t": "bytes", "v": text}
    if len(x) > MAX_TEXT:
        described.update(n=len(x), h=hashlib.sha1(x).hexdigest())
    return described


def _int(x: Any) -> Json:
    number = int.__int__(x)
    return {"k": "scalar", "t": "int", "v": number if number.bit_length() < 10000 else hex(number)}


def _float(x: Any) -> Json:
    return {"k": "scalar", "t": "float", "v": float.__repr__(x)}


def _complex(x: Any) -> Json:
    parts = [complex.real.__get__(x), complex.imag.__get__(x)]
    return {"k": "scalar", "t": "complex", "v": [repr(part) for part in parts]}


def _scalar(kind: str, value: Any = None) -> Callable[[Any], Json]:
    return lambda _: {"k": "scalar", "t": kind, "v": value}


_SCALARS: Dict[type, Callable[[Any], Json]] = {
    type(None): _scalar("none"),
    type(Ellipsis): _scalar("ellipsis"),
    bool: lambda x: {"k": "scalar", "t": "bool", "v": x},
    int: _int,
    float: _float,
    complex: _complex,
    str: _text,
    bytes: _binary,
    bytearray: _binary,
}
_SEQUENCES = (list, tuple, collections.deque, range)

_BUILTINS: Dict[type, Callable[[_Describer, Any, int], Optional[Json]]] = {
    enum.Enum: _Describer._enum,
    type: _Describer._opaque,
    types.ModuleType: _Describer._opaque,
    types.FunctionType: _Describer._opaque,
    np.ndarray: _Describer._ndarray,
    np.generic: _Describer._ndarray,
    np.dtype: _Describer._dtype,
    BaseException: _Describer._exception,
    slice: _Describer._slice,
    list: _Describer._sequence,
    tuple: _Describer._sequence,
    collections.deque: _Describer._sequence,
    range: _Describer._sequence,
    dict: _Describer._map,
    set: _Describer._set,
    frozenset: _Describer._set,
    int: lambda _, x, depth: _int(x),
    float: lambda _, x, depth: _float(x),
    complex: lambda _, x, depth: _complex(x),
    str: lambda _, x, depth: _text(x),
    bytes: lambda _, x, depth: _binary(bytes(x)),
}

_OURS = ("jax", "jaxlib", "jaxmigrate")
"""Packages whose classes are known by name."""

_FAMILIES = {
    "Tracer": "_tracer",
    "ShapedArray": "_aval",
    "ShapeDtypeStruct": "_aval",
    "ArrayImpl": "_array",
    "Array": "_array",
    "PRNGKeyArray": "_key",
    "PRNGKeyArrayImpl": "_key",
    "KeyArray": "_key",
    "GlobalDeviceArray": "_gda",
    "ShardedDeviceArray": "_sda",
    "_ShardedDeviceArray": "_sda",
    "DeviceArray": "_device_array",
    "_DeviceArray": "_device_array",
    "Buffer": "_device_array",
    "Shard": "_shard",
    "Device": "_device",
    "Mesh": "_mesh",
    "AbstractMesh": "_mesh",
    "PartitionSpec": "_spec",
    "P": "_spec",
    "Sharding": "_sharding",
    "MeshPspecSharding": "_sharding",
    "PmapSharding": "_sharding",
}


def _opaque(x: object) -> Json:
    cls = type(x)
    if cls is Watched:
        return _opaque(inner_of(x))
    if issubclass(cls, type):
        return {"k": "opaque", "t": "class", "v": qualified(x)}  # type: ignore[arg-type]
    if issubclass(cls, types.ModuleType):
        return {"k": "opaque", "t": "module", "v": str(object.__getattribute__(x, "__dict__").get("__name__"))}
    if _is_function(cls):
        return {"k": "opaque", "t": "function", "v": _function_name(x)}
    return {"k": "opaque", "t": "object", "v": qualified(cls)}


def _function_name(x: Any) -> str:
    while isinstance(x, functools.partial):
        x = x.func
    try:
        return "{}.{}".format(getattr(x, "__module__", None), getattr(x, "__qualname__", None) or x.__name__)
    except Exception:
        return qualified(type(x))


def exception(error: BaseException) -> Json:
    """What is written down of an exception."""
    classes = lineage(type(error))
    family = next((class_name(cls) for cls in classes if class_module(cls) == "builtins"), "BaseException")
    try:
        message = str(error)
    except BaseException:
        message = ""
    return {
        "type": class_name(classes[0]),
        "module": class_module(classes[0]),
        "bases": [class_name(cls) for cls in classes],
        "family": family,
        "message": message[:MAX_TEXT],
    }


def _from_signal(error: BaseException) -> bool:
    """Whether an exception came out of a signal handler of the program, and so belongs to it."""
    if isinstance(error, KeyboardInterrupt):
        return True
    codes = set()
    for number in range(1, getattr(signal, "NSIG", 1)):
        code = getattr(signal.getsignal(number), "__code__", None)
        if code is not None:
            codes.add(code)
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__)) if codes else False


def traced() -> bool:
    """Whether JAX is tracing in this thread."""
    for name in ("jax._src.core", "jax.core"):
        clean = getattr(sys.modules.get(name), "trace_state_clean", None)
        if clean is not None:
            return not clean()
    return False


_FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    functools.partial,
    type(functools.lru_cache()(lambda: None)),
)


_LOOKING = (locals, globals, vars, dir, eval, exec, __import__, sys._getframe)
"""Functions that look at the frame which calls them."""


def _is_function(cls: type) -> bool:
    """Whether instances of a class are what `watch` may stand in for: never a class, tree, array, mesh or context."""
    if cls in _FUNCTIONS:
        return True
    names = lineage(cls)
    if class_module(cls).partition(".")[0] not in _OURS or any(class_name(base) in _FAMILIES for base in names):
        return False
    members = {name for base in names for name in ("__call__", "__enter__") if name in base.__dict__}
    return members == {"__call__"} and not issubclass(cls, type)


def watchable(x: object) -> bool:
    """Whether the calls of a value can be recorded without the program noticing."""
    cls = type(x)
    if cls is Watched:
        return True
    if not _is_function(cls) or any(x is looking for looking in _LOOKING):
        return False
    try:
        return cls in _FUNCTIONS or _children(x) is None
    except Exception:
        return False


class Watched:
    """Stands in for a callable and has its calls recorded; everything else it leaves to the callable."""

    __slots__ = ("__weakref__", "_jaxmigrate_inner_", "_jaxmigrate_sites_")

    def __init__(self, inner: Any, sites: Tuple[int, ...]) -> None:
        object.__setattr__(self, "_jaxmigrate_inner_", inner)
        object.__setattr__(self, "_jaxmigrate_sites_", sites)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call, and record what comes of it."""
        sites = _sites_of(self)
        try:
            result = inner_of(self)(*args, **kwargs)
        except BaseException as error:
            RECORDER.call_raised(sites, error)
            raise
        return RECORDER.called(sites, result)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        inner = inner_of(self)
        bind = getattr(type(inner), "__get__", None)
        if bind is None:
            return self
        bound = bind(inner, instance, owner)
        return self if bound is inner else Watched(bound, _sites_of(self)) if watchable(bound) else bound

    def __getattribute__(self, name: str) -> Any:
        if name in _OWN:
            return object.__getattribute__(self, name)
        return getattr(inner_of(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(inner_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(inner_of(self), name)

    def __eq__(self, other: object) -> Any:
        return inner_of(self) == (inner_of(other) if type(other) is Watched else other)

    def __ne__(self, other: object) -> Any:
        return inner_of(self) != (inner_of(other) if type(other) is Watched else other)

    def __hash__(self) -> int:
        return hash(inner_of(self))

    def __repr__(self) -> str:
        return repr(inner_of(self))

    def __str__(self) -> str:
        return str(inner_of(self))

    def __dir__(self) -> Iterable[str]:
        return dir(inner_of(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        inner = inner_of(self)
        if type(inner) in (types.FunctionType, types.BuiltinFunctionType):
            return inner.__qualname__
        return inner.__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return Watched(copy.copy(inner_of(self)), _sites_of(self))

    def __deepcopy__(self, memo: Any) -> Any:
        return Watched(copy.deepcopy(inner_of(self), memo), _sites_of(self))


_UNSEEN = __file__ + ":importlib._bootstrap"
"""The file of a frame that warnings pass over when they look for the line that is to blame."""

_call_code: Any = Watched.__call__
_call_code.__code__ = _call_code.__code__.replace(co_filename=_UNSEEN)

_OWN = frozenset(("__call__", "__get__", "__reduce_ex__", "__copy__", "__deepcopy__"))


def inner_of(watched: object) -> Any:
    """The callable that a `Watched` stands for."""
    return object.__getattribute__(watched, "_jaxmigrate_inner_")


def _sites_of(watched: object) -> Tuple[int, ...]:
    sites: Tuple[int, ...] = object.__getattribute__(watched, "_jaxmigrate_sites_")
    return sites


def watched(x: Any, sites: Tuple[int, ...]) -> Any:
    """A value with its calls recorded, if it is a callable of which that can be done."""
    if type(x) is Watched:
        have = _sites_of(x)
        return Watched(inner_of(x), have + tuple(site for site in sites if site not in have))
    if type(x) in (staticmethod, classmethod):
        return type(x)(watched(x.__func__, sites))
    return Watched(x, sites) if watchable(x) else x


class Log:
    """The file of records; each is written at once, so that no way of leaving loses it."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.pid = os.getpid()
        self.written = 0
        self.lock = threading.RLock()
        self._open()

    def _open(self) -> None:
        low = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.descriptor = _raised_descriptor(low)
        self.identity = os.fstat(self.descriptor)

    def _ours(self) -> bool:
        """Whether the descriptor is still the file: the program may close all it finds, and open its own."""
        try:
            return os.path.samestat(os.fstat(self.descriptor), self.identity)
        except OSError:
            return False

    @property
    def full(self) -> bool:
        """Whether the bound is reached, so that values are not written any more."""
        return self.written > MAX_RECORDS

    def forget(self) -> None:
        """Take back what was written: this was no run."""
        os.ftruncate(self.descriptor, 0)

    def write(self, record: Json) -> None:
        """Append a record; not in a fork of the process."""
        if os.getpid() != self.pid:
            return
        line = _line(record)
        if len(line) > MAX_VALUE or self.full:
            line = _line({key: CUT if key == "v" and isinstance(value, dict) else value for key, value in record.items()})
        with self.lock:
            self.written += len(line)
            try:
                if not self._ours():
                    self._open()
                while line:
                    line = line[os.write(self.descriptor, line) :]
            except OSError:
                return


def _line(record: Json) -> bytes:
    return (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")


def _raised_descriptor(low: int) -> int:
    """The same file under a high number, out of the way of the program's own."""
    try:
        import fcntl

        high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 200)
    except (ImportError, OSError):
        return low
    os.close(low)
    return high


class Token:
    """Marks that an expression is being evaluated; if it dies without `done`, an exception left the expression."""

    __slots__ = ("frame", "site")

    def __init__(self, site: int) -> None:
        self.site = site
        self.frame = id(sys._getframe(1))

    def __del__(self) -> None:
        if self.site >= 0:
            try:
                _fallen().append((self.site, self.frame))
            except Exception:
                return


_LOCAL = threading.local()


def _fallen() -> List[Tuple[int, int]]:
    """The expressions of this thread that an exception left, and the frames they were in."""
    found: Optional[List[Tuple[int, int]]] = getattr(_LOCAL, "fallen", None)
    if found is None:
        found = _LOCAL.fallen = []
    if len(found) > 1000:
        del found[:500]
    return found


class Recorder:
    """What the marked places of a program call."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.context = ""
        self.hits: Dict[Tuple[int, str], int] = collections.Counter()
        self.calls: Dict[Tuple[int, str], int] = collections.Counter()
        self.reaches: Dict[Tuple[int, str, str], int] = collections.Counter()
        self.passed: Dict[Tuple[str, int, str], Any] = {}
        """Hashes of what was not recorded."""

    def exit(self, token: Token, value: Any) -> Any:
        """A marked expression gave a value."""
        site = token.site
        self._valued("hit", self.hits, (site,), value)
        token.site = -1
        return watched(value, (site,))

    def watch(self, token: Token, value: Any) -> Any:
        """A call that takes an edited function gave a value."""
        site = token.site
        given = watched(value, (site,))
        if type(given) is not Watched:
            self._valued("hit", self.hits, (site,), value)
        token.site = -1
        return given

    def watched_definition(self, site: int) -> Callable[[Any], Any]:
        """The outermost decorator of a definition that holds edited places."""
        return functools.partial(_watched_definition, site)

    def called(self, sites: Tuple[int, ...], result: Any) -> Any:
        """A watched callable returned."""
        self._valued("call", self.calls, sites, result)
        return watched(result, sites)

    def call_raised(self, sites: Tuple[int, ...], error: BaseException) -> None:
        """A watched callable raised."""
        for site in sites:
            self._raise(site, error, self.calls, of="call")

    def _valued(self, event: str, counts: Dict[Tuple[int, str], int], sites: Tuple[int, ...], value: Any) -> None:
        numbers = [(site, self._count(counts, site)) for site in sites]
        if os.getpid() != self.log.pid:
            return
        due = [(site, n) for site, n in numbers if _recorded(n)]
        if len(due) < len(numbers):
            self._pass_over([(site, n) for site, n in numbers if not _recorded(n)], event, value)
        if not due:
            return
        if self.log.full:
            described, inside = dict(CUT), False
        else:
            describer = _Describer(often=min(n for _, n in due) > 2)
            described = describer.value(value)
            inside = describer.abstract or traced()
        for site, n in due:
            self.log.write({"e": event, "s": site, "n": n, "c": self.context, "v": described, "t": inside})

    def _pass_over(self, numbers: List[Tuple[int, int]], event: str, value: Any) -> None:
        """Keep a fingerprint of what is not recorded."""
        n = max(n for _, n in numbers)
        if n > MAX_FINGERPRINTS:
            return
        found = fingerprint(value, MAX_SAMPLES if n <= MAX_READ else -1)
        for site, _ in numbers:
            self.passed.setdefault((event, site, self.context), hashlib.sha1()).update(found)

    def _count(self, counts: Dict[Any, int], site: int, *more: str) -> int:
        key = (site, self.context, *more)
        counts[key] = n = counts[key] + 1
        return n

    def _raise(self, site: int, error: BaseException, counts: Dict[Tuple[int, str], int], **more: str) -> None:
        n = self._count(counts, site)
        if _recorded(n) and not isinstance(error, GeneratorExit):
            self.log.write(dict(e="raise", s=site, n=n, c=self.context, x=exception(error), t=traced(), **more))

    def raised(self, *statements: int) -> None:
        """An exception is leaving a statement: the marked expressions that it left on its way raised it."""
        error = sys.exc_info()[1]
        if error is not None:
            self.blame(error)
            for site in statements:
                self._raise(site, error, self.hits)

    def blame(self, error: BaseException) -> None:
        """Write down which marked expressions an exception left."""
        strip(error)
        fallen = _fallen()
        if not fallen:
            return
        frames = {id(frame) for frame, _ in traceback.walk_tb(error.__traceback__)}
        found = [entry for entry in fallen if entry[1] in frames]
        fallen[:] = [entry for entry in fallen if entry[1] not in frames]
        for site, _ in found:
            self._raise(site, error, self.hits)

    def reach(self, *sites: int) -> None:
        """Marked statements are about to be executed."""
        for site in sites:
            n = self._count(self.reaches, site, "reach")
            if _recorded(n):
                self.log.write({"e": "reach", "s": site, "n": n, "c": self.context, "t": traced()})

    def state(self, site: int, name: str, value: Any) -> None:
        """A name has this value after marked statements."""
        n = self._count(self.reaches, site, name)
        if _recorded(n) and not self.log.full and os.getpid() == self.log.pid:
            describer = _Describer(often=n > 2)
            described = {name: describer.value(value)}
            inside = describer.abstract or traced()
            self.log.write({"e": "state", "s": site, "n": n, "c": self.context, "v": described, "t": inside})

    def returned(self, site: int, value: Any) -> Any:
        """Marked statements return a value."""
        self.state(site, "return", value)
        return value

    def entering(self, token: Token, value: Any) -> Any:
        """A marked context expression was evaluated and is about to be entered."""
        _fallen().append((token.site, token.frame))
        token.site = -1
        return value

    def entered(self, site: int) -> None:
        """A marked context was entered, so nothing raised on the way."""
        frame = id(sys._getframe(1))
        fallen = _fallen()
        if (site, frame) in fallen:
            fallen.remove((site, frame))
        self.reach(site)

    def totals(self) -> None:
        """Write how often the places were met that were met too often to be recorded each time."""
        for site, context in sorted(set(self.hits) | set(self.calls)):
            hits, calls = self.hits.get((site, context), 0), self.calls.get((site, context), 0)
            if max(hits, calls) > FULL_HITS:
                record: Json = {"e": "count", "s": site, "c": context, "n": hits, "calls": calls}
                for key, event in (("fp", "hit"), ("calls_fp", "call")):
                    passed = self.passed.get((event, site, context))
                    if passed is not None:
                        record[key] = passed.hexdigest()
                self.log.write(record)


def _watched_definition(site: int, value: Any) -> Any:
    return watched(value, (site,))


def _recorded(n: int) -> bool:
    return n <= FULL_HITS or n & (n - 1) == 0


RECORDER: Any = None
"""The recorder of this process once a program runs."""


def strip(error: BaseException) -> None:
    """Take our own frames out of a traceback, so that it reads as if we were not there."""
    first = _theirs(error.__traceback__)
    entry = first
    while entry is not None:
        after = _theirs(entry.tb_next)
        if after is not entry.tb_next:
            entry.tb_next = after
        entry = after
    error.__traceback__ = first


def _theirs(entry: Optional[types.TracebackType]) -> Optional[types.TracebackType]:
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith(__file__):
        entry = entry.tb_next
    return entry


NAMES = {
    name: "_jaxmigrate_{}_".format(name)
    for name in ("enter", "exit", "watch", "definition", "raised", "reach", "state", "returned", "entering", "entered")
}
"""What the marked places call, by the names under which it lies among the builtins."""


def publish(recorder: Recorder) -> None:
    """Put what the marked places call among the builtins."""
    for name, ours in NAMES.items():
        call = Token if name == "enter" else getattr(recorder, "watched_definition" if name == "definition" else name)
        setattr(builtins, ours, call)


class Mark(NamedTuple):
    """A place to mark, as the job names it."""

    id: int
    kind: str
    span: Tuple[int, int, int, int]
    names: Tuple[str, ...]

    @classmethod
    def of(cls, site: Json) -> Mark:
        """From the site of a job."""
        return cls(site["id"], site["kind"], tuple(site["span"]), tuple(site.get("names") or ()))


def instrument(tree: ast.Module, marks: Sequence[Mark], asserts: bool = False, guards: bool = True) -> List[int]:
    """Wrap the marked places of a tree in place; returns the ids of those that were not found.

    Args:
        tree: A file's tree.
        marks: The places.
        asserts: Whether pytest will take asserts apart, so that values in them must not be recognisable as calls.
        guards: Whether exceptions are to be told of, which puts statements into blocks.
    """
    return _Instrumenter(tree, asserts, guards).run(marks)


class _Group(NamedTuple):
    """Consecutive statements of one body that are treated together."""

    first: int
    last: int
    reach: Tuple[int, ...]
    raised: Tuple[int, ...]
    state: Tuple[Tuple[int, str], ...]


_BODIES = ("body", "orelse", "finalbody")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Instrumenter:
    def __init__(self, tree: ast.Module, asserts: bool, guards: bool) -> None:
        self.guards = guards
        self.tree = tree
        self.asserts = asserts
        self.parents: Dict[int, ast.AST] = {}
        self.by_span: Dict[Tuple[int, int, int, int], List[ast.AST]] = {}
        self.bodies: Dict[int, Tuple[List[Any], int, ast.AST]] = {}
        """Statement -> the list it is in, its place there, the node that has the list."""
        self.groups: Dict[int, Dict[Tuple[int, ...], _Group]] = {}
        self.owners: Dict[int, Tuple[List[Any], ast.AST]] = {}
        self.values: Dict[int, List[Tuple[int, str]]] = {}
        self.contexts: Dict[int, List[int]] = {}
        self.marked: List[ast.AST] = []
        self._index(tree)

    def _index(self, node: ast.AST) -> None:
        for parent in ast.walk(node):
            span = _span(parent)
            if span is not None:
                self.by_span.setdefault(span, []).append(parent)
            for name, value in ast.iter_fields(parent):
                if isinstance(value, list):
                    self._index_list(parent, name, value)
                elif isinstance(value, ast.AST):
                    self.parents[id(value)] = parent

    def _index_list(self, parent: ast.AST, name: str, items: List[Any]) -> None:
        for place, item in enumerate(items):
            if isinstance(item, ast.AST):
                self.parents[id(item)] = parent
                if name in _BODIES and isinstance(item, ast.stmt):
                    self.bodies[id(item)] = (items, place, parent)

    def run(self, marks: Sequence[Mark]) -> List[int]:
        lost = [mark.id for mark in marks if not self._plan(mark)]
        self._wrap_values()
        self._rebuild_bodies()
        if any(isinstance(around, (ast.Lambda, ast.GeneratorExp)) for around in self._around_values()):
            self._tell_handlers()
        return lost

    def _around_values(self) -> Iterator[ast.AST]:
        for node in self.marked:
            at: Optional[ast.AST] = node
            while at is not None and not isinstance(at, ast.stmt):
                yield at
                at = self.parents.get(id(at))

    def _tell_handlers(self) -> None:
        """No statement around a lambda's call need be ours: what catches its exceptions tells us of them."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ExceptHandler) and not hasattr(node, "ours"):
                node.body.insert(0, _statement(_call("raised", [], node.body[0]), node.body[0]))

    def _plan(self, mark: Mark) -> bool:
        if mark.kind in ("value", "watch"):
            return self._plan_value(mark)
        if mark.kind == "context":
            return self._plan_context(mark)
        if mark.kind == "annotation":
            nodes = self.by_span.get(mark.span)
            return bool(nodes) and self._plan_statements(mark, self._statement(nodes[0]))  # type: ignore[index]
        return self._plan_block(mark)

    def _plan_value(self, mark: Mark) -> bool:
        nodes = self.by_span.get(mark.span, [])
        definition = next((node for node in nodes if isinstance(node, (*_FUNCTION, ast.ClassDef))), None)
        if mark.kind == "watch" and definition is not None:
            return self._plan_definition(mark, definition)
        node: Optional[ast.AST] = next((node for node in nodes if isinstance(node, ast.expr)), None)
        if node is None:
            node = next(iter(nodes), None)
            if node is None or isinstance(node, ast.stmt):
                return self._plan_block(mark)
        place = self._expression(node)
        if place is None:
            return self._plan_statements(mark, self._statement(node))
        self.values.setdefault(id(place), []).append((mark.id, "watch" if mark.kind == "watch" else "exit"))
        self.marked.append(place)
        return self._guard(self._statement(place))

    def _plan_definition(self, mark: Mark, node: Any) -> bool:
        at = node.decorator_list[0] if node.decorator_list else node
        node.decorator_list.insert(0, _call("definition", [_constant(mark.id, at)], at))
        return True

    def _plan_context(self, mark: Mark) -> bool:
        for node in self.by_span.get(mark.span, []):
            item = self.parents.get(id(node))
            holder = self.parents.get(id(item))
            if isinstance(item, ast.withitem) and item.context_expr is node and holder is not None:
                self.values.setdefault(id(node), []).append((mark.id, "entering"))
                self.contexts.setdefault(id(holder), []).append(mark.id)
                return self._guard(holder)
        return self._plan_value(mark)

    def _plan_block(self, mark: Mark) -> bool:
        """Statements that begin and end where the mark does."""
        line, column, end_line, end_column = mark.span
        for first in self.tree_statements():
            if (first.lineno, first.col_offset) != (line, column):
                continue
            body, place, owner = self.bodies[id(first)]
            for last in range(place, len(body)):
                if (body[last].end_lineno, body[last].end_col_offset) == (end_line, end_column):
                    return self._group(mark, body, place, last, owner)
        node = next(iter(self.by_span.get(mark.span, [])), None)
        return node is not None and self._plan_statements(mark, self._statement(node))

    def tree_statements(self) -> Iterator[Any]:
        return (node for node in ast.walk(self.tree) if id(node) in self.bodies)

    def _plan_statements(self, mark: Mark, statement: Optional[ast.AST]) -> bool:
        if statement is None or id(statement) not in self.bodies:
            return False
        body, place, owner = self.bodies[id(statement)]
        return self._group(mark, body, place, place, owner)

    def _group(self, mark: Mark, body: List[Any], first: int, last: int, owner: ast.AST) -> bool:
        names = mark.names if mark.kind == "statement" else ()
        if "return" in names:
            for statement in body[first : last + 1]:
                self._mark_returns(statement, mark.id)
        state = tuple((mark.id, name) for name in names if name != "return")
        self._add(body, owner, _Group(first, last, (mark.id,), (mark.id,), state))
        return True

    def _mark_returns(self, node: ast.AST, site: int) -> None:
        if isinstance(node, (*_FUNCTION, ast.ClassDef, ast.Lambda)):
            return
        if isinstance(node, ast.Return):
            at = node.value or node
            value: Any = node.value or _constant(None, node)
            node.value = _call("returned", [_constant(site, at), value], at)
            self.parents[id(value)] = node.value
            self.parents[id(node.value)] = node
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.ExceptHandler)) or hasattr(child, "pattern"):
                self._mark_returns(child, site)

    def _guard(self, statement: Optional[ast.AST]) -> bool:
        if statement is None or id(statement) not in self.bodies:
            return False
        body, place, owner = self.bodies[id(statement)]
        self._add(body, owner, _Group(place, place, (), (), ()))
        return True

    def _add(self, body: List[Any], owner: ast.AST, group: _Group) -> None:
        """Plan a group; those of the same statements become one, since blocks can be nested only so deep."""
        self.owners[id(body)] = (body, owner)
        groups = self.groups.setdefault(id(body), {})
        same = groups.get(group[:2])
        if same is not None:
            reach, raised = same.reach + group.reach, same.raised + group.raised
            group = _Group(group.first, group.last, reach, raised, same.state + group.state)
        groups[group[:2]] = group

    def _statement(self, node: Optional[ast.AST]) -> Optional[ast.AST]:
        while node is not None and id(node) not in self.bodies:
            node = self.parents.get(id(node))
        return node

    def _expression(self, node: ast.AST) -> Optional[ast.AST]:
        """The smallest expression around a node that a call can take the place of; None if there is none."""
        at: Optional[ast.AST] = node
        if self._fixed(node):
            return None
        while at is not None and not isinstance(at, ast.stmt):
            inner: ast.AST = at.value if isinstance(at, ast.Starred) else at
            if self._wrappable(inner):
                return inner
            at = self.parents.get(id(at))
        return None

    def _wrappable(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Slice, ast.Starred, ast.FormattedValue)):
            return False
        if not isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
            return False
        parent = self.parents.get(id(node))
        if isinstance(node, ast.JoinedStr) and isinstance(parent, ast.FormattedValue):
            return False
        if isinstance(parent, ast.JoinedStr) or type(node).__name__ in ("Interpolation", "TemplateStr"):
            return False
        return not (isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts))

    def _fixed(self, node: ast.AST) -> bool:
        """Whether a node is part of an annotation, a pattern, a type parameter or a docstring, which must stay as they are."""
        child, parent = node, self.parents.get(id(node))
        while parent is not None and not isinstance(child, ast.stmt):
            if child is getattr(parent, "annotation", None) or child is getattr(parent, "returns", None):
                return True
            if child is getattr(parent, "pattern", None) or child in getattr(parent, "type_params", ()):
                return True
            if isinstance(parent, ast.Expr) and isinstance(child, ast.Constant):
                return True
            child, parent = parent, self.parents.get(id(parent))
        return False

    def _wrap_values(self) -> None:
        if self.values:
            wrapper = _Wrapper(self.values, self.asserts)
            wrapper.visit(self.tree)

    def _rebuild_bodies(self) -> None:
        for key, (body, owner) in self.owners.items():
            self._rebuild(body, owner, list(self.groups[key].values()))

    def _rebuild(self, body: List[Any], owner: ast.AST, groups: List[_Group]) -> None:
        out: List[List[Any]] = [[statement] for statement in body]
        free = _first_free(body, owner)
        for group in sorted(groups, key=lambda group: group.last - group.first):
            first = max(group.first, free)
            if first > group.last:
                out[free - 1].extend(self._before(group, body[free - 1]))
                continue
            inside = [statement for part in out[first : group.last + 1] for statement in part]
            if not inside:
                continue
            guarded = [_guarded(inside, group, body[first])] if self.guards else inside
            out[first] = [*self._before(group, body[first]), *guarded, *_after(group, body[group.last])]
            out[first + 1 : group.last + 1] = [[] for _ in range(first, group.last)]
        body[:] = [statement for part in out for statement in self._with_contexts(part)]

    def _before(self, group: _Group, at: Any) -> List[Any]:
        if not group.reach:
            return []
        return [_statement(_call("reach", [_constant(site, at) for site in group.reach], at), at)]

    def _with_contexts(self, statements: List[Any]) -> List[Any]:
        for statement in statements:
            for node in ast.walk(statement):
                for site in self.contexts.pop(id(node), ()):
                    at = node.body[0]  # type: ignore[attr-defined]
                    node.body.insert(0, _statement(_call("entered", [_constant(site, at)], at), at))  # type: ignore[attr-defined]
        return statements


class _Wrapper(ast.NodeTransformer):
    """Puts calls around expressions."""

    def __init__(self, values: Dict[int, List[Tuple[int, str]]], asserts: bool) -> None:
        self.values = values
        self.asserts = asserts
        self.in_assert = False

    def visit(self, node: ast.AST) -> Any:
        outside, self.in_assert = self.in_assert, self.in_assert or isinstance(node, ast.Assert)
        marks = self.values.get(id(node), ())
        made: Any = self.generic_visit(node)
        for site, how in marks:
            made = _call(how, [_call("enter", [_constant(site, node)], node), made], node)
        if marks and self.asserts and self.in_assert:
            made = _first_of_one(made, node)
        self.in_assert = outside
        return made


def _first_of_one(value: Any, at: Any) -> Any:
    """The value as an expression that pytest does not take apart."""
    index: Any = _constant(0, at)
    if sys.version_info < (3, 9):
        index = ast.Index(index)
    parts = ast.copy_location(ast.Tuple([value], ast.Load()), at)
    return ast.copy_location(ast.Subscript(parts, index, ast.Load()), at)


def _span(node: Any) -> Optional[Tuple[int, int, int, int]]:
    if getattr(node, "end_lineno", None) is None:
        return None
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _first_free(body: List[Any], owner: ast.AST) -> int:
    """Where statements may be put at the earliest: behind the docstring and imports from the future."""
    if not isinstance(owner, (ast.Module, ast.ClassDef, *_FUNCTION)) or body is not owner.body:
        return 0
    free = 0
    for statement in body:
        docstring = free == 0 and isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)
        if not docstring and not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        free += 1
    return free


def _guarded(statements: List[Any], group: _Group, at: Any) -> Any:
    """The statements in a `try` that tells us of exceptions and lets them pass."""
    raised = _statement(_call("raised", [_constant(site, at) for site in group.raised], at), at)
    handler = _handler("BaseException", [raised, ast.copy_location(ast.Raise(), at)], at)
    return ast.copy_location(ast.Try(statements, [handler], [], []), at)


def _handler(kind: str, body: List[Any], at: Any) -> Any:
    name = ast.copy_location(ast.Name(kind, ast.Load()), at)
    handler: Any = ast.copy_location(ast.ExceptHandler(name, None, body), at)
    handler.ours = True
    return handler


def _after(group: _Group, at: Any) -> List[Any]:
    return [_state(site, name, at) for site, name in group.state]


def _state(site: int, name: str, at: Any) -> Any:
    """Reads a name that the statements may have bound, or may not."""
    value = ast.copy_location(ast.Name(name, ast.Load()), at)
    told = _statement(_call("state", [_constant(site, at), _constant(name, at), value], at), at)
    handler = _handler("NameError", [ast.copy_location(ast.Pass(), at)], at)
    return ast.copy_location(ast.Try([told], [handler], [], []), at)


def _call(name: str, args: List[Any], at: Any) -> Any:
    function = ast.copy_location(ast.Name(NAMES[name], ast.Load()), at)
    return ast.copy_location(ast.Call(function, args, []), at)


def _constant(value: Any, at: Any) -> Any:
    return ast.copy_location(ast.Constant(value, None), at)


def _statement(expression: Any, at: Any) -> Any:
    return ast.copy_location(ast.Expr(expression), at)


class Compiler:
    """Compiles the files of the tree with their marks."""

    def __init__(self, root: str, sites: Dict[str, List[Json]], log: Log) -> None:
        self.root = os.path.realpath(root)
        self.marks = {path: [Mark.of(site) for site in found] for path, found in sites.items()}
        self.log = log

    def relative(self, path: str) -> Optional[str]:
        """The path below the root with ``/``; None outside."""
        real = os.path.realpath(path)
        if not real.startswith(self.root + os.sep):
            return None
        return os.path.relpath(real, self.root).replace(os.sep, "/")

    def code(self, data: bytes, path: str, relative: str) -> Any:
        """The code of a file; with a syntax error it is raised as ever."""
        self.log.write({"e": "load", "path": relative})
        marks = self.marks.get(relative)
        if marks:
            code, lost = _marked_code(data, path, marks)
            self._lost(lost, relative)
            return code
        return compile(data, path, "exec", dont_inherit=True)

    def tree(self, tree: ast.Module, path: str) -> None:
        """Mark a tree that pytest is about to rewrite."""
        relative = self.relative(path)
        if relative is not None:
            self.log.write({"e": "load", "path": relative})
            self._lost(instrument(tree, self.marks.get(relative, ()), asserts=True), relative)

    def _lost(self, sites: Iterable[int], relative: str) -> None:
        marks = {mark.id: mark for mark in self.marks.get(relative, ())}
        for site in sites:
            line, column = marks[site].span[:2]
            text = "{}:{}:{} cannot be watched".format(relative, line, column + 1)
            self.log.write({"e": "lost", "s": site, "text": text})

    def hook(self) -> None:
        """Have imports of files in the tree compiled here; their bytecode is not kept."""
        original = importlib.machinery.SourceFileLoader.get_code

        def get_code(loader: Any, fullname: str) -> Any:
            path = loader.get_filename(fullname)
            relative = self.relative(path)
            if relative is None:
                return original(loader, fullname)
            if relative not in self.marks or type(loader).source_to_code is not _PLAIN_LOADER:
                self.log.write({"e": "load", "path": relative})
                self._lost([mark.id for mark in self.marks.get(relative, ())], relative)
                return original(loader, fullname)
            return self.code(loader.get_data(path), path, relative)

        name = original.__code__.co_filename
        get_code.__code__ = get_code.__code__.replace(co_filename=name)  # Tracebacks leave out the import system's own frames.
        importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]

    def hook_paths(self) -> None:
        """Have what `runpy.run_path` runs compiled here too."""
        original = runner._get_code_from_file

        def get_code_from_file(*args: str) -> Any:
            found, path = original(*args), os.fsdecode(args[-1])
            relative = self.relative(path)
            if relative not in self.marks or relative is None:
                return found
            with open(path, "rb") as file:
                code = self.code(file.read(), path, relative)
            return (code, path) if isinstance(found, tuple) else code

        runner._get_code_from_file = get_code_from_file


def _marked_code(data: bytes, path: str, marks: Sequence[Mark]) -> Tuple[Any, List[int]]:
    """The code of a file and the marks that are lost in it: with blocks, else without, else as the file is."""
    for guards in (True, False):
        tree = ast.parse(data, path)
        try:
            lost = instrument(tree, marks, guards=guards)
            return compile(tree, path, "exec", dont_inherit=True), lost
        except (SyntaxError, ValueError, TypeError, RecursionError):
            continue
    return compile(data, path, "exec", dont_inherit=True), [mark.id for mark in marks]


_PLAIN_LOADER = importlib.machinery.SourceFileLoader.source_to_code


class _AfterImport:
    """A finder that runs something when a module has been imported, once."""

    def __init__(self, name: str, then: Callable[[], object]) -> None:
        self.name = name
        self.then = then

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute, then = loader.exec_module, self.then

            def exec_module(module: Any) -> None:
                vars(loader).pop("exec_module", None)
                execute(module)
                then()

            loader.exec_module = exec_module
        return spec


def when_imported(name: str, then: Callable[[], object]) -> None:
    """Run something as soon as a module is there; now, if it is."""
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, _AfterImport(name, then))


def prepare_jax(job: Json, log: Log) -> None:
    """What must happen between the import of JAX and the program's first use of it; if it fails, the program never ran."""
    try:
        _prepare_jax(job, log)
    except BaseException:
        traceback.print_exc()
        log.forget()
        _flush()
        os._exit(70)


def _prepare_jax(job: Json, log: Log) -> None:
    for name in ("jax._src.source_info_util", "jax._src.traceback_util"):
        exclude = getattr(sys.modules.get(name), "register_exclusion", None)
        if exclude is not None:
            exclude(__file__)  # JAX names the program's lines, not ours.
    if job.get("processes", 1) > 1:
        _connect(job)
    if job.get("world") == "legacy":
        install_legacy(job, log)


def _connect(job: Json) -> None:
    """Join the processes of the run; the program's own call for it then does nothing."""
    import jax

    distributed = importlib.import_module("jax.distributed")
    distributed.initialize(job["coordinator"], job["processes"], job["process"])

    @functools.wraps(distributed.initialize)
    def initialize(*args: object, **kwargs: object) -> None:
        """The processes are joined already."""

    for name in ("jax.distributed", "jax._src.distributed"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "initialize"):
            module.initialize = initialize  # type: ignore[attr-defined]
    assert jax.distributed is distributed


def legacy_package(folder: str) -> Any:
    """The emulation of the old JAX, from its folder, whether or not the project is installed here."""
    loaded = sys.modules.get("jaxmigrate.legacy")
    if loaded is not None:
        return loaded
    if importlib.util.find_spec("jaxmigrate") is None:
        stub = types.ModuleType("jaxmigrate")
        stub.__path__ = []
        sys.modules["jaxmigrate"] = stub
    init = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("jaxmigrate.legacy", init, submodule_search_locations=[folder])
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["jaxmigrate.legacy"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def choose_legacy(job: Json) -> Tuple[str, Optional[bool]]:
    """The old version to emulate, and whether its arrays are `jax.Array` (None: as in that version)."""
    settings = job["legacy"]
    version: str = settings.get("version", "auto")
    if version != "auto":
        return version, None
    legacy = legacy_package(settings["package"])
    texts = sources(job["root"], job.get("scope") or ())
    guessed: Tuple[str, Optional[bool]] = legacy.guess(texts, processes=job.get("processes", 1))
    return guessed


def install_legacy(job: Json, log: Log) -> None:
    """Turn the installed JAX into the old one, and hear of undefined behaviour."""
    version, jax_array = job["chosen"]
    legacy = legacy_package(job["legacy"]["package"])
    legacy.install(version, jax_array=jax_array)

    def hazard(kind: str, key: str, value: object = None) -> None:
        log.write({"e": "hazard", "kind": str(kind), "key": str(key), "v": _plain(value)})

    legacy.observe(hazard)
    log.write({"e": "legacy", "version": version, "jax_array": jax_array})


def _for_children(job: Json) -> None:
    """Let the Pythons that the program starts run on the old JAX too."""
    version, jax_array = job["chosen"]
    startup = os.path.join(os.path.dirname(job["legacy"]["package"]), "cli", "startup")
    if os.path.isdir(startup):
        paths = [startup, os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        os.environ["JAXMIGRATE_LEGACY"] = version
        os.environ["JAXMIGRATE_LEGACY_ARRAY"] = "" if jax_array is None else str(int(jax_array))


def _plain(value: Any) -> Any:
    """A value as JSON takes it."""
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return describe(value)


_NOT_SOURCES = frozenset(("__pycache__", "node_modules", "site-packages"))


def sources(root: str, scope: Sequence[str] = ()) -> Iterator[bytes]:
    """The Python files below a folder; only those of the scope, if it names any."""
    for path in [os.path.join(root, name) for name in scope] or _python_files(root):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            yield file.read()


def _python_files(root: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_SOURCES)
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".py"))


COUNT_FLAG = "--xla_force_host_platform_device_count"


def guard_flags(devices: Optional[int], configure: bool = False) -> None:
    """Keep the number of simulated devices when the program sets XLA_FLAGS to something without one.

    Args:
        devices: How many this process has; None leaves all as it is.
        configure: Whether JAX read its own variables before the program could set them, so that they must reach it now.
    """
    environment: Any = type(os.environ)
    set_item, delete_item = environment.__setitem__, environment.__delitem__

    def guarded_set(self: Any, key: Any, value: Any) -> None:
        set_item(self, key, value)
        if key in ("XLA_FLAGS", b"XLA_FLAGS") and devices is not None and COUNT_FLAG not in os.fsdecode(value):
            os.putenv("XLA_FLAGS", "{} {}={}".format(os.fsdecode(value), COUNT_FLAG, devices))
        if configure and isinstance(key, str) and key.startswith("JAX_"):
            configure_jax(key, value)

    def guarded_delete(self: Any, key: Any) -> None:
        delete_item(self, key)
        if key in ("XLA_FLAGS", b"XLA_FLAGS") and devices is not None:
            os.putenv("XLA_FLAGS", "{}={}".format(COUNT_FLAG, devices))

    environment.__setitem__, environment.__delitem__ = guarded_set, guarded_delete


def configure_jax(variable: str, text: str) -> None:
    """Tell an imported JAX what a variable would have told it at its import."""
    jax: Any = sys.modules.get("jax")
    name = variable.lower()
    have = jax.config.values.get(name) if jax is not None else None
    values: Dict[str, Any] = {"0": False, "false": False, "off": False, "1": True, "true": True, "on": True}
    value: Any = values.get(text.lower(), text) if isinstance(have, bool) else int(text) if isinstance(have, int) else text
    try:
        if jax is not None:
            jax.config.update(name, value)
    except Exception:
        return


class _Ending:
    """How the program ended; written when everything else is over."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.status: Optional[int] = None
        self.error: Optional[Json] = None
        self.interrupted = False

    def write(self) -> None:
        """The very last thing that the interpreter runs, being the first that was registered."""
        if os.getpid() != self.recorder.log.pid or self.status is None:
            return
        self.recorder.totals()
        self.recorder.log.write({"e": "end", "status": self.status, "x": self.error})
        if self.interrupted:
            _flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)


def run(job: Json, preloaded: bool = False) -> int:
    """Run the job's program in this process; its exit status.

    Args:
        job: The job.
        preloaded: Whether JAX was imported before the job was known.
    """
    log = Log(job["records"])
    if job.get("cwd"):
        os.chdir(job["cwd"])
    if job.get("platform", "cpu") == "cpu":
        guard_flags(job.get("devices_per_process"), configure=preloaded)
    compiler = Compiler(job["root"], job.get("sites") or {}, log)
    recorder = globals()["RECORDER"] = Recorder(log)
    ending = _Ending(recorder)
    atexit.register(ending.write)
    publish(recorder)
    compiler.hook()
    compiler.hook_paths()
    if job.get("world") == "legacy":
        job["chosen"] = choose_legacy(job)
        _for_children(job)
    start(job, log)
    when_imported("jax", functools.partial(prepare_jax, job, log))
    if job.get("world") == "legacy":
        when_imported("jaxlib", functools.partial(importlib.import_module, "jax"))
    return _program(job, compiler, recorder, ending)


def start(job: Json, log: Log) -> None:
    """Write who we are."""
    legacy = job["chosen"][0] if "chosen" in job else None
    record: Json = {"e": "start", "pid": os.getpid(), "python": ".".join(map(str, sys.version_info[:3]))}
    record.update({name: _version(name) for name in ("jax", "jaxlib", "numpy")})
    record.update(world=job.get("world", "plain"), legacy=legacy, program=job["program"])
    log.write(record)


def _version(distribution: str) -> Optional[str]:
    try:
        metadata: Any = importlib.import_module("importlib.metadata")
        return str(metadata.version(distribution))
    except Exception:
        return None


def _program(job: Json, compiler: Compiler, recorder: Recorder, ending: _Ending) -> int:
    ways = {"script": _script, "module": _module, "pytest": _pytest}
    try:
        status = ways[job["program"]](job, compiler, recorder)
    except SystemExit as exit_:
        status = _exit_status(exit_)
    except BaseException as error:
        recorder.blame(error)
        ending.error = dict(exception(error), **_where(error, compiler))
        ending.interrupted = isinstance(error, KeyboardInterrupt)
        _report(error)
        status = 130 if ending.interrupted else 1
    _join_threads()
    _final(job, recorder.log)
    _backend(recorder.log)
    ending.status = status & 0xFF
    return ending.status


def _where(error: BaseException, compiler: Compiler) -> Json:
    """The innermost place in the tree that an exception passed."""
    found: Json = {}
    for frame, line in traceback.walk_tb(error.__traceback__):
        relative = compiler.relative(frame.f_code.co_filename)
        if relative is not None:
            found = {"path": relative, "line": line}
    return found


def _exit_status(error: SystemExit) -> int:
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code)
    try:
        _flush()
        print(code, file=sys.stderr)
    except Exception:
        return 1
    return 1


def _report(error: BaseException) -> None:
    """Print an exception that nobody caught as the interpreter would."""
    strip(error)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
        _flush()
    except BaseException:
        sys.__excepthook__(type(error), error, error.__traceback__)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            continue


def _join_threads() -> None:
    """Wait for threads as the interpreter does before it ends, while what they leave can still be looked at."""
    shut_down: Any = threading._shutdown  # type: ignore[attr-defined]
    try:
        shut_down()
    except BaseException as error:
        _report(error)


def _main_module(path: str) -> types.ModuleType:
    """A `__main__` like that of a script."""
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __file__=path,
        __builtins__=builtins,
        __loader__=importlib.machinery.SourceFileLoader("__main__", path),
        __package__=None,
        __spec__=None,
        __cached__=None,
        __doc__=None,
    )
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    return main


_KEPT: List[Any] = []
"""Our own module, of which `sys.modules` does not hold a reference any more."""


def _become_main(main: types.ModuleType) -> None:
    _KEPT.append(sys.modules["__main__"])
    sys.modules["__main__"] = main


def _search(job: Json, first: str) -> None:
    added = [first, *(path for path in job.get("search") or () if path != first)]
    sys.path[:0] = added
    for folder in added:
        _make_way(folder)


def _make_way(folder: str) -> None:
    """Forget modules that only we have imported, where the program has its own of the same name."""
    try:
        names = {entry.partition(".")[0] for entry in os.listdir(folder) if entry.endswith(".py") or "." not in entry}
    except OSError:
        return
    for name in names & set(sys.modules) - __before__:
        spec = importlib.machinery.PathFinder.find_spec(name, [folder])
        if spec is not None and spec.origin is not None:
            del sys.modules[name]


def _script(job: Json, compiler: Compiler, recorder: Recorder) -> int:
    target = job["target"]
    path = os.path.abspath(target) if sys.version_info >= (3, 9) else target
    sys.argv[:] = [target, *job.get("args", ())]
    _search(job, os.path.dirname(os.path.realpath(target)))
    with open(target, "rb") as file:
        data = file.read()
    main = _main_module(path)
    _become_main(main)
    relative = compiler.relative(path)
    code = compiler.code(data, path, relative) if relative is not None else compile(data, path, "exec", dont_inherit=True)
    exec(code, main.__dict__)
    return 0


def _module(job: Json, compiler: Compiler, recorder: Recorder) -> int:
    sys.argv[:] = ["-m", *job.get("args", ())]
    _search(job, os.getcwd())
    try:
        _, spec, code = runner._get_module_details(job["target"])
    except ImportError as error:
        print("{}: {}".format(sys.executable, error), file=sys.stderr)
        return 1
    main = _main_module(spec.origin)
    main.__dict__.update(__loader__=spec.loader, __package__=spec.parent, __spec__=spec, __cached__=spec.cached)
    _become_main(main)
    sys.argv[0] = spec.origin
    exec(code, main.__dict__)
    return 0


class _Plugin:
    """Tells the recorder which test runs, and writes down how each ended."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.outcome = ""
        self.error: Optional[Json] = None

    def pytest_runtest_logstart(self, nodeid: str, location: object) -> None:
        self.recorder.context = nodeid
        self.outcome, self.error = "", None

    def pytest_runtest_makereport(self, item: object, call: Any) -> None:
        if call.excinfo is not None:
            self.recorder.blame(call.excinfo.value)
            self.error = self.error or exception(call.excinfo.value)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.outcome = "failed" if report.when == "call" else "error"
        elif self.outcome in ("", "passed"):
            self.outcome = report.outcome

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        error = None if self.outcome == "passed" else self.error
        self.recorder.log.write({"e": "test", "id": nodeid, "outcome": self.outcome, "x": error})
        self.recorder.context = ""


def _pytest(job: Json, compiler: Compiler, recorder: Recorder) -> int:
    _search(job, os.getcwd())
    sys.argv[:] = ["pytest", job["target"], *job.get("args", ())]
    _become_main(_main_module("pytest"))
    import pytest

    _hook_rewriting(compiler)
    options = ["-p", "no:randomly"]
    if importlib.util.find_spec("xdist") is not None and not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        options.extend(["-n", "0"])
    return int(pytest.main([*options, job["target"], *job.get("args", ())], plugins=[_Plugin(recorder)]))


def _hook_rewriting(compiler: Compiler) -> None:
    """Mark what pytest compiles itself, and keep it from storing that, or taking it from an earlier run."""
    rewrite: Any = importlib.import_module("_pytest.assertion.rewrite")
    original = rewrite.rewrite_asserts

    def rewrite_asserts(tree: Any, source: Any, path: Any = None, config: Any = None) -> None:
        compiler.tree(tree, path)
        original(tree, source, path, config)

    rewrite.rewrite_asserts = rewrite_asserts
    rewrite._read_pyc = lambda *args, **kwargs: None
    rewrite._write_pyc = lambda *args, **kwargs: False


_FINAL = frozenset(("array", "deleted", "ndarray", "scalar", "seq", "map", "set", "record"))


def _final(job: Json, log: Log) -> None:
    """Write the arrays, scalars and small containers among the globals of the program."""
    if job["program"] == "pytest" or os.getpid() != log.pid:
        return
    found = {}
    describer = _Describer()
    for name, value in list(vars(sys.modules["__main__"]).items()):
        if name.startswith("_"):
            continue
        describer.room = MAX_VALUE
        described = describer.value(value)
        if described["k"] in _FINAL:
            found[name] = described
    log.write({"e": "final", "v": found})


def _backend(log: Log) -> None:
    """Write on what the program ran, if it started a backend at all."""
    jax: Any = sys.modules.get("jax")
    bridges = [sys.modules.get(name) for name in ("jax._src.xla_bridge", "jax._src.lib.xla_bridge", "jax.lib.xla_bridge")]
    if jax is None or not any(getattr(bridge, "_backends", None) for bridge in bridges):
        return
    try:
        record = {"platform": jax.default_backend(), "devices": jax.device_count(), "local": jax.local_device_count()}
    except Exception:
        return
    log.write(dict(e="backend", **record))


def serve(package: Optional[str] = None) -> Optional[str]:
    """Fork a process for every job that standard input names; in the process, the path of its job; None at the end of input.

    The folder of the emulation is given where all jobs run on old JAX: what it imports is there in their processes then.

    A request is a line ``{"job": path, "env": {...}, "stdout": path, "stderr": path}``; the answers are ``{"pid": n}`` at once
    and ``{"status": n}`` at its end, negative for a signal.
    """
    requests, answers = _own_descriptors()
    with open(requests, "rb", closefd=True) as lines:
        import jax

        assert jax is not None
        if package is not None:
            importlib.import_module(legacy_package(package).__name__ + ".world")
        for line in iter(lines.readline, b""):
            request = json.loads(line)
            pid = os.fork()
            if pid == 0:
                os.close(answers)
                _start_child(request)
                return str(request["job"])
            _answer(answers, {"pid": pid})
            _, status = os.waitpid(pid, 0)
            _answer(answers, {"status": -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)})
    return None


def _own_descriptors() -> Tuple[int, int]:
    requests, answers = _raised_descriptor(os.dup(0)), _raised_descriptor(os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return requests, answers


def _answer(descriptor: int, record: Json) -> None:
    os.write(descriptor, _line(record))


def _start_child(request: Json) -> None:
    os.setsid()
    for number, path in ((1, request["stdout"]), (2, request["stderr"])):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    previous = dict(os.environ)
    os.environ.clear()
    os.environ.update(request["env"])
    for name, text in request["env"].items():
        if name.startswith("JAX_") and previous.get(name) != text:
            configure_jax(name, text)


def main(arguments: Sequence[str]) -> int:
    """Run the job named on the command line, or serve jobs."""
    preloaded = arguments[0] == "--serve"
    path = serve(*arguments[1:]) if preloaded else arguments[0]
    if path is None:
        return 0
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    return run(job, preloaded)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
