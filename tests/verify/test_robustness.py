"""What a program may do to whoever runs it: there is always a run within the limit, and nothing of it is left."""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jaxmigrate.verify.launch import probe, run
from jaxmigrate.verify.model import Kind, Run, Site, Span
from tests.verify.jobs import final, is_free, job, kinds, records, tried
from tests.verify.leftovers import children, of_runs

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks for what is left in /proc"),
    pytest.mark.skipif(bool(probe(sys.executable).error), reason="this Python has no JAX"),
]

LIMIT = 8.0
PATIENCE = 60.0
"""What a busy machine may add."""
SITE = Site(1, "program.py", Kind.VALUE, Span(1, 0, 1, 5), Span(1, 0, 1, 5))
"""The first expression of a program, to see that what was recorded before a disaster is kept."""


def attempt(text: str, folder: Path, *, timeout: float = 60, ended: bool = True) -> Run:
    """Run a program whose first line is the edited expression ``1 + 1``."""
    begin = time.monotonic()
    run = tried("1 + 1\n" + text, folder, timeout=timeout, sites=(SITE,))
    assert not run.error
    assert time.monotonic() - begin < timeout + PATIENCE
    assert [hit["v"] for hit in records(run, "hit")] == [{"k": "scalar", "t": "int", "v": 2}], run.processes[0].stderr
    assert ("end" in kinds(run)) is ended
    return run


ENDLESS = {
    "loop": "while True: pass",
    "sleep": "import time\ntime.sleep(10000)",
    "lock": "import threading\nthreading.Lock().acquire()\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    "c-sleep": "import ctypes\nctypes.CDLL(None).sleep(10000)",
    "c-sleep-with-the-lock": "import ctypes\nctypes.PyDLL(None).sleep(10000)",
    "ignores-signals": "import signal\nfor n in (1, 2, 6, 10, 14, 15):\n    signal.signal(n, signal.SIG_IGN)\nwhile True: pass",
    "stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "catches-all": "try:\n    while True: pass\nexcept BaseException:\n    while True: pass",
    "atexit": "import atexit, time\natexit.register(time.sleep, 10000)",
    "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(10000,)).start()",
    "forks": "import os\nwhile True:\n    if os.fork() == 0:\n        os._exit(0)\n    os.wait()",
}


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """All of them at once: they wait for the limit anyway."""
    folder, before = tmp_path_factory.mktemp("endless"), children()

    def attempted(name: str) -> Run:
        return run(job(folder / name, "1 + 1\n" + ENDLESS[name], name=name, timeout=LIMIT, sites=(SITE,)), folder)

    with ThreadPoolExecutor(len(ENDLESS)) as pool:
        found = dict(zip(ENDLESS, pool.map(attempted, ENDLESS), strict=True))
    assert not of_runs()
    assert children().keys() <= before.keys()
    return found


@pytest.mark.parametrize("name", ENDLESS)
def test_a_program_that_never_ends_is_ended_at_the_limit(endless: dict[str, Run], name: str) -> None:
    run = endless[name]
    assert run.timed_out
    assert run.processes[0].status is None
    assert LIMIT <= run.seconds < LIMIT + PATIENCE
    assert records(run, "hit")
    assert name in ("atexit", "thread") or "end" not in kinds(run)


def test_a_fork_bomb_of_daemons_is_ended(tmp_path: Path) -> None:
    text = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(10000)
        os._exit(0)
"""
    assert attempt(text, tmp_path).processes[0].status == 0


@pytest.mark.parametrize("status", [0, 3])
def test_leaving_by_the_back_door_keeps_the_status_and_the_records(tmp_path: Path, status: int) -> None:
    run = attempt(f"import os\nos._exit({status})", tmp_path, ended=False)
    assert run.processes[0].status == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import os\nos.abort()", -6),
        ("import ctypes\nctypes.string_at(0)", -11),
        ("import faulthandler\nfaulthandler._sigsegv()", -11),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", -9),
        ("import os, signal\nos.kill(0, signal.SIGTERM)", -15),
    ],
)
def test_a_crash_of_the_interpreter_keeps_the_records(tmp_path: Path, text: str, status: int) -> None:
    assert attempt(text, tmp_path, ended=False).processes[0].status == status


def test_no_core_file_is_written(tmp_path: Path) -> None:
    text = "import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE)[0], flush=True)"
    assert attempt(text, tmp_path).processes[0].stdout == "0\n"


def test_much_output_is_kept_at_both_ends(tmp_path: Path) -> None:
    text = "import sys\nprint('first')\nfor _ in range(500): sys.stdout.write('x' * 99_999 + '\\n')\nprint('last')"
    run = attempt(text, tmp_path)
    assert run.processes[0].status == 0
    assert run.processes[0].stdout.startswith("first\nxxx")
    assert run.processes[0].stdout.endswith("last\n")
    assert len(run.processes[0].stdout) < 1_000_000


def test_bytes_that_are_no_text_are_read(tmp_path: Path) -> None:
    assert "\ufffd" in attempt("import os\nos.write(1, bytes([255, 254, 0, 10]))", tmp_path).processes[0].stdout


def test_standard_input_is_at_its_end(tmp_path: Path) -> None:
    run = attempt("try:\n    name = input('name? ')\nexcept EOFError:\n    name = 'nobody'\nprint(name)", tmp_path)
    assert run.processes[0].stdout == "name? nobody\n"


@pytest.mark.parametrize(
    "text",
    [
        "import os\nfor n in range(3): os.close(n)",
        "import sys\nsys.stdout.close(); sys.stderr.close()",
        "import os\nos.closerange(0, 256)",
        "import sys\nsys.stdout = sys.stderr = None",
        "import sys\ndel sys.stdout, sys.stderr, sys.modules['json'], sys.modules['os']",
    ],
)
def test_closed_streams_do_not_matter(tmp_path: Path, text: str) -> None:
    run = tried("1 + 1\n" + text, tmp_path, sites=(SITE,))
    assert not run.timed_out
    assert records(run, "hit")


def test_another_working_directory_does_not_matter(tmp_path: Path) -> None:
    text = "import os, shutil\nos.mkdir('deep')\nos.chdir('deep')\nos.rmdir('../deep')\nx = 5"
    assert final(attempt(text, tmp_path))["x"]["v"] == 5


def test_files_may_come_and_go(tmp_path: Path) -> None:
    text = """
import os, tempfile
open('made.txt', 'w').write('x')
os.remove('program.py')
with tempfile.TemporaryDirectory() as folder:
    os.rmdir(os.path.dirname(folder)) if os.listdir(os.path.dirname(folder)) == [] else None
raise KeyError('afterwards')
"""
    run = attempt(text, tmp_path)
    assert run.processes[0].status == 1
    assert "KeyError: 'afterwards'" in run.processes[0].stderr
    assert not (tmp_path / "tree" / "program.py").exists()


def test_handlers_of_signals_are_the_programs_own(tmp_path: Path) -> None:
    text = """
import os, signal
got = []
signal.signal(signal.SIGTERM, lambda *_: got.append(15))
signal.signal(signal.SIGINT, lambda *_: got.append(2))
os.kill(os.getpid(), signal.SIGTERM)
os.kill(os.getpid(), signal.SIGINT)
caught = sum(got)
"""
    got = final(attempt(text, tmp_path))["caught"]
    assert got["v"] == 17


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ("import jax\njax.devices()", 8),
        ("import os\nos.environ['XLA_FLAGS'] = '--xla_cpu_enable_fast_math=false'\nimport jax", 8),
        ("import os\nos.environ.pop('XLA_FLAGS')\nimport jax", 8),
        ("import os\nos.environ.update(XLA_FLAGS='')\nimport jax", 8),
        ("import os\nos.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'\nimport jax", 2),
        ("import jax\njax.config.update('jax_num_cpu_devices', 4)", 4),
    ],
)
def test_the_device_count_is_ours_unless_the_program_sets_one(tmp_path: Path, text: str, devices: int) -> None:
    run = attempt(f"{text}\nprint(jax.device_count())", tmp_path)
    assert run.processes[0].status == 0, run.processes[0].stderr
    assert run.processes[0].stdout == f"{devices}\n"
    assert records(run, "backend")[0]["devices"] == devices


def test_children_of_multiprocessing_record_nothing_and_are_gone() -> None:
    text = """
import multiprocessing
def work(n):
    return n * n
if __name__ == '__main__':
    for method in ('fork', 'spawn'):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(pool.map(work, range(3)))
    print(list(multiprocessing.Manager().list([1])))
"""
    # The sockets of a manager lie below TMPDIR, and their paths must be short.
    with tempfile.TemporaryDirectory() as folder:
        run = attempt(text, Path(folder))
    assert run.processes[0].stdout == "[0, 1, 4]\n[0, 1, 4]\n[1]\n", run.processes[0].stderr


def test_a_server_that_outlives_its_program_gives_its_port_back(tmp_path: Path) -> None:
    text = """
import subprocess, sys, time
code = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); time.sleep(10000)"
child = subprocess.Popen([sys.executable, '-c', code], start_new_session=True, stdout=subprocess.PIPE, text=True, env={})
print(child.stdout.readline().strip())
"""
    port = int(attempt(text, tmp_path).processes[0].stdout)
    assert is_free(port)


def test_a_child_that_holds_the_output_open_does_not_delay_the_end(tmp_path: Path) -> None:
    run = attempt("import subprocess\nsubprocess.Popen(['sleep', '10000'], start_new_session=True)\nprint('done')", tmp_path)
    assert run.processes[0].stdout == "done\n"
    assert run.seconds < PATIENCE


def test_an_error_before_any_line_of_the_program_is_told(tmp_path: Path) -> None:
    run = tried("def f(:\n", tmp_path)
    assert run.processes[0].status == 1
    assert "SyntaxError" in run.processes[0].stderr
    assert records(run, "end")[0]["x"]["type"] == "SyntaxError"  # type: ignore[index]


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    run = tried("", tmp_path, target="other.py")
    assert run.processes[0].status not in (0, None)
    assert "other.py" in run.processes[0].stderr
