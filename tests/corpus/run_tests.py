"""Run tests of an unpacked package with pytest and record how each ended; run by another Python, so it needs nothing but pytest.

``python run_tests.py TREE RECORD FILE...`` appends one JSON line to RECORD at each ending, so that what was done remains when the
process is killed: ``{"file": ..., "test": ..., "end": "passed" | "failed" | "skipped", "why": error, "where": file}``. A file that
cannot be collected is a line without a test, and so is one that was collected.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

TEST_LIMIT = 20
"""Seconds for one test."""
FILE_LIMIT = 60
"""Seconds for the import of one file."""


class Recorder:
    """Limits the time of each step and writes down how it ended."""

    def __init__(self, record: TextIO) -> None:
        """Write to `record`."""
        self.record = record

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        """Give an import so much time."""
        signal.alarm(FILE_LIMIT)
        try:
            report = yield
        finally:
            signal.alarm(0)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Give a test so much time."""
        signal.alarm(TEST_LIMIT)
        try:
            return (yield)
        finally:
            signal.alarm(0)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write down which files could be imported."""
        if report.nodeid.endswith(".py"):
            self.write(report, "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write down a test when it was called, or when it did not come so far; parts of tests are no tests."""
        if type(report) is not pytest.TestReport:
            return
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self.write(report, report.nodeid.partition("::")[2])

    def write(self, report: pytest.CollectReport | pytest.TestReport, test: str) -> None:
        """Append a line."""
        why, where = _error(report.longrepr) if report.failed else ("", "")
        line = {"file": report.nodeid.partition("::")[0], "test": test, "end": report.outcome, "why": why, "where": where}
        print(json.dumps(line), file=self.record, flush=True)


def _error(shown: object) -> tuple[str, str]:
    """The error and the file it was raised in, from what pytest would show."""
    crash = getattr(shown, "reprcrash", None)
    if crash is not None:
        return crash.message.strip().splitlines()[0][:300], crash.path
    text = str(shown).strip().splitlines()
    errors = [line[1:].strip() for line in text if line.startswith("E ")] or text[-1:]
    # The last of a chain is the one that was raised; what follows it is its notes.
    return next((line for line in reversed(errors) if ":" in line), errors[0] if errors else "")[:300], ""


def _timed_out(signum: int, frame: object) -> None:
    raise TimeoutError("it took too long")


def _parse_flags() -> None:
    """Tests that absl would start find its flags parsed."""
    try:
        from absl import flags
    except ImportError:
        return
    flags.FLAGS.mark_as_parsed()


def _import_first(files: list[str]) -> None:
    """Import JAX and the packages of the tests, which may take longer than one file is given."""
    for name in ("jax", *sorted({Path(file).parts[0] for file in files})):
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def _forget_halves(tree: str) -> None:
    """Let no module stay behind whose package could not be imported: the next file would find it and seem to work."""
    own = {path.stem for path in Path(tree).iterdir()}
    for name in [name for name in sys.modules if name.partition(".")[0] in own]:
        if any(parent not in sys.modules for parent in itertools.accumulate(name.split("."), "{}.{}".format)):
            del sys.modules[name]


def main() -> int:
    """Run the files."""
    tree, record, *files = sys.argv[1:]
    signal.signal(signal.SIGALRM, _timed_out)
    sys.path.insert(0, tree)
    # Tests outside of packages import what lies beside them; at the end, where it hides nothing.
    folders = sorted({(Path(tree) / file).parent for file in files})
    sys.path += [str(folder) for folder in folders if not (folder / "__init__.py").exists()]
    _parse_flags()
    _import_first(files)
    quiet = ["-q", "--tb=short", "--no-header", "-p", "no:cacheprovider", "-W", "ignore", "-c", "/dev/null"]
    ways = ["--import-mode=importlib", "-o", "consider_namespace_packages=true", "--continue-on-collection-errors"]
    with Path(record).open("a", encoding="utf-8") as stream:
        # One after the other: collecting all before the first test runs would take the time of the tests.
        for file in files:
            _forget_halves(tree)
            pytest.main([*quiet, *ways, "--rootdir", tree, str(Path(tree, file))], plugins=[Recorder(stream)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
