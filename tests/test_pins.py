"""Version requirements: what is one, what it allows, and what is said and done about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from jaxmigrate import pins
from jaxmigrate.cli.rewrite import command
from jaxmigrate.model import Version
from jaxmigrate.registry import history

PACKAGES = ("jax", "jaxlib")
OLD = "import jax\nimport jax.numpy as jnp\n\n\ndef f(x: jnp.DeviceArray):\n    return jax.sharding.MeshPspecSharding\n"
"""Rewritten, it needs JAX 0.3.24."""


def found(name: str, text: str) -> list[tuple[str, str]]:
    return [(pin.package, ",".join(c.text for c in pin.clauses)) for pin in pins.find(name, text.encode(), PACKAGES)]


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        pytest.param("requirements.txt", "jax==0.3.15\n", [("jax", "==0.3.15")], id="exact"),
        pytest.param("requirements.txt", "jax[tpu]>=0.2.13, <= 0.3.25\n", [("jax", ">=0.2.13,<= 0.3.25")], id="extras-and-two"),
        pytest.param("requirements.txt", 'jax>=0.4; python_version >= "3.9"\n', [("jax", ">=0.4")], id="marker"),
        pytest.param("requirements.txt", "JAX~=0.4.1\nJax[cpu]==0.3\n", [("jax", "~=0.4.1"), ("jax", "==0.3")], id="capitals"),
        pytest.param("requirements.txt", "jax (>=0.3)\n", [("jax", ">=0.3")], id="brackets-of-old-metadata"),
        pytest.param("requirements.txt", "chex  # jax<0.2\n# jax<0.1\n", [], id="comments"),
        pytest.param("requirements.txt", "jaxopt==0.1\nflax-jax==1\nmy.jax==2\njaxtyping<3\n", [], id="other-packages"),
        pytest.param("requirements.txt", "jax\njax @ git+https://x/jax\n", [], id="no-version"),
        pytest.param("requirements.txt", "jax @ git+https://x/jax.git@jax-v0.3.25\n", [("jax", "0.3.25")], id="tag"),
        pytest.param("requirements.txt", "-e git+https://x/jax@jaxlib-v0.3.2#egg=x\n", [("jaxlib", "0.3.2")], id="tag-of-jaxlib"),
        pytest.param(
            "requirements.txt", "https://x/jax/archive/refs/tags/jax-v0.3.25.tar.gz\n", [("jax", "0.3.25")], id="archive"
        ),
        pytest.param(
            "requirements.txt", "git+https://x/jax@main\ngit+https://x/jax@1.2ab\ngit+https://x/ajax@v0.1.2\n", [], id="no-tag"
        ),
        pytest.param(
            "pyproject.toml", 'jax = {git = "https://x/jax", tag = "jax-v0.3.5"}\n', [("jax", "0.3.5")], id="poetry-git"
        ),
        pytest.param("pyproject.toml", 'jax = {git = "https://x/jax", rev = "abc0.1"}\n', [], id="poetry-git-by-commit"),
        pytest.param("setup.py", "install_requires=['jax>=0.3.4', \"jaxlib<0.4\"]\n", [("jax", ">=0.3.4"), ("jaxlib", "<0.4")]),
        pytest.param("setup.py", "if jax>=0.4: pass\njax = 0.3\n", [], id="code-is-no-requirement"),
        pytest.param("pyproject.toml", '  "jax>=0.4.16,<0.5",\n', [("jax", ">=0.4.16,<0.5")], id="pep-621"),
        pytest.param("pyproject.toml", 'jax = "^0.4.1"\n', [("jax", "^0.4.1")], id="poetry-caret"),
        pytest.param("pyproject.toml", 'jax = "0.4.1"\n', [("jax", "0.4.1")], id="poetry-bare-is-caret"),
        pytest.param("pyproject.toml", 'jax = {version = ">=0.3,<0.5", extras = ["cpu"]}\n', [("jax", ">=0.3,<0.5")]),
        pytest.param("pyproject.toml", 'jax = "*"\n', [("jax", "")], id="poetry-any"),
        pytest.param("environment.yml", "  - jax=0.3.25=pyhd8ed1ab_0\n", [("jax", "=0.3.25")], id="conda-with-build"),
        pytest.param("Dockerfile", "RUN pip install jax==${JAX}\n", [], id="variable-of-elsewhere"),
        pytest.param(
            "Dockerfile", "ARG V=0.3.5\nRUN pip install jax==$V jaxlib==${V}\n", [("jax", "==0.3.5"), ("jaxlib", "==0.3.5")]
        ),
        pytest.param("Dockerfile", 'ENV V 0.3.5\nRUN pip install "jax>=${V}"\n', [("jax", ">=0.3.5")], id="variable-of-env"),
        pytest.param("Dockerfile", "RUN pip install jax==${V:-0.3.5}\n", [("jax", "==0.3.5")], id="variable-with-a-default"),
        pytest.param("run.sh", "V=0.3.5\nW=1\npip install jax==$V\n", [("jax", "==0.3.5")], id="variable-of-a-shell"),
        pytest.param("run.sh", "V=0.3.5\nif x; then V=0.4.1; fi\npip install jax==$V\n", [], id="variable-of-two-values"),
        pytest.param(
            "Dockerfile", "ARG V=0.3.5\nENV V=${V}\nRUN pip install jax==$V\n", [("jax", "==0.3.5")], id="argument-kept"
        ),
        pytest.param("run.sh", "V=0.3.5\npip install jax==${V%.*} jaxlib==$(v)\n", [], id="variable-that-is-cut"),
        pytest.param("Dockerfile", "LABEL jax=0.3.5\nENV jax=0.3.5\n", [], id="setting-of-an-image"),
        pytest.param("pyproject.toml", 'description = "needs jax>=0.3.5 and jax<0.4"\n', [], id="description"),
        pytest.param(
            "setup.cfg", "description = uses jax>=0.3\ngpu = jax>=0.4; jaxlib<1\n", [("jax", ">=0.4"), ("jaxlib", "<1")]
        ),
        pytest.param(
            "tox.ini", "deps =\n  a: jax>=0.3\ncommands = pip install x jax==0.4\n", [("jax", ">=0.3"), ("jax", "==0.4")]
        ),
        pytest.param("setup.py", 'R = """\njax>=0.3.5\n  jaxlib==0.3.5; x\n"""\n', [("jax", ">=0.3.5"), ("jaxlib", "==0.3.5")]),
        pytest.param("run.sh", "NV=0.3.5\n# V=0.3.4\npip install jax==$V\n", [], id="variable-of-a-like-name"),
        pytest.param("run.sh", "V=latest\npip install jax==$V\n", [], id="variable-without-a-version"),
        pytest.param("ci.yml", "env:\n  V: '0.3.5'\nrun: pip install jax==${{ env.V }}\n", [("jax", "==0.3.5")]),
        pytest.param("ci.yml", "matrix:\n  jax: ['0.3.5']\nrun: pip install jax==${{ matrix.jax }}\n", [], id="matrix"),
        pytest.param("ci.yml", "- name: Test jax==0.3.5\n  run: pytest\n", [], id="name-of-a-step"),
        pytest.param("environment.yml", "- jaxlib 0.3.5 py_0\n- jax 0.3.*\n", [("jaxlib", "0.3.5"), ("jax", "0.3.*")]),
        pytest.param("environment.yml", "- jax-md 0.2\n- ajax 0.1\n- jaxtyping 0.2\n", [], id="other-packages-of-conda"),
        pytest.param("setup.cfg", "[tool:x]\njax = 0.3.5\n", [], id="setting-of-another-tool"),
        pytest.param("pyproject.toml", '[tool.x]\njax = "0.3.5"\n', [], id="table-of-another-tool"),
        pytest.param("pyproject.toml", '[tool.pixi.pypi-dependencies]\njax = "<0.4"\n', [("jax", "<0.4")], id="pixi"),
        pytest.param(
            "pyproject.toml",
            '[tool.poetry.dependencies]\njax = [\n {version = "^0.4.1", python = "<3.9"},\n {version = "<1"},\n]\nx = {version = "2"}\n',
            [("jax", "^0.4.1"), ("jax", "<1")],
            id="poetry-choice",
        ),
        pytest.param(
            "pyproject.toml",
            '[project.optional-dependencies]\njax = ["jax>=0.3"]  # c\n[tool.poetry.dependencies]\nx = {version = "1"}\n',
            [("jax", ">=0.3")],
            id="extra-of-that-name",
        ),
        pytest.param(
            "pyproject.toml", '[a.dependencies]\njax = ["x"]  # c\nx = {version = "1"}\n', [], id="list-with-a-comment-behind"
        ),
        pytest.param(
            "Dockerfile",
            "RUN pip install https://x/jaxlib-0.3.15+cuda11.cudnn82-cp38-none-linux_x86_64.whl\n",
            [("jaxlib", "0.3.15")],
        ),
        pytest.param("nb.ipynb", '"source": ["!pip install -q jax==0.3.14\\n",\n "x"]', [("jax", "==0.3.14")], id="notebook-pip"),
        pytest.param(
            "nb.ipynb", r'''"source": "!pip install \\\n  'jax<0.4'\n"''', [("jax", "<0.4")], id="notebook-pip-on-two-lines"
        ),
        pytest.param("nb.ipynb", r'"source": "# !pip install jax<0.4\n"', [], id="notebook-comment"),
        pytest.param("nb.ipynb", r'"text": ["pip: Collecting jax>=0.3\n"], "source": ["x"]', [], id="output-of-a-notebook"),
        pytest.param("a.py", '# /// script\n# dependencies = ["jax<0.4"]\n# ///\n', [("jax", "<0.4")], id="script-block"),
        pytest.param("a.py", '# /// script\n# dependencies = ["jax<0.4"]\n', [], id="script-block-without-end"),
        pytest.param("a.py", 'x = ["jax<0.4"]\n# jax<0.3\n', [], id="strings-of-other-python"),
        pytest.param("noxfile.py", 'session.install("jax<0.4")\n', [("jax", "<0.4")], id="noxfile"),
        pytest.param(
            "pyproject.toml",
            '[tool.poetry.dependencies.jax]\nversion = "~0.3"\n[x]\nversion = "0.1"\n',
            [("jax", "~0.3")],
            id="table",
        ),
        pytest.param("nb.ipynb", "  \"print('jax==0.3.14')\\n\",\n", [], id="notebook-code"),
        pytest.param("run.sh", "python train.py --jax=1 use_jax=1 JAX=0.3\n", [], id="flags-that-look-alike"),
    ],
)
def test_requirements_of_a_file(name: str, text: str, wanted: list[tuple[str, str]]) -> None:
    assert found(name, text) == wanted


@pytest.mark.parametrize(
    ("requirement", "allowed", "forbidden"),
    [
        ("jax==0.4.1", "0.4.1", "0.4.2"),
        ("jax==0.4.*", "0.4.38", "0.5.0"),
        ("jax<=0.4.1", "0.4.1", "0.4.2"),
        ("jax<0.4.1", "0.4.0", "0.4.1"),
        ("jax~=0.4.0", "0.4.38", "0.5.0"),
        ("jax~=0.4", "0.12.0", "1.0.0"),
        ("jax=0.4", "0.4.38", "0.5.0"),
        ("jax>=0.2,<0.5", "0.4.38", "0.5.0"),
        ("jax^0.4.1", "0.4.38", "0.5.0"),
    ],
)
def test_what_a_requirement_allows(requirement: str, allowed: str, forbidden: str) -> None:
    [pin] = pins.find("requirements.txt", requirement.encode(), PACKAGES)
    assert not pin.forbids(Version.parse(allowed))
    assert pin.forbids(Version.parse(forbidden))


@pytest.mark.parametrize("requirement", ["jax>=0.4", "jax>0.4", "jax!=0.4.2"])
def test_a_lower_bound_forbids_nothing_newer(requirement: str) -> None:
    [pin] = pins.find("requirements.txt", requirement.encode(), PACKAGES)
    assert not pin.forbids(Version.parse("99.0"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("jax==0.3.15\n", "0.3.15"),
        ("jax<0.5\n", "0.4.38"),
        ("jax>=0.2\n", None),
        ("jaxlib==0.3.15\n", None),
        ("jax==0.3.15\njax<=0.4.30\n", "0.4.30"),
        ("jax<99\n", str(history().versions[-1])),
    ],
)
def test_origin(text: str, wanted: str | None) -> None:
    origin = pins.origin(pins.find("requirements.txt", text.encode(), PACKAGES), "jax", history().versions)
    assert origin == (Version.parse(wanted) if wanted else None)


def run(folder: Path, *options: str) -> tuple[str, int]:
    result = CliRunner().invoke(command, [str(folder), "--no-color", *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result.output, result.exit_code


def test_a_cap_that_forbids_the_target_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy\njax==0.3.15\n")
    output, status = run(tmp_path, "--check")
    assert "requirements.txt:2:1: manual version-pins: jax==0.3.15 keeps JAX" in output
    assert status == 1
    assert run(tmp_path, "--check", "--target", "0.3.15")[1] == 0
    assert run(tmp_path, "--check", "--ignore", "version-pins")[1] == 0


def test_the_lower_bound_is_raised_only_when_unsafe_edits_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OLD)
    requirements = tmp_path / "requirements.txt"
    requirements.write_bytes(b"jax[cpu]>=0.3.0 # fast\r\nflax>=0.3.0\r\n")
    output, status = run(tmp_path, "--check")
    assert "the rewritten code needs JAX 0.3.24, and jax[cpu]>=0.3.0 allows older ones (held: --unsafe applies it)" in output
    assert status == 1
    assert b"0.3.0 #" in requirements.read_bytes()
    run(tmp_path, "--unsafe")
    assert requirements.read_bytes() == b"jax[cpu]>=0.3.24 # fast\r\nflax>=0.3.0\r\n"


def test_the_lower_bound_can_be_raised_in_a_later_run(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OLD)
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("jax>=0.3.0\n")
    run(tmp_path, "--exit-zero")
    assert requirements.read_text() == "jax>=0.3.0\n"
    run(tmp_path, "--unsafe")
    assert requirements.read_text() == "jax>=0.3.24\n"


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("requirements.txt", "jax~=0.3\n", "jax>=0.3.24,<1\n"),
        ("requirements.txt", "jax == 0.*\n", "jax >= 0.3.24,<1\n"),
        ("requirements.txt", "jax >= 0.2.1 , < 1.0\n", "jax >= 0.3.24 , < 1.0\n"),
        ("requirements.txt", "jax>=0.3,!=0.4.1\n", "jax>=0.3.24,!=0.4.1\n"),
        ("pyproject.toml", '[project]\ndependencies = ["jax~=0.3"]\n', '[project]\ndependencies = ["jax>=0.3.24,<1"]\n'),
        ("requirements.txt", "jax>=0.3 \\\r\n  --hash=sha256:aa\r\n", "jax>=0.3.24 \\\r\n  --hash=sha256:aa\r\n"),
        ("requirements.txt", 'jax[a,b]>=0.3;python_version<"3.9"#x\n', 'jax[a,b]>=0.3.24;python_version<"3.9"#x\n'),
        ("environment.yml", "dependencies:\n  - conda-forge::jax>=0.3\n", "dependencies:\n  - conda-forge::jax>=0.3.24\n"),
        ("Dockerfile", "RUN pip install jax~=0.3\n", None),
        ("Dockerfile", "RUN pip install jax[cuda]>=0.3\n", None),
        ("Dockerfile", "ARG V=0.3\nRUN pip install 'jax>=$V'\n", None),
        ("Dockerfile", "RUN pip install 'jax~=0.3'\n", "RUN pip install 'jax>=0.3.24,<1'\n"),
        (
            "run.py",
            '# /// script\n# dependencies = ["jax>=0.2"]\n# ///\n',
            '# /// script\n# dependencies = ["jax>=0.3.24"]\n# ///\n',
        ),
    ],
)
def test_a_raised_bound_keeps_its_cap_and_its_spaces(tmp_path: Path, name: str, before: str, after: str | None) -> None:
    (tmp_path / "a.py").write_text(OLD)
    (tmp_path / name).write_bytes(before.encode())
    output, _ = run(tmp_path, "--unsafe")
    assert (tmp_path / name).read_bytes().decode() == (after or before)
    assert ("manual version-pins: the rewritten code needs JAX 0.3.24" in output) == (after is None)


@pytest.mark.parametrize(
    ("requirement", "status"), [("jaxlib==0.11.2", 0), ("jaxlib==0.10.2", 1), ("jaxlib<0.12", 0), ("jax==0.11.2", 1)]
)
def test_a_jax_may_be_installed_with_a_jaxlib_of_a_few_releases_back(tmp_path: Path, requirement: str, status: int) -> None:
    (tmp_path / "requirements.txt").write_text(f"{requirement}\n")
    assert run(tmp_path, "--check", "--target", "0.12.0.1")[1] == status


def test_a_pin_below_what_the_code_needs_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import jax\n\nx = jax.tree.map(f, t)\n")
    (tmp_path / "requirements.txt").write_text("jax==0.4.1\n")
    output, _ = run(tmp_path, "--check", "--target", "0.4.0")
    assert "jax==0.4.1 keeps JAX 0.4.25, which the rewritten code needs, from being installed" in output


def test_the_report_and_the_requirements_name_one_release(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "new.py").write_text("import jax\n\nx = jax.tree.map(f, t)\n")
    (tmp_path / "requirements.txt").write_text("jax>=0.3.0\n")
    output, _ = run(tmp_path, "--check")
    assert "the rewritten code needs JAX 0.4.25, and jax>=0.3.0 allows older ones" in output
    assert "The result needs JAX 0.4.25 or newer." in output


def test_names_that_a_rewritten_file_used_before_count_without_requirements(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{OLD}y = jax.tree.map(f, t)\n")
    assert "The result needs JAX 0.4.25 or newer." in run(tmp_path, "--check")[0]
    output, _ = run(tmp_path, "--check", "--target", "0.4.13")
    assert "0.4.25 or newer, which is newer than the target 0.4.13: the code used names of it before." in output


def test_what_the_oldest_jax_has_is_no_need(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import jax\n\nx = jax.numpy.zeros(3)\n")
    (tmp_path / "requirements.txt").write_text("jax<0.6\n")
    output, _ = run(tmp_path, "--check")
    assert "the target, from being installed\n" in output
    assert "needs" not in output


def test_a_bound_that_is_high_enough_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OLD)
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["jax>=0.4.1"]\n')
    assert "version-pins" not in run(tmp_path, "--unsafe")[0]


def test_a_build_script_is_rewritten_and_its_requirement_raised(tmp_path: Path) -> None:
    setup = tmp_path / "setup.py"
    setup.write_text("import jax\nA = jax.sharding.MeshPspecSharding\ninstall_requires = ['jax>=0.3.0']\n")
    run(tmp_path, "--unsafe")
    assert setup.read_text() == "import jax\nA = jax.sharding.NamedSharding\ninstall_requires = ['jax>=0.3.24']\n"
    assert run(tmp_path, "--check", "--unsafe")[1] == 0


def test_a_comment_silences_it(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("jax==0.3.15  # jaxmigrate: ignore[version-pins]\n")
    output, status = run(tmp_path, "--check")
    assert status == 0
    assert "1 use left alone: a comment in the source asks for it." in output


def test_a_named_notebook_says_that_its_code_is_not_read(tmp_path: Path) -> None:
    notebook = tmp_path / "a.ipynb"
    notebook.write_text('{"cells": [{"source": ["!pip install jax==0.3.14\\n"]}]}\n')
    output, status = run(notebook)
    assert "skipped: is a notebook: only the pip lines in it are looked at" in output
    assert "jax==0.3.14 keeps JAX" in output
    assert status == 1


@pytest.mark.parametrize(("line", "is_told"), [("import jax.numpy as jnp", True), ("import ajax", False)])
def test_a_tree_with_a_notebook_that_uses_jax_does_not_count_as_done(line: str, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "source": [line]}]}))
    output, status = run(tmp_path)
    assert ("a.ipynb: skipped: is a notebook: only the pip lines in it are looked at" in output) is is_told
    assert status == 0


def test_binary_and_broken_files_are_no_requirements(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_bytes(b"\x00\xff jax==0.3.15 \xff\xfe\n")
    (tmp_path / "b-requirements.txt").write_bytes(b"jax==\xff0.3\n")
    run(tmp_path, "--check", "--exit-zero")
