"""Environments with pinned packages, made once with uv or else with venv and pip, and kept in the cache of the corpus."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.corpus.fetch import Unavailable, cache

Fits = Callable[[tuple[int, int]], bool]
"""Whether a Python of that version can hold an environment."""


LISTS = Path(__file__).resolve().parent.parent / "targets"
RELEASES: dict[str, tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = {
    "0.4.13": ((3, 9), (3, 11), (3, 10)),
    "0.4.30": ((3, 9), (3, 12), (3, 12)),
    "0.6.2": ((3, 10), (3, 13), (3, 12)),
    "0.9.2": ((3, 11), (3, 14), (3, 11)),
}
"""Releases of JAX with the oldest and the newest Python that they have wheels for, and the one on which we would like to run them."""


def with_jax(release: str) -> Path:
    """The interpreter of the environment with an old JAX that all tests share.

    Raises:
        Unavailable: as for `environment`.
    """
    oldest, newest, wanted = RELEASES[release]
    return environment(f"jax-{release}", lambda version: oldest <= version <= newest, LISTS / f"jax-{release}.txt", wanted=wanted)


def environment(name: str, fits: Fits, *requirements: Path, wanted: tuple[int, int] | None = None) -> Path:
    """The interpreter of an environment with exactly these packages, made at the first call.

    Raises:
        Unavailable: there is no Python that fits, or the packages could not be installed.
    """
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in requirements)).hexdigest()[:12]
    place = cache() / f"{name}-{digest}"
    if not place.is_dir():
        with _alone(place):
            if not place.is_dir():
                _make(place, _base(place.name, fits, wanted), requirements)
                _warm(place)
    return place / "bin" / "python"


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Of two workers that want an environment, the second waits for the first."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / f".{place.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _base(name: str, fits: Fits, wanted: tuple[int, int] | None) -> Path:
    fitting = [(version, path) for path in interpreters() if (version := _version(path)) and fits(version)]
    if not fitting:
        raise Unavailable(f"there is no Python on which {name} can be made")
    return next((path for version, path in fitting if version == wanted), fitting[0][1])


def _warm(place: Path) -> None:
    """Compile what JAX imports, once: the runs of programs leave no bytecode behind."""
    rest = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    code = "import jax, jax.experimental.pjit, jax.numpy as jnp; jax.jit(jnp.sin)(1.0)"
    with suppress(OSError, subprocess.TimeoutExpired):
        command = [str(place / "bin" / "python"), "-c", code]
        subprocess.run(command, capture_output=True, timeout=300, check=False, env=rest | {"JAX_PLATFORMS": "cpu"})


def _make(place: Path, base: Path, requirements: Sequence[Path]) -> None:
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
    # Modules are compiled when they are first imported: most never are.
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
