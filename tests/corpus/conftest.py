"""The corpus, fetched once, and rewritten once for all tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from tests.corpus import rewriting
from tests.corpus.fetch import Unavailable
from tests.corpus.rewriting import Rewritten

T = TypeVar("T")


def or_skip(make: Callable[[], T]) -> T:
    """What `make` returns; without the network the test is skipped, but not where it must run."""
    try:
        return make()
    except Unavailable as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def originals() -> Mapping[str, Path]:
    return or_skip(rewriting.originals)


@pytest.fixture(scope="session")
def rewritten(originals: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Rewritten:
    return rewriting.rewrite(originals, tmp_path_factory.mktemp("corpus"), jobs=2)
