"""host-local-inputs: only programs that say that several processes run them, and only on request."""

from __future__ import annotations

import functools

import pytest

from jaxmigrate import testing
from jaxmigrate.model import FileResult
from jaxmigrate.testing import findings

unchanged = functools.partial(testing.unchanged, select="host-local-inputs", allowed="unsafe")
rewritten = functools.partial(testing.rewritten, select="host-local-inputs", allowed="unsafe")
HEAD = (
    "import jax\nimport numpy as np\nfrom jax.experimental.pjit import pjit\nfrom jax.sharding import Mesh, PartitionSpec as P\n"
    "mesh = Mesh(np.array(jax.devices()), ('x',))\n"
)
STEP = "f = pjit(lambda x: x, in_axis_resources=P('x'), out_axis_resources=P('x'))\n"
CALL = "with mesh:\n    y = f(x)\n"
RANK = "rank = jax.process_index()\n"


def test_nothing_says_that_there_are_several_processes() -> None:
    unchanged(HEAD + STEP + CALL)


def test_word_in_a_comment_or_string_says_nothing() -> None:
    unchanged(HEAD + "# jax.process_index()\nhelp = 'process_index'\n" + STEP + CALL)


def test_multihost_conversion_alone_says_nothing() -> None:
    unchanged(
        HEAD
        + "from jax.experimental import multihost_utils as mu\nx = mu.host_local_array_to_global_array(a, mesh, P('x'))\n"
        + STEP
        + CALL
    )


@pytest.mark.parametrize("spec", ["None", "P()", "P(None)", "P(None, None)", "(None,)", "({'a': None, 'b': P()},)"])
def test_replicated_inputs(spec: str) -> None:
    unchanged(HEAD + RANK + f"f = pjit(lambda x: x, in_axis_resources={spec}, out_axis_resources=None)\n" + CALL)


def test_replicated_by_a_name() -> None:
    unchanged(HEAD + RANK + "spec = P()\nf = pjit(lambda x: x, in_axis_resources=spec, out_axis_resources=spec)\n" + CALL)


def test_no_input_shardings_follow_the_arrays() -> None:
    unchanged(HEAD + RANK + "f = pjit(lambda x: x, out_axis_resources=P('x'))\n" + CALL)


@pytest.mark.parametrize(
    "maker",
    ["jax.make_array_from_callback(s, n, c)", "jax.make_array_from_single_device_arrays(s, n, b)",
     "jax.make_array_from_process_local_data(n, d)", "multihost_utils.host_local_array_to_global_array(d, mesh, P('x'))"],
)  # fmt: skip
def test_global_arrays(maker: str) -> None:
    unchanged(HEAD + RANK + f"from jax.experimental import multihost_utils\nx = {maker}\n" + STEP + CALL)


def test_global_array_unpacked() -> None:
    source = "from jax.experimental import multihost_utils as mu\nx, z = mu.host_local_array_to_global_array((a, b), mesh, (P('x'), P()))\n"
    unchanged(HEAD + RANK + source + STEP + CALL)


def test_global_device_array() -> None:
    source = (
        "from jax.experimental.global_device_array import GlobalDeviceArray\nx = GlobalDeviceArray.from_callback(s, mesh, p, c)\n"
    )
    unchanged(HEAD + RANK + source + STEP + CALL)


def test_call_inside_another_pjit() -> None:
    outer = "def g(x):\n    return f(x)\ng = pjit(g, in_axis_resources=None, out_axis_resources=None)\nwith mesh:\n    g(x)\n"
    unchanged(HEAD + RANK + STEP + outer)


@pytest.mark.parametrize("line", ["pool = Pool(num_processes=4)", "process_id = os.getpid()", "host_id = 'a'", "r.host_id = 1"])
def test_other_processes_and_hosts(line: str) -> None:
    unchanged(HEAD + "import os\nfrom multiprocessing import Pool\n" + line + "\n" + STEP + CALL)


def test_plain_jit() -> None:
    unchanged(HEAD + RANK + "f = jax.jit(lambda x: x)\n" + CALL)


def test_own_pjit() -> None:
    source = HEAD.replace("from jax.experimental.pjit", "from mylib") + RANK + STEP + CALL
    unchanged(source)


def test_other_functions_of_the_program() -> None:
    unchanged(HEAD + RANK + "def f(x, in_axis_resources=None):\n    return x\n" + CALL)


def test_sentinel_is_left_to_from_gda() -> None:
    source = HEAD.replace("import pjit", "import FROM_GDA, pjit") + RANK + "f = pjit(len, in_axis_resources=(FROM_GDA, P('x')))\n"
    unchanged(source + "with mesh:\n    f(a, b)\n")


def test_hidden_arguments_of_pjit() -> None:
    unchanged(HEAD + RANK + "f = pjit(lambda x: x, in_axis_resources=P('x'), **kw)\n" + CALL)


def test_reordered_devices() -> None:
    source = HEAD.replace("np.array(jax.devices())", "np.array(jax.devices()).reshape(2, -1).T") + RANK + STEP + CALL
    unchanged(source, findings=["make_array_from_callback"])


def test_function_out_of_sight() -> None:
    unchanged(HEAD + RANK + "def make(g):\n    return pjit(g, in_axis_resources=P('x'))\n", findings=["not all calls"])


def test_star_at_the_call() -> None:
    unchanged(HEAD + RANK + STEP + "with mesh:\n    f(*xs)\n", findings=["cannot be matched"])


def test_no_mesh_to_name() -> None:
    unchanged(HEAD + RANK + STEP + "def run(x):\n    return f(x)\n", findings=["no mesh can be named"])


def test_output_without_a_spec() -> None:
    unchanged(HEAD + RANK + "f = pjit(lambda x: x, in_axis_resources=P('x'))\n" + CALL, findings=["no out_shardings"])


def test_ahead_of_time() -> None:
    unchanged(HEAD + RANK + STEP + "with mesh:\n    c = f.lower(x)\n", findings=["lowered ahead of time"])


def test_held_unless_asked_for() -> None:
    (found,) = findings(HEAD + RANK + STEP + CALL, select="host-local-inputs")
    assert (str(found.applicability), found.outcome.value) == ("unsafe", "held")
    assert "silently read as the global value" in found.message
    assert "assumes that x is" in found.message


def test_result_that_nobody_reads() -> None:
    source = HEAD + RANK + STEP + "with mesh:\n    f(x)\n"
    text = testing.run(source, select="host-local-inputs", allowed="unsafe").after.decode()
    assert "    f(multihost_utils.host_local_array_to_global_array(x, mesh, P('x')))\n" in text
    assert "to_host_local" not in text


def test_comment_between_the_arguments_stays() -> None:
    source = HEAD + RANK + "f = pjit(max, in_axis_resources=(P('x'), None), out_axis_resources=None)\n"
    source += "with mesh:\n    y = f(\n        x,  # mine\n        2,  # shared\n    )\n"
    text = testing.run(source, select="host-local-inputs", allowed="unsafe").after.decode()
    assert "host_local_array_to_global_array(x, mesh, P('x')),  # mine\n        2,  # shared\n    )\n" in text


@pytest.mark.parametrize("word", ["jax.process_count()", "jax.host_id()", "jax.distributed.initialize()"])
def test_evidence(word: str) -> None:
    (found,) = findings(HEAD + f"n = {word}\n" + STEP + CALL, select="host-local-inputs")
    assert found.codemod == "host-local-inputs"


TREE = "f = pjit(lambda t: t, in_axis_resources=({'x': P('x'), 'step': None},), out_axis_resources=P())\n"
CONVERTED = "multihost_utils.host_local_array_to_global_array"


def run(source: str) -> FileResult:
    """The result on a file that several processes run."""
    return testing.run(HEAD + RANK + source, select="host-local-inputs", allowed="unsafe")


def test_tree_at_the_call_is_converted_leaf_by_leaf() -> None:
    after = run(TREE + "with mesh:\n    y = f({'x': x, 'step': 3})\n").after.decode()
    assert f"f({{'x': {CONVERTED}(x, mesh, P('x')), 'step': 3}})" in after


def test_leaf_inside_a_call_whose_result_becomes_local() -> None:
    source = "f = pjit(lambda t: t, in_axis_resources=((P('x'), None),), out_axis_resources=P('x'))\nwith mesh:\n    y = f((x, step))\n"
    after = run(source).after.decode()
    assert "global_array_to_host_local_array(f((" in after
    assert f"f(({CONVERTED}(x, mesh, P('x')), step)), mesh, P('x'))" in after


def test_tree_by_name_is_converted_whole_and_says_what_it_assumes() -> None:
    result = run(TREE + "with mesh:\n    y = f(tree)\n")
    assert f"{CONVERTED}(tree, mesh, {{'x': P('x'), 'step': P()}})" in result.after.decode()
    assert any("all leaves of tree are arrays" in f.message for f in result.findings)


def test_number_in_a_tree_by_name() -> None:
    source = TREE + "tree = {'x': x, 'step': 3}\nwith mesh:\n    y = f(tree)\n"
    unchanged(HEAD + RANK + source, findings=["tree holds a Python number"])


def test_python_number_beside_a_sharded_argument() -> None:
    after = run(
        "f = pjit(g, in_axis_resources=(P('x'), None), out_axis_resources=P())\nwith mesh:\n    y = f(x, i)\n"
    ).after.decode()
    assert f"f({CONVERTED}(x, mesh, P('x')), i)" in after


def test_shardings_by_that_name_are_younger_than_global_arrays() -> None:
    unchanged(HEAD + RANK + STEP.replace("_axis_resources", "_shardings") + CALL)
    unchanged(HEAD + RANK + STEP + CALL, origin="0.4.3")


def test_the_old_arrays_may_have_been_switched_on_again() -> None:
    flag = "jax.config.update('jax_array', False)\n"
    found = findings(HEAD + flag + RANK + STEP.replace("_axis_resources", "_shardings") + CALL, select="host-local-inputs")
    assert len(found) == 1
