"""The version and the kind of arrays that a program was written for, guessed from its text."""

from __future__ import annotations

import subprocess
import sys

import pytest

from jaxmigrate import legacy

CASES = {
    "nothing old": ("import jax\n", ("0.3.25", False)),
    "pjit of the first years": ("pjit(f, in_axis_resources=P('x'), out_axis_resources=None)", ("0.3.25", False)),
    "GlobalDeviceArray": ("from jax.experimental.global_device_array import GlobalDeviceArray", ("0.3.25", False)),
    "both kinds of arrays": ("GlobalDeviceArray\nfrom jax.sharding import Mesh\njax.sharding", ("0.4.6", False)),
    "both, chosen by the flag": ("GlobalDeviceArray\njax.sharding\nif jax.config.jax_array: x", ("0.4.6", True)),
    "the flag with GlobalDeviceArray alone": ("GlobalDeviceArray\nif jax.config.jax_array: x", ("0.4.6", False)),
    "the flag alone": ("if config.jax_array: x", ("0.4.6", True)),
    "new arrays in FROM_GDA": ("x = jax.make_array_from_callback(s, n, f)\npjit(f, FROM_GDA, None)", ("0.4.6", True)),
    "new keywords": ("pjit(f, in_shardings=None, out_shardings=None)", ("0.4.6", True)),
    "shards of a result": ("out.addressable_shards[0]", ("0.4.6", True)),
    "from jax import sharding": ("from jax import sharding\n", ("0.4.6", True)),
    "a word that only begins like it": ("resharding.jax_arrays\n", ("0.3.25", False)),
    "lists for a spec": ("GlobalDeviceArray.from_callback((8,), mesh, ['x'], f)", ("0.3.1", False)),
    "lists for a shape": (
        "GlobalDeviceArray(global_shape=[8], global_mesh=m, mesh_axes=P('x'), device_buffers=b)",
        ("0.3.1", False),
    ),
    "static_argnums fourth": ("jax.Array\npjit(f, None, None, (0,))", ("0.4.3", True)),
    "donate_argnums fifth": ("jax.Array\npjit(f, None, None, 0, 1)", ("0.4.1", True)),
    "specs fourth and fifth": ("jax.Array\npjit(f, u, u, P('x'), P('x'))", ("0.4.6", True)),
    "only in words": ('"""Makes a jax.Array."""\nx = 1  # in_shardings\n', ("0.3.25", False)),
    "only in the words of a function": ("def f():\n    # none\n    'jax.Array of jax.sharding'\n", ("0.3.25", False)),
    "in a string that is a value": ("update('jax_parallel_functions_output_gda', True)\njax.sharding", ("0.4.6", False)),
    "both classes in a test": ("isinstance(x, (jnp.DeviceArray, jax.Array))", ("0.3.25", False)),
    "a comment cut in two": ("x = 'é'  # jax.Array\ny = jax.sharding", ("0.4.6", True)),
    "not Python": ("pjit(f, None, None, 0\n jax.Array", ("0.4.6", True)),
}


@pytest.mark.parametrize("name", CASES)
def test_guess(name: str) -> None:
    text, expected = CASES[name]
    assert legacy.guess([text.encode()]) == expected


@pytest.mark.parametrize(
    ("text", "jax_array"),
    [
        ("from jax.sharding import Mesh\npjit(f, in_shardings=P('x'), out_shardings=P('x'))(batch)", False),
        ("jax.sharding\nx = multihost_utils.host_local_array_to_global_array(b, mesh, P('x'))", True),
        ("jax.sharding\nx = jax.make_array_from_callback(s, n, f)", True),
        ("jax.sharding\njax.config.update('jax_array', True)", True),
        ("jax.sharding\njax.config.update('jax_array', False)", False),
        ("jax.sharding\nout.addressable_shards", True),
    ],
)
def test_several_processes_gave_pjit_host_local_arrays(text: str, jax_array: bool) -> None:
    assert legacy.guess([text.encode()], processes=2) == ("0.4.6", jax_array)
    assert legacy.guess([text.encode()])[1]


def test_several_files_are_one_program() -> None:
    assert legacy.guess([b"jax.sharding", b"GlobalDeviceArray"]) == ("0.4.6", False)


def test_no_file() -> None:
    assert legacy.guess([]) == ("0.3.25", False)


def test_every_guess_is_a_known_version() -> None:
    assert {legacy.guess([text.encode()])[0] for text, _ in CASES.values()} <= {*legacy.VERSIONS}


def test_guessing_does_not_import_jax() -> None:
    code = "import sys; from jaxmigrate import legacy; legacy.guess([b'']); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
