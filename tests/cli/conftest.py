"""A project folder and the real command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

OLD = "import jax.numpy as jnp\n\n\ndef f(x: jnp.DeviceArray):\n    return x\n"
NEW = "import jax\n\n\ndef f(x: jax.Array):\n    return x\n"

Tool = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder that is no checkout and has no pyproject.toml above it."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tool(project: Path) -> Tool:
    """Run ``jaxmigrate`` in the project."""

    def run(*arguments: str, input: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "jaxmigrate", *arguments]
        env = {**os.environ, "COLUMNS": "100", **environment}
        return subprocess.run(command, input=input, capture_output=True, cwd=project, env=env, timeout=120, check=False)

    return run
