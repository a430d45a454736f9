"""Build every recorded array with the old classes on the installed JAX; writes {case: what differs from the recording}.

Run as ``golden_child.py gda|multiprocess|sharding_spec|probes`` with eight CPU devices, or as
``golden_child.py processes PROCESS PROCESSES ADDRESS`` once for each of several processes with eight devices together.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import traceback
import warnings
from collections.abc import Callable

import jax
import numpy as np
from jax.sharding import PartitionSpec as P

from jaxmigrate.legacy import arrays, gda, specs, state
from tests.legacy import recordings

GDA = recordings.recording("gda")
Array = arrays.GlobalDeviceArray


class Buffer:
    """Data on a device that need not exist."""

    def __init__(self, value: object, device: recordings.Device) -> None:
        self.value = np.asarray(value)
        self.shape, self.dtype = self.value.shape, self.value.dtype
        self._device = device

    def device(self) -> recordings.Device:
        return self._device

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.value


NUMBERS: dict[int, int] = {}
"""Id of a device -> its number in the recording, where that is another."""


def number(device: object) -> int:
    return NUMBERS.get(device.id, device.id)


def attempt(function: Callable[[], object]) -> object:
    try:
        return function()
    except Exception as exception:
        return {"error": {**recordings.error(exception), "module": type(exception).__module__}}


def data(case: dict) -> np.ndarray:
    """What the callbacks of a case cut their pieces from."""
    shape, size = case["global_shape"], int(np.prod(case["global_shape"]))
    numbers = np.arange(size)
    if case["dtype"] == "bool":
        numbers = numbers % 3 == 0
    if case["dtype"] == "int8":
        numbers = numbers % 120
    return numbers.reshape(shape).astype(jax.numpy.dtype(case["dtype"]))


def flat(value: object) -> list:
    """Data as the recordings hold them."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return [[number.real, number.imag] for number in array.ravel().tolist()]
    return array.astype(np.float32).ravel().tolist() if array.dtype.kind in "fV" else array.ravel().tolist()


@dataclasses.dataclass
class Seen:
    """What the callbacks of a case were called with."""

    whole: np.ndarray
    calls: list = dataclasses.field(default_factory=list)

    def one(self, index: tuple) -> np.ndarray:
        self.calls.append(recordings.written(index))
        return self.whole[index]

    def batch(self, indices: list) -> list:
        self.calls.append([recordings.written(index) for index in indices])
        return [self.whole[index] for index in indices]

    def groups(self, groups: list) -> list:
        self.calls.append([{"index": recordings.written(i), "devices": [number(d) for d in held]} for i, held in groups])
        return [gda.device_put(self.whole[index], device) for index, held in groups for device in held]


def shard_facts(shard: arrays.Shard, local: bool) -> dict:
    facts = {
        "index": recordings.written(shard.index),
        "replica_id": shard.replica_id,
        "process_index": shard.device.process_index,
        "data_is_none": shard.data is None,
    }
    if local:
        facts |= {"shard_shape": list(shard.data.shape), "data": flat(shard.data)}
    return facts | {"local": local}


def ids(shards: list) -> list[int]:
    return [number(shard.device) for shard in shards]


def same(one: object, other: object) -> bool:
    return ids(one.local_shards) == ids(other.local_shards) and all(
        np.array_equal(np.asarray(a.data), np.asarray(b.data)) for a, b in zip(one.local_shards, other.local_shards, strict=True)
    )


def local_data(array: Array) -> list[dict]:
    return [
        {
            "i": i,
            "device": number(arrays.device_of(array.local_data(i))),
            "same_as_addressable_data": array.local_data(i) is array.addressable_data(i),
            "same_as_local_shards_data": array.local_data(i) is shard.data,
        }
        for i, shard in enumerate(array.local_shards)
    ]


def facts(case: dict, array: Array) -> dict:
    """The members of an array as the recordings hold them."""
    local = set(ids(array.local_shards))
    return {
        "shape": list(array.shape),
        "ndim": array.ndim,
        "size": array.size,
        "dtype_out": str(array.dtype),
        "is_fully_replicated": array.is_fully_replicated,
        "is_fully_addressable": attempt(lambda: array.is_fully_addressable),
        "repr": repr(array),
        "str": str(array),
        "local_shards": ids(array.local_shards),
        "addressable_shards": ids(array.addressable_shards),
        "global_shards": ids(array.global_shards),
        "global_shards_is_local_shards": array.global_shards is array.local_shards,
        "global_shards_is_addressable_shards": array.global_shards is array.addressable_shards,
        "shards": {str(number(s.device)): shard_facts(s, number(s.device) in local) for s in array.global_shards},
        "local_data": local_data(array),
        "local_data_neg1_device": number(arrays.device_of(array.local_data(-1))),
        "local_data_out_of_range": attempt(lambda: array.local_data(len(array.local_shards))),
        "local_data_no_arg": attempt(array.local_data),
        "np_asarray": attempt(lambda: asarray(case, array)),
    }


def asarray(case: dict, array: Array) -> dict:
    value = np.asarray(array)
    return {
        "shape": list(value.shape),
        "equal_to_callback_data": bool(np.array_equal(value, data(case))),
        "dtype": str(value.dtype),
    }


def rebuilt(case: dict, mesh: object, spec: P, array: Array) -> dict:
    """The other two classmethods."""
    whole = data(case)
    batch, groups = Seen(whole), Seen(whole)
    batched = Array.from_batched_callback(array.shape, mesh, spec, batch.batch)
    with_devices = attempt(lambda: Array.from_batched_callback_with_devices(array.shape, mesh, spec, groups.groups))
    failed = isinstance(with_devices, dict)
    found = {
        "from_batched_callback_calls": batch.calls,
        "batched_equals_callback": same(array, batched),
        "from_batched_callback_with_devices_calls": groups.calls,
        "from_batched_callback_with_devices_result": with_devices if failed else "ok",
    }
    return found if failed else found | {"batched_with_devices_equals_callback": same(array, with_devices)}


def placed(case: dict, mesh: object, spec: P) -> dict:
    """Everything that was recorded of a case."""
    shape = tuple(case["global_shape"])
    found = {
        "get_shard_shape": attempt(lambda: list(arrays.get_shard_shape(shape, mesh, spec))),
        "get_shard_indices": attempt(lambda: by_id(arrays.get_shard_indices(shape, mesh, spec))),
    }
    seen = Seen(data(case))
    array = attempt(lambda: Array.from_callback(shape, mesh, spec, seen.one))
    if isinstance(array, dict):
        return found | {"result": "error", "error": {**array["error"], "raised_by": "GlobalDeviceArray.from_callback"}}
    return found | {"result": "ok", "from_callback_calls": seen.calls} | facts(case, array) | rebuilt(case, mesh, spec, array)


def by_id(indices: dict) -> dict:
    return {str(number(device)): recordings.written(index) for device, index in indices.items()}


def differences(expected: dict, found: dict) -> list[str]:
    found = json.loads(json.dumps(found))
    return [f"{key}: {found[key]} != {expected[key]}" for key in found if key in expected and found[key] != expected[key]]


def real_mesh(case: dict) -> jax.sharding.Mesh:
    return jax.sharding.Mesh(recordings.device_array(case, jax.devices()), tuple(case["mesh"]["axis_names"]))


def spelled(case: dict) -> dict:
    """A recording without the text of a spec that today's PartitionSpec cannot hold: it takes ('x',) for 'x'."""
    if "repr" in case and any(isinstance(entry, list) and len(entry) < 2 for entry in case["spec"]):
        return {key: value for key, value in case.items() if key != "repr"}
    return case


def gda_cases() -> dict:
    return {
        case["id"]: differences(spelled(case), placed(case, real_mesh(case), P(*recordings.spec(case["spec"]))))
        for case in GDA["cases"]
    }


def multiprocess_cases() -> dict:
    gda.device_put = Buffer
    return {
        case["id"]: differences(case, placed(case, recordings.fake_mesh(case, case["me"]), P(*recordings.spec(case["spec"]))))
        for case in GDA["multiprocess_cases"]
    }


def devices_by_process(case: dict) -> list:
    """The devices that stand for those of a case, in the order of the recording's ids."""
    left = {process: [d for d in jax.devices() if d.process_index == process] for process in range(jax.process_count())}
    return [left[process].pop(0) for process in case["process_of_device"]]


def fits(case: dict) -> bool:
    held = [case["process_of_device"].count(process) for process in range(jax.process_count())]
    return case["me"] == jax.process_index() and held == [8 // jax.process_count()] * jax.process_count()


def on_real_processes(case: dict) -> list[str]:
    devices = devices_by_process(case)
    NUMBERS.update({device.id: i for i, device in enumerate(devices)})
    mesh = jax.sharding.Mesh(recordings.device_array(case, devices), tuple(case["mesh"]["axis_names"]))
    spec = P(*recordings.spec(case["spec"]))
    found = differences(spelled(case), placed(case, mesh, spec))
    array = Array.from_callback(tuple(case["global_shape"]), mesh, spec, lambda index: data(case)[index])
    shards = arrays.as_global_array(array).addressable_shards
    return [*found, *same_places(shards, array.local_shards)]


def same_places(new: list, old: list) -> list[str]:
    """What the installed JAX says of the same data that the old rules do not."""
    facts = [[(number(s.device), s.replica_id, s.index) for s in shards] for shards in (new, old)]
    return [] if facts[0] == facts[1] else [f"{facts[0]} is not {facts[1]}"]


def processes() -> dict:
    return {case["id"]: on_real_processes(case) for case in GDA["multiprocess_cases"] if fits(case)}


def part(text: str) -> object:
    return eval(
        text, {name: getattr(specs, name) for name in ("NoSharding", "Chunked", "Unstacked", "ShardedAxis", "Replicated")}
    )


def sharded(case: dict) -> dict:
    """What was recorded of a ShardingSpec and the ShardedDeviceArray made with it."""
    spec = specs.ShardingSpec(map(part, case["spec"]["sharding"]), map(part, case["spec"]["mesh_mapping"]))
    shape = tuple(case["shape"])
    mesh_shape = attempt(lambda: list(spec.mesh_shape))
    found = {"repr": repr(spec), "mesh_shape": mesh_shape, "op_sharding": attempt(spec.sharding_proto)}
    found["op_sharding"] = found["op_sharding"] if isinstance(found["op_sharding"], dict) else "proto"
    indices = attempt(lambda: specs.spec_to_indices(shape, spec))
    if isinstance(indices, dict):
        return found | indices
    return found | {"indices": [recordings.written(i) for i in indices]} | built(case, spec, indices)


def built(case: dict, spec: specs.ShardingSpec, indices: tuple) -> dict:
    shape = tuple(case["shape"])
    whole = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    if len(indices) > len(jax.devices()):
        return {}
    buffers = [jax.device_put(whole[i], d) for i, d in zip(indices, jax.devices(), strict=False)]
    array = arrays.make_sharded_device_array(jax.eval_shape(lambda: whole), spec, buffers)
    sharding = attempt(lambda: type(array.sharding).__name__)
    expected = case["sda"]["sharding"]
    return {
        "one_replica_buffer_indices": array.one_replica_buffer_indices,
        "buffer_shapes": [list(buffer.shape) for buffer in array.device_buffers],
        "buffer_data": [flat(buffer) for buffer in array.device_buffers],
        "sda": {
            "shape": list(array.shape),
            "dtype": str(array.dtype),
            "ndim": array.ndim,
            "size": array.size,
            "indices_equal": array.indices == indices,
            "value_equal": bool(np.array_equal(np.asarray(array), whole)),
            "device_buffers_is_given": array.device_buffers is buffers,
            "attrs": [name for name in ("aval", "device_buffers", "indices", "sharding_spec") if hasattr(array, name)],
            "sharding": sharding if isinstance(sharding, str) else {k: sharding["error"][k] for k in expected},
            "sharding_devices": [d.id for d in array.sharding.devices.flat] if isinstance(sharding, str) else None,
        },
    }


def trimmed(case: dict) -> dict:
    """A recording without what only the protocol buffer's text held."""
    case = {**case, "op_sharding": case["op_sharding"] if isinstance(case["op_sharding"], dict) else "proto"}
    if "error" in case["op_sharding"]:
        case["op_sharding"]["error"].setdefault("module", "builtins")
    if "error" in case:
        case["error"].setdefault("module", "builtins")
    if "sda" in case:
        case["sda"] = {"sharding_devices": None, **case["sda"]}
    return case


def sharding_spec_cases() -> dict:
    return {case["id"]: differences(trimmed(case), sharded(case)) for case in recordings.recording("sharding_spec")["specs"]}


MESH = ((4, 2), ("x", "y"))
WHOLE = np.arange(16, dtype=np.int32).reshape(8, 2)


class Probes:
    """What the probes of the recording were made with."""

    def __init__(self) -> None:
        self.mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(MESH[0]), MESH[1])
        self.pieces = [WHOLE[2 * (i // 2) : 2 * (i // 2) + 2, i % 2 : i % 2 + 1] for i in range(8)]
        self.buffers = [jax.device_put(piece, d) for piece, d in zip(self.pieces, jax.devices(), strict=True)]
        self.gda = Array((8, 2), self.mesh, P("x", "y"), self.buffers)
        self.gone = Array.from_callback((8, 2), self.mesh, P("x", "y"), self.cut)

    def cut(self, index: tuple) -> np.ndarray:
        return WHOLE[index]

    def made(self, *, shape: object = (8, 2), axes: object = None, buffers: object = None) -> str:
        """Construct, and look at where the data lie."""
        axes = P("x", "y") if axes is None else axes
        array = Array(shape, self.mesh, axes, self.buffers if buffers is None else buffers)
        assert array.local_shards
        return repr(array)

    def mixed(self) -> list:
        return [*self.buffers[:-1], jax.device_put(self.pieces[-1].astype(np.float32), jax.devices()[-1])]

    def on(self, make: Callable[[], object]) -> type:
        with state.array_flag(True):
            return type(make())

    def set_dtype(self) -> None:
        array = Array((8, 2), self.mesh, P("x", "y"), self.buffers)
        array.dtype = np.dtype(np.float32)
        assert array.dtype == np.float32

    def member(self, name: str) -> str:
        value = getattr(self.gda, name)
        return "PartitionSpec" if isinstance(value, P) else type(value).__name__


def probe(p: Probes, name: str) -> object:
    """The value of a probe, or its error."""
    of = Array.from_callback
    if name.startswith("attr_") and name != "attr_set":
        return p.member(name.removeprefix("attr_"))
    table: dict[str, Callable[[], object]] = {
        "ctor_ok": lambda: p.made(),
        "ctor_kw_ok": lambda: repr(
            Array(global_shape=(8, 2), global_mesh=p.mesh, mesh_axes=P("x", "y"), device_buffers=p.buffers)
        ),
        "ctor_wrong_device_order": lambda: p.made(buffers=p.buffers[::-1]),
        "ctor_too_few_buffers": lambda: p.made(buffers=p.buffers[:4]),
        "ctor_no_buffers": lambda: p.made(buffers=[]),
        "ctor_wrong_shard_shape": lambda: p.made(shape=(16, 2)),
        "ctor_mixed_dtypes": lambda: p.made(buffers=p.mixed()),
        "ctor_list_axes": lambda: p.made(axes=["x", "y"]),
        "ctor_tuple_axes": lambda: p.made(axes=("x", "y")),
        "ctor_list_shape": lambda: p.made(shape=[8, 2]),
        "cb_list_axes": lambda: of((8, 2), p.mesh, ["x", "y"], p.cut),
        "cb_tuple_axes": lambda: of((8, 2), p.mesh, ("x", "y"), p.cut),
        "cb_none_axes": lambda: of((8, 2), p.mesh, None, p.cut),
        "cb_list_shape": lambda: of([8, 2], p.mesh, P("x"), p.cut),
        "cb_int_shape": lambda: of(8, p.mesh, P("x"), p.cut),
        "cb_wrong_shape": lambda: of((8, 2), p.mesh, P("x"), lambda index: WHOLE),
        "cb_python_scalar": lambda: float(of((), p.mesh, P(), lambda index: 3.0).local_data(0)),
        "cb_float64": lambda: of((8, 2), p.mesh, P("x"), lambda index: WHOLE[index].astype(np.float64)).dtype,
        "batched_wrong_len": lambda: Array.from_batched_callback((8, 2), p.mesh, P("x", "y"), lambda cuts: p.pieces[:4]),
        "eq": lambda: p.gda == p.gda,
        "ne": lambda: p.gda != p.gda,
        "hash": lambda: hash(p.gda),
        "add": lambda: p.gda + 1,
        "getitem": lambda: p.gda[0],
        "len": lambda: len(p.gda),
        "iter": lambda: iter(p.gda),
        "float": lambda: float(p.gda),
        "bool": lambda: bool(p.gda),
        "astype": lambda: p.gda.astype,
        "np_asarray": lambda: np.asarray(p.gda),
        "np_asarray_dtype": lambda: np.asarray(p.gda, np.float32).dtype,
        "sharding": lambda: p.gda.sharding == jax.sharding.NamedSharding(p.mesh, P("x", "y")),
        "attr_set": lambda: setattr(p.gda, "foo", 1),
        "dtype_set": lambda: p.set_dtype(),
        "shard_fields": lambda: [f.name for f in dataclasses.fields(arrays.Shard)],
        "shard_frozen": lambda: setattr(p.gda.local_shards[0], "data", None),
        "delete": lambda: p.gone.delete(),
        "after_delete_is_deleted": lambda: p.gone.is_deleted(),
        "after_delete_shape": lambda: p.gone.shape,
        "after_delete_local_shards": lambda: p.gone.local_shards,
        "after_delete_local_data": lambda: p.gone.local_data(0),
        "after_delete_isrep": lambda: p.gone.is_fully_replicated,
        "jax_array_on_from_callback_type": lambda: p.on(lambda: of((8, 2), p.mesh, P("x"), p.cut)),
        "jax_array_on_ctor_type": lambda: p.on(lambda: Array((8, 2), p.mesh, P("x", "y"), p.buffers)),
    }
    return table[name]()


RESTATED = {
    "cb_python_scalar": "3.0",
    "sharding": "True",
    "shard_fields": "['device', 'index', 'replica_id', 'data']",
    "jax_array_on_from_callback_type": "<class 'jaxlib._jax.ArrayImpl'>",
}
"""Answers that name what the installed JAX has another name for."""


def probed(p: Probes, recorded: dict) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = attempt(lambda: probe(p, recorded["name"]))
    found = answer if isinstance(answer, dict) else {"ok": repr(answer) if not recorded["name"].startswith("ctor") else answer}
    expected = {key: value for key, value in recorded.items() if key in ("ok", "error")}
    if "ok" in expected:
        expected["ok"] = RESTATED.get(recorded["name"], expected["ok"])
    said = sorted({f"{w.category.__name__}: {w.message}" for w in caught if issubclass(w.category, DeprecationWarning)})
    wrong = [] if said == sorted(set(recorded["warnings"])) else [f"warned {said}"]
    return wrong if found == expected else [*wrong, f"{found} != {expected}"]


def probes() -> dict:
    made_with = Probes()
    return {recorded["name"]: probed(made_with, recorded) for recorded in GDA["api"]}


KINDS = {
    "gda": gda_cases,
    "multiprocess": multiprocess_cases,
    "sharding_spec": sharding_spec_cases,
    "probes": probes,
    "processes": processes,
}


def main() -> None:
    warnings.simplefilter("ignore")
    state.version = (0, 4, 6)
    kind, *place = sys.argv[1:]
    if place:
        jax.distributed.initialize(place[2], int(place[1]), int(place[0]))
    arrays.register()
    try:
        answer = KINDS[kind]()
    except Exception:
        answer = {"crashed": [traceback.format_exc()]}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
