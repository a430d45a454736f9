"""The tool that records a release: on a tiny package, and on the installed JAX."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import jaxmigrate_codemods
from jaxmigrate.history import Entry, History, Range
from jaxmigrate.model import Version
from jaxmigrate.registry import load
from tools.record_jax_api import (
    HISTORY,
    OF_OBJECTS,
    PRIVATE,
    RECORDINGS,
    Recording,
    advanced,
    corrected,
    disagreements,
    gained,
    interpreter,
    keywords,
    news,
    read,
    rendered,
    requirements,
    sections,
    stored,
    walk,
    write,
)
from tools.walk_jax_api import _bound_names

TINY = {
    "__init__.py": """
        import enum
        import math
        import warnings
        from tiny import shapes
        from tiny.shapes import area as area
        __version__ = "1.1"
        limit = 3
        def grow(x, by=1, *, times: int = 2): ...
        class Box:
            lid = None
            def __init__(self, side):
                self.side = side
                object.__setattr__(self, "weight", 1)
            def _open(self): ...
        class Crate(Box):
            label: str
            def __getattr__(self, name): ...
        class Size(enum.Enum):
            SMALL = 1
        def __getattr__(name):
            if name == "old_area":
                warnings.warn("tiny.old_area is deprecated: use tiny.area", DeprecationWarning, stacklevel=2)
                return area
            if name == "older_area":
                raise AttributeError("tiny.older_area was removed: use tiny.area")
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        """,
    "shapes.py": "def area(side): ...\n_hidden = 1\n",
    "broken.py": "import no_such_library\nfrom fractions import Fraction\ndef lonely(): ...\nif True:\n    both = _one = 1\n",
    "_private.py": "def inner(): ...\nfrom tiny.shapes import *\n",
    "_bindings.py": """
        table = {}
        table[key] = [word for word in ()]
        first, (second, *rest) = 1, (2, 3)
        while (found := next(iter(()), None)):
            looped = 1
        try:
            tried = 1
        except ValueError as error:
            failed = 1
        for step in ():
            with open(step) as file:
                size: int = 1
        class Inner:
            member = 1
        def outer():
            local = 1
        """,
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
    assert tiny["private"]["tiny._private"] == ["*", "inner"]
    assert "tiny.shapes_test" not in tiny["modules"]


def test_what_a_private_module_binds_is_read_from_its_source(tiny: Recording) -> None:
    bound = {"table", "first", "second", "rest", "found", "looped", "tried", "failed", "step", "file", "size", "Inner", "outer"}
    assert set(tiny["private"]["tiny._bindings"]) == bound


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a statement of Python 3.12")
def test_aliases_of_types_are_bound(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text("type Pair[T] = tuple[T, T]\n")
    assert _bound_names(source) == ({"Pair"}, set())


def test_private_names_of_public_modules_are_listed_too(tiny: Recording) -> None:
    private = {name: names for name, names in tiny["private"].items() if not name.startswith("tiny._")}
    assert private == {"tiny": [], "tiny.broken": ["_one"], "tiny.shapes": ["_hidden"]}


def test_members_are_those_of_objects_too(tiny: Recording) -> None:
    members = {name: set(names) for name, names in tiny["members"].items()}
    assert members["tiny.Box"] == {"lid", "side", "weight"}
    assert members["tiny.Size"] == {"SMALL", "name", "value"}


def test_a_class_that_makes_up_answers_is_marked(tiny: Recording) -> None:
    assert set(tiny["members"]["tiny.Crate"]) == {"*", "label", "lid", "side", "weight"}


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


def next_release(names: dict[str, list[str]], members: dict[str, list[str]] | None = None, version: str = "1.1.0") -> Recording:
    shapes = {"area": ["f(side)"]}
    modules = {"tiny": {**names, "shapes": ["m"]}, "tiny.shapes": shapes, "tiny.broken": {}}
    rest = {"failed": {"tiny.broken": "ImportError"}, "flags": [], "open": [], "members": members or {}}
    return {"version": version, "modules": modules, **rest}


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


@pytest.mark.parametrize(
    ("signature", "wanted"),
    [
        ("f(x, by=1, *, times=2)", {"x", "by", "times"}),
        ("f(x, /, y=',', *args, z=(1, [2, '(']), w=<f at>)", {"y", "z", "w"}),
        ("f(x, y=Type(varying=frozenset(), u..., z='a long text, and..., w='...', v=(1, ...))", {"x", "y", "z", "w", "v"}),
        ("c()", set()),
        ("f(x, **options)", None),
        ("f", None),
        ("v", None),
        ("", None),
    ],
)
def test_what_a_function_takes_by_keyword(signature: str, wanted: set[str] | None) -> None:
    assert keywords(next_release({"grow": [signature]}), "tiny.grow") == wanted


def test_keywords_that_a_function_lost() -> None:
    older = [
        next_release({"grow": ["f(x, by, /, at)"]}, version="1.0.0"),
        next_release({"grow": ["f(x, at, by)"]}, version="0.9.0"),
    ]
    newer = next_release({"grow": ["f(y, at, /, *, to=None)"]})
    after = advanced(sections(History((OLD,))), newer, Version.parse("1.0.0"), older)
    lost = after["parameters of tiny.grow"]
    assert {name: [str(r.first) for r in entry.ranges] for name, entry in lost.items()} == {"at": ["0.9.0"]}


def test_members_that_a_class_gained_are_listed() -> None:
    older = next_release({}, {"tiny.Box": ["side"], "tiny.Crate": ["*", "label"]}, "1.0.0")
    newer = next_release({}, {"tiny.Box": ["*", "lid", "side"], "tiny.Crate": ["label", "lid"], "tiny.Bin": ["lid"]})
    assert list(gained(newer, older)) == ["new member  tiny.Box.lid"]


def test_questions_that_tell_releases_apart_ask_for_members_on_record() -> None:
    recordings = [(Version.parse(path.name.removesuffix(".json.gz")), read(path)) for path in RECORDINGS.glob("*.json.gz")]
    for name, since in load().facts.news.items():
        assert any(name in names for v, r in recordings if v >= since for names in r["members"].values()), name


OLDER = [
    next_release({}, {"tiny.Box": ["side", "weight"], "tiny.Crate": ["label"], "tiny.Bin": ["lid"]}, "1.0.0"),
    next_release({}, {"tiny.Box": ["side"]}, "0.9.0"),
]


@pytest.mark.parametrize(
    ("members", "lost"),
    [
        pytest.param({"tiny.Box": ["side", "weight"]}, {"lid": "0.9.0-1.0.0"}, id="nothing"),
        pytest.param({"tiny.Box": ["weight"]}, {"lid": "0.9.0-1.0.0", "side": "0.9.0-1.0.0"}, id="one-of-two-releases"),
        pytest.param({"tiny.Box": ["side"]}, {"lid": "0.9.0-1.0.0", "weight": "1.0.0-1.0.0"}, id="one-of-the-last-release"),
        pytest.param({"tiny.Box": ["*"]}, {"lid": "0.9.0-1.0.0"}, id="a-class-that-makes-up-answers"),
        pytest.param({}, {"lid": "0.9.0-1.0.0"}, id="a-class-that-is-gone"),
        pytest.param({"tiny.Box": ["lid", "side", "weight"]}, {}, id="one-that-exists-after-all"),
        pytest.param({"tiny.Box": ["lid", "weight"]}, {"side": "0.9.0-1.0.0"}, id="one-lost-and-one-that-exists-after-all"),
    ],
)
def test_members_that_a_class_lost(members: dict[str, list[str]], lost: dict[str, str]) -> None:
    after = advanced(sections(History((OLD,))), next_release({}, members), Version.parse("1.0.0"), OLDER)
    names = after.get("members of tiny.Box", {})
    assert {n: ",".join(f"{r.first}-{r.last}" for r in e.ranges) for n, e in names.items()} == {
        name: "-".join(str(Version.parse(v)) for v in life.split("-")) for name, life in lost.items()
    }


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
    after = advanced(before, read(newest), last, list(stored(Version.parse(jaxmigrate_codemods.NEWEST))))
    assert before != after
    assert {s: set(n) for s, n in after.items()} == {s: set(n) for s, n in today.items()}
    for section in today.keys() - {s for s in today if s.startswith(OF_OBJECTS[1])}:
        for name, entry in today[section].items():
            mine = after[section][name]
            assert (mine.alive, mine.last) == (entry.alive, entry.last), entry.symbol
            if "call" not in entry.kinds and "open" not in entry.kinds:
                assert (mine.deprecated is None) == (entry.deprecated is None), entry.symbol


def test_the_newest_release_recorded_once_more_changes_nothing() -> None:
    text, recording = HISTORY.read_text("utf-8"), read(RECORDINGS / f"{jaxmigrate_codemods.NEWEST}.json.gz")
    history = History((text,))
    assert list(disagreements(history, recording)) == []
    assert rendered(corrected(sections(history), recording), history.versions, text) == text
