"""recursive-jit: one finding for a tree that switches the flag on and off, none for any other tree."""

from __future__ import annotations

import pytest

from jaxmigrate.engine import project_findings, rewrite_source
from jaxmigrate.hosts.text import scan_text
from jaxmigrate.model import Finding, Settings
from jaxmigrate.registry import known_newest

SETTINGS = Settings(known_newest(), select=frozenset({"recursive-jit"}))

ON = "import jax\njax.config.update('jax_array', True)\n"
OFF = "import jax\n\n\njax.config.update('jax_array', False)\n"


def look(files: dict[str, str]) -> list[tuple[str, Finding]]:
    """The findings about the whole tree."""
    python = {p: t for p, t in files.items() if p.endswith(".py")}
    results = [rewrite_source(text.encode(), SETTINGS, path=path) for path, text in python.items()]
    results += [scan_text(path, text.encode(), SETTINGS) for path, text in files.items() if path not in python]
    assert not [f for r in results for f in r.findings]
    return project_findings(results, SETTINGS)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a.py": ON, "b.py": ON}, id="only-on"),
        pytest.param({"a.py": OFF, "b.py": OFF}, id="only-off"),
        pytest.param({"a.py": ON, "b.py": "import jax\ndef f(x):\n    jax.config.update('jax_array', x)\n"}, id="on-and-unknown"),
        pytest.param({"a.py": ON, "b.py": OFF.replace("jax_array", "jax_enable_x64")}, id="another-flag-off"),
        pytest.param({"a.py": ON, "b.py": OFF.replace("jax_array", "jax_parallel_functions_output_gda")}, id="gda-outputs-off"),
        pytest.param({"a.py": ON, "b.py": "config = load()\nconfig.update(jax_array=False)\n"}, id="own-configuration-off"),
        pytest.param({"a.py": ON, "b.py": "# jax.config.update('jax_array', False)\nimport jax\n"}, id="off-in-a-comment"),
        pytest.param({"a.py": ON, "b.py": '"""Run with JAX_ARRAY=0."""\nimport jax\n'}, id="off-in-a-docstring"),
        pytest.param({"a.py": ON, "run.sh": "export MY_JAX_ARRAY=0\n"}, id="another-variable-off"),
        pytest.param({"a.py": ON, "run.sh": "python x.py --jax_array_dir=0\n"}, id="longer-argument"),
        pytest.param({"a.py": OFF, "Dockerfile": "RUN echo no flags\n"}, id="off-and-nothing"),
    ],
)
def test_no_finding(files: dict[str, str]) -> None:
    assert look(files) == []


def test_places_are_in_order() -> None:
    both = "import jax\ndef f():\n    jax.config.update('jax_array', True)\nimport os\nos.environ['JAX_ARRAY'] = '1'\n"
    ((_, found),) = look({"b.py": both, "a.py": both, "c.py": OFF})
    assert "on at a.py:3, 5, b.py:3, 5 and off at c.py:4:" in found.message


@pytest.mark.parametrize(
    ("files", "places"),
    [
        pytest.param({"a.py": ON, "b.py": OFF}, ["a.py:2", "b.py:4"], id="two-modules"),
        pytest.param({"a.py": ON + OFF}, ["a.py:2", "a.py:6"], id="one-module"),
        pytest.param({"a.py": ON, "run.sh": "JAX_ARRAY=0 python a.py\n"}, ["a.py:2", "run.sh:1"], id="shell-script"),
        pytest.param({"a.py": OFF, "Dockerfile": "FROM x\nENV JAX_ARRAY=1\n"}, ["a.py:4", "Dockerfile:2"], id="dockerfile"),
        pytest.param(
            {"a.py": OFF, "Dockerfile": "ENV JAX_ARRAY true\n"}, ["a.py:4", "Dockerfile:1"], id="dockerfile-with-a-blank"
        ),
        pytest.param({"a.py": OFF, "ci.yml": "env:\n  JAX_ARRAY: '1'\n"}, ["a.py:4", "ci.yml:2"], id="ci-file"),
        pytest.param({"a.py": ON, "run.sh": "python x.py --nojax_array\n"}, ["a.py:2", "run.sh:1"], id="flag-off"),
        pytest.param({"a.py": OFF, "run.sh": "python x.py --jax_array --n=1\n"}, ["a.py:4", "run.sh:1"], id="flag-on"),
        pytest.param(
            {"a.py": OFF, "run.sh": "python x.py --jax_array=true\n"}, ["a.py:4", "run.sh:1"], id="flag-on-with-a-value"
        ),
        pytest.param(
            {"a.py": "from jax._src.config import jax_array\nwith jax_array(True): pass\nwith jax_array(False): pass\n"},
            ["on at a.py:2", "off at a.py:3"],
            id="context-managers",
        ),
        pytest.param(
            {"a.py": ON, "b.py": "import os\nos.environ['JAX_ARRAY'] = 'off'\n"}, ["a.py:2", "b.py:2"], id="environment"
        ),
        pytest.param(
            {"a.py": ON, "b.py": "import os\nenv = dict(os.environ, JAX_ARRAY='0')\n"},
            ["a.py:2", "b.py:2"],
            id="child-environment",
        ),
    ],
)
def test_one_finding_names_all_places(files: dict[str, str], places: list[str]) -> None:
    ((path, found),) = look(files)
    assert all(place in found.message for place in places)
    assert f"{path}:{found.position.line}" in found.message
    assert found.outstanding
