"""Many files: order, isolation, pools that break, and files that are better left alone.

The engine is a stand-in that does what a file's first word says, so that a file can kill its worker.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from jaxmigrate import project, runner
from jaxmigrate.model import FileResult, ProjectIndex, Settings, Status, Version

SETTINGS = Settings(Version((0, 12)))
Files = list[tuple[str, str]]
Write = Callable[..., Files]


def rewrite_source(data: bytes, settings: Settings, *, path: str, index: ProjectIndex | None = None, **_: object) -> FileResult:
    word = data.split()[1] if len(data.split()) > 1 else b""
    if word == b"kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == b"bug":
        raise ZeroDivisionError("at\nline 3")
    if word == b"memory":
        raise MemoryError
    if word == b"deep":
        raise RecursionError
    if word == b"sleep":
        time.sleep(60)
    if word == b"old":
        return FileResult(path, Status.REWRITTEN, data, data.replace(b"old", b"new"))
    if word == b"taken":
        return FileResult(path, Status.SKIPPED, reason=repr(sorted((index or ProjectIndex()).consumed.items())))
    return FileResult(path, Status.UNCHANGED)


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("jaxmigrate.engine")
    fake.rewrite_source = rewrite_source  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jaxmigrate.engine", fake)
    monkeypatch.setattr(runner, "prefilter", lambda data: b"jax" in data)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def files(**contents: str) -> Files:
        made = []
        for name, text in contents.items():
            path = tmp_path / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            made.append((str(path), "python"))
        return made

    return files


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use workers even for a few small files, two files to a chunk."""
    monkeypatch.setattr(runner, "PARALLEL_BYTES", 2)
    monkeypatch.setattr(runner, "_CHUNK_FILES", 2)


def outcomes(results: Iterator[FileResult]) -> list[tuple[str, str]]:
    return [(Path(result.path).stem, result.reason or result.status.value) for result in results]


def run(files: Files, jobs: int | None = 2, write: bool = False) -> list[tuple[str, str]]:
    return outcomes(runner.run(files, SETTINGS, jobs=jobs, write=write))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("pool")
def test_results_come_in_order(write: Write, jobs: int) -> None:
    files = write(**{f"f{n:02}": "jax old" for n in range(30)})
    assert run(files, jobs) == [(f"f{n:02}", "rewritten") for n in range(30)]


def test_files_without_a_trace_have_no_result(write: Write) -> None:
    assert run(write(a="import os", b="jax x", c="")) == [("b", "unchanged")]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("pool")
def test_a_bug_costs_one_file(write: Write, jobs: int) -> None:
    results = run(write(a="jax old", b="jax bug", c="jax memory", d="jax deep", e="jax old"), jobs)
    assert results[0] == ("a", "rewritten")
    assert results[1][1].startswith("internal error: ZeroDivisionError: at line 3 (test_runner.py:")
    assert results[2:] == [("c", "needs more memory than there is"), ("d", "is nested too deeply"), ("e", "rewritten")]


def test_unreadable_file_is_one_failed_result(write: Write) -> None:
    files = write(a="jax old", b="jax old")
    os.unlink(files[0][0])
    assert run(files) == [("a", "cannot be read: no such file or directory"), ("b", "rewritten")]


def test_folder_among_the_files_is_one_failed_result(write: Write, tmp_path: Path) -> None:
    assert run([(str(tmp_path), "python"), *write(b="jax old")])[0][1] == "cannot be read: is a directory"


@pytest.mark.usefixtures("pool")
def test_killed_worker_costs_the_file_that_did_it_and_no_other(write: Write) -> None:
    contents = {f"f{n:02}": "jax old" for n in range(20)}
    contents["f07"] = "jax kill"
    results = dict(run(write(**contents)))
    assert results.pop("f07") == "worker died on it (killed, or out of memory)"
    assert list(results) == sorted(results)
    assert set(results.values()) == {"rewritten"}


@pytest.mark.usefixtures("pool")
def test_every_file_may_kill_its_worker(write: Write) -> None:
    results = run(write(**{f"f{n}": "jax kill" for n in range(4)}))
    assert [reason for _, reason in results] == ["worker died on it (killed, or out of memory)"] * 4


@pytest.mark.usefixtures("pool")
def test_run_that_is_given_up_leaves_no_worker(write: Write) -> None:
    results = runner.run(write(a="jax old", b="jax old", c="jax sleep", d="jax sleep"), SETTINGS, jobs=2)
    assert next(results).status is Status.REWRITTEN
    results.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 50
    while children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert children() == []


def children() -> Sequence[int]:
    import multiprocessing

    return [process.pid or 0 for process in multiprocessing.active_children()]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("pool")
def test_only_writing_runs_write(write: Write, jobs: int) -> None:
    files = write(a="jax old", b="jax x", c="jax old")
    list(runner.run(files, SETTINGS, jobs=jobs))
    assert Path(files[0][0]).read_text() == "jax old"
    results = list(runner.run(files, SETTINGS, jobs=jobs, write=True))
    assert [result.written for result in results] == [True, False, True]
    assert [Path(path).read_text() for path, _ in files] == ["jax new", "jax x", "jax new"]


def test_file_that_cannot_be_written_fails_alone(write: Write) -> None:
    files = write(a="jax old", b="jax old")
    os.chmod(files[0][0], 0o444)
    assert run(files, write=True) == [("a", "was not written: it is read-only"), ("b", "rewritten")]
    assert Path(files[0][0]).read_text() == "jax old"


def test_file_that_changes_between_reading_and_writing_is_not_overwritten(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write(a="jax old")

    def slow(data: bytes, settings: Settings, *, path: str, **_: object) -> FileResult:
        Path(path).write_text("edited meanwhile")
        return FileResult(path, Status.REWRITTEN, data, b"new")

    monkeypatch.setattr(sys.modules["jaxmigrate.engine"], "rewrite_source", slow)
    assert run(files, write=True) == [("a", "was not written: it changed since it was read")]
    assert Path(files[0][0]).read_text() == "edited meanwhile"


def test_generated_file_is_not_parsed(write: Write) -> None:
    huge = "x = 1\n" * 3_500_000
    results = run(write(a="jax old", b="# jax\n" + huge, c=huge))
    assert results == [("a", "rewritten"), ("b", "21.0 MB is too large to parse (limit 5 MB); exclude it if it is generated")]


def test_small_trees_get_no_workers(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_parallel", None)
    assert len(run(write(**{f"f{n}": "jax old" for n in range(50)}), jobs=8)) == 50


def test_progress_counts_reading_then_rewriting(write: Write) -> None:
    calls: list[tuple[int, int]] = []
    list(runner.run(write(a="jax old", b="x", c="jax x"), SETTINGS, progress=lambda done, total: calls.append((done, total))))
    assert calls == [(0, 3), (0, 2), (1, 2)]


LEGACY = "import jax\nfrom jax.numpy import DeviceArray"


def test_who_takes_a_name_is_asked_of_the_whole_project(write: Write, tmp_path: Path) -> None:
    """A pre-commit hook passes one file; that another one imports a name from it must be known all the same."""
    (tmp_path / "pyproject.toml").touch()
    files = write(**{"p/__init__": "", "p/compat": "jax taken\n" + LEGACY, "tests/test_p": "from p.compat import DeviceArray\n"})
    assert run(files[1:2]) == [("compat", "[('p.compat', frozenset({'DeviceArray'}))]")]


def test_script_is_asked_about_in_its_folder_only(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write(
        compat="jax taken\n" + LEGACY, user="from compat import DeviceArray\n", **{"sub/other": "from compat import X\n"}
    )
    monkeypatch.setattr(project, "discover", None)
    assert run(files[:1]) == [("compat", "[('compat', frozenset({'DeviceArray'}))]")]


def test_large_tree_is_searched_for_foreign_words_only_where_jax_is(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(runner, "_MANY", 3)
    monkeypatch.setattr(runner, "prefilter", lambda data: True)
    contents = {
        "p/a": "DeviceArray",
        "p/b": "JAX_ARRAY",
        "p/c": "jax",
        "p/d": "DeviceArray",
        "p/e": "x",
        "q/a": "DeviceArray",
        "r": "JAX_",
    }
    files = write(**contents)
    assert [path for path, _ in run(files)] == ["a", "b", "c", "d", "r"]
    assert [path for path, _ in run(files[-2:])] == ["a", "r"]
    (tmp_path / "pyproject.toml").touch()
    assert [path for path, _ in run(files)] == ["a", "b", "c", "d", "a", "r"]


def test_project_is_not_searched_for_a_file_that_stays_as_it_is(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write(**{"p/__init__": "", "p/compat": LEGACY, "p/user": "from .compat import other\n"})
    monkeypatch.setattr(project, "discover", None)
    survey = runner.look(files[2:], named={files[2][0]})
    assert survey.hits == []
