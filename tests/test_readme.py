"""The documents show what the tool really does, and the set-up lines are what .ci/run can execute."""

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readme_tool", ROOT / "tools" / "readme.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_generated_parts_are_fresh(name: str) -> None:
    pytest.importorskip("jax", minversion="0.9")
    fresh = tool().same(tool().refreshed(name), (ROOT / name).read_text(encoding="utf-8"))
    assert fresh, f"{name} is out of date: run python tools/readme.py"


@pytest.mark.parametrize("marker", ["install", "test"])
def test_set_up_is_one_line(marker: str) -> None:
    blocks = re.findall(rf"<!-- set-up: {marker} -->\n```sh\n(.*?)```\n", README, re.DOTALL)
    assert len(blocks) == 1
    assert blocks[0].count("\n") == 1


def test_every_codemod_has_a_changelog_line() -> None:
    from jaxmigrate.registry import load

    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert [name for name in load().codemods if f"- `{name}`:" not in changelog] == []


def test_configuration_example_is_accepted(tmp_path: Path) -> None:
    from jaxmigrate import config
    from jaxmigrate.registry import load

    [block] = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    tomllib.loads(block)
    file = tmp_path / "pyproject.toml"
    file.write_text(block)
    read = config.load(str(file))
    codemods = load().codemods
    assert read.target == "0.4.30"
    assert set(read.ignore) <= codemods.keys()
    for name, value in read.options:
        codemod, _, option = name.partition(".")
        assert value in codemods[codemod].options[option]
