"""The codemod that CONTRIBUTING.md adds works when one does what it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def example() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [patch] = re.findall(r"<!-- begin: example -->\n```diff\n(.*?)```\n", text, re.DOTALL)
    return str(patch)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the tree in which the codemods and fixtures are importable under their installed names."""
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("jaxmigrate", "codemods", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "jaxmigrate_codemods").symlink_to(tmp_path / "codemods")
    return tmp_path


@pytest.mark.slow
def test_the_patch_adds_a_codemod_whose_tests_pass(copy: Path) -> None:
    applied = subprocess.run(
        ["git", "apply", "-"], cwd=copy, input=example().encode(), capture_output=True, check=False, timeout=60
    )
    assert applied.returncode == 0, applied.stderr
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    tests = ["tests/codemods/test_deg2rad.py", "tests/test_fixtures.py", "tests/test_registry.py"]
    # Of the fixtures only its own: the others are tested anyway.
    some = ["-k", "not test_fixtures.py or deg2rad or every_program"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *some, *tests]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "deg2rad" in (copy / "codemods" / "__init__.py").read_text()
