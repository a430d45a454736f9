"""No vanished name goes unmentioned, no living one is accused, and the README counts what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from jaxmigrate.history import Entry
from jaxmigrate.registry import history
from tools import knowledge

README = Path(__file__).resolve().parents[2] / "README.md"


def entries(*, alive: bool, leaks: bool) -> Iterator[Entry]:
    for section in history().sections():
        for entry in history().members(section).values():
            if entry.alive is alive and ("leak" in entry.kinds) is leaks:
                yield entry


def test_every_use_of_a_lost_name_is_reported() -> None:
    lost = list(knowledge.lost(history()))
    assert len(lost) > 5000
    assert [entry.symbol for entry in knowledge.undetected(lost)] == []


def test_every_use_of_an_accidental_export_that_is_gone_is_reported() -> None:
    assert [entry.symbol for entry in knowledge.undetected(entries(alive=False, leaks=True))] == []


def test_no_use_of_a_living_name_is_reported() -> None:
    living = [
        entry
        for leaks in (False, True)
        for entry in entries(alive=True, leaks=leaks)
        if entry.deprecated is None and not entry.symbol.startswith("flags.") and not is_below_deprecated(entry)
    ]
    silent = {entry.symbol for entry in knowledge.undetected(living)}
    assert [entry.symbol for entry in living if entry.symbol not in silent] == []


def is_below_deprecated(entry: Entry) -> bool:
    owner = history().entry(entry.symbol.rpartition(".")[0])
    return owner is not None and owner.deprecated is not None


def test_what_is_not_rewritten_comes_with_advice() -> None:
    for name, count in knowledge.counts().items():
        assert count.rewritten + count.advised == count.gone + count.deprecated, name


def test_readme_counts_what_there_is() -> None:
    shown = re.search(r"<!-- begin: knowledge -->\n(.*?)<!-- end: knowledge -->", README.read_text("utf-8"), re.DOTALL)
    assert shown
    assert shown[1] == knowledge.table(), "run python tools/readme.py"
