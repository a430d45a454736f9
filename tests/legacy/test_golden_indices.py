"""Indices, replica ids and shapes against every recording, without JAX."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")

from jaxmigrate.legacy import indices  # noqa: E402
from tests.legacy import recordings  # noqa: E402

GDA = recordings.recording("gda")
CASES = GDA["cases"] + GDA["multiprocess_cases"]
HOST_LOCAL = recordings.recording("host_local")["cases"]
SPECS = recordings.recording("sharding_spec")
AGES = [(case, ages, past) for case in CASES for ages, past in case.get("older_versions", {}).items()]


def named(case: dict) -> str:
    return case["id"]


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as exception:
        return recordings.error(exception)


def placed(case: dict, version: tuple[int, ...]) -> dict:
    """Device id -> index and replica id."""
    mesh = recordings.fake_mesh(case)
    found = indices.shard_indices(case["global_shape"], recordings.spec(case["spec"]), indices.axis_sizes(mesh), version)
    written = [recordings.written(index) for index in found]
    ids = [str(device.id) for device in mesh.devices.flat]
    return dict(zip(ids, zip(written, indices.replica_ids(found), strict=True), strict=True))


def recorded(shards: dict) -> dict:
    return {device: (shard["index"], shard["replica_id"]) for device, shard in shards.items()}


def plain(failure: dict) -> dict:
    return {key: failure[key] for key in ("type", "message")}


@pytest.mark.parametrize("case", CASES, ids=named)
def test_every_device_holds_what_it_held(case):
    expected = plain(case["error"]) if case["result"] == "error" else recorded(case["shards"])
    assert outcome(placed, case, (0, 4, 6)) == expected


@pytest.mark.parametrize(("case", "ages", "past"), AGES, ids=[f"{case['id']}-{ages}" for case, ages, _ in AGES])
def test_older_versions_spelled_it_otherwise(case, ages, past):
    expected = plain(past["error"]) if "error" in past else recorded(past["shards"])
    for age in ages.split(".."):
        assert outcome(placed, case, tuple(map(int, age.split(".")))) == expected


@pytest.mark.parametrize("case", [case for case in CASES if "error" not in case["get_shard_shape"]], ids=named)
def test_every_piece_has_the_shape_it_had(case):
    sizes = indices.axis_sizes(recordings.fake_mesh(case))
    assert list(indices.shard_shape(case["global_shape"], recordings.spec(case["spec"]), sizes)) == case["get_shard_shape"]


@pytest.mark.parametrize("case", HOST_LOCAL, ids=named)
def test_host_local_arrays_have_the_shape_and_place_they_had(case):
    mesh, spec = recordings.fake_mesh(case), recordings.spec(case["spec"])
    for process in case["per_process"]:
        me = process["me"]
        box = outcome(indices.local_mesh, mesh, me)
        if "error" in process["local_mesh"]:
            assert box == process["local_mesh"]["error"]
            continue
        assert list(box.devices.shape) == process["local_mesh"]["shape"]
        assert np.vectorize(lambda device: device.id, otypes=[int])(box.devices).tolist() == process["local_mesh"]["device_ids"]
        whole = outcome(indices.global_shape, process["local_shape"], spec, mesh, me)
        if "error" in process:
            assert whole == process["error"]
            continue
        assert list(whole) == process["global_shape"]
        assert list(indices.local_shape(whole, spec, mesh, me)) == process["roundtrip_local_shape"]
        places = indices.place(process["local_shape"], spec, mesh, me)
        assert {
            str(place.device.id): {
                "local_index": recordings.written(place.local_index),
                "global_index": recordings.written(place.global_index),
            }
            for place in places
        } == process["placement"]


def test_a_replicated_array_needs_no_contiguous_mesh():
    case = next(c for c in HOST_LOCAL if c["spec"] == [] and "error" in c["per_process"][0]["local_mesh"])
    places = indices.place((8, 16), [], recordings.fake_mesh(case), 0)
    assert [place.device.id for place in places] == case["per_process"][0]["local_devices"]
    assert [place.replica_id for place in places] == [
        position for position, i in enumerate(case["mesh"]["device_ids"]) if case["process_of_device"][i] == 0
    ]


@pytest.mark.parametrize(("version", "whole"), [((0, 3, 15), True), ((0, 3, 16), True), ((0, 4, 6), True)])
def test_axes_of_size_one_counted_as_cut_until_0_3_16(version, whole):
    sizes = {"x": 8, "y": 1}
    assert indices.is_replicated(["y"], sizes, version) is (version >= (0, 3, 16))
    assert indices.is_replicated([None, ()], sizes, version) is whole


@pytest.mark.parametrize(("version", "subject"), [((0, 4, 1), "non-GlobalDeviceArray"), ((0, 4, 2), "host local")])
def test_the_error_for_scattered_devices_changed_its_words(version, subject):
    with pytest.raises(ValueError, match=f"^When passing {subject} inputs to pjit or xmap, devices connected"):
        indices.local_box(np.array([True, False, True]), version)


def cut(text: str):
    kind, _, inner = text.rstrip(")").partition("(")
    if kind == "NoSharding":
        return None
    return int(inner) if kind == "Unstacked" else tuple(int(n) for n in inner.strip("[]").split(",") if n)


def assignment(text: str):
    kind, _, number = text.rstrip(")").partition("(")
    return indices.Copies(int(number)) if kind == "Replicated" else int(number)


def plain_spec(recorded_spec: dict):
    return [cut(part) for part in recorded_spec["sharding"]], [assignment(part) for part in recorded_spec["mesh_mapping"]]


@pytest.mark.parametrize("case", [case for case in SPECS["specs"] if "indices" in case], ids=named)
def test_a_sharding_spec_gives_the_indices_it_gave(case):
    cuts, mapping = plain_spec(case["spec"])
    found = indices.spec_indices(case["shape"], cuts, mapping)
    assert [recordings.written(index) for index in found] == case["indices"]
    assert list(indices.spec_mesh_shape(cuts, mapping)) == case["mesh_shape"]
    assert indices.one_replica(found) == case["one_replica_buffer_indices"]
    if "buffer_shapes" in case:
        assert {indices.spec_shard_shape(case["shape"], cuts)} == {tuple(shape) for shape in case["buffer_shapes"]}


@pytest.mark.parametrize("case", SPECS["pmap_specs"], ids=lambda case: f"{case['aval_shape']}-{case['sharded_dim']}")
def test_pmap_cut_as_it_did(case):
    shape, dim = case["aval_shape"], case["sharded_dim"]
    size = shape[dim] if dim is not None else case["sharded_dim_size"]
    cuts, mapping = indices.pmap_cuts(len(shape), dim, size)
    assert ([*cuts], [*mapping]) == plain_spec(case["spec"])
    assert [recordings.written(index) for index in indices.spec_indices(shape, cuts, mapping)] == case["indices"]


def test_a_spec_with_more_entries_than_dimensions():
    sizes = {"x": 2}
    assert indices.shard_indices((4,), ["x", None, ()], sizes) == [(slice(0, 2),), (slice(2, 4),)]
    with pytest.raises(IndexError, match=r"^list index out of range$"):
        indices.shard_indices((4,), [None, "x"], sizes)


def test_entries_beyond_the_rank_that_name_nothing_do_not_matter_to_host_local_shapes():
    assert indices.local_to_global((4, 2), ["x", None, (), None], {"x": 8}, {"x": 2}) == (16, 2)
    assert indices.global_to_local((), [()], {"x": 8}, {"x": 2}) == ()


@pytest.mark.parametrize(
    ("shape", "cuts", "mapping", "error"),
    [
        ((0, 1, 2), [None, 1, 1], [indices.Copies(1), 1], AssertionError("2 != 1")),
        ((3,), [2], [0, 1], AssertionError("3 != 2")),
        ((2,), [2], [0, 1], AssertionError()),
        ((4, 0, 2), [4, (1, 4), 2], [1, 3, 2, 0, 4], AssertionError()),
        ((4,), [(2,)], [0, 1], IndexError("list index out of range")),
        ((3,), [(2,)], [], None),
        ((3,), [(2,), (2,)], [0], AssertionError("((3,), ((2,), (2,)))")),
    ],
)
def test_specs_are_checked_in_the_order_in_which_they_were(shape, cuts, mapping, error):
    found = outcome(indices.spec_indices, shape, cuts, mapping)
    assert found == ([(slice(None),)] if error is None else recordings.error(error))


def test_a_cut_into_no_chunks_is_spelled_like_one_into_one():
    assert indices.spec_indices((1, 4, 2), [1, 4, ()], [0, 1])[1] == (0, 1, slice(0, 2))
    assert indices.spec_indices((4, 2), [(2,), ()], [0])[1] == (slice(2, 4), slice(None))
