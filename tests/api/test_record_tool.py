"""The tool that records a release: on a tiny package, and on the installed JAX."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import jaxmigrate_codemods
from jaxmigrate.history import Entry, History, Range
from jaxmigrate.model import Version
from tools.record_jax_api import (
    HISTORY,
    OF_OBJECTS,
    PRIVATE,
    RECORDINGS,
    Recording,
    advanced,
    interpreter,
    news,
    read,
    rendered,
    requirements,
    sections,
    walk,
    write,
)

TINY = {
    "__init__.py": """
        import math
        import warnings
        from tiny import shapes
        from tiny.shapes import area as area
        __version__ = "1.1"
        limit = 3
        def grow(x, by=1, *, times: int = 2): ...
        class Box:
            def __init__(self, side): ...
        def __getattr__(name):
            if name == "old_area":
                warnings.warn("tiny.old_area is deprecated: use tiny.area", DeprecationWarning, stacklevel=2)
                return area
            if name == "older_area":
                raise AttributeError("tiny.older_area was removed: use tiny.area")
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        """,
    "shapes.py": "def area(side): ...\n_hidden = 1\n",
    "broken.py": "import no_such_library\nfrom fractions import Fraction\ndef lonely(): ...\nif True:\n    both = 1\n",
    "_private.py": "def inner(): ...\nfrom tiny.shapes import *\n",
    "shapes_test.py": "raise RuntimeError('never imported')\n",
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    import textwrap

    folder = tmp_path_factory.mktemp("packages")
    (folder / "tiny").mkdir()
    for name, text in TINY.items():
        (folder / "tiny" / name).write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return walk(sys.executable, "tiny", str(folder))


def test_names_with_kind_and_signature(tiny: Recording) -> None:
    names = tiny["modules"]["tiny"]
    assert names["grow"] == ["f(x, by=1, *, times=2)"]
    assert names["Box"] == ["c(side)"]
    assert names["limit"] == ["v"]
    assert names["shapes"] == ["m"]
    assert tiny["modules"]["tiny.shapes"] == {"area": ["f(side)"]}


def test_imports_of_other_libraries_are_marked(tiny: Recording) -> None:
    assert tiny["modules"]["tiny"]["math"] == ["x"]


def test_deprecations_are_read_by_reading_the_name(tiny: Recording) -> None:
    names = tiny["modules"]["tiny"]
    assert names["old_area"][1:] == ["~tiny.old_area is deprecated: use tiny.area"]
    assert names["older_area"] == ["-", "tiny.older_area was removed: use tiny.area"]
    assert "has no attribute" not in str(names)


def test_a_module_that_cannot_be_imported_is_read_from_its_source(tiny: Recording) -> None:
    assert tiny["failed"] == {"tiny.broken": "ModuleNotFoundError"}
    assert tiny["modules"]["tiny.broken"] == {"Fraction": ["sx"], "both": ["s"], "lonely": ["s"], "no_such_library": ["sx"]}


def test_private_modules_are_listed_apart_and_tests_not_at_all(tiny: Recording) -> None:
    assert tiny["private"] == {"tiny._private": ["*", "inner"]}
    assert "tiny.shapes_test" not in tiny["modules"]


def test_a_recording_is_the_same_each_time(tiny: Recording, tmp_path: Path) -> None:
    first = write({**tiny, "version": "1.1"}, tmp_path / "a").read_bytes()
    again = write(dict(reversed({**tiny, "version": "1.1"}.items())), tmp_path / "b").read_bytes()
    assert first == again
    assert read(tmp_path / "a" / "1.1.json.gz")["modules"] == tiny["modules"]


OLD = """\
# A head.
versions 0.9.0 1.0.0
[]
tiny 0.9.0- =module
[members of tiny.Box]
lid 0.9.0-1.0.0
[tiny]
back 0.9.0-0.9.0
grow 0.9.0-
limit 1.0.0- ~1.0.0
lost 0.9.0-
old_area 0.9.0-
shapes 0.9.0- =module
[tiny.broken]
served 0.9.0-
[tiny.shapes]
area 0.9.0-
"""


def next_release(names: dict[str, list[str]]) -> Recording:
    shapes = {"area": ["f(side)"]}
    modules = {"tiny": {**names, "shapes": ["m"]}, "tiny.shapes": shapes, "tiny.broken": {}}
    return {"version": "1.1.0", "modules": modules, "failed": {"tiny.broken": "ImportError"}, "flags": [], "open": []}


def test_the_history_advances_by_one_release() -> None:
    history = History((OLD,))
    recording = next_release({"grow": ["f(x)"], "limit": ["v"], "back": ["v"], "old_area": ["f()", "~old"], "Crate": ["c()"]})
    after = advanced(sections(history), recording, Version.parse("1.0.0"))
    text = rendered(after, (*history.versions, Version.parse("1.1.0")), OLD)
    assert text.splitlines() == [
        "# A head.",
        "versions 0.9.0 1.0.0 1.1.0",
        "[]",
        "tiny 0.9.0- =module",
        "[members of tiny.Box]",
        "lid 0.9.0-1.0.0",
        "[tiny]",
        "Crate 1.1.0- =class",
        "back 0.9.0-0.9.0,1.1.0-",
        "grow 0.9.0-",
        "limit 1.0.0-",
        "lost 0.9.0-1.0.0",
        "old_area 0.9.0- ~1.1.0",
        "shapes 0.9.0- =module",
        "[tiny.broken]",
        "served 0.9.0-",
        "[tiny.shapes]",
        "area 0.9.0-",
    ]


def test_the_news_of_a_release_say_what_lacks_advice() -> None:
    history = History((OLD,), ("[boxes]\ntiny.old_area\tmove\ttiny.area@0.9.0\n",))
    before = sections(history)
    after = advanced(
        before, next_release({"grow": ["f(x)"], "old_area": ["f()", "~old"], "Crate": ["c()"]}), Version.parse("1.0.0")
    )
    told = list(news(before, after, Version.parse("1.1.0"), history))
    assert "new         tiny.Crate" in told
    assert "gone        tiny.lost   (no advice in successors.tsv)" in told
    assert "deprecated  tiny.old_area" in told
    assert not any("grow" in line or "served" in line for line in told)


def test_the_history_is_rendered_as_it_stands() -> None:
    text = HISTORY.read_text("utf-8")
    history = History((text,))
    assert rendered(sections(history), history.versions, text) == text


def test_old_releases_get_an_old_numpy_and_a_python_that_runs_them() -> None:
    assert "numpy<2" in requirements("0.4.13")
    assert "numpy<2" not in requirements("0.4.26")
    assert requirements("0.12.1")[:2] == ["jax==0.12.1", "jaxlib==0.12.1"]
    assert Path(interpreter("0.12.1")).exists()


@pytest.fixture(scope="module")
def installed() -> Recording:
    pytest.importorskip("jax")
    return walk(sys.executable)


def test_the_walk_of_the_installed_jax_agrees_with_its_recording(installed: Recording) -> None:
    path = RECORDINGS / f"{installed['version']}.json.gz"
    if not path.exists():
        pytest.skip(f"JAX {installed['version']} is not on record")
    stored = read(path)
    both = [m for m in stored["modules"] if m not in {*installed["failed"], *stored["failed"], "jax.config"}]
    assert len(both) > 100
    for module in both:
        assert installed["modules"][module].keys() == stored["modules"][module].keys(), module
    signatures = [(m, n) for m in both for n, e in stored["modules"][m].items() if e[0][0] in "fc"]
    same = sum(installed["modules"][m][n] == stored["modules"][m][n] for m, n in signatures)
    assert same > 0.97 * len(signatures)


def test_private_names_are_those_of_the_newest_release(installed: Recording) -> None:
    if installed["version"] != jaxmigrate_codemods.NEWEST:
        pytest.skip("not the newest JAX")
    assert installed["private"] == read(PRIVATE)


def until(names: dict[str, Entry], last: Version) -> dict[str, Entry]:
    """The lines of a section as they stood at an older release."""
    found = {}
    for name, entry in names.items():
        ranges = tuple(
            Range(r.first, r.last if r.last is not None and r.last < last else None) for r in entry.ranges if r.first <= last
        )
        deprecated = entry.deprecated if entry.deprecated is not None and entry.deprecated <= last else None
        if ranges:
            found[name] = Entry(entry.symbol, ranges, deprecated, entry.kinds)
    return found


def test_the_last_release_could_have_been_added_by_the_tool() -> None:
    """The history up to 0.11.2, advanced by the recording of the newest, is the history of today."""
    today = sections(History((HISTORY.read_text("utf-8"),)))
    last, newest = Version.parse("0.11.2"), RECORDINGS / f"{jaxmigrate_codemods.NEWEST}.json.gz"
    before = {section: cut for section, names in today.items() if (cut := until(names, last))}
    after = advanced(before, read(newest), last)
    assert before != after
    assert {s: set(n) for s, n in after.items()} == {s: set(n) for s, n in today.items()}
    for section in today.keys() - {s for s in today if s.startswith(OF_OBJECTS)}:
        for name, entry in today[section].items():
            mine = after[section][name]
            assert (mine.alive, mine.last) == (entry.alive, entry.last), entry.symbol
            if "call" not in entry.kinds and "open" not in entry.kinds:
                assert (mine.deprecated is None) == (entry.deprecated is None), entry.symbol
