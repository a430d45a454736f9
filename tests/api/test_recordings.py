"""The history and the successors against what the real releases have."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import jaxmigrate_codemods
from jaxmigrate.history import Advice, Entry
from jaxmigrate.model import Version
from jaxmigrate.registry import history, load
from tests.api.recordings_read import VERSIONS, names, parent, recording, usable
from tools.record_jax_api import RECORDINGS, disagreements

ADVICES = list(history().advices.values())
SUCCESSORS = sorted({(s.name, s.since) for a in ADVICES for s in a.successors}, key=lambda s: (s[0], s[1].numbers))
OLDEST = Version.parse(VERSIONS[0])
NOT_JAX = re.compile(r"(?!jax)")


def test_ten_releases_from_the_oldest_that_runs_to_the_newest() -> None:
    assert len(VERSIONS) >= 10
    assert VERSIONS[0] == "0.4.13"
    assert VERSIONS[-1] == jaxmigrate_codemods.NEWEST
    assert Version.parse(VERSIONS[-1]) == history().versions[-1]


def test_recordings_stay_small() -> None:
    assert sum(path.stat().st_size for path in RECORDINGS.glob("*")) < 1_500_000


@pytest.mark.parametrize("version", VERSIONS)
def test_history_agrees_with_the_recording(version: str) -> None:
    assert list(disagreements(history(), recording(version))) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_deprecations_of_the_recording_are_on_record(version: str) -> None:
    now = Version.parse(version)
    warned = [name for name, entry in names(version).items() if len(entry) > 1]
    assert warned
    missing = []
    for name in warned:
        entry = history().entry(name)
        assert entry is not None
        withdrawn = entry.alive and len(names(VERSIONS[-1]).get(name, [])) < 2
        if not withdrawn and (entry.deprecated is None or entry.deprecated > now):
            missing.append(name)
    assert missing == []


def test_an_alive_name_is_deprecated_only_if_the_newest_release_warns() -> None:
    silent = []
    for section in history().sections():
        for entry in history().members(section).values():
            if entry.alive and entry.deprecated is not None and "call" not in entry.kinds:
                silent += [entry.symbol] if len(names(VERSIONS[-1])[entry.symbol]) < 2 else []
    assert silent == []


def test_every_old_name_is_on_record() -> None:
    unknown = [a.symbol for a in ADVICES if not is_general(a) and life(a.symbol) is None and "(" not in a.symbol]
    assert unknown == []


def test_every_old_name_is_in_a_release_that_should_have_it() -> None:
    for advice in ADVICES:
        entry = history().entry(advice.symbol)
        if entry is None or is_general(advice) or "(" in advice.symbol or history().lost_members(parent(advice.symbol)):
            continue
        for version in VERSIONS:
            if entry.at(Version.parse(version)) and is_recorded(version, entry):
                assert advice.symbol in names(version), f"{advice.symbol} in {version}"


def test_old_names_are_gone_or_deprecated() -> None:
    for advice in ADVICES:
        if advice.verb in ("move", "drop") and "(" not in advice.symbol:
            entry = history().entry(advice.symbol)
            assert entry is None or not entry.alive or entry.deprecated is not None or is_package(entry), advice.symbol


@pytest.mark.parametrize("version", VERSIONS)
def test_every_new_name_is_usable_in_its_whole_range(version: str) -> None:
    wrong = []
    for name, since in SUCCESSORS:
        if since <= Version.parse(version) and not NOT_JAX.match(name) and not usable(version, name):
            wrong.append(f"{name}@{since}: {names(version).get(name, ['missing'])}")
    assert wrong == []


def test_new_names_are_usable_in_the_history_of_all_releases() -> None:
    for name, since in SUCCESSORS:
        if not NOT_JAX.match(name):
            found = history().since(name)
            assert found is not None, name
            assert found <= since, f"{name} is there since {found} only"
            entry = history().entry(name)
            assert entry is not None
            assert entry.deprecated is None, f"{name} is deprecated"


@pytest.mark.parametrize("version", VERSIONS)
def test_renames_end_in_names_that_stay(version: str) -> None:
    """No new name is an old name for the same target: the renames have no cycles and no chains."""
    target = Version.parse(version)
    renamed = {a.symbol: new.name for a in ADVICES if a.verb == "move" and (new := a.at(target)) is not None}
    chains = [f"{old} -> {new} -> {renamed[new]}" for old, new in renamed.items() if new in renamed]
    assert chains == []


def test_every_row_belongs_to_a_codemod() -> None:
    assert {a.codemod for a in ADVICES} <= load().codemods.keys()


def test_every_move_is_made_by_its_codemod() -> None:
    codemods = load().codemods
    missing = []
    for advice in ADVICES:
        handled = codemods[advice.codemod]
        if advice.verb == "move" and advice.symbol not in {*handled.moves, *handled.names, *handled.calls}:
            missing.append(f"{advice.codemod}: {advice.symbol}")
    assert missing == []


def test_what_is_gone_or_deprecated_comes_with_advice() -> None:
    silent = [entry.symbol for entry in lost() if not says_something(history().advice(entry.symbol))]
    assert silent == []


def test_advice_is_in_our_words_and_short() -> None:
    for advice in ADVICES:
        assert not advice.text.startswith("?"), advice.symbol
        assert len(advice.text) < 300, advice.symbol
        assert "\t" not in advice.text


def test_advice_on_what_to_do_by_hand_names_only_what_there_is() -> None:
    wrong = []
    for advice in ADVICES:
        for name in re.findall(r"(?<![\w/.-])jax\.(?!dev)[\w.]*\w", advice.text) if advice.verb == "none" else ():
            entry = history().entry(name)
            by_class = history().entry(parent(name)) if entry is None else None
            method = by_class is not None and by_class.alive and not history().is_module(parent(name))
            own = (name + ".").startswith(advice.symbol.removesuffix("*").removesuffix(".") + ".")
            if not own and not method and (entry is None or not entry.alive or entry.deprecated is not None):
                wrong.append(f"{advice.symbol}: {name}")
    assert wrong == []


def is_general(advice: Advice) -> bool:
    """A row that speaks for many names."""
    return advice.symbol.endswith(".*") or advice.symbol in ("leak", "argument")


def life(symbol: str) -> Entry | None:
    return history().entry(symbol) or history().entry(parent(symbol))


def is_package(entry: Entry) -> bool:
    """A module that is still there, though what it was for has moved."""
    return "module" in entry.kinds


def is_recorded(version: str, entry: Entry) -> bool:
    """Whether the recording of a release would show a name that the release has: it walked the module, the name is public."""
    walked = parent(entry.symbol) in recording(version)["modules"]
    return walked and "static" not in entry.kinds and not entry.symbol.rpartition(".")[2].startswith("_")


def lost() -> Iterator[Entry]:
    for section in history().sections():
        for entry in history().members(section).values():
            if not entry.alive or entry.deprecated is not None:
                yield entry


def says_something(advice: Advice | None) -> bool:
    return advice is not None and bool(advice.text or advice.successors or advice.verb == "drop")
