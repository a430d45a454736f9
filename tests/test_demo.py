"""The demo, from the state in which JAX broke it to a training run on the installed JAX."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[1] / "fixtures" / "demo"
CLI = [sys.executable, "-m", "jaxmigrate"]

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="needs jax")


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(cwd),
    }
    environment.pop("JAX_ARRAY", None)
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEMO, tmp_path / "demo", ignore=shutil.ignore_patterns("__pycache__")))


def rewrite(demo: Path, *options: str) -> subprocess.CompletedProcess[str]:
    # Not from inside the demo: `petrel/types.py` and friends must not be importable by the tool.
    return run(*CLI, "rewrite", *options, str(demo), cwd=demo.parent)


def test_the_patch_is_what_rewriting_does(demo: Path) -> None:
    patched = demo.parent / "patched"
    shutil.copytree(demo, patched)
    done = subprocess.run([*CLI, "rewrite", "--diff", "."], cwd=patched, capture_output=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    applied = subprocess.run(["git", "apply", "-"], cwd=patched, input=done.stdout, capture_output=True, check=False, timeout=60)
    assert applied.returncode == 0, applied.stderr
    rewrite(demo)
    for file in sorted(demo.rglob("*.py")):
        assert file.read_bytes() == (patched / file.relative_to(demo)).read_bytes(), file


def test_a_second_run_changes_nothing(demo: Path) -> None:
    rewrite(demo)
    before = {file: file.read_bytes() for file in demo.rglob("*") if file.is_file()}
    again = rewrite(demo)
    assert "nothing to rewrite" in again.stdout
    assert {file: file.read_bytes() for file in demo.rglob("*") if file.is_file()} == before


@pytest.mark.slow
@needs_jax
def test_before_it_cannot_be_imported(demo: Path) -> None:
    done = run(sys.executable, "-m", "petrel.train", cwd=demo)
    assert done.returncode != 0
    assert "Error" in done.stderr


@pytest.mark.slow
@needs_jax
def test_after_it_trains(demo: Path) -> None:
    assert rewrite(demo).returncode in (0, 1)
    done = run(sys.executable, "-m", "petrel.train", cwd=demo)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "loss 3.1565 -> 0.0019, on unseen rows 0.0019",
        "6 shards saved; encode is back as P(None, 'model')",
        "arrays alive on the first device: True",
    ]
