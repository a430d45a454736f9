"""Whatever is in a tree: a clear line for each such file, status 2, every other file processed, nothing half written."""

from __future__ import annotations

import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import NEW, OLD, Tool

HIT = "from jax.numpy import DeviceArray\n"

BAD = {
    "syntax error": (HIT.encode() + b"def (\n", b"cannot be parsed: line 2"),
    "python 2": (HIT.encode() + b"print 'x'\n", b"Python 2?"),
    "tabs and spaces": (HIT.encode() + b"if 1:\n\tx\n        y\n", b"cannot be parsed: line"),
    "null byte": (HIT.encode() + b"\0", b"contains a null byte (line 2)"),
    "latin-1 without cookie": (HIT.encode() + b"# \xe9\n", b"is not UTF-8 and declares no other encoding (line 2"),
    "wrong cookie": (b"# coding: ascii\n" + HIT.encode() + b"# \xe9\n", b"is not ascii, the encoding it declares"),
    "unknown cookie": (b"# coding: klingon\n" + HIT.encode(), b"declares the unknown encoding 'klingon'"),
    "utf-16": (b"\xff\xfe" + HIT.encode() + HIT.encode("utf-16-le"), b"is UTF-16"),
    "3000 brackets": (HIT.encode() + b"x = " + b"[" * 3000 + b"]" * 3000 + b"\n", b"cannot be parsed"),
    "20 MB": (HIT.encode() + b"x = 1\n" * 3_400_000, b"too large to parse"),
}
FINE = {
    "3000 terms": HIT + "x = " + " + ".join(["1"] * 3000) + "\n",
    "900 attributes": HIT + "x = a" + ".b" * 900 + "\n",
    "500 calls": HIT + "x = f" + "()" * 500 + "\n",
    "1000 elif": HIT + "if x: pass\n" + "elif x: pass\n" * 1000,
    "90 blocks": HIT + "".join(" " * n + "if x:\n" for n in range(90)) + " " * 90 + "pass\n",
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_bad_file_is_one_clear_line_and_the_others_are_done(project: Path, tool: Tool, content: bytes, message: bytes) -> None:
    (project / "bad.py").write_bytes(content)
    (project / "a.py").write_text(OLD)
    (project / "z.py").write_text(OLD)
    done = tool("rewrite", ".")
    assert done.returncode == 2
    [line] = [line for line in done.stdout.splitlines() if line.startswith(b"bad.py")]
    assert line.startswith(b"bad.py: failed: ")
    assert message in line
    assert b"Traceback" not in done.stderr
    assert (project / "bad.py").read_bytes() == content
    assert [(project / name).read_text() for name in ("a.py", "z.py")] == [NEW, NEW]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"def f(:\n", b"cannot be parsed: line 1"),
        (b"print 'x'\n", b"Python 2?"),
        (b"x = 1\n\0", b"contains a null byte (line 2)"),
        (b"x = '\xe9'\n", b"is not UTF-8"),
        (b"# coding: klingon\n", b"declares the unknown encoding"),
        (b"x = " + b"[" * 3000 + b"]" * 3000, b"cannot be parsed"),
    ],
)
def test_named_file_must_be_python_even_without_a_hit(project: Path, tool: Tool, content: bytes, message: bytes) -> None:
    (project / "bad.py").write_bytes(content)
    (project / "a.py").write_text(OLD)
    done = tool("rewrite", "bad.py", "a.py")
    assert done.returncode == 2
    assert b"bad.py: failed: " in done.stdout
    assert message in done.stdout
    assert (project / "a.py").read_text() == NEW


@pytest.mark.parametrize("content", FINE.values(), ids=FINE)
def test_deep_file_is_done_or_said_to_be_too_deep(project: Path, tool: Tool, content: str) -> None:
    (project / "deep.py").write_text(content)
    (project / "z.py").write_text(OLD)
    done = tool("rewrite", ".")
    assert (project / "z.py").read_text() == NEW
    if done.returncode == 2:
        assert (
            b"deep.py: failed: is nested too deeply" in done.stdout or b"deep.py: failed: cannot be parsed: nested" in done.stdout
        )
    else:
        assert done.returncode in (0, 1)
    assert b"internal error" not in done.stdout


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(project: Path, tool: Tool) -> None:
    (project / "bad.py").write_text(OLD)
    (project / "bad.py").chmod(0)
    (project / "z.py").write_text(OLD)
    done = tool("rewrite", ".")
    assert done.returncode == 2
    assert b"bad.py: failed: cannot be read: permission denied" in done.stdout
    assert (project / "z.py").read_text() == NEW


def test_read_only_file(project: Path, tool: Tool) -> None:
    (project / "bad.py").write_text(OLD)
    (project / "bad.py").chmod(0o444)
    (project / "z.py").write_text(OLD)
    done = tool("rewrite", ".")
    assert done.returncode == 2
    assert b"bad.py: failed: was not written: it is read-only" in done.stdout
    assert (project / "bad.py").read_text() == OLD
    assert (project / "z.py").read_text() == NEW
    assert tool("rewrite", "--check", ".").returncode == 1


def test_folder_called_like_a_file_and_symlink_loops(project: Path, tool: Tool) -> None:
    (project / "x.py").mkdir()
    (project / "x.py" / "a.py").write_text(OLD)
    (project / "x.py" / "loop").symlink_to("..")
    (project / "self.py").symlink_to("self.py")
    done = tool("rewrite", ".")
    assert (done.returncode, done.stderr) == (0, b"")
    assert (project / "x.py" / "a.py").read_text() == NEW


@pytest.mark.parametrize(
    "name", [b"str\xffnge.py", b"new\nline.py", b"quote\"'.py", "ünïcode ☃.py".encode(), b"-x.py", b"\xff/__init__.py"]
)
def test_names_of_files_may_be_anything(project: Path, tool: Tool, name: bytes) -> None:
    path = project / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("from jax.numpy import DeviceArray as Old\n" + OLD)
    (project / "a.py").write_text(OLD)
    for mode in (["--diff"], ["--check"], ["--check", "--format", "json"], []):
        done = tool("rewrite", ".", *mode)
        assert done.returncode == (1 if mode else 0), done
        assert b"internal error" not in done.stdout + done.stderr
    assert "DeviceArray" not in path.read_text()
    assert (project / "a.py").read_text() == NEW


def test_mode_bits_and_symlinks_are_kept(project: Path, tool: Tool) -> None:
    (project / "real.py").write_text(OLD)
    (project / "real.py").chmod(0o751)
    (project / "link.py").symlink_to("real.py")
    done = tool("rewrite", "link.py")
    assert done.returncode == 0
    assert (project / "link.py").is_symlink()
    assert (project / "real.py").read_text() == NEW
    assert stat.S_IMODE((project / "real.py").stat().st_mode) == 0o751


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_full_disk_leaves_the_old_file_and_no_other(project: Path) -> None:
    """A limit on the size of files stands in for the disk: the operating system refuses the write in the same way."""
    small, large = OLD, OLD + "# filling\n" * 5_000
    (project / "a.py").write_text(large)
    (project / "b.py").write_text(small)
    script = (
        "import resource, sys\nfrom jaxmigrate.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\nsys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-B", "-c", script, "rewrite", "."], cwd=project, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"a.py: failed: was not written: file too large" in done.stdout
    assert (project / "a.py").read_text() == large
    assert (project / "b.py").read_text() == NEW
    assert sorted(os.listdir(project)) == ["a.py", "b.py"]


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((b"\xef\xbb\xbf" + OLD.encode()), (b"\xef\xbb\xbf" + NEW.encode())),
        (OLD.replace("\n", "\r\n").encode(), NEW.replace("\n", "\r\n").encode()),
        (OLD.replace("\n", "\r").encode(), NEW.replace("\n", "\r").encode()),
        (b"# coding: latin-1\n# \xe9\n" + OLD.encode(), b"# coding: latin-1\n# \xe9\n" + NEW.encode()),
        (OLD.encode() + b"\x0c\n# \t \n\x0c", NEW.encode() + b"\x0c\n# \t \n\x0c"),
        (OLD.rstrip().encode(), NEW.rstrip().encode()),
        (b"#\r\n" + OLD.encode(), b"#\r\n" + NEW.encode()),
    ],
    ids=["bom", "crlf", "cr", "latin-1", "form feed", "no final newline", "mixed"],
)
def test_bytes_outside_of_edits_are_kept(project: Path, tool: Tool, before: bytes, after: bytes, jobs: str) -> None:
    (project / "a.py").write_bytes(before)
    assert tool("rewrite", ".", "-j", jobs).returncode == 0
    assert (project / "a.py").read_bytes() == after


HELPER = """
import os, signal, sys, time
import jaxmigrate.engine as engine
from jaxmigrate import runner
from jaxmigrate.cli import main
rewrite_source = engine.rewrite_source
def strange(data, settings, **names):
    if b"kill me" in data:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"take long" in data:
        open(names["path"] + ".started", "w").close()
        time.sleep(1000)
    return rewrite_source(data, settings, **names)
engine.rewrite_source = strange
runner.PARALLEL_BYTES, runner._CHUNK_FILES = int(sys.argv.pop(1)), 1
sys.exit(main())
"""


def test_killed_worker_costs_one_file(project: Path) -> None:
    for n in range(12):
        (project / f"f{n:02}.py").write_text(OLD + ("# kill me\n" if n == 5 else ""))
    done = subprocess.run(
        [sys.executable, "-c", HELPER, "2", "rewrite", ".", "-j", "3"], cwd=project, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stdout.count(b"failed: ") == 1
    assert b"f05.py: failed: worker died on it" in done.stdout
    assert b"Traceback" not in done.stderr
    assert [n for n in range(12) if (project / f"f{n:02}.py").read_text() != NEW] == [5]


@pytest.mark.parametrize("threshold", ["2", "1000000000"], ids=["workers", "one process"])
def test_ctrl_c_ends_the_run_with_every_file_whole(project: Path, threshold: str) -> None:
    for n in range(8):
        (project / f"f{n}.py").write_text(OLD + ("# take long\n" if n == 4 else ""))
    process = subprocess.Popen(
        [sys.executable, "-c", HELPER, threshold, "rewrite", ".", "-j", "2"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heeds_ctrl_c,
    )
    wait_for(lambda: (project / "f4.py.started").exists() and (project / "f3.py").read_text() == NEW)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert errors == b"jaxmigrate: interrupted; 4 files were rewritten, none is half written\n"
    assert b"Traceback" not in output
    (project / "f4.py.started").unlink()
    assert sorted(os.listdir(project)) == [f"f{n}.py" for n in range(8)]
    assert [(project / f"f{n}.py").read_text() for n in range(4)] == [NEW] * 4
    assert (project / "f7.py").read_text() == OLD
    wait_for(lambda: not group_exists(process.pid))


def heeds_ctrl_c() -> None:
    """Whoever started the tests may ignore the signal (nohup, a shell's background jobs); the run must not inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert multiprocessing.active_children() == []


def test_file_that_changes_while_it_is_worked_on(project: Path) -> None:
    (project / "a.py").write_text(OLD)
    (project / "b.py").write_text(OLD)
    script = HELPER.replace(
        "rewrite_source(data, settings, **names)\nengine", "changed(data, settings, **names)\nengine"
    ).replace(
        "def strange",
        "def changed(data, settings, **names):\n"
        "    if names['path'] == 'a.py':\n        open('a.py', 'a').write('# edited')\n"
        "    return rewrite_source(data, settings, **names)\ndef strange",
    )
    done = subprocess.run([sys.executable, "-c", script, "99999", "rewrite", "."], cwd=project, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"a.py: failed: was not written: it changed since it was read" in done.stdout
    assert (project / "a.py").read_text() == OLD + "# edited"
    assert (project / "b.py").read_text() == NEW


@pytest.mark.parametrize("script", [True, False], ids=["jaxmigrate", "python -m jaxmigrate"])
def test_nothing_of_the_code_is_run(project: Path, script: bool) -> None:
    for name in ("a", "jax", "conftest", "sitecustomize", "libcst", "jaxmigrate_codemods", "click", "difflib", "tomllib"):
        (project / f"{name}.py").write_text("open('ran', 'w').close()\n" + OLD)
    (project / "pyproject.toml").write_text("[tool.jaxmigrate]\n")
    installed = os.path.join(os.path.dirname(sys.executable), "jaxmigrate")
    if script and not os.path.exists(installed):
        pytest.skip("not installed")
    command = [installed] if script else [sys.executable, "-m", "jaxmigrate"]
    for mode in (["--diff"], []):
        done = subprocess.run([*command, "rewrite", ".", *mode], cwd=project, capture_output=True, check=False)
        assert done.returncode == (1 if mode else 0), done
    assert not (project / "ran").exists()
