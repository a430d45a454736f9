"""What is emitted for a target runs on that very JAX: every fixture, rewritten for it, executed on its real release."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from jaxmigrate.model import Version
from jaxmigrate.registry import known_newest
from jaxmigrate.verify.batch import Batch
from jaxmigrate.verify.launch import probe
from jaxmigrate.verify.model import Job, Program, Run, World
from tests.corpus.conftest import or_skip
from tests.corpus.environments import RELEASES, with_jax
from tests.fixture_cases import CASES, EVERYTHING, Case
from tests.targets.claims import Claim, claims, due
from tests.verify.test_fixtures import OLDER

pytestmark = pytest.mark.slow

LIMIT = 120.0

EXECUTABLE = [case for case in CASES if case.executable]


def test_what_is_emitted_runs_on_every_target_it_is_claimed_for(tmp_path: Path) -> None:
    """One test, for what is to be run on a target depends on the programs for the others."""
    claimed = {version: claims(EXECUTABLE, version) for version in map(Version.parse, RELEASES)}
    few = {str(version): len(some) for version, some in claimed.items() if len(some) < 0.5 * len(EXECUTABLE)}
    assert not few, f"too few of {len(EXECUTABLE)} fixtures can be had"
    wrong = []
    for place, target in enumerate(RELEASES):
        python = or_skip(partial(with_jax, target))
        some = due(Version.parse(target), claimed, Version.parse(OLDER))
        some = some if EVERYTHING else some[place % 3 :: 3]
        wrong += [f"{target}: {fault}" for fault in faults(some, run(some, str(python), tmp_path / target))]
    assert not wrong, "\n".join(wrong)


def test_what_is_emitted_for_the_newest_runs_on_it(tmp_path: Path) -> None:
    """What is emitted by default is run by the verifier, in tests/verify/test_fixtures.py; here only what differs from it."""
    if probe(sys.executable).error:
        pytest.skip(probe(sys.executable).error)
    claimed = [claim for claim in claims(EXECUTABLE, known_newest()) if claim.program != claim.case.after]
    assert faults(claimed, run(claimed, sys.executable, tmp_path)) == []


def run(claimed: Sequence[Claim], python: str, folder: Path) -> dict[str, str]:
    """Run the programs; by fixture, how one ended if not well."""
    with Batch(python) as batch:
        runs = batch.run([_job(claim, python, folder) for claim in claimed])
    return {name: _ending(one) for name, one in runs.items()}


def _job(claim: Claim, python: str, folder: Path) -> Job:
    case: Case = claim.case
    tree = folder / case.id
    tree.mkdir(parents=True)
    (tree / "program.py").write_bytes(claim.program)
    return Job(
        name=case.id,
        program=Program.SCRIPT,
        target="program.py",
        args=(),
        root=str(tree),
        cwd=str(tree),
        search=(str(tree),),
        world=World.PLAIN,
        sites=(),
        side="after",
        python=python,
        devices=case.devices,
        timeout=LIMIT,
        legacy="auto",
    )


def _ending(run: Run) -> str:
    if run.error:
        return run.error
    process = run.processes[0]
    errors = re.findall(r"^[\w.]*(?:Error|Exception|Warning)\b.*", process.stderr, re.MULTILINE)
    return "" if process.status == 0 else (errors or [f"exit status {process.status}"])[-1]


def faults(claimed: Sequence[Claim], endings: dict[str, str]) -> list[str]:
    """Programs that fail, and reasons for not running that are no longer needed."""
    failed = [f"{c.case.id}: {endings[c.case.id]}" for c in claimed if endings[c.case.id] and not c.excluded]
    needless = [c.case.id for c in claimed if c.excluded and not endings[c.case.id]]
    return [*failed, *(f"{name}: it runs, take the reason out of its case.toml" for name in needless)]
