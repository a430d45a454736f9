"""What a rewrite costs: against reading the same bytes, against other tools, in seconds of CPU and in memory.

``python benchmarks/rewrite_speed.py [--rounds N] [--only WORD] [--assert]`` fetches pinned packages of the package index into
the corpus cache, runs each pair of commands in turn (A B A B ...) and prints the median of the ratios of the rounds. CPU time is
user plus system of a command and all its workers. With ``--assert`` the exit status is 1 when a target is missed.

Ratios carry over to another machine, seconds do not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.corpus.fetch import Unavailable, cache, fetch, read_pins  # noqa: E402

HERE = Path(__file__).parent
CLICK = "import click"
PLAIN_READ = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith(".py"):
            with open(os.path.join(folder, name), "rb") as file:
                b"jax" in file.read()
"""
MODERN = """
import jax
import jax.numpy as jnp
from jax import lax, random
from jax.sharding import NamedSharding, PartitionSpec as P

@jax.jit
def step(w, x):
    return lax.fori_loop(0, 3, lambda i, c: jnp.dot(c, w).clip(0, 1), x)

def init(key, mesh):
    w = random.normal(key, (4, 4))
    return jax.tree.map(lambda a: jax.device_put(a, NamedSharding(mesh, P())), w)
"""
LIBCST_SAMPLE_BYTES = 400_000
OLD, NEW = "jax.tree_map", "jax.tree_util.tree_map"
"""The one rename that the other tools are asked for."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took."""

    cpu: float
    peak: float
    """Largest resident size of one of its processes, in MiB."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and what to multiply its cost by if it saw only a part of the tree."""

    argv: tuple[str, ...]
    scale: float = 1.0
    before: Callable[[], None] = lambda: None
    fine: tuple[int, ...] = (0,)
    """Exit statuses of a run that did its work."""

    def run(self) -> Cost:
        """Run it once; its output is thrown away."""
        self.before()
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(self.argv, stdin=quiet, stdout=quiet, stderr=quiet, env=_environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in self.fine:
            raise RuntimeError(f"exit status {process.returncode} of {' '.join(self.argv)[:300]}")
        return Cost((usage.ru_utime + usage.ru_stime) * self.scale, usage.ru_maxrss / 1024)


def _environment() -> dict[str, str]:
    """Modules are compiled once, as after an installation, whatever the environment says; the first run of a pair does it."""
    rest = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return rest | {"PYTHONPYCACHEPREFIX": str(cache() / "bytecode")}


@dataclass(frozen=True, slots=True)
class Row:
    """A pair of commands and the ratio of their CPU times that is asked for."""

    what: str
    ours: Command
    theirs: Command
    target: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table."""

    what: str
    ours: str
    theirs: str
    measured: float
    target: float

    @property
    def met(self) -> bool:
        """Whether the target was reached."""
        return self.measured <= self.target

    def line(self) -> str:
        """For the table."""
        verdict = "met" if self.met else "MISSED"
        numbers = f"{self.ours:>9} {self.theirs:>9} {_number(self.measured):>9} {'<= ' + _number(self.target):>10}"
        return f"{self.what:58} {numbers}  {verdict}"


HEADER = f"{'':58} {'ours':>9} {'theirs':>9} {'ratio':>9} {'target':>10}"


def _number(value: float) -> str:
    return f"1/{1 / value:.0f}" if 0 < value < 0.02 else f"{value:.2f}"


def ratio(row: Row) -> Measured:
    """Run both commands in turn and take the median of the ratios."""
    row.ours.run(), row.theirs.run()
    pairs = [(row.ours.run().cpu, row.theirs.run().cpu) for _ in range(row.rounds)]
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    middle = statistics.median(a / b for a, b in pairs)
    return Measured(row.what, f"{ours:.3f} s", f"{theirs:.3f} s", middle, row.target)


def memory(what: str, command: Command, limit: float) -> Measured:
    """The largest resident size of a run, in MiB."""
    peak = command.run().peak
    return Measured(what, f"{peak:.1f}", "", peak, limit)


def rewrite(*arguments: str) -> Command:
    """The tool as it is started by its installed script, all codemods on."""
    start = "from jaxmigrate.cli import main; main()"
    # Status 2: some packages ship files on purpose that no Python can parse.
    return Command((sys.executable, "-c", start, "rewrite", "--check", "--exit-zero", *arguments), fine=(0, 2))


def tree(name: str) -> Path:
    """The packages of one pin file, side by side in one folder."""
    place = cache() / f"tree-{name}"
    packages = fetch(read_pins(HERE / f"{name}.txt"))
    wanted = sorted(path.name for path in packages.values())
    if not place.is_dir() or sorted(path.name for path in place.iterdir()) != wanted:
        shutil.rmtree(place, ignore_errors=True)
        for source in packages.values():
            shutil.copytree(source, place / source.name, copy_function=os.link)
    return place


def tools() -> Path:
    """The ``bin`` of an environment with the other tools."""
    place = cache() / "tools"
    if not (place / "bin" / "ruff").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(HERE / "tools.txt")]
        done = subprocess.run([str(place / "bin" / "python"), *install], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable("the other tools could not be installed: " + done.stderr.strip()[-300:])
    return place / "bin"


def python_files(top: Path) -> list[Path]:
    """Every Python file below `top`, sorted."""
    return sorted(path for path in top.rglob("*.py") if path.is_file())


def libcst_rename(heavy: Path, scratch: Path) -> Command:
    """libcst's rename on a sample of the tree, its cost multiplied up to the bytes of the whole tree."""
    files = python_files(heavy)
    total = sum(path.stat().st_size for path in files)
    # Every n-th file of the tree, so that the sample holds files of all packages and sizes.
    sample = files[:: max(1, total // LIBCST_SAMPLE_BYTES)]

    def lay() -> None:
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        for number, path in enumerate(sample):
            shutil.copy(path, scratch / f"m{number}.py")

    rename = ("--old_name", OLD, "--new_name", NEW)
    command = ("codemod", "rename.RenameCommand", "--jobs=1", "--no-format", *rename, str(scratch))
    scale = total / sum(path.stat().st_size for path in sample)
    return Command((str(tools() / "python"), "-m", "libcst.tool", *command), scale, lay)


def rows(large: Path, heavy: Path, scratch: Path, rounds: int) -> Iterator[Row]:
    """Every pair with its target."""
    clean, modern = scratch / "clean.py", scratch / "modern.py"
    clean.write_text("def add(a, b):\n    return a + b\n", "utf-8")
    modern.write_text(MODERN, "utf-8")
    few = max(1, rounds // 3)
    read = Command((sys.executable, "-c", PLAIN_READ, str(large)))
    ruff = (
        str(tools() / "ruff"),
        "check",
        "--isolated",
        "--no-cache",
        "--no-respect-gitignore",
        "--exit-zero",
        "--select=NPY201",
    )
    grep = (str(tools() / "ast-grep"), "run", "--no-ignore=vcs", "--no-ignore=hidden", "--lang=python", f"--pattern={OLD}")
    yield Row(
        "one clean file, against python -c 'import click'",
        rewrite(str(clean)),
        Command((sys.executable, "-c", CLICK)),
        1.3,
        4 * rounds,
    )
    yield Row(
        "one file of today's JAX, against python -c 'import click'",
        rewrite(str(modern)),
        Command((sys.executable, "-c", CLICK)),
        1.6,
        4 * rounds,
    )
    yield Row("large, against reading it", rewrite(str(large)), read, 2.0, rounds)
    yield Row("large, against ruff --select NPY201", rewrite(str(large)), Command((*ruff, str(large))), 0.5, rounds)
    yield Row("heavy, against ast-grep, one rule", rewrite(str(heavy)), Command((*grep, str(heavy))), 1.5, rounds)
    sampled = libcst_rename(heavy, scratch / "sample")
    what = f"heavy, against libcst.tool, one rename (1/{sampled.scale:.0f} of it, scaled)"
    yield Row(what, rewrite(str(heavy)), sampled, 1 / 200, few)


def measure(rounds: int, only: str) -> Iterator[Measured]:
    """Every line of the table."""
    large, heavy = tree("large"), tree("heavy")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(large, heavy, Path(folder), rounds):
            if only in row.what:
                yield ratio(row)
    for name, top in (("large", large), ("heavy", heavy)):
        what = f"{name}, peak memory of one process, MiB"
        if only in what:
            yield memory(what, rewrite("-j", "1", str(top)), 60.0)


def describe(name: str) -> str:
    """How big a tree is."""
    files = size = jax = 0
    # One file at a time: what this process holds in memory would be counted as the peak of the processes that it starts.
    for path in python_files(tree(name)):
        data = path.read_bytes()
        files, size, jax = files + 1, size + len(data), jax + (b"import jax" in data or b"from jax" in data)
    return f"{name}: {files} files, {size / 1e6:.0f} MB, {jax} import jax"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each pair runs (default 5)")
    parser.add_argument("--only", default="", help="only lines that contain this")
    parser.add_argument("--assert", dest="strict", action="store_true", help="exit with 1 when a target is missed")
    options = parser.parse_args(arguments)
    print(describe("large"), describe("heavy"), "", HEADER, sep="\n", flush=True)
    missed = 0
    for measured in measure(options.rounds, options.only):
        print(measured.line(), flush=True)
        missed += not measured.met
    return int(bool(missed and options.strict))


if __name__ == "__main__":
    sys.exit(main())
