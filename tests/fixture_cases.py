"""The fixtures as test parameters: what `case.toml` asks for, and one place that runs the rewriter on them."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from jaxmigrate.engine import project_findings, rewrite_source
from jaxmigrate.model import Applicability, FileResult, Finding, Settings, Version
from jaxmigrate.registry import known_newest

EVERYTHING = bool(os.environ.get("JAXMIGRATE_EVERY_TARGET"))
"""Whether every program is run on every JAX: that takes longer than a change can wait for."""
FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


@dataclass(frozen=True, slots=True)
class Case:
    """One folder of fixtures: a program before, the same after, and how it is to be rewritten."""

    folder: Path
    settings: Settings
    expect: tuple[str, ...]
    devices: int
    executable: bool
    legacy: str
    """The JAX that before.py was written for, where it does not tell."""
    verify: str
    """Why runs of the two programs differ; empty where they are equivalent."""
    not_on: tuple[tuple[str, str], ...]
    """Targets on whose JAX the result does not run, and why that is no fault."""
    before: bytes = field(repr=False)
    """The legacy program."""
    after: bytes = field(repr=False)
    """What it must become."""

    @property
    def id(self) -> str:
        """``codemod/case``."""
        return f"{self.folder.parent.name}/{self.folder.name}"


def load(folder: Path) -> Case:
    """Read ``case.toml`` of a fixture folder."""
    file = folder / "case.toml"
    table = tomllib.loads(file.read_text()) if file.exists() else {}
    unknown = set(table) - {
        "target",
        "options",
        "allowed",
        "select",
        "expect",
        "devices",
        "executable",
        "legacy",
        "verify",
        "not_on",
        "from",
    }
    assert not unknown, f"{file}: unknown keys {sorted(unknown)}"
    settings = Settings(
        target=Version.parse(table["target"]) if "target" in table else known_newest(),
        select=frozenset(table["select"]) if "select" in table else None,
        allowed=Applicability[table.get("allowed", "review").upper()],
        options=tuple(sorted(table.get("options", {}).items())),
        origin=Version.parse(table["from"]) if "from" in table else None,
    )
    programs = [(folder / name).read_bytes() if (folder / name).exists() else b"" for name in ("before.py", "after.py")]
    expect, devices, executable = tuple(table.get("expect", ())), table.get("devices", 8), table.get("executable", True)
    legacy, verify, not_on = table.get("legacy", "auto"), table.get("verify", ""), tuple(table.get("not_on", {}).items())
    return Case(folder, settings, expect, devices, executable, legacy, verify, not_on, *programs)


def folders(name: str) -> list[Path]:
    """The fixture folders that hold a file `name`."""
    return sorted(p.parent for p in FIXTURES.glob(f"*/*/{name}"))


def rewrite(data: bytes, case: Case) -> FileResult:
    """Rewrite a program as its case asks, and add what codemods say about the program as a whole."""
    result = rewrite_source(data, case.settings, path="before.py", module="before")
    whole = [finding for _, finding in project_findings([result], case.settings)]
    return replace(result, findings=(*result.findings, *whole))


@cache
def outcome(case: Case) -> FileResult:
    """What becomes of before.py; many tests look at it."""
    return rewrite(case.before, case)


def described(finding: Finding) -> str:
    """``applicability: message``, the form in which case.toml names findings."""
    return f"{finding.applicability}: {finding.message}"


CASES = [load(folder) for folder in folders("before.py") if (folder / "after.py").exists()]
