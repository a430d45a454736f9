"""Import old packages on the newest JAX, in an environment made for it, before and after a rewrite."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.corpus import environments
from tests.corpus.audit import LEGACY

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "revival.txt"
OLDEST_PYTHON = (3, 12)
"""What the newest JAX asks for."""


def environment() -> Path:
    """The interpreter of an environment with the newest JAX and what the packages import, made at the first call.

    Raises:
        Unavailable: there is no Python that is new enough, or pip could not install the packages.
    """
    return environments.environment("revival", REQUIREMENTS, lambda version: version >= OLDEST_PYTHON)


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
