"""``jaxmigrate rewrite``: what it prints where, what it writes, and its exit status."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import NEW, OLD, Tool

MANUAL = 'import os\n\nos.environ["JAX_ARRAY"] = "0"\n'
CLEAN = "import jax\n\nx = jax.numpy.ones(3)\n"


def write(project: Path, **contents: str) -> None:
    for name, text in contents.items():
        (project / f"{name}.py").write_text(text)


@pytest.mark.parametrize(
    ("contents", "arguments", "status"),
    [
        ({"a": OLD}, [], 0),
        ({"a": OLD}, ["--check"], 1),
        ({"a": OLD}, ["--diff"], 1),
        ({"a": OLD}, ["--check", "--exit-zero"], 0),
        ({"a": OLD}, ["--diff", "--exit-zero"], 0),
        ({"a": NEW}, [], 0),
        ({"a": NEW}, ["--check"], 0),
        ({"a": NEW}, ["--diff"], 0),
        ({"a": CLEAN}, ["--check"], 0),
        ({"a": MANUAL}, [], 1),
        ({"a": MANUAL}, ["--check"], 1),
        ({"a": MANUAL}, ["--diff"], 1),
        ({"a": MANUAL}, ["--exit-zero"], 0),
        ({"a": OLD, "b": "jax.numpy.DeviceArray = ("}, [], 2),
        ({"a": OLD, "b": "jax.numpy.DeviceArray = ("}, ["--check"], 2),
        ({"a": OLD, "b": "jax.numpy.DeviceArray = ("}, ["--exit-zero"], 2),
        ({"a": OLD}, ["nowhere.py"], 2),
        ({"a": OLD}, ["--exit-zero", "nowhere.py"], 2),
        ({"a": OLD}, ["--nonsense"], 2),
        ({"a": OLD}, ["--target", "new"], 2),
        ({"a": OLD}, ["--select", "nonsense"], 2),
        ({"a": OLD}, ["--safe-only", "--unsafe"], 2),
    ],
)
def test_exit_status(project: Path, tool: Tool, contents: dict[str, str], arguments: list[str], status: int) -> None:
    write(project, **contents)
    done = tool("rewrite", ".", *arguments)
    assert done.returncode == status, done
    assert b"Traceback" not in done.stderr + done.stdout


DEPRECATED = "import jax\njax.lax.psend(x)\n"
WALKS = "def f(e):\n    return e.primitive.name == 'pjit'  # of a jaxpr by jax\n"


@pytest.mark.parametrize(("arguments", "status"), [([], 0), (["--check"], 0), (["--strict"], 1), (["--check", "--strict"], 1)])
def test_what_is_only_deprecated_counts_when_strict(project: Path, tool: Tool, arguments: list[str], status: int) -> None:
    write(project, a=DEPRECATED)
    done = tool("rewrite", ".", *arguments)
    assert done.returncode == status, done
    assert b"jax.lax.psend is deprecated" in done.stdout
    assert (b"1 finding of low severity" in done.stdout) is not bool(status)


def test_strict_and_from_can_be_settings_of_the_project(project: Path, tool: Tool) -> None:
    write(project, a=DEPRECATED)
    (project / "pyproject.toml").write_text('[tool.jaxmigrate]\nstrict = true\nfrom = "0.4.30"\n')
    assert tool("rewrite", ".").returncode == 1


def test_what_was_written_for_says_which_changes_matter(project: Path, tool: Tool) -> None:
    write(project, a=f"import jax\n{WALKS}")
    silent = tool("rewrite", "--check", "--from", "0.12.0", ".")
    told = tool("rewrite", "--check", "--from", "0.4.13", ".")
    assert b"pjit" not in silent.stdout
    assert b"pjit" in told.stdout


def test_what_a_guard_hides_comes_first(project: Path, tool: Tool) -> None:
    write(project, a=OLD, b="try:\n    from jax.core import Unit\nexcept ImportError:\n    Unit = None\nprint(Unit)\n")
    first = tool("rewrite", "--check", ".").stdout.splitlines()[0]
    assert first.startswith(b"b.py:2:")
    assert b": urgent manual " in first


def test_no_path_is_wrong_usage(tool: Tool) -> None:
    assert tool("rewrite").returncode == 2


def test_rewrite_alone_writes(project: Path, tool: Tool) -> None:
    write(project, a=OLD)
    done = tool("rewrite", ".")
    assert (project / "a.py").read_text() == NEW
    assert b"a.py:4:10: safe device-array" in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize("mode", [["--diff"], ["--check"], ["--check", "--diff"]])
def test_reading_modes_write_nothing(project: Path, tool: Tool, mode: list[str]) -> None:
    write(project, a=OLD)
    before = (project / "a.py").stat()
    tool("rewrite", ".", *mode)
    assert (project / "a.py").stat().st_mtime_ns == before.st_mtime_ns
    assert sorted(os.listdir(project)) == ["a.py"]


def test_second_run_has_nothing_to_do(project: Path, tool: Tool) -> None:
    write(project, a=OLD, b=CLEAN)
    tool("rewrite", ".")
    assert tool("rewrite", ".").stdout == b"Nothing to do in 2 files.\n"


def test_folder_without_files_says_so(tool: Tool) -> None:
    done = tool("rewrite", ".")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"No files to look at.\n")


def test_path_that_does_not_exist_stops_no_other(project: Path, tool: Tool) -> None:
    write(project, a=OLD)
    done = tool("rewrite", "nowhere.py", "a.py")
    assert b"nowhere.py: failed: does not exist\n" in done.stdout
    assert (project / "a.py").read_text() == NEW


def git(project: Path, *arguments: str, input: bytes | None = None) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *arguments], cwd=project, check=True, input=input, env=environment, capture_output=True)


PATCHED = {
    "lf": OLD.encode(),
    "crlf": OLD.replace("\n", "\r\n").encode(),
    "no final newline": OLD.rstrip().encode(),
    "import is all": b"from jax.numpy import DeviceArray",
    "latin-1": b"# coding: latin-1\n# \xe9\n" + OLD.encode() + b"\n# \xe9",
    "bom": b"\xef\xbb\xbf" + OLD.encode(),
    "form feed": OLD.encode() + b"\x0c\nx: jnp.DeviceArray\n",
}


@pytest.mark.parametrize("content", PATCHED.values(), ids=PATCHED)
@pytest.mark.parametrize("below", [False, True])
def test_git_applies_the_patch(project: Path, tool: Tool, content: bytes, below: bool) -> None:
    git(project, "init", "-q")
    (project / "sub dir").mkdir()
    for name in ("a.py", "sub dir/b c.py"):
        (project / name).write_bytes(content)
    done = tool("rewrite", "--diff", "sub dir" if below else ".")
    assert (project / "sub dir/b c.py").read_bytes() == content
    git(project, "apply", "--check", "-", input=done.stdout)
    git(project, "apply", "-", input=done.stdout)
    patched = (project / "sub dir/b c.py").read_bytes()
    (project / "sub dir/b c.py").write_bytes(content)
    tool("rewrite", ".")
    assert (project / "sub dir/b c.py").read_bytes() == patched != content


def test_patch_made_below_the_top_applies_there(project: Path, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    git(project, "init", "-q")
    (project / "sub").mkdir()
    write(project / "sub", a=OLD)
    command = [sys.executable, "-m", "jaxmigrate", "rewrite", "--diff", "a.py"]
    patch = subprocess.run(command, cwd=project / "sub", capture_output=True, check=False).stdout
    git(project / "sub", "apply", "-", input=patch)
    assert (project / "sub/a.py").read_text() == NEW


def test_standard_output_of_diff_is_only_the_patch(project: Path, tool: Tool) -> None:
    write(project, a=OLD, b=MANUAL)
    done = tool("rewrite", "--diff", ".")
    assert {line[:1] for line in done.stdout.splitlines()} <= {b"-", b"+", b"@", b" ", b"d", b""}
    assert b"b.py:3:" in done.stderr
    assert tool("rewrite", "--diff", "--select", "live-buffers", ".").stdout == b""


def test_stdin_to_stdout(tool: Tool) -> None:
    done = tool("rewrite", "-", "--stdin-filename", "x/y.py", input=OLD.encode())
    assert (done.returncode, done.stdout) == (0, NEW.encode())
    assert b"x/y.py:4:10" in done.stderr


@pytest.mark.parametrize("content", [b"", b"x = 1", b"# coding: latin-1\nx = '\xff'", CLEAN.encode(), b"\xef\xbb\xbfx\r\n\x0c"])
def test_stdin_without_a_hit_comes_back_byte_for_byte(tool: Tool, content: bytes) -> None:
    done = tool("rewrite", "-", input=content)
    assert (done.returncode, done.stdout, done.stderr) == (0, content, b"")


@pytest.mark.parametrize("content", [b"from jax.numpy import DeviceArray\ndef (\n", b"def (\n"])
def test_stdin_that_cannot_be_parsed_gives_no_output(tool: Tool, content: bytes) -> None:
    done = tool("rewrite", "-", input=content)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"<stdin>: failed: cannot be parsed" in done.stderr


def test_stdin_diff_and_check(tool: Tool) -> None:
    done = tool("rewrite", "-", "--diff", "--stdin-filename", "y.py", input=OLD.encode())
    assert done.returncode == 1
    assert done.stdout.startswith(b"--- a/y.py\n+++ b/y.py\n")
    done = tool("rewrite", "-", "--check", input=OLD.encode())
    assert done.returncode == 1
    assert b"<stdin>:4:10" in done.stdout
    assert b"import jax\n" not in done.stdout


def test_stdin_beside_files_is_wrong_usage(tool: Tool) -> None:
    assert tool("rewrite", "-", "a.py").returncode == 2


def test_selection(project: Path, tool: Tool) -> None:
    write(project, a=OLD)
    assert tool("rewrite", "--check", "--select", "live-buffers,from-gda", "--select", "pjit-to-jit", ".").returncode == 0
    assert tool("rewrite", "--check", "--ignore", "device-array", ".").returncode == 0
    assert tool("rewrite", "--check", "--select", "live-buffers, device-array", ".").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "device_array"], "no codemod 'device_array', did you mean 'device-array'?"),
        (["--ignore", "live-bufers"], "no codemod 'live-bufers', did you mean 'live-buffers'?"),
        (["--option", "x"], "'x' is not of the form CODEMOD.OPTION=VALUE"),
        (["--option", "live-bufers.x=1"], "no codemod 'live-bufers', did you mean 'live-buffers'?"),
        (["--option", "live-buffers.x=1"], "live-buffers has no option 'x' (it has none)"),
        (["--target", "0.4.x"], "not a JAX version: '0.4.x'"),
        (["--from", "new"], "Invalid value for '--from': not a JAX version: 'new'"),
        (["--config", "nowhere.toml"], "'nowhere.toml' is not a file"),
        (["--jobs", "0"], "0 is not in the range"),
    ],
)
def test_wrong_usage_names_what_was_meant(project: Path, tool: Tool, arguments: list[str], message: str) -> None:
    write(project, a=OLD)
    done = tool("rewrite", ".", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert (project / "a.py").read_text() == OLD


def test_configuration_of_the_project(project: Path, tool: Tool) -> None:
    (project / "gen").mkdir()
    write(project, a=OLD)
    write(project / "gen", b=OLD)
    (project / "pyproject.toml").write_text('[tool.jaxmigrate]\nignore = ["device-array"]\nexclude = ["gen/"]\n')
    assert tool("rewrite", "--check", ".").returncode == 0
    done = tool("rewrite", "--select", "device-array", "--ignore", "live-buffers", ".")
    assert (project / "a.py").read_text() == NEW
    assert (project / "gen/b.py").read_text() == OLD
    assert done.returncode == 0


def test_configuration_with_an_unknown_key_is_refused(project: Path, tool: Tool) -> None:
    write(project, a=OLD)
    (project / "pyproject.toml").write_text("[tool.jaxmigrate]\nignores = []\n")
    done = tool("rewrite", ".")
    assert done.returncode == 2
    assert "[tool.jaxmigrate] ignores: unknown key, did you mean 'ignore'?" in done.stderr.decode()
    assert (project / "a.py").read_text() == OLD


def test_configuration_with_an_unknown_codemod_is_refused(project: Path, tool: Tool) -> None:
    write(project, a=OLD)
    (project / "pyproject.toml").write_text('[tool.jaxmigrate]\nselect = ["device-arrays"]\n')
    assert tool("rewrite", ".").returncode == 2
    assert (project / "a.py").read_text() == OLD


def test_flags_in_text_files_are_reported_and_never_edited(project: Path, tool: Tool) -> None:
    (project / "run.sh").write_text("#!/bin/sh\n# JAX_ARRAY=1 was needed once\nexport JAX_ARRAY=1\n")
    (project / "ok.yml").write_text("run: pip install jax\n")
    done = tool("rewrite", ".")
    assert done.returncode == 1
    assert b"run.sh:3:8: manual jax-array-flag" in done.stdout
    assert b"run.sh:2" not in done.stdout
    assert b"ok.yml" not in done.stdout


def test_what_files_say_only_together_is_reported_once(project: Path, tool: Tool) -> None:
    write(project, a='import jax\njax.config.update("jax_array", True)\n')
    (project / "run.sh").write_text("export JAX_ARRAY=0\n")
    done = tool("rewrite", "--check", "--select", "recursive-jit", ".")
    assert done.returncode == 1
    assert done.stdout.count(b"recursive-jit:") == 1
    assert b"a.py:2" in done.stdout
    assert b"run.sh:1" in done.stdout


def test_json_report(project: Path, tool: Tool) -> None:
    write(project, a=OLD)
    done = tool("rewrite", "--check", "--format", "json", ".")
    assert json.loads(done.stdout)
    assert done.returncode == 1
    write(project, a=CLEAN)
    assert json.loads(tool("rewrite", "--check", "--format", "json", ".").stdout)


def test_github_report(project: Path, tool: Tool) -> None:
    write(project, a=OLD)
    assert tool("rewrite", "--check", "--format", "github", ".").stdout.startswith(b"::")


def on_terminal(project: Path, *arguments: str, python: Sequence[str] = ("-m", "jaxmigrate"), **environment: str) -> bytes:
    """The output of the command when it is connected to a terminal."""
    parent, child = pty.openpty()
    env = {**{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}, "TERM": "xterm", **environment}
    process = subprocess.Popen(
        [sys.executable, *python, *arguments], cwd=project, stdin=child, stdout=child, stderr=child, env=env
    )
    os.close(child)
    output = b""
    try:
        while part := os.read(parent, 65536):
            output += part
    except OSError:
        pass
    process.wait(60)
    os.close(parent)
    return output


def test_colour_is_for_terminals(project: Path, tool: Tool) -> None:
    write(project, a=OLD)
    assert b"\x1b[" in on_terminal(project, "rewrite", "--check", ".")
    assert b"\x1b[" not in on_terminal(project, "rewrite", "--check", "--no-color", ".")
    assert b"\x1b[" not in on_terminal(project, "rewrite", "--check", ".", NO_COLOR="1")
    assert b"\x1b[" not in on_terminal(project, "rewrite", "--check", ".", TERM="dumb")
    assert b"\x1b[" not in tool("rewrite", "--check", ".").stdout
    assert b"\x1b[" in tool("rewrite", "--check", "--color", ".").stdout
    assert b"\x1b[" in tool("rewrite", "--diff", "--color", ".").stdout


SLOW = """
import sys, time
import jaxmigrate.engine as engine
from jaxmigrate.cli import main
rewrite_source = engine.rewrite_source
def slow(*arguments, **names):
    time.sleep(1.2)
    return rewrite_source(*arguments, **names)
engine.rewrite_source = slow
sys.exit(main())
"""


def test_long_run_counts_its_files_on_a_terminal_only(project: Path) -> None:
    write(project, a=OLD, b=OLD)
    output = on_terminal(project, "rewrite", "--check", ".", python=("-c", SLOW))
    assert b"rewriting 1/2\r             \r" in output
    command = [sys.executable, "-c", SLOW, "rewrite", "--check", "."]
    assert subprocess.run(command, cwd=project, capture_output=True, check=False).stderr == b""


def test_reader_that_goes_away_is_no_traceback(project: Path) -> None:
    write(project, **{f"a{n}": OLD * 30 for n in range(40)})
    process = subprocess.Popen(
        [sys.executable, "-m", "jaxmigrate", "rewrite", "--diff", "."],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.wait(60)
    assert b"Traceback" not in errors
    assert b"Exception ignored" not in errors


def test_wrong_command_names_what_was_meant(tool: Tool) -> None:
    done = tool("rewrit", "x")
    assert done.returncode == 2
    assert b"No command 'rewrit', did you mean 'rewrite'?" in done.stderr


def test_help_lists_the_commands(tool: Tool) -> None:
    done = tool("--help")
    assert done.returncode == 0
    assert [name in done.stdout for name in (b"rewrite", b"codemods", b"explain")] == [True] * 3
    assert tool("--version").stdout.startswith(b"jaxmigrate, version ")


def test_clean_file_imports_nothing_that_only_a_hit_needs(project: Path) -> None:
    write(project, a="import numpy as np\n")
    script = (
        "import sys\nfrom jaxmigrate.cli import main\nstatus = main()\nprint(status, *sorted(sys.modules), file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", script, "rewrite", "a.py"]
    loaded = subprocess.run(command, cwd=project, capture_output=True, check=True).stderr.split()
    assert loaded[0] == b"0"
    heavy = (
        b"libcst rich jax pathspec tomllib tempfile subprocess json difflib concurrent.futures multiprocessing importlib.metadata"
    )
    ours = b"jaxmigrate.model jaxmigrate.codemod jaxmigrate.engine jaxmigrate.registry jaxmigrate.reports"
    assert set(loaded) & {*heavy.split(), *ours.split()} == set()


def test_file_that_takes_an_old_class_from_a_module_of_the_tree_is_rewritten(project: Path, tool: Tool) -> None:
    (project / "pkg").mkdir()
    write(
        project / "pkg",
        __init__="",
        types="from jax.interpreters.pxla import ShardedDeviceArray as SDA\n",
        use="from pkg.types import SDA\n\n\ndef f(x):\n    return isinstance(x, SDA)\n",
        attribute="from pkg import types\n\n\ndef f(x):\n    return isinstance(x, types.SDA)\n",
    )
    for paths in (["."], ["pkg/use.py", "pkg/types.py"]):
        output = tool("rewrite", "--check", *paths).stdout
        assert b"pkg/use.py:5:" in output
    assert b"pkg/attribute.py:5:" in tool("rewrite", "--check", ".").stdout


def test_file_that_is_named_alone_knows_its_project(project: Path, tool: Tool) -> None:
    """A pre-commit hook passes only what was changed."""
    (project / "pkg").mkdir()
    (project / "tests").mkdir()
    write(
        project / "pkg",
        __init__="from .types import *\n",
        types="from .compat import SDA\n",
        compat="from jax.interpreters.pxla import ShardedDeviceArray as SDA\n",
        use="from .types import SDA\n\n\ndef f(x):\n    return isinstance(x, SDA)\n",
    )
    write(project / "tests", test_x="import pkg\n\n\ndef f(x):\n    return isinstance(x, pkg.SDA)\n")
    (project / ".git").mkdir()
    assert b"pkg/use.py:5:" in tool("rewrite", "--check", "pkg/use.py").stdout
    assert b"tests/test_x.py:5:" in tool("rewrite", "--check", "tests/test_x.py").stdout
