"""version-strings: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Outcome, Severity
from jaxmigrate.testing import rewritten, run, unchanged

SELECT = {"select": "version-strings"}
UNCHANGED = {
    "numbers": "import jax\njax.__version_info__ >= (0, 4, 1)\n",
    "parsed": "import jax\nfrom packaging.version import Version\nVersion(jax.__version__) >= Version('0.4.1')\n",
    "split_and_made_numbers": "import jax\ntuple(map(int, jax.__version__.split('.'))) >= (0, 4)\n",
    "one_number": "import jax\nint(jax.__version__.split('.')[1]) >= 4\n",
    "equality": "import jax\njax.__version__ == '0.4.1'\njax.__version__ in ('0.4.1', '0.4.2')\n",
    "right_for_all_releases": "import jax\njax.__version__ >= '0.0'\njax.__version__ < '1'\n",
    "another_library": "import jax, torch\ntorch.__version__ >= '0.4.1'\n",
    "own_name": "import jax\njax = mine\njax.__version__ >= '0.4.1'\n",
    "no_version": "import jax\njax.__version__ >= wanted\nprint(jax.__version__ > 'abc')\n",
    "the_first_number": "import jax\njax.__version__.split('.')[0] < '1'\n",
    "from_the_release_that_sorts_last": "import jax\njax.__version__ >= '0.12'\n",
    "equal_parts": "import jax\njax.__version__.split('.')[:2] == ['0', '4']\n",
    "parts_of_another_length": "import jax\njax.__version__.split('.')[0] < '1'\njax.__version__.split('.') >= ['0', 'x']\n",
    "put_to_something_else": "import jax\nparts = f(jax.__version__)\nparts < ['0', '4']\n",
    "another_comparison_of_decimals": "import jax\nfloat(x) > 0.4\nfloat(jax.__version__[:3]) > limit\n",
}  # fmt: skip


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED)
def test_unchanged(source: str) -> None:
    unchanged(source, target="0.12.0", **SELECT)
    if "0.12" not in source:
        unchanged(source, **SELECT)


REWRITTEN = {
    "attribute": ("import jax\nx = jax.__version__ >= '0.4.1'\n", "import jax\nx = jax.__version_info__ >= (0, 4, 1)\n"),
    "mirrored": ("import jax\nx = '0.4.1' > jax.__version__\n", "import jax\nx = (0, 4, 1) > jax.__version_info__\n"),
    "chain": (
        "import jax\nx = '0.4.1' <= jax.__version__ < '0.13.0'\n",
        "import jax\nx = (0, 4, 1) <= jax.__version_info__ < (0, 13, 0)\n",
    ),
    "one_number": ("import jax\nx = jax.__version__ < '00'\n", "import jax\nx = jax.__version_info__ < (0,)\n"),
    "imported": (
        "import jax\nfrom jax import __version__ as v\nx = v < '0.4'\n",
        "import jax\nx = jax.__version_info__ < (0, 4)\n",
    ),
    "variable": ("import jax\nV = jax.__version__\nx = V < '0.4'\n", "import jax\nV = jax.__version__\nx = jax.__version_info__ < (0, 4)\n"),
    "list": ("import jax\nx = jax.__version__.split('.') >= ['0', '4']\n", "import jax\nx = jax.__version_info__ >= (0, 4)\n"),
    "tuple": ("import jax\nx = tuple(jax.__version__.split('.')) < ('0', '4', '01')\n", "import jax\nx = jax.__version_info__ < (0, 4, 1)\n"),
    "beginning": ("import jax\nx = jax.__version__.split('.')[:2] >= ['0', '4']\n", "import jax\nx = jax.__version_info__[:2] >= (0, 4)\n"),
    "part": ("import jax\nx = jax.__version__.split('.')[1] < '4'\n", "import jax\nx = jax.__version_info__[1] < 4\n"),
    "str": ("import jax\nx = str(jax.__version__) < '0.4'\n", "import jax\nx = jax.__version_info__ < (0, 4)\n"),
    "or": (
        "import jax\nx = jax.__version__ < '0.3' or jax.__version__ >= '0.4'\n",
        "import jax\nx = jax.__version_info__ < (0, 3) or jax.__version_info__ >= (0, 4)\n",
    ),
    "list_of_a_variable": (
        "import jax\nv = jax.__version__\nx = v.split('.')[:2] >= ['0', '4']\n",
        "import jax\nv = jax.__version__\nx = jax.__version_info__[:2] >= (0, 4)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten(before: str, after: str) -> None:
    rewritten(before, after, allowed="unsafe", **SELECT)


def test_held_unless_unsafe_edits_are_wanted() -> None:
    [finding] = run("import jax\nx = jax.__version__ >= '0.4.1'\n", **SELECT).findings
    assert (finding.outcome, finding.severity) == (Outcome.HELD, Severity.URGENT)


VARIABLES = "LIMIT = '0.4'; LIMITS = ['0', '4']; PARTS = jax.__version__.split('.')"


@pytest.mark.parametrize(
    "test",
    [
        "jaxlib.__version__ < '0.4'",
        "jax.__version__ < LIMIT",
        "float(jax.__version__[:3]) < 0.4",
        "float('.'.join(jax.__version__.split('.')[:2])) < 0.4",
        "jax.__version__[:3] < '0.4'",
        "jax.__version__ < '0.4.1rc1'",
        "'0.4.1.dev0' <= jax.__version__",
        "PARTS < ['0', '4']",
        "PARTS[:2] < LIMITS",
    ],
)
def test_reported(test: str) -> None:
    [finding] = run(f"import jax, jaxlib\n{VARIABLES}\nif {test}:\n    f()\n", **SELECT).findings
    assert (finding.outcome, finding.severity, finding.position.line) == (Outcome.MANUAL, Severity.URGENT, 3)


def test_the_arm_that_runs_then_is_migrated_and_the_other_one_stays() -> None:
    rewritten(
        "import jax\nif jax.__version__ >= '0.4.1':\n    jax.tree_map(f, x)\nelse:\n    jax.tree_multimap(f, x)\n",
        "import jax\nif jax.__version_info__ >= (0, 4, 1):\n    jax.tree.map(f, x)\nelse:\n    jax.tree_multimap(f, x)\n",
        allowed="unsafe",
    )
