"""compilation-cache: first what must be left alone, or to a human."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = {"select": "compilation-cache"}
HEAD = "from jax.experimental.compilation_cache import compilation_cache as cc\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(HEAD + "cc.set_cache_dir('/tmp/c')\ncc.reset_cache()\n", id="already-migrated"),
        pytest.param("from mylib import compilation_cache as cc\ncc.initialize_cache('/tmp/c')\n", id="another-library"),
        pytest.param("import jax\ndef initialize_cache(path): pass\ninitialize_cache('compilation_cache')\n", id="own-function"),
        pytest.param(HEAD + "class A:\n    def f(self, cc): cc.initialize_cache('c')\n", id="shadowed-module"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("cc.initialize_cache('c', 2**30)\n", ["jax_compilation_cache_max_size"], id="size"),
        pytest.param("cc.initialize_cache(*args)\n", ["hold * or **"], id="star"),
        pytest.param("start = cc.initialize_cache\n", ["initialize_cache is gone"], id="as-a-value"),
        pytest.param("import functools\nf = functools.partial(cc.initialize_cache, 'c')\n", ["is gone"], id="partial"),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged(HEAD + source, findings=expected, **SELECT)


def test_neither_call_nor_flag_serves_a_very_old_target() -> None:
    source = "cc.initialize_cache('c')\nprint(cc.is_initialized())\n"
    unchanged(HEAD + source, findings=["no call serves that", "there from 0.4.21 on"], target="0.4.13", **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("cc.initialize_cache(f'{home}/c')", "cc.set_cache_dir(f'{home}/c')", id="string"),
        pytest.param("cc.initialize_cache(path='c')", "cc.set_cache_dir(path='c')", id="keyword"),
        pytest.param(
            "from pathlib import Path\np = Path('c')\ncc.initialize_cache(p)",
            "from pathlib import Path\np = Path('c')\ncc.set_cache_dir(str(p))",
            id="path-object",
        ),
        pytest.param("cc.initialize_cache(flags.cache)", "cc.set_cache_dir(flags.cache)", id="unknown-is-taken-for-a-string"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(HEAD + before + "\n", HEAD + after + "\n", **SELECT)
