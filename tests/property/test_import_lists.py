"""Import lists in any layout: what is read is written back, and what is taken from them is what was asked for."""

from __future__ import annotations

import ast
import io
import tokenize

from hypothesis import given
from hypothesis import strategies as st

from jaxmigrate.import_lists import ImportName, Place, joined, parse

NAMES = st.lists(st.sampled_from([f"{a}{b}" for a in "aBc" for b in ("", "x", "_y", "Z")]), min_size=1, max_size=6, unique=True)
LIMITS = st.sampled_from([30, 60, 100])


@st.composite
def statements(draw: st.DrawFn) -> str:
    """One ``from`` import, with comments and line breaks wherever they may stand."""
    names = [f"{n} as {n}2" if draw(st.booleans()) else n for n in draw(NAMES)]
    if draw(st.booleans()):
        return "from m.n import " + draw(st.sampled_from([", ", ",", ", \\\n  "])).join(names)
    text = draw(st.sampled_from(["(", "( ", "(\n    ", "(  # opening\n    ", "(\n    # heading\n    "]))
    for number, name in enumerate(names):
        last = number == len(names) - 1
        breaks = [f",  # of {number}\n    ", ",\n    ", ", ", ",", f",\n    # above {number}\n    "]
        ends = [")", ",)", ",\n)", "\n    )", f"  # of {number}\n)", f",  # of {number}\n    # below\n)"]
        text += name + draw(st.sampled_from(ends if last else breaks))
    return f"from m.n import {text}"


def _names(text: str) -> list[tuple[str, str | None]]:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.ImportFrom)
    return [(a.name, a.asname) for a in node.names]


def _comments(text: str) -> list[str]:
    return [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]


@given(statements())
def test_read_and_written(text: str) -> None:
    assert _names(str(parse(text))) == _names(text)
    assert _comments(str(parse(text))) == _comments(text)


@given(statements(), st.data(), LIMITS, st.booleans(), st.booleans())
def test_parts_make_up_the_whole(text: str, data: st.DataObject, limit: int, tall: bool, aligned: bool) -> None:
    whole = parse(text)
    going = set(data.draw(st.lists(st.sampled_from(whole.names))))
    stay = whole.select(lambda name: name not in going)
    gone = whole.select(going.__contains__, lambda name: name not in going)
    parts = [str(p.fitted(Place(limit, aligned=aligned), tall=tall)) for p in (stay, gone) if p is not None]
    assert sorted(n for part in parts for n in _names(part)) == sorted(_names(text))
    assert sorted(c for part in parts for c in _comments(part)) == sorted(_comments(text))


@given(statements(), statements(), LIMITS)
def test_joined(one: str, other: str, limit: int) -> None:
    text = str(joined([parse(one), parse(other)], Place(limit)).fitted(Place(limit), tall=True))
    assert set(_names(text)) == {*_names(one), *_names(other)}
    assert len(_names(text)) == len(set(_names(text)))


@given(statements(), NAMES, LIMITS)
def test_added(text: str, names: list[str], limit: int) -> None:
    grown = parse(text)
    for name in names:
        grown = grown.added(ImportName(name))
    result = str(grown.fitted(Place(limit), tall=True))
    assert set(_names(result)) == {*_names(text), *((name, None) for name in names)}
    assert _comments(result) == _comments(text) or sorted(_comments(result)) == sorted(_comments(text))
