"""Runs one version of a program in fresh processes, under a time limit, and gives what the recorder wrote about it.

Nothing of the caller's is touched: the program works in the copy that its job names, its temporary files go below the folder
of the run.
"""

from __future__ import annotations

import functools
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from jaxmigrate.verify.model import Job, Json, ProcessRun, Run, World
from jaxmigrate.verify.processes import TOKEN, Command, Ended, Group, Patience, run_group, signals_end_the_run

RECORDER = Path(__file__).with_name("recorder.py")
LEGACY = Path(__file__).parent.parent / "legacy"

_COUNT_FLAG = "--xla_force_host_platform_device_count"
_PLATFORMS = {"cpu": "cpu", "gpu": "rocm,cpu" if os.path.exists("/dev/kfd") else "cuda,cpu", "tpu": "tpu,cpu"}
_ACCELERATORS = {"gpu": {"gpu", "cuda", "rocm"}, "tpu": {"tpu"}}
_ATTEMPTS = 4
_HASH_SEED = 1
_SHARED = re.compile(rb"/tmp/|/var/|/dev/shm|expanduser|Path\.home|start_server|\.bind\(|localhost|127\.0\.0\.1|0\.0\.0\.0")
_PORT_TAKEN = re.compile(r"address already in use|failed to (add|bind) port", re.IGNORECASE)
_PROBE = """
import json, sys
try:
    from importlib import metadata
except ImportError:
    metadata = None
found = {"python": "%d.%d.%d" % sys.version_info[:3]}
for name in ("jax", "numpy"):
    try:
        found[name] = metadata.version(name)
    except Exception:
        found[name] = ""
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a Python can run."""

    python: str = ""
    """Its version."""
    jax: str = ""
    error: str = ""
    """Why it cannot run any program, in one sentence."""


def probe(python: str) -> Probe:
    """Ask an interpreter for its version and that of its JAX, without importing either."""
    path = shutil.which(os.path.expanduser(python))
    if path is None:
        return Probe(error=f"there is no Python at {python}")
    return _probe(os.path.abspath(path))


@functools.cache
def _probe(path: str) -> Probe:
    try:
        done = subprocess.run(
            [path, "-c", _PROBE], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
        )
        found = json.loads(done.stdout.splitlines()[-1])
        version = str(found["python"])
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return Probe(error=f"{path} is no Python that works")
    missing = [name for name in ("jax", "numpy") if not found[name]]
    error = ""
    if _numbers(version) < (3, 8):
        error = f"{path} is Python {version}; programs are recorded on 3.8 or newer"
    elif missing:
        error = f"{path} has no {' and no '.join(missing)} installed"
    return Probe(version, found["jax"], error)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def unfit(job: Job) -> str:
    """Why the interpreter of a job cannot run it, in one sentence; empty if it can."""
    found = probe(job.python)
    if found.error or job.world is World.PLAIN:
        return found.error
    if _numbers(found.python) >= (3, 11) and _numbers(found.jax) >= (0, 9):
        return ""
    return (
        f"{job.python} has Python {found.python} and JAX {found.jax}; "
        "the old JAX is emulated on Python 3.11 with JAX 0.9 or newer"
    )


def run(job: Job, folder: Path, *, stop: threading.Event | None = None) -> Run:
    """Run a job in new processes; its files go to `folder`, which must exist."""
    if reason := unfit(job):
        return Run(job.name, (), error=reason)
    for attempt in range(_ATTEMPTS):
        place = folder / f"{slug(job.name)}-{attempt}"
        token = secrets.token_hex(16)
        with signals_end_the_run():
            try:
                commands = _commands(job, place, token)
                group = run_group(commands, token, Patience(job.timeout), finished=_Finished(place), stop=stop)
            except OSError as error:
                return Run(job.name, (), error=f"{job.python} could not be started: {error}")
        if not _port_was_taken(job, group):
            break
    return _run_of(job, place, group)


@dataclass(frozen=True, slots=True)
class _Finished:
    """Whether a process wrote that its program came to its end."""

    place: Path

    def __call__(self, process: int) -> bool:
        records = read_records(records_of(self.place, process))
        return bool(records) and records[-1].get("e") == "end"


def _port_was_taken(job: Job, group: Group) -> bool:
    """Whether somebody took the coordinator's port between our choosing it and process 0 binding it."""
    first = group.ended[0]
    return job.processes > 1 and first.status != 0 and bool(_PORT_TAKEN.search(first.stderr))


def _run_of(job: Job, place: Path, group: Group) -> Run:
    processes = tuple(process_run(n, ended, read_records(records_of(place, n))) for n, ended in enumerate(group.ended))
    return Run(job.name, processes, group.timed_out, group.seconds, wrong(job, processes), group.notes)


def process_run(process: int, ended: Ended, records: tuple[Json, ...]) -> ProcessRun:
    """What a process left."""
    return ProcessRun(process, ended.status, records, ended.stdout, ended.stderr)


def wrong(job: Job, processes: Sequence[ProcessRun]) -> str:
    """Why what was run is not what was asked for; empty if it is."""
    return _never_started(job, processes) or _wrong_platform(job, processes)


def _never_started(job: Job, processes: Sequence[ProcessRun]) -> str:
    """An interpreter can end before the recorder is up: broken site-packages, no memory, a sitecustomize that exits."""
    for process in processes:
        if not any(record.get("e") == "start" for record in process.records):
            if process.status is None:
                return f"{job.python} had not begun the program when it was ended"
            last = process.stderr.strip().rpartition("\n")[2] or f"status {process.status}"
            return f"{job.python} ended before the program began: {last}"
    return ""


def _wrong_platform(job: Job, processes: Sequence[ProcessRun]) -> str:
    """JAX falls back to the CPU without a word where there is no GPU; a verdict from there is not what was asked for."""
    wanted = _ACCELERATORS.get(job.platform)
    used = {r["platform"] for p in processes for r in p.records if r.get("e") == "backend"}
    if wanted is None or not used or used & wanted:
        return ""
    return f"asked to run on {job.platform}, JAX ran on {', '.join(map(str, used))}"


def slug(name: str) -> str:
    """A name that any file system takes."""
    return re.sub(r"[^\w.-]+", "_", name)


def records_of(place: Path, process: int) -> Path:
    """Where a process of a run writes its records."""
    return place / f"records-{process}.jsonl"


def _commands(job: Job, place: Path, token: str) -> list[Command]:
    place.mkdir()
    coordinator = f"127.0.0.1:{free_port()}" if job.processes > 1 else None
    python = os.path.abspath(shutil.which(os.path.expanduser(job.python)) or job.python)
    commands = []
    for process in range(job.processes):
        file = write_job(job, place, process, coordinator)
        commands.append(Command((python, str(RECORDER), str(file)), job.cwd, environment(job, place, token, process)))
    return commands


def write_job(job: Job, place: Path, process: int = 0, coordinator: str | None = None) -> Path:
    """Write what the recorder is to do in one process."""
    file = place / f"job-{process}.json"
    file.write_text(json.dumps(_described(job, place, process, coordinator)), encoding="utf-8")
    return file


def _described(job: Job, place: Path, process: int, coordinator: str | None) -> dict[str, object]:
    return {
        "name": job.name,
        "program": job.program.value,
        "target": job.target,
        "args": job.args,
        "root": job.root,
        "cwd": job.cwd,
        "search": job.search,
        "scope": job.scope,
        "world": job.world.value,
        "legacy": {"package": str(LEGACY), "version": job.legacy},
        "devices_per_process": job.devices // job.processes,
        "platform": job.platform,
        "process": process,
        "processes": job.processes,
        "coordinator": coordinator,
        "records": str(records_of(place, process)),
        "sites": _sites(job),
    }


def _sites(job: Job) -> dict[str, list[dict[str, object]]]:
    files: dict[str, list[dict[str, object]]] = {}
    for site in job.sites:
        span = site.before if job.side == "before" else site.after
        if span is not None:
            place = [span.line, span.column, span.end_line, span.end_column]
            entry: dict[str, object] = {"id": site.id, "kind": site.kind.value, "span": place, "names": site.names}
            files.setdefault(site.path, []).append(entry)
    return files


def environment(job: Job, place: Path, token: str, process: int = 0) -> dict[str, str]:
    """The caller's environment with what a run needs."""
    temporary = place / "tmp"
    temporary.mkdir(exist_ok=True)
    variables = {**os.environ, **dict(job.environment)}
    variables.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)))
    variables.update({TOKEN: token, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONFAULTHANDLER": "1"})
    # The original and the result go through their sets in the same order, the second run of the result in another one.
    variables.setdefault("PYTHONHASHSEED", str(_HASH_SEED + process + job.processes * job.name.endswith("again")))
    if job.platform in _PLATFORMS:
        variables["JAX_PLATFORMS"] = _PLATFORMS[job.platform]
        variables.pop("JAX_PLATFORM_NAME", None)
    variables["XLA_FLAGS"] = with_devices(variables.get("XLA_FLAGS", ""), job.devices // job.processes)
    return variables


def with_devices(flags: str, count: int) -> str:
    """XLA flags with this number of CPU devices in place of any other."""
    kept = [flag for flag in flags.split() if flag.partition("=")[0] != _COUNT_FLAG]
    return " ".join([*kept, f"{_COUNT_FLAG}={count}"])


def free_port() -> int:
    """A port of the loopback interface that nobody listens on now."""
    with socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        return int(probe_socket.getsockname()[1])


def read_records(file: Path) -> tuple[Json, ...]:
    """What a process wrote; a last line that it did not finish is left out."""
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError:
        return ()
    records = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return tuple(records)


def run_all(jobs: Sequence[Job], folder: Path) -> dict[str, Run]:
    """Run jobs, side by side where that pays and they cannot get in each other's way; by the name of each."""
    stop = threading.Event()
    with signals_end_the_run(), ThreadPoolExecutor(at_once(jobs)) as pool:
        futures = {job.name: pool.submit(run, job, folder, stop=stop) for job in jobs}
        try:
            wait(futures.values(), return_when=FIRST_EXCEPTION)
            return {name: future.result() for name, future in futures.items()}
        finally:
            stop.set()


def at_once(jobs: Sequence[Job]) -> int:
    """How many of these jobs to run at the same time."""
    crowd = max((job.processes for job in jobs), default=1)
    if any(job.platform != "cpu" or _shares(Path(job.root), job.scope) for job in jobs):
        return 1
    return max(1, min(len(jobs), _processors() // crowd))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@functools.cache
def _shares(root: Path, scope: tuple[str, ...]) -> bool:
    """Whether a program may use a file or port outside of its copy, which two runs at once would both take."""
    files = (root / name for name in scope) if scope else root.rglob("*.py")
    return any(_SHARED.search(path.read_bytes()) for path in files if path.is_file())
