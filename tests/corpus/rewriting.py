"""Run the tool on copies of the corpus, twice, and compare what it did with what it says it did."""

from __future__ import annotations

import ast
import difflib
import json
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxmigrate.discovery import discover
from jaxmigrate.model import FileResult, Finding, Outcome, Settings
from jaxmigrate.registry import known_newest
from jaxmigrate.runner import run
from tests.corpus.audit import Use, audit, own_attributes
from tests.corpus.fetch import ROOT, fetch, read_pins

PACKAGES = Path(__file__).with_name("packages.txt")
SUMMARY = Path(__file__).with_name("summary.txt")

EXPLAINED = Path(__file__).with_name("explained.txt")
"""What the checks would complain about without need: ``package/path: symbol: reason`` or ``package/path: line N: reason``."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What two runs of the tool did to copies of the packages."""

    originals: Mapping[str, Path]
    trees: Mapping[str, Path]
    first: Mapping[str, Sequence[FileResult]]
    second: Mapping[str, Sequence[FileResult]]


def originals() -> dict[str, Path]:
    """Package -> its unpacked wheel, as published."""
    return fetch(read_pins(PACKAGES))


def rewrite(packages: Mapping[str, Path], folder: Path, jobs: int | None = None) -> Rewritten:
    """Copy the packages into `folder` and run the tool on each copy twice, as a plain ``jaxmigrate rewrite`` does."""
    trees = {name: Path(shutil.copytree(tree, folder / name)) for name, tree in packages.items()}
    settings = Settings(target=known_newest())
    first, second = ({name: _run(tree, settings, jobs) for name, tree in trees.items()} for _ in range(2))
    return Rewritten(packages, trees, first, second)


def _run(tree: Path, settings: Settings, jobs: int | None) -> list[FileResult]:
    files = discover([str(tree)]).files
    return list(run(files, settings, jobs=jobs, write=True))


def summary(results: Mapping[str, Sequence[FileResult]]) -> str:
    """Counts of findings per package, codemod and applicability or outcome, one line each."""
    lines = ["# Made by `python -m tests.corpus.update`: package, codemod, what became of the findings."]
    for name in sorted(results):
        counts = Counter((finding.codemod, _column(finding)) for result in results[name] for finding in result.findings)
        codemods = sorted({codemod for codemod, _ in counts})
        for codemod in codemods:
            columns = " ".join(f"{column}={n}" for (of, column), n in sorted(counts.items()) if of == codemod)
            lines.append(f"{name:18} {codemod:22} {columns}")
    return "\n".join(lines) + "\n"


def _column(finding: Finding) -> str:
    return str(finding.applicability) if finding.outcome is Outcome.APPLIED else finding.outcome.value


def parses(data: bytes) -> bool:
    """Whether today's Python takes the module."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


def unnamed(tree: Path, results: Sequence[FileResult]) -> Iterator[tuple[str, Use, str]]:
    """What the audit sees in a rewritten tree and no finding of the second run names: path, use, line of source."""
    findings = {Path(result.path): result.findings for result in results}
    sources = {path: path.read_bytes().decode("utf-8-sig") for path in sorted(tree.rglob("*.py")) if parses(path.read_bytes())}
    own, explained = own_attributes(sources.values()), _explained()
    for path, source in sources.items():
        name = f"{tree.name}/{path.relative_to(tree)}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            uses = audit(source, own)
        for use in uses:
            if not _named(use, findings.get(path, ())) and (name, use.symbol) not in explained:
                yield name, use, source.splitlines()[use.line - 1].strip()


def _named(use: Use, findings: Sequence[Finding]) -> bool:
    if any(finding.position.line <= use.line <= finding.end.line for finding in findings):
        return True
    # An import is kept for the sake of the uses that are left, and these carry the finding.
    if use.kind == "import":
        return any(_same(finding.symbol, use.symbol) for finding in findings)
    # Or the finding stands at the import and lists the lines of the uses.
    listing = [finding.symbol for finding in findings if "; used in line " in finding.message]
    return use.kind == "name" and any(_holds(symbol, use.symbol) or _holds(use.symbol, symbol) for symbol in listing)


def _holds(outer: str, inner: str) -> bool:
    return f"{inner}.".startswith(f"{outer}.")


def _same(symbol: str, imported: str) -> bool:
    return symbol == imported or symbol.startswith(f"{imported}.") or symbol.rpartition(".")[2] == imported.rpartition(".")[2]


def _explained() -> set[tuple[str, str]]:
    lines = EXPLAINED.read_text("utf-8").splitlines() if EXPLAINED.exists() else []
    parts = [line.split(": ", 2) for line in lines if line and not line.startswith("#")]
    return {(path, symbol) for path, symbol, _ in parts}


def stray_changes(tree: Path, result: FileResult) -> Iterator[str]:
    """Lines that changed although no applied finding stands on them and they belong to no import."""
    before, after = (data.decode("utf-8-sig").splitlines(keepends=True) for data in (result.before, result.after))
    allowed = _lines_of_edits(result) | _lines_of_imports(result.before)
    new_imports = _lines_of_imports(result.after)
    name, explained = f"{tree.name}/{Path(result.path).relative_to(tree)}", _explained()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        # Blank lines around a deleted statement may go with it.
        gone = [] if tag == "equal" else [n for n in range(i1, i2) if n + 1 not in allowed and before[n].strip()]
        yield from (f"{name}: line {n + 1}: {before[n].strip()}" for n in gone if (name, f"line {n + 1}") not in explained)
        if tag == "insert" and not {i1, i1 + 1} & allowed:
            yield from (f"{name}: line {i1 + 1}: + {after[n].strip()}" for n in range(j1, j2) if n + 1 not in new_imports)


def _lines_of_edits(result: FileResult) -> set[int]:
    """The statements that hold an applied finding: an `if` whose test is folded goes as a whole."""
    tree = ast.parse(result.before)
    spans = [_span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    lines: set[int] = set()
    for finding in result.findings:
        if finding.outcome is Outcome.APPLIED:
            first, last = finding.position.line, finding.end.line
            around = [span for span in spans if span[0] <= first <= span[1]]
            inner = max(around, default=(first, last))
            lines.update(range(inner[0], inner[1] + 1), range(first, last + 1))
    return lines


def _span(node: ast.stmt) -> tuple[int, int]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.lineno, node.body[0].lineno - 1
    return node.lineno, node.end_lineno or node.lineno


def new_complaints(rewritten: Rewritten, rules: str) -> list[str]:
    """What ruff says about the rewritten trees and does not say, or says less often, about the originals."""
    before, after = (_complaints(trees.values(), rules) for trees in (rewritten.originals, rewritten.trees))
    return sorted(f"{file}: {message}" for file, message in (after - before).elements())


def _complaints(trees: Iterable[Path], rules: str) -> Counter[tuple[str, str]]:
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--no-respect-gitignore", "--exit-zero"]
    options = [f"--select={rules}", "--output-format=json"]
    found: Counter[tuple[str, str]] = Counter()
    for tree in trees:
        done = subprocess.run([*command, *options, str(tree)], capture_output=True, text=True, check=True)
        for item in json.loads(done.stdout):
            found[str(Path(item["filename"]).relative_to(tree.resolve())), item["message"]] += 1
    return found


def _lines_of_imports(data: bytes) -> set[int]:
    imports = [node for node in ast.walk(ast.parse(data)) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {line for node in imports for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


__all__ = [
    "ROOT",
    "SUMMARY",
    "Rewritten",
    "new_complaints",
    "originals",
    "parses",
    "rewrite",
    "stray_changes",
    "summary",
    "unnamed",
]
