"""Vanished names in every position of a program: mentioned once, or left alone in a dead branch; living names are never accused."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest

from jaxmigrate.fates import Fate, judge
from jaxmigrate.model import Outcome, Status
from jaxmigrate.registry import history
from jaxmigrate.testing import run
from tests.fixture_cases import EVERYTHING

NAMES = 60 if EVERYTHING else 4
"""Names that are tried in each position: others in each position, the same in each run."""
POSITIONS = {
    "call": "import {m}\nx = {s}(y)\n",
    "value": "import {m}\nx = [{s}]\n",
    "module_as": "import {m} as mm\nmm.{n}(y)\n",
    "root_as": "import jax as J\nJ.{rest}\n",
    "from_import": "from {m} import {n}\n{n}(y)\n",
    "from_import_as": "from {m} import {n} as q\nq(y)\n",
    "alias": "import {m}\nq = {s}\nq(y)\n",
    "walrus": "import {m}\nif (q := {s}): q(y)\n",
    "tuple": "import {m}\na, b = {s}, 1\n",
    "dict_value": "import {m}\nD = {{'a': {s}}}\n",
    "default": "import {m}\ndef f(a, b={s}): return b\n",
    "keyword_value": "import {m}\ng(fun={s})\n",
    "class_attribute": "import {m}\nclass A:\n    q = {s}\n",
    "attribute_of_self": "import {m}\nclass A:\n    def __init__(self):\n        self.q = {s}\n",
    "base_class": "import {m}\nclass A({s}): ...\n",
    "global": "import {m}\ndef f():\n    global q\n    q = {s}\n",
    "partial": "import functools\nimport {m}\nf = functools.partial({s}, 1)\n",
    "decorator": "import {m}\n@{s}\ndef f(x): return x\n",
    "decorator_with_arguments": "import {m}\nfrom functools import partial\n@partial({s}, k=1)\ndef f(x): return x\n",
    "annotation": "import {m}\ndef f(x: {s}) -> {s}: ...\n",
    "string_annotation": "import {m}\ndef f(x: '{s}') -> None: ...\n",
    "postponed_annotation": "from __future__ import annotations\nimport {m}\ndef f(x: list[{s}]) -> None: ...\n",
    "type_comment": "import {m}\nx = []  # type: {s}\n",
    "cast": "import {m}\nfrom typing import cast\ncast('{s}', y)\n",
    "type_checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {m} import {n}\ndef f(x: '{n}'): ...\n",
    "isinstance": "import {m}\nisinstance(y, {s})\nissubclass(Y, (int, {s}))\n",
    "lambda": "import {m}\nf = lambda q: {s}(q)\n",
    "comprehension": "import {m}\nf = [{s}(q) for q in y]\n",
    "conditional": "import {m}\nx = {s} if y else None\n",
    "match_value": "import {m}\nmatch y:\n    case {s}:\n        x = 1\n",
    "match_class": "import {m}\nmatch y:\n    case {s}():\n        x = 1\n",
    "f_string": "import {m}\nx = f'{{{s}}}'\n",
    "nested_import": "def f():\n    from {m} import {n}\n    def g():\n        return {n}(y)\n    return g\n",
    "await": "import {m}\nasync def f():\n    await {s}(y)\n",
    "with": "import {m}\nwith {s}(y):\n    pass\n",
    "except": "import {m}\ntry:\n    f()\nexcept {s}:\n    pass\n",
    "else_of_try": "import {m}\ntry:\n    f()\nexcept ValueError:\n    pass\nelse:\n    {s}(y)\n",
    "behind_what_lives": "import {m}\ntry:\n    f()\n    {s}(y)\nexcept Exception:\n    pass\n",
    "try_without_a_successor": "try:\n    from {m} import {n}\nexcept ImportError:\n    {n} = None\nif {n}: {n}(y)\n",
    "exported": "from {m} import {n}\n__all__ = ['{n}']\n",
    "passed_on": "from {m} import {n} as {n}\n",
    "getattr": "import {m}\nx = getattr({m}, '{n}')\n",
    "mock": "from unittest import mock\nmock.patch('{s}')\n",
    "loaded_by_path": "import importlib\nimportlib.import_module('{m}').{n}\n",
    "loaded_by_builtin": "m = __import__('{m}', fromlist=['x'])\nm.{n}\n",
    "code_in_a_string": "import {m}\neval('{s}')\n",
    "deeper": "import {m}\n{s}.foo.bar(1)\n",
    "item": "import {m}\n{s}[0]\n",
}  # fmt: skip
DEAD_BRANCHES = {
    "new_first": "try:\n    from jax import jit as q\nexcept ImportError:\n    from {m} import {n} as q\nq(y)\n",
    "old_first": "try:\n    from {m} import {n} as q\nexcept ImportError:\n    from jax import jit as q\nq(y)\n",
    "attribute_first": "import {m}, jax\ntry:\n    q = {s}\nexcept AttributeError:\n    q = jax.jit\n",
    "set_before": "import {m}, jax\nq = jax.jit\ntry:\n    q = {s}\nexcept AttributeError:\n    pass\n",
    "asks_for_the_new": "import {m}, jax\nif hasattr(jax, 'jit'):\n    q = jax.jit\nelse:\n    q = {s}\n",
    "asks_for_the_old": "import {m}, jax\nif x:\n    q = 1\nelif hasattr({m}, '{n}'):\n    q = {s}\nelse:\n    q = jax.jit\n",
    "asks_whether_the_old_is_gone": "import {m}, jax\nif not hasattr({m}, '{n}'):\n    q = jax.jit\nelse:\n    q = {s}\n",
    "asks_before": "import {m}, jax\nHAS = hasattr({m}, '{n}')\ndef f():\n    return {s} if HAS else jax.jit\n",
    "getattr_with_another": "import {m}, jax\nq = getattr({m}, '{n}', jax.jit)\n",
    "older_version": "import {m}, jax\nif jax.__version_info__ < (0, 2):\n    {s}(y)\n",
    "else_of_newer_version": "import {m}, jax\nif jax.__version_info__ >= (0, 4):\n    q = jax.jit\nelse:\n    q = {s}\n",
    "parsed_version": "import {m}, jax\nfrom packaging.version import Version as V\nq = {s} if V(jax.__version__) < V('0.2.1') else 1\n",
    "version_asked_before": "import {m}, jax\nOLD = jax.__version_info__ < (0, 2)\ndef f():\n    if OLD:\n        return {s}\n    return jax.jit\n",
    "returned_before": "import {m}, jax\ndef f():\n    if hasattr(jax, 'jit'):\n        return jax.jit\n    return {s}\n",
    "and_or": "import {m}, jax\nq = hasattr({m}, '{n}') and {s} or jax.jit\n",
    "handler_in_a_function": "import {m}, jax\ndef f(y):\n    try:\n        return jax.tree.map(g, y)\n    except AttributeError:\n        return {s}(y)\n",
}  # fmt: skip


@cache
def names(*, alive: bool) -> list[str]:
    """Names of JAX that are gone while their module is not, or that the newest release has without reserve."""
    known, found = history(), []
    for module in (
        s for s in known.sections() if s.startswith("jax") and judge(known, s, known.versions[-1], as_module=True) is None
    ):
        for entry in known.members(module).values():
            verdict = judge(known, entry.symbol, known.versions[-1])
            fit = (
                verdict is None and not entry.kinds & {"leak", "static", "module"}
                if alive
                else verdict is not None and verdict.fate is Fate.GONE
            )
            if entry.alive is alive and fit and not entry.symbol.endswith(".zip"):  # a builtin, so a star import tells nothing
                found.append(entry.symbol)
    return found


def programs(position: str, template: str, *, alive: bool = False) -> list[str]:
    """The template with some names, which the position chooses."""
    chosen = random.Random(position).sample(names(alive=alive), NAMES)
    return [template.format(s=s, m=s.rpartition(".")[0], n=s.rpartition(".")[2], rest=s.partition(".")[2]) for s in chosen]


@pytest.mark.parametrize("position", POSITIONS)
def test_a_vanished_name_is_mentioned_once(position: str) -> None:
    for program in programs(position, POSITIONS[position]):
        result = run(program)
        said = [f for f in result.findings if f.outcome is not Outcome.GUARDED]
        places = Counter((f.position, f.symbol) for f in said)
        assert set(places.values()) == {1}, (program, said)
        if result.status is Status.REWRITTEN:
            assert run(result.after).status is Status.UNCHANGED, program


@pytest.mark.parametrize("branch", DEAD_BRANCHES)
def test_a_vanished_name_in_a_dead_branch_is_left_alone(branch: str) -> None:
    for program in programs(branch, DEAD_BRANCHES[branch]):
        result = run(program)
        assert result.status is Status.UNCHANGED, program
        assert not [f for f in result.findings if f.outcome is not Outcome.GUARDED], program


@pytest.mark.parametrize("position", POSITIONS)
def test_a_living_name_is_not_accused(position: str) -> None:
    ours = ["removed-names", "unknown-names"]
    for program in programs(position, POSITIONS[position], alive=True):
        assert not run(program, select=ours).findings, program
