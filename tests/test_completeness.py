"""removed-names, deprecated-names, unknown-names: what no codemod deals with, looked up in the history."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Finding, Outcome, ProjectIndex, Severity, Status
from jaxmigrate.testing import run

OURS = ("removed-names", "deprecated-names", "unknown-names")


def said(source: str, **kw: object) -> list[Finding]:
    """The findings of completeness alone, guarded ones left out."""
    found = run(source, **{"select": OURS, **kw}).findings  # type: ignore[arg-type]
    return [f for f in found if f.outcome is not Outcome.GUARDED]


LEFT_ALONE = {
    "living_names": "import jax, jax.numpy as jnp\njax.jit(jnp.sum)\njnp.linalg.norm(x)\njax.tree.map(f, x)\n",
    "dunders": "import jax\njax.__version__\njax.__file__\njax.numpy.__name__\n",
    "below_an_object": "import jax\njax.random.PRNGKey.anything.at_all\njax.Array.nothing_known\n",
    "config_is_an_object": "import jax\njax.config.update('a', 1)\njax.config.whatever_comes\njax.config.values\n",
    "object_with_public_fields": "import jax\njax.checkpoint_policies.everything_saveable\njax.ad.GradRef\n",
    "parameter_of_that_name": "import jax\ndef f(jax):\n    return jax.curry\n",
    "local_of_that_name": "import jax\ndef f():\n    jax = object()\n    return jax.curry\n",
    "own_module_of_that_name": "from . import jax\njax.curry(f)\n",
    "own_package_beside_it": "import mylib.jax as jax\njax.curry(f)\n",
    "library_that_begins_alike": "import jaxopt, jaxtyping, jax_md\njaxopt.curry\njaxtyping.PRNGKeyArray\njax_md.ops\n",
    "another_library": "import numpy as np, torch\nnp.foo\ntorch.jax.curry\n",
    "what_every_module_has": "from jax._src import util\nutil.__file__\nutil.__dict__.get\nutil.__spec__.name\n",
    "module_that_the_file_patches": "import jax\njax.new_thing = 3\njax.new_thing\n",
    "gone_name_that_the_file_puts_back": "import jax\njax.curry = mine\njax.curry(f)\n",
    "name_that_the_file_sets": "import jax\nsetattr(jax.core, 'new_thing', f)\njax.core.new_thing\n",
    "attribute_of_a_value": "import jax\nx = jax.numpy.zeros(3)\nx.curry\nx.jax.curry\n",
    "comment_and_docstring": '"""See jax.curry."""\n# jax.curry\n',
    "string_that_is_data": "import jax\nNAMES = ['jax.curry', 'curry']\n",
    "annotation_of_another_language": "import jax\nfrom jaxtyping import Float\nx: Float[jax.Array, 'curry jax']\n",
    "private_name_that_lives": "from jax.experimental.ode import _odeint\nimport jax\njax._src.core.Tracer\n_odeint(1)\n",
    "private_member_of_a_class": "import jax\njax.Array._value\njax.numpy.ndarray._rewriting_take\njax.config._read\n",
    "private_name_the_program_sets": "import jax\nif not hasattr(jax, '_mine'):\n    jax._mine = 1\nprint(jax._mine)\n",
    "private_name_of_a_module_that_was_not_imported": "import jaxlib.mlir.ir as ir\nir.Type\njaxlib._x\nfrom jaxlib.mlir._mlir_libs._mlir import ir\n",
    "dunder_of_a_module": "import jax\njax.__version__\njax.__file__\njax.numpy.__all__\njax.random.__spec__\n",
    "module_whose_names_are_not_on_record": "from jax.extend.mlir import ir\nir.Whatever\n",
    "submodules": "import jax.experimental.pallas as pl\nfrom jax.experimental.pallas import tpu\npl.BlockSpec\n",
    "name_of_a_star_that_may_be_another's": "from numpy import *\nfrom jax import *\ncurry(f)\n",
    "own_name_beside_a_star": "from jax import *\ndef curry(f): ...\ncurry(f)\n",
    "ignored_line": "import jax\njax.curry(f)  # jaxmigrate: ignore[removed-names]\n",
    "hasattr_of_what_is_there": "import jax\nif hasattr(jax, 'Array'):\n    jax.Array\n",
}  # fmt: skip


@pytest.mark.parametrize("source", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_nothing_is_said(source: str) -> None:
    found = [f for f in said(source) if f.outcome is not Outcome.SUPPRESSED]
    assert not found
    assert run(source, select=OURS).status is Status.UNCHANGED


GONE = {
    "attribute": ("import jax\njax.curry(f)\n", [(2, "jax.curry")]),
    "alias_of_the_module": ("import jax as j\nx = j.curry\n", [(2, "jax.curry")]),
    "from_import_once_for_all_uses": ("from jax import curry\ncurry(f)\ncurry(g)\n", [(1, "jax.curry")]),
    "from_import_as": ("from jax import curry as c\nc(f)\n", [(1, "jax.curry")]),
    "one_name_of_several": ("from jax import jit, curry, vmap\ncurry(jit, vmap)\n", [(1, "jax.curry")]),
    "plain_import_of_a_module": ("import jax.interpreters.masking\njax.interpreters.masking.f\n", [(1, "jax.interpreters.masking")]),
    "module_as": ("import jax.interpreters.masking as m\nm.f\nm.g\n", [(1, "jax.interpreters.masking")]),
    "module_as_an_attribute": ("import jax\njax.interpreters.masking.f\n", [(2, "jax.interpreters.masking")]),
    "every_use_of_a_chain": ("import jax\njax.curry\njax.curry\n", [(2, "jax.curry"), (3, "jax.curry")]),
    "assigned_alias_once": ("import jax\nc = jax.curry\nc(f)\nc(g)\n", [(2, "jax.curry")]),
    "alias_of_a_module": ("import jax\ni = jax.interpreters\ni.masking.x\n", [(3, "jax.interpreters.masking")]),
    "string_annotation": ("import jax\nx: 'jax.core.Unit'\n", [(2, "jax.core.Unit")]),
    "type_comment": ("import jax\nx = 3  # type: jax.core.Unit\n", [(2, "jax.core.Unit")]),
    "function_local_import": ("def f():\n    from jax import curry\n    return curry\n", [(2, "jax.curry")]),
    "conditional_import": ("if cond:\n    from jax import curry\n    curry(f)\n", [(2, "jax.curry")]),
    "type_checking": ("if TYPE_CHECKING:\n    from jax.core import Unit\nx: 'Unit'\n", [(2, "jax.core.Unit")]),
    "class_body": ("import jax\nclass A:\n    c = jax.curry\n", [(3, "jax.curry")]),
    "decorator": ("import jax\n@jax.curry\ndef f(): ...\n", [(2, "jax.curry")]),
    "getattr": ("import jax\ngetattr(jax, 'curry')(f)\n", [(2, "jax.curry")]),
    "import_module_by_another_name": (
        "from importlib import import_module as load\nload('jax.interpreters.masking')\n",
        [(2, "jax.interpreters.masking")],
    ),
    "import_module_within_a_package": (
        "import importlib\nimportlib.import_module('.masking', 'jax.interpreters')\nimportlib.import_module('.masking', x)\n",
        [(2, "jax.interpreters.masking")],
    ),
    "import_module": ("import importlib\nimportlib.import_module('jax.interpreters.masking')\n", [(2, "jax.interpreters.masking")]),
    "mock_patch": ("from unittest import mock\nwith mock.patch('jax.curry'): ...\n", [(2, "jax.curry")]),
    "star_import": ("from jax import *\ncurry(f)\n", [(1, "jax.curry")]),
    "star_of_a_gone_module": ("from jax.interpreters.masking import *\n", [(1, "jax.interpreters.masking")]),
    "name_that_came_back_as_something_else": ("import jax\njax.ad.nothing_of_today\n", [(2, "jax.ad.nothing_of_today")]),
    "module_that_became_an_object": ("from jax.checkpoint_policies import everything_saveable\nprint(everything_saveable)\n",
                                     [(1, "jax.checkpoint_policies")]),
    "private_name": ("from jax._src.core import unitvar\nprint(unitvar)\n", [(1, "jax._src.core.unitvar")]),
    "private_name_of_a_public_module": ("from jax.random import _shuffle\nprint(_shuffle)\n", [(1, "jax.random._shuffle")]),
    "private_name_read_of_a_public_module": ("import jax\njax.numpy.linalg._H(x)\n", [(2, "jax.numpy.linalg._H")]),
    "private_name_of_the_library_itself": ("import jax\njax._hello\n", [(2, "jax._hello")]),
    "private_module": ("import jax._src.device_array as d\nd.X\n", [(1, "jax._src.device_array")]),
    "inside_a_call_with_another_finding": ("import jax\njax.curry(jax.core.Unit)\n", [(2, "jax.core.Unit"), (2, "jax.curry")]),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), GONE.values(), ids=GONE)
def test_what_is_gone_is_reported_once_for_each_place(source: str, expected: list[tuple[int, str]]) -> None:
    found = said(source)
    assert sorted((f.position.line, f.symbol) for f in found) == sorted(expected)
    assert {f.codemod for f in found} == {"removed-names"}
    assert {f.severity for f in found} == {Severity.NORMAL}


def test_the_last_release_and_the_successor_are_named() -> None:
    (finding,) = said("import jax\njax.curry(f)\n")
    assert "JAX 0.4.13 was the last with it" in finding.message
    assert "functools.partial" in finding.message


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("jax.jax.lax.add", "write jax.lax.add"),
        ("jax.jax.curry", "it was the library itself, and jax.curry is gone"),
        ("jax.lax._convert_element_type", "has no such name; jax.lax.convert_element_type is public"),
        ("jaxlib.xla_client.ops.Add", "jaxlib.xla_client.ops is private, and JAX"),
        ("jaxlib.mlir.dialects.ml_program", "jaxlib.mlir.dialects.ml_program is private, and JAX"),
        ("jax._src.pjit.pjit_p", "has no such name; it is jax.extend.core.primitives.jit_p now"),
        ("jaxlib.cusolver.potrf", "JAX 0.3.14 was the last with it"),
        ("jaxlib.pytree", "jax.tree_util"),
    ],
)
def test_the_place_of_what_was_reached_through_internals_is_told(name: str, hint: str) -> None:
    (finding,) = said(f"import jax, jaxlib.xla_client\n{name}\n")
    assert hint in finding.message


def test_what_the_compiled_half_has_is_left_alone() -> None:
    assert not said(
        "import jaxlib.xla_client as x\nfrom jaxlib import lapack, _jax\nx.Shape\nx.XlaRuntimeError\nlapack.y\n_jax.z\n"
    )


def test_an_import_names_the_lines_of_its_uses() -> None:
    (finding,) = said("from jax import curry\ncurry(f)\n\ncurry(g)\n")
    assert "used in line 2, 4" in finding.message


def test_an_import_that_is_not_used_goes() -> None:
    result = run("from jax.interpreters import masking, ad\nad.x\n")
    assert result.after.startswith(b"from jax.interpreters import ad\n")
    assert [str(f.applicability) for f in result.findings if f.codemod == "removed-names"] == ["review"]


def test_imports_that_are_not_used_go_together() -> None:
    names = ", ".join(f"{name} as a{number}" for number, name in enumerate(["Unit", "unitvar", "unit"] * 10))
    result = run(f"from jax.core import {names}, Tracer\nTracer\n", select=OURS)
    assert result.after == b"from jax.core import Tracer\nTracer\n"
    assert len(result.findings) == 30


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.interpreters import masking\n__all__ = ['masking']\n", id="exported"),
        pytest.param("from jax.interpreters import masking as masking\n", id="passed-on"),
        pytest.param("from jax.interpreters import masking  # noqa: F401\n", id="there-on-purpose"),
        pytest.param("try:\n    from jax.interpreters import masking\nexcept ImportError:\n    masking = None\n", id="stand-in"),
    ],
)
def test_an_import_that_others_may_need_stays(source: str) -> None:
    result = run(source)
    assert result.status is Status.UNCHANGED
    assert [f.codemod for f in result.findings] == ["removed-names"]


@pytest.mark.parametrize(
    ("source", "symbol", "hint"),
    [
        ("import jax\njax.vamp(f)\n", "jax.vamp", "did you mean jax.vmap?"),
        ("import jax.numpy as jnp\njnp.Arrays\n", "jax.numpy.Arrays", "not a JAX API of any known release"),
        ("from jax.nn import rellu\nrellu(x)\n", "jax.nn.rellu", "did you mean jax.nn.relu"),
        ("import jax.nothing_there as n\nn.x\n", "jax.nothing_there", "not a JAX API"),
        ("import jax\njax.tree_all(x)\n", "jax.tree_all", "did you mean jax.tree_util.tree_all?"),
        ("import jax.numpy as jnp\njnp.relu(x)\n", "jax.numpy.relu", "did you mean jax.nn.relu?"),
        ("import jax\njax.norm(x)\n", "jax.norm", "did you mean jax.numpy.linalg.norm or jax.scipy.stats.norm?"),
        ("import jax\njax.numpy.linalg.eigsh(x)\n", "jax.numpy.linalg.eigsh", "did you mean jax.numpy.linalg.eigh?"),
    ],
)
def test_what_never_was_is_reported(source: str, symbol: str, hint: str) -> None:
    (finding,) = said(source)
    assert (finding.codemod, finding.symbol) == ("unknown-names", symbol)
    assert hint in finding.message


NEWER = "0.4.30"


def test_what_is_newer_than_the_target_is_reported() -> None:
    (finding,) = said("import jax\njax.set_mesh(m)\n", target=NEWER)
    assert finding.codemod == "removed-names"
    assert "newer than the target 0.4.30" in finding.message
    assert not said("import jax\njax.set_mesh(m)\n")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\nif hasattr(jax, 'set_mesh'):\n    jax.set_mesh(m)\n", id="hasattr"),
        pytest.param("import jax\nif hasattr(jax, 'set_mesh') and x:\n    jax.set_mesh(m)\n", id="hasattr-and"),
        pytest.param("import jax\nx = hasattr(jax, 'set_mesh') and jax.set_mesh(m)\n", id="and"),
        pytest.param("import jax\nx = jax.set_mesh(m) if hasattr(jax, 'set_mesh') else None\n", id="if-expression"),
        pytest.param(
            "import jax\ndef f():\n    if not hasattr(jax, 'set_mesh'):\n        return\n    jax.set_mesh(m)\n", id="early"
        ),
        pytest.param("try:\n    from jax import set_mesh\nexcept ImportError:\n    set_mesh = None\n", id="try"),
        pytest.param("import jax\nif jax.__version_info__ >= (0, 7, 1):\n    jax.set_mesh(m)\n", id="version"),
        pytest.param("from __future__ import annotations\nimport jax\ndef f(x: jax.set_mesh): ...\n", id="never-evaluated"),
        pytest.param("if TYPE_CHECKING:\n    from jax import set_mesh\n", id="type-checking"),
    ],
)
def test_what_waits_for_a_newer_release_is_guarded(source: str) -> None:
    assert not said(source, target=NEWER)


def test_what_the_run_wrote_itself_is_not_reported_again() -> None:
    result = run("import jax\njax.device_put_replicated(x, d)\n", target="0.3.0")
    assert b"jax.sharding.NamedSharding" in result.after
    assert [f.codemod for f in result.findings] == ["device-put-sharded"]


def test_deprecated_names_do_not_count_unless_strict() -> None:
    from jaxmigrate.engine import rewrite_source
    from jaxmigrate.model import Settings
    from jaxmigrate.registry import known_newest

    source = b"import jax\njax.lax.psend(x)\n"
    for strict, severity in ((False, Severity.LOW), (True, Severity.NORMAL)):
        (finding,) = rewrite_source(source, Settings(known_newest(), strict=strict)).findings
        assert (finding.codemod, finding.severity) == ("deprecated-names", severity)
        assert finding.outstanding is strict


def test_what_an_ignored_codemod_deals_with_is_not_mentioned() -> None:
    assert said("import jax.numpy as jnp\nx: jnp.DeviceArray\n")
    assert not said("import jax.numpy as jnp\nx: jnp.DeviceArray\n", ignore=["device-array"])


def test_a_selection_without_them_says_nothing() -> None:
    assert not run("import jax\njax.curry(f)\n", select="device-array").findings


def test_what_a_codemod_speaks_of_is_not_said_twice() -> None:
    result = run("import jax\nfrom jax.experimental import host_callback as hcb\ny = hcb.call(f, *xs)\n")
    lines = [f.position.line for f in result.findings if f.outcome is Outcome.MANUAL]
    assert len(lines) == len(set(lines))


def test_a_re_export_is_reported_where_it_is_made() -> None:
    index = ProjectIndex(exports={"lib.compat": {"curry": "jax.curry"}})
    assert not said("from lib.compat import curry\ncurry(f)\n", module="lib.use", index=index)
    assert not said("from lib import compat\nC = compat.curry\ncompat.curry(f)\n", module="lib.use", index=index)


def test_what_is_read_of_a_module_that_the_project_passes_on_is_reported_there() -> None:
    index = ProjectIndex(exports={"lib.compat": {"np": "jax.numpy"}})
    [finding] = said("from lib import compat\ncompat.np.wobble(x)\n", module="lib.use", index=index)
    assert finding.symbol == "jax.numpy.wobble"


def test_what_another_module_of_the_project_puts_there_is_there() -> None:
    source = "import jax\njax.new_thing\n"
    assert said(source)
    assert not said(source, index=ProjectIndex(patched=frozenset({"jax.new_thing"})))


def test_what_a_result_needs_is_that_of_its_youngest_living_name() -> None:
    assert str(run("import jax\njax.tree.map(f, x)\n").uses) == "0.4.25"
    assert str(run("import jax\nx: jax.Array = jax.numpy.zeros(3)\n").uses) == "0.3.18"
    guarded = "import jax\nif hasattr(jax, 'set_mesh'):\n    jax.set_mesh(m)\nx: jax.Array\n"
    assert str(run(guarded).uses) == "0.3.18"
    assert run("x = 1\n").uses is None


def test_names_from_a_star_import_of_the_project_are_looked_up() -> None:
    index = ProjectIndex(exports={"lib.common": {"np": "jax.numpy", "curry": "jax.curry"}})
    source = "from lib.common import *\nnp.wobble(x)\nnp.sum(x)\ncurry(f)\ndef f(np): return np.wobble\n"
    [finding] = said(source, module="lib.use", index=index)
    assert finding.position.line == 2


def test_options_that_are_read() -> None:
    source = "import jax\nfrom jax import config\nfrom absl import flags\n"
    for read in ("jax.config.jax_foo", "config.read('jax_foo')", "config.values['jax_foo']", "getattr(config, 'jax_foo')"):
        [finding] = said(f"{source}x = {read}\n")
        assert (finding.codemod, finding.message) == ("unknown-names", "jax_foo is not an option of any known release of JAX")
    [finding] = said(f"{source}config.jax_enable_x46\n")
    assert "did you mean jax_enable_x64?" in finding.message
    [finding] = said(f"{source}flags.FLAGS.jax_omnistaging\n")
    assert (finding.codemod, finding.symbol) == ("removed-names", "flags.jax_omnistaging")


@pytest.mark.parametrize(
    "read",
    [
        "jax.config.jax_enable_x64",
        "config.values['jax_enable_x64']",
        "getattr(config, 'jax_foo', None)",
        "hasattr(config, 'jax_foo')",
        "flags.FLAGS.jax_foo",
        "other.values['jax_foo']",
        "jax.config.DEFINE_bool('jax_foo', True)\njax.config.jax_foo",
        "config.jax_foo = 1",
    ],
)
def test_options_that_need_not_be_there(read: str) -> None:
    assert not said(f"import jax\nfrom jax import config\nfrom absl import flags\n{read}\n", select="unknown-names")


ROUNDABOUT = {
    "module_by_its_path": ("import importlib\nimportlib.import_module('jax').curry(f)\n", [(2, "jax.curry")]),
    "module_by_keyword": ("import importlib\nimportlib.import_module(name='jax.interpreters.masking')\n", [(2, "jax.interpreters.masking")]),
    "path_in_a_variable": ("import importlib\nN = 'jax'\nm = importlib.import_module(N)\nm.curry(f)\n", [(4, "jax.curry")]),
    "builtin_import": ("j = __import__('jax')\nj.curry(f)\nj.jit(f)\n", [(2, "jax.curry")]),
    "builtin_import_gives_the_root": ("__import__('jax.numpy').curry\n", [(1, "jax.curry")]),
    "builtin_import_with_names": ("__import__('jax.lax', fromlist=['x']).tie_in(x, y)\n", [(1, "jax.lax.tie_in")]),
    "loaded_modules": ("import sys\nsys.modules['jax.interpreters.masking']\nsys.modules['jax'].curry\n",
                       [(2, "jax.interpreters.masking"), (3, "jax.curry")]),
    "module_once_for_what_is_read_of_it": ("import importlib\nm = importlib.import_module('jax.interpreters.masking')\nm.f(m.g)\n",
                                           [(2, "jax.interpreters.masking")]),
    "code_in_a_string": ("import jax\neval('jax.curry(f)(jax.jit)')\n", [(2, "jax.curry")]),
    "code_where_several_imports_give_the_name": ("import jax\nimport jax.numpy\neval('jax.curry')\n", [(3, "jax.curry")]),
    "code_that_imports": ("exec('''\n  from jax import curry\n  curry(f)\n''')\n", [(1, "jax.curry")]),
    "code_to_compile": ("import jax.core as c\nexec(compile('c.Unit', 'x', 'exec'))\n", [(2, "jax.core.Unit")]),
    "code_to_time": ("import jax, timeit\ntimeit.timeit('jax.curry')\n", [(2, "jax.curry")]),
    "module_chosen_by_a_flag": (
        "if FAST:\n    import jax.numpy as np\nelse:\n    import numpy as np\nnp.row_stack(x)\nnp.clip(x, a_min=0)\nnp.sum(x)\n",
        [(5, "jax.numpy.row_stack"), (6, "jax.numpy.clip(a_min=)")],
    ),
    "module_chosen_in_an_expression": (
        "import numpy as np, jax.numpy as jnp\nxp = jnp if fast else np\nxp.row_stack(x)\n",
        [(3, "jax.numpy.row_stack")],
    ),
    "names_in_a_loop": ("import jax\nfor name in ('curry', 'jit'):\n    getattr(jax, name)\n", [(2, "jax.curry")]),
    "names_in_a_comprehension": ("import jax\nN = ['curry', 'jit']\n[getattr(jax, n) for n in N]\n", [(2, "jax.curry")]),
    "name_in_a_variable": ("import jax\nn = 'curry'\ngetattr(jax, n)\n", [(3, "jax.curry")]),
    "names_in_turn_in_the_arm_without_them": (
        "import jax\nfor n in ['curry']:\n    if hasattr(jax, n):\n        f()\n    else:\n        getattr(jax, n)\n",
        [(2, "jax.curry")],
    ),
    "names_of_a_parametrized_test": (
        "import jax, pytest\n@pytest.mark.parametrize('name', ['curry', 'jit'])\ndef test(name): getattr(jax, name)\n",
        [(2, "jax.curry")],
    ),
    "patched_object": ("import jax\nfrom unittest import mock\nmock.patch.object(jax, 'curry')\n", [(3, "jax.curry")]),
    "patched_by_pytest": ("import jax\ndef test(monkeypatch):\n    monkeypatch.setattr(jax, 'curry', f)\n", [(3, "jax.curry")]),
    "deleted": ("import jax\ndelattr(jax, 'curry')\n", [(2, "jax.curry")]),
    "keyword_of_a_partial": ("import functools\nimport jax.numpy as jnp\nf = functools.partial(jnp.clip, a)\nf(a_max=2)\n",
                             [(4, "jax.numpy.clip(a_max=)")]),
    "keyword_of_a_jitted_function": ("import jax\njax.jit(jax.numpy.clip)(x, a_max=2)\n", [(2, "jax.numpy.clip(a_max=)")]),
    "keyword_of_a_partial_that_is_mapped": (
        "import functools, jax\nf = functools.partial(jax.numpy.clip, a)\ng = jax.vmap(f)\ng(a_max=2)\ng(max=2)\n",
        [(4, "jax.numpy.clip(a_max=)")],
    ),
    "keyword_of_a_method": (
        "import jax\nclass A:\n    def __init__(self):\n        self.f = jax.jit(jax.numpy.clip)\n"
        "    def g(self):\n        self.f(x, a_max=2)\n",
        [(6, "jax.numpy.clip(a_max=)")],
    ),
    "keyword_of_a_name_that_a_star_gives": ("from jax.numpy import *\nclip(x, a_max=2)\n", [(2, "jax.numpy.clip(a_max=)")]),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), ROUNDABOUT.values(), ids=ROUNDABOUT)
def test_what_is_reached_in_a_roundabout_way_is_reported(source: str, expected: list[tuple[int, str]]) -> None:
    assert sorted((f.position.line, f.symbol) for f in said(source)) == expected
    assert run(source, select=OURS).status is Status.UNCHANGED


NOT_ROUNDABOUT = {
    "module_of_another_library": "import importlib\nimportlib.import_module('jaxlike').curry\n",
    "another_loader": "import jax\nmine.eval('jax.curry')\nre.compile('jax.curry')\nprint('jax.curry')\n",
    "own_function_of_the_name": "import jax\ndef eval(text): ...\neval('jax.curry')\n",
    "code_with_a_name_of_its_own": "import jax\neval('[jax.curry for jax in y]')\ndef f(jax):\n    eval('jax.curry')\n",
    "code_that_is_none": "import jax\neval('jax.curry(')\n",
    "variable_with_two_values": "j = __import__('jax')\nj = other\nj.curry\n",
    "module_put_there": "import sys\nsys.modules['jax.interpreters.masking'] = mine\nsys.modules['jax.interpreters.masking'].f\n",
    "own_entry": "import sys\nsys.modules[__name__]\nsys.modules['jax']\n",
    "names_of_another_object": "import jax\nfor name in ('curry',):\n    getattr(x, name)\n    getattr(jax, name, None)\n    print(name)\n",
    "names_of_another_loop": "import jax\nfor name in ('curry',): ...\ndef f(name): getattr(jax, name)\n",
    "patched_in_any_case": "import jax\nmock.patch.object(jax, 'curry', create=True)\nm.setattr(jax, 'curry', f, raising=False)\n",
    "what_only_the_other_library_has": "if FAST:\n    import jax.numpy as np\nelse:\n    import numpy as np\nnp.random.rand()\nnp.float128\n",
    "two_other_libraries": "if FAST:\n    import cupy as np\nelse:\n    import numpy as np\nnp.row_stack(x)\n",
    "living_keyword": "import jax\njax.jit(jax.numpy.clip)(x, max=2)\n",
    "keyword_of_something_else": "import jax\njax.jit(jax.numpy.clip, a_max=2)\nf = g(jax.numpy.clip)\nf(a_max=2)\n",
    "keyword_of_own_function_beside_a_star": "from jax.numpy import *\ndef clip(x, a_max): ...\nclip(x, a_max=2)\n",
}  # fmt: skip


NOT_ROUNDABOUT |= {
    "names_in_turn_that_are_asked_for": (
        "import jax\nfor n in ['curry', 'jit']:\n    if hasattr(jax, n):\n        f = getattr(jax, n)\n"
    ),
    "names_in_turn_one_of_which_may_fail": (
        "import jax\nfor n in ['curry', 'jit']:\n    try:\n        f = getattr(jax, n)\n    except AttributeError:\n        f = g\n"
    ),
    "name_in_a_variable_with_a_default": "import jax\nn = 'curry'\ngetattr(jax, n, None)\n",
    "name_in_a_variable_that_is_asked_for": "import jax\nn = 'curry'\nhasattr(jax, n)\n",
    "variable_of_two_names": "import jax\nn = 'curry'\nif x: n = 'jit'\ngetattr(jax, n)\n",
}


@pytest.mark.parametrize("source", NOT_ROUNDABOUT.values(), ids=NOT_ROUNDABOUT)
def test_what_only_looks_like_a_roundabout_way(source: str) -> None:
    assert not said(source)


@pytest.mark.parametrize(
    ("test", "urgent"),
    [
        ("if 'jax.interpreters.masking' in sys.modules:\n    f()\n", True),
        ("if 'jax.interpreters.masking' in sys.modules:\n    f()\nelse:\n    g()\n", False),
        ("if 'jax.interpreters.masking' not in sys.modules:\n    f()\n", False),
        ("if importlib.util.find_spec('jax.interpreters.masking') is not None:\n    f()\n", True),
    ],
)
def test_a_question_for_a_module_that_switches_something_off_is_urgent(test: str, urgent: bool) -> None:
    found = said(f"import sys, importlib\n{test}")
    assert [f.severity for f in found] == [Severity.URGENT] * urgent


def test_a_member_that_left_its_modules_new_home_too_is_told_as_that() -> None:
    (found,) = said("import jax\njax.xla.xla_call_p\n")
    assert "jax.xla is jax.interpreters.xla now, and jax.interpreters.xla.xla_call_p is gone" in found.message


def test_what_is_known_of_the_members_in_use_is_told_at_the_import_of_their_module() -> None:
    (found,) = said("from jax.lib import xla_client\nxla_client._xla.hlo_module_cost_analysis(c, m)\n")
    assert "used in line 2; _xla.hlo_module_cost_analysis: jax.jit(f).lower(*args).compile().cost_analysis()" in found.message


def test_a_living_module_that_is_imported_under_a_guard_guards_none_of_its_members() -> None:
    source = "try:\n    import jax.numpy as np\nexcept ImportError:\n    import numpy as np\n"
    for use in ("np.in1d(x, y)", "np.product(x)", "np.clip(x, a_min=0)"):
        result = run(f"{source}{use}\nnp.sum(x)\n")
        assert result.status is Status.UNCHANGED
        [finding] = result.findings
        assert finding.outcome is Outcome.MANUAL
        assert "np is jax.numpy or what another import gives" in finding.message


MEMBERS_LEFT_ALONE = {
    "of_an_unknown_value": "import jax\ndef f(x): return x.split(2), x.tile(2), x.broadcast((2,))\n",
    "of_text": "import jax.numpy as jnp\nline = 'a b'\nline.split(2)\n','.join(line).split(1)\n",
    "of_an_array_of_numpy": "import jax, numpy as np\nx = np.ones(4)\nx.tile\ny = np.asarray(jax.numpy.ones(4))\ny.tile\n",
    "of_what_the_array_was_before": "import jax.numpy as jnp\nx = jnp.ones(4)\nx = 'a b'\nx.split(' ')\n",
    "of_own_class": "import jax\nclass Box:\n    def split(self, n): ...\nBox().split(2)\n",
    "of_own_attribute": "import jax.numpy as jnp\nclass Box:\n    def __init__(self, x): self.x = x\n    def f(self): return self.x.split(2)\n",
    "of_a_function": "import jax, jax.numpy as jnp\njax.random.split(key, 2), jnp.tile(x, 2), jnp.split(x, 2), jax.lax.broadcast(x, (2,))\n",
    "where_the_type_is_asked": "import jax\ndef f(x: jax.Array):\n    if isinstance(x, (str, bytes)): return x.split(2)\n",
    "where_the_member_is_asked_for": "import jax.numpy as jnp\nx = jnp.ones(4)\ny = x.split(2) if hasattr(x, 'split') else jnp.split(x, 2)\n",
    "where_its_absence_is_caught": "import jax.numpy as jnp\nx = jnp.ones(4)\ntry:\n    x.split(2)\nexcept AttributeError:\n    jnp.split(x, 2)\n",
    "that_the_file_puts_there": "import jax\njax.Array.split = split\ndef f(x: jax.Array): return x.split(2)\n",
    "that_is_set": "import jax\nfrom jax.interpreters import ad\nad.Zero.from_value = f\n",
    "that_is_there": "import jax\nfrom jax.interpreters import ad\nad.Zero.instantiate, jax.Array.at\njax.numpy.ones(4).repeat(2)\n",
    "of_a_field_of_the_class": "from jax.sharding import Mesh\ndef f(mesh: Mesh): return mesh.size, mesh.axis_types\n",
}  # fmt: skip


@pytest.mark.parametrize("source", MEMBERS_LEFT_ALONE.values(), ids=MEMBERS_LEFT_ALONE)
def test_no_member_is_taken_for_one_that_is_gone(source: str) -> None:
    assert not said(source)


MEMBERS_GONE = {
    "of_a_result": ("import jax.numpy as jnp\nx = jnp.ones(4)\nx.split(2)\njnp.ones(4).tile(2)\n", ["Array.split", "Array.tile"]),
    "of_an_annotated_value": ("import jax\ndef f(z: jax.Array):\n    return z.broadcast_in_dim((2,), (0,))\n", ["broadcast_in_dim"]),
    "passed_on": ("import jax.numpy as jnp\nx = jnp.ones(4)\nf(x.broadcast)\n", ["jax.Array.broadcast"]),
    "of_the_class": ("import jax\njax.Array.split\n", ["jax.Array.split"]),
    "of_another_class": (
        "from jax.interpreters import ad\nad.Zero.from_value(x), ad.Zero.from_primal_value(x)\n",
        ["Zero.from_value", "Zero.from_primal_value"],
    ),
    "of_a_class_by_its_import": ("from jax.core import Trace\nclass T(Trace): lift = Trace.pure\n", ["jax.core.Trace.pure"]),
    "of_an_abstract_value": (
        "from jax import core\na = core.ShapedArray((3,), t)\na.named_shape, core.ShapedArray((3,), t).strip_named_shape()\n",
        ["named_shape", "strip_named_shape"],
    ),
    "where_the_very_type_is_asked": (
        "import jax\ndef f(x: jax.Array):\n    assert isinstance(x, jax.Array)\n    return x.split(2)\n",
        ["Array.split"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), MEMBERS_GONE.values(), ids=MEMBERS_GONE)
def test_members_that_a_living_class_lost_are_reported(source: str, expected: list[str]) -> None:
    found = said(source)
    assert [f.codemod for f in found] == ["removed-names"] * len(expected)
    for name in expected:
        assert any(f"{name} is gone" in f.message for f in found), found


def test_a_lost_member_that_another_codemod_deals_with_is_said_once() -> None:
    found = run("import jax.numpy as jnp\nx = jnp.ones(4)\nf(x.to_py)\n").findings
    assert [f.codemod for f in found] == ["array-attributes"]


def test_the_objects_of_today_lack_what_is_said_to_be_gone() -> None:
    jax = pytest.importorskip("jax", minversion="0.11")
    from jax.interpreters import ad

    from jaxmigrate.completeness import OBJECTS
    from jaxmigrate.registry import history

    array = jax.numpy.ones(3)
    mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
    objects = (
        array,
        jax.ShapeDtypeStruct((3,), "float32"),
        jax.typeof(array),
        jax.sharding.NamedSharding(mesh, jax.P()),
        ad.Zero(jax.typeof(array)),
    )
    gone = {kind: [name for name, owners in history().members_gone.items() if kind in owners] for kind in OBJECTS}
    assert all(gone.values())
    for kind, made in zip(OBJECTS, objects, strict=True):
        assert not [name for name in gone[kind] if hasattr(made, name)]


PUT_THERE = {
    "by_an_assignment": "import jax\njax.tree_map = mine\ny = jax.tree_map(f, x)\n",
    "by_setattr": "import jax\nsetattr(jax, 'tree_map', mine)\ny = jax.tree_map(f, x)\n",
    "by_a_test": "import jax\ndef test(monkeypatch):\n    monkeypatch.setattr(jax, 'tree_map', mine); jax.tree_map(f, x)\n",
    "in_place_of_a_function_whose_calls_are_reshaped": (
        "import jax\njax.ops.index_update = mine\ny = jax.ops.index_update(x, 1, 2)\n"
    ),
}


@pytest.mark.parametrize("source", PUT_THERE.values(), ids=PUT_THERE)
def test_what_the_program_puts_under_an_old_name_is_what_it_calls(source: str) -> None:
    result = run(source)
    assert result.status is Status.UNCHANGED
    assert "something else is assigned to it" in result.findings[-1].message


def test_what_another_module_puts_under_an_old_name_is_what_is_called() -> None:
    index = ProjectIndex(patched=frozenset({"jax.tree_map"}), replaced=frozenset({"jax.tree_map"}))
    result = run("import jax\ny = jax.tree_map(f, x)\n", index=index)
    assert [f.outcome for f in result.findings] == [Outcome.MANUAL]
    assert "another module of the project" in result.findings[0].message


def test_an_old_name_that_is_given_its_successor_means_it() -> None:
    result = run("import jax\njax.tree_map = jax.tree_util.tree_map\ny = jax.tree_map(f, x)\n")
    assert result.after.decode().endswith("y = jax.tree.map(f, x)\n")


INHERITED = {
    "of_self": "class T(Trace):\n    def f(self):\n        self.lift(x)\n",
    "of_super": "class T(Trace):\n    def lift(self):\n        return super().lift()\n",
    "through_a_class_of_the_file": "class A(Trace): ...\nclass T(A):\n    def f(self): self.lift(x)\n",
}


@pytest.mark.parametrize("source", INHERITED.values(), ids=INHERITED)
def test_members_that_a_class_does_not_inherit_any_more(source: str) -> None:
    assert [f.symbol for f in said(f"from jax.core import Trace, Tracer\n{source}")] == ["jax.core.Trace.lift"]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("class T(Trace):\n    def lift(self): ...\n    def f(self): self.lift(x)\n", id="own"),
        pytest.param("class A(Trace):\n    lift = 1\nclass T(A):\n    def f(self): super().lift\n", id="of-the-class-before"),
        pytest.param("class T(Trace):\n    def f(self):\n        self.lift = 1\n        self.lift(x)\n", id="assigned"),
        pytest.param("class T(Mixin, Trace):\n    def f(self): self.lift(x)\n", id="of-a-class-of-which-nothing-is-known"),
        pytest.param("class T(Trace):\n    def __getattr__(self, n): ...\n    def f(self): self.lift(x)\n", id="made-up"),
        pytest.param("class T(Trace):\n    def f(self): other.lift(x)\n", id="of-another-object"),
        pytest.param("class T(Other):\n    def f(self): self.lift(x)\n", id="of-another-class"),
        pytest.param("class T(Tracer):\n    def f(self): self.broadcast(x)\n", id="of-what-a-tracer-stands-for"),
        pytest.param("class A(A): ...\nclass B(A, Trace):\n    def f(self): self.process_primitive(x)\n", id="living"),
    ],
)
def test_members_that_come_from_elsewhere(source: str) -> None:
    assert not said(f"from jax.core import Trace, Tracer\n{source}")
