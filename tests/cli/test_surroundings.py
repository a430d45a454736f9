"""What is known of a program from the files of its project that are not asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from jaxmigrate.cli import cli

COSTS = "import jax\n\nc = jax.jit(f).lower(x).compile()\nprint(c.cost_analysis()[0])\n"
"""Speaks of a change of behaviour in 0.5.0."""


def check(*arguments: str) -> str:
    return CliRunner().invoke(cli, ["rewrite", "--check", *arguments]).output


@pytest.fixture
def package(project: Path) -> Path:
    """A module two folders below the top of a checkout."""
    (project / ".git").mkdir()
    package = project / "src" / "petrel"
    package.mkdir(parents=True)
    (package / "costs.py").write_text(COSTS)
    return package


@pytest.mark.parametrize("asked", ["src", "src/petrel/costs.py", "src/petrel"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "jax==0.3.25\n"),
        ("requirements/base.txt", "jax<0.4\n"),
        ("pyproject.toml", '[project]\ndependencies = ["jax==0.3.25"]\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    jax<=0.3.25\n"),
        ("setup.py", 'setup(install_requires=["jax==0.3.25"])\n'),
        ("src/requirements.txt", "jax~=0.3.1\n"),
        ("environment.yml", "dependencies:\n  - jax=0.3.25\n"),
        ("Dockerfile", "RUN pip install jax==0.3.25\n"),
    ],
)
def test_requirements_above_tell_the_age_and_are_left_alone(
    package: Path, project: Path, asked: str, name: str, text: str
) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text)
    output = check(asked)
    assert "review cost-analysis" in output
    assert "version-pins" not in output or (asked, name) == ("src", "src/requirements.txt")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("requirements.txt", "jax>=0.3.25\n", id="lower-bound"),
        pytest.param("tools/requirements.txt", "jax==0.3.25\n", id="folder-beside"),
        pytest.param("../requirements.txt", "jax==0.3.25\n", id="above-the-checkout"),
        pytest.param("demo.ipyn", '{"cells": [{"source": ["!pip install jax==0.3.25"]}]}\n', id="notebook"),
    ],
)
def test_what_is_no_requirement_of_the_program(package: Path, project: Path, name: str, text: str) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text)
    assert check("src") == "Nothing to do in 1 file.\n"


def test_without_a_checkout_the_nearest_project_is_looked_at(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "costs.py").write_text(COSTS)
    (project / "requirements.txt").write_text("jax==0.3.25\n")
    assert check("inner") == "Nothing to do in 1 file.\n"
    (project / "pyproject.toml").write_text("")
    assert "review cost-analysis" in check("inner")


def test_a_given_age_goes_before(package: Path, project: Path) -> None:
    (project / "requirements.txt").write_text("jax==0.3.25\n")
    assert check("src", "--from", "0.6.0") == "Nothing to do in 1 file.\n"


def test_standard_input_has_the_age_of_the_file_it_stands_for(package: Path, project: Path) -> None:
    (project / "src" / "requirements.txt").write_text("jax==0.3.25\n")
    asked = ["rewrite", "--check", "-", "--stdin-filename", "src/petrel/costs.py"]
    assert "review cost-analysis" in CliRunner().invoke(cli, asked, input=COSTS).output
    assert CliRunner().invoke(cli, asked[:3], input=COSTS).output == ""
