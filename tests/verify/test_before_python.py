"""The original runs on a real old JAX: ``--before-python`` with jax 0.4.13."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.conftest import or_skip
from tests.corpus.environments import with_jax

pytestmark = pytest.mark.slow

RELEASE = "0.4.13"
VARIABLE = "JAXMIGRATE_OLD_JAX_PYTHON"
"""Names an interpreter that has the old JAX, to spare making one."""


@pytest.fixture(scope="module")
def old_python() -> str:
    """An interpreter with the real old JAX."""
    named = os.environ.get(VARIABLE)
    if named and not _has_old_jax(named):
        pytest.fail(f"{VARIABLE} names {named}, which has no jax {RELEASE}")
    return named or str(or_skip(partial(with_jax, RELEASE)))


def _has_old_jax(python: str) -> bool:
    code = f"import jax; assert jax.__version__ == '{RELEASE}'"
    try:
        return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def verify(python: str, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit status of the command and its report."""
    command = [sys.executable, "-m", "jaxmigrate", "verify", "--report", "json", "--before-python", python, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def verdicts(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(edit["codemod"], edit["verdict"]) for edit in report["edits"]]


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


START = """
import warnings
warnings.filterwarnings("ignore")
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
"""

TRAIN = (
    START
    + """
params = {"w": np.arange(32, dtype=np.float32).reshape(8, 4) / 32, "b": np.zeros(4, np.float32)}
batch = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
def loss(params, x):
    return jnp.mean((x @ params["w"] + params["b"]) ** 2)
step = pjit(jax.value_and_grad(loss), in_axis_resources=(None, P("data", None)), out_axis_resources=(None, None))
forward = pjit(lambda p, x: x @ p["w"], in_axis_resources=(P(), P("data", "model")), out_axis_resources=P("data"))
with mesh:
    value, grads = step(params, batch)
    out = forward(params, batch)
kind = isinstance(out, jnp.DeviceArray)
print("loss %.5f" % float(value), kind)
"""
)


def test_our_own_edits(old_python: str, tmp_path: Path) -> None:
    status, report = verify(old_python, put(tmp_path, {"train.py": TRAIN}), "--unsafe", "train.py")
    assert {verdict for _, verdict in verdicts(report)} == {"equivalent"}, report
    assert {codemod for codemod, _ in verdicts(report)} >= {"axis-resources", "pjit-to-jit", "device-array"}
    assert status == 0
    assert any(f"JAX {RELEASE}" in note for note in report["notes"])


WRONG = [
    pytest.param('out_shardings=P("data")', 'out_shardings=P("model")', "placement", id="another axis"),
    pytest.param('out_shardings=P("data")', "out_shardings=P()", "placement", id="replicated"),
    pytest.param('x @ p["w"]', 'x @ p["w"] * 1.001', "values", id="values"),
    pytest.param('x @ p["w"]', '(x @ p["w"]).astype(jnp.bfloat16)', "dtype", id="dtype"),
]


def migrated() -> str:
    """The program as people would have migrated it."""
    text = TRAIN
    for old, new in (
        ("in_axis_resources", "in_shardings"), ("out_axis_resources", "out_shardings"), ("pjit(", "jax.jit("),
        ("(None, P(", "(P(), P("), ("(None, None)", "(P(), P())"), ("jnp.DeviceArray", "jax.Array"),
        ("with mesh:", "with jax.set_mesh(mesh):"), ("from jax.experimental.pjit import pjit\n", ""),
    ):  # fmt: skip
        text = text.replace(old, new)
    return text


def test_a_right_migration_is_equivalent(old_python: str, tmp_path: Path) -> None:
    put(tmp_path, {"old/train.py": TRAIN, "new/train.py": migrated()})
    status, report = verify(old_python, tmp_path / "new", "--against", "../old/train.py", "train.py")
    assert (status, {verdict for _, verdict in verdicts(report)}) == (0, {"equivalent"}), report


@pytest.mark.parametrize(("right", "wrong", "aspect"), WRONG)
def test_a_wrong_migration_is_found(old_python: str, tmp_path: Path, right: str, wrong: str, aspect: str) -> None:
    assert right in migrated()
    put(tmp_path, {"old/train.py": TRAIN, "new/train.py": migrated().replace(right, wrong)})
    status, report = verify(old_python, tmp_path / "new", "--against", "../old/train.py", "train.py")
    assert status == 1
    assert "different" in {verdict for _, verdict in verdicts(report)}, report
    assert aspect in {difference["aspect"] for edit in report["edits"] for difference in edit["differences"]}


def test_tests_of_a_package(old_python: str, tmp_path: Path) -> None:
    has_pytest = subprocess.run([old_python, "-c", "import pytest"], capture_output=True, check=False).returncode == 0
    if not has_pytest:
        pytest.skip("the old environment has no pytest")
    files = {
        "lib.py": START + "double = pjit(lambda x: x * 2, in_axis_resources=P('data'), out_axis_resources=P('data'))\n",
        "test_lib.py": "import numpy as np\nfrom lib import double, mesh\ndef test_double():\n    with mesh: assert double(np.ones(8)).sum() == 16\n",
    }
    status, report = verify(old_python, put(tmp_path, files), "--unsafe", "--pytest", "test_lib.py")
    assert (status, {verdict for _, verdict in verdicts(report)}) == (0, {"equivalent"}), report


def test_a_python_without_jax_is_an_error(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    status, report = verify(str(bare / "bin" / "python"), put(tmp_path, {"train.py": TRAIN}), "train.py")
    assert status == 2
    assert "no jax" in " ".join(report["errors"])


def test_the_program_of_the_original_fails(old_python: str, tmp_path: Path) -> None:
    files = {"train.py": START + "jax.no_such_name\nx = pjit(lambda v: v, in_axis_resources=None)\n"}
    status, report = verify(old_python, put(tmp_path, files), "train.py")
    assert status in (1, 2)
    assert not {verdict for _, verdict in verdicts(report)} & {"equivalent"}
