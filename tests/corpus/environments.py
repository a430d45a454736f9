"""Environments with pinned packages, made once with uv or else with venv and pip, and kept in the cache of the corpus."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.corpus.fetch import Unavailable, cache

Fits = Callable[[tuple[int, int]], bool]
"""Whether a Python of that version can hold an environment."""


def environment(name: str, fits: Fits, *requirements: Path) -> Path:
    """The interpreter of an environment with exactly these packages, made at the first call.

    Raises:
        Unavailable: there is no Python that fits, or the packages could not be installed.
    """
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in requirements)).hexdigest()[:12]
    place = cache() / f"{name}-{digest}"
    if not place.is_dir():
        _make(place, fits, requirements)
    return place / "bin" / "python"


def _make(place: Path, fits: Fits, requirements: Sequence[Path]) -> None:
    base = next((path for path in interpreters() if (version := _version(path)) and fits(version)), None)
    if base is None:
        raise Unavailable(f"there is no Python on which {place.name} can be made")
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        _check([str(base), "-m", "venv", "--without-pip", "--clear", str(partial)], 120, place.name)
        files = [option for file in requirements for option in ("-r", str(file))]
        _check([*_installer(partial / "bin" / "python"), "--no-deps", "--only-binary=:all:", *files], 900, place.name)
        # Nothing in it is called by a script with its path inside, so it may be moved into place.
        partial.rename(place)
    except (OSError, Unavailable):
        shutil.rmtree(partial, ignore_errors=True)
        if not place.is_dir():
            raise


def _installer(python: Path) -> list[str]:
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python", str(python)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--no-input"]
    # Modules are compiled when they are imported: most never are.
    return [*pip, "install", "--quiet", "--no-compile"]


def _check(command: list[str], timeout: float, name: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{name} could not be made: {error}") from error
    if done.returncode:
        raise Unavailable(f"{name} could not be made: " + " | ".join(done.stderr.strip().splitlines()[-3:]))


def interpreters() -> Iterator[Path]:
    """Interpreters of this machine, the one that runs the tests first, then the newest."""
    yield Path(sys.executable)
    for minor in range(19, 8, -1):
        if found := shutil.which(f"python3.{minor}"):
            yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    homes = pyenv.glob("versions/3.*/bin/python")
    yield from sorted(homes, key=lambda path: [int(n) for n in re.findall(r"\d+", path.parts[-3])], reverse=True)


def _version(python: Path) -> tuple[int, int] | None:
    """Its version; None for a name on the path that only says that there is no such interpreter."""
    command = [str(python), "-c", "import sys, venv; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    major, minor = done.stdout.split()
    return int(major), int(minor)
