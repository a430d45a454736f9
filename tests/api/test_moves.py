"""Every rename of the tables, made by the engine: what comes out is there in all releases from the target on."""

from __future__ import annotations

import ast

import pytest

from jaxmigrate.engine import rewrite_source
from jaxmigrate.model import Settings, Status, Version
from jaxmigrate.registry import history
from tests.api.recordings_read import VERSIONS, usable
from tests.fixture_cases import EVERYTHING

MOVES = [
    a.symbol for a in history().advices.values() if a.verb == "move" and "(" not in a.symbol and not a.symbol.startswith("flags.")
]
STYLES = {
    "attribute": "import jax\nimport {module}\nprint({module}.{name})\n",
    "from": "from {module} import {name}\nprint({name})\n",
}


TARGETS = ["0.4.13", "0.4.30", "0.6.2", VERSIONS[-1]]
WAYS = [(target, style) for target in TARGETS for style in STYLES]
SHARES = 1 if EVERYTHING else len(WAYS) // 2
"""Each move is tried in two of the ways, or in all of them."""


def meaning(text: str) -> str:
    """The qualified name of what a program prints."""
    tree = ast.parse(text)
    bound: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            bound |= {a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            bound |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)
    first, _, rest = ast.unparse(last.value.args[0]).partition(".")
    return f"{bound[first]}.{rest}" if rest else bound[first]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "style"), WAYS)
def test_a_moved_name_is_there_from_the_target_on(target: str, style: str) -> None:
    wrong, moved = [], 0
    mine = MOVES[WAYS.index((target, style)) % SHARES :: SHARES]
    for symbol in mine:
        entry = history().entry(symbol)
        if entry is not None and entry.ranges[0].first > Version.parse(target):
            continue  # no program for that target can use it
        module, _, name = symbol.rpartition(".")
        result = rewrite_source(STYLES[style].format(module=module, name=name).encode(), Settings(target=Version.parse(target)))
        if result.status is not Status.REWRITTEN or any("newer than the target" in f.message for f in result.findings):
            continue
        new = meaning(result.after.decode())
        oldest = max([Version.parse(target), *(f.requires for f in result.findings if f.requires)])
        lacking = [v for v in VERSIONS if Version.parse(v) >= oldest and new.startswith("jax") and not usable(v, new)]
        moved += new != symbol
        wrong += [f"{symbol} -> {new}: not in {', '.join(lacking)}"] if lacking and new != symbol else []
    assert wrong == []
    assert moved > 0.4 * len(mine)
