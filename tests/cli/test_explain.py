"""``jaxmigrate explain`` and ``jaxmigrate codemods``: said from the declarations and the fixtures."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from jaxmigrate.cli import COMMANDS, cli
from jaxmigrate.cli.explain import example
from jaxmigrate.registry import load


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize("name", load().codemods)
def test_every_codemod_is_explained(name: str) -> None:
    codemod = load().codemods[name]
    status, output = run("explain", name)
    assert status == 0
    assert " ".join(output.split()).startswith(f"{name}: {codemod.summary} new API")
    assert [line for line in output.partition("\n\n")[0].splitlines() if len(line) > 80] == []
    assert codemod.link in output
    assert f"new API since{' ' * 10}" in output


@pytest.mark.parametrize("name", [c.name for c in load().codemods.values() if c.moves])
def test_every_codemod_has_an_example_that_parses(name: str) -> None:
    pair = example(name)
    assert pair is not None
    before, after = pair
    assert ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))


def test_example_is_shown_as_a_difference() -> None:
    _, output = run("explain", "device-array")
    lines = output.splitlines()
    assert any(line.startswith("  -") and "DeviceArray" in line for line in lines)
    assert any(line.startswith("  +") and "jax.Array" in line for line in lines)


def story(name: str) -> dict[str, str]:
    """The rows of the story of a name: label -> text with its line breaks undone."""
    status, output = run("explain", name)
    assert status == 0, output
    rows: dict[str, str] = {}
    label = ""
    for line in output.splitlines()[1:]:
        head, _, text = line.strip().partition("  ")
        if line.startswith("  ") and not line.startswith("   ") and text:
            label = head
            rows[label] = text.strip()
        elif label and line.startswith("   "):
            rows[label] += " " + line.strip()
        else:
            label = ""
    return {"": output.splitlines()[0], **rows}


@pytest.mark.parametrize("asked", ["jax.numpy.DeviceArray", "DeviceArray", "jnp.DeviceArray"])
def test_old_api_is_told_by_all_its_names(asked: str) -> None:
    rows = story(asked)
    assert rows[""] == "jax.numpy.DeviceArray: class, gone since JAX 0.4.14"
    assert rows["in JAX"] == "0.2.0 to 0.4.13"
    assert rows["instead"].startswith("jax.Array, for targets from JAX 0.3.18")
    assert rows["rewritten by"].startswith("device-array (")


def test_the_target_decides_the_new_name() -> None:
    rows = story("jax.tree_map")
    assert rows["deprecated in"] == "0.4.26"
    assert rows["removed in"] == "0.6.0"
    assert rows["instead"] == (
        "jax.tree.map, for targets from JAX 0.4.25 jax.tree_util.tree_map, for targets before 0.4.25 (from 0.2.0)"
    )
    assert rows["rewritten by"].startswith("tree-map (")
    assert rows["read"].startswith("https://")


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("jtu.tree_multimap", "jax.tree_util.tree_multimap: gone since JAX 0.3.16"),
        ("tree_multimap", "jax.tree_multimap: gone since JAX 0.3.16"),
        ("jax.tree_multimap()", "jax.tree_multimap: gone since JAX 0.3.16"),
        ("jit", "jax.jit: part of JAX today"),
        ("jit(static_argnums=)", "jax.jit: part of JAX today"),
        ("shard_map", "jax.shard_map: part of JAX today"),
        ("clip", "jax.numpy.clip: part of JAX today"),
        ("numpy.clip", "jax.numpy.clip: part of JAX today"),
        ("pjit", "jax.experimental.pjit.pjit: deprecated since JAX 0.8.0"),
        ("jet", "jax.experimental.jet.jet: part of JAX today"),
        ("stax", "jax.experimental.stax: module, gone since JAX 0.3.16"),
        ("config", "jax.config: part of JAX today"),
        ("jax_omnistaging", "jax_omnistaging: flag, gone since JAX 0.3.15"),
        ("JAX_OMNISTAGING", "jax_omnistaging: flag, gone since JAX 0.3.15"),
        ("jax.numpy.clip(a_min=)", "jax.numpy.clip(a_min=): keyword argument, gone since JAX 0.10.0"),
        ("jnp.clip(a_min)", "jax.numpy.clip(a_min=): keyword argument, gone since JAX 0.10.0"),
        ("jax.Array.device_buffer", "jax.Array.device_buffer: gone since JAX 0.4.27"),
        ("jax.experimental.host_callback", "jax.experimental.host_callback: module, gone since JAX 0.8.0"),
        ("hcb.id_tap", "jax.experimental.host_callback.id_tap: gone since JAX 0.8.0"),
        ("jax.experimental.pjit.pjit", "jax.experimental.pjit.pjit: deprecated since JAX 0.8.0"),
        ("jax.lax.scan", "jax.lax.scan: part of JAX today"),
        ("jax.config.jax_omnistaging", "jax_omnistaging: flag, gone since JAX 0.3.15"),
        ("DeviceArray.to_py", "jax.Array.to_py: gone since JAX 0.4.9"),
        ("jax.Array.device", "jax.Array.device: part of JAX today"),
        ("jax.ad.JVPTrace", "jax.ad.JVPTrace: gone since JAX 0.4.14"),
        ("jaxlib.xla_extension.DeviceArray", "jaxlib.xla_extension.DeviceArray: gone since JAX 0.4.14"),
        ("Jax.Numpy.devicearray", "jax.numpy.DeviceArray: class, gone since JAX 0.4.14"),
        ("jax.Array.shape", "jax.Array: class, part of JAX today"),
        ("jax.lax.dot(precision)", "jax.lax.dot: part of JAX today"),
    ],
)
def test_any_kind_of_name_has_a_story(asked: str, title: str) -> None:
    assert story(asked)[""] == title


@pytest.mark.parametrize(
    ("asked", "symbol"),
    [
        ("`jax.tree_map`", "jax.tree_map"),
        ("@jax.jit", "jax.jit"),
        ("jax.tree_map(", "jax.tree_map"),
        ("jax.ops.index_update(x, jax.ops.index[0], 1)", "jax.ops.index_update"),
        ("jax.ops.index[...]", "jax.ops.index"),
        ("from jax import tree_map", "jax.tree_map"),
        ("import jax.experimental.maps as m", "jax.experimental.maps"),
        ("clip(a_min)", "jax.numpy.clip(a_min=)"),
        ("AttributeError: module 'jax' has no attribute 'tree_map'", "jax.tree_map"),
        ("cannot import name 'DeviceArray' from 'jax.interpreters.xla' (/a/b.py)", "jax.interpreters.xla.DeviceArray"),
        ("ModuleNotFoundError: No module named 'jax.experimental.maps'", "jax.experimental.maps"),
        ("clip() got an unexpected keyword argument 'a_min'", "jax.numpy.clip(a_min=)"),
        ("jit() got some positional-only arguments passed as keyword arguments: 'fun'", "jax.jit(fun=)"),
        ("'jaxlib._jax.ArrayImpl' object has no attribute 'device_buffer'", "jax.Array.device_buffer"),
        ("jax.tree_map was removed in JAX v0.6.0: use jax.tree.map (jax v0.4.25 or newer)", "jax.tree_map"),
    ],
)
def test_a_question_may_be_code_or_an_error_message(asked: str, symbol: str) -> None:
    status, output = run("explain", asked, "--format", "json")
    assert status == 0
    assert json.loads(output)["symbol"] == symbol


def test_only_what_was_lost_is_on_record_of_a_class() -> None:
    assert story("jax.Array.shape")["asked for"] == ".shape, which is not among what it lost"
    assert run("explain", "jnp.no_such_function(x=)")[0] == 1


def test_a_name_that_came_back_as_something_else() -> None:
    rows = story("jax.ad")
    assert rows[""] == "jax.ad: part of JAX today"
    assert rows["in JAX"] == "0.2.0 to 0.4.13, since 0.10.0"
    assert "jax.interpreters.ad" in rows["to know"]


@pytest.mark.parametrize(
    ("asked", "changed", "codemod"),
    [
        ("jnp.empty", "0.11.0: jnp.empty and jnp.empty_like held zeros", "uninitialised-empty"),
        ("jax.random.normal", "0.5.0: jax.random draws other numbers", "random-bits"),
        ("jax_threefry_partitionable", "0.5.0: jax.random draws other numbers", "random-bits"),
        ("jax.pmap", "0.4.34: the shards of a result of pmap", "pmap-shards"),
        ("jax.make_mesh", "0.9.0: jax.make_mesh and AbstractMesh without axis_types", "mesh-axis-types"),
        ("jax.numpy.linalg.solve", "0.3.24: ", "changed-results"),
        ("jax.stages.Compiled.cost_analysis", "0.5.0: compiled.cost_analysis() is a dict", "cost-analysis"),
        ("jax.sharding.PartitionSpec", "0.6.1: PartitionSpec is no tuple", "partition-spec-tuple"),
    ],
)
def test_another_behaviour_of_a_living_name_is_told(asked: str, changed: str, codemod: str) -> None:
    status, output = run("explain", asked)
    text = " ".join(output.split())
    assert status == 0
    assert f"changed in {changed}" in text
    assert f"{codemod}, with --from" in text
    told = json.loads(run("explain", asked, "--format", "json")[1])["changed"]
    assert codemod in [change["codemod"] for change in told]


@pytest.mark.parametrize("asked", ["jax.jit", "jax.random.key", "jax.random.shuffle", "jax.numpy.zeros_like"])
def test_what_did_not_change_while_it_was_there(asked: str) -> None:
    told = json.loads(run("explain", asked, "--format", "json")[1])["changed"]
    assert [change for change in told if change["codemod"] != "stricter-arguments"] == []


def test_an_argument_goes_before_a_flag_of_its_name() -> None:
    assert run("explain", "check_rep")[1].startswith("jax.experimental.shard_map.shard_map(check_rep=): keyword argument")


def test_what_nobody_rewrites_is_to_do_by_hand() -> None:
    rows = story("jax.interpreters.ad.call_transpose")
    assert rows["rewritten by"] == "nothing, by hand"
    assert rows["what to do"]
    assert "instead" not in rows


def test_a_living_function_tells_which_arguments_it_lost() -> None:
    assert "a_min (last in 0.9.2)" in story("jax.numpy.clip")["it lost"]


def test_a_module_counts_its_names() -> None:
    assert re.fullmatch(
        r"(\d+) on record, \1 of them gone; .*host-callback", story("jax.experimental.host_callback")["its names"]
    )


@pytest.mark.parametrize(
    "asked", ["jax.tree_map", "jax.core.ClosedJaxpr", "jax.experimental.host_callback.call", "jax.numpy.clip", "flags.jax_array"]
)
def test_stories_fit_into_80_columns(asked: str) -> None:
    _, output = run("explain", asked)
    assert [line for line in output.splitlines() if len(line) > 80 and "https://" not in line] == []
    assert "\x1b" not in output


def test_a_name_that_no_release_had() -> None:
    status, output = run("explain", "jnp.trapezoi")
    assert status == 1
    said = " ".join(output.split())
    assert said.startswith("jnp.trapezoi: not a JAX API of any known release (0.2.0 to ")
    assert said.endswith("did you mean jax.numpy.trapezoid?")


def test_private_names_are_promised_by_nobody() -> None:
    for name, said in (
        ("jax._src.core.Tracer", " has it; see jax.core.Tracer"),
        ("jax._src.core.ConcreteArray", " does not have it"),
        ("jax._src.core.nothing", " does not have it"),
    ):
        status, output = run("explain", name)
        assert status == 0
        assert "a private name of JAX" in output
        assert " ".join(output.split()).endswith(said)


def test_json_holds_what_the_text_says() -> None:
    status, output = run("explain", "jax.tree_map", "--format", "json")
    assert status == 0
    data = json.loads(output)
    assert (data["symbol"], data["state"], data["deprecated"], data["removed"]) == ("jax.tree_map", "gone", "0.4.26", "0.6.0")
    assert data["releases"] == [{"first": "0.2.0", "last": "0.5.3"}]
    assert data["instead"] == [
        {"name": "jax.tree.map", "since": "0.4.25", "before": None},
        {"name": "jax.tree_util.tree_map", "since": "0.2.0", "before": "0.4.25"},
    ]
    assert data["codemods"][0]["name"] == "tree-map"
    assert data["by_hand"] is False
    assert set(data) <= set(re.findall(r"`(\w+)`", (Path(__file__).parents[2] / "README.md").read_text()))


def test_json_of_a_codemod_and_of_an_unknown_name() -> None:
    _, output = run("explain", "live-buffers", "--format", "json")
    assert json.loads(output)[0]["codemod"] == "live-buffers"
    status, output = run("explain", "jax.no_such_thing", "--format", "json")
    assert status == 1
    assert json.loads(output)["state"] == "unknown"


def test_options_are_listed_with_their_values() -> None:
    with_options = [codemod for codemod in load().codemods.values() if codemod.options]
    for codemod in with_options:
        _, output = run("explain", codemod.name)
        for option, values in codemod.options.items():
            assert f"option {codemod.name}.{option}" in output
            assert " or ".join(values) in output


def test_unknown_name_is_wrong_usage() -> None:
    status, output = run("explain", "live-bufers")
    assert status == 2
    assert "no codemod or old API 'live-bufers', did you mean 'live-buffers'?" in output


def test_codemod_without_fixture_has_no_example() -> None:
    assert example("no-such-codemod") is None


def test_list_has_every_codemod_within_80_columns() -> None:
    status, output = run("codemods")
    assert status == 0
    assert [line.split()[0] for line in output.splitlines() if not line.startswith(" ")] == list(load().codemods)
    assert all(codemod.summary in " ".join(output.split()) for codemod in load().codemods.values())
    assert [line for line in output.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_into_80_columns(command: str) -> None:
    status, output = run(*filter(None, (command, "--help")))
    assert status == 0
    assert [line for line in output.splitlines() if len(line) > 80] == []


def test_help_speaks_of_all_that_is_rewritten() -> None:
    assert "any JAX since 0.2" in run("--help")[1]
