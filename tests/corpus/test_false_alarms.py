"""What must be left alone: packages that do not use JAX, and the code of today that does."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest

from jaxmigrate.engine import rewrite_source
from jaxmigrate.model import FileResult, Outcome, Settings, Status
from jaxmigrate.registry import known_newest
from jaxmigrate.runner import run
from tests.corpus.conftest import or_skip
from tests.corpus.fetch import fetch, read_pins
from tests.corpus.rewriting import parses

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

HERE = Path(__file__).parent
TRUE = HERE / "true.txt"
SETTINGS = Settings(target=known_newest())


def packages(name: str) -> dict[str, Path]:
    return or_skip(lambda: fetch(read_pins(HERE / f"{name}.txt")))


def files(trees: Sequence[Path]) -> list[Path]:
    return sorted(path for tree in trees for path in tree.rglob("*.py"))


def looked_at(trees: Sequence[Path]) -> list[FileResult]:
    named = [(str(path), "python") for path in files(trees)]
    return list(run(named, SETTINGS, jobs=2, write=False))


def edits(results: Sequence[FileResult]) -> list[str]:
    found = [(r.path, f) for r in results for f in r.findings if f.outcome is Outcome.APPLIED]
    return [f"{path}:{f.position.line}: {f.codemod}: {f.message}" for path, f in found]


@pytest.fixture(scope="module")
def others() -> dict[str, Path]:
    return packages("others")


def test_nothing_is_found_in_packages_without_jax(others: dict[str, Path]) -> None:
    assert len(files(list(others.values()))) > 3000
    results = looked_at(list(others.values()))
    assert [(r.path, f.codemod, f.message) for r in results for f in r.findings] == []
    assert [r.path for r in results if r.status in (Status.REWRITTEN, Status.FAILED) and parses(Path(r.path).read_bytes())] == []


def test_nor_if_jax_is_imported_on_top(others: dict[str, Path]) -> None:
    """The import takes the files past the search for words, so that every name in them is resolved."""
    sample = [path.read_bytes() for path in files(list(others.values()))[::40]]
    found = []
    for data in sample:
        if parses(data) and not ast.get_docstring(ast.parse(data)) and b"__future__" not in data:
            result = rewrite_source(b"import jax, jax.numpy as jnp\n" + data, SETTINGS)
            found += [(f.codemod, f.message, f.before) for f in result.findings]
    assert found == []


def test_nothing_is_edited_in_the_code_of_today_and_every_finding_is_true() -> None:
    trees = packages("modern")
    results = looked_at(list(trees.values()))
    assert edits(results) == []
    folders = {tree: name for name, tree in trees.items()}
    found = set()
    for result in results:
        path = Path(result.path)
        name = next(f"{package}/{path.relative_to(tree)}" for tree, package in folders.items() if path.is_relative_to(tree))
        found |= {(name, f.codemod, f.symbol) for f in result.findings if f.outcome in (Outcome.MANUAL, Outcome.HELD)}
    lines = [line for line in TRUE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert found == {(path, codemod, symbol) for path, codemod, symbol, _ in (line.split(": ", 3) for line in lines)}
