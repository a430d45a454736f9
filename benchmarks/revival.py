"""How many modules of old packages import on the newest JAX, before and after a plain `rewrite`; and do their tests pass?

``python benchmarks/revival.py [--only NAME]... [--tests SECONDS] [--light] [--assert]`` takes the packages of the corpus and
of `revival_packages.txt`, as published on the package index, and an environment with the newest JAX and nearly everything they
import (minutes and 3 GB the first time; ``--light`` does with the smaller environment of the tests). What keeps the other
modules from being imported is sorted into kinds, by rules and by `tests/corpus/blockers.txt`, whose lines come from reading
the code. With ``--assert`` the exit status is 1 when one is left that fails because of a JAX API with a known replacement.
``--tests`` also runs the tests that the packages ship, as many of each as fit into that many seconds, on both sides the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.corpus import rewriting, shipped_tests  # noqa: E402
from tests.corpus.fetch import fetch, fetch_tests, read_pins  # noqa: E402
from tests.corpus.revival import alive, environment, import_trees, kinds, missed, table  # noqa: E402

HERE = Path(__file__).parent


def packages(names: Sequence[str]) -> dict[str, Path]:
    """The packages of these names; all, if there are none."""
    pins = [*read_pins(rewriting.PACKAGES), *read_pins(HERE / "revival_packages.txt")]
    return fetch([pin for pin in pins if not names or pin.name in names])


def with_tests(trees: Mapping[str, Path]) -> dict[str, Path]:
    """The same packages, with the tests of those whose wheels have none."""
    sources = [pin for pin in read_pins(HERE / "revival_tests.txt") if pin.name in trees]
    return {**trees, **fetch_tests(sources, trees)}


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
    originals = with_tests(originals) if options.tests else originals
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
            found = shipped_tests.compare_all(originals, rewritten.trees, options.tests, python)
            print("", shipped_tests.table(found), sep="\n", flush=True)
    return int(bool(options.strict and missed(after)))


if __name__ == "__main__":
    sys.exit(main())
