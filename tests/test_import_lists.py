"""Import lists as their authors laid them out: read without loss, and changed without touching the lines of other names."""

from __future__ import annotations

import pytest

from jaxmigrate.import_lists import ImportName, Place, joined, parse

AS_WRITTEN = [
    "import a.b as c, d",
    "from a import b",
    "from . import (a)",
    "from a.b import (c,\n   d)",
    "from a import b, \\\n  c",
    "from a import \\\n  b",
    "from a \\\n import (a, b,\n c # x\n)",
    "from a import ( b,  c)",
    "from a import (  # noqa\n    b,\n    # x\n    c,  # y\n\n    d as e,\n    # z\n)",
    "from a import (\n    b, c,\n    d,\n)",
]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_read_and_written_as_it_was(text: str) -> None:
    assert str(parse(text)) == text


KEPT = {
    "the_comment_of_a_name_that_stays": ("from m import (a,  # noqa\n               b)", "a", "from m import a  # noqa"),
    "lines_of_others": (
        "from m import (\n    a,\n    b,  # why\n    c,\n)",
        "b c",
        "from m import (\n    b,  # why\n    c,\n)",
    ),
    "one_name_of_many_lines": ("from m import (\n    a,\n    b,\n)", "a", "from m import a"),
    "backslash": ("from m import a, b, \\\n    c", "c", "from m import c"),
    "heading_of_names_that_stay": (
        "from m import (\n    # two\n    a,\n    b,\n    # one\n    c,\n)",
        "b c",
        "from m import (\n    # two\n    b,\n    # one\n    c,\n)",
    ),
    "heading_of_names_that_go": (
        "from m import (\n    # two\n    a,\n    b,\n    # one\n    c,\n    d,\n)",
        "c d",
        "from m import (\n    # one\n    c,\n    d,\n)",
    ),
    "first_of_an_aligned_list": (
        "from m import (a,\n               b,  # why\n               c)",
        "b c",
        "from m import (b,  # why\n               c)",
    ),
    "last_with_a_comment": ("from m import (a,  # why\n               b, c)", "a b", "from m import (a,  # why\n               b)"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "names", "after"), KEPT.values(), ids=KEPT)
def test_some_names_stay(text: str, names: str, after: str) -> None:
    kept = parse(text).select({ImportName(name) for name in names.split()}.__contains__)
    assert kept is not None
    assert str(kept.fitted(Place(100), tall=True)) == after


def test_a_long_list_is_spread_as_it_was() -> None:
    text = "from m import (aaaaaaaa, bbbbbbbb, cccccccc,\n               dddddddd, eeeeeeee, ffffffff)"
    kept = parse(text).select(lambda name: name.name != "bbbbbbbb")
    assert kept is not None
    assert str(kept.fitted(Place(45))) == "from m import (aaaaaaaa, cccccccc, dddddddd,\n               eeeeeeee, ffffffff)"


ADDED = {
    "classes_before_functions": ("from m import Jaxpr, eval_jaxpr", "Var", "from m import Jaxpr, Var, eval_jaxpr"),
    "whatever_their_case": ("from m import eval_jaxpr, Jaxpr", "Var", "from m import eval_jaxpr, Jaxpr, Var"),
    "unsorted": ("from m import c, a", "b", "from m import c, a, b"),
    "twice": ("from m import a, b", "b", "from m import a, b"),
    "first_of_an_aligned_list": (
        "from m import (b,  # why\n               c)",
        "a",
        "from m import (a,\n               b,  # why\n               c)",
    ),
    "in_brackets": ("from m import (\n    a,\n    c,\n)", "b", "from m import (\n    a,\n    b,\n    c,\n)"),
    "too_long": ("from mmmmmmmmmmmmmm import aaaaaaaaaa", "bbbbbbbbbb", "from mmmmmmmmmmmmmm import (\n    aaaaaaaaaa,\n    bbbbbbbbbb,\n)"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "name", "after"), ADDED.values(), ids=ADDED)
def test_a_name_is_added(text: str, name: str, after: str) -> None:
    assert str(parse(text).added(ImportName(name)).fitted(Place(40), tall=True)) == after


def test_joined_with_the_comments() -> None:
    lists = [parse("from m import (\n    a,  # one\n    c,\n)"), parse("from m import (\n    b,  # two\n    d,\n)")]
    assert str(joined(lists, Place(100))) == "from m import (\n    a,  # one\n    b,  # two\n    c,\n    d,\n)"


def test_joined_as_the_longest_is_laid_out() -> None:
    lists = [parse("from m import e"), parse("from m import (b, d,\n               c, a)")]
    assert str(joined(lists, Place(100))) == "from m import (b, d,\n               c, a, e)"


def test_broken_as_long_lists_of_the_file_are() -> None:
    text = "from m import aaaaaaaa, bbbbbbbb, cccccccc"
    wanted = "from m import (aaaaaaaa, bbbbbbbb,\n               cccccccc)"
    assert str(parse(text).fitted(Place(35, aligned=True))) == wanted
