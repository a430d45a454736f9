"""The files of the user's project, each once: what is taken, what is left out, in a checkout and outside of one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from jaxmigrate.discovery import Found, discover, kind_of


@pytest.fixture(params=["git", "plain"])
def tree(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, current, in a checkout or not."""
    top = tmp_path / "top"
    top.mkdir()
    if request.param == "git":
        git(top, "init", "-q")
    monkeypatch.chdir(top)
    return top


def git(top: Path, *arguments: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "-C", str(top), *arguments], check=True, env=environment)


def write(top: Path, *names: str, text: str = "") -> None:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


def names(found: Found) -> list[str]:
    assert found.errors == []
    return [path for path, _ in found.files]


def test_folder_gives_python_and_text_files_sorted(tree: Path) -> None:
    write(tree, "b.py", "a/x.pyi", "a/run.sh", "a/data.csv", "Dockerfile", ".github/workflows/ci.yml", "README.md")
    assert discover(["."]).files == [
        (".github/workflows/ci.yml", "text"),
        ("Dockerfile", "text"),
        ("a/run.sh", "text"),
        ("a/x.pyi", "python"),
        ("b.py", "python"),
    ]


def test_names_start_with_the_path_as_it_was_given(tree: Path) -> None:
    write(tree, "a/x.py")
    assert names(discover(["a"])) == ["a/x.py"]
    assert names(discover(["a/"])) == ["a/x.py"]
    assert names(discover([str(tree)])) == [str(tree / "a/x.py")]
    os.chdir(tree / "a")
    assert names(discover([".."])) == ["../a/x.py"]


@pytest.mark.parametrize(
    "name",
    [
        "env/lib/python3.11/site-packages/p/x.py",
        "node_modules/p/x.py",
        "__pycache__/x.py",
        ".tox/py311/x.py",
        ".hidden/x.py",
        "build/__pypackages__/x.py",
    ],
)
def test_foreign_folders_are_left_out(tree: Path, name: str) -> None:
    write(tree, name, "mine.py")
    assert names(discover(["."])) == ["mine.py"]


def test_environment_is_known_by_its_marker_whatever_its_name(tree: Path) -> None:
    write(tree, "my_env/pyvenv.cfg", "my_env/bin/x.py", "my_env/y.py", "sub/e/pyvenv.cfg", "sub/e/x.py", "my_env2/x.py")
    assert names(discover(["."])) == ["my_env2/x.py"]


def test_foreign_folder_is_taken_when_it_is_named(tree: Path) -> None:
    write(tree, "env/pyvenv.cfg", "env/lib/site-packages/p/x.py", ".hidden/y.py")
    assert names(discover(["env/lib/site-packages/p", ".hidden"])) == ["env/lib/site-packages/p/x.py", ".hidden/y.py"]


def test_gitignore_is_honoured_in_every_folder(tree: Path) -> None:
    write(tree, "gen/a.py", "keep.py", "sub/b_pb2.py", "sub/c.py", "sub/deep/d.py", "sub/deep/e.py", "out.py")
    write(tree, ".gitignore", text="/gen/\nout.py\n")
    write(tree, "sub/.gitignore", text="*_pb2.py\n/deep/*\n!/deep/e.py\n")
    assert names(discover(["."])) == ["keep.py", "sub/c.py", "sub/deep/e.py"]


def test_ignored_file_is_taken_when_it_is_named(tree: Path) -> None:
    write(tree, ".gitignore", text="gen/\n")
    write(tree, "gen/a.py")
    assert names(discover(["gen/a.py"])) == ["gen/a.py"]


def test_ignored_folder_is_taken_when_it_is_named(tree: Path) -> None:
    write(tree, ".gitignore", text="gen/\n")
    write(tree, "gen/a.py")
    assert names(discover(["gen"])) == ["gen/a.py"]


def test_named_file_is_python_whatever_its_name(tree: Path) -> None:
    write(tree, "script", "notes.sh")
    assert discover(["script", "notes.sh"]).files == [("script", "python"), ("notes.sh", "text")]


@pytest.mark.parametrize("name", ["notes.txt", "README.md", "x.pyc"])
def test_named_file_that_is_certainly_no_python_is_an_error(tree: Path, name: str) -> None:
    write(tree, name)
    assert discover([name]).errors == [(name, "is not a Python file")]


def test_folder_that_is_called_like_a_file_is_walked(tree: Path) -> None:
    write(tree, "x.py/y.py", "z.pyi/readme.txt")
    assert names(discover(["."])) == ["x.py/y.py"]
    assert names(discover(["x.py"])) == ["x.py/y.py"]


def test_symlink_loop_ends(tree: Path) -> None:
    write(tree, "a/x.py")
    (tree / "a/loop").symlink_to("..")
    (tree / "a/self.py").symlink_to("self.py")
    assert names(discover(["."])) == ["a/x.py"]
    assert names(discover(["a/loop"])) == ["a/loop/a/x.py"]


def test_named_symlink_loop_is_an_error(tree: Path) -> None:
    (tree / "self.py").symlink_to("self.py")
    assert [path for path, _ in discover(["self.py"]).errors] == ["self.py"]


def test_file_reached_twice_is_taken_once_under_its_own_name(tree: Path) -> None:
    write(tree, "b.py")
    (tree / "a.py").symlink_to("b.py")
    assert names(discover([".", "b.py", "./b.py", str(tree), "a.py"])) == ["b.py"]


def test_symlink_to_a_file_elsewhere_is_taken_once(tree: Path) -> None:
    write(tree.parent, "elsewhere.py")
    (tree / "a.py").symlink_to("../elsewhere.py")
    (tree / "b.py").symlink_to("../elsewhere.py")
    assert names(discover(["."])) == ["a.py"]


def test_broken_symlink_is_no_file(tree: Path) -> None:
    (tree / "a.py").symlink_to("nowhere.py")
    assert names(discover(["."])) == []


def test_hard_links_are_two_files(tree: Path) -> None:
    write(tree, "a.py")
    os.link(tree / "a.py", tree / "b.py")
    assert names(discover(["."])) == ["a.py", "b.py"]


def test_path_that_does_not_exist_is_an_error_beside_the_others(tree: Path) -> None:
    write(tree, "a.py")
    found = discover(["nope.py", "a.py"])
    assert found.files == [("a.py", "python")]
    assert found.errors == [("nope.py", "does not exist")]


def test_named_pipe_is_an_error_and_not_waited_for(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    assert names(discover(["."])) == []
    assert discover(["pipe.py"]).errors == [("pipe.py", "is neither a file nor a folder")]


def test_unreadable_name_is_passed_through(tree: Path) -> None:
    strange = os.fsdecode(b"str\xffnge \n'.py")
    write(tree, strange)
    assert names(discover(["."])) == [strange]


def test_excluded_patterns_are_relative_to_their_folder(tree: Path) -> None:
    write(tree, "a/gen/x.py", "a/y.py", "gen/z.py", "a/b_pb2.py")
    assert names(discover(["."], ("/gen/", "*_pb2.py"), str(tree))) == ["a/gen/x.py", "a/y.py"]
    assert names(discover(["a"], ("/a/gen",), str(tree))) == ["a/b_pb2.py", "a/y.py"]
    assert names(discover([str(tree / "a")], ("y.py",), str(tree))) == [str(tree / "a/b_pb2.py"), str(tree / "a/gen/x.py")]


def test_excluded_file_is_taken_when_it_is_named(tree: Path) -> None:
    write(tree, "gen.py")
    assert names(discover(["gen.py"], ("gen.py",), str(tree))) == ["gen.py"]


def test_deleted_tracked_file_is_no_file(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py", "b.py")
    git(tmp_path, "add", ".")
    (tmp_path / "a.py").unlink()
    assert names(discover([str(tmp_path)])) == [str(tmp_path / "b.py")]


def test_untracked_files_are_taken(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py")
    git(tmp_path, "add", ".")
    write(tmp_path, "new/b.py")
    assert names(discover([str(tmp_path)])) == [str(tmp_path / "a.py"), str(tmp_path / "new/b.py")]


def test_checkout_inside_the_checkout_is_left_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py", "vendored/b.py")
    git(tmp_path / "vendored", "init", "-q")
    assert names(discover([str(tmp_path)])) == [str(tmp_path / "a.py")]
    assert names(discover([str(tmp_path / "vendored")])) == [str(tmp_path / "vendored/b.py")]


def test_without_git_a_checkout_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py", "gen/b.py")
    write(tmp_path, ".gitignore", text="gen\n")
    monkeypatch.setenv("PATH", "")
    assert names(discover([str(tmp_path)])) == [str(tmp_path / "a.py")]


@pytest.mark.parametrize(
    "name",
    [
        "Dockerfile",
        "Dockerfile.gpu",
        "train.dockerfile",
        "Makefile",
        "a.sh",
        "run.csh",
        "env.fish",
        ".bazelrc",
        "job.slurm",
        "a.yaml",
        "tox.ini",
        ".env",
        "pyproject.toml",
    ],
)
def test_files_that_set_flags_are_text(name: str) -> None:
    assert kind_of(name) == "text"


@pytest.mark.parametrize("name", ["a.pyc", "a.py.orig", "notes.md", "Dockerfiles", "py", "notes.txt", "a.json"])
def test_other_files_do_not_concern_us(name: str) -> None:
    assert kind_of(name) is None
