"""mesh-context: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.engine import rewrite_source
from jaxmigrate.model import Applicability, Settings, Severity, Version
from jaxmigrate.registry import known_newest
from jaxmigrate.testing import applied, rewritten, run, unchanged

NAME = "mesh-context"
HEAD = "import jax\nimport jax.numpy as jnp\nfrom jax.sharding import Mesh, use_mesh\nmesh = Mesh(jax.devices(), ('x',))\n"
PRESENT = HEAD.replace(", use_mesh", "")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("with jax.set_mesh(mesh):\n    y = f(x)\n", id="present-context"),
        pytest.param("jax.set_mesh(mesh)\n", id="present-setter"),
        pytest.param("previous = jax.set_mesh(mesh)\n", id="result-of-the-setter-in-a-program-of-unknown-age"),
        pytest.param("with lock:\n    y = f(x)\n", id="another-context"),
        pytest.param("with trimesh.load(p) as mesh:\n    y = f(mesh)\n", id="mesh-of-triangles"),
        pytest.param("def g(mesh):\n    with mesh:\n        return f(x)\n", id="unknown-parameter"),
        pytest.param("def use_mesh(m): ...\nwith use_mesh(mesh):\n    pass\n", id="own-function"),
        pytest.param("from lib import use_mesh\nwith use_mesh(mesh):\n    pass\n", id="another-library"),
        pytest.param("with jax.sharding.use_abstract_mesh(mesh.abstract_mesh):\n    pass\n", id="abstract-mesh"),
        pytest.param("stack.enter_context(lock)\n", id="stack-of-other-things"),
    ],
)
def test_unchanged(source: str) -> None:
    assert not unchanged(PRESENT + source, select=NAME, allowed="unsafe").findings


def test_mesh_of_a_file_without_jax() -> None:
    assert not unchanged("from geometry import Mesh\nmesh = Mesh()\nwith mesh:\n    mesh.axis_names\n", select=NAME).findings


@pytest.mark.parametrize(
    ("source", "why"),
    [
        pytest.param("with mesh:\n    y = f(jnp.ones(3))\n", "line 6 makes an array", id="arrays-made-inside"),
        pytest.param("with mesh as m:\n    y = f(x)\n", "the mesh is used by its name there", id="name"),
        pytest.param("g = jax.pmap(f)\nwith mesh:\n    y = g(x)\n", "pmap does not go with", id="pmap"),
        pytest.param(
            "from jax.experimental.pjit import pjit\ng = pjit(f)\nwith mesh:\n    y = g(x)\n", "does not see that", id="pjit"
        ),
        pytest.param("m = jax.make_mesh((8,), ('x',))\nwith m:\n    y = f(x)\n", "may be explicit", id="explicit-axes"),
        pytest.param("def g(m: Mesh):\n    with m:\n        return f(x)\n", "may be explicit", id="parameter"),
        pytest.param("@jax.jit\ndef g(x):\n    with mesh:\n        return f(x)\n", "while a function is traced", id="traced"),
        pytest.param(
            "import contextlib\nstack = contextlib.ExitStack()\nstack.enter_context(mesh)\n", "NamedSharding", id="stack"
        ),
    ],
)
def test_reported_low(source: str, why: str) -> None:
    result = unchanged(PRESENT + source, select=NAME, allowed="unsafe")
    (finding,) = result.findings
    assert finding.severity is Severity.LOW
    assert finding.applicability is Applicability.MANUAL
    assert why in finding.message, finding.message


def test_block_that_makes_no_arrays_is_offered_an_unsafe_edit() -> None:
    before = f"{PRESENT}with mesh:\n    y = f(x)\n"
    unchanged(before, select=NAME)
    result = rewritten(before, before.replace("with mesh", "with jax.set_mesh(mesh)"), select=NAME, allowed="unsafe")
    assert [(f.applicability, f.severity) for f in applied(result)] == [(Applicability.UNSAFE, Severity.LOW)]


def test_functions_defined_in_the_block_may_make_arrays() -> None:
    before = f"{PRESENT}with mesh:\n    g = jax.jit(lambda x: x + jnp.ones(3))\n    y = g(x)\n"
    rewritten(before, before.replace("with mesh", "with jax.set_mesh(mesh)"), select=NAME, allowed="unsafe")


def test_older_targets_have_no_set_mesh() -> None:
    result = unchanged(f"{PRESENT}with mesh:\n    y = f(x)\n", select=NAME, allowed="unsafe", target="0.6.2")
    assert [f.severity for f in result.findings] == [Severity.LOW]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("with use_mesh(mesh):\n    pass", "with jax.set_mesh(mesh):\n    pass", id="with"),
        pytest.param(
            "with use_mesh(mesh), lock:\n    pass", "with jax.set_mesh(mesh), lock:\n    pass", id="one-of-several-contexts"
        ),
        pytest.param("stack.enter_context(use_mesh(mesh))", "stack.enter_context(jax.set_mesh(mesh))", id="stack"),
    ],
)
def test_use_mesh(before: str, after: str) -> None:
    result = rewritten(f"{HEAD}{before}\n", f"{PRESENT}{after}\n", select=NAME)
    assert {f.applicability for f in applied(result)} == {Applicability.SAFE}


def test_use_mesh_that_is_entered_later() -> None:
    result = rewritten(f"{HEAD}context = use_mesh(mesh)\n", f"{PRESENT}context = jax.set_mesh(mesh)\n", select=NAME)
    (finding,) = applied(result)
    assert finding.applicability is Applicability.REVIEW
    assert "set by the call" in finding.message


def test_use_mesh_as_a_decorator_is_reported() -> None:
    source = f"{HEAD}@use_mesh(mesh)\ndef f(x): ...\n"
    result = run(source, select=NAME)
    assert not applied(result)
    assert any("is no decorator" in f.message for f in result.findings)


def test_targets_that_have_use_mesh_choose_by_version() -> None:
    result = run(f"{HEAD}with use_mesh(mesh):\n    pass\n", select=NAME, target="0.6.2")
    assert not applied(result)
    assert any("choose by version" in f.message for f in result.findings)


def test_previous_mesh_in_a_program_of_0_6() -> None:
    settings = Settings(target=known_newest(), select=frozenset([NAME]), origin=Version.parse("0.6.2"))
    source = b"import jax\nold = jax.sharding.set_mesh(mesh)\njax.sharding.set_mesh(mesh)\n"
    (finding,) = rewrite_source(source, settings).findings
    assert "gave the previous mesh" in finding.message
