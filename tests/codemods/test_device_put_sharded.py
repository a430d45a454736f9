"""device-put-sharded: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.engine import rewrite_source
from jaxmigrate.model import Applicability, Settings, Version
from jaxmigrate.registry import known_newest
from jaxmigrate.testing import applied, rewritten, run, unchanged

NAME = "device-put-sharded"
SHARDING = "NamedSharding(Mesh({}, ('x',)), P('x'))".replace("'", '"')
HEAD = (
    "import jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\ny = jax.device_put(x, s)\n", id="device-put"),
        pytest.param("from flax.jax_utils import replicate\ny = replicate(x)\n", id="helper-of-flax"),
        pytest.param("from flax import jax_utils\ny = jax_utils.replicate(x)\n", id="module-of-flax"),
        pytest.param("from lib import device_put_replicated\ny = device_put_replicated(x, d)\n", id="another-library"),
        pytest.param("import jax\ndef device_put_sharded(x, d): ...\ny = device_put_sharded(x, d)\n", id="own-function"),
        pytest.param("import jax\ndef f(jax): return jax.device_put_sharded(x, d)\n", id="shadowed-module"),
        pytest.param("import jax\ny = self.device_put_replicated(x, d)\n", id="method"),
        pytest.param('import jax\ndef f():\n    """jax.device_put_sharded(x, d)"""\n', id="docstring"),
        pytest.param("NAMES = ['device_put_sharded', 'jax.device_put_sharded']\n", id="names-in-data"),
        pytest.param(
            "import jax\nif hasattr(jax, 'device_put_sharded'):\n    y = jax.device_put_sharded(x, d)\nelse:\n    y = g(x, d)\n",
            id="guard",
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=NAME)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("y = jax.device_put_sharded(*a)\n", "arguments hold *", id="star"),
        pytest.param("y = jax.device_put_replicated(x, **a)\n", "arguments hold *", id="double-star"),
        pytest.param("y = jax.device_put_replicated(x)\n", "no argument for devices", id="no-devices"),
        pytest.param("y = f is jax.device_put_sharded\n", "is gone", id="compared"),
        pytest.param("jax.device_put_sharded = f\n", "is gone", id="assigned-to"),
        pytest.param("y = getattr(jax, 'device_put_sharded')(x, d)\n", "stacked leaves", id="getattr"),
    ],
)
def test_reported(source: str, message: str) -> None:
    unchanged("import jax\n" + source, select=NAME, findings=[message])


@pytest.mark.parametrize(
    ("before", "tree", "devices"),
    [
        pytest.param("sharded(t, d)", "jax.tree.map(lambda *leaves: jnp.stack(leaves), *t)", "d", id="trees"),
        pytest.param("sharded(shards=t, devices=d)", "jax.tree.map(lambda *leaves: jnp.stack(leaves), *t)", "d", id="keywords"),
        pytest.param("sharded([jnp.ones(2), jnp.zeros(2)], d)", "jnp.stack([jnp.ones(2), jnp.zeros(2)])", "d", id="arrays"),
        pytest.param("sharded([np.ones(2), np.zeros(2)], d)", "np.stack([np.ones(2), np.zeros(2)])", "d", id="arrays-of-numpy"),
        pytest.param("sharded(list(jax.random.split(k)), d)", "jnp.stack(list(jax.random.split(k)))", "d", id="rows-of-an-array"),
        pytest.param("sharded(t, g())", "jax.tree.map(lambda *leaves: jnp.stack(leaves), *t)", "g()", id="devices-of-a-function"),
        pytest.param("sharded(a or b, d)", "jax.tree.map(lambda *leaves: jnp.stack(leaves), *a or b)", "d", id="choice-of-trees"),
        pytest.param("replicated(t, d)", "jax.tree.map(lambda leaf: jnp.stack([leaf] * len(d)), t)", "d", id="tree-for-all"),
        pytest.param("replicated(jnp.ones(2), d)", "jnp.stack([jnp.ones(2)] * len(d))", "d", id="array-for-all"),
        pytest.param(
            "replicated(t, jax.local_devices())",
            "jax.tree.map(lambda leaf: jnp.stack([leaf] * len(jax.local_devices())), t)",
            "jax.local_devices()",
            id="devices-of-this-process",
        ),
        pytest.param(
            "replicated(t, jax.devices('cpu')[:n])",
            "jax.tree.map(lambda leaf: jnp.stack([leaf] * len(jax.devices('cpu')[:n])), t)",
            "jax.devices('cpu')[:n]",
            id="some-devices",
        ),
        pytest.param(
            "replicated(leaf, d)", "jax.tree.map(lambda x: jnp.stack([x] * len(d)), leaf)", "d", id="name-of-the-leaf-is-taken"
        ),
    ],
)
def test_rewritten(before: str, tree: str, devices: str) -> None:
    result = rewritten(
        f"{HEAD}y = jax.device_put_{before}\n",
        f"{HEAD}y = jax.device_put(\n    {tree},\n    {SHARDING.format(devices)},\n)\n",
        select=NAME,
    )
    (finding,) = applied(result)
    assert finding.applicability is Applicability.REVIEW
    assert "PmapSharding" in finding.message


def test_devices_are_evaluated_once() -> None:
    result = run(f"{HEAD}y = jax.device_put_replicated(t, g())\n", select=NAME)
    assert result.after.count(b"g()") == 1
    assert b"(lambda x, devices: " in result.after


def test_function_as_a_value_is_a_lambda() -> None:
    before = f"{HEAD}from functools import partial\nput = partial(jax.device_put_sharded, devices=d)\n"
    tree = "jax.tree.map(lambda *leaves: jnp.stack(leaves), *shards)"
    after = before.replace(
        "jax.device_put_sharded", f"lambda shards, devices: jax.device_put(\n    {tree},\n    {SHARDING.format('devices')},\n)"
    )
    rewritten(before, after, select=NAME)


def test_older_targets_have_no_jax_tree() -> None:
    result = run(f"{HEAD}y = jax.device_put_replicated(t, d)\n", select=NAME, target="0.4.13")
    assert b"jax.tree_util.tree_map(lambda leaf" in result.after


@pytest.mark.parametrize(("origin", "applicability"), [("0.9.2", Applicability.SAFE), ("0.7.2", Applicability.REVIEW)])
def test_programs_that_are_new_enough_get_the_same_arrays(origin: str, applicability: Applicability) -> None:
    settings = Settings(target=known_newest(), select=frozenset([NAME]), origin=Version.parse(origin))
    result = rewrite_source(f"{HEAD}y = jax.device_put_sharded(t, d)\n".encode(), settings)
    assert [f.applicability for f in applied(result)] == [applicability]


def test_old_home() -> None:
    result = run("import jax\ny = jax.api.device_put_sharded(t, d)\nz = jax.api.device_put_replicated(t, d)\n", select=NAME)
    assert result.after.count(b"jax.device_put(") == 2
