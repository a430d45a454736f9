"""`jaxmigrate run` is `python SCRIPT ARGS`, on the JAX of the script's days."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from jaxmigrate.cli import run

pytest.importorskip("jax")

Tool = Callable[..., subprocess.CompletedProcess[bytes]]

SHOW = """
import json, os, sys
print(json.dumps({"argv": sys.argv, "path": sys.path[0], "name": __name__, "file": __file__, "spec": getattr(__spec__, "name", None), "doc": __doc__}))
"""
"""What a script sees of how it was called."""

LEGACY = """
import jax, numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.pjit import PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
array = GlobalDeviceArray.from_callback((8,), mesh, P("x"), lambda index: np.arange(8)[index])
print(len(array.local_shards), array.local_data(1))
"""


def plain(project: Path, *arguments: str, **kwargs: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, *arguments], cwd=project, capture_output=True, timeout=120, check=False, **kwargs)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(
    "arguments",
    [
        ("show.py",),
        ("show.py", "--devices", "3", "-m", "--help", "--", "-x"),
        ("folder/show.py", "a b", ""),
        ("./folder/../show.py",),
        ("-m", "show", "--devices", "3"),
        ("-m", "package", "-m", "x"),
        ("-m", "package.part"),
        ("folder",),
    ],
    ids=str,
)
def test_a_program_sees_the_call_that_python_would_have_made(tool: Tool, project: Path, arguments: tuple[str, ...]) -> None:
    (project / "folder").mkdir()
    (project / "package").mkdir()
    (project / "package" / "__init__.py").touch()
    for name in ("show.py", "folder/show.py", "folder/__main__.py", "package/__main__.py", "package/part.py"):
        (project / name).write_text(SHOW)
    there, here = plain(project, *arguments), tool("run", *arguments)
    assert there.returncode == 0
    assert (here.returncode, here.stdout, here.stderr) == (0, there.stdout, there.stderr)


def test_standard_input_is_the_scripts(tool: Tool, project: Path) -> None:
    (project / "echo.py").write_text("import sys\nprint(sys.stdin.read().upper(), file=sys.stderr)")
    done = tool("run", "echo.py", input=b"hello")
    assert (done.stdout, done.stderr.strip()) == (b"", b"HELLO")


def test_a_program_from_standard_input(tool: Tool, project: Path) -> None:
    done = tool("run", "-", "x", input=b"import sys\nprint(sys.argv)")
    assert done.stdout == b"['-', 'x']\n", done.stderr


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("import sys; sys.exit(7)", 7),
        ("import os; os._exit(9)", 9),
        ("raise SystemExit('no')", 1),
        ("assert 1 == 2", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15),
    ],
)
def test_the_exit_status_is_the_scripts(tool: Tool, project: Path, body: str, status: int) -> None:
    (project / "leave.py").write_text(body)
    assert tool("run", "leave.py").returncode == status


def test_a_traceback_has_the_scripts_frames_only(tool: Tool, project: Path) -> None:
    (project / "fail.py").write_text("import jax\n\n\ndef f():\n    raise KeyError('lost')\n\n\nf()\n")
    done = tool("run", "fail.py")
    assert done.returncode == 1
    assert done.stderr == plain(project, "fail.py").stderr
    assert b"jaxmigrate" not in done.stderr


def test_a_legacy_script_runs(tool: Tool, project: Path) -> None:
    (project / "old.py").write_text(LEGACY)
    done = tool("run", "--devices", "4", "old.py")
    assert done.stdout == b"4 [2 3]\n", done.stderr.decode()
    assert plain(project, "old.py").returncode == 1, "and would not without"


def test_a_script_that_sets_its_own_flags_keeps_the_devices(tool: Tool, project: Path) -> None:
    (project / "flags.py").write_text(
        "import os\nos.environ['XLA_FLAGS'] = '--xla_cpu_enable_fast_math=false'\nimport jax\nprint(jax.device_count())\n"
    )
    assert tool("run", "--devices", "3", "flags.py").stdout == b"3\n"
    assert tool("run", "flags.py", XLA_FLAGS="").stdout == b"1\n"


def test_the_devices_that_were_asked_for_win_over_the_environments(tool: Tool, project: Path) -> None:
    (project / "count.py").write_text("import jax\nprint(jax.device_count(), jax.default_backend())\n")
    done = tool("run", "--devices", "3", "count.py", JAX_NUM_CPU_DEVICES="2", JAX_PLATFORMS="tpu", JAX_PLATFORM_NAME="tpu")
    assert done.stdout == b"3 cpu\n", done.stderr.decode()


def test_an_archive_runs(tool: Tool, project: Path) -> None:
    with zipfile.ZipFile(project / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", "import sys\nprint(sys.argv)\n")
    assert tool("run", "app.pyz", "x").stdout == b"['app.pyz', 'x']\n"


def test_a_script_that_counts_its_devices_itself_has_them(tool: Tool, project: Path) -> None:
    (project / "flags.py").write_text(
        "import os\nos.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'\nimport jax\nprint(jax.device_count())\n"
    )
    assert tool("run", "--devices", "3", "flags.py").stdout == b"2\n"


def test_the_version_can_be_named(tool: Tool, project: Path) -> None:
    (project / "flag.py").write_text("import jax\nprint(jax.config.jax_array)\n")
    assert tool("run", "--legacy-jax", "0.3.25", "flag.py").stdout == b"False\n"
    assert tool("run", "--legacy-jax", "0.4.6", "flag.py").stdout == b"True\n"
    assert tool("run", "--legacy-jax", "0.4.6", "flag.py", JAX_ARRAY="0").stdout == b"False\n"


def test_the_version_is_guessed_from_modules_too(tool: Tool, project: Path) -> None:
    (project / "main.py").write_text("import lib.arrays\nimport jax\nprint(jax.config.jax_array)\n")
    (project / "lib").mkdir()
    (project / "lib" / "__init__.py").touch()
    (project / "lib" / "arrays.py").write_text("from . import deep\n")
    (project / "lib" / "deep.py").write_text("import jax\ndef f(x):\n    return isinstance(x, jax.Array)\n")
    assert tool("run", "main.py").stdout == b"True\n"
    (project / "lib" / "deep.py").write_text("from jax.interpreters.pxla import ShardedDeviceArray\n")
    assert tool("run", "main.py").stdout == b"False\n"


def test_the_version_is_guessed_from_the_tests_that_pytest_is_to_run(tool: Tool, project: Path) -> None:
    (project / "tests").mkdir()
    test = project / "tests" / "test_flag.py"
    test.write_text("import jax\ndef test_new():\n    assert jax.config.jax_array\n    assert jax.Array\n")
    assert tool("run", "-m", "pytest", "-q", "tests").returncode == 0
    assert tool("run", "-m", "pytest", "-q", "tests/test_flag.py::test_new").returncode == 0
    test.write_text(
        "import jax\nfrom jax.interpreters.pxla import ShardedDeviceArray\ndef test_old():\n    assert not getattr(jax.config, 'jax_array')\n"
    )
    assert tool("run", "-m", "pytest", "-q", "tests").returncode == 0


def test_jaxlib_first(tool: Tool, project: Path) -> None:
    (project / "first.py").write_text("from jaxlib.xla_extension import DeviceArray\nprint(DeviceArray.__name__)\n")
    done = tool("run", "first.py")
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_workers_have_the_old_jax_as_well(tool: Tool, project: Path, method: str) -> None:
    (project / "work.py").write_text(
        "import multiprocessing, sys\n"
        "def old(_):\n"
        "    from jax.experimental.global_device_array import GlobalDeviceArray\n"
        "    return GlobalDeviceArray.__name__\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:\n"
        "        print(pool.map(old, [0]))\n"
    )
    done = tool("run", "work.py", method)
    assert done.stdout == b"['GlobalDeviceArray']\n", done.stderr.decode()


def test_a_child_program_has_the_old_jax_as_well(tool: Tool, project: Path) -> None:
    (project / "old.py").write_text(LEGACY)
    (project / "launcher.py").write_text("import subprocess, sys\nsys.exit(subprocess.call([sys.executable, 'old.py']))\n")
    done = tool("run", "--devices", "8", "launcher.py")
    assert (done.returncode, done.stdout) == (0, b"8 [1]\n"), done.stderr.decode()


def test_the_users_own_sitecustomize_still_runs(tool: Tool, project: Path) -> None:
    (project / "custom").mkdir()
    (project / "custom" / "sitecustomize.py").write_text("import builtins\nbuiltins.customized = __name__\n")
    (project / "show.py").write_text("import sitecustomize\nprint(customized, sitecustomize.__file__)\n")
    own = str(project / "custom")
    done = tool("run", "show.py", PYTHONPATH=os.pathsep.join([own, os.environ.get("PYTHONPATH", ".")]))
    assert done.stdout.decode().split() == ["sitecustomize", os.path.join(own, "sitecustomize.py")], done.stderr.decode()


def test_our_folder_is_not_on_the_path_of_the_program(tool: Tool, project: Path) -> None:
    (project / "show.py").write_text("import sys\nprint([p for p in sys.path if 'startup' in p])\n")
    assert tool("run", "show.py").stdout == b"[]\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.py",), "no file 'none.py'"),
        ((".",), "no file './__main__.py'"),
        (("-m", "nowhere.at_all"), "no module 'nowhere.at_all'"),
        ((), "Missing argument 'SCRIPT'"),
        (("--devices", "0", "x.py"), "--devices"),
        (("--devices", "8", "--platform", "tpu", "x.py"), "does not go with --platform tpu"),
        (("--legacy-jax", "0.4.99", "x.py"), "'0.4.99' is no JAX that can be emulated"),
        (("--unknown", "x.py"), "No such option"),
    ],
    ids=str,
)
def test_a_wrong_call_says_what_is_wrong(tool: Tool, project: Path, arguments: tuple[str, ...], said: str) -> None:
    (project / "x.py").write_text("print('ran')")
    done = tool("run", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()


def test_without_jax_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    (project / "x.py").touch()
    monkeypatch.setattr(run.importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(run.command, ["x.py"])
    assert done.exit_code == 2
    assert "pip install 'jaxmigrate[verify]'" in done.output


@pytest.mark.parametrize(
    ("version", "refused"), [("0.4.13", True), ("0.8.2", True), ("0.9.0", False), ("0.13.0.dev1", False), ("main", False)]
)
def test_a_jax_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch, project: Path, version: str, refused: bool) -> None:
    (project / "x.py").touch()
    became: list[list[str]] = []
    monkeypatch.setattr(run.importlib.metadata, "version", lambda name: version)
    monkeypatch.setattr(run.os, "execve", lambda path, arguments, environment: became.append(arguments))
    done = CliRunner().invoke(run.command, ["x.py"])
    assert (done.exit_code, bool(became)) == ((2, False) if refused else (0, True))
    assert ("too old" in done.output) is refused


def test_a_jax_that_the_emulation_does_not_fit_is_reported(tool: Tool, project: Path) -> None:
    """As a future JAX would: an emulation that cannot be installed ends the program with a sentence, not with a traceback."""
    (project / "x.py").write_text("import jax\nprint('ran')")
    done = tool("run", "x.py", JAXMIGRATE_LEGACY_ARRAY="")
    assert done.returncode == 0
    startup = os.path.join(os.path.dirname(run.__file__), "startup")
    done = plain(project, "x.py", env={**os.environ, "PYTHONPATH": startup, "JAXMIGRATE_LEGACY": "no version"})
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"jaxmigrate: cannot put JAX no version over the installed JAX")


def test_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    monkeypatch.setenv("XLA_FLAGS", "--a=1 --xla_force_host_platform_device_count=2 --b=2")

    def chosen(devices: int | None, platform: str | None) -> tuple[str | None, str]:
        environment = run._environment(devices, platform, "0.4.6", None)
        return environment.get("JAX_PLATFORMS"), environment["XLA_FLAGS"]

    unchanged = os.environ["XLA_FLAGS"]
    assert chosen(None, None) == ("tpu", unchanged)
    assert chosen(None, "auto") == (None, unchanged)
    assert chosen(None, "tpu") == ("tpu,cpu", unchanged)
    assert chosen(None, "gpu") in [("cuda,cpu", unchanged), ("rocm,cpu", unchanged)]
    assert chosen(8, None) == ("cpu", "--a=1 --b=2 --xla_force_host_platform_device_count=8")


def test_the_help_calls_it_a_stop_gap(tool: Tool) -> None:
    assert b"stop-gap" in tool("run", "--help").stdout
