"""How many modules of old packages import on the newest JAX, before and after a plain `rewrite`; and do their tests pass?

``python benchmarks/revival.py [--only NAME]... [--tests SECONDS] [--light] [--assert]`` takes the packages of the corpus and
of `revival_packages.txt`, as published on the package index, and an environment with the newest JAX and nearly everything they
import (minutes and 3 GB the first time; ``--light`` does with the smaller environment of the tests). What keeps the other
modules from being imported is sorted into kinds, by rules and by `tests/corpus/blockers.txt`, whose lines come from reading
the code. With ``--assert`` the exit status is 1 when one is left that fails because of a JAX API with a known replacement.
``--tests`` also runs the tests that the packages ship, as many files of each as fit into that many seconds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.corpus import rewriting  # noqa: E402
from tests.corpus.fetch import fetch, read_pins  # noqa: E402
from tests.corpus.revival import alive, environment, import_trees, kinds, missed, surroundings, table  # noqa: E402

HERE = Path(__file__).parent
FILE_LIMIT = 90.0
"""Seconds that one file of tests may take."""


@dataclass(frozen=True, slots=True)
class Tested:
    """How the tests of a package ended."""

    files: int = 0
    passed: int = 0
    failed: int = 0
    """Errors included; a file that cannot even be imported is one."""

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed"


def packages(names: Sequence[str]) -> dict[str, Path]:
    """The packages of these names; all, if there are none."""
    pins = [*read_pins(rewriting.PACKAGES), *read_pins(HERE / "revival_packages.txt")]
    return fetch([pin for pin in pins if not names or pin.name in names])


def modules_with_tests(tree: Path) -> list[Path]:
    """The modules of a tree that hold tests."""
    return sorted(path for path in tree.rglob("*.py") if re.match(r"test_.*\.py$|.*_test\.py$", path.name))


def run_tests(tree: Path, names: Sequence[str], seconds: float, python: Path) -> Tested:
    """Run as many of the files as there is time for."""
    end, done, passed, failed = time.monotonic() + seconds, 0, 0, 0
    for name in names:
        left = end - time.monotonic()
        if left < 5:
            break
        good, bad = _run_file(tree, name, min(left, FILE_LIMIT), python)
        done, passed, failed = done + 1, passed + good, failed + bad
    return Tested(done, passed, failed)


def _run_file(tree: Path, name: str, limit: float, python: Path) -> tuple[int, int]:
    command = [
        str(python),
        "-m",
        "pytest",
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tree),
        "-W",
        "ignore",
        name,
    ]
    environ = surroundings() | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, env=environ, cwd=tree)
    except subprocess.TimeoutExpired:
        return 0, 0
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", (done.stdout.splitlines() or [""])[-1])}
    return counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)


def tests_table(trees: Sequence[Mapping[str, Path]], seconds: float, python: Path) -> str:
    """The tests of each package before and after, the same files in both."""

    def both(name: str) -> tuple[Tested, Tested]:
        before, after = (side[name] for side in trees)
        names = [str(path.relative_to(before)) for path in modules_with_tests(before)]
        last = run_tests(after, names, seconds, python)
        return run_tests(before, names[: last.files], 4 * seconds, python), last

    shipping = [name for name, tree in trees[0].items() if modules_with_tests(tree)]
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(shipping, pool.map(both, shipping), strict=True))
    lines = [f"{name:16} {after.files:3} files  {before!s:24} -> {after}" for name, (before, after) in found.items()]
    total = [
        Tested(0, sum(side[i].passed for side in found.values()), sum(side[i].failed for side in found.values())) for i in (0, 1)
    ]
    return "\n".join(["tests that the packages ship", *lines, f"{'all':27} {total[0]!s:24} -> {total[1]}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this package")
    parser.add_argument("--tests", type=float, default=0.0, metavar="SECONDS", help="run each package's own tests for that long")
    parser.add_argument("--light", action="store_true", help="use the smaller environment of the tests")
    parser.add_argument("--assert", dest="strict", action="store_true", help="exit with 1 when a known replacement was missed")
    options = parser.parse_args(arguments)
    if options.light and options.tests:
        parser.error("the smaller environment cannot run tests")
    originals = packages(options.only)
    python = environment() if options.light else environment(HERE / "revival_environment.txt")
    with tempfile.TemporaryDirectory() as folder:
        rewritten = rewriting.rewrite(originals, Path(folder))
        before, after = import_trees(originals, python), import_trees(rewritten.trees, python)
        print(table(before, after), "", sep="\n")
        for kind, count in kinds(after).most_common():
            print(f"{count:5} modules held by {kind.value}")
        whole = [name for name, errors in after.items() if errors and alive(errors) == len(errors)]
        print(f"{len(whole)} of {len(after)} packages import as a whole: {', '.join(sorted(whole))}", flush=True)
        if options.tests:
            print("", tests_table((originals, rewritten.trees), options.tests, python), sep="\n", flush=True)
    return int(bool(options.strict and missed(after)))


if __name__ == "__main__":
    sys.exit(main())
