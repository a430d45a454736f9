"""A tree that switches jax_array on here and off there: old arrays reach new code and end in "RecursionError: jit".

https://jax.readthedocs.io/en/latest/jax_array_migration.html, last section.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jaxmigrate.codemod import MANUAL, Codemod, FileSite, Note
from jaxmigrate.model import Fact

from . import _jax_array as flags
from . import _jax_array_outside as outside

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "recursive-jit",
    summary="one part of the tree switches jax_array on, another off",
    since="0.4.1",
    deprecated="0.4.7",
    removed="0.4.14",
    link="https://jax.readthedocs.io/en/latest/jax_array_migration.html",
    words=frozenset({flags.ARRAY, flags.ARRAY.upper(), f"no{flags.ARRAY}"}),
    applicability=MANUAL,
)

codemod.text(rb"\bJAX_ARRAY[ \t]*[=: \t][ \t]*[\"']?(?:1|true|t|yes|y|on)\b", "", note="on")
codemod.text(rb"\bJAX_ARRAY[ \t]*[=: \t][ \t]*[\"']?(?:0|false|f|no|n|off)\b", "", note="off")
codemod.text(rb"--jax_array(?:=(?:1|true|t|yes|y)\b|(?![=\w]))", "", note="on")
codemod.text(rb"--nojax_array\b(?!=)|--jax_array=(?:0|false|f|no|n)\b", "", note="off")

_ADVICE = (
    "jax_array is switched on at {on} and off at {off}: arrays made where it is off and used where it is on end in "
    '"RecursionError: jit"; there is only jax.Array now, so delete every one of these places'
)


@codemod.file
def switches(site: FileSite) -> Iterator[Note]:
    """Note every place of a file that switches the flag."""
    source = site.source
    for node, setting in (*_configuration(source), *_outside(source), *outside.keyword_settings(source)):
        if setting is not None and setting.flag == flags.ARRAY and setting.on is not None:
            yield Note("on" if setting.on else "off", node)


def _configuration(source: Source) -> Iterator[tuple[ast.AST, flags.Setting | None]]:
    for call in source.calls(*flags.UPDATES):
        yield call, flags.update_setting(source, call)
    for call in source.calls(flags.MANAGER):
        yield call, flags.manager_setting(source, call)
    for name in source.names(*flags.UPDATES):
        later = source.parent(name)
        if isinstance(later, ast.Call) and later.args[:1] == [name]:
            yield later, flags.update_setting(source, later, deferred=True)


def _outside(source: Source) -> Iterator[tuple[ast.AST, flags.Setting | None]]:
    for node in source.strings:
        if isinstance(source.parent(node), ast.Expr):  # a docstring
            continue
        if node.value in flags.VARIABLES:
            yield node, outside.variable_setting(source, node)
        elif flags.ARRAY in str(node.value) or flags.ARRAY.upper() in str(node.value):
            yield node, outside.argument_setting(source, node)


@codemod.project
def together(facts: Sequence[Fact]) -> Iterator[tuple[Fact, str]]:
    """One finding for the tree, at the first place that switches the flag off."""
    on = [f for f in facts if f.value == "on"]
    off = [f for f in facts if f.value == "off"]
    if on and off:
        root = _root(facts)
        yield (
            min(off, key=lambda fact: (fact.path, fact.position.line)),
            _ADVICE.format(on=_places(on, root), off=_places(off, root)),
        )


def _places(facts: Sequence[Fact], root: str) -> str:
    """``a.py:2, 7, b.py:3``, in the order of paths and lines."""
    lines: dict[str, set[int]] = {}
    for fact in facts:
        lines.setdefault(fact.path.removeprefix(root), set()).add(fact.position.line)
    return ", ".join(f"{path}:{', '.join(map(str, sorted(numbers)))}" for path, numbers in sorted(lines.items()))


def _root(facts: Sequence[Fact]) -> str:
    """What absolute paths have in common: not worth repeating for each place."""
    folders = [os.path.dirname(fact.path) for fact in facts]
    return os.path.join(os.path.commonpath(folders), "") if all(map(os.path.isabs, folders)) else ""
