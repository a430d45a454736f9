"""Migrations by hand, and what they must come out as: the same as ours."""

from __future__ import annotations

import json
from pathlib import Path
from pkgutil import resolve_name

import pytest

from jaxmigrate.confluence import compare, main
from jaxmigrate.model import Settings, Version
from jaxmigrate.registry import history, known_newest, text_files

# Each pair is a small program and what people made of it, for today's JAX or for one that is old by now.
AGREED = {
    "tree_multimap_to_tree_map": (
        "import jax\n\ndef step(p, g):\n    return jax.tree_multimap(lambda a, b: a - b, p, g)\n",
        "import jax\n\ndef step(p, g):\n    return jax.tree_map(lambda a, b: a - b, p, g)\n",
    ),
    "tree_map_to_tree_util": (
        "import jax\n\ndef step(p):\n    return jax.tree_map(abs, p)\n",
        "import jax\n\ndef step(p):\n    return jax.tree_util.tree_map(abs, p)\n",
    ),
    "tree_util_to_tree": (
        "import jax\n\ndef step(p):\n    return jax.tree_leaves(p)\n",
        "import jax\n\ndef step(p):\n    return jax.tree.leaves(p)\n",
    ),
    "tree_functions_by_an_alias": (
        "from jax import tree_map\n\ndef step(p):\n    return tree_map(abs, p)\n",
        "import jax.tree_util as jtu\n\ndef step(p):\n    return jtu.tree_map(abs, p)\n",
    ),
    "key_array": (
        "import jax\n\ndef init(key: jax.random.KeyArray, n: int) -> jax.random.KeyArray:\n    return jax.random.split(key, n)\n",
        "import jax\n\ndef init(key: jax.Array, n: int) -> jax.Array:\n    return jax.random.split(key, n)\n",
    ),
    "index_update": (
        "import jax\nimport jax.numpy as jnp\n\ndef put(x: jnp.ndarray, i, v):\n    return jax.ops.index_update(x, jax.ops.index[i], v)\n",
        "import jax.numpy as jnp\n\ndef put(x: jnp.ndarray, i, v):\n    return jnp.asarray(x).at[i].set(v)\n",
    ),
    "axis_resources": (
        "from jax.experimental.pjit import pjit\n\ndef make(f, a, b):\n    return pjit(f, in_axis_resources=a, out_axis_resources=b)\n",
        "from jax.experimental.pjit import pjit\n\ndef make(f, a, b):\n    return pjit(f, in_shardings=a, out_shardings=b)\n",
    ),
    "device_array_to_an_alias_of_the_class": (
        "import jax.numpy as jnp\n\ndef is_ours(x):\n    return isinstance(x, jnp.DeviceArray)\n",
        "import jax.numpy as jnp\n\ndef is_ours(x):\n    return isinstance(x, jnp.ndarray)\n",
    ),
    "stop_half_way": (
        "from jax.experimental import maps\n\ndef mesh(d):\n    return maps.Mesh(d, ('x',))\n",
        "from jax.interpreters import pxla\n\ndef mesh(d):\n    return pxla.Mesh(d, ('x',))\n",
    ),
    "a_name_by_way_of_another_module": (
        "from jax.experimental import stax\n\ndef f(x):\n    return stax.softmax(x)\n",
        "from jax.example_libraries import stax\n\ndef f(x):\n    return stax.softmax(x)\n",
    ),
    "a_private_home": (
        "from jax.experimental.maps import Mesh\n\ndef make(d):\n    return Mesh(d, ('x',))\n",
        "from jax._src.mesh import Mesh\n\ndef make(d):\n    return Mesh(d, ('x',))\n",
    ),
    "two_lost_homes": (
        "from jax.lib import xla_client as xc\n\ndef op(b):\n    return xc.ops.Sub(b, b)\n",
        "from jax._src.lib import xla_client as xc\n\ndef op(b):\n    return xc.ops.Sub(b, b)\n",
    ),
    "a_short_name_of_the_same_object": (
        "from jax.experimental import PartitionSpec\n\ndef spec():\n    return PartitionSpec('x')\n",
        "import jax\n\ndef spec():\n    return jax.P('x')\n",
    ),
    "a_tree_function_that_never_moved": (
        "import jax\n\ndef f(t):\n    return jax.tree_util.tree_map_with_path(g, t)\n",
        "import jax\n\ndef f(t):\n    return jax.tree.map_with_path(g, t)\n",
    ),
    "a_lost_argument_that_both_sides_lose": (
        "import jax.numpy as jnp\n\ndef f(x):\n    return jnp.clip(x, a_min=0, a_max=1)\n",
        "import jax.numpy as jnp\n\ndef f(x):\n    return jnp.clip(x, min=0, max=1)\n",
    ),
    "a_tree_function_through_another_module": (
        "import jax\n\ndef f(x):\n    return jax.api.tree_multimap(g, x, x)\n",
        "import jax\n\ndef f(x):\n    return jax.tree_map(g, x, x)\n",
    ),
    "clearing_the_backend_cache": (
        "from jax.lib import xla_bridge\n\ndef setup():\n    xla_bridge.get_backend.cache_clear()\n",
        "import jax.extend\n\ndef setup():\n    jax.extend.backend.get_backend.cache_clear()\n",
    ),
    "a_choice_by_presence": (
        "import jax\n\ndef f():\n    t = jax.core.TraceTag()\n    return t\n",
        "import jax\nimport jax.extend.core as jex\n\ndef f():\n    if hasattr(jex, 'TraceTag'):\n        t = jex.TraceTag()\n"
        "    else:\n        t = jax.core.TraceTag()\n    return t\n",
    ),
    "code_that_only_one_side_has": (
        "import jax\n\ndef f(x):\n    return jax.tree_map(abs, x)\n\ndef old(x):\n    return jax.jit(x)\n",
        "import jax\n\ndef f(x):\n    print(jax.devices())\n    return jax.tree_map(abs, x)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), AGREED.values(), ids=AGREED)
def test_both_sides_come_out_alike(old: str, new: str) -> None:
    assert [str(d) for d in compare(old, new)] == []


def _same() -> list[list[str]]:
    return [line.split() for text in text_files("same_objects.txt") for line in text.splitlines() if not line.startswith("#")]


def test_names_of_one_object_are_alive() -> None:
    assert [name for names in _same() for name in names if history().since(name) is None] == []


def test_names_of_one_object_are_one_object() -> None:
    jax = pytest.importorskip("jax")
    if not jax.__version__.startswith(str(known_newest())):
        pytest.skip("the table is that of the newest release")
    objects = [[resolve_name(name) for name in names if not name.startswith("jax.experimental.")] for names in _same()]
    passed_on = {jax.checkpoint, *(f for name in dir(jax.tree) if callable(f := getattr(jax.tree, name)))}
    assert [o for first, *others in filter(None, objects) for o in others if o is not first and first not in passed_on] == []


def test_a_different_choice_is_reported_with_its_places() -> None:
    old = "import jax\n\ndef f(x):\n    return jax.lax.exp(x)\n"
    (found,) = compare(old, old.replace("lax.exp", "numpy.exp"))
    assert str(found) == "f: jax.lax.exp (line 4) / jax.numpy.exp (line 4) (by choice)"


def test_a_different_choice_in_another_call_is_reported() -> None:
    old = "import jax\n\ndef f(x, y):\n    a = 1\n    return jax.lax.exp(x)\n"
    new = "import jax\n\ndef f(x, y):\n    a = 1\n    return jax.numpy.add(x, y, 3)\n"
    (found,) = compare(old, new)
    assert [u.name for u in found.old] == ["jax.lax.exp"]
    assert [u.name for u in found.new] == ["jax.numpy.add"]


@pytest.mark.parametrize(
    ("old", "choice"), [("jax.lax.exp(x)", True), ("jax.tree_multimap(x)", False), ("jax.ops.index(x)", False)]
)
def test_what_a_release_asked_for_is_no_choice(old: str, choice: bool) -> None:
    (found,) = compare(f"import jax\ny = {old}\n", "import jax\ny = jax.numpy.exp(x)\n")
    assert found.choice is choice


def test_a_lost_argument_belongs_to_the_name() -> None:
    old = "import jax\n\ndef f(x):\n    return jax.checkpoint(x, concrete=True)\n"
    (found,) = compare(old, old.replace("concrete", "own"))
    assert str(found) == "f: jax.checkpoint(concrete=) (line 4) / jax.checkpoint (line 4)"


def test_a_lost_name_that_one_side_kept_is_reported() -> None:
    old = "import jax\n\ndef f(x):\n    return g(jax.lib.xla_extension.Shape(x), x)\n"
    (found,) = compare(old, old.replace("jax.lib.xla_extension.", "own."))
    assert str(found) == "f: jax.lib.xla_extension.Shape (line 4) / nothing"


def test_what_an_older_target_has_is_not_lost() -> None:
    old = "import jax\n\ndef f(x):\n    return g(jax.lib.xla_extension.DistributedRuntimeClient, x)\n"
    new = old.replace("jax.lib.xla_extension.", "own.")
    assert compare(old, new, Settings(Version.parse("0.4.30"))) == []
    assert len(compare(old, new)) == 1


def test_lost_code_that_became_other_code_is_no_migration() -> None:
    old = "import jax\n\ndef f(x):\n    return g(jax.lib.xla_extension.Shape(x), x)\n"
    assert compare(old, "def f(x):\n    raise NotImplementedError\n") == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("try:\n    f()\nexcept jax.lax.exp:\n    pass\n", id="except"),
        pytest.param("match x:\n    case jax.lax.exp():\n        pass\n", id="pattern"),
        pytest.param("match x:\n    case 1 if jax.lax.exp(x):\n        pass\n", id="guard"),
        pytest.param("match x:\n    case 1:\n        jax.lax.exp(x)\n", id="arm"),
        pytest.param("match jax.lax.exp(x):\n    case 1:\n        pass\n", id="subject"),
        pytest.param("@jax.lax.exp\ndef f():\n    pass\n", id="decorator"),
        pytest.param("class A(B, k=jax.lax.exp):\n    pass\n", id="class"),
        pytest.param("def f(a: jax.lax.exp): pass\n", id="annotation"),
        pytest.param("for x in y:\n    pass\nelse:\n    jax.lax.exp(x)\n", id="else"),
        pytest.param("x = lambda a=jax.lax.exp: a\n", id="lambda"),
        pytest.param("x = f'{jax.lax.exp(1)}'\n", id="f-string"),
        pytest.param("def f(a: 'jax.lax.exp'): pass\n", id="quoted"),
    ],
)
def test_each_place_counts_once(text: str) -> None:
    (found,) = compare(f"import jax\n{text}", f"import jax\n{text.replace('lax', 'numpy')}")
    assert ([u.name for u in found.old], [u.name for u in found.new]) == (["jax.lax.exp"], ["jax.numpy.exp"])


def test_two_public_names_with_the_same_last_part_are_two() -> None:
    old = "import jax\n\ndef f(x):\n    return jax.lax.max(x, x)\n"
    assert len(compare(old, old.replace("lax", "numpy"))) == 1


@pytest.mark.parametrize(("home", "agrees"), [("jax._src.mesh.Mesh", True), ("jax.lib.xla_client.Mesh", False)])
def test_a_private_home_agrees_with_a_living_name_and_a_lost_one_does_not(home: str, agrees: bool) -> None:
    old = "import jax\n\ndef f(x):\n    return jax.sharding.Mesh(x, 'x')\n"
    assert (compare(old, old.replace("jax.sharding.Mesh", home)) == []) is agrees


def test_what_cannot_be_parsed_is_an_error() -> None:
    with pytest.raises(ValueError, match="parsed"):
        compare("print 'old'\n", "print('new')\n")


def test_a_list_of_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    different = {"name": "b.py", "old": "import jax\njax.lax.exp(1)\n", "new": "import jax\njax.numpy.exp(1)\n"}
    pairs = [{"old": "import jax\njax.tree_map(f, x)\n", "new": "import jax\njax.tree.map(f, x)\n"}, different]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), "utf-8")
    assert main([str(path)]) == 1
    assert capsys.readouterr().out == (
        "b.py: top: jax.lax.exp (line 2) / jax.numpy.exp (line 2) (by choice)\n"
        "2 pairs: 1 agree, 1 disagree (1 only by choice), 0 cannot be rewritten\n"
    )


def test_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("old.py", "import jax\njax.tree_map(f, x)\n"), ("new.py", "import jax\njax.tree_util.tree_map(f, x)\n")):
        (tmp_path / name).write_text(text, "utf-8")
    assert main([str(tmp_path / "old.py"), str(tmp_path / "new.py")]) == 0
    assert "1 agree" in capsys.readouterr().out


def test_two_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (
        ("old/a.py", "jax.tree_map(f, x)\n"),
        ("old/b.py", ""),
        ("new/a.py", "jax.tree.map(f, x)\n"),
        ("new/c.py", ""),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"import jax\n{text}", "utf-8")
    assert main([str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out == "1 pairs: 1 agree, 0 disagree, 0 cannot be rewritten\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('[{"before": "", "after": ""}, {"before": "x", "after": "y"}]', id="a-list-over-all"),
        pytest.param('[\n ["", ""],\n ["x", "y"]\n]\n', id="a-list-of-lists"),
        pytest.param('["", ""]\r\n\r\n["x", "y"]', id="a-list-a-line"),
        pytest.param('\ufeff{"old": "", "new": "", "more": 1}\n{"old": "x\u2028", "new": "y"}', id="separators-inside"),
    ],
)
def test_a_list_in_other_forms(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.json"
    path.write_bytes(text.encode())
    main([str(path)])
    assert "2 pairs: " in capsys.readouterr().out


def test_the_list_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = "import jax\njax.lax.exp(1)\n"
    pairs = [{"name": "a", "old": old, "new": old.replace("lax", "numpy")}, {"old": "(", "new": ""}, {"old": "", "new": ""}]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), "utf-8")
    assert main(["--format", "json", str(path)]) == 1
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["name"] == "a"
    assert first["disagreements"][0]["old"] == [{"name": "jax.lax.exp", "line": 2, "gone": False}]
    assert (second["agrees"], second["disagreements"]) == (False, [])
    assert "parsed" in second["error"]
    assert third == {"name": "3", "agrees": True, "disagreements": []}


def test_the_target_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('["import jax\\njax.tree_map(f, x)\\n", "import jax\\njax.tree_util.tree_map(f, x)\\n"]', "utf-8")
    assert main([str(path), "--target", "0.4.13"]) == 0


def test_a_pair_that_cannot_be_rewritten_does_not_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('["print 1", "print(1)"]\n["", ""]\n', "utf-8")
    assert main([str(path)]) == 1
    assert capsys.readouterr().out.endswith("2 pairs: 1 agree, 0 disagree, 1 cannot be rewritten\n")


@pytest.mark.parametrize("text", [None, "def f(): pass\n", '{"old": ""}\n', "[1]\n", '["a", 1]', "[[1]]", "1\n", "null"])
def test_what_cannot_be_read_is_said_in_a_line(text: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    if text is not None:
        path.write_text(text)
    assert main([str(path)]) == 2
    assert capsys.readouterr().err.startswith("cannot be read: ")
