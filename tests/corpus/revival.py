"""Import old packages on the newest JAX, in an environment made for it, before and after a rewrite."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.corpus.audit import LEGACY
from tests.corpus.fetch import Unavailable, cache

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "revival.txt"
OLDEST_PYTHON = (3, 12)
"""What the newest JAX asks for."""


def environment() -> Path:
    """The interpreter of an environment with the newest JAX and what the packages import, made at the first call.

    Raises:
        Unavailable: there is no Python that is new enough, or pip could not install the packages.
    """
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    place = cache() / f"revival-{digest}"
    if not place.is_dir():
        _make(place)
    return place / "bin" / "python"


def _make(place: Path) -> None:
    base = next((path for path in _interpreters() if _is_new_enough(path)), None)
    if base is None:
        raise Unavailable(f"the newest JAX needs Python {'.'.join(map(str, OLDEST_PYTHON))} or newer, and there is none")
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(partial / "bin" / "python"),
        "--disable-pip-version-check",
        "--no-input",
        "install",
    ]
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "-r", str(REQUIREMENTS)]
    try:
        _check([str(base), "-m", "venv", "--without-pip", str(partial)], 120)
        _check([*install, *options], 600)
        # Nothing in it is called by a script with its path inside, so it may be moved into place.
        partial.rename(place)
    except (OSError, Unavailable):
        shutil.rmtree(partial, ignore_errors=True)
        if not place.is_dir():
            raise


def _check(command: list[str], timeout: float) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"the environment with the newest JAX could not be made: {error}") from error
    if done.returncode:
        raise Unavailable(
            "the environment with the newest JAX could not be made: " + " | ".join(done.stderr.strip().splitlines()[-3:])
        )


def _interpreters() -> Iterator[Path]:
    """Interpreters of this machine, the one that runs the tests first."""
    yield Path(sys.executable)
    for minor in range(19, 10, -1):
        found = shutil.which(f"python3.{minor}")
        if found:
            yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/3.*/bin/python"), reverse=True)


def _is_new_enough(python: Path) -> bool:
    command = [str(python), "-c", "import sys, venv; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return not done.returncode and tuple(map(int, done.stdout.split())) >= OLDEST_PYTHON


Errors = Mapping[str, str]
"""Module -> first line of what keeps it from being imported, or the empty string."""


def import_trees(trees: Mapping[str, Path], *, faked: bool = False) -> dict[str, Errors]:
    """Import every module of every tree, each package in a process of its own."""
    python = environment()
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(trees, pool.map(lambda tree: _import(python, tree, faked), trees.values()), strict=True))


def _import(python: Path, tree: Path, faked: bool) -> Errors:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JAX_", "XLA_"))}
    environ |= {"JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg"}
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder, "legacy.txt")
        names.write_text(" ".join(sorted(LEGACY)), "utf-8")
        command = [str(python), str(HERE / "import_all.py"), str(tree), *([str(names)] if faked else [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environ, cwd=folder)
    if done.returncode:
        return {"(the process)": (done.stderr.strip().splitlines() or ["it was killed"])[-1]}
    errors: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return errors


def table(before: Mapping[str, Errors], after: Mapping[str, Errors]) -> str:
    """Package, modules, how many import before and after, and the error that keeps most of the rest from it."""
    lines = [f"{'package':18} {'modules':>7} {'before':>6}    {'after':>5}  first remaining error"]
    for name, errors in after.items():
        counts = Counter(error for error in errors.values() if error)
        error = counts.most_common(1)[0][0] if counts else ""
        lines.append(f"{name:18} {len(errors):7} {_alive(before[name]):6} -> {_alive(errors):5}  {error[:110]}".rstrip())
    total = [sum(map(_alive, errors.values())) for errors in (before, after)]
    lines.append(f"{'all':18} {sum(map(len, after.values())):7} {total[0]:6} -> {total[1]:5}")
    return "\n".join(lines)


def _alive(errors: Errors) -> int:
    return sum(not error for error in errors.values())
