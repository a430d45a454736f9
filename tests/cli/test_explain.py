"""``jaxmigrate explain`` and ``jaxmigrate codemods``: said from the declarations and the fixtures."""

from __future__ import annotations

import ast

import pytest
from click.testing import CliRunner

from jaxmigrate.cli import cli
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
    assert output.startswith(f"{name}: {codemod.summary}\n")
    assert codemod.link in output
    assert f"new API since{' ' * 10}" in output


@pytest.mark.parametrize("name", load().codemods)
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


@pytest.mark.parametrize("symbol", ["jax.numpy.DeviceArray", "DeviceArray", "jnp.DeviceArray"])
def test_old_api_is_explained_by_its_codemods(symbol: str) -> None:
    status, output = run("explain", symbol)
    assert (status, output[:13]) == (0, "device-array:")


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


def test_list_has_one_line_for_each_codemod() -> None:
    status, output = run("codemods")
    assert status == 0
    assert [line.split()[0] for line in output.splitlines()] == list(load().codemods)
    assert all(codemod.summary in output for codemod in load().codemods.values())
