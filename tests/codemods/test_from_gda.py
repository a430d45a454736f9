"""from-gda: a definition and all its calls, or a finding that names what is in the way."""

from __future__ import annotations

import functools

import pytest

from jaxmigrate import testing
from jaxmigrate.testing import findings

unchanged = functools.partial(testing.unchanged, select="from-gda")
rewritten = functools.partial(testing.rewritten, select="from-gda")
IMPORT = "from jax.experimental.pjit import FROM_GDA, pjit\nfrom jax.sharding import Mesh, PartitionSpec as P\n"
KEPT = "from jax.experimental.pjit import pjit\nfrom jax.sharding import Mesh, PartitionSpec as P\n"
IMPORTED = "cannot be imported any more"
MIXED = "f = pjit(g, in_axis_resources=(FROM_GDA, P('x')), out_axis_resources=P())\n"


def mixed(rest: str, reason: str) -> None:
    """A mixed pjit that stays, and why."""
    unchanged(IMPORT + "mesh = Mesh(d, ('x',))\n" + rest, findings=[IMPORTED, reason])


def test_own_constant_of_the_same_name() -> None:
    unchanged("from jax.experimental.pjit import pjit\nFROM_GDA = object()\nf = pjit(len, in_axis_resources=FROM_GDA)\n")


def test_constant_of_another_package() -> None:
    unchanged("from mylib import FROM_GDA\nfrom jax.experimental.pjit import pjit\nf = pjit(len, in_axis_resources=FROM_GDA)\n")


def test_name_in_a_string_and_a_comment() -> None:
    unchanged("from jax.experimental.pjit import pjit\nhint = 'use FROM_GDA'  # or pjit.FROM_GDA\n")


def test_parameter_of_that_name() -> None:
    unchanged("from jax.experimental.pjit import pjit\ndef f(g, FROM_GDA):\n    return pjit(g, in_axis_resources=FROM_GDA)\n")


def test_identity_test() -> None:
    unchanged(IMPORT + "def known(r):\n    return r is FROM_GDA or r is None\n", findings=[IMPORTED, "is compared"])


def test_type_of_the_sentinel() -> None:
    unchanged(IMPORT + "def known(r):\n    return isinstance(r, type(FROM_GDA))\n", findings=[IMPORTED, "is compared"])


def test_returned_by_a_helper() -> None:
    unchanged(
        IMPORT + "def resource(x):\n    return FROM_GDA if x else None\n",
        findings=[IMPORTED, "return the sharding of the array itself"],
    )


def test_default_of_a_parameter() -> None:
    unchanged(IMPORT + "def make(g, resources=FROM_GDA):\n    return g\n", findings=[IMPORTED, "is stored"])


def test_handed_to_a_function_of_the_program() -> None:
    unchanged(IMPORT + "from mylib import partition\nf = partition(len, FROM_GDA)\n", findings=[IMPORTED, "is passed on"])


def test_value_that_other_code_reads_too() -> None:
    source = IMPORT + "spec = (FROM_GDA,)\nf = pjit(len, in_axis_resources=spec)\nprint(spec)\n"
    unchanged(source, findings=[IMPORTED, "serves other code too"])


def test_function_that_is_returned() -> None:
    mixed("def build(g):\n    return pjit(g, in_axis_resources=(FROM_GDA, P('x')))\n", "it is returned in line 5")


def test_function_that_is_passed_on() -> None:
    mixed(MIXED + "with mesh:\n    list(map(f, a, b))\n", "it is passed on in line 6")


def test_function_in_a_container() -> None:
    mixed("fs = {}\nfs['f'] = pjit(g, in_axis_resources=(FROM_GDA, P('x')))\n", "stored where it cannot be followed")


def test_function_bound_twice() -> None:
    mixed(MIXED + "if d:\n    f = g\nwith mesh:\n    f(a, b)\n", "f is bound more than once")


def test_function_nobody_calls_here() -> None:
    mixed(MIXED, "this file holds none")


def test_star_at_the_call() -> None:
    mixed(MIXED + "with mesh:\n    f(*arguments)\n", "the call in line 6 passes its arguments by *")


def test_keyword_at_the_call() -> None:
    mixed(MIXED + "with mesh:\n    f(a, b=b)\n", "the call in line 6 passes its arguments by * or by keyword")


def test_more_arguments_than_specs() -> None:
    mixed(MIXED + "with mesh:\n    f(a, b, c)\n", "does not have one argument for each spec")


def test_one_bad_call_spoils_the_good_one() -> None:
    mixed(MIXED + "with mesh:\n    f(a, b)\n    f(*ab)\n", "the call in line 7")


def test_call_inside_another_pjit() -> None:
    source = "def outer(a, b):\n    return f(a, b)\nouter = pjit(outer, in_axis_resources=None, out_axis_resources=None)\n"
    mixed(MIXED + source + "with mesh:\n    outer(a, b)\n", "inside a function that is itself transformed")


def test_static_arguments_counted_from_the_end() -> None:
    source = "f = pjit(g, in_axis_resources=(FROM_GDA, P('x')), static_argnums=-1)\nwith mesh:\n    f(a, b, 1)\n"
    mixed(source, "does not have one argument for each spec")


def test_no_mesh_at_the_call() -> None:
    unchanged(
        IMPORT + MIXED + "def run(context, a, b):\n    with context:\n        return f(a, b)\n",
        findings=[IMPORTED, "no mesh can be named"],
    )


def test_both_kinds_inside_one_argument() -> None:
    source = "f = pjit(g, in_axis_resources={'a': FROM_GDA, 'b': P('x')})\nwith mesh:\n    f(tree)\n"
    mixed(source, "one argument holds both")


def test_spec_made_at_run_time() -> None:
    mixed("f = pjit(g, in_axis_resources=(FROM_GDA, specs()))\nwith mesh:\n    f(a, b)\n", "the spec 'specs()' cannot be written")


def test_spec_that_is_another_name_at_the_call() -> None:
    source = "def make(axis):\n    global f\n    f = pjit(g, in_axis_resources=(FROM_GDA, P(axis)))\ndef run(axis, a, b):\n"
    mixed(source + "    with mesh:\n        f(a, b)\n", "cannot be written at the call in line 9")


def test_hidden_arguments_of_pjit() -> None:
    mixed("f = pjit(g, in_axis_resources=(FROM_GDA, P()), **options)\nwith mesh:\n    f(a, b)\n", "hold * or **")


def test_static_arguments_that_cannot_be_counted() -> None:
    source = "f = pjit(g, in_axis_resources=(FROM_GDA, P('x')), static_argnums=numbers)\nwith mesh:\n    f(a, b, 1)\n"
    mixed(source, "does not have one argument for each spec")


def test_name_imported_by_other_modules() -> None:
    from jaxmigrate.model import ProjectIndex

    index = ProjectIndex(consumed={"lib": frozenset({"f"})})
    source = IMPORT + "mesh = Mesh(d, ('x',))\n" + MIXED + "with mesh:\n    f(a, b)\n"
    unchanged(source, findings=[IMPORTED, "other modules import f"], module="lib", index=index)


def test_star_import() -> None:
    unchanged("from jax.experimental.pjit import *\nf = pjit(len, in_axis_resources=FROM_GDA)\n", findings=["star import"])


def test_exported_again() -> None:
    unchanged("from jax.experimental.pjit import FROM_GDA\n__all__ = ['FROM_GDA']\n", findings=[IMPORTED])


def test_presence_test_by_hasattr() -> None:
    source = "import jax\nfrom jax.experimental import pjit\nif hasattr(pjit, 'FROM_GDA'):\n"
    unchanged(source + "    f = pjit.pjit(len, in_axis_resources=pjit.FROM_GDA)\nelse:\n    f = jax.jit(len)\n")


@pytest.mark.parametrize(
    "value",
    ["FROM_GDA", "(FROM_GDA,)", "[FROM_GDA, FROM_GDA]", "{'a': FROM_GDA}", "(FROM_GDA,) * 3", "({'a': [FROM_GDA]}, FROM_GDA)",
     "FROM_GDA if FROM_GDA else (FROM_GDA,)", "jax.tree_util.tree_map(lambda _: FROM_GDA, tree)"],
)  # fmt: skip
def test_every_leaf_says_so(value: str) -> None:
    rewritten(f"import jax\n{IMPORT}tree = jax.numpy\nf = pjit(len, in_axis_resources={value}, out_axis_resources=P())\n",
              f"import jax\n{KEPT}tree = jax.numpy\nf = pjit(len, out_axis_resources=P())\n")  # fmt: skip


def test_last_keyword_leaves_no_comma() -> None:
    rewritten(IMPORT + "f = pjit(len, in_axis_resources=FROM_GDA)\n", KEPT + "f = pjit(len)\n")


def test_positional_sentinel_moves_the_output_to_its_keyword() -> None:
    rewritten(IMPORT + "f = pjit(len, FROM_GDA, P())\n", KEPT + "f = pjit(len, out_shardings=P())\n")


def test_value_shared_by_two_functions_goes_once() -> None:
    before = IMPORT + "spec = FROM_GDA\nf = pjit(len, in_axis_resources=spec)\ng = pjit(max, in_axis_resources=(spec, spec))\n"
    rewritten(before, KEPT + "f = pjit(len)\ng = pjit(max)\n")


def test_static_arguments_are_not_counted() -> None:
    before = IMPORT + (
        "mesh = Mesh(d, ('x',))\nf = pjit(g, in_axis_resources=(FROM_GDA, P('x')), static_argnums=(1,))\n"
        "with mesh:\n    f(a, 'mean', b)\n"
    )
    after = "multihost_utils.host_local_array_to_global_array(b, mesh, P('x'))"
    (found,) = [f for f in findings(before, select="from-gda") if f.codemod == "from-gda"]
    assert found.outcome.value == "applied"
    assert after in testing.run(before, select="from-gda").after.decode()


def test_review_names_the_assumption() -> None:
    source = IMPORT + "mesh = Mesh(d, ('x',))\n" + MIXED + "with mesh:\n    f(a, b)\n"
    (found,) = findings(source, select="from-gda")
    assert str(found.applicability) == "review"
    assert "assumes that it is host-local" in found.message


def test_argument_that_is_global_already_stays() -> None:
    source = (
        IMPORT
        + "import jax\nmesh = Mesh(d, ('x',))\nb = jax.make_array_from_callback(s, n, c)\n"
        + MIXED
        + "with mesh:\n    f(a, b)\n"
    )
    assert b"f(a, b)" in testing.run(source, select="from-gda").after


@pytest.mark.parametrize("number", ["-0.1", "rate", "float(r)", "len(r)"])
def test_python_numbers_are_no_arrays(number: str) -> None:
    source = IMPORT + "mesh = Mesh(d, ('x',))\nf = pjit(g, in_axis_resources=(FROM_GDA, P('x'), None))\nrate = 0.1\n"
    source += f"with mesh:\n    f(a, b, {number})\n"
    text = testing.run(source, select="from-gda").after.decode()
    assert f"f(a, multihost_utils.host_local_array_to_global_array(b, mesh, P('x')), {number})" in text


def test_names_taken_in_the_file_are_not_reused() -> None:
    source = IMPORT + (
        "mesh = Mesh(d, ('x',))\nglobal_b = 1\nf = pjit(g, in_axis_resources=(FROM_GDA, P('x'), P(None, 'x')))\nwith mesh:\n    f(a, b, c)\n"
    )
    text = testing.run(source, select="from-gda").after.decode()
    assert "f(a, multihost_utils." in text


def test_one_line_suite_gets_no_statement_before_it() -> None:
    source = (
        IMPORT
        + "mesh = Mesh(d, ('x',))\nf = pjit(g, in_axis_resources=(FROM_GDA, P('x'), P(None, 'x')))\nwith mesh: f(a, b, c)\n"
    )
    text = testing.run(source, select="from-gda").after.decode()
    assert "with mesh: f(a, multihost_utils." in text


def test_arguments_with_effects_are_not_moved_before_others() -> None:
    source = (
        IMPORT
        + "mesh = Mesh(d, ('x',))\nf = pjit(g, in_axis_resources=(FROM_GDA, P('x'), P(None, 'x')))\nwith mesh:\n    f(a(), b(), c())\n"
    )
    text = testing.run(source, select="from-gda").after.decode()
    assert "f(a(), multihost_utils.host_local_array_to_global_array(b(), mesh, P('x')), " in text


def test_public_name_that_goes_with_it_is_a_review() -> None:
    source = IMPORT + "DEFAULT = FROM_GDA\nf = pjit(len, in_axis_resources=DEFAULT)\n"
    (found,) = rewritten(source, KEPT + "f = pjit(len)\n").findings
    assert str(found.applicability) == "review"
    assert "no other module reads DEFAULT" in found.message


@pytest.mark.parametrize(
    "source", ["_gda = FROM_GDA\n", "def run():\n    gda = FROM_GDA\n    pjit(len, in_axis_resources=gda)\n_gda = FROM_GDA\n"]
)
def test_name_of_its_own_that_goes_with_it_is_safe(source: str) -> None:
    found = findings(IMPORT + source + "f = pjit(len, in_axis_resources=_gda)\n", select="from-gda")
    assert {str(f.applicability) for f in found} == {"safe"}


def test_exported_name_stays() -> None:
    source = IMPORT + "__all__ = ['DEFAULT']\nDEFAULT = FROM_GDA\nf = pjit(len, in_axis_resources=DEFAULT)\n"
    unchanged(source, findings=[IMPORTED, "FROM_GDA comes from line 4, which serves other code too"])


def test_lines_are_those_of_the_file_as_it_was() -> None:
    source = (
        "from jax.experimental.pjit import FROM_GDA, pjit\nfrom jax.interpreters.xla import DeviceArray\n\n"
        "SPEC = FROM_GDA\nf = pjit(len, in_axis_resources=SPEC)\nprint(SPEC)\n"
    )
    found = testing.findings(source)
    assert any("FROM_GDA comes from line 4" in f.message for f in found), found


def test_long_specs_are_cut_in_messages() -> None:
    spec = "rules(\n    " + "first_rule, " * 8 + "\n)"
    mixed(
        f"f = pjit(g, in_axis_resources=(FROM_GDA, {spec}))\nwith mesh:\n    f(a, b)\n",
        "the spec 'rules( first_rule, first_rule, first_...'",
    )


CONVERTED = "multihost_utils.host_local_array_to_global_array"


def text(specs: str, call: str, before: str = "") -> str:
    """What becomes of a file with these specs and this call."""
    source = (
        f"import jax\n{IMPORT}mesh = Mesh(d, ('x',))\n{before}f = pjit(g, in_axis_resources={specs})\nwith mesh:\n    {call}\n"
    )
    return testing.run(source, select="from-gda").after.decode()


@pytest.mark.parametrize(
    "spec",
    ["None", "P()", "P(None)", "P(None, None)", "WHOLE", "TREE", "(P(), None)", "[P()] * 2", "{'a': P(), 'b': (None,)}",
     "jax.tree_util.tree_map(lambda _: P(), b)", "[P() for _ in range(2)]", "{k: None for k in 'ab'}", "P() if d else None",
     "jax.sharding.NamedSharding(mesh, P())", "dict(a=P(), b=None)", "tuple(P() for _ in d)", "()"],
)  # fmt: skip
@pytest.mark.parametrize("value", ["i", "3", "np_array", "state.step", "jax.random.PRNGKey(0)", "{'step': 1}"])
def test_what_everybody_is_given_whole_stays(spec: str, value: str) -> None:
    named = "WHOLE = P()\nTREE = {'a': WHOLE, 'b': None}\n"
    assert f"    f(a, {CONVERTED}(b, mesh, P('x')), {value})\n" in text(f"(FROM_GDA, P('x'), {spec})", f"f(a, b, {value})", named)


@pytest.mark.parametrize("spec", ["P('x')", "P(None, 'x')", "P(('x',))", "PartSharded", "(P('x'), P('x'))"])
def test_what_is_sharded_is_converted(spec: str) -> None:
    assert f"f(a, {CONVERTED}(b, mesh, {spec}), i)" in text(f"(FROM_GDA, {spec}, None)", "f(a, b, i)", "PartSharded = P('x')\n")


@pytest.mark.parametrize("filling", ["specs['k'] = P('x')", "specs.update(k=P('x'))", "specs.setdefault('k', P('x'))"])
def test_tree_that_is_filled_later_is_not_taken_for_whole(filling: str) -> None:
    assert f"{CONVERTED}(b, mesh, specs" in text("(FROM_GDA, specs)", "f(a, b)", f"specs = {{'j': P()}}\n{filling}\n")


def test_only_whole_inputs_beside_sentinels_need_no_call_and_no_mesh() -> None:
    source = "def build(g):\n    return pjit(g{})\n"
    found = rewritten(
        IMPORT + source.format(", in_axis_resources=(FROM_GDA, {'a': None, 'b': FROM_GDA})") + "P()\n",
        KEPT + source.format("") + "P()\n",
    ).findings
    assert [str(f.applicability) for f in found] == ["review"]
    assert "committed to one device" in found[0].message
    assert "assumes" not in found[0].message


@pytest.mark.parametrize(
    ("spec", "value", "after"),
    [("{'x': P('x'), 'step': None}", "{'x': b, 'step': i}", "{{'x': {0}(b, mesh, P('x')), 'step': i}}"),
     ("{'x': P('x'), 'step': None}", "{'step': 3, 'x': b}", "{{'step': 3, 'x': {0}(b, mesh, P('x'))}}"),
     ("{'x': P('x'), 'step': None}", "dict(x=b, step=3)", "dict(x={0}(b, mesh, P('x')), step=3)"),
     ("(P('x'), P())", "(b, 1)", "({0}(b, mesh, P('x')), 1)"),
     ("[P(), [P('x'), None]]", "[1, [b, 2]]", "[1, [{0}(b, mesh, P('x')), 2]]"),
     ("{'x': P('x'), 'w': FROM_GDA}", "{'x': b, 'w': w}", "{{'x': {0}(b, mesh, P('x')), 'w': w}}")],
)  # fmt: skip
def test_tree_written_at_the_call_is_converted_leaf_by_leaf(spec: str, value: str, after: str) -> None:
    assert f"f(a, {after.format(CONVERTED)})" in text(f"(FROM_GDA, {spec})", f"f(a, {value})")


@pytest.mark.parametrize(
    "value", ["tree", "{**tree}", "{'x': b}", "dict(tree)", "dict(x=b, **c)", "{'x': b, 'step': i, 'y': c}", "{k: b, 'step': i}"]
)
def test_tree_that_cannot_be_matched_is_converted_whole_and_says_what_it_assumes(value: str) -> None:
    specs = "{'x': P('x'), 'step': None}"
    source = (
        f"{IMPORT}mesh = Mesh(d, ('x',))\nf = pjit(g, in_axis_resources=(FROM_GDA, {specs}))\nwith mesh:\n    f(a, {value})\n"
    )
    result = testing.run(source, select="from-gda")
    assert f"{CONVERTED}({value}, mesh, {{'x': P('x'), 'step': P()}})" in result.after.decode()
    assert any(f"assumes that all leaves of {value} are arrays" in f.message for f in result.findings)


@pytest.mark.parametrize("number", ["3", "-0.5", "True", "len(d)"])
def test_number_in_a_tree_that_would_be_converted_whole(number: str) -> None:
    source = "f = pjit(g, in_axis_resources=(FROM_GDA, {'x': P('x'), 'step': None}))\n"
    source += f"tree = {{'x': b, 'step': {number}}}\nwith mesh:\n    f(a, tree)\n"
    mixed(source, "tree at the call in line 7 holds a Python number")


def test_whole_trees_and_sharded_ones_do_not_speak_of_leaves() -> None:
    source = (
        f"{IMPORT}mesh = Mesh(d, ('x',))\nf = pjit(g, in_axis_resources=(FROM_GDA, P('x'), P()))\nwith mesh:\n    f(a, b, i)\n"
    )
    (found,) = findings(source, select="from-gda")
    assert "leaves" not in found.message
    assert "what had None or P() is global already" in found.message
