"""What pyproject.toml declares is what the tree holds."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_package_is_declared() -> None:
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "jaxmigrate").rglob("__init__.py")}
    declared = set(PROJECT["tool"]["setuptools"]["packages"])
    assert {".".join(folder.parts) for folder in folders} | {"jaxmigrate_codemods", "jaxmigrate_fixtures"} == declared


def test_every_data_file_of_the_codemods_is_shipped() -> None:
    suffixes = {path.suffix for path in (ROOT / "codemods").iterdir() if path.is_file()}
    assert suffixes <= {".py", ".gz", ".toml", ".tsv", ".txt", ".typed", ".pyc"}


def test_no_dependency_has_an_upper_cap() -> None:
    project = PROJECT["project"]
    every = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    assert [line for line in every if "<" in line or "==" in line or "~=" in line] == []
