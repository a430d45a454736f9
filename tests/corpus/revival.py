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
from tests.corpus.blockers import Kind, blocker

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "revival.txt"
OLDEST_PYTHON = (3, 12)
"""What the newest JAX asks for."""
NEWEST_PYTHON = (3, 13)
"""What all the packages have wheels for."""
LIMIT = 1500
"""Seconds for the imports of one package."""


def environment(*more: Path) -> Path:
    """The interpreter of an environment with the newest JAX and what the packages import, made at the first call.

    Raises:
        Unavailable: there is no Python that is new enough, or pip could not install the packages.
    """
    return environments.environment("revival", lambda version: OLDEST_PYTHON <= version <= NEWEST_PYTHON, REQUIREMENTS, *more)


Errors = Mapping[str, str]
"""Module -> first line of what keeps it from being imported, or the empty string."""


def import_trees(trees: Mapping[str, Path], python: Path) -> dict[str, Errors]:
    """Import every module of every tree, each package in a process of its own."""
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(trees, pool.map(lambda tree: _import(python, tree), trees.values()), strict=True))


def surroundings() -> dict[str, str]:
    """The environment variables for a run of old packages: nothing of ours, and no accelerator, window or chatter."""
    rest = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JAX_", "XLA_"))}
    return rest | {"JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg", "TF_CPP_MIN_LOG_LEVEL": "3"}


def _import(python: Path, tree: Path) -> Errors:
    command = [str(python), str(HERE / "import_all.py"), str(tree)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LIMIT, check=False, env=surroundings(), cwd=folder
            )
        except subprocess.TimeoutExpired:
            return {"(the process)": f"it did not end in {LIMIT} seconds"}
    if done.returncode:
        return {"(the process)": (done.stderr.strip().splitlines() or ["it was killed"])[-1]}
    errors: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return errors


def table(before: Mapping[str, Errors], after: Mapping[str, Errors]) -> str:
    """Package, modules, how many import before and after, and what keeps the rest from it."""
    lines = [f"{'package':16} {'modules':>7} {'before':>6}    {'after':>5}  what keeps the rest"]
    for name, errors in after.items():
        line = f"{name:16} {len(errors):7} {alive(before[name]):6} -> {alive(errors):5}"
        rest = Counter(blocker(name, error) for error in errors.values() if error)
        reasons = [f"{n} {found.kind.value}: {found.reason[:120]}" for found, n in rest.most_common(3)]
        lines.append(f"{line}  {reasons[0] if reasons else ''}".rstrip())
        lines += [" " * 40 + reason for reason in reasons[1:]]
    total = [sum(map(alive, errors.values())) for errors in (before, after)]
    lines.append(f"{'all':16} {sum(map(len, after.values())):7} {total[0]:6} -> {total[1]:5}")
    return "\n".join(lines)


def kinds(after: Mapping[str, Errors]) -> Counter[Kind]:
    """How many modules each kind of blocker keeps from being imported."""
    return Counter(blocker(name, error).kind for name, errors in after.items() for error in errors.values() if error)


def missed(after: Mapping[str, Errors]) -> dict[str, str]:
    """What should not be: modules held by an API with a known replacement, or by something that nobody has read."""
    wrong = (Kind.MISSED, Kind.UNREAD)
    return {
        f"{name}: {module}": error
        for name, errors in after.items()
        for module, error in errors.items()
        if error and blocker(name, error).kind in wrong
    }


def alive(errors: Errors) -> int:
    """How many modules can be imported."""
    return sum(not error for error in errors.values())
