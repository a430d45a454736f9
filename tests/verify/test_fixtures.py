"""Every fixture through the whole machinery: before.py on the emulated old JAX, after.py on the installed one, each edit judged."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from jaxmigrate.verify.batch import Batch
from jaxmigrate.verify.judge import judge
from jaxmigrate.verify.launch import probe
from jaxmigrate.verify.model import Job, Plan, Program, Report, Run, Tolerance, Verdict, World
from jaxmigrate.verify.plan import plan_texts
from tests.corpus.conftest import or_skip
from tests.corpus.environments import with_jax
from tests.fixture_cases import CASES, EVERYTHING, Case

pytestmark = pytest.mark.slow

OLDER = "0.9.2"
"""The JAX besides the installed one on which pairs must hold."""
LIMIT = 120.0
FINE = {Verdict.EQUIVALENT, Verdict.NOT_REACHED}

EXECUTABLE = [case for case in CASES if case.executable]
ON_INSTALLED = EXECUTABLE if EVERYTHING else EXECUTABLE[::3]
ON_OLDER = EXECUTABLE if EVERYTHING else EXECUTABLE[1::9]


@dataclass(frozen=True, slots=True)
class Tried:
    """A fixture with what its runs and their judge say."""

    case: Case
    report: Report
    before: Run
    after: Run

    def faults(self) -> list[str]:
        """All that is no `equivalent`, in sentences."""
        found = [
            f"{run.name} ended with {_status(run)}: {_last_line(run)}" for run in (self.before, self.after) if _status(run) != 0
        ]
        found += self.report.errors
        found += [text for text in self.report.program if self.report.program_differs]
        for judgement in self.report.judgements:
            if judgement.verdict not in FINE:
                edit, differences = (
                    judgement.edit,
                    "; ".join(f"{d.aspect}{d.where}: {d.before} | {d.after}" for d in judgement.differences),
                )
                found.append(
                    f"line {edit.line}: {edit.before!r} -> {edit.after!r} is {judgement.verdict.value}: {differences or judgement.evidence}"
                )
        return found


def _status(run: Run) -> int | str | None:
    return run.error or run.processes[0].status


def _last_line(run: Run) -> str:
    lines = run.processes[0].stderr.strip().splitlines() if run.processes else []
    return lines[-1] if lines else ""


def tried(cases: Sequence[Case], python: str, folder: Path) -> list[Tried]:
    """Run and judge fixtures; only what differs is run a second time, to tell chance from change."""
    plans = {case.id: plan_texts(case.before.decode(), case.after.decode()) for case in cases}
    with Batch(python) as batch:
        jobs = [job(case, plans[case.id], side, python, folder) for case in cases for side in ("before", "after")]
        runs = batch.run(jobs)
        found = [_judged(case, plans[case.id], runs, f"{case.id} after") for case in cases]
        doubtful = {one.case.id for one in found if one.faults()}
        runs |= batch.run([job(case, plans[case.id], "again", python, folder) for case in cases if case.id in doubtful])
    return [_judged(t.case, plans[t.case.id], runs, f"{t.case.id} again") if t.case.id in doubtful else t for t in found]


def _judged(case: Case, plan: Plan, runs: Mapping[str, Run], again: str) -> Tried:
    before, after = runs[f"{case.id} before"], runs[f"{case.id} after"]
    return Tried(case, judge(plan, before, after, runs[again], tolerance=Tolerance()), before, after)


def job(case: Case, plan: Plan, name: str, python: str, folder: Path) -> Job:
    """One run of one version of a fixture, in a folder of its own."""
    tree = folder / case.id / name
    tree.mkdir(parents=True)
    (tree / "program.py").write_bytes(case.before if name == "before" else case.after)
    side = "before" if name == "before" else "after"
    return Job(
        name=f"{case.id} {name}",
        program=Program.SCRIPT,
        target="program.py",
        args=(),
        root=str(tree),
        cwd=str(tree),
        search=(str(tree),),
        world=World.LEGACY if name == "before" else World.PLAIN,
        sites=plan.sites,
        side=side,
        python=python,
        devices=case.devices,
        timeout=LIMIT,
        legacy=case.legacy,
    )


def check(found: Sequence[Tried]) -> None:
    """No false alarm, and the verdicts rest on code that ran."""
    faults = {one.case.id: one.faults() for one in found if one.faults() and not one.case.verify}
    assert not faults, "\n".join(f"{name}: {fault}" for name, listed in faults.items() for fault in listed)
    edits = [judgement for one in found for judgement in one.report.judgements if not one.case.verify]
    reached = [judgement for judgement in edits if judgement.verdict is Verdict.EQUIVALENT]
    assert len(reached) >= 0.95 * len(edits), f"{len(reached)} of {len(edits)} edits were reached"


def test_pairs_are_equivalent_on_the_installed_jax(tmp_path: Path) -> None:
    """One test, for it runs all: each worker that had a share of several tests would run everything again."""
    if probe(sys.executable).error:
        pytest.skip(probe(sys.executable).error)
    found = tried(ON_INSTALLED, sys.executable, tmp_path)
    check(found)
    assert not {one.case.id: _last_line(one.after) for one in found if _status(one.after) != 0}
    needless = [one.case.id for one in found if one.case.verify and not one.faults()]
    assert not needless, "these are equivalent: take the reason out of their case.toml"


def test_few_pairs_differ() -> None:
    assert sum(bool(case.verify) for case in EXECUTABLE) <= 0.06 * len(EXECUTABLE)


def test_pairs_are_equivalent_on_an_older_jax(tmp_path: Path, older_python: str) -> None:
    check(tried(ON_OLDER, older_python, tmp_path))


@pytest.fixture(scope="module")
def older_python() -> str:
    """A Python with the older JAX."""
    return str(or_skip(partial(with_jax, OLDER)))
