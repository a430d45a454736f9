"""The first look: no file that anything can be said about is passed over, and few others are parsed."""

from __future__ import annotations

import pytest

from jaxmigrate import gate
from jaxmigrate.registry import load
from jaxmigrate.testing import run
from tests.fixture_cases import CASES

PASSED_OVER = {
    "comment": b"# faster than jax\nx = 1\n",
    "docstring": b'"""Like jax.thing, without jax."""\n',
    "name_that_begins_alike": b"import jaxtyping\nfrom jaxopt import prox\n",
    "imports_of_others_beside_the_word": b"import os\nfrom math import pi\njax = 3\n",
    "word_far_from_an_import": b"import os\nprint('use jax')\n",
    "no_trace": b"import numpy\n",
}


@pytest.mark.parametrize("data", PASSED_OVER.values(), ids=PASSED_OVER)
def test_passed_over(data: bytes) -> None:
    assert not gate.prefilter(data)


LOOKED_AT = {
    "import": b"import jax\n",
    "one_of_several": b"import os, jax\n",
    "continued_line": b"import os, \\\n    jax\n",
    "from": b"from jax import jit\n",
    "submodule": b"from  jax.numpy\timport sin\n",
    "as": b"import jax as j\n",
    "jaxlib": b"import jaxlib.xla_client\n",
    "behind_a_semicolon": b"x = 1; import jax\n",
    "windows": b"import os\r\nimport jax\r\n",
    "path_in_a_string": b"import importlib\nm = importlib.import_module('jax.experimental.maps')\n",
    "name_in_a_string": b'pytest.importorskip("jax")\n',
    "own_word": b"from .types import DeviceArray\n",
}


@pytest.mark.parametrize("data", LOOKED_AT.values(), ids=LOOKED_AT)
def test_looked_at(data: bytes) -> None:
    assert gate.prefilter(data)


def test_every_program_with_a_finding_is_looked_at() -> None:
    assert [case.id for case in CASES if not gate.prefilter(case.before)] == []


@pytest.mark.parametrize("data", PASSED_OVER.values(), ids=PASSED_OVER)
def test_nothing_is_said_about_what_is_passed_over(data: bytes) -> None:
    assert not run(data).findings


@pytest.mark.parametrize(
    ("name", "concerns"),
    [
        ("jax.numpy.DeviceArray", True),
        ("jax.core.Unit", True),
        ("jax._src.core.unitvar", True),
        ("jax.nothing_of_the_kind", True),
        ("jax.vmap", False),
        ("jax.sharding.SingleDeviceSharding", False),
        ("numpy.sin", False),
    ],
)
def test_only_names_that_something_is_said_about_are_followed_through_modules(name: str, concerns: bool) -> None:
    assert load().concerns(name) is concerns
