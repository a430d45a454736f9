"""The tests that old packages ship, run on the newest JAX before and after a rewrite, and what keeps the rest from passing."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.corpus.blockers import Kind, blocker
from tests.corpus.revival import surroundings

HERE = Path(__file__).parent
NAMES = re.compile(r"test_.*\.py$|.*_test\.py$")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a test ended, or the import of a file of tests (then `test` is empty)."""

    file: str
    test: str
    end: str
    """``passed``, ``failed`` or ``skipped``."""
    why: str
    where: str
    """The file in which the error was raised."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The tests of a package that ran after the rewrite, and what became of the same tests before it."""

    files: int
    tests: int
    before: int
    """How many passed."""
    after: int
    lost: tuple[str, ...]
    """Tests that passed before only."""
    reasons: Counter[tuple[str, str]]
    """Kind and error of what does not pass after; a file that cannot be imported counts once."""


def modules_with_tests(tree: Path) -> list[str]:
    """The modules of a tree that hold tests."""
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*.py") if NAMES.match(path.name))


def compare(name: str, before: Path, after: Path, seconds: float, python: Path) -> Compared:
    """Run the tests for so many seconds after the rewrite, and those files that were reached for twice as long before it."""
    new = run_tests(after, modules_with_tests(after), seconds, python)
    reached = sorted({ending.file for ending in new})
    old = {(e.file, e.test): e.end for e in run_tests(before, reached, 2 * seconds, python)}
    tests = [ending for ending in new if ending.test and ending.end != "skipped"]
    lost = tuple(f"{e.file}::{e.test}: {e.why}" for e in tests if e.end == "failed" and old.get((e.file, e.test)) == "passed")
    reasons = Counter(_reason(name, ending) for ending in new if ending.end == "failed")
    passed = sum(old.get((e.file, e.test)) == "passed" for e in tests)
    return Compared(len(reached), len(tests), passed, sum(e.end == "passed" for e in tests), lost, reasons)


def run_tests(tree: Path, files: Sequence[str], seconds: float, python: Path) -> list[Ending]:
    """How the tests of these files ended that came to an end in so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record"
        record.touch()
        command = [str(python), str(HERE / "run_tests.py"), str(tree), str(record), *files]
        environ = surroundings() | {"PYTHONDONTWRITEBYTECODE": "1"}
        quiet = subprocess.DEVNULL
        with subprocess.Popen(
            command, stdin=quiet, stdout=quiet, stderr=quiet, env=environ, cwd=folder, start_new_session=True
        ) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        # A line that was cut off by the end is no ending.
        lines = [line for line in record.read_text("utf-8").split("\n")[:-1] if line]
    return [Ending(**json.loads(line)) for line in lines]


def _reason(package: str, ending: Ending) -> tuple[str, str]:
    """The kind of a failure, and its error without what differs from one run to the next."""
    error = re.sub(r"0x[0-9a-f]+|\d{3,}", "...", ending.why)[:110]
    found = blocker(package, ending.why)
    if found.kind is not Kind.UNREAD:
        return found.kind.value, error
    if ending.why.startswith(("AssertionError", "assert ", "Failed: DID NOT")):
        return "a comparison", "values that differ"
    if "it took too long" in ending.why:
        return "the time", error
    return f"an error raised in {_owner(package, ending.where)}", error


def _owner(package: str, file: str) -> str:
    """Whose file that is: the package's own, or that of another one in the environment."""
    inside = re.search(r"site-packages/([^/.]+)", file)
    return inside[1] if inside else "the package itself"


def compare_all(before: Mapping[str, Path], after: Mapping[str, Path], seconds: float, python: Path) -> dict[str, Compared]:
    """Package -> its tests before and after, of those packages that ship any."""
    names = [name for name, tree in after.items() if modules_with_tests(tree)]
    with ThreadPoolExecutor(2) as pool:
        return dict(
            zip(names, pool.map(lambda name: compare(name, before[name], after[name], seconds, python), names), strict=True)
        )


def table(found: Mapping[str, Compared]) -> str:
    """Package, files and tests that came to an end in the time, how many passed before and after, and what most of the others say."""
    lines = [f"{'package':16} {'files':>5} {'tests':>6} {'passed':>6}    {'after':>5}  what most of the others say"]
    for name, one in found.items():
        reasons = [f"{n} {kind}: {error}" for (kind, error), n in one.reasons.most_common(3)]
        head = f"{name:16} {one.files:5} {one.tests:6} {one.before:6} -> {one.after:5}"
        lines.append(f"{head}  {reasons[0] if reasons else ''}".rstrip())
        lines += [" " * 42 + reason for reason in reasons[1:]]
    files, tests, before, after = (
        sum(column) for column in zip(*((c.files, c.tests, c.before, c.after) for c in found.values()), strict=True)
    )
    lines.append(f"{'all':16} {files:5} {tests:6} {before:6} -> {after:5}")
    kinds: Counter[str] = Counter()
    for one in found.values():
        for (kind, _), n in one.reasons.items():
            kinds[kind] += n
    lines += ["", *(f"{n:5} tests or files held by {kind}" for kind, n in kinds.most_common())]
    lines += [f"passed before only: {name}: {test}" for name, one in found.items() for test in one.lost]
    return "\n".join(lines)
