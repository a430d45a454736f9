"""Jobs on real interpreters: what the child is told, what comes back, several real processes, and why one cannot run."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from jaxmigrate.verify import launch
from jaxmigrate.verify.batch import Batch
from jaxmigrate.verify.launch import at_once, environment, probe, read_records, run, run_all, unfit, with_devices, write_job
from jaxmigrate.verify.model import Kind, Program, Run, Site, Span, World
from tests.verify.jobs import is_free, job, kinds, tried
from tests.verify.leftovers import children, of_runs

needs_jax = pytest.mark.skipif(bool(probe(sys.executable).error), reason="this Python has no JAX")


@pytest.fixture(autouse=True)
def _nothing_left() -> object:
    before = children()
    yield
    assert not of_runs()
    assert children().keys() <= before.keys()


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ports that are given to runs."""
    chosen: list[int] = []
    choose = launch.free_port
    monkeypatch.setattr(launch, "free_port", lambda: chosen.append(choose()) or chosen[-1])
    return chosen


def python_that_says(folder: Path, version: str, jax: str) -> str:
    """An interpreter that answers the probe like this."""
    file = folder / "python"
    file.write_text(f"#!/bin/sh\necho '{json.dumps({'python': version, 'jax': jax, 'numpy': '1.0'})}'\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def test_probe_tells_versions_without_importing_jax() -> None:
    found = probe(sys.executable)
    assert found.python == ".".join(map(str, sys.version_info[:3]))
    assert found.error or found.jax


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        ("/no/such/python", "there is no Python at /no/such/python"),
        ("/bin/cat", "is no Python that works"),
        ("/bin", "there is no Python at /bin"),
    ],
)
def test_an_interpreter_that_cannot_run_is_named(tmp_path: Path, python: str, reason: str) -> None:
    found = run(job(tmp_path / "tree", "print()", python=python), tmp_path)
    assert reason in found.error
    assert "\n" not in found.error
    assert not found.processes


def test_an_interpreter_without_jax_is_named(tmp_path: Path) -> None:
    python = python_that_says(tmp_path, "3.12.0", "")
    assert run(job(tmp_path / "tree", "print()", python=python), tmp_path).error == f"{python} has no jax installed"


@needs_jax
def test_an_interpreter_that_ends_before_the_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif 'job-0.json' in sys.argv[-1]: os.write(2, b'no license\\n'); os._exit(0)"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert (
        run(job(tmp_path / "tree", "print()"), tmp_path).error == f"{sys.executable} ended before the program began: no license"
    )


def test_a_python_too_old_to_record_is_named(tmp_path: Path) -> None:
    python = python_that_says(tmp_path, "3.7.17", "0.3.25")
    assert "is Python 3.7.17; programs are recorded on 3.8 or newer" in unfit(job(tmp_path / "tree", "", python=python))


@pytest.mark.parametrize(
    ("version", "jax", "fits"), [("3.11.0", "0.9.0", True), ("3.12.1", "0.4.30", False), ("3.10.2", "0.9.1", False)]
)
def test_the_emulation_needs_a_modern_jax(tmp_path: Path, version: str, jax: str, fits: bool) -> None:
    python = python_that_says(tmp_path, version, jax)
    assert bool(unfit(job(tmp_path / "tree", "", python=python, world=World.LEGACY))) is not fits
    assert not unfit(job(tmp_path / "tree", "", python=python))


def test_the_recorder_is_told_the_spans_of_its_side(tmp_path: Path) -> None:
    sites = (
        Site(1, "a.py", Kind.VALUE, Span(1, 2, 3, 4), Span(5, 6, 7, 8)),
        Site(2, "a.py", Kind.STATEMENT, None, Span(9, 0, 9, 5), names=("x",)),
        Site(3, "b/c.py", Kind.WATCH, Span(2, 0, 2, 9), None),
    )
    for side, expected in (
        ("before", {"a.py": [(1, "value", [1, 2, 3, 4])], "b/c.py": [(3, "watch", [2, 0, 2, 9])]}),
        ("after", {"a.py": [(1, "value", [5, 6, 7, 8]), (2, "statement", [9, 0, 9, 5])]}),
    ):
        told = json.loads(write_job(job(tmp_path / "tree", "", sites=sites, side=side), tmp_path).read_text())
        found = {path: [(site["id"], site["kind"], site["span"]) for site in listed] for path, listed in told["sites"].items()}
        assert found == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", "--xla_force_host_platform_device_count=4"),
        ("--xla_dump_to=/x", "--xla_dump_to=/x --xla_force_host_platform_device_count=4"),
        ("--xla_force_host_platform_device_count=512 --y", "--y --xla_force_host_platform_device_count=4"),
    ],
)
def test_the_device_count_replaces_the_callers_and_keeps_other_flags(flags: str, expected: str) -> None:
    assert with_devices(flags, 4) == expected


def test_the_callers_environment_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_DATA", "here")
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    variables = environment(job(tmp_path / "tree", "", environment=(("MODE", "fast"),)), tmp_path, "t0")
    assert (variables["MY_DATA"], variables["MODE"], variables["JAX_PLATFORMS"]) == ("here", "fast", "cpu")
    assert Path(variables["TMPDIR"]).is_dir()
    assert environment(job(tmp_path / "tree", "", platform="auto"), tmp_path, "t0")["JAX_PLATFORMS"] == "tpu"


def test_sets_have_the_same_order_in_both_versions_and_another_in_the_second_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    jobs = {name: job(tmp_path / "tree", "", name=name, processes=2) for name in ("before", "after", "again")}
    seeds = {name: [environment(one, tmp_path, "t0", n)["PYTHONHASHSEED"] for n in (0, 1)] for name, one in jobs.items()}
    assert seeds["before"] == seeds["after"]
    assert len({*seeds["after"], *seeds["again"]}) == 4
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    assert environment(jobs["again"], tmp_path, "t0")["PYTHONHASHSEED"] == "77"


def test_a_last_line_that_was_not_finished_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "records"
    file.write_bytes(b'{"e":"start"}\n{"e":"hit","s":1}\n{"e":"hi')
    assert [record["e"] for record in read_records(file)] == ["start", "hit"]
    assert read_records(tmp_path / "none") == ()


def test_runs_go_side_by_side_only_where_they_cannot_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_processors", lambda: 4)
    apart = job(tmp_path / "apart", "print(open('data.txt').read())")
    assert at_once([apart] * 3) == 3
    assert at_once([dataclasses.replace(apart, processes=2)] * 3) == 2
    assert at_once([dataclasses.replace(apart, processes=8)] * 3) == 1
    assert at_once([dataclasses.replace(apart, platform="gpu")] * 3) == 1
    for number, text in enumerate(("open('/tmp/checkpoint', 'w')", "server.bind(('', 8080))", "jax.profiler.start_server(9999)")):
        assert at_once([job(tmp_path / str(number), text), apart]) == 1


@needs_jax
def test_a_script_runs_on_the_devices_asked_for(tmp_path: Path) -> None:
    text = """
        import os, sys, tempfile, jax
        print(jax.device_count(), sys.argv, os.getcwd(), tempfile.gettempdir(), __name__, __file__)
        sys.exit(4)
    """
    found = tried(text, tmp_path, devices=4, args=("--lr", "0.1"))
    process = found.processes[0]
    assert process.status == 4, process.stderr
    assert process.stdout.startswith(f"4 ['program.py', '--lr', '0.1'] {tmp_path / 'tree'} {tmp_path}/after-0/tmp __main__ ")
    assert kinds(found)[0] == "start"
    assert kinds(found)[-1] == "end"


@needs_jax
def test_all_jobs_run_and_are_named(tmp_path: Path) -> None:
    jobs = [job(tmp_path / name, f"print({name!r})", name=name) for name in ("before", "after", "again")]
    found = run_all(jobs, tmp_path)
    assert {name: run.processes[0].stdout for name, run in found.items()} == {n: f"{n}\n" for n in ("before", "after", "again")}


COLLECTIVE = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    mesh = Mesh(np.array(jax.devices()), ("x",))
    data = np.arange(jax.device_count(), dtype=np.float32)
    x = jax.make_array_from_callback(data.shape, NamedSharding(mesh, P("x")), lambda i: data[i])
    total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, P()))(x)
    print(jax.process_index(), jax.process_count(), jax.local_device_count(), float(total), flush=True)
"""


@needs_jax
@pytest.mark.parametrize("processes", [2, 4])
def test_real_processes_compute_together(tmp_path: Path, ports: list[int], processes: int) -> None:
    found = tried(COLLECTIVE, tmp_path, processes=processes, timeout=120)
    assert [p.status for p in found.processes] == [0] * processes, [p.stderr for p in found.processes]
    said = [p.stdout.splitlines(True)[-1] for p in found.processes]
    assert said == [f"{n} {processes} {8 // processes} 28.0\n" for n in range(processes)]
    assert not found.notes
    assert len(ports) == 1
    assert is_free(ports[0])


@needs_jax
def test_a_port_that_was_taken_meanwhile_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = launch.free_port()
        ports = iter([taken.getsockname()[1], free])
        monkeypatch.setattr(launch, "free_port", lambda: next(ports))
        found = tried("import jax; print(jax.process_count())", tmp_path, processes=2, timeout=120)
    assert [p.stdout for p in found.processes] == ["2\n", "2\n"], found
    assert next(ports, None) is None


@needs_jax
@pytest.mark.parametrize("status", [3, 0])
def test_a_process_in_a_collective_whose_peer_is_gone_is_ended(tmp_path: Path, ports: list[int], status: int) -> None:
    text = COLLECTIVE.replace("total =", f"if jax.process_index() == 1: import os; os._exit({status})\n    total =")
    found = tried(text, tmp_path, processes=2, timeout=100)
    assert not found.timed_out
    assert found.processes[1].status == status
    assert found.processes[0].status != 0
    assert any(note.startswith(f"process 1 ended with status {status}") for note in found.notes), found
    assert found.seconds < 80
    assert len(ports) == 1
    assert is_free(ports[0])


def same(one: Run, other: Run) -> None:
    """Whether two runs left the same, but for processes and times."""
    for a, b in zip(one.processes, other.processes, strict=True):
        assert (a.status, a.stdout) == (b.status, b.stdout)
        without_pid = [[{k: v for k, v in r.items() if k != "pid"} for r in p.records] for p in (a, b)]
        assert without_pid[0] == without_pid[1]


@needs_jax
def test_a_batch_gives_what_single_runs_give(tmp_path: Path) -> None:
    texts = {
        "values": "import jax.numpy as jnp\nx = jnp.arange(4.0)\nprint(x)",
        "status": "import sys, jax\nprint(jax.device_count(), flush=True)\nsys.exit(7)",
        "error": "import jax\nraise ValueError('no')",
        "left": "import os\nos._exit(3)",
        "crash": "import os\nos.abort()",
        "pair": "import jax\nprint(jax.process_count(), flush=True)",
    }
    jobs = {name: job(tmp_path / name, text, name=name) for name, text in texts.items()}
    jobs["pair"] = dataclasses.replace(jobs["pair"], processes=2)
    with Batch(sys.executable) as batch:
        found = batch.run(list(jobs.values()))
    assert found.keys() == jobs.keys()
    assert all(kinds(one)[0] == "start" for one in found.values())
    for name, one in jobs.items():
        same(found[name], run(one, tmp_path))


@needs_jax
def test_a_batch_survives_programs_that_hang_or_daemonise(tmp_path: Path) -> None:
    texts = {
        "hang": "while True: pass",
        "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)",
        "flags": "import os\nos.environ['XLA_FLAGS'] = ''\nimport jax\nprint(jax.device_count(), flush=True)",
        "last": "print('well', flush=True)",
    }
    jobs = [job(tmp_path / name, text, name=name, timeout=3 if name == "hang" else 60) for name, text in texts.items()]
    with Batch(sys.executable, parallel=1) as batch:
        found = batch.run(jobs)
        assert not {line for line in of_runs().values() if "--serve" not in line}
    assert found["hang"].timed_out
    assert found["hang"].processes[0].status is None
    assert found["daemon"].processes[0].status == 0
    assert found["flags"].processes[0].stdout == "8\n"
    assert found["last"].processes[0].stdout == "well\n"


def test_the_recorder_is_one_file_beside_the_launcher() -> None:
    assert os.path.samefile(launch.RECORDER.parent, Path(launch.__file__).parent)
    assert launch.RECORDER.exists()


def test_a_pytest_job_and_a_module_are_told_apart(tmp_path: Path) -> None:
    for program in Program:
        told = json.loads(write_job(job(tmp_path / "tree", "", program=program), tmp_path).read_text())
        assert told["program"] == program.value
