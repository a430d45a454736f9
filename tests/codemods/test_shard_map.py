"""shard-map: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.engine import rewrite_source
from jaxmigrate.model import Applicability, Outcome, Settings, Severity, Version
from jaxmigrate.registry import known_newest
from jaxmigrate.testing import applied, rewritten, run, unchanged

NAME = "shard-map"
HEAD = "import jax\nfrom jax.experimental.shard_map import shard_map\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\nf = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o, check_vma=False)\n", id="present-form"),
        pytest.param("import jax\nf = jax.shard_map(g, out_specs=o)\n", id="present-form-with-the-mesh-of-the-context"),
        pytest.param("import jax\n@jax.shard_map(mesh=m, in_specs=i, out_specs=o)\ndef f(x): ...\n", id="present-decorator"),
        pytest.param("from jax import shard_map\nf = shard_map(g, mesh=m, in_specs=i, out_specs=o)\n", id="present-import"),
        pytest.param("from flax.nnx import shard_map\nf = shard_map(g, mesh=m, check_rep=False)\n", id="another-library"),
        pytest.param("def shard_map(f, mesh, check_rep=True): ...\ng = shard_map(f, m, check_rep=False)\n", id="own-function"),
        pytest.param("import jax\ndef f(jax): return jax.shard_map(g, m, i, o)\n", id="shadowed-module"),
        pytest.param("import jax\nf(g, check_rep=False, auto=True)\n", id="keywords-of-another-function"),
        pytest.param(
            "try:\n    from jax import shard_map\nexcept ImportError:\n    from jax.experimental.shard_map import shard_map\n"
            "f = shard_map(g, mesh=m, in_specs=i, out_specs=o)\n",
            id="guarded-import",
        ),
        pytest.param(
            "import jax\nif hasattr(jax, 'shard_map'):\n    shard_map = jax.shard_map\nelse:\n"
            "    from jax.experimental.shard_map import shard_map\n",
            id="presence-test",
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=NAME)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("f = shard_map(*args)\n", "arguments hold *", id="star"),
        pytest.param("f = shard_map(g, mesh=m, **specs)\n", "arguments hold *", id="double-star"),
        pytest.param("f = shard_map(g, m, i, o, check=False)\n", "unknown argument 'check'", id="unknown-keyword"),
        pytest.param("f = shard_map(mesh=m, f=g, in_specs=i, out_specs=o)\n", "takes it by position", id="function-not-first"),
        pytest.param("f = shard_map(g, mesh=make(), in_specs=i, out_specs=o, auto=a)\n", "has no name here", id="mesh-unnamed"),
        pytest.param("from functools import partial\ns = partial(shard_map)\nf = s(g, m, i, o)\n", "gives it more", id="partial"),
    ],
)
def test_reported_and_only_deprecated(source: str, message: str) -> None:
    result = run(HEAD + source, select=NAME)
    assert not applied(result)
    (left,) = [f for f in result.findings if message in f.message]
    assert left.outcome is Outcome.MANUAL
    assert left.severity is Severity.LOW


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("f = shard_map(g, m, i, o)", "f = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o)", id="by-position"),
        pytest.param(
            "f = shard_map(g, m, i, out_specs=o, check_rep=c)",
            "f = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o, check_vma=c)",
            id="mixed",
        ),
        pytest.param(
            "f = shard_map(g, m, i, o, False)",
            "f = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o, check_vma=False)",
            id="check-by-position",
        ),
        pytest.param(
            "f = shard_map(f=g, mesh=m, in_specs=i, out_specs=o)",
            "f = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o)",
            id="function-by-keyword",
        ),
        pytest.param(
            "f = shard_map(g, mesh=m, in_specs=i, out_specs=o, auto=frozenset())",
            "f = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o)",
            id="auto-of-nothing",
        ),
        pytest.param(
            "f = shard_map(g, (m), (i), o)", "f = jax.shard_map(g, mesh=(m), in_specs=(i), out_specs=o)", id="parentheses"
        ),
        pytest.param(
            "import functools\n@functools.partial(shard_map, mesh=m, in_specs=i, out_specs=o, check_rep=False)\ndef f(x): ...",
            "import functools\n@functools.partial(jax.shard_map, mesh=m, in_specs=i, out_specs=o, check_vma=False)\ndef f(x): ...",
            id="decorator",
        ),
        pytest.param(
            "import functools\ns = functools.partial(shard_map, mesh=m)\nf = s(g, in_specs=i, out_specs=o, check_rep=False)",
            "import functools\ns = functools.partial(jax.shard_map, mesh=m)\nf = s(g, in_specs=i, out_specs=o, check_vma=False)",
            id="argument-given-to-a-partial-later",
        ),
        pytest.param(
            "f = jax.jit(shard_map(g, mesh=m, in_specs=i, out_specs=o))",
            "f = jax.jit(jax.shard_map(g, mesh=m, in_specs=i, out_specs=o))",
            id="name-only",
        ),
    ],
)
def test_safe(before: str, after: str) -> None:
    result = rewritten(HEAD + before + "\n", "import jax\n" + after + "\n", select=NAME)
    assert {f.applicability for f in applied(result)} == {Applicability.SAFE}


@pytest.mark.parametrize(
    ("before", "after", "assumption"),
    [
        pytest.param(
            "f = shard_map(g, mesh=m, in_specs=i, out_specs=o, auto=a)",
            "f = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o, axis_names=set(m.axis_names) - a)",
            "does not name all axes",
            id="auto",
        ),
        pytest.param(
            "f = shard_map(g, s.mesh, i, o, True, a | b)",
            "f = jax.shard_map(g, mesh=s.mesh, in_specs=i, out_specs=o, check_vma=True, axis_names=set(s.mesh.axis_names) - (a | b))",
            "does not name all axes",
            id="auto-by-position",
        ),
    ],
)
def test_review(before: str, after: str, assumption: str) -> None:
    result = rewritten(HEAD + before + "\n", "import jax\n" + after + "\n", select=NAME)
    (finding,) = applied(result)
    assert finding.applicability is Applicability.REVIEW
    assert assumption in finding.message


@pytest.mark.parametrize("argument", ["check_rep=False", "auto=frozenset()"])
def test_arguments_of_the_old_function_given_to_the_new_one(argument: str) -> None:
    after = "check_vma=False" if "rep" in argument else ""
    tail = f", {after})\n" if after else ")\n"
    head = "import jax\nf = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o"
    rewritten(f"{head}, {argument})\n", head + tail, select=NAME)


def test_older_targets_keep_the_old_function() -> None:
    result = run(HEAD + "f = shard_map(g, m, i, o)\n", select=NAME, target="0.4.30")
    assert not applied(result)
    assert not [f for f in result.findings if f.severity is not Severity.LOW and "choose by version" in f.message]


def test_auto_is_a_fault_for_older_targets_too() -> None:
    result = run(HEAD + "f = shard_map(g, m, i, o, auto=a)\n", select=NAME, target="0.4.30")
    assert not applied(result)
    assert [f.severity for f in result.findings if "auto is gone" in f.message] == [Severity.NORMAL]


def test_import_without_jax_brings_it() -> None:
    before = "from jax.experimental.shard_map import shard_map\nf = shard_map(g, m, i, o)\n"
    rewritten(before, "import jax\nf = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o)\n", select=NAME)


def test_name_that_is_passed_on_keeps_its_spelling() -> None:
    result = rewritten(
        HEAD + "f = wrap(shard_map)\n", "import jax\nfrom jax import shard_map\nf = wrap(shard_map)\n", select=NAME
    )
    assert ["by keyword" in f.message and f.applicability is Applicability.REVIEW for f in applied(result)] == [True]


LOOP = "def f(x):\n    return jax.lax.scan(lambda c, y: (c + y, None), jnp.zeros(4), x)[0]\n"


@pytest.mark.parametrize(
    ("call", "origin", "told"),
    [
        pytest.param("shard_map(f, m, i, o)", "0.4.30", True, id="old-program"),
        pytest.param("shard_map(f, m, i, o)", "0.7.2", False, id="newer-program"),
        pytest.param("shard_map(f, m, i, o)", None, False, id="program-of-unknown-age"),
        pytest.param("shard_map(f, m, i, o, check_rep=False)", "0.4.30", False, id="no-check"),
        pytest.param("shard_map(g, m, i, o)", "0.4.30", False, id="function-that-cannot-be-seen"),
    ],
)
def test_what_loops_carry_in_old_programs(call: str, origin: str | None, told: bool) -> None:
    age = Version.parse(origin) if origin else None
    settings = Settings(target=known_newest(), select=frozenset([NAME]), origin=age)
    result = rewrite_source(f"{HEAD}import jax.numpy as jnp\n{LOOP}h = {call}\n".encode(), settings)
    assert [f.severity for f in result.findings if "carries" in f.message] == [Severity.LOW] * told


def test_name_that_other_modules_take_from_here() -> None:
    before = "from jax.experimental.shard_map import shard_map\n__all__ = ['shard_map']\n"
    result = rewritten(before, before.replace("jax.experimental.shard_map", "jax"), select=NAME)
    (finding,) = applied(result)
    assert finding.applicability is Applicability.REVIEW
    assert "give mesh and specs by keyword" in finding.message


@pytest.mark.parametrize(
    "use",
    [
        "def g(mesh, shard_map=shard_map):\n    return shard_map(f, mesh, P(), P(), check_rep=False)\n",
        "class A:\n    def __init__(self, wrap=shard_map):\n        self.wrap = wrap\n",
        "takes = inspect.signature(shard_map).parameters\n",
        "wrap = None\nif fast:\n    wrap = shard_map\n",
    ],
)
def test_what_may_be_called_with_the_old_arguments_is_not_changed_by_itself(use: str) -> None:
    source = f"import inspect\nimport jax\nfrom jax.experimental.shard_map import shard_map\n{use}"
    result = run(source, select="shard-map")
    assert result.after == result.before
    assert [f.applicability.name for f in result.findings] == ["UNSAFE"]
    assert result.findings[0].severity is Severity.LOW
