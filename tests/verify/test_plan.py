"""Plans: each edit has its places, whoever made it; and which files a program loads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jaxmigrate.model import Outcome, Position, Settings
from jaxmigrate.registry import known_newest
from jaxmigrate.verify import copy
from jaxmigrate.verify.model import Edit, Kind, Plan, Program, Site
from jaxmigrate.verify.plan import PlanError, loaded_scope, only, plan_against, plan_rewrite, plan_texts
from tests.fixture_cases import CASES, FIXTURES, Case, rewrite

NEWEST = Settings(known_newest())


def written(top: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def places(plan: Plan) -> dict[str, list[str]]:
    """What each edit says it replaces, and the text of its places."""
    by_id = {site.id: site for site in plan.sites}
    return {f"{e.path}:{e.line}": [_said(by_id[i]) for i in e.sites] for e in plan.edits}


def _said(site: Site) -> str:
    before, after = (text.split("\n")[0] or "nothing" for text in (site.before_text, site.after_text))
    return f"{site.kind.value}: {before} -> {after}"


# Our own edits


def test_edits_are_the_findings_that_were_applied(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "a.py": "import jax\nimport jax.numpy as jnp\n\n\ndef f(x: jnp.DeviceArray):\n    return isinstance(x, jnp.DeviceArray)\n"
        },
    )
    (tmp_path / "pkg").mkdir()
    written(tmp_path, {"pkg/b.py": "import jax\nx = jax.numpy.ones(3)\nprint('é', x.to_py())\n"})
    plan = plan_rewrite(str(tmp_path), NEWEST)
    assert [(e.id, e.path, e.line, e.column, e.codemod) for e in plan.edits] == [
        (1, "a.py", 5, 9, "device-array"),
        (2, "a.py", 6, 25, "device-array"),
        (3, "pkg/b.py", 3, 11, "array-attributes"),
    ]
    assert (plan.edits[1].before, plan.edits[1].after) == ("jnp.DeviceArray", "jax.Array")
    assert places(plan) == {
        "a.py:5": ["annotation: jnp.DeviceArray -> jax.Array"],
        "a.py:6": ["value: isinstance(x, jnp.DeviceArray) -> isinstance(x, jax.Array)"],
        "pkg/b.py:3": ["value: x.to_py() -> np.asarray(x)"],
    }
    assert plan.before["a.py"] == (tmp_path / "a.py").read_bytes()
    assert b"jax.Array" in plan.after["a.py"]
    assert b"DeviceArray" in (tmp_path / "a.py").read_bytes()


def test_findings_that_were_not_applied_are_no_edits(tmp_path: Path) -> None:
    written(tmp_path, {"a.py": "import jax.numpy as jnp\nx = jnp.DeviceArray  # jaxmigrate: ignore\ny = jnp.DeviceArray\n"})
    assert places(plan_rewrite(str(tmp_path), NEWEST)) == {"a.py:3": ["value: jnp.DeviceArray -> jax.Array"]}


def test_only_files_below_the_paths_are_rewritten(tmp_path: Path) -> None:
    text = "import jax.numpy as jnp\nx = jnp.DeviceArray\n"
    written(tmp_path, {"a.py": text, "pkg/b.py": text, "pkg/skip/c.py": text, "bad.py": "def f(:\n  jnp.DeviceArray\n"})
    everything = plan_rewrite(str(tmp_path), NEWEST)
    assert set(places(everything)) == {"a.py:2", "pkg/b.py:2", "pkg/skip/c.py:2"}
    assert [path for path, _ in everything.problems] == ["bad.py"]
    below = plan_rewrite(str(tmp_path), NEWEST, paths=[str(tmp_path / "pkg")], exclude=["skip/"], base=str(tmp_path))
    assert set(places(below)) == {"pkg/b.py:2"}


def test_of_a_folder_that_may_be_anything_the_nearest_files_are_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy, "MAX_LOOSE", 2)
    text = "import jax.numpy as jnp\nx = jnp.DeviceArray\n"
    written(tmp_path, {"a.py": text, "b.py": text, "far/c.py": text})
    assert set(places(plan_rewrite(str(tmp_path), NEWEST))) == {"a.py:2", "b.py:2"}
    written(tmp_path, {"pyproject.toml": ""})
    assert set(places(plan_rewrite(str(tmp_path), NEWEST))) == {"a.py:2", "b.py:2", "far/c.py:2"}


def test_an_edit_outside_of_the_tree_is_said(tmp_path: Path) -> None:
    text = "import jax.numpy as jnp\nx = jnp.DeviceArray\n"
    written(tmp_path, {"tree/a.py": text, "other/b.py": text})
    plan = plan_rewrite(str(tmp_path / "tree"), NEWEST, paths=[str(tmp_path)])
    assert set(places(plan)) == {"a.py:2"}
    assert "not part of the tree" in plan.problems[0][1]


def test_an_import_belongs_to_its_own_edit_only(tmp_path: Path) -> None:
    before = "from jax.experimental.maps import Mesh\nimport jax.numpy as jnp\nx = isinstance(y, jnp.DeviceArray)\n"
    written(tmp_path, {"a.py": before})
    found = places(plan_rewrite(str(tmp_path), NEWEST))
    assert found["a.py:1"] == ["statement: from jax.experimental.maps import Mesh -> import jax"]  # and more lines
    assert found["a.py:3"] == ["value: isinstance(y, jnp.DeviceArray) -> isinstance(y, jax.Array)"]


def test_a_folded_branch_is_the_place_of_all_edits_in_it(tmp_path: Path) -> None:
    before = "import jax\nif jax.config.jax_array:\n    x = jax.numpy.ones(2)\nelse:\n    x = None\n"
    written(tmp_path, {"a.py": before})
    (edit,) = plan_rewrite(str(tmp_path), NEWEST).edits
    plan = plan_rewrite(str(tmp_path), NEWEST)
    (site,) = (s for s in plan.sites if s.id in edit.sites)
    assert (site.kind, site.names) == (Kind.STATEMENT, ("x",))


def test_an_edited_comment_has_the_statement_beside_it_as_its_place(tmp_path: Path) -> None:
    before = (
        "import jax\nimport jax.numpy as jnp\n\n\ndef f(x):\n    # type: (jnp.DeviceArray) -> jnp.DeviceArray\n    return x\n"
    )
    written(tmp_path, {"a.py": before})
    plan = plan_rewrite(str(tmp_path), NEWEST)
    assert plan.edits
    spans = {(s.kind, s.before.line) for s in plan.sites if s.before is not None}
    assert all(edit.sites for edit in plan.edits)
    assert (Kind.STATEMENT, 5) in spans


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_edits_and_places_of_a_fixture_belong_together(case: Case, tmp_path: Path) -> None:
    (tmp_path / "before.py").write_bytes(case.before)
    plan = plan_rewrite(str(tmp_path), case.settings)
    assert plan.after == ({"before.py": case.after} if case.before != case.after else {})
    ids = {site.id for site in plan.sites if site.kind is not Kind.WATCH}
    for edit in plan.edits:
        assert edit.sites, edit
        assert set(edit.sites) <= ids
    recorded = {site.before or site.after for site in plan.sites}
    for site in plan_texts(case.before, case.after).sites:
        is_import = (site.before_text or site.after_text).startswith(("import ", "from "))
        assert site.kind is Kind.WATCH or is_import or (site.before or site.after) in recorded, site


@pytest.mark.parametrize("case", CASES[::9], ids=lambda case: case.id)
def test_edits_of_a_fixture_are_the_findings_that_were_applied(case: Case, tmp_path: Path) -> None:
    (tmp_path / "before.py").write_bytes(case.before)
    applied = [f for f in rewrite(case.before, case).findings if f.outcome is Outcome.APPLIED]
    edits = plan_rewrite(str(tmp_path), case.settings).edits
    assert [(e.codemod, Position(e.line, e.column)) for e in edits] == [(f.codemod, f.position) for f in applied]


def test_the_demo(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "demo", tmp_path / "demo")
    plan = plan_rewrite(str(tmp_path / "demo"), NEWEST)
    assert len(plan.edits) > 40
    assert not plan.problems
    found = places(plan)
    assert found["petrel/utils.py:34"] == ["value: x.local_data(0) -> x.addressable_data(0)"]
    assert found["petrel/partitioning.py:29"] == ["value: GlobalDeviceArray.from_callback( -> jax.make_array_from_callback("]


# Somebody else's edits

OLD = "import jax.numpy as jnp\nx = jnp.ones(3).to_py()\n"
NEW = "import numpy as np\nimport jax.numpy as jnp\nx = np.asarray(jnp.ones(3))\n"


def test_two_texts() -> None:
    plan = plan_texts(OLD, NEW)
    assert [(e.id, e.path, e.line, e.column, e.codemod, e.message) for e in plan.edits] == [
        (1, "program.py", 1, 0, "", "new import"),
        (2, "program.py", 2, 4, "", "changed expression"),
    ]
    assert plan.edits[1] == Edit(
        2, "program.py", 2, 4, "", "changed expression", "jnp.ones(3).to_py()", "np.asarray(jnp.ones(3))", (2,)
    )
    assert (plan.before, plan.after) == ({"program.py": OLD.encode()}, {"program.py": NEW.encode()})


def test_columns_are_characters() -> None:
    assert [e.column for e in plan_texts("s = 'é', x.old()\n", "s = 'é', x.new\n").edits] == [9]


def test_a_text_that_is_no_python_is_a_problem() -> None:
    plan = plan_texts("print 'a'\n", "print('a')\n")
    assert not plan.edits
    assert plan.problems[0][0] == "program.py"
    assert "cannot be compared" in plan.problems[0][1]


def test_watches_are_no_edits() -> None:
    plan = plan_texts("def f(x):\n    return x.old()\ng = jit(f)\n", "def f(x):\n    return x.new\ng = jit(f)\n")
    assert len(plan.edits) == 1
    assert [s.kind for s in plan.sites] == [Kind.VALUE, Kind.WATCH]


def test_a_file_stands_for_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {"tree/pkg/run.py": NEW, "tree/other.py": "", "original.py": OLD})
    monkeypatch.chdir(tmp_path / "tree")
    plan = plan_against(str(tmp_path / "original.py"), str(tmp_path / "tree"), "pkg/run.py")
    assert {e.path for e in plan.edits} == {"pkg/run.py"}
    assert plan.before == {"pkg/run.py": OLD.encode()}
    with pytest.raises(PlanError, match="module"):
        plan_against(str(tmp_path / "original.py"), str(tmp_path / "tree"), None)
    with pytest.raises(PlanError, match=r"missing\.py"):
        plan_against(str(tmp_path / "original.py"), str(tmp_path / "tree"), "missing.py")


def test_a_tree_stands_for_the_tree(tmp_path: Path) -> None:
    new = {"a.py": NEW, "same.py": "x = 1\n", "added.py": "y = 2\n", "pkg/b.py": NEW, "data.yml": "v: 2\n"}
    old = {"a.py": OLD, "same.py": "x = 1\n", "removed.py": "z = 3\n", "pkg/b.py": OLD, "data.yml": "v: 1\n"}
    written(tmp_path / "new", new)
    written(tmp_path / "old", old)
    plan = plan_against(str(tmp_path / "old"), str(tmp_path / "new"), None)
    assert [(e.path, e.line) for e in plan.edits] == [("a.py", 1), ("a.py", 2), ("pkg/b.py", 1), ("pkg/b.py", 2)]
    assert len({s.id for s in plan.sites}) == len(plan.sites)
    before = {"a.py": OLD, "pkg/b.py": OLD, "data.yml": "v: 1\n", "removed.py": "z = 3\n"}
    assert plan.before == {path: text.encode() for path, text in before.items()}
    assert [path for path, _ in plan.problems] == ["added.py"]


def test_a_tree_may_stand_for_the_part_of_the_checkout_that_holds_the_script(tmp_path: Path) -> None:
    written(
        tmp_path,
        {"repo/proj/run.py": NEW, "repo/proj/lib/m.py": NEW, "repo/lib/other.py": "", "old/run.py": OLD, "old/lib/m.py": OLD},
    )
    (tmp_path / "repo/.git").mkdir()
    plan = plan_against(str(tmp_path / "old"), str(tmp_path / "repo"), str(tmp_path / "repo/proj/run.py"))
    assert {e.path for e in plan.edits} == {"proj/run.py", "proj/lib/m.py"}


def test_trees_that_share_nothing_are_an_error(tmp_path: Path) -> None:
    written(tmp_path, {"new/a.py": "", "old/b.py": ""})
    with pytest.raises(PlanError, match="counterpart"):
        plan_against(str(tmp_path / "old"), str(tmp_path / "new"), None)
    with pytest.raises(PlanError, match="does not exist"):
        plan_against(str(tmp_path / "nowhere"), str(tmp_path / "new"), None)


# Parts of a plan


def test_some_edits_only_keep_the_versions_and_their_watches() -> None:
    before = "def f(x):\n    return x.old()\ng = jit(f)\ny = z.old()\n"
    plan = plan_texts(before, before.replace("old()", "new"))
    part = only(plan, frozenset({1}))
    assert [e.id for e in part.edits] == [1]
    assert [s.kind for s in part.sites] == [Kind.VALUE, Kind.WATCH]
    assert (part.before, part.after) == (plan.before, plan.after)


def test_the_files_that_a_script_loads(tmp_path: Path) -> None:
    files = {
        "scripts/run.py": "import helper\nfrom pkg import a\nimport numpy\n",
        "scripts/helper.py": "import importlib\nimportlib.import_module('plugin')\n",
        "plugin.py": "",
        "pkg/__init__.py": "",
        "pkg/a.py": "def f():\n    from . import b\n    from .c import thing\n",
        "pkg/b.py": "from ..outside import x\n",
        "pkg/c/__init__.py": "from src_only import z\n",
        "pkg/unused.py": "",
        "src/src_only.py": "",
        "broken.py": "def f(:\n",
    }
    written(tmp_path, files)
    loaded = loaded_scope(plan_texts("", ""), str(tmp_path), Program.SCRIPT, "scripts/run.py", str(tmp_path))
    expected = {
        "scripts/run.py",
        "scripts/helper.py",
        "plugin.py",
        "pkg/__init__.py",
        "pkg/a.py",
        "pkg/b.py",
        "pkg/c/__init__.py",
    }
    assert loaded == expected | {"src/src_only.py"}


@pytest.mark.filterwarnings("error")
def test_nobody_is_warned_of_what_the_users_code_holds(tmp_path: Path) -> None:
    text = "import helper\nx = '\\w', y.old()\n"
    written(tmp_path, {"run.py": text, "helper.py": "x = '\\w'\n"})
    plan = plan_texts(text, text.replace("old()", "new"), "run.py")
    assert loaded_scope(plan, str(tmp_path), Program.SCRIPT, "run.py", str(tmp_path)) == {"run.py", "helper.py"}
    assert plan_rewrite(str(tmp_path), NEWEST).edits == ()


def test_what_either_version_imports_is_loaded(tmp_path: Path) -> None:
    written(tmp_path, {"run.py": "import one\nimport two\n", "one.py": "", "two.py": "", "three.py": ""})
    plan = Plan((), (), before={"run.py": b"import one\n"}, after={"run.py": b"import two\n"})
    assert loaded_scope(plan, str(tmp_path), Program.SCRIPT, "run.py", str(tmp_path)) == {"run.py", "one.py", "two.py"}


def test_the_files_that_a_module_loads(tmp_path: Path) -> None:
    written(tmp_path, {"pkg/__init__.py": "", "pkg/__main__.py": "from pkg.x import y\n", "pkg/x.py": "", "pkg/z.py": ""})
    loaded = loaded_scope(plan_texts("", ""), str(tmp_path), Program.MODULE, "pkg", str(tmp_path))
    assert loaded == {"pkg/__init__.py", "pkg/__main__.py", "pkg/x.py"}


def test_the_files_that_tests_load(tmp_path: Path) -> None:
    files = {
        "conftest.py": "import fixtures_\n",
        "fixtures_.py": "",
        "tests/conftest.py": "",
        "tests/test_a.py": "import a\n",
        "a.py": "",
        "b.py": "",
    }
    written(tmp_path, {**files, "tests/test_b.py": "import b\n"})
    one = loaded_scope(plan_texts("", ""), str(tmp_path), Program.PYTEST, "tests/test_a.py::test_x", str(tmp_path))
    assert one == {"conftest.py", "fixtures_.py", "tests/conftest.py", "tests/test_a.py", "a.py"}
    both = loaded_scope(plan_texts("", ""), str(tmp_path), Program.PYTEST, "tests", str(tmp_path))
    assert both == one | {"tests/test_b.py", "b.py"}
