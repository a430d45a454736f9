"""Programs as they were written from 2021 to 2023 run unmodified on today's JAX, and print what their migrated selves print."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from jaxmigrate import testing

pytest.importorskip("jax")
if not hasattr(os, "fork"):
    pytest.skip("the programs run in forks", allow_module_level=True)

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
TIMEOUT = 300


class Result(NamedTuple):
    """What a program left."""

    status: int
    output: str
    errors: str


Results = dict[str, Result]


def header(program: Path, name: str) -> list[int]:
    """The numbers that follow ``# name:`` at the top of a program."""
    found = re.search(rf"^# {name}: ([\d ]+)$", program.read_text(), re.MULTILINE)
    assert found, f"{program.name} does not say how many {name} it wants"
    return [int(number) for number in found[1].split()]


SEVERAL = [(program, n) for program in PROGRAMS for n in header(program, "processes") if n > 1]


def forked(programs: list[Path], world: str) -> Results:
    lines = "".join(f"{header(program, 'devices')[0]}\t{world}\t{program}\n" for program in programs)
    environment = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", "JAX_ARRAY")}
    command = [sys.executable, str(Path(__file__).with_name("forked.py"))]
    done = subprocess.run(
        command,
        input=lines,
        stdout=subprocess.PIPE,
        text=True,
        env={**environment, "JAX_PLATFORMS": "cpu"},
        timeout=TIMEOUT,
        check=True,
    )
    return {Path(path).stem: Result(*result) for path, result in json.loads(done.stdout).items()}


def said(result: Result, name: str) -> str:
    """What a program printed; JAX 0.12 prints the place of a pjit whose arguments cannot be divided, also where that is caught."""
    return "".join(line for line in result.output.splitlines(keepends=True) if f"{name}.py:" not in line)


@pytest.fixture(scope="module")
def originals() -> Results:
    return forked(PROGRAMS, "legacy")


def migrate(program: Path) -> str:
    source = program.read_bytes()
    return (testing.run(source, allowed="unsafe", path=str(program)).after or source).decode()


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("migrated")
    for program in PROGRAMS:
        (folder / program.name).write_text(migrate(program))
    return forked([folder / program.name for program in PROGRAMS], "plain")


def test_there_are_programs_enough() -> None:
    assert len(PROGRAMS) >= 18
    lines = {program.stem: len(program.read_text().splitlines()) for program in PROGRAMS}
    assert {name: n for name, n in lines.items() if not 30 <= n <= 150} == {}


@pytest.mark.parametrize("name", [program.stem for program in PROGRAMS])
def test_an_original_runs_unmodified(name: str, originals: Results) -> None:
    result = originals[name]
    assert result.status == 0, result.errors[-3000:]
    assert result.output, "every program prints what it computed"


@pytest.mark.parametrize("name", [program.stem for program in PROGRAMS])
def test_a_migrated_program_prints_what_the_original_printed(name: str, originals: Results, migrated: Results) -> None:
    result = migrated[name]
    assert result.status == 0, result.errors[-3000:]
    assert said(result, name) == originals[name].output


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run_on_hosts(program: Path, hosts: int) -> list[Result]:
    """`jaxmigrate run` once a host; exit status and output of each."""
    command = [sys.executable, "-m", "jaxmigrate", "run", "--devices", str(header(program, "devices")[0] // hosts), str(program)]
    command += ["--coordinator", f"127.0.0.1:{free_port()}", "--num_hosts", str(hosts)]
    started = [
        subprocess.Popen([*command, "--host", str(host)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for host in range(hosts)
    ]
    try:
        outputs = [process.communicate(timeout=TIMEOUT) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [Result(process.returncode, *output) for process, output in zip(started, outputs, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "hosts"), SEVERAL, ids=[f"{p.stem}-{n}" for p, n in SEVERAL])
def test_a_program_of_several_hosts(program: Path, hosts: int, originals: Results) -> None:
    alone = originals[program.stem].output.splitlines()
    for result in run_on_hosts(program, hosts):
        assert result.status == 0, result.errors[-3000:]
        assert result.output.splitlines()[-len(alone) :] == alone, "the hosts together compute what one host computes"
