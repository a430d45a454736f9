"""How the tests are shared out when pytest-xdist runs them: whole files, those that take long first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xdist.scheduler import LoadScopeScheduling

LONGEST = (
    "tests/verify/test_fixtures.py",
    "tests/corpus",
    "tests/targets/test_targets.py",
    "tests/property",
    "tests/verify",
    "tests/cli",
    "tests/legacy",
    "tests/benchmarks",
    "tests/test_pre_commit.py",
)
"""Folders and files in the order in which they are started; the rest is quick and fills the gaps at the end."""


def unit(nodeid: str) -> str:
    """What runs in one worker: a file, for its tests share what is costly to make; the corpus is rewritten once for all of its."""
    file = nodeid.partition("::")[0]
    shares_corpus = file in ("tests/corpus/test_corpus.py", "tests/corpus/test_revival.py")
    return "tests/corpus" if shares_corpus else file


def turn(nodeid: str) -> int:
    """The place of a test in the order of `LONGEST`."""
    file = nodeid.partition("::")[0]
    return next((n for n, start in enumerate(LONGEST) if file.startswith(start)), len(LONGEST))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only in workers: without them the order of the files serves best."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: turn(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Ours, unless another way was asked for."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    config.option.loadscopereorder = False
    return Scheduling(config, log)
