"""What is emitted for a target runs on that very JAX: every fixture, rewritten for it, executed on its real release."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jaxmigrate.model import Version
from jaxmigrate.registry import known_newest
from jaxmigrate.verify.batch import Batch
from jaxmigrate.verify.launch import probe
from jaxmigrate.verify.model import Job, Program, Run, World
from tests.corpus.conftest import or_skip
from tests.corpus.environments import environment
from tests.fixture_cases import CASES, Case
from tests.targets.claims import Claim, claims

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
LIMIT = 120.0
TARGETS: dict[str, Callable[[tuple[int, int]], bool]] = {
    "0.4.13": lambda python: (3, 9) <= python <= (3, 11),
    "0.4.30": lambda python: (3, 9) <= python <= (3, 12),
    "0.6.2": lambda python: (3, 10) <= python <= (3, 13),
    "0.9.2": lambda python: (3, 11) <= python <= (3, 14),
}
"""Releases with the Pythons that they have wheels for; what is to be installed is listed beside this file."""

EXECUTABLE = [case for case in CASES if case.executable]


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_emitted_runs_on_the_target(target: str, tmp_path: Path) -> None:
    python = or_skip(lambda: environment(f"jax-{target}", TARGETS[target], HERE / f"jax-{target}.txt"))
    claimed = claims(EXECUTABLE, Version.parse(target))
    _check(claimed, run(claimed, str(python), tmp_path))
    assert len(claimed) >= 0.4 * len(EXECUTABLE), f"only {len(claimed)} of {len(EXECUTABLE)} fixtures can be had for {target}"


def test_what_is_emitted_for_the_newest_runs_on_it(tmp_path: Path) -> None:
    """What is emitted by default is run by the verifier, in tests/verify/test_fixtures.py; here only what differs from it."""
    if probe(sys.executable).error:
        pytest.skip(probe(sys.executable).error)
    claimed = [claim for claim in claims(EXECUTABLE, known_newest()) if claim.program != claim.case.after]
    _check(claimed, run(claimed, sys.executable, tmp_path))


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
    return "" if process.status == 0 else (process.stderr.strip().splitlines() or [f"exit status {process.status}"])[-1]


def _check(claimed: Sequence[Claim], endings: dict[str, str]) -> None:
    failed = {claim.case.id: endings[claim.case.id] for claim in claimed if endings[claim.case.id] and not claim.excluded}
    assert not failed, "\n".join(f"{name}: {ending}" for name, ending in failed.items())
    needless = [claim.case.id for claim in claimed if claim.excluded and not endings[claim.case.id]]
    assert not needless, "these run: take the reason out of their case.toml"
