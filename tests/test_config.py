"""[tool.jaxmigrate]: what is read, what is refused and how the refusal reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jaxmigrate.config import Config, ConfigError, find, load

FULL = """
[tool.jaxmigrate]
target = "0.4.30"
select = ["device-array", "from-gda"]
ignore = ["live-buffers"]
exclude = ["/gen/"]
safe-only = true
from = "0.3.25"
strict = true
[tool.jaxmigrate.options]
global-device-array.isinstance = "strict"
"from-gda.other" = "x"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    return tmp_path


def write(folder: Path, text: str) -> str:
    path = folder / "pyproject.toml"
    path.write_text(text)
    return str(path)


def test_everything_is_read(project: Path) -> None:
    path = write(project, FULL)
    config = load(path)
    assert config == Config(
        target="0.4.30",
        select=("device-array", "from-gda"),
        ignore=("live-buffers",),
        exclude=("/gen/",),
        options=(("global-device-array.isinstance", "strict"), ("from-gda.other", "x")),
        safe_only=True,
        unsafe=False,
        origin="0.3.25",
        strict=True,
        path=path,
    )
    assert config.base == str(project)


def test_nearest_table_counts_for_folders_and_files(project: Path) -> None:
    path = write(project, FULL)
    (project / "a" / "b" / "x.py").touch()
    assert find(str(project)) == path
    assert find(str(project / "a" / "b")) == path
    assert find(str(project / "a" / "b" / "x.py")) == path
    assert find(str(project / "a" / "missing.py")) == path
    nearer = write(project / "a", "[tool.jaxmigrate]\n")
    assert find(str(project / "a" / "b")) == nearer


def test_pyproject_without_a_table_is_passed_over(project: Path) -> None:
    path = write(project, FULL)
    write(project / "a", "[tool.ruff]\nline-length = 100\n")
    assert find(str(project / "a")) == path


def test_search_ends_at_the_top_of_the_checkout(project: Path) -> None:
    write(project, FULL)
    (project / "a" / ".git").touch()
    assert find(str(project / "a" / "b")) is None


def test_folder_called_pyproject_is_passed_over(project: Path) -> None:
    (project / "pyproject.toml").mkdir()
    assert find(str(project)) is None


REFUSED = {
    'targett = "0.4.1"': "targett: unknown key, did you mean 'target'?",
    "safe_only = true": "safe_only: unknown key, did you mean 'safe-only'?",
    "zzz = 1": "zzz: unknown key (known: exclude, from, ignore, options, safe-only, select, strict, target, unsafe)",
    "target = 0.4": "target: expected a string, not 0.4",
    'target = "new"': "target: not a JAX version: 'new'",
    'select = "device-array"': "select: expected a list of strings, not 'device-array'",
    "ignore = [1]": "ignore: expected a list of strings, not [1]",
    'unsafe = "yes"': "unsafe: expected true or false, not 'yes'",
    "unsafe = true\nsafe-only = true": "safe-only and unsafe: choose one",
    "options = 1": "options: expected a table, not 1",
    "options = {a.b = 1}": "options.a: expected a string, not 1",
    "fix = true": "fix: not a setting of the project: give it on the command line",
    "write = true": "write: not a setting of the project: give it on the command line",
    "exit-zero = true": "exit-zero: not a setting of the project: give it on the command line",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=REFUSED)
def test_refusal_names_file_and_key(project: Path, text: str, message: str) -> None:
    path = write(project, f"[tool.jaxmigrate]\n{text}\n")
    with pytest.raises(ConfigError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: [tool.jaxmigrate] {message}")


@pytest.mark.parametrize("text", ["[tool.jaxmigrate\n", "tool = 1\n[tool.jaxmigrate]\n", "[tool]\njaxmigrate = 1\n"])
def test_broken_file_is_refused(project: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"pyproject\.toml"):
        load(write(project, text))


def test_file_that_is_not_utf8_is_refused(project: Path) -> None:
    path = project / "pyproject.toml"
    path.write_bytes(b"[tool.jaxmigrate]\ntarget = '\xff'\n")
    with pytest.raises(ConfigError, match=r"pyproject\.toml"):
        load(str(path))


def test_empty_table_is_the_default(project: Path) -> None:
    path = write(project, "[tool.jaxmigrate]\n")
    assert load(path) == Config(path=path)
    assert Config().base == os.curdir
