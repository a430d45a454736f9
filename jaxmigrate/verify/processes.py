"""Starts processes that run somebody's code, reads what they print in bounded memory, and leaves none of them behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

TOKEN = "JAXMIGRATE_RUN"
"""The variable that marks every process of a run, however far it wandered from its parent."""

_HEAD, _TAIL, _CHUNK = 64 << 10, 192 << 10, 64 << 10
_TICK = 0.02
_LAST_WAIT = 10.0
_PROC = "/proc" if sys.platform == "linux" else ""
_SET_CHILD_SUBREAPER = 36


class Cancelled(Exception):
    """The run was stopped from outside before it came to its end."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to start."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ended:
    """How one process ended, and what it printed."""

    status: int | None
    """As in `subprocess`; None if it had to be ended."""
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Group:
    """How all processes of a run ended."""

    ended: tuple[Ended, ...]
    timed_out: bool
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds."""

    limit: float
    """For the whole run."""
    failed_peer: float = 5.0
    """For the others, once one process of several ended with an error: they wait for it in a collective."""
    lost_peer: float = 30.0
    """For the others, once one ended with status 0 but never came to the end of its program."""
    farewell: float = 0.5
    """Between asking processes to end and ending them."""


class Excerpt:
    """The beginning and the end of a stream of any length."""

    def __init__(self) -> None:
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._kept = self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take in what was read."""
        room = _HEAD - len(self._head)
        self._head += data[:room]
        if rest := data[room:]:
            self._tail.append(rest)
            self._kept += len(rest)
        while self._tail and self._kept - len(self._tail[0]) >= _TAIL:
            gone = len(self._tail.popleft())
            self._kept -= gone
            self._dropped += gone

    def text(self) -> str:
        """What was kept, with a line in place of what was not."""
        cut = f"\n... {self._dropped} bytes left out ...\n".encode() if self._dropped else b""
        return b"".join((self._head, cut, *self._tail)).decode(errors="replace")


def excerpt_of(file: Path) -> str:
    """The beginning and the end of a file of any length; empty if there is none."""
    excerpt = Excerpt()
    with contextlib.suppress(FileNotFoundError), file.open("rb") as stream:
        while data := stream.read(_CHUNK):
            excerpt.feed(data)
    return excerpt.text()


class _Child:
    """A process that leads a session of its own, so that no signal of the terminal reaches it, and what it printed."""

    def __init__(self, command: Command) -> None:
        self.popen = subprocess.Popen(
            command.argv,
            cwd=command.cwd,
            env=command.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self.gone = self.forced = False
        self.streams = {stream: Excerpt() for stream in (self.popen.stdout, self.popen.stderr) if stream}
        for stream in self.streams:
            os.set_blocking(stream.fileno(), False)
        no_core_file(self.popen.pid)

    def ended(self) -> Ended:
        """To be asked once it has been waited for."""
        out, err = (excerpt.text() for excerpt in self.streams.values())
        return Ended(None if self.forced else self.popen.returncode, out, err)


def run_group(
    commands: Sequence[Command],
    token: str,
    patience: Patience,
    *,
    finished: Callable[[int], bool] = lambda _: True,
    stop: threading.Event | None = None,
) -> Group:
    """Run these commands side by side as the processes of one program; whatever happens, none of them is left.

    Their environments must carry `token`. `finished` says of a process that ended with status 0 whether its program came to
    its end.
    Raises `OSError` if one cannot be started and `Cancelled` once `stop` is set.
    """
    started = time.monotonic()
    watch = _Watch(patience, finished, stop or threading.Event())
    with adopting_orphans():
        try:
            for command in commands:
                watch.add(command)
            timed_out = watch.until_all_ended(started + patience.limit)
        finally:
            with uninterrupted():
                watch.end_all(token)
    ended = tuple(child.ended() for child in watch.children)
    return Group(ended, timed_out, time.monotonic() - started, watch.notes(timed_out))


class _Watch:
    """The processes of one run while they run."""

    def __init__(self, patience: Patience, finished: Callable[[int], bool], stop: threading.Event) -> None:
        self.children: list[_Child] = []
        self._patience, self._finished, self._stop = patience, finished, stop
        self._selector = selectors.DefaultSelector()
        self._failed: list[int] = []
        """Processes that ended before the end of their program, in the order in which they did."""
        self._left_alone = 0.0

    def add(self, command: Command) -> None:
        child = _Child(command)
        self.children.append(child)
        ours(child.popen.pid)
        for stream, excerpt in child.streams.items():
            self._selector.register(stream, selectors.EVENT_READ, excerpt)

    def until_all_ended(self, deadline: float) -> bool:
        """Wait; tell whether the time limit was reached."""
        while self._running():
            if self._stop.is_set():
                raise Cancelled
            if time.monotonic() >= deadline:
                return True
            if self._peers_wait_in_vain():
                return False
            self._read(_TICK)
        return False

    def _running(self) -> bool:
        for process, child in enumerate(self.children):
            status = child.popen.poll()
            if status is not None and not child.gone:
                child.gone = True
                if status or not self._finished(process):
                    self._failed.append(process)
                    self._left_alone = self._left_alone or time.monotonic()
        return not all(child.gone for child in self.children)

    def _peers_wait_in_vain(self) -> bool:
        """Whether a process is gone without which the others cannot go on, long enough for them to notice it themselves."""
        if not self._failed:
            return False
        failed = any(self.children[n].popen.returncode for n in self._failed)
        patience = self._patience.failed_peer if failed else self._patience.lost_peer
        return time.monotonic() >= self._left_alone + patience

    def notes(self, timed_out: bool) -> tuple[str, ...]:
        """Which of several processes failed, and what became of those that needed it."""
        forced = [n for n, child in enumerate(self.children) if child.forced]
        states = {child.popen.returncode for child in self.children}
        if not self._failed or (not forced and len(states) == 1):
            return ()
        ended = [_described(n, self.children[n].popen.returncode) for n in self._failed]
        why = "was still running at the time limit" if timed_out else "was waiting for it"
        return (*ended, *(f"process {n} {why} and was ended" for n in forced))

    def _read(self, patience: float) -> bool:
        """Take in what was printed; give whether there was anything."""
        got = False
        for key, _ in self._selector.select(patience) if self._selector.get_map() else _after(patience):
            try:
                data = os.read(key.fd, _CHUNK)
            except BlockingIOError:
                continue
            if data:
                got = True
                key.data.feed(data)
            else:
                self._selector.unregister(key.fileobj)
        return got

    def end_all(self, token: str) -> None:
        """End what still runs, the processes themselves and all that they started, and collect their last words."""
        for child in self.children:
            if child.popen.poll() is None:
                child.forced = True
                # Python's fault handler answers with the stack of every thread: where the program hangs.
                child.popen.send_signal(signal.SIGABRT)
        leaders = {child.popen.pid for child in self.children}
        end_processes(leaders, token, self._patience.farewell, self._tend)
        for child in self.children:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.popen.wait(_LAST_WAIT)
        # Only now that they are over are their children surely ours.
        end_processes(leaders, token, self._patience.farewell, self._tend)
        while self._read(0):
            pass
        self._selector.close()
        for child in self.children:
            for stream in child.streams:
                stream.close()
        for leader in leaders:
            ours(leader, over=True)

    def _tend(self) -> None:
        for child in self.children:
            child.popen.poll()
        self._read(0.005)


def _after(seconds: float) -> tuple[()]:
    time.sleep(seconds)
    return ()


def _described(process: int, status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"process {process} was ended by {signal.Signals(-status).name}"
    early = "" if status else " before its program came to its end"
    return f"process {process} ended with status {status}{early}"


def end_processes(
    leaders: set[int], token: str, farewell: float, meanwhile: Callable[[], object], *, spare: frozenset[int] = frozenset()
) -> None:
    """End the sessions that `leaders` lead and every process marked with `token` but those of `spare`.

    First they may end by themselves (helpers that clean up after their parent do), then they are asked to, then made to.
    """
    asked, begin = False, time.monotonic()
    while members := _members(leaders, token) - spare:
        waited = time.monotonic() - begin
        if waited > 2 * farewell:
            _signal(members, signal.SIGKILL)
        elif waited > farewell and not asked:
            _signal(members, signal.SIGTERM)
            asked = True
        if waited > 2 * farewell + _LAST_WAIT:
            break  # Not even SIGKILL ends a process that the kernel waits for.
        meanwhile()
        _reap()
    _reap()


def _members(leaders: set[int], token: str) -> set[int]:
    """The processes of a run that are alive: by session, by mark, and what lost both but is a child of a process that is gone."""
    if not _PROC:
        return {pid for pid in leaders if _group_lives(pid)}
    mark = f"{TOKEN}={token}".encode()
    table = _process_table()
    found = {pid for pid, entry in table.items() if entry.session in leaders or mark in _environment(pid)}
    found |= _children(table, found | leaders)
    if _adoption.alone():
        found |= _orphans(table)
    return {pid for pid in found if table[pid].state not in "ZX"} - {os.getpid()}


def _children(table: Mapping[int, _Entry], parents: set[int]) -> set[int]:
    """Of a process with threads the first may be over and the others not: then its children are not orphans yet."""
    return {pid for pid, entry in table.items() if entry.parent in parents}


def _orphans(table: Mapping[int, _Entry]) -> set[int]:
    return {pid for pid, entry in table.items() if entry.parent == os.getpid() and _is_orphan(pid, entry)}


@dataclass(frozen=True, slots=True)
class _Entry:
    state: str
    parent: int
    session: int


def _process_table() -> dict[int, _Entry]:
    table = {}
    for name in os.listdir(_PROC):
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"{_PROC}/{name}/stat", "rb") as file:
                state, parent, _, session = file.read().rpartition(b")")[2].split()[:4]
                table[int(name)] = _Entry(state.decode(), int(parent), int(session))
    return table


def _environment(pid: int) -> list[bytes]:
    """The environment with which a process was started; empty if it is over or somebody else's."""
    try:
        with open(f"{_PROC}/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _is_orphan(pid: int, entry: _Entry) -> bool:
    """Whether a child of ours was never started by us; nothing that we start elsewhere leaves our session."""
    return entry.session != os.getsid(0) and pid not in _started_here and pid not in _adoption.known


def _group_lives(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal(members: set[int], number: signal.Signals) -> None:
    for pid in members:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if _PROC:
                os.kill(pid, number)
            else:
                os.killpg(pid, number)


def _reap() -> None:
    """Take the status of the orphans that were given to us and are over, so that no zombie stays."""
    if not _PROC or not _adoption.count:
        return
    for pid, entry in _process_table().items():
        if entry.parent == os.getpid() and entry.state == "Z" and _is_orphan(pid, entry):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _end_orphans() -> None:
    """End those that carry no mark and outlived runs that ended at the same time, so that neither could claim them."""
    deadline = time.monotonic() + _LAST_WAIT
    while _orphans(_process_table()) and time.monotonic() < deadline:
        _signal(_orphans(_process_table()), signal.SIGKILL)
        _reap()
        time.sleep(0.005)


class _Adoption:
    """While runs are on, processes whose parent ended become children of ours (Linux), so that none gets out of sight."""

    def __init__(self) -> None:
        self.count = 0
        self.known: frozenset[int] = frozenset()
        self._lock = threading.Lock()

    def alone(self) -> bool:
        """Whether an orphan that carries no mark can only belong to the one run that is on."""
        return self.count == 1

    def begin(self) -> None:
        with self._lock:
            self.count += 1
            if self.count == 1 and _PROC:
                self.known = frozenset(pid for pid, entry in _process_table().items() if entry.parent == os.getpid())
                _adopt(True)

    def end(self) -> None:
        with self._lock:
            if self.count == 1 and _PROC:
                _end_orphans()
                _adopt(False)
            self.count -= 1


_adoption = _Adoption()
_started_here: set[int] = set()


def ours(pid: int, *, over: bool = False) -> None:
    """Say that a process is our own child, which whoever started it waits for; or that it has."""
    if over:
        _started_here.discard(pid)
    else:
        _started_here.add(pid)


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Be the parent of every descendant whose own parent ended."""
    _adoption.begin()
    try:
        yield
    finally:
        _adoption.end()


def _adopt(on: bool) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


def no_core_file(pid: int) -> None:
    """A program that crashes writes no image of its memory."""
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        hard = resource.prlimit(pid, resource.RLIMIT_CORE)[1]
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, hard))


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let signals that would end jaxmigrate wait until its processes are ended."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


@contextlib.contextmanager
def signals_end_the_run() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that no process outlives jaxmigrate."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    old = {n: signal.signal(n, leave) for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) == signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
