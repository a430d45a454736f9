"""Groups of processes: what they print, how they end, and that none of them is left. No JAX here."""

from __future__ import annotations

import functools
import os
import secrets
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jaxmigrate.verify.processes import TOKEN, Cancelled, Command, Excerpt, Group, Patience, run_group
from tests.verify.leftovers import children, marked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for what is left in /proc")

START = 2.0
"""Long enough for a Python to start on a busy machine; what then hangs is ended."""


def group(
    programs: Sequence[str], cwd: Path, *, limit: float = 60, finished: bool = True, stop: threading.Event | None = None
) -> Group:
    """Run Python programs as one group and see that nothing is left of it."""
    token = secrets.token_hex(8)
    environment = {**os.environ, TOKEN: token, "PYTHONFAULTHANDLER": "1"}
    commands = [Command((sys.executable, "-c", textwrap.dedent(text)), str(cwd), environment) for text in programs]
    before = children()
    try:
        return run_group(commands, token, Patience(limit, 0.5, 0.5, 0.3), finished=lambda _: finished, stop=stop)
    finally:
        assert not marked(f"{TOKEN}={token}")
        assert children().keys() <= before.keys()


def test_status_and_output_of_each_process(tmp_path: Path) -> None:
    found = group(["print('one')", "import sys; sys.stderr.write('two'); sys.exit(0)"], tmp_path)
    assert [(e.status, e.stdout, e.stderr) for e in found.ended] == [(0, "one\n", ""), (0, "", "two")]
    assert not found.timed_out
    assert not found.notes


def test_standard_input_is_empty(tmp_path: Path) -> None:
    assert group(["import sys; print(repr(sys.stdin.read()))"], tmp_path).ended[0].stdout == "''\n"


def test_a_signal_is_a_negative_status(tmp_path: Path) -> None:
    assert group(["import os; os.kill(os.getpid(), 9)"], tmp_path).ended[0].status == -signal.SIGKILL


def test_output_larger_than_a_pipe_on_both_streams_does_not_block(tmp_path: Path) -> None:
    text = "import sys\nfor n in range(300000): print(n, 'x' * 90); print('e' * 90, file=sys.stderr)\nprint('last')"
    ended = group([text], tmp_path, limit=60).ended[0]
    assert ended.status == 0
    assert ended.stdout.startswith("0 xxx")
    assert ended.stdout.endswith("last\n")
    assert "bytes left out" in ended.stdout
    assert len(ended.stdout) < 400_000


def test_an_excerpt_keeps_both_ends_and_counts_what_it_drops() -> None:
    excerpt = Excerpt()
    for n in range(100_000):
        excerpt.feed(b"%09d\n" % n)
    text = excerpt.text()
    head, _, rest = text.partition("\n... ")
    dropped, _, tail = rest.partition(" bytes left out ...\n")
    assert len(head) + len(tail) + int(dropped) == 1_000_000
    assert tail.endswith("000099999\n")


def test_the_time_limit_ends_a_program_that_ignores_every_signal(tmp_path: Path) -> None:
    text = """
        import signal, time
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT):
            signal.signal(number, lambda *_: None)
        print("on", flush=True)
        while True:
            time.sleep(1)
    """
    found = group([text], tmp_path, limit=START)
    assert found.timed_out
    assert found.ended[0].status is None
    assert found.ended[0].stdout == "on\n"
    assert found.seconds < 30


def test_the_time_limit_shows_where_the_program_hangs(tmp_path: Path) -> None:
    found = group(["import time\ndef forever():\n    time.sleep(1000)\nforever()"], tmp_path, limit=START)
    assert "in forever" in found.ended[0].stderr


def test_a_stopped_process_is_ended_too(tmp_path: Path) -> None:
    found = group(["import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"], tmp_path, limit=START)
    assert found.timed_out


def test_children_that_left_the_session_are_ended(tmp_path: Path) -> None:
    text = """
        import os, subprocess, sys, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
        print("left")
    """
    found = group([text], tmp_path)
    assert (found.ended[0].status, found.ended[0].stdout) == (0, "left\n")
    assert found.seconds < 30


def test_children_that_dropped_the_mark_are_ended(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    text = f"""
        import subprocess
        child = subprocess.Popen(["sleep", "1000"], env={{"PATH": "/usr/bin:/bin"}}, start_new_session=True)
        open({str(pidfile)!r}, "w").write(str(child.pid))
    """
    assert group([text], tmp_path).ended[0].status == 0
    assert not Path(f"/proc/{pidfile.read_text()}").exists()


def test_children_without_a_mark_are_ended_after_runs_that_end_together(tmp_path: Path) -> None:
    text = """
        import os, subprocess, threading, time
        for _ in range(20):
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        child = subprocess.Popen(["sleep", "1000"], env={"PATH": "/usr/bin:/bin"}, start_new_session=True)
        open(f"child-{os.getpid()}", "w").write(str(child.pid))
        time.sleep(1000)
    """
    token = secrets.token_hex(8)
    command = Command((sys.executable, "-c", textwrap.dedent(text)), str(tmp_path), {**os.environ, TOKEN: token})
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: run_group([command], token, Patience(4, farewell=0.3)), range(3)))
    started = [int(file.read_text()) for file in tmp_path.glob("child-*")]
    assert len(started) == 3
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]


def test_a_process_of_ours_that_is_no_part_of_the_run_lives_on(tmp_path: Path) -> None:
    bystander = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        group(["print()"], tmp_path)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_peers_of_a_process_that_failed_are_ended_and_named(tmp_path: Path) -> None:
    found = group(["import time; time.sleep(1000)", "import sys; sys.exit(3)"], tmp_path)
    assert [e.status for e in found.ended] == [None, 3]
    assert not found.timed_out
    assert found.notes == ("process 1 ended with status 3", "process 0 was waiting for it and was ended")
    assert found.seconds < 30


def test_peers_of_a_process_that_ended_well_may_go_on(tmp_path: Path) -> None:
    found = group(["import time; time.sleep(2); print('done')", "pass"], tmp_path)
    assert found.ended[0].stdout == "done\n"
    assert not found.notes


def test_peers_of_a_process_that_left_early_are_ended(tmp_path: Path) -> None:
    found = group(["import time; time.sleep(1000)", "import os; os._exit(0)"], tmp_path, finished=False)
    assert found.notes[0] == "process 1 ended with status 0 before its program came to its end"
    assert found.ended[0].status is None


def test_a_run_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(Cancelled):
        group(["import time; time.sleep(1000)"], tmp_path, stop=stop)


def test_a_command_that_cannot_be_started_leaves_the_others_ended(tmp_path: Path) -> None:
    token = secrets.token_hex(8)
    environment = {**os.environ, TOKEN: token}
    commands = [Command(("sleep", "1000"), str(tmp_path), environment), Command(("/no/such/python",), str(tmp_path), environment)]
    with pytest.raises(FileNotFoundError):
        run_group(commands, token, Patience(60))
    assert not marked(f"{TOKEN}={token}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_jaxmigrate_ends_the_run_first(tmp_path: Path, number: signal.Signals) -> None:
    token = secrets.token_hex(8)
    text = f"""
        import os
        from jaxmigrate.verify.processes import Command, Patience, run_group, signals_end_the_run
        command = Command(("sh", "-c", "touch started; trap '' TERM; sleep 1000 & sleep 1000"), {str(tmp_path)!r}, {{**os.environ, "{TOKEN}": "{token}"}})
        with signals_end_the_run():
            run_group([command], "{token}", Patience(300))
    """
    # Whoever started the tests may ignore the signal (nohup, a shell's background jobs); the caller must not inherit that.
    restore = functools.partial(signal.signal, number, signal.SIG_DFL)
    caller = subprocess.Popen([sys.executable, "-c", textwrap.dedent(text)], stderr=subprocess.PIPE, preexec_fn=restore)
    deadline = time.monotonic() + 120
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert marked(f"{TOKEN}={token}")
    caller.send_signal(number)
    caller.communicate(timeout=120)
    assert caller.returncode in (128 + number, -number)
    assert not marked(f"{TOKEN}={token}")
