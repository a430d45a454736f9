"""Which branches, operands and decorators go when a condition is known."""

from __future__ import annotations

import ast

import pytest

from jaxmigrate.codemod import DeleteStatement, KeepBlock, ReplaceExpr
from jaxmigrate.folding import Fold, fold, harmless, remove_element
from jaxmigrate.names import Source


def folded(text: str, value: bool = True) -> Fold:
    source = Source(text.encode())
    return fold(source, source.by_id["F"][0], value)


@pytest.mark.parametrize(
    ("text", "value", "block"),
    [
        ("if F: a\nelse: b\n", True, "body"),
        ("if F: a\nelse: b\n", False, "orelse"),
        ("if not F: a\n", True, "orelse"),
        ("if F is False: a\n", True, "orelse"),
        ("if F == True: a\n", True, "body"),
        ("if bool(not F): a\n", False, "body"),
        ("if x or F: a\n", True, "body"),
        ("if isinstance(x, T) or F: a\n", True, "body"),
        ("if F and x: a\n", False, "orelse"),
    ],
)
def test_block_that_is_kept(text: str, value: bool, block: str) -> None:
    (change,) = folded(text, value).changes
    assert isinstance(change, KeepBlock)
    assert change.block == block


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x = F\n", True),
        ("x = y and F\n", True),
        ("x = y or F\n", True),
        ("if f() or F: a\n", True),
        ("if F == other: a\n", True),
        ("if other == F: a\n", True),
        ("while F: a\n", True),
        ("def f():\n    if F:\n        yield 1\n", False),
        ("@skipIf(F, 'why')\ndef f(): pass\n", True),
        ("skipIf(F, 'why')\n", False),
    ],
)
def test_truth_stays_as_a_literal(text: str, value: bool) -> None:
    result = folded(text, value)
    (change,) = result.changes
    assert isinstance(change, ReplaceExpr)
    assert result.literal


def test_assert_goes_or_stays_to_fail() -> None:
    assert isinstance(folded("assert F, 'why'\n").changes[0], DeleteStatement)
    assert not folded("assert F\n", False).changes
    assert not folded("assert not F\n").changes


def test_dropped_statements_are_named() -> None:
    assert [ast.unparse(s) for s in folded("if F: a\nelse:\n    b\n    c\n").dropped] == ["b", "c"]
    assert not folded("if F: a\n").dropped


def test_yield_of_an_inner_function_makes_no_generator() -> None:
    assert isinstance(folded("def f():\n    if F:\n        def g(): yield 1\n", False).changes[0], KeepBlock)


@pytest.mark.parametrize("text", ["x", "x.a[1]", "isinstance(x, (A, B))", "not x", "x < 1 and len(y) > 2"])
def test_harmless(text: str) -> None:
    assert harmless(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("text", ["f(x)", "x.pop()", "(y := 1)", "[a for a in b]", "len(f(x))", "await_(x)", "isinstance(*x)"])
def test_not_harmless(text: str) -> None:
    assert not harmless(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[F]", "[]"),
        ("[F,]", "[]"),
        ("[F, a]", "[a]"),
        ("[a, F]", "[a]"),
        ("[a, F,]", "[a,]"),
        ("[a, F, b]", "[a, b]"),
        ("[\n  a,\n  F,\n  b,\n]", "[\n  a,\n  b,\n]"),
        ("[\n  a,\n  F,\n]", "[\n  a,\n]"),
        ("(a, F)", "(a,)"),
        ("(F, a)", "(a,)"),
        ("(F, a,)", "(a,)"),
        ("(F,)", "()"),
        ("{a, F}", "{a}"),
        ("{F: 1, **b}", "{**b}"),
        ("{**b, F: 1}", "{**b}"),
        ("{a: 1, F: 2, c: 3}", "{a: 1, c: 3}"),
    ],
)
def test_element_taken_out(text: str, expected: str) -> None:
    source = Source(text.encode())
    change = remove_element(source, source.by_id["F"][0])
    assert change is not None
    assert source.text[: change.start] + change.text + source.text[change.end :] == expected


@pytest.mark.parametrize("text", ["{F}", "[(F), a]", "[a, (F)]", "a, F", "f(F)"])
def test_element_that_stays(text: str) -> None:
    source = Source(text.encode())
    assert remove_element(source, source.by_id["F"][0]) is None
