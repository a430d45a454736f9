"""Wrong migrations, made by hand: every one must be told from its original, and the right ones must not.

A mutant is a program below ``mutants/`` that begins with a header: the original that it claims to migrate, what is wrong with it,
of which kind that is, in how many processes it shows, and, where it ends by an exception, the class of that.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from jaxmigrate.verify.batch import Batch
from jaxmigrate.verify.judge import judge
from jaxmigrate.verify.launch import probe, run
from jaxmigrate.verify.model import Job, Judgement, Plan, Program, Report, Run, Tolerance, Verdict, World
from jaxmigrate.verify.plan import plan_against, plan_texts

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).with_name("mutants")
ORIGINALS = FOLDER / "originals"
LEAST = 60
LIMIT = 120.0

KINDS = {
    "axes swapped in a spec",
    "buffers in another device order",
    "mesh transposed",
    "replicated instead of sharded",
    "sharded instead of replicated",
    "host-local conversion dropped",
    "spec of the wrong argument",
    "addressable_data(i) of a replicated array",
    "wrong branch kept",
    "live_arrays of all devices",
    "shard shape of PmapSharding",
    "dtype lost",
    "isinstance that flips on tracers",
    "None or P()",
    "with mesh without its jit",
}
"""What the issue names; there are more."""

RUNNER = '''"""Run several programs one after the other; neither an error nor a flag of one reaches the next."""
import contextlib
import importlib
import traceback

import jax

for name in {names!r}:
    try:
        importlib.import_module(name)
    except Exception:
        traceback.print_exc()
    with contextlib.suppress(AttributeError):
        jax.config.update("jax_parallel_functions_output_gda", False)
'''


@dataclass(frozen=True)
class Mutant:
    """A wrong migration."""

    path: Path
    head: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def original(self) -> Path:
        return ROOT / self.head["original"]

    @property
    def right(self) -> Path:
        return self.original.with_name(self.original.name.replace("before.py", "after.py"))

    @property
    def processes(self) -> int:
        return int(self.head["processes"])

    @cached_property
    def text(self) -> str:
        """The program without its header."""
        return re.sub(r"\A(# \w+: .*\n)+", "", self.path.read_text())


def load(path: Path) -> Mutant:
    """Read a mutant's header, which is all there is above its first line of code."""
    head = re.match(r"\A(?:# \w+: .*\n)+", path.read_text())
    assert head, path
    return Mutant(path, dict(re.findall(r"^# (\w+): (.*)$", head[0], re.MULTILINE)))


MUTANTS = [load(path) for path in sorted(FOLDER.glob("*.py"))]
ALONE = [mutant for mutant in MUTANTS if mutant.processes == 1]
TOGETHER = [mutant for mutant in MUTANTS if mutant.processes == 2]

needs_jax = pytest.mark.skipif(bool(probe(sys.executable).error), reason=probe(sys.executable).error or "JAX is here")


def test_there_are_enough_of_every_kind() -> None:
    kinds = Counter(mutant.head["kind"] for mutant in MUTANTS)
    assert len(MUTANTS) >= LEAST
    assert set(kinds) >= KINDS, KINDS - set(kinds)
    assert len(TOGETHER) >= 10


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_says_what_it_is(mutant: Mutant) -> None:
    assert set(mutant.head) <= {"original", "wrong", "kind", "processes", "raises", "verdict"}
    assert mutant.head["wrong"].endswith(".")
    assert mutant.original.exists()
    assert mutant.text not in {mutant.original.read_text(), mutant.right.read_text()}
    compile(mutant.text, mutant.name, "exec")


def test_every_original_of_ours_has_a_mutant_and_a_right_migration() -> None:
    assert set(ORIGINALS.glob("*.before.py")) == {m.original for m in MUTANTS if m.original.parent == ORIGINALS}
    assert all(mutant.right.exists() for mutant in MUTANTS)


def job(name: str, tree: Path, plan: Plan, *, target: str = "program.py", processes: int = 1) -> Job:
    """A run of what lies in a folder; `name` ends with the side."""
    before = name.endswith("before")
    return Job(
        name=name,
        program=Program.SCRIPT,
        target=target,
        args=(),
        root=str(tree),
        cwd=str(tree),
        search=(str(tree),),
        world=World.LEGACY if before else World.PLAIN,
        sites=plan.sites,
        side="before" if before else "after",
        python=sys.executable,
        processes=processes,
        timeout=LIMIT,
    )


def judged(
    pairs: Mapping[str, tuple[str, str]], folder: Path, again: frozenset[str] = frozenset()
) -> dict[str, tuple[Report, Run]]:
    """Run and judge pairs of programs, original and migration, each alone; also how the migrations ended."""
    plans = {name: plan_texts(before, after) for name, (before, after) in pairs.items()}
    jobs = []
    for name, texts in pairs.items():
        for side, text in zip(("before", "after", "again"), (*texts, texts[1]), strict=True):
            if side == "again" and name not in again:
                continue
            tree = folder / name / side
            tree.mkdir(parents=True)
            (tree / "program.py").write_text(text)
            jobs.append(job(f"{name} {side}", tree, plans[name]))
    with Batch(sys.executable) as batch:
        runs = batch.run(jobs)
    return {name: (_report(plans[name], runs, name), runs[f"{name} after"]) for name in pairs}


def _report(plan: Plan, runs: Mapping[str, Run], name: str) -> Report:
    before, after = runs[f"{name} before"], runs[f"{name} after"]
    return judge(plan, before, after, runs.get(f"{name} again", after), tolerance=Tolerance())


def judged_together(pairs: Mapping[str, tuple[str, str]], folder: Path) -> tuple[Report, Run]:
    """Run and judge pairs as the modules of one program in two processes."""
    names = [name.replace("-", "_") for name in pairs]
    trees = {side: folder / side for side in ("before", "after")}
    for number, tree in enumerate(trees.values()):
        tree.mkdir(parents=True)
        (tree / "main.py").write_text(RUNNER.format(names=names))
        for name, texts in zip(names, pairs.values(), strict=True):
            (tree / f"{name}.py").write_text(texts[number])
    plan = plan_against(str(trees["before"]), str(trees["after"]), str(trees["after"] / "main.py"))
    runs = {}
    for side, tree in trees.items():
        (folder / f"{side} run").mkdir()
        runs[f"all {side}"] = run(job(f"all {side}", tree, plan, target="main.py", processes=2), folder / f"{side} run")
    return _report(plan, runs, "all"), runs["all after"]


def wrong(judgements: Sequence[Judgement], mutant: Mutant) -> list[Judgement]:
    """The edits that show that this is no migration of the original."""
    verdicts = {Verdict.DIFFERENT} | ({Verdict(mutant.head["verdict"])} if "verdict" in mutant.head else set())
    return [judgement for judgement in judgements if judgement.verdict in verdicts]


def raised(run: Run) -> set[str]:
    """The classes of exceptions that the recorder saw, and their bases."""
    return set(_classes(record.get("x") for process in run.processes for record in process.records))


def _classes(exceptions: Iterator[object]) -> Iterator[str]:
    for x in exceptions:
        if isinstance(x, dict):
            yield str(x["type"])
            yield from x.get("bases", ())


def printed(run: Run) -> set[str]:
    """The classes of exceptions whose tracebacks a run printed."""
    return {name for process in run.processes for name in re.findall(r"^(?:\w+\.)*(\w+)(?::|$)", process.stderr, re.MULTILINE)}


def score(survivors: Mapping[str, str], mutants: Sequence[Mutant]) -> str:
    """The mutation score, and what survived."""
    rate = f"mutation score: {len(mutants) - len(survivors)} of {len(mutants)}"
    return "\n".join([rate, *(f"{name} survives: {why}" for name, why in survivors.items())])


def why_it_survives(mutant: Mutant, report: Report, after: Run) -> str:
    """What is missing for this mutant to count as found; empty if nothing is."""
    if report.errors:
        return f"could not be run: {report.errors}"
    if not (wrong(report.judgements, mutant) or report.program_differs):
        return f"{mutant.head['wrong']} {[j.verdict.value for j in report.judgements]}"
    error = mutant.head.get("raises")
    return f"does not raise {error}" if error and error not in raised(after) else ""


@pytest.mark.slow
@needs_jax
def test_every_mutant_is_found(tmp_path: Path) -> None:
    again = frozenset(mutant.name for mutant in ALONE if "verdict" in mutant.head)
    found = judged({mutant.name: (mutant.original.read_text(), mutant.text) for mutant in ALONE}, tmp_path, again)
    survivors = {m.name: why for m in ALONE if (why := why_it_survives(m, *found[m.name]))}
    print(score(survivors, ALONE))
    assert not survivors, score(survivors, ALONE)


@pytest.mark.slow
@needs_jax
def test_every_mutant_of_two_processes_is_found(tmp_path: Path) -> None:
    pairs = {mutant.name: (mutant.original.read_text(), mutant.text) for mutant in TOGETHER}
    report, after = judged_together(pairs, tmp_path)
    by_file = {name: [j for j in report.judgements if j.edit.path == f"{name.replace('-', '_')}.py"] for name in pairs}
    survivors = {m.name: f"{[j.verdict.value for j in by_file[m.name]]}" for m in TOGETHER if not wrong(by_file[m.name], m)}
    print(score(survivors, TOGETHER))
    assert not report.errors
    assert not survivors, score(survivors, TOGETHER)
    assert printed(after) >= {mutant.head["raises"] for mutant in TOGETHER if "raises" in mutant.head}


def right_pairs(mutants: Sequence[Mutant]) -> dict[str, tuple[str, str]]:
    """The originals of mutants with their right migrations; fixtures in one process are tried in `test_fixtures`."""
    mine = [m for m in mutants if m.original.parent == ORIGINALS or m.processes == 2]
    return {f"{m.original.parent.name}-{m.original.name[:-10]}": (m.original.read_text(), m.right.read_text()) for m in mine}


def alarms(report: Report) -> list[str]:
    """What a report holds against a right migration."""
    bad = [j for j in report.judgements if j.verdict not in {Verdict.EQUIVALENT, Verdict.NOT_REACHED}]
    listed = [f"{j.edit.path}:{j.edit.line}: {j.edit.before!r}: {j.differences or j.evidence}" for j in bad]
    return [*listed, *report.errors, *(report.program if report.program_differs else ())]


@pytest.mark.slow
@needs_jax
def test_the_right_migration_of_an_original_is_no_alarm(tmp_path: Path) -> None:
    found = judged(right_pairs(ALONE), tmp_path)
    assert not {name: alarms(report) for name, (report, _) in found.items() if alarms(report)}
    assert not [name for name, (report, _) in found.items() if not report.count(Verdict.EQUIVALENT)]


@pytest.mark.slow
@needs_jax
def test_the_right_migration_of_an_original_is_no_alarm_in_two_processes(tmp_path: Path) -> None:
    report, _ = judged_together(right_pairs(TOGETHER), tmp_path)
    assert not alarms(report)
    assert report.count(Verdict.EQUIVALENT) >= len(right_pairs(TOGETHER))
