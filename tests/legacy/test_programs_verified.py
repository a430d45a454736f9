"""No false alarm: every edit of every legacy program is judged equivalent where it is reached, alone and on several hosts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("jax")

from jaxmigrate.model import Applicability, Settings
from jaxmigrate.registry import known_newest
from jaxmigrate.verify.batch import Batch
from jaxmigrate.verify.judge import judge
from jaxmigrate.verify.launch import probe, run_all
from jaxmigrate.verify.model import Job, Plan, Program, Report, Tolerance, Verdict, World
from jaxmigrate.verify.plan import plan_rewrite
from tests.fixture_cases import EVERYTHING
from tests.legacy.test_programs import PROGRAMS, SEVERAL
from tests.verify.test_fixtures import OLDER, older_python  # noqa: F401  # a fixture

pytestmark = pytest.mark.slow

UNREACHED = {"serializer": 1}
"""How many edits stand in code that a program does not come to: an error's, or another kind of array's."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program with the plan of its migration."""

    name: str
    plan: Plan
    root: Path

    def job(self, name: str, python: str, processes: int = 1) -> Job:
        """One run, in a folder of its own."""
        side, world = ("before", World.LEGACY) if name == "before" else ("after", World.PLAIN)
        place = self.root.parent / f"{self.name}-{name}"
        place.mkdir()
        program = f"{self.name}.py"
        text = (self.root / program).read_bytes()
        (place / program).write_bytes(text if side == "before" else self.plan.after.get(program, text))
        where = (str(place), str(place), (str(place),))
        sites = self.plan.sites
        title = f"{self.name} {name}"
        return Job(title, Program.SCRIPT, program, (), *where, world, sites, side, python, processes=processes, timeout=300.0)


def prepared(program: Path, folder: Path) -> Prepared:
    root = folder / program.stem
    root.mkdir()
    (root / program.name).write_bytes(program.read_bytes())
    return Prepared(program.stem, plan_rewrite(str(root), Settings(known_newest(), allowed=Applicability.UNSAFE)), root)


NAMES = ("before", "after", "again")


def reports(python: str, folder: Path, some: Sequence[Path] = PROGRAMS) -> dict[str, Report]:
    programs = [prepared(program, folder) for program in some]
    with Batch(python) as batch:
        runs = batch.run([program.job(name, python) for program in programs for name in NAMES])
    return {p.name: judge(p.plan, *(runs[f"{p.name} {name}"] for name in NAMES), tolerance=Tolerance()) for p in programs}


def faults(report: Report) -> list[str]:
    found = [*report.errors, *(report.program if report.program_differs else ())]
    for judgement in report.judgements:
        if judgement.verdict not in (Verdict.EQUIVALENT, Verdict.NOT_REACHED):
            what = "; ".join(f"{d.aspect} {d.where}: {d.before} | {d.after}" for d in judgement.differences)
            found.append(f"line {judgement.edit.line} is {judgement.verdict.value}: {what or judgement.evidence}")
    return found


def check(found: dict[str, Report]) -> None:
    assert {name: faults(report) for name, report in found.items() if faults(report)} == {}
    unreached = {name: report.count(Verdict.NOT_REACHED) for name, report in found.items()}
    assert {name: n for name, n in unreached.items() if n} == {name: n for name, n in UNREACHED.items() if name in found}
    assert sum(report.count(Verdict.EQUIVALENT) for report in found.values()) > 4 * len(found)


def test_every_edit_is_equivalent_on_the_installed_jax(tmp_path: Path) -> None:
    check(reports(sys.executable, tmp_path))


def test_every_edit_is_equivalent_on_an_older_jax(tmp_path: Path, older_python: str) -> None:  # noqa: F811
    assert probe(older_python).jax == OLDER
    some = PROGRAMS if EVERYTHING else PROGRAMS[::6]
    check(reports(older_python, tmp_path, some))


@pytest.mark.parametrize(("program", "hosts"), SEVERAL, ids=[f"{p.stem}-{n}" for p, n in SEVERAL])
def test_every_edit_is_equivalent_on_several_hosts(program: Path, hosts: int, tmp_path: Path) -> None:
    case = prepared(program, tmp_path)
    runs = run_all([case.job(name, sys.executable, hosts) for name in NAMES], tmp_path)
    report = judge(case.plan, *(runs[f"{case.name} {name}"] for name in NAMES), tolerance=Tolerance())
    assert faults(report) == []
    assert report.reached == len(report.judgements)
