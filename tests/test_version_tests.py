"""Which arm of a test of JAX's version runs today: that one is migrated, the other is left alone, both where it is not clear."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Outcome, Severity
from jaxmigrate.testing import run

HEAD = """\
import functools, importlib.metadata, jax
from packaging import version
from packaging.version import Version
def parts(v): return tuple(map(int, v.split(".")))
def is_older(v):
    \"\"\"Whether JAX is older.\"\"\"
    return tuple(int(p) for p in jax.__version__.split(".")) < tuple(int(p) for p in v.split("."))
def is_newer(v): return Version(jax.__version__) >= Version(v)
@invert
def turned_round(v): return Version(jax.__version__) < Version(v)
@functools.lru_cache(None)
def remembered(v): return Version(jax.__version__) < Version(v)
def in_steps(v):
    mine = jax.__version__
    return Version(mine) < Version(v)
def older_text(v): return jax.__version__ < v
TEXTS = jax.__version__.split(".")
def unclear(v):
    a = parts(jax.__version__)
    return a < v
"""
TODAY = [
    "jax.__version_info__ >= (0, 4)",
    "(0, 4) <= jax.__version_info__",
    "jax.__version_info__[:2] >= (0, 4)",
    "jax.__version_info__[1] >= 4",
    "int(jax.__version__.split('.')[1]) >= 4",
    "[int(p) for p in jax.__version__.split('.')[:2]] >= [int(p) for p in '0.4'.split('.')]",
    "not jax.__version__.startswith('0.3.')",
    "jax.__version__ != '0.3.25'",
    "version.parse(jax.__version__) >= version.parse('0.4.1')",
    "version.parse(jax.__version__).release >= (0, 4, 1)",
    "Version(jax.__version__).minor >= 4",
    "Version(importlib.metadata.version('jax')) >= Version('0.4')",
    "parts(jax.__version__) >= (0, 4)",
    "parts(jax.__version__) >= parts('0.4.1')",
    "is_newer('0.4.1')",
    "not is_older('0.4.1')",
    "jax.__version_info__ >= (0, 12)",
    "jax.__version_info__ >= (0, 12, 0)",
    "Version(jax.__version__) > Version('0.11')",
    "jax.__version_info__[:2] != (0, 3)",
    "jax.__version_info__ != (0, 4, 25)",
    "jax.__version_info__[1] != 4",
    "not ((0, 4, 1) < jax.__version_info__ < (0, 5))",
    "jax.__version__ not in ('0.3.1', '0.4.2')",
    "jax.__version_info__[:2] not in [(0, 3), (0, 4)]",
    "not jax.__version__.startswith(('0.3', '0.4'))",
    "Version(jax.__version__) >= Version('0.5.0rc1')",
    "Version(jax.__version__) > Version('0.5.0.dev0')",
    "module_version('jax') >= (0, 3, 17)",
    "get_version('jax') >= Version('0.4')",
    "not remembered('0.4.1')",
]
UNCLEAR = [
    "jax.__version_info__[1:] >= (4, 1)",
    "older_than(jax.__version__, '0.4')",
    "jax.__version__ in (limit,)",
    "jax.__version__ in limits",
    "turned_round('0.4.1')",
    "in_steps('0.4.1')",
    "jax.__version_info__[:2] >= (0, 12, 0)",
    "Version(jax.__version__) >= Version('0.12.0.1rc1')",
    "(0, 4) <= jax.__version_info__ < limit",
    "jax.__version_info__ >= limit",
    "is_older(limit)",
    "Version(jax.__version__) >= Version(limit)",
]


TEXT_SAYS_OTHERWISE = [
    "older_text('0.4.1')",
    "importlib.metadata.version('jax') > '0.4'",
    "TEXTS < ['0', '4', '1']",
]


def arms(test: str) -> tuple[bool, bool]:
    """Whether an old name in the body and one in the else branch of a test are rewritten."""
    after = (
        run(f"{HEAD}if {test}:\n    jax.tree_map(f, a)\nelse:\n    jax.tree_map(f, b)\n").after
        or b"tree_map(f, a) tree_map(f, b)"
    )
    return b"tree.map(f, a)" in after, b"tree.map(f, b)" in after


@pytest.mark.parametrize("test", TODAY)
def test_the_arm_that_runs_today_is_rewritten(test: str) -> None:
    assert arms(test) == (True, False)
    assert arms(f"not ({test})") == (False, True)


@pytest.mark.parametrize("test", UNCLEAR)
def test_both_arms_stay_where_it_is_not_clear(test: str) -> None:
    assert arms(test) == (False, False)
    left = run(f"{HEAD}if {test}:\n    jax.tree_map(f, a)\nelse:\n    jax.tree_map(f, b)\n").findings
    assert [(f.outcome, f.severity) for f in left if f.codemod == "tree-map"] == [(Outcome.MANUAL, Severity.LOW)] * 2
    assert all("not clear which comes here" in f.message for f in left)


@pytest.mark.parametrize("test", TEXT_SAYS_OTHERWISE)
def test_nothing_is_guarded_where_text_takes_the_other_arm_without_a_report(test: str) -> None:
    assert arms(test) == (True, True)


def test_the_arm_that_text_takes_is_guarded_where_it_is_reported() -> None:
    assert arms("jax.__version__ >= '0.4.1'") == (True, False)


@pytest.mark.parametrize("test", ["limit(2)", "torch.__version__ < '2'", "parts(limit) < (0, 4)"])
def test_other_tests_guard_nothing(test: str) -> None:
    assert arms(test) == (True, True)
