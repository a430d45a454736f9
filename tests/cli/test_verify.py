"""``jaxmigrate verify`` as its user calls it: real programs, real runs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Tool

pytest.importorskip("jax", minversion="0.9")

OLD = """\
import jax
import numpy as np
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.maps import Mesh
from jax.experimental.pjit import FROM_GDA, PartitionSpec as P, pjit

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
table = np.arange(16.0, dtype=np.float32).reshape(8, 2)
rows = GlobalDeviceArray.from_callback(table.shape, mesh, P("x", None), lambda index: table[index])


def unused(array):
    return array.local_data(0)


double = pjit(lambda a: a * 2, in_axis_resources=FROM_GDA, out_axis_resources=P("y"))
with mesh:
    out = double(rows)
print(rows.shape)
"""

NEW = """\
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
table = np.arange(16.0, dtype=np.float32).reshape(8, 2)
rows = jax.make_array_from_callback(table.shape, NamedSharding(mesh, P("x", None)), lambda index: table[index])


def unused(array):
    return array.addressable_data(0)


double = jax.jit(lambda a: a * 2, out_shardings=NamedSharding(mesh, P("y")))
out = double(rows)
print(rows.shape)
"""


def folder_state(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def document(done: subprocess.CompletedProcess[bytes]) -> dict[str, object]:
    parsed = json.loads(done.stdout)
    assert isinstance(parsed, dict)
    return parsed


@pytest.fixture
def script(project: Path) -> Path:
    file = project / "train.py"
    file.write_text(OLD)
    return file


def test_a_program_is_run_both_ways_and_every_reached_edit_is_equivalent(script: Path, tool: Tool) -> None:
    before = folder_state(script.parent)
    done = tool("verify", "train.py")
    text = done.stdout.decode()
    assert done.returncode == 0, text + done.stderr.decode()
    last = text.rstrip().rpartition("\n")[2]
    assert " 0 different" in last
    assert "1 not reached" in last
    assert b"executes train.py" in done.stderr
    assert folder_state(script.parent) == before


def test_coverage_can_be_required(script: Path, tool: Tool) -> None:
    assert tool("verify", "--require", "100", "train.py").returncode == 1


@pytest.mark.parametrize(
    ("right", "wrong", "aspect"),
    [
        ('P("x", None)', 'P("y", None)', "placement"),
        ('out_shardings=NamedSharding(mesh, P("y"))', 'out_shardings=NamedSharding(mesh, P("x"))', "placement"),
        ("lambda index: table[index]", 'lambda index: table[index].astype("bfloat16")', "dtype"),
    ],
)
def test_a_wrong_migration_by_hand_is_different(script: Path, tool: Tool, right: str, wrong: str, aspect: str) -> None:
    assert right in NEW
    migrated = script.with_name("new.py")
    migrated.write_text(NEW.replace(right, wrong))
    done = tool("verify", "--against", "train.py", "--report", "json", "new.py")
    assert done.returncode == 1
    assert f'"{aspect}"' in done.stdout.decode()


def test_a_right_migration_by_hand_is_equivalent(script: Path, tool: Tool) -> None:
    migrated = script.with_name("new.py")
    migrated.write_text(NEW)
    done = tool("verify", "--against", "train.py", "new.py")
    assert done.returncode == 0, done.stdout.decode()


def test_nothing_reached_is_nothing_verified(project: Path, tool: Tool) -> None:
    (project / "m.py").write_text("import jax.numpy as jnp\nif __name__ == 'no':\n    print(isinstance(1, jnp.DeviceArray))\n")
    assert tool("verify", "m.py").returncode == 1


def test_a_program_that_cannot_run_is_said_so(project: Path, tool: Tool) -> None:
    (project / "m.py").write_text("import jax.numpy as jnp\nimport no_such_module\nprint(isinstance(1, jnp.DeviceArray))\n")
    done = tool("verify", "m.py")
    assert done.returncode == 2
    assert b"no_such_module" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verify",), b"Name the program"),
        (("verify", "nowhere.py"), b"is not a file"),
        (("verify", "--devices", "6", "--processes", "4", "train.py"), b"shared evenly"),
        (("verify", "--against", "nowhere", "train.py"), b"does not exist"),
        (("verify", "--edit", "99", "train.py"), b"no edit 99"),
        (("verify", "--pytest", "nowhere"), b"does not exist"),
        (("verify", "--python", "/no/such/python", "train.py"), b"/no/such/python"),
        (("rewrite", "--keep-unreached", "train.py"), b"--verify"),
        (("rewrite", "--verify", "train.py", "-"), b"standard input"),
    ],
)
def test_wrong_calls_end_with_2(script: Path, tool: Tool, arguments: tuple[str, ...], said: bytes) -> None:
    done = tool(*arguments)
    assert done.returncode == 2
    assert said in done.stdout + done.stderr


def test_options_after_the_script_are_the_script_s(project: Path, tool: Tool) -> None:
    program = "import sys\nimport jax.numpy as jnp\nassert sys.argv[1:] == ['--devices', '3', '-m', 'x'], sys.argv\n"
    (project / "m.py").write_text(program + "t = isinstance(jnp.ones(2), jnp.DeviceArray)\n")
    done = tool("verify", "m.py", "--devices", "3", "-m", "x")
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


def test_a_module_takes_what_follows_as_its_own(project: Path, tool: Tool) -> None:
    (project / "pkg").mkdir()
    (project / "pkg" / "__init__.py").write_text("")
    program = "import sys\nimport jax.numpy as jnp\nassert sys.argv[1:] == ['--report', 'x'], sys.argv\n"
    (project / "pkg" / "main.py").write_text(program + "t = isinstance(jnp.ones(2), jnp.DeviceArray)\n")
    done = tool("verify", "-m", "pkg.main", "--report", "x")
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


def test_only_one_edit_can_be_made(project: Path, tool: Tool) -> None:
    (project / "m.py").write_text(
        "import jax\nimport jax.numpy as jnp\nx = jnp.ones(2)\na = isinstance(x, jax.Array)\nb = isinstance(x, jnp.DeviceArray)\n"
    )
    first = document(tool("verify", "--report", "json", "m.py"))
    edits = first["edits"]
    assert isinstance(edits, list)
    some = next(edit["id"] for edit in edits if "DeviceArray" in edit["before"])
    done = tool("verify", "--edit", str(some), "--report", "json", "m.py")
    assert [edit["id"] for edit in document(done)["edits"]] == [some]


@pytest.mark.slow
def test_tests_run_both_ways(project: Path, tool: Tool) -> None:
    (project / "lib.py").write_text("import jax.numpy as jnp\n\n\ndef known(x):\n    return isinstance(x, jnp.DeviceArray)\n")
    (project / "test_lib.py").write_text(
        "import jax.numpy as jnp\nimport numpy as np\nfrom lib import known\n\n"
        "def test_array():\n    assert known(jnp.ones(2))\n\ndef test_numpy():\n    assert not known(np.ones(2))\n"
    )
    done = tool("verify", "--pytest", "test_lib.py", "-q")
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    (project / "test_lib.py").write_text(
        "import jax\nfrom lib import known\n\ndef test_traced():\n    assert not jax.jit(lambda x: x if known(x) else x + 1)(1.0) == 1.0\n"
    )
    assert tool("verify", "--pytest", "test_lib.py").returncode == 1


@pytest.mark.slow
def test_reports_for_people_and_programs(script: Path, tool: Tool, tmp_path: Path) -> None:
    html = tmp_path / "report.html"
    assert tool("verify", "--report", "html", "-o", str(html), "train.py").returncode == 0
    page = html.read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert document(tool("verify", "--report", "json", "train.py"))["schema"] == 1


@pytest.mark.slow
def test_rewrite_writes_what_was_proved_and_leaves_the_rest(script: Path, tool: Tool) -> None:
    done = tool("rewrite", "--verify", "train.py", ".")
    text = script.read_text()
    assert done.returncode == 1  # the unreached edit is left
    assert "make_array_from_callback" in text
    assert "local_data(0)" in text
    assert "not reached" in done.stdout.decode()
    script.write_text(OLD)
    assert tool("rewrite", "--verify", "train.py", "--keep-unreached", ".").returncode == 0
    assert "addressable_data(0)" in script.read_text()


@pytest.mark.slow
def test_rewrite_writes_nothing_when_the_program_cannot_run(script: Path, tool: Tool) -> None:
    script.write_text(OLD + "raise SystemExit('no data')\n")
    before = script.read_text()
    script.write_text("import no_such_module\n" + before)
    before = script.read_text()
    assert tool("rewrite", "--verify", "train.py", ".").returncode == 2
    assert script.read_text() == before


@pytest.mark.slow
def test_several_processes_are_judged_as_one(script: Path, tool: Tool) -> None:
    done = tool("verify", "--processes", "2", "train.py")
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


def test_it_says_that_it_runs_the_program(script: Path, tool: Tool) -> None:
    assert b"EXECUTES" in tool("verify", "--help").stdout


def test_narrow_terminals_and_pipes(script: Path, tool: Tool) -> None:
    done = tool("verify", "train.py", COLUMNS="80", NO_COLOR="1", PYTHONWARNINGS="ignore", HOME=os.environ.get("HOME", "."))
    assert b"\x1b[" not in done.stdout
