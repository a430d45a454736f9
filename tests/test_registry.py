"""Packs: what is declared once must hold everywhere it is used."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import jaxmigrate_codemods
from jaxmigrate import gate
from jaxmigrate.codemod import Codemod
from jaxmigrate.registry import known_newest, load

CODEMODS = list(load().codemods.values())


def test_the_word_table_is_that_of_the_codemods() -> None:
    assert sorted(jaxmigrate_codemods.WORDS) == sorted(load().words)


def test_each_module_is_named_after_its_codemod() -> None:
    assert [c.name for c in CODEMODS] == [m.replace("_", "-") for m in jaxmigrate_codemods.MODULES]


@pytest.mark.parametrize("codemod", CODEMODS, ids=lambda c: c.name)
def test_declaration_is_complete(codemod: Codemod) -> None:
    assert codemod.summary
    assert codemod.link.startswith("https://")
    assert codemod.words
    assert codemod.since


@pytest.mark.parametrize("codemod", CODEMODS, ids=lambda c: c.name)
def test_every_old_name_holds_a_trigger_word(codemod: Codemod) -> None:
    """A file that uses a renamed API must not be stopped by the prefilter."""
    words = codemod.words
    for name in codemod.moves:
        assert set(name.split(".")) & words or any(word in name for word in words if not word.isidentifier()), name


def test_renames_are_closed_and_acyclic() -> None:
    moves = {old: move.new for codemod in CODEMODS for old, move in codemod.moves.items()}
    again = {new for new in moves.values() if new in moves}
    assert not [
        new for new in again if (entry := load().history.entry(new)) is None or not entry.alive
    ]  # a house may rename what lives
    assert not [new for new in again if moves[new] in moves]


def test_every_emitted_rename_has_a_first_release() -> None:
    facts = load().facts
    new = {m.new for c in CODEMODS for m in c.moves.values()}
    ours = {name for name in new if name.partition(".")[0] not in sys.stdlib_module_names}
    assert not sorted(name for name in ours if facts.since_of(name) is None)


def test_newest_is_the_newest_release_in_the_tables() -> None:
    assert known_newest() >= max(load().facts.since.values())


def test_codemods_import_neither_jax_nor_libcst() -> None:
    folder = Path(jaxmigrate_codemods.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {n.partition(".")[0] for n in names} & {"jax", "jaxlib", "libcst", "numpy"}, path


@pytest.mark.parametrize(
    ("data", "passes"),
    [(b"import os\n", False), (b"import jax\njax.jit(f)\n", True), (b"import jax\njax.numpy.DeviceArray\n", True),
     (b"from .types import DeviceArray\n", True), (b"import jaxtyping\nMyDeviceArrayThing\n", False)],
)  # fmt: skip
def test_prefilter(data: bytes, passes: bool) -> None:
    assert gate.prefilter(data) is passes


def test_entry_points_are_read_without_importlib_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(
        "[console_scripts]\nx = y:z\n\n[jaxmigrate.codemods]\nmine = other_pack\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    gate.packages.cache_clear()
    try:
        assert gate.packages()[0] == "jaxmigrate_codemods"
        assert "other_pack" in gate.packages()
    finally:
        gate.packages.cache_clear()
