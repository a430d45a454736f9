"""What recording costs: the CPU time of a legacy program with the recorder at all its edits, against its plain run.

``python benchmarks/verify_overhead.py [--rounds N] [--only WORD] [--assert]`` takes the programs of tests/legacy, plans their
migration, and runs each version with and without the recorder in turn (A B A B ...): the original on `jaxmigrate.legacy`, the
migrated one on the installed JAX. The plain run of an original is that of ``jaxmigrate run``. CPU time is user plus system, the
median of the rounds; the total is over all programs. With ``--assert`` the exit status is 1 when the total misses the target.

Ratios carry over to another machine, seconds do not.
"""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from jaxmigrate import legacy  # noqa: E402
from jaxmigrate.cli.run import environment_of  # noqa: E402
from jaxmigrate.model import Applicability, Settings  # noqa: E402
from jaxmigrate.registry import known_newest  # noqa: E402
from jaxmigrate.verify import launch  # noqa: E402
from jaxmigrate.verify.model import Job, Plan, Program, World  # noqa: E402
from jaxmigrate.verify.plan import plan_rewrite  # noqa: E402

PROGRAMS = ROOT / "tests" / "legacy" / "programs"
TARGET = 1.5
NOT_MIGRATED = {"adam_multimap", "pmap_eval", "rng_keys"}
"""Programs with removed names that no codemod replaces; only their originals run."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program in a process of its own."""

    argv: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]

    def cpu(self) -> float:
        """Run it once; the seconds of CPU that it and its children took."""
        quiet = subprocess.DEVNULL
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                self.argv, stdin=quiet, stdout=quiet, stderr=errors, cwd=self.folder, env=dict(self.environment)
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                said = errors.read().decode(errors="replace")[-1000:]
                raise RuntimeError(f"exit status {process.returncode} of {' '.join(self.argv)}:\n{said}")
        return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True, slots=True)
class Pair:
    """One version of a program, with the recorder and without."""

    program: str
    world: World
    sites: int
    recorded: Command
    plain: Command


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table."""

    what: str
    sites: int
    recorded: float
    plain: float

    @property
    def ratio(self) -> float:
        """What the recorded run costs in plain runs."""
        return self.recorded / self.plain

    def line(self) -> str:
        """For the table."""
        return f"{self.what:38} {self.sites:5} {self.recorded:9.2f} {self.plain:9.2f} {self.ratio:7.2f}"


HEADER = f"{'':38} {'sites':>5} {'recorded':>9} {'plain':>9} {'ratio':>7}"


def pairs(program: Path, scratch: Path) -> Iterator[Pair]:
    """The original and, if it can be migrated, the result."""
    source = scratch / program.stem
    source.mkdir()
    (source / program.name).write_bytes(program.read_bytes())
    plan = plan_rewrite(str(source), Settings(known_newest(), allowed=Applicability.UNSAFE))
    yield _pair(program, plan, "before", World.LEGACY, program.read_bytes(), scratch)
    if program.stem not in NOT_MIGRATED:
        text = plan.after.get(program.name, program.read_bytes())
        yield _pair(program, plan, "after", World.PLAIN, text, scratch)


def _pair(program: Path, plan: Plan, side: str, world: World, text: bytes, scratch: Path) -> Pair:
    root = scratch / f"{program.stem}-{side}"
    place = scratch / f"{program.stem}-{side}-run"
    root.mkdir()
    place.mkdir()
    (root / program.name).write_bytes(text)
    job = Job(
        side, Program.SCRIPT, program.name, (), str(root), str(root), (), world, plan.sites, side, sys.executable, devices=8
    )
    variables = launch.environment(job, place, "benchmark")
    recorder = (sys.executable, str(launch.RECORDER), str(launch.write_job(job, place)))
    plain = variables
    if world is World.LEGACY:
        version, jax_array = legacy.guess([text])
        plain = variables | environment_of(version, jax_array)
    sites = sum((site.before if side == "before" else site.after) is not None for site in plan.sites)
    command = Command((sys.executable, program.name), root, plain)
    return Pair(program.stem, world, sites, Command(recorder, root, variables), command)


def measure(pair: Pair, rounds: int) -> Measured:
    """Run both in turn."""
    times = [(pair.recorded.cpu(), pair.plain.cpu()) for _ in range(rounds)]
    recorded, plain = (statistics.median(side) for side in zip(*times, strict=True))
    return Measured(f"{pair.program} ({pair.world.value})", pair.sites, recorded, plain)


def total(lines: Sequence[Measured]) -> Measured:
    """All programs together."""
    return Measured(
        "total",
        sum(line.sites for line in lines),
        sum(line.recorded for line in lines),
        sum(line.plain for line in lines),
    )


def programs(only: str) -> list[Path]:
    """The legacy programs whose name holds a word."""
    return [program for program in sorted(PROGRAMS.glob("*.py")) if only in program.stem]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often each pair runs (default 3)")
    parser.add_argument("--only", default="", help="only programs whose name contains this")
    parser.add_argument("--assert", dest="strict", action="store_true", help="exit with 1 when the target is missed")
    options = parser.parse_args(arguments)
    compileall.compile_dir(str(launch.LEGACY), quiet=1)  # as an installation does
    print(HEADER, flush=True)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for program in programs(options.only):
            for pair in pairs(program, Path(folder)):
                lines.append(measure(pair, options.rounds))
                print(lines[-1].line(), flush=True)
    summary = total(lines)
    met = summary.ratio <= TARGET
    print(summary.line(), f"<= {TARGET}", "met" if met else "MISSED")
    return int(options.strict and not met)


if __name__ == "__main__":
    sys.exit(main())
