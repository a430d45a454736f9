"""Calls that an older release took and today's functions refuse."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Outcome, Version
from jaxmigrate.registry import history, text_files
from jaxmigrate.signatures import Given, Signatures, signature
from jaxmigrate.testing import run
from tests.api.recordings_read import VERSIONS, recording
from tools.signatures import advanced, is_known, is_wider, lives, rendered, signatures_of

TABLE = Signatures(text_files("signatures.tsv"))
HEAD = "import functools\nimport jax\nimport jax.numpy as jnp\nfrom jax.interpreters import ad, mlir\nfrom jax.sharding import AbstractMesh\n"


def said(code: str) -> list[str]:
    """The messages about a piece of code that nothing guards."""
    return [f.message for f in run(HEAD + code).findings if f.outcome is not Outcome.GUARDED]


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_the_table_has_all_that_a_recorded_release_took_and_the_newest_refuses(version: str) -> None:
    newest = signatures_of(recording(VERSIONS[-1]))
    for function, old in signatures_of(recording(version)).items():
        today = newest.get(function)
        if today is None or is_wider(today, old) or not is_known(history(), function, today, old):
            continue
        life = TABLE.life(function)
        assert life is not None, function
        for given in old.calls():
            if today.refusal(given):
                assert any(not was.refusal(given) for last, was in life.before if last >= Version.parse(version)), (
                    function,
                    given,
                )


def test_the_table_has_the_signatures_of_the_newest_release() -> None:
    newest = signatures_of(recording(VERSIONS[-1]))
    assert {f: life.today.text for f, life in lives(TABLE).items()} == {f: newest[f].text for f in TABLE.functions}


def test_the_table_is_written_as_the_tool_writes_it() -> None:
    newest, before = (signatures_of(recording(version)) for version in (VERSIONS[-1], VERSIONS[-2]))
    assert text_files("signatures.tsv")[0] == rendered(advanced(lives(TABLE), newest, before, history()))


@pytest.mark.parametrize("function", sorted(TABLE.functions))
def test_what_is_said_to_be_refused_is_refused(function: str) -> None:
    """By Python's own rules, for the signature that the newest release has."""
    life = TABLE.life(function)
    assert life is not None
    text = life.today.text.replace("=", "=None").replace(",", ", ")
    names: dict[str, object] = {}
    exec(f"def f({text}): pass", names)  # a signature of our own table
    taker = names["f"]
    assert callable(taker)
    for given in [*life.today.calls(), *(g for _, old in life.before for g in old.calls())]:
        try:
            taker(*[0] * given.positional, **dict.fromkeys(given.keywords, 0))
        except TypeError:
            assert life.today.refusal(given), given
        else:
            assert not life.today.refusal(given), given


@pytest.mark.parametrize(
    ("text", "given", "refusal"),
    [
        ("x,/,y=", Given(0, frozenset({"x"})), "x can be given by position only"),
        ("x,y", Given(1, frozenset({"x", "y"})), "x would be given twice"),
        ("x,y", Given(3), "at most two can be given by position"),
        ("x,*,z", Given(1), "z must be given"),
        ("x,*,z", Given(1, partial=True), ""),
        ("x,**k", Given(1, frozenset({"z"})), ""),
        ("x,*rest,z=", Given(5), ""),
        ("x", Given(1, frozenset({"z"})), "there is no z="),
        ("", Given(1), "at most no can be given by position"),
    ],
)
def test_why_a_call_is_refused(text: str, given: Given, refusal: str) -> None:
    assert signature(text).refusal(given) == refusal


def test_a_call_that_an_older_release_took_is_reported() -> None:
    assert said("m = mlir.aval_to_ir_type(aval)\n") == [
        "jax.interpreters.mlir.aval_to_ir_type refuses such a call since JAX 0.10.1: aval must be given; it takes (ctx, aval)"
    ]
    assert len(said("functools.partial(ad.defbilinear, a, b, c, d)\n")) == 1


@pytest.mark.parametrize(
    "code",
    [
        "mlir.aval_to_ir_type(ctx, aval)\n",
        "mlir.aval_to_ir_type(*arguments)\n",
        "mlir.aval_to_ir_type(aval, **more)\n",
        "functools.partial(mlir.aval_to_ir_type, ctx)\n",
        "map(mlir.aval_to_ir_type, avals)\n",
        "try:\n    mlir.aval_to_ir_type(aval)\nexcept TypeError:\n    mlir.aval_to_ir_type(ctx, aval)\n",
        "try:\n    mlir.aval_to_ir_type(ctx, aval)\nexcept TypeError:\n    mlir.aval_to_ir_type(aval)\n",
        "try:\n    mlir.aval_to_ir_type(ctx, aval)\nexcept Exception:\n    mlir.aval_to_ir_type(aval)\n",
        "if 'ctx' not in signature(mlir.aval_to_ir_type).parameters:\n    mlir.aval_to_ir_type(aval)\n",
        "if jax.__version_info__ < (0, 10, 1):\n    mlir.aval_to_ir_type(aval)\n",
        "import pytest\nwith pytest.raises(TypeError):\n    mlir.aval_to_ir_type(aval)\n",
        "jnp.clip(x, bad=1)\n",
        "mlir = other\nmlir.aval_to_ir_type(aval)\n",
    ],
    ids=str,
)
def test_a_call_that_may_work_is_left_alone(code: str) -> None:
    assert not said(code)


def test_a_broad_except_clause_guards_nothing_by_itself() -> None:
    assert len(said("try:\n    mlir.aval_to_ir_type(aval)\nexcept Exception:\n    pass\n")) == 1


def test_an_older_target_that_takes_the_call_gets_no_word() -> None:
    assert not run(HEAD + "mlir.aval_to_ir_type(aval)\n", target="0.6.2").findings


def test_that_a_function_is_deprecated_does_not_hide_that_it_refuses_the_call() -> None:
    messages = said("from jax.interpreters import pxla\npxla.global_avals_to_results_handler(a, b, c, d)\n")
    assert [m.partition(" ")[2][:13] for m in messages] == ["is deprecated", "refuses such "]
