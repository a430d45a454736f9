"""Copies of the tree: all that a program needs is there, and nothing it does reaches the user's own files."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from jaxmigrate.verify import copy
from jaxmigrate.verify.copy import RUNS, Workspace, root_of
from jaxmigrate.verify.model import Plan

NOTHING = Plan((), ())


def written(top: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def git(top: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-C", str(top), "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True
    )


def listing(top: str | Path) -> list[str]:
    return sorted(p.relative_to(top).as_posix() for p in Path(top).rglob("*") if not p.is_dir())


def fingerprint(top: Path) -> dict[str, tuple[int, int, str]]:
    """Everything below a folder that somebody could have changed: names, modes, times, content, where links lead."""
    found = {}
    for path in sorted([top, *top.rglob("*")]):
        status = path.lstat()
        if path.is_symlink():
            content = os.readlink(path)
        else:
            content = hashlib.sha1(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = status.st_mode, status.st_mtime_ns, content
    return found


# Which tree


def test_the_tree_is_the_checkout(tmp_path: Path) -> None:
    written(tmp_path, {"pkg/deep/run.py": "", "pkg/setup.py": ""})
    git(tmp_path, "init")
    assert root_of(str(tmp_path / "pkg/deep/run.py"), "/") == str(tmp_path)


def test_without_a_checkout_it_is_the_project(tmp_path: Path) -> None:
    written(tmp_path, {"pyproject.toml": "", "pkg/setup.py": "", "pkg/deep/run.py": "", "other/run.py": ""})
    assert root_of(str(tmp_path / "pkg/deep/run.py"), "/") == str(tmp_path / "pkg")
    assert root_of(str(tmp_path / "other/run.py"), "/") == str(tmp_path)


def test_without_a_project_it_is_the_folder_of_the_script_or_the_working_directory(tmp_path: Path) -> None:
    written(tmp_path, {"a/run.py": ""})
    assert root_of(str(tmp_path / "a/run.py"), str(tmp_path)) == str(tmp_path / "a")
    assert root_of(str(tmp_path / "a"), str(tmp_path)) == str(tmp_path / "a")
    assert root_of(None, str(tmp_path / "a")) == str(tmp_path / "a")


def test_a_checkout_that_ignores_the_folder_is_not_its_tree(tmp_path: Path) -> None:
    written(tmp_path, {".gitignore": "scratch/\n", "scratch/run.py": ""})
    git(tmp_path, "init")
    assert root_of(str(tmp_path / "scratch/run.py"), "/") == str(tmp_path / "scratch")


# What is in it


def test_a_checkout_gives_what_git_knows_or_would_add(tmp_path: Path) -> None:
    files = {
        ".gitignore": "data/\n*.log\n",
        "run.py": "x = 1\n",
        "new.py": "",
        "data/big.bin": "",
        "a.log": "",
        "lib/m.py": "",
        "conf.yml": "",
    }
    written(tmp_path, files)
    git(tmp_path, "init")
    git(tmp_path, "add", "run.py", "lib/m.py")
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path), target="run.py") as workspace:
        for name in RUNS:
            assert listing(workspace.root(name)) == [".gitignore", "conf.yml", "lib/m.py", "new.py", "run.py"]
        assert workspace.files == 5


def test_a_script_that_git_ignores_is_there_all_the_same(tmp_path: Path) -> None:
    written(tmp_path, {".gitignore": "mine.py\n", "mine.py": "", "a.py": ""})
    git(tmp_path, "init")
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path), target="mine.py") as workspace:
        assert listing(workspace.root("after")) == [".gitignore", "a.py", "mine.py"]


def test_a_deleted_file_that_git_still_knows_is_left_out(tmp_path: Path) -> None:
    written(tmp_path, {"a.py": "", "b.py": ""})
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    (tmp_path / "b.py").unlink()
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path)) as workspace:
        assert listing(workspace.root("before")) == ["a.py"]


def test_without_git_environments_and_caches_are_left_out(tmp_path: Path) -> None:
    files = {"run.py": "", "d/data.csv": "1", ".env": "", "venv/pyvenv.cfg": "", "venv/lib/x.py": "", "__pycache__/run.pyc": ""}
    written(tmp_path, {**files, ".git-old": "", ".mypy_cache/a": "", "node_modules/m.js": "", "stale.pyc": ""})
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path)) as workspace:
        assert listing(workspace.root("again")) == [".env", ".git-old", "d/data.csv", "run.py"]


def test_what_is_too_large_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy, "MAX_FILE", 100)
    monkeypatch.setattr(copy, "MAX_TREE", 150)
    written(tmp_path, {"a.bin": "x" * 101, "b.bin": "x" * 90, "c.bin": "x" * 90, "d.py": "x" * 60})
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path)) as workspace:
        assert listing(workspace.root("before")) == ["b.bin", "d.py"]
        assert workspace.left_out == ["a.bin", "c.bin"]


def test_of_a_folder_that_may_be_anything_the_nearest_files_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy, "MAX_LOOSE", 3)
    written(tmp_path, {"run.py": "", "z.py": "", "a/deep/x.py": "", "b/y.py": ""})
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path)) as workspace:
        assert listing(workspace.root("before")) == ["b/y.py", "run.py", "z.py"]
        assert workspace.left_out == ["all but the 3 nearest files"]
    written(tmp_path, {"setup.py": ""})
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path)) as workspace:
        assert len(listing(workspace.root("before"))) == 5
        assert workspace.left_out == []


def test_modes_and_times_stay(tmp_path: Path) -> None:
    written(tmp_path, {"tool.sh": "#!/bin/sh\n", "locked/a.txt": "a"})
    (tmp_path / "tool.sh").chmod(0o750)
    (tmp_path / "locked/a.txt").chmod(0o444)
    os.utime(tmp_path / "tool.sh", (1000, 1000))
    (tmp_path / "locked").chmod(0o555)
    try:
        with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path)) as workspace:
            tool = Path(workspace.root("after"), "tool.sh")
            assert (stat.S_IMODE(tool.stat().st_mode), tool.stat().st_mtime) == (0o750, 1000)
            assert stat.S_IMODE(Path(workspace.root("after"), "locked/a.txt").stat().st_mode) == 0o444
    finally:
        (tmp_path / "locked").chmod(0o755)


def test_links_become_what_they_lead_to(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", {"data.txt": "mine", "folder/inner.txt": "mine too"})
    tree = written(tmp_path / "tree", {"run.py": "", "real/a.txt": "a"})
    (tree / "file").symlink_to(outside / "data.txt")
    (tree / "folder").symlink_to(outside / "folder")
    (tree / "inside").symlink_to("real")
    (tree / "nowhere").symlink_to("missing")
    (tree / "itself").symlink_to("itself")
    (tree / "real/up").symlink_to("..")
    for with_git in (False, True):
        if with_git:
            git(tree, "init")
        with Workspace(str(tree), NOTHING, cwd=str(tree)) as workspace:
            top = Path(workspace.root("before"))
            assert {"file", "folder/inner.txt", "inside/a.txt", "real/a.txt", "run.py"} <= set(listing(top))
            assert not [p for p in top.rglob("*") if p.is_symlink()]
            (top / "file").write_text("changed")
            (top / "folder/inner.txt").write_text("changed")
    assert (outside / "data.txt").read_text() == "mine"
    assert (outside / "folder/inner.txt").read_text() == "mine too"


def test_the_versions_of_the_plan_are_in_the_copies(tmp_path: Path) -> None:
    written(tmp_path, {"a.py": "now", "b.py": "same", "run.sh": "x"})
    (tmp_path / "run.sh").chmod(0o755)
    plan = Plan((), (), before={"a.py": b"old", "gone/c.py": b"gone", "run.sh": b"y"}, after={"a.py": b"new"})
    with Workspace(str(tmp_path), plan, cwd=str(tmp_path)) as workspace:
        texts = {n: {p: Path(workspace.root(n), p).read_text() for p in listing(workspace.root(n))} for n in RUNS}
        assert stat.S_IMODE(Path(workspace.root("before"), "run.sh").stat().st_mode) == 0o755
    assert texts["before"] == {"a.py": "old", "b.py": "same", "gone/c.py": "gone", "run.sh": "y"}
    assert texts["after"] == texts["again"] == {"a.py": "new", "b.py": "same", "run.sh": "x"}


# Where things are


def test_script_working_directory_and_search_path_are_mapped(tmp_path: Path) -> None:
    written(tmp_path, {"proj/scripts/run.py": "", "proj/src/pkg/m.py": "", "proj/data/x": ""})
    with Workspace(str(tmp_path / "proj"), NOTHING, cwd=str(tmp_path / "proj/data"), target="../scripts/run.py") as workspace:
        root = workspace.root("after")
        assert os.path.basename(root) == "proj"
        assert workspace.cwd("after") == f"{root}/data"
        assert workspace.target("after") == "../scripts/run.py"
        assert workspace.search("after") == (f"{root}/scripts", f"{root}/data", root, f"{root}/src")
        assert workspace.root("before") != root


def test_a_working_directory_above_the_tree_stays_above_it(tmp_path: Path) -> None:
    written(tmp_path, {"proj/run.py": "", "proj/setup.py": "", "unrelated.txt": ""})
    with Workspace(str(tmp_path / "proj"), NOTHING, cwd=str(tmp_path), target="proj/run.py") as workspace:
        assert workspace.target("before") == "proj/run.py"
        assert listing(workspace.cwd("before")) == ["proj/run.py", "proj/setup.py"]


def test_a_working_directory_elsewhere_is_an_empty_folder(tmp_path: Path) -> None:
    written(tmp_path, {"proj/run.py": "", "else/where/file": ""})
    target = os.path.relpath(tmp_path / "proj/run.py", tmp_path / "else/where")
    with Workspace(str(tmp_path / "proj"), NOTHING, cwd=str(tmp_path / "else/where"), target=target) as workspace:
        assert os.listdir(workspace.cwd("after")) == []
        assert os.path.isfile(os.path.join(workspace.cwd("after"), workspace.target("after")))


def test_a_module_needs_no_script(tmp_path: Path) -> None:
    written(tmp_path, {"pkg/__main__.py": ""})
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path)) as workspace:
        assert workspace.search("after") == (workspace.root("after"),)


# Inputs


def test_inputs_are_where_the_program_looks_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy, "MAX_FILE", 100)
    written(
        tmp_path,
        {
            "proj/run.py": "",
            "proj/.gitignore": "data\nbig.bin\n",
            "proj/data/small": "s",
            "proj/big.bin": "x" * 200,
            "shared/w/v": "w",
        },
    )
    git(tmp_path / "proj", "init")
    inputs = ["data", "big.bin", "../shared"]
    with Workspace(str(tmp_path / "proj"), NOTHING, cwd=str(tmp_path / "proj"), target="run.py", inputs=inputs) as workspace:
        for name in RUNS:
            cwd = Path(workspace.cwd(name))
            assert (cwd / "data/small").read_text() == "s"
            assert (cwd / "../shared/w/v").read_text() == "w"
            assert (cwd / "big.bin").is_symlink()
            assert len((cwd / "big.bin").read_text()) == 200
        assert workspace.left_out == []
        (Path(workspace.cwd("before")) / "data/small").write_text("changed")
    assert (tmp_path / "proj/data/small").read_text() == "s"


# Nothing is left, nothing is touched

PROGRAM = """
import os, shutil, pathlib
here = pathlib.Path(__file__).resolve().parent
(here / "out.txt").write_text("result")
(here / "data.txt").write_text("overwritten")
with open("data.txt", "a") as file:
    file.write("appended")
os.chmod(here / "data.txt", 0)
os.chmod(here / "lib", 0o500)
os.unlink(here / "gone.txt")
shutil.rmtree(here / "folder")
os.rename("moved.txt", "elsewhere.txt")
os.utime("lib/m.py", (1, 1))
os.makedirs("locked/inner")
(here / "locked/inner/f").write_text("")
os.chmod(here / "locked/inner", 0)
"""


def test_the_users_tree_is_untouched_and_the_copies_are_gone(tmp_path: Path) -> None:
    names = {"data.txt": "data", "gone.txt": "", "folder/a": "", "moved.txt": "", "lib/m.py": "x = 1\n"}
    tree = written(tmp_path / "tree", {"run.py": PROGRAM, **names})
    (tree / "folder/link").symlink_to("../data.txt")
    before = fingerprint(tree)
    with Workspace(str(tree), NOTHING, cwd=str(tree), target="run.py") as workspace:
        for name in RUNS:
            subprocess.run([sys.executable, workspace.target(name)], cwd=workspace.cwd(name), check=True)
            assert "out.txt" in os.listdir(workspace.root(name))
        top = os.path.dirname(os.path.dirname(workspace.root("before")))
        assert os.path.isdir(top)
    assert not os.path.exists(top)
    assert fingerprint(tree) == before


def test_one_run_does_not_see_what_another_wrote(tmp_path: Path) -> None:
    written(tmp_path, {"state.txt": "first"})
    with Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path)) as workspace:
        Path(workspace.root("after"), "state.txt").write_text("second")
        assert [Path(workspace.root(n), "state.txt").read_text() for n in RUNS] == ["first", "second", "first"]


def test_copies_are_gone_after_an_error(tmp_path: Path) -> None:
    written(tmp_path, {"a.py": ""})
    workspace = Workspace(str(tmp_path), NOTHING, cwd=str(tmp_path))
    with pytest.raises(KeyboardInterrupt), workspace:
        raise KeyboardInterrupt
    assert not os.path.exists(workspace.root("before"))


def test_nothing_is_left_when_copying_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "tree", {"a.py": ""})
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    plan = Plan((), (), after={"a.py/impossible": b""})
    with pytest.raises(OSError, match=r"a\.py"), Workspace(str(tmp_path / "tree"), plan, cwd=str(tmp_path / "tree")):
        pass
    assert os.listdir(temporary) == []
