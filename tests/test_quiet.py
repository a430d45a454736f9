"""What may be passed over without a run: what must not comes first."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import jaxmigrate_codemods
from jaxmigrate import quiet, registry
from jaxmigrate.codemod import Codemod
from jaxmigrate.engine import rewrite_source
from jaxmigrate.gate import holds_word
from jaxmigrate.model import Settings
from jaxmigrate.project import build_index
from jaxmigrate.registry import known_newest, load
from tests.fixture_cases import CASES, Case

ROOT = Path(__file__).parents[1]
MODERN = b'''\
"""No jax.tree_multimap here."""
import functools
import jax
import jax.numpy as jnp
from jax import lax, random
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_enable_x64", True)

@functools.partial(jax.jit, static_argnames=("n",))
def step(params, x: "jax.Array", n: int) -> jax.Array:
    return lax.fori_loop(0, n, lambda i, c: c + jnp.dot(x, params["w"].at[i].get()), jnp.clip(x, 0, 1))

def init(key, mesh: Mesh, names: dict):
    first, second = random.split(key)
    print("this says jax.tree_map (in prose)", names.get("a", "b"), names.pop("x"))
    out = jax.tree.map(lambda a: jax.device_put(a, NamedSharding(mesh, P())), {"w": random.normal(first, (4, 4))})
    return out, jnp.linalg.norm(jnp.zeros((4,)), axis=0), second
'''


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quiet_tool", ROOT / "tools" / "quiet.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("jax.tree_map(f, x)", id="gone-name"),
        pytest.param("y = jnp.no_such_function(x)", id="unknown-name"),
        pytest.param("import jax.config", id="module-that-is-an-object"),
        pytest.param("import jax.experimental.maps", id="gone-module"),
        pytest.param("from jax.experimental import *", id="star"),
        pytest.param("from jax import linear_util as lu", id="import-under-another-name"),
        pytest.param("def f():\n    from jax.interpreters.xla import DeviceArray as D", id="import-in-a-function"),
        pytest.param("g = jnp\nh = g\ny = h.round_(x)", id="names-by-assignment"),
        pytest.param("h = k\nk = jnp\ny = h.round_(x)", id="names-by-assignment-the-other-way-round"),
        pytest.param("g: object = jnp\ny = g.round_(x)", id="names-by-annotated-assignment"),
        pytest.param("getattr(jnp, 'round_')", id="getattr"),
        pytest.param("hasattr(jax, 'tree_map')", id="hasattr"),
        pytest.param("def f(x: 'jnp.DeviceArray'): ...", id="quoted-annotation"),
        pytest.param("def f(x: 'list[(jnp).DeviceArray]'): ...", id="quoted-annotation-in-brackets"),
        pytest.param("x = f()  # type: jnp.DeviceArray", id="type-comment"),
        pytest.param("def f(*a):  # type: (*jnp.DeviceArray) -> None\n    pass", id="type-comment-of-a-function"),
        pytest.param("mock.patch('jax.tree_map')", id="path-in-a-string"),
        pytest.param("import_module('jax.experimental.maps')", id="module-by-path"),
        pytest.param("import_module('.maps', 'jax.experimental')", id="module-by-relative-path"),
        pytest.param("jnp.clip(x, a_min=0)", id="argument-by-keyword"),
        pytest.param("jnp.array(x, None, False)", id="argument-by-position"),
        pytest.param("jnp.array(x, *more, **{'a_min': 0}); jnp.clip(x, **{'a_min': 0})", id="argument-in-a-dictionary"),
        pytest.param("c = functools.partial(jnp.clip, a_min=0)", id="argument-of-a-partial"),
        pytest.param("c = jnp.clip\nc(x, a_min=0)", id="argument-of-a-function-under-another-name"),
        pytest.param("jnp.zeros(3).at[0].set(1, True)", id="argument-of-a-method"),
        pytest.param("jnp.zeros(3).sort(kind='stable')", id="argument-of-a-method-of-arrays"),
        pytest.param("jax.config.update('jax_omnistaging', True)", id="gone-option"),
        pytest.param("jax.config.update(name, True)\nname = 'jax_omnistaging'", id="option-by-name"),
        pytest.param("n = NamedSharding(mesh, None)", id="none-as-an-argument"),
        pytest.param("with Mesh(d, 'x'):\n    pass", id="with-mesh"),
        pytest.param("jax._src.core.gone_of_old()", id="private-name"),
        pytest.param(
            "from importlib import import_module as load\nm = load('jax.numpy')\nm.round_(x)", id="module-by-path-in-a-variable"
        ),
        pytest.param("import sys\nsys.modules['jax.numpy'].round_(x)", id="loaded-module"),
        pytest.param("pytest.importorskip('jax.config')", id="path-of-a-module-that-is-an-object"),
        pytest.param("eval('jnp.round_(x)')", id="code-in-a-string"),
        pytest.param("import timeit as t\nt.repeat('jnp.round_(x)', number=1)", id="timed-code-in-a-string"),
        pytest.param("jax.vmap(jax.checkpoint)(x, concrete=True)", id="argument-of-a-function-that-is-handed-on"),
        pytest.param("jax.config.read('jax_omnistaging')", id="option-that-is-read"),
        pytest.param("from absl import flags\nF = flags.FLAGS\nF.num_generated_cases", id="option-of-absl"),
        pytest.param("x = (", id="syntax-error"),
    ],
)
def test_not_passed_over(line: str) -> None:
    assert not quiet.is_quiet(MODERN + line.encode() + b"\n")


@pytest.mark.parametrize(
    "data", [b"# coding: latin-1\nimport jax\n", b"\xef\xbb\xbfimport jax\n", b"import jax\n\xff\n", b"import jax\0"]
)
def test_odd_encodings_are_left_to_the_run(data: bytes) -> None:
    assert not quiet.is_quiet(data)


def test_passed_over() -> None:
    assert quiet.is_quiet(MODERN)
    result = rewrite_source(MODERN, Settings(known_newest()))
    assert not result.findings
    assert not result.facts


def test_name_that_is_newer_than_the_target() -> None:
    newer = b"import jax\nm = jax.make_mesh((1,), ('x',))\n"
    assert quiet.is_quiet(newer)
    assert not quiet.is_quiet(newer, (0, 4, 20))


def test_names_through_modules_of_the_project() -> None:
    files = {
        "compat.py": b"from jax.numpy import DeviceArray as Array\nfrom jax import numpy as np\n",
        "user.py": b"import compat\nfrom compat import np\nimport jax\nx = np.zeros(1)\n",
        "old.py": b"import compat\nimport jax\nx = compat.Array\n",
        "older.py": b"from compat import np\nimport jax\nx = np.round_(1)\n",
    }
    exports = build_index(files.items()).exports
    assert quiet.is_quiet(files["user.py"], module="user", exports=exports)
    assert not quiet.is_quiet(files["old.py"], module="old", exports=exports)
    assert not quiet.is_quiet(files["older.py"], module="older", exports=exports)


def test_relative_imports_inside_the_library() -> None:
    source = b"from .xla import DeviceArray\nimport jax\n"
    assert not quiet.is_quiet(source, module="jax.interpreters.other")


def test_programs_of_a_known_age_are_left_to_the_run() -> None:
    assert quiet.may_be_asked(Settings(known_newest()))
    assert not quiet.may_be_asked(Settings(known_newest(), origin=known_newest()))


def test_the_table_does_not_speak_of_other_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet.table.cache_clear()
    monkeypatch.setattr(quiet, "packages", lambda: ("jaxmigrate_codemods", "another"))
    try:
        assert not quiet.is_quiet(MODERN)
        assert quiet.concerns("jax.numpy.zeros") is None
    finally:
        quiet.table.cache_clear()


def test_a_table_without_all_codemods_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet.table.cache_clear()
    monkeypatch.setattr(jaxmigrate_codemods, "MODULES", (*jaxmigrate_codemods.MODULES, "deg2rad"))
    try:
        assert not quiet.is_quiet(MODERN)
    finally:
        quiet.table.cache_clear()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_no_program_with_findings_is_passed_over(case: Case) -> None:
    """The results of the pairs are clean, or told of by `expect`; `jaxmigrate.testing` asks the same of each unit case."""
    if case.settings.origin is None:
        assert case.before == case.after or not quiet.is_quiet(case.before, case.settings.target.numbers)


def test_the_table_is_that_of_the_codemods() -> None:
    assert (ROOT / "codemods" / "quiet.txt").read_text("utf-8") == _tool().text(), "run python tools/words.py"


@pytest.mark.parametrize("codemod", load().codemods.values(), ids=lambda c: c.name)
def test_a_module_that_is_needed_as_such_cannot_be_imported(codemod: Codemod) -> None:
    known = quiet.table()
    assert known is not None
    modules = [need.removeprefix("import ") for needs in codemod.needs.values() for need in needs if " " in need]
    assert not [m for m in modules if known.is_quiet(m, as_module=True)]


@pytest.mark.parametrize(
    "name",
    [
        "jax.numpy.zeros",
        "jax.numpy.clip",
        "jax.jit",
        "jax.Array",
        "jax.numpy.ndarray.at",
        "jax.lax",
        "jax.random",
        "jax.tree",
        "jax",
    ],
)
def test_concerns_what_the_codemods_concern(name: str) -> None:
    assert quiet.concerns(name) is load().concerns(name)


def test_doubtful_names_are_left_to_the_codemods() -> None:
    assert quiet.concerns("jax.tree_multimap") in (None, True)
    assert quiet.concerns("jax.no_such_name") is None


def test_a_clean_file_loads_no_codemod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxmigrate import runner
    from jaxmigrate.discovery import PYTHON

    (tmp_path / "clean.py").write_bytes(MODERN)
    monkeypatch.setattr(registry, "load", lambda: pytest.fail("all codemods were loaded"))
    monkeypatch.setitem(sys.modules, "jaxmigrate.engine", None)
    survey = runner.look([(str(tmp_path / "clean.py"), PYTHON)])
    assert [hit.path for hit in survey.hits] == [str(tmp_path / "clean.py")]
    assert runner.has_nothing(survey)
    assert not [r for r in runner.process(survey, Settings(known_newest())) if r.findings]
    assert holds_word(MODERN, {"jax"})
