"""Runs hundreds of little programs, each in a process forked from one that has imported JAX: five times faster than a new Python.

A run gives what `launch.run` gives; only the order of sets is the same in all programs of one server.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from jaxmigrate.verify.launch import (
    LEGACY,
    RECORDER,
    environment,
    process_run,
    read_records,
    records_of,
    run,
    slug,
    unfit,
    write_job,
    wrong,
)
from jaxmigrate.verify.model import Job, Run, World
from jaxmigrate.verify.processes import (
    Cancelled,
    Ended,
    adopting_orphans,
    end_processes,
    excerpt_of,
    no_core_file,
    ours,
    signals_end_the_run,
    uninterrupted,
)

_START = 120.0
_FAREWELL = 0.5
_LAST_WORDS = 15.0
_TICK = 0.1


class Batch:
    """Servers of one Python that fork a process for each job; to be used in a ``with``."""

    def __init__(self, python: str, parallel: int = 2) -> None:
        self._python, self._parallel = python, parallel
        self._folder = Path(tempfile.mkdtemp(prefix="jaxmigrate-"))
        self._idle: dict[World, queue.SimpleQueue[_Server]] = {world: queue.SimpleQueue() for world in World}
        for world, idle in self._idle.items():
            for _ in range(parallel):
                idle.put(_Server(python, world, self._folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with uninterrupted():
            for idle in self._idle.values():
                for _ in range(self._parallel):
                    idle.get().close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, jobs: Sequence[Job]) -> dict[str, Run]:
        """Run jobs, whose names must differ; by the name of each."""
        stop = threading.Event()
        with signals_end_the_run(), ThreadPoolExecutor(self._parallel) as pool:
            futures = {job.name: pool.submit(self._run, number, job, stop) for number, job in enumerate(jobs)}
            try:
                return {name: future.result() for name, future in futures.items()}
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)

    def _run(self, number: int, job: Job, stop: threading.Event) -> Run:
        if reason := unfit(job):
            return Run(job.name, (), error=reason)
        if not _fits(job, self._python):
            return self._alone(job, stop)
        place = self._folder / f"{number}-{slug(job.name)}-{secrets.token_hex(4)}"
        place.mkdir()
        idle = self._idle[job.world]
        server = idle.get()
        try:
            return server.run(job, place, stop)
        except _ServerGone:
            return self._alone(job, stop)
        finally:
            idle.put(server)
            shutil.rmtree(place, ignore_errors=True)

    def _alone(self, job: Job, stop: threading.Event) -> Run:
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            return run(job, Path(folder), stop=stop)


def _fits(job: Job, python: str) -> bool:
    """Whether a job wants nothing that is settled when a Python starts or JAX is imported."""
    early = any(name.startswith(("JAX_", "PYTHON", "LD_")) for name, _ in job.environment)
    return job.processes == 1 and job.platform == "cpu" and job.python == python and not early


class _ServerGone(Exception):
    """The server ended, most likely because the program ended it."""


class _Server:
    """A Python with JAX imported that forks a process for one job at a time; started when it is first needed."""

    def __init__(self, python: str, world: World, folder: Path) -> None:
        self._command = (python, str(RECORDER), "--serve", *([str(LEGACY)] if world is World.LEGACY else []))
        self._folder = folder
        self._token = secrets.token_hex(16)
        self._popen: subprocess.Popen[bytes] | None = None
        self._buffer = b""

    def run(self, job: Job, place: Path, stop: threading.Event) -> Run:
        """Run one job in a process of its own."""
        with adopting_orphans():
            popen = self._started(job, place)
            try:
                return self._forked(popen, job, place, stop)
            except (_ServerGone, Cancelled):
                self.close()
                raise

    def _forked(self, popen: subprocess.Popen[bytes], job: Job, place: Path, stop: threading.Event) -> Run:
        pid = self._ask(popen, job, place, stop)
        no_core_file(pid)
        begin = time.monotonic()
        status = self._answer(popen, "status", job.timeout, stop)
        if status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGABRT)
        spare = frozenset({popen.pid})
        end_processes({pid}, self._token, _FAREWELL, lambda: time.sleep(0.005), spare=spare)
        if status is None and self._answer(popen, "status", _LAST_WORDS, stop) is None:
            raise _ServerGone
        seconds = time.monotonic() - begin
        ended = Ended(status, excerpt_of(place / "stdout"), excerpt_of(place / "stderr"))
        process = process_run(0, ended, read_records(records_of(place, 0)))
        return Run(job.name, (process,), status is None, seconds, wrong(job, (process,)))

    def _ask(self, popen: subprocess.Popen[bytes], job: Job, place: Path, stop: threading.Event) -> int:
        """Have the job started; give its process."""
        request = {
            "job": str(write_job(job, place)),
            "env": environment(job, place, self._token),
            "stdout": str(place / "stdout"),
            "stderr": str(place / "stderr"),
        }
        assert popen.stdin
        try:
            popen.stdin.write(json.dumps(request).encode() + b"\n")
            popen.stdin.flush()
        except OSError as error:
            raise _ServerGone from error
        pid = self._answer(popen, "pid", _START, stop)
        if pid is None:
            raise _ServerGone
        return pid

    def _started(self, job: Job, place: Path) -> subprocess.Popen[bytes]:
        if self._popen and self._popen.poll() is None:
            return self._popen
        self._buffer = b""
        home = self._folder / self._token
        home.mkdir(exist_ok=True)
        variables = environment(job, home, self._token)
        with (home / "stderr").open("ab") as errors:
            self._popen = subprocess.Popen(
                self._command,
                cwd=home,
                env=variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        ours(self._popen.pid)
        return self._popen

    def _answer(self, popen: subprocess.Popen[bytes], key: str, patience: float, stop: threading.Event) -> int | None:
        """What the server says of `key`; None if it says nothing in time."""
        assert popen.stdout
        deadline = time.monotonic() + patience
        with selectors.DefaultSelector() as selector:
            selector.register(popen.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if stop.is_set():
                    raise Cancelled
                if time.monotonic() >= deadline:
                    return None
                if selector.select(_TICK):
                    data = os.read(popen.stdout.fileno(), 4096)
                    if not data:
                        raise _ServerGone
                    self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return int(json.loads(line)[key])

    def close(self) -> None:
        """End the server and all that its jobs left."""
        popen, self._popen = self._popen, None
        if popen is None:
            return
        for stream in (popen.stdin, popen.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
        end_processes({popen.pid}, self._token, _FAREWELL, lambda: time.sleep(0.005))
        popen.wait(_LAST_WORDS)
        ours(popen.pid, over=True)
