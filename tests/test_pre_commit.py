"""Both hooks, run by pre-commit itself in a scratch repository."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LEGACY = "import jax.numpy as jnp\n\n\ndef f(x: jnp.DeviceArray) -> jnp.DeviceArray:\n    return x  # kept\n"
MIGRATED = "import jax\n\n\ndef f(x: jax.Array) -> jax.Array:\n    return x  # kept\n"
CONFIG = """\
repos:
- repo: {repository}
  rev: {revision}
  hooks:
  - id: {hook}
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shutil.which("git"), reason="needs git")]


class Scratch:
    """A Git repository that uses the hooks, with pre-commit in an environment of its own."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.tool = base / "tool"
        self.work = base / "work"
        self.environment = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(base),
            "PRE_COMMIT_HOME": str(base / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{
                name: value
                for name, value in os.environ.items()
                if name.startswith(("PIP_", "PYENV_")) or name.endswith("_proxy")
            },
        }

    def run(self, *command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=cwd or self.work, env=self.environment, capture_output=True, text=True, check=False, timeout=500
        )

    def git(self, *arguments: str, cwd: Path) -> str:
        done = self.run("git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, folder: Path) -> str:
        self.git("init", "-q", cwd=folder)
        self.git("add", "-A", cwd=folder)
        self.git("commit", "-q", "-m", "as it is", cwd=folder)
        return self.git("rev-parse", "HEAD", cwd=folder)

    def hook(self, name: str, revision: str) -> subprocess.CompletedProcess[str]:
        config = CONFIG.format(repository=self.tool, revision=revision, hook=name)
        (self.work / ".pre-commit-config.yaml").write_text(config)
        self.git("add", "-A", cwd=self.work)
        return self.run(self.base / "venv" / "bin" / "pre-commit", "run", "--all-files", "--verbose")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    scratch = Scratch(tmp_path_factory.mktemp("pre-commit"))
    venv.create(scratch.base / "venv", with_pip=True)
    installed = scratch.run(scratch.base / "venv" / "bin" / "pip", "install", "-q", "pre-commit", cwd=scratch.base)
    assert installed.returncode == 0, installed.stderr
    left_out = shutil.ignore_patterns(".git", ".venv", "build", "*.egg-info", "__pycache__", ".*_cache", ".corpus", ".hypothesis")
    shutil.copytree(ROOT, scratch.tool, symlinks=True, ignore=left_out)
    scratch.work.mkdir()
    return scratch


def test_hooks_check_then_rewrite_then_pass(scratch: Scratch) -> None:
    revision = scratch.commit(scratch.tool)
    module = scratch.work / "module.py"
    module.write_bytes(LEGACY.encode())
    (scratch.work / "clean.py").write_text("x = 1\n")
    scratch.commit(scratch.work)

    checked = scratch.hook("jaxmigrate-check", revision)
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "module.py:4:10: safe device-array:" in checked.stdout
    assert module.read_bytes() == LEGACY.encode()

    rewritten = scratch.hook("jaxmigrate", revision)
    assert rewritten.returncode == 1, rewritten.stdout + rewritten.stderr
    assert "files were modified by this hook" in rewritten.stdout
    assert module.read_bytes() == MIGRATED.encode()

    for name in ("jaxmigrate", "jaxmigrate-check"):
        again = scratch.hook(name, revision)
        assert again.returncode == 0, again.stdout + again.stderr
        assert module.read_bytes() == MIGRATED.encode()

    installed = {path.name for path in (scratch.base / "cache").glob("**/site-packages/*")}
    assert any(name.startswith("libcst") for name in installed)
    assert not any(name in ("jax", "jaxlib", "numpy") for name in installed)
