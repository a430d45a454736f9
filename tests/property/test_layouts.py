"""Odd but legal layouts around an edit, one by one: what Hypothesis would take long to think of."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten

FLAG = "jax-array-flag"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('"é𝒳"; x = "漢" if jax.config.jax_array else 1\n', '"é𝒳"; x = "漢"\n', id="wide-characters-before"),
        pytest.param('s = f"é {jax.config.jax_array and x!r:>9}"\n', 's = f"é {x!r:>9}"\n', id="f-string"),
        pytest.param('s = f"""\n{jax.config.jax_array}\n"""\n', 's = f"""\n{True}\n"""\n', id="f-string-over-lines"),
        pytest.param("if a:\n\tif jax.config.jax_array:\n\t\tx = 1\n\ty = 2\n", "if a:\n\tx = 1\n\ty = 2\n", id="tabs"),
        pytest.param("if a:\n  if jax.config.jax_array:\n        x\n", "if a:\n  x\n", id="uneven-indentation"),
        pytest.param("if jax.config.jax_array:\n    x\n\x0c\ny\n\x0cz\n", "x\n\x0c\ny\n\x0cz\n", id="form-feeds"),
        pytest.param("if jax.config.jax_array: x; y\nz\n", "x; y\nz\n", id="one-line-block"),
        pytest.param("if jax.config.jax_array:\n    x\\\n  .y\n", "x\\\n  .y\n", id="backslash-in-the-body"),
        pytest.param(
            "if jax.config.jax_array:\n    x = '''\n  text\n'''\nelse:\n    pass\n",
            "x = '''\n  text\n'''\n",
            id="text-is-not-dedented",
        ),
        pytest.param("if (not\n    jax.config.jax_array): x\nelse: y\n", "y\n", id="condition-over-lines"),
        pytest.param("for i in x:\n    if jax.config.jax_array:\n        continue\n", "for i in x:\n    continue\n", id="loop"),
        pytest.param(
            "try:\n    x\nfinally:\n    if not jax.config.jax_array:\n        y\n",
            "try:\n    x\nfinally:\n    pass\n",
            id="finally",
        ),
        pytest.param("async def f():\n    if jax.config.jax_array: await x\n", "async def f():\n    await x\n", id="async"),
        pytest.param(
            "match a:\n    case 1 if jax.config.jax_array:\n        b\n",
            "match a:\n    case 1 if True:\n        b\n",
            id="match-guard",
        ),
        pytest.param("def f(a=jax.config.jax_array): pass\n", "def f(a=True): pass\n", id="default-value"),
        pytest.param("if (a := jax.config.jax_array): x\n", "if (a := True): x\n", id="walrus"),
        pytest.param("x = lambda: jax.config.jax_array\n", "x = lambda: True\n", id="lambda"),
        pytest.param("x = [jax.config.jax_array, *y]\n", "x = [True, *y]\n", id="list"),
        pytest.param("print(not jax.config.jax_array)", "print(False)", id="no-final-newline"),
        pytest.param(
            "class A:\n    if jax.config.jax_array:\n        x = 1\n    y = 2\n",
            "class A:\n    x = 1\n    y = 2\n",
            id="class-body",
        ),
        pytest.param("if jax.config.jax_array:\n    # why\n    x\n# after\ny\n", "# why\nx\n# after\ny\n", id="comments"),
        pytest.param("assert(jax.config.jax_array)\nx\n", "x\n", id="assert-with-parentheses"),
        pytest.param("x = (jax.config.jax_array\n     and y)\n", "x = (y)\n", id="parenthesised-over-lines"),
        pytest.param("x = 1 if(jax.config.jax_array)else 2\n", "x = 1\n", id="no-blanks"),
        pytest.param("y = not(jax.config.jax_array)\n", "y = False\n", id="not-without-a-blank"),
        pytest.param(
            "while a:\n    if not jax.config.jax_array: break\nelse: x\n", "while a:\n    pass\nelse: x\n", id="loop-with-else"
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_layout(before: str, after: str, newline: str) -> None:
    head = "import jax\nprint(jax)\n"
    old, new = ((head + text).replace("\n", newline).encode() for text in (before, after))
    rewritten(old, new, select=FLAG)
