"""Recorded values against each other: what is the same, what differs, and in which aspect."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmigrate.verify.compare import compare, examine
from jaxmigrate.verify.model import Tolerance
from jaxmigrate.verify.texts import same_text
from jaxmigrate.verify.tolerance import bounds, tolerances
from tests.verify.values import X, abstract, array, digest, ndarray, opaque, scalar, seq, spec

ml_dtypes = pytest.importorskip("ml_dtypes")


def aspects(before: Any, after: Any, **options: Any) -> list[str]:
    found = examine(before, after, **options).differences
    # Whatever differs in one direction must differ in the other.
    back = compare(after, before)
    assert bool(back) == bool(compare(before, after))
    return [d.aspect for d in found]


def test_old_and_new_array_types_are_one_family() -> None:
    old = array(X, 8, type="GlobalDeviceArray", weak=None, committed=None)
    assert aspects(old, array(X, 8)) == []
    assert examine(old, array(X, 8)).facts == 1


def test_unknown_weak_type_and_commitment_are_no_difference_but_known_ones_are() -> None:
    assert aspects(array(X, weak=True), array(X)) == ["weak type"]
    assert aspects(array(X, committed=False), array(X)) == ["committed"]
    assert aspects(array(X, weak=None), array(X, weak=True)) == []


@pytest.mark.parametrize(
    ("change", "aspect"),
    [
        ({"shape": [2, 8]}, "shape"),
        ({"dtype": "bfloat16"}, "dtype"),
        ({"addressable": False}, "fully addressable"),
        ({"replicated": False}, "fully replicated"),
    ],
)
def test_exact_aspects(change: dict[str, Any], aspect: str) -> None:
    assert aspect in aspects(array(X), array(X) | change)


def test_other_devices_are_named_with_a_picture() -> None:
    (found,) = compare(array(X, 2, devices=[0, 1]), array(X, 2, devices=[0, 2]))
    assert (found.aspect, found.before, found.after) == ("devices", "devices 0, 1", "devices 0, 2")
    assert found.placements is not None
    assert found.placements[1].shards == ((0, ((0, 4), (0, 2))), (2, ((4, 8), (0, 2))))


def test_buffers_in_another_order_differ_in_placement() -> None:
    (found,) = compare(array(X, 4), array(X, 4, devices=[3, 2, 1, 0]))
    assert found.aspect == "placement"
    assert found.before.startswith("device 0: [0:2, 0:2]")
    assert found.after.startswith("device 0: [6:8, 0:2]")


def test_sharded_against_replicated() -> None:
    replicated = array(X, devices=[0, 1, 2, 3])
    assert aspects(array(X, 4), replicated) == ["fully replicated", "placement"]


def test_a_whole_dimension_may_be_spelled_without_bounds() -> None:
    unbounded = array(X, 2)
    for shard in unbounded["shards"]:
        shard["i"][1] = [None, None]
    assert aspects(unbounded, array(X, 2)) == []


def test_replica_ids_count_where_both_are_known() -> None:
    old, new = array(X, devices=[0, 1]), array(X, devices=[0, 1])
    new["shards"][0]["r"], new["shards"][1]["r"] = 1, 0
    assert aspects(old, new) == ["replica id"]
    new["shards"][0]["r"] = new["shards"][1]["r"] = None
    assert aspects(old, new) == []


def test_replicas_of_old_sharded_arrays_are_counted_on_the_devices_that_are_there() -> None:
    old, new = array(X, devices=[4, 5], type="ShardedDeviceArray"), array(X, devices=[4, 5])
    old["shards"][0]["r"], old["shards"][1]["r"] = 4, 5
    assert aspects(old, new) == []
    old["shards"][0]["r"], old["shards"][1]["r"] = 5, 4
    assert aspects(old, new) == ["replica id"]


def test_copies_that_diverge_on_one_device_differ() -> None:
    old, new = array(X, devices=[0, 1]), array(X, devices=[0, 1])
    new["shards"][1]["v"] = digest(X + 1)
    (found,) = compare(old, new)
    assert (found.aspect, found.where) == ("values", "on device 1")


def test_without_the_whole_value_shards_decide() -> None:
    wrong = array(X + np.float32(1), 4)
    assert aspects(array(X, 4) | {"v": None}, array(X, 4) | {"v": None}) == []
    assert aspects(array(X, 4) | {"v": None}, wrong | {"v": None}) == ["values"]


def test_the_first_element_that_differs_is_named() -> None:
    other = X.copy()
    other[3, 1] = -1
    (found,) = compare(array(X), array(other))
    assert (found.before, found.after) == ("[3, 1] = 7 (1 of 16 differ)", "[3, 1] = -1")


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128"]
)
def test_rounding_is_allowed_and_more_is_not(dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    values = np.array([1.0, -2.0, 0.5, 3.0]).astype(kind)
    near = (
        np.nextafter(values.real, np.inf)
        if values.dtype.kind in "fc" and dtype[:5] in ("float", "compl") and dtype[:6] != "float8"
        else values
    )
    assert aspects(ndarray(values), ndarray(near.astype(kind))) == []
    assert aspects(
        ndarray(values), ndarray((values.astype(np.complex128 if kind.kind == "c" else np.float64) * 4).astype(kind))
    ) == ["values"]


def test_integers_and_booleans_are_exact() -> None:
    big = np.array([2**53], np.int64)
    assert aspects(ndarray(big), ndarray(big + 1)) == ["values"]
    assert aspects(ndarray(np.array([True])), ndarray(np.array([False]))) == ["values"]


@pytest.mark.parametrize("dtype", ["int4", "uint4", "V4", "S3", "U2", "datetime64[s]"])
def test_dtypes_without_a_tolerance_are_exact(dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a, b = (np.frombuffer(bytes([i, 0, 0, 0]) * kind.itemsize, np.uint8)[: 4 * kind.itemsize].view(kind)[:1] for i in (1, 2))
    assert aspects(ndarray(a), ndarray(a)) == []
    assert aspects(ndarray(a), ndarray(b)) == ["values"]


def test_nan_inf_and_signed_zero() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 0.0], np.float32)
    other = np.array([-np.nan, np.inf, -np.inf, -0.0], np.float32)
    assert aspects(ndarray(odd), ndarray(other)) == []
    assert aspects(ndarray(odd), ndarray(np.array([np.nan, -np.inf, -np.inf, 0.0], np.float32))) == ["values"]
    assert aspects(ndarray(odd), ndarray(np.array([0, np.inf, -np.inf, 0.0], np.float32))) == ["values"]


def test_complex_with_nan_parts() -> None:
    a = np.array([complex(np.nan, 1), complex(1, np.inf)], np.complex64)
    assert aspects(ndarray(a), ndarray(a.copy())) == []
    assert aspects(ndarray(a), ndarray(np.array([complex(np.nan, 2), complex(1, np.inf)], np.complex64))) == ["values"]


def test_given_tolerances_replace_those_of_the_dtype() -> None:
    a, b = ndarray(np.float32([1.0])), ndarray(np.float32([1.01]))
    assert aspects(a, b) == ["values"]
    assert compare(a, b, Tolerance(rtol=0.1)) == []
    assert bounds("float64", Tolerance(atol=0.5)) == (1e-12, 0.5)
    assert (
        tolerances({"float32"}, Tolerance(atol=0))
        == "floats may differ by rtol/atol: float32 1e-05/0; everything else not at all"
    )


def test_large_arrays_are_equal_by_hash_or_by_samples() -> None:
    large = np.linspace(1, 2, 5000, dtype=np.float32)
    assert examine(ndarray(large), ndarray(large)).sampled == 0
    near = examine(ndarray(large), ndarray(large * np.float32(1.0000002)))
    assert (near.differences, near.sampled) == ([], 1)
    assert aspects(ndarray(large), ndarray(large + 1)) == ["values"]


def test_one_element_among_millions_shows_in_the_hash() -> None:
    large = np.linspace(1, 2, 5000, dtype=np.float32)
    other = large.copy()
    other[1] = 7
    assert "hash" in compare(ndarray(large), ndarray(other))[0].before


def test_large_arrays_that_were_not_hashed_are_compared_by_samples() -> None:
    large, other = ndarray(np.arange(5000)), ndarray(np.arange(5000) + 1)
    large["v"]["h"] = other["v"]["h"] = None
    assert aspects(large, other) == ["values"]
    assert examine(large, large).sampled == 1


def test_arrays_of_objects_by_their_items() -> None:
    objects = {"k": "ndarray", "shape": [1], "dtype": "object", "v": None, "items": [scalar(1)]}
    assert aspects(objects, objects) == []
    assert aspects(objects, objects | {"items": [scalar(2)]}) == ["value"]


def test_records_by_the_name_of_their_class_and_their_fields() -> None:
    state = {"k": "record", "t": "pkg.a._State", "v": {"w": scalar(1)}}
    assert aspects(state, state | {"t": "pkg.b.State"}) == []
    assert aspects(state, state | {"t": "pkg.a.Other"}) == ["type"]
    assert aspects(state, state | {"v": {}}) == ["fields"]
    (found,) = compare(state, state | {"v": {"w": scalar(2)}})
    assert found.where == ".w"


def test_long_texts_and_containers_that_were_cut() -> None:
    text = {"k": "scalar", "t": "str", "v": "a", "n": 70000, "h": "x"}
    assert aspects(text, text | {"h": "y"}) == ["value"]
    assert aspects({"k": "set", "n": 300, "v": []}, {"k": "set", "n": 300, "v": []}) == []
    assert examine({"k": "set", "n": 300, "v": []}, {"k": "set", "n": 300, "v": []}).cut
    pairs = [[scalar(i), scalar(i)] for i in range(256)]
    assert aspects({"k": "map", "t": "dict", "n": 300, "v": pairs}, {"k": "map", "t": "dict", "n": 301, "v": pairs}) == ["length"]
    many = [scalar(i) for i in range(256)]
    assert aspects(seq(*many) | {"n": 300}, seq(*many) | {"n": 301}) == ["length"]


def test_elements_beyond_those_recorded_by_their_hash() -> None:
    long = seq(*[scalar(i) for i in range(256)]) | {"n": 1000}
    assert examine(long, long).cut
    hashed = long | {"h": "a"}
    assert not examine(hashed, hashed).cut
    assert aspects(hashed, long | {"h": "b"}) == ["elements"]


def test_sums_show_what_lies_between_the_samples() -> None:
    large = np.linspace(1, 2, 5000, dtype=np.float32)
    near = ndarray(large * np.float32(1.0000002))
    sums = [[1.0, 2.0, 7500.0, 7500.0, 0]]
    old = ndarray(large)
    old["v"]["m"], near["v"]["m"] = sums, [[1.0000002, 2.0000004, 7500.002, 7500.002, 0]]
    assert aspects(old, near) == []
    for part in ([1.0, 2.0, 7501.0, 7501.0, 0], [0.9, 2.0, 7500.0, 7500.0, 0], [1.0, 2.0, 7500.0, 7500.0, 1]):
        near["v"]["m"] = [part]
        assert aspects(old, near) == ["values"]
    old["v"]["m"] = near["v"]["m"] = [[None, None, 0.0, 0.0, 5000]]
    assert aspects(old, near) == []


def test_an_instance_is_no_class_and_a_module_neither() -> None:
    assert aspects(opaque("H", "object"), opaque("H", "class")) == ["type"]
    assert aspects(opaque("m", "module"), opaque("f")) == ["type"]
    assert aspects(opaque("f", "object"), opaque("f")) == []
    assert aspects(opaque("typing._UnionGenericAlias", "object"), opaque("jax.Array", "class")) == []


def test_slices() -> None:
    whole = {"k": "slice", "v": [None, None, None]}
    assert aspects(whole, {"k": "slice", "v": [0, None, 1]}) == []
    assert aspects(whole, {"k": "slice", "v": [1, None, None]}) == ["index"]
    assert aspects(whole, {"k": "slice", "v": [0, 4, None]}) == ["index"]


def test_shardings_by_mesh_or_devices() -> None:
    mesh = {"k": "mesh", "axes": [["x", 2]], "devices": [0, 1]}
    named = {"k": "sharding", "type": "MeshPspecSharding", "mesh": mesh, "spec": ["x"]}
    assert aspects(named, named | {"type": "NamedSharding"}) == []
    assert aspects(named, named | {"mesh": mesh | {"devices": [1, 0]}}) == ["mesh devices"]
    single = {"k": "sharding", "type": "PmapSharding", "mesh": None, "spec": None, "devices": [0, 1]}
    assert aspects(single, named) == []
    assert aspects(single, single | {"devices": [1, 0]}) == ["devices"]


def test_arguments_and_variables_of_flags_that_are_gone() -> None:
    old, new = seq(scalar("train.py"), scalar("--jax_array"), scalar("--steps=3")), seq(scalar("train.py"), scalar("--steps=3"))
    assert aspects(old, new) == []
    assert aspects(old, seq(scalar("train.py"))) == ["length"]
    assert aspects(old, seq(scalar("train.py"), scalar("--steps=4"))) == ["value"]
    assert aspects(seq(scalar("--steps=3")), seq()) == ["length"]
    env = {"k": "map", "t": "dict", "n": 2, "v": [[scalar("JAX_ARRAY"), scalar("1")], [scalar("HOME"), scalar("/")]]}
    assert aspects(env, env | {"n": 1, "v": env["v"][1:]}) == []
    assert aspects(env, env | {"n": 1, "v": env["v"][:1]}) == ["keys"]


def test_variables_that_we_set_are_not_the_programs() -> None:
    ours = options(JAXMIGRATE_RUN=scalar("1"), TMPDIR=scalar("/a"), A=scalar("1"))
    assert aspects(ours, options(JAXMIGRATE_RUN=scalar("2"), TMPDIR=scalar("/b"), A=scalar("1"))) == []
    assert aspects(ours, options(JAXMIGRATE_RUN=scalar("2"), TMPDIR=scalar("/b"), A=scalar("2"))) == ["value"]
    assert aspects(options(TMPDIR=scalar("/a")), options(TMPDIR=scalar("/b"))) == ["value"]


def test_large_integers_without_a_differing_sample_still_differ_by_hash() -> None:
    large = np.arange(5000)
    other = large.copy()
    other[1] = 7
    (found,) = compare(ndarray(large), ndarray(other))
    assert "hash" in found.before


def test_array_against_numpy_and_numpy_against_python_are_differences_of_type() -> None:
    assert aspects(array(X), ndarray(X)) == ["type"]
    assert aspects(ndarray(np.float32(1)), scalar(1.0)) == ["type"]
    assert aspects(array(np.float32(1)), ndarray(np.float32(1))) == ["type"]
    assert aspects(scalar(1), scalar(True)) == ["type"]
    assert aspects(scalar(None), array(X)) == ["type"]


def test_isinstance_outcomes() -> None:
    assert aspects(scalar(True), scalar(False)) == ["value"]
    assert aspects(scalar(True), scalar(True)) == []


def test_python_floats_that_came_from_float32_have_its_tolerance() -> None:
    a, b = float(np.float32(1.0)), float(np.float32(1.000001))
    assert aspects(scalar(a), scalar(b)) == []
    assert aspects(scalar(1.1), scalar(1.1000001)) == ["value"]
    assert aspects(scalar(float("nan")), scalar(float("nan"))) == []
    assert aspects(scalar(float("inf")), scalar(float("-inf"))) == ["value"]


def test_text_with_the_name_of_an_array_type_is_the_same_text() -> None:
    assert aspects(scalar("DeviceArray([1.], dtype=float32)"), scalar("Array([1.], dtype=float32)")) == []
    assert aspects(scalar("left"), scalar("right")) == ["value"]


def test_list_against_tuple_and_length() -> None:
    assert aspects(seq(scalar(1)), seq(scalar(1), t="tuple")) == ["type"]
    assert aspects(seq(scalar(1)), seq(scalar(1), scalar(2))) == ["length"]
    (found,) = compare(seq(scalar(1), seq(scalar(2))), seq(scalar(1), seq(scalar(3))))
    assert found.where == "[1][0]"


def test_dicts_and_sets_have_no_order() -> None:
    a = {"k": "map", "t": "dict", "v": [[scalar("a"), scalar(1)], [scalar("b"), scalar(2)]]}
    assert aspects(a, a | {"v": a["v"][::-1]}) == []
    (found,) = compare(a, a | {"v": a["v"][:1]})
    assert (found.aspect, found.where) == ("keys", "['b']")
    s = {"k": "set", "v": [scalar(1), scalar(2)]}
    assert aspects(s, s | {"v": s["v"][::-1]}) == []
    assert aspects(s, {"k": "set", "v": [scalar(1), scalar(3)]}) == ["elements", "elements"]


def options(**values: Any) -> dict[str, Any]:
    return {"k": "map", "t": "dict", "n": len(values), "v": [[scalar(name), value] for name, value in values.items()]}


def test_renamed_keywords_are_the_same_keys() -> None:
    def found(before: Any, after: Any) -> list[str]:
        return [d.aspect for d in compare(before, after)]

    assert found(options(in_axis_resources=spec("x")), options(in_shardings=spec("x"))) == []
    assert found(options(in_axis_resources=spec("x")), options(in_shardings=spec("y"))) == ["spec"]
    assert found(options(in_axis_resources=spec("x")), options(out_shardings=spec("x"))) == ["keys", "keys"]
    assert found(options(shape=scalar(1), global_shape=scalar(2)), options(shape=scalar(2))) == ["value", "keys"]


def test_a_mesh_and_its_axes_that_became_a_sharding() -> None:
    mesh = {"k": "mesh", "axes": [["x", 8]], "devices": list(range(8))}
    sharding = {"k": "sharding", "type": "NamedSharding", "mesh": mesh, "spec": ["x"]}
    old = options(global_shape=seq(scalar(8)), global_mesh=mesh, mesh_axes=spec("x"))
    assert compare(old, options(shape=seq(scalar(8)), sharding=sharding)) == []
    other = sharding | {"mesh": mesh | {"devices": list(range(7, -1, -1))}}
    assert [d.aspect for d in compare(old, options(shape=seq(scalar(8)), sharding=other))] == ["mesh devices"]
    assert [d.aspect for d in compare(old, options(shape=seq(scalar(8)), sharding=sharding | {"spec": [None]}))] == ["spec"]


def shard(device: int = 0, start: int = 0, replica: int = 0, data: Any = X[:2]) -> dict[str, Any]:
    return {
        "k": "shard",
        "d": device,
        "p": 0,
        "i": [[start, start + 2], [0, 2]],
        "r": replica,
        "v": array(data, devices=[device]),
    }


def test_shards_of_either_class_by_device_index_replica_and_data() -> None:
    assert aspects(shard(), shard()) == []
    assert "devices" in aspects(shard(), shard(device=1))
    assert aspects(shard(), shard(start=2)) == ["placement"]
    assert aspects(shard(), shard(replica=1)) == ["replica id"]
    assert aspects(shard(), shard(data=X[2:4])) == ["values"]


def test_a_buffer_where_there_is_a_shard_now() -> None:
    assert aspects(array(X[:2], devices=[3]), shard(device=3)) == []
    assert aspects(array(X[:2], devices=[3]), shard(device=2)) == ["devices"]


def test_layouts_name_the_same_axes_however_they_are_spelled() -> None:
    sharding = {
        "k": "sharding",
        "type": "NamedSharding",
        "mesh": {"k": "mesh", "axes": [["x", 8]], "devices": list(range(8))},
        "spec": ["x"],
    }
    assert aspects(spec("x"), sharding) == []
    assert aspects(spec("x", None), spec(["x"])) == []
    assert aspects(spec("y"), sharding) == ["spec"]
    assert aspects(spec("x", "y"), spec("y", "x")) == ["spec"]
    assert aspects(spec(["x", "y"]), spec(["y", "x"])) == ["spec"]


def test_none_for_a_spec_tells_nothing() -> None:
    assert examine(scalar(None), spec()).facts == 0
    assert aspects(scalar(None), spec()) == []


def test_meshes_by_axes_and_devices() -> None:
    mesh = {"k": "mesh", "axes": [["x", 2], ["y", 4]], "devices": list(range(8))}
    assert aspects(mesh, mesh | {"axes": [["y", 2], ["x", 4]]}) == ["mesh axes"]
    assert aspects(mesh, mesh | {"devices": [0, 4, 1, 5, 2, 6, 3, 7]}) == ["mesh devices"]


def test_what_was_not_described_is_no_evidence() -> None:
    for pair in ((opaque("f"), opaque("g")), ({"k": "cut"}, array(X)), (opaque("o", "object"), spec("x"))):
        found = examine(*pair)
        assert (found.facts, found.differences) == (0, [])
    assert aspects(opaque("f"), array(X)) == ["type"]


def test_classes_in_containers_are_no_evidence() -> None:
    old, new = seq(opaque("DeviceArray", "class"), opaque("ShardedDeviceArray", "class"), t="tuple"), opaque("ArrayImpl", "class")
    for pair in ((old, new), (old, seq(new, t="tuple")), (new, old)):
        assert examine(*pair).differences == []
        assert examine(*pair).facts == 0
    assert aspects(seq(new), seq(scalar(1))) == ["type"]
    assert aspects(seq(new), seq()) == ["length"]
    registry = {"k": "map", "t": "dict", "v": [[opaque("DeviceArray", "class"), scalar(1)], [scalar("a"), scalar(2)]]}
    assert aspects(registry, {"k": "map", "t": "dict", "v": [[scalar("a"), scalar(2)], [new, scalar(1)]]}) == []
    assert aspects(registry, {"k": "map", "t": "dict", "v": [[scalar("a"), scalar(3)], [new, scalar(1)]]}) == ["value"]


def test_tracers_by_abstract_value() -> None:
    traced = abstract(8)
    assert aspects(traced, traced) == []
    assert aspects(traced, traced | {"shape": [4]}) == ["shape"]
    assert aspects(traced, traced | {"weak": True}) == ["weak type"]
    assert aspects(traced, array(np.zeros(8, np.float32))) == ["type"]


def test_deleted_arrays() -> None:
    assert aspects({"k": "deleted"}, {"k": "deleted"}) == []
    assert aspects({"k": "deleted"}, array(X)) == ["type"]


def test_a_global_shape_where_the_program_saw_its_own_rows() -> None:
    old = array(X, 8, local=[4, 2])
    (found,) = compare(old, array(X, 8))
    assert (found.aspect, found.before, found.after) == ("host-local shape", "(4, 2) of (8, 2)", "(8, 2) of (8, 2)")
    unseen = examine(old, array(X, 8), seen=False)
    assert unseen.differences == []
    assert "host-local" in unseen.notes[0]


def host_local() -> dict[str, Any]:
    """What process 1 has of an (8, 2) array whose rows lie on eight devices, four of them its own."""
    value = array(X, 8, type="ShardedDeviceArray", local=[4, 2]) | {"v": None}
    value["shards"] = value["shards"][4:]
    return value


def test_a_host_local_view_against_the_local_array_made_of_it() -> None:
    assert aspects(host_local(), array(X[4:], 4, devices=[4, 5, 6, 7])) == []
    assert aspects(host_local(), array(X[:4], 4, devices=[4, 5, 6, 7])) == ["values"]
    assert aspects(host_local(), array(X[4:], 4, devices=[7, 6, 5, 4])) == ["values"]
    assert aspects(host_local(), array(X[4:], 4, devices=[0, 1, 2, 3])) == ["devices"]
    assert aspects(host_local(), array(X[4:], devices=[4, 5, 6, 7])) == ["shard shape"]


def test_a_host_local_view_against_a_global_array_of_its_shape() -> None:
    wrong = array(X[4:], devices=[4, 5, 6, 7], addressable=False)
    assert "shape" in aspects(host_local(), wrong)


def test_a_replicated_array_is_the_same_as_own_and_as_global_one() -> None:
    old = array(X, devices=[4, 5], type="ShardedDeviceArray", committed=None)
    new = array(X, devices=[4, 5], addressable=False, replicated=None)
    assert aspects(old, new) == []
    assert aspects(old, array(X + 1, devices=[4, 5], addressable=False)) == ["values"]
    assert aspects(old | {"type": "ArrayImpl"}, new) == ["fully addressable"]


def test_a_converted_argument_is_compared_by_what_the_process_put_in() -> None:
    after = array(X, 8) | {"v": None, "addressable": False}
    after["shards"] = after["shards"][4:]
    assert aspects(ndarray(X[4:]), after, converted=True) == []
    assert aspects(ndarray(X[:4]), after, converted=True) == ["values"]
    assert aspects(ndarray(X[4:].astype(np.float64)), after, converted=True) == []
    assert aspects(ndarray(X[4:].astype(np.int32)), after, converted=True) == ["dtype"]
    assert aspects(ndarray(X), after, converted=True) == ["shape"]
    assert aspects(seq(ndarray(X[4:])), seq(after), converted=True) == []
    assert aspects(ndarray(X[4:]), after) == ["type"]


def test_exceptions_as_values() -> None:
    e = {"k": "exception", "type": "KeyError", "family": "KeyError", "bases": [], "message": "a"}
    assert aspects(e, e | {"message": "b"}) == []
    assert aspects(e, e | {"family": "ValueError"}) == ["family"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("DeviceArray([[1., 2.],\n             [3., 4.]], dtype=float32)", "Array([[1., 2.],\n       [3., 4.]], dtype=float32)"),
        ("<class 'jaxlib.xla_extension.DeviceArray'>", "<class 'jaxlib._jax.ArrayImpl'>"),
        ("loss 0.12345678", "loss 0.12345684"),
        ("<f at 0x7f0123456789>", "<f at 0x7f9999999999>"),
        ("PartitionSpec('x',)", "P('x')"),
        ("on TFRT_CPU_3", "on cpu:3"),
        ("['--jax_array=true', '--steps=3', '--jax_array']", "['--steps=3']"),
        ("in /tmp/jaxmigrate-1a_b/before/data.npy", "in /tmp/jaxmigrate-c2/after/data.npy"),
    ],
)
def test_the_same_said_otherwise(before: str, after: str) -> None:
    assert same_text(before, after)


@pytest.mark.parametrize(("before", "after"), [("1.0", "1.1"), ("(8, 2)", "(2, 8)"), ("nan", "0.0"), ("3", "4"), ("0.5", "0.6")])
def test_something_else_said(before: str, after: str) -> None:
    assert not same_text(before, after)


LEAVES = st.one_of(
    st.none().map(scalar),
    st.booleans().map(scalar),
    st.integers(-5, 5).map(scalar),
    st.floats(width=32).map(scalar),
    st.text(max_size=3).map(scalar),
    st.lists(st.sampled_from(["x", "y", None]), max_size=3).map(lambda d: spec(*d)),
    st.lists(st.floats(-2, 2, width=32), min_size=1, max_size=4).map(lambda v: ndarray(np.float32(v))),
    st.sampled_from([1, 2, 4]).map(lambda n: array(X, n)),
    st.just({"k": "cut"}),
    st.just(opaque("f")),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda v: seq(*v)),
        st.lists(inner, max_size=3).map(lambda v: seq(*v, t="tuple")),
        st.dictionaries(st.text(max_size=2), inner, max_size=3).map(
            lambda d: {"k": "map", "t": "dict", "v": [[scalar(k), v] for k, v in d.items()]}
        ),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(lambda d: {"k": "record", "t": "Pair", "v": d}),
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_value_equals_itself(value: dict[str, Any]) -> None:
    assert compare(value, copy.deepcopy(value)) == []


@given(VALUES, VALUES)
def test_differing_is_symmetric(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert sorted(d.aspect for d in compare(a, b)) == sorted(d.aspect for d in compare(b, a))
