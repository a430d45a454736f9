"""axis-resources: whose keyword it is decides."""

from __future__ import annotations

import functools

import pytest

from jaxmigrate import testing
from jaxmigrate.testing import findings

unchanged = functools.partial(testing.unchanged, select="axis-resources")
rewritten = functools.partial(testing.rewritten, select="axis-resources")
IMPORT = "from jax.experimental.pjit import pjit\nfrom jax.sharding import PartitionSpec as P\n"


def test_own_function_with_the_same_keyword() -> None:
    unchanged(IMPORT + "def partition(f, in_axis_resources):\n    return f\npartition(len, in_axis_resources=P())\n")


def test_own_function_called_pjit() -> None:
    unchanged("def pjit(f, in_axis_resources):\n    return f\npjit(len, in_axis_resources=None)\n")


def test_parameter_shadows_the_import() -> None:
    unchanged(IMPORT + "def wrap(pjit, f):\n    return pjit(f, in_axis_resources=None)\n")


def test_class_of_another_package() -> None:
    unchanged("from alpa import ManualShardingOption\nManualShardingOption(('x',), in_axis_resources=(None,))\n")


def test_pjit_of_another_package() -> None:
    unchanged("from mylib.parallel import pjit\npjit(len, in_axis_resources=None)\n")


def test_xmap_has_other_axis_resources() -> None:
    unchanged("from jax.experimental.maps import xmap\nf = xmap(len, in_axes=['i'], out_axes=['i'], axis_resources={'i': 'x'})\n")


def test_method_of_an_object() -> None:
    unchanged(IMPORT + "def run(partitioner, f):\n    return partitioner.pjit(f, in_axis_resources=P())\n")


def test_attribute_and_parameter_names() -> None:
    unchanged(
        IMPORT + "class A:\n    def __init__(self, in_axis_resources):\n        self.in_axis_resources = in_axis_resources\n"
    )


def test_dict_that_is_never_splatted() -> None:
    unchanged(IMPORT + "config = {'in_axis_resources': P()}\nprint(config)\n")


def test_dict_that_is_splatted_into_something_else() -> None:
    unchanged(IMPORT + "def mine(f, **kw):\n    return f\nkw = {'in_axis_resources': P()}\nmine(len, **kw)\n")


def test_new_keywords() -> None:
    unchanged(IMPORT + "f = pjit(len, in_shardings=P(), out_shardings=P())\n")


def test_positional_shardings_mean_the_same_in_every_version() -> None:
    unchanged(IMPORT + "f = pjit(len, P(), P())\n")


def test_keyword_in_a_string_or_docstring() -> None:
    unchanged(IMPORT + '"""Give in_axis_resources to pjit."""\nmessage = "in_axis_resources is old"\n')


def test_position_that_means_something_else_in_the_release_it_was_written_for() -> None:
    source = IMPORT + "f = pjit(len, None, None, 0)\n"
    unchanged(source, origin="0.4.13", findings=["is in_axis_resources in JAX 0.4.13"])


def test_partial_of_own_wrapper() -> None:
    unchanged(
        IMPORT + "import functools\ndef named_pjit(f, in_axis_resources=None):\n    return f\n"
        "g = functools.partial(named_pjit, in_axis_resources=P())\n"
    )


def test_constraint_with_its_own_second_argument() -> None:
    unchanged("import jax\nfrom jax.sharding import PartitionSpec as P\ny = jax.lax.with_sharding_constraint(1, P('x'))\n")


def test_sharded_jit_constraint_is_another_function() -> None:
    unchanged(
        "from jax.interpreters.sharded_jit import with_sharding_constraint\nwith_sharding_constraint(1, axis_resources=None)\n"
    )


def test_kwargs_parameter_alone_says_nothing() -> None:
    unchanged(IMPORT + "def wrap(f, **kw):\n    return pjit(f, **kw)\n")


def test_both_spellings_at_once() -> None:
    unchanged(
        IMPORT + "f = pjit(len, in_shardings=P(), in_axis_resources=P())\n", findings=["both in_axis_resources and in_shardings"]
    )


def test_dict_that_others_read_too() -> None:
    source = IMPORT + "kw = {'in_axis_resources': P()}\nf = pjit(len, **kw)\nprint(kw)\n"
    unchanged(source, findings=["serves other code too"])


def test_dict_that_is_bound_twice() -> None:
    source = IMPORT + "kw = {'in_axis_resources': P()}\nif kw:\n    kw = {}\nf = pjit(len, **kw)\n"
    unchanged(source, findings=["serves other code too"])


@pytest.mark.parametrize("argument", ["()", "None", "extra", "(0, P())[:1]"])
def test_fourth_argument_that_could_be_either(argument: str) -> None:
    unchanged(IMPORT + f"extra = input()\nf = pjit(len, P(), P(), {argument})\n", findings=1)


def test_suppressed_on_its_line() -> None:
    unchanged(IMPORT + "f = pjit(len, in_axis_resources=P())  # jaxmigrate: ignore[axis-resources]\n")


def test_comments_and_layout_of_the_call_stay() -> None:
    rewritten(
        IMPORT
        + "f = pjit(\n    len,  # what\n    in_axis_resources = (P('x'),\n        None),  # how\n    out_axis_resources=P('x')  ,\n)\n",
        IMPORT
        + "f = pjit(\n    len,  # what\n    in_shardings = (P('x'),\n        None),  # how\n    out_shardings=P('x')  ,\n)\n",
    )


def test_one_name_of_two_keywords_in_a_nested_call() -> None:
    rewritten(
        IMPORT + "f = pjit(pjit(len, in_axis_resources=P()), out_axis_resources=P())\n",
        IMPORT + "f = pjit(pjit(len, in_shardings=P()), out_shardings=P())\n",
    )


def test_stored_partial_that_gets_more_keywords_later() -> None:
    rewritten(
        IMPORT
        + "import functools\nrows = functools.partial(pjit, in_axis_resources=P('x'))\nf = rows(len, out_axis_resources=P())\n",
        IMPORT + "import functools\nrows = functools.partial(pjit, in_shardings=P('x'))\nf = rows(len, out_shardings=P())\n",
    )


def test_quotes_of_the_keys_stay() -> None:
    rewritten(
        IMPORT + 'f = pjit(len, **{\'in_axis_resources\': P(), "out_axis_resources": P(), """donate_argnums""": 0})\n',
        IMPORT + 'f = pjit(len, **{\'in_shardings\': P(), "out_shardings": P(), """donate_argnums""": 0})\n',
    )


def test_dict_filled_step_by_step() -> None:
    rewritten(
        IMPORT
        + "kw = dict(donate_argnums=0)\nkw['in_axis_resources'] = P()\nkw.update(out_axis_resources=P())\nf = pjit(len, **kw)\n",
        IMPORT + "kw = dict(donate_argnums=0)\nkw['in_shardings'] = P()\nkw.update(out_shardings=P())\nf = pjit(len, **kw)\n",
    )


def test_unknown_splat_makes_it_a_review() -> None:
    source = IMPORT + "def wrap(f, **kw):\n    return pjit(f, in_axis_resources=P(), **kw)\n"
    (found,) = findings(source, select="axis-resources")
    assert (str(found.applicability), found.after) == ("review", "in_shardings")


def test_no_spelling_for_an_old_target_is_said() -> None:
    source = IMPORT + "f = pjit(len, in_axis_resources=P())\n"
    (found,) = findings(source, select="axis-resources", target="0.3.25")
    assert "no one spelling serves" in found.message


def test_unicode_before_the_keyword_does_not_shift_it() -> None:
    rewritten(IMPORT + "f = pjit(len('äöü'), in_axis_resources=P('é'))\n", IMPORT + "f = pjit(len('äöü'), in_shardings=P('é'))\n")


WRAP = IMPORT + "def wrap(f, **kw):\n"


def test_wrapper_that_takes_the_old_name_as_its_own() -> None:
    unchanged(
        WRAP + "    return pjit(f, in_shardings=kw.pop('in_axis_resources', None), **kw)\nwrap(len, in_axis_resources=P())\n"
    )


def test_wrapper_of_something_else() -> None:
    unchanged(WRAP + "    return other(f, **kw)\nwrap(len, in_axis_resources=P())\npjit(len)\n")


def test_parameter_in_a_file_that_passes_no_pjit_on() -> None:
    unchanged(IMPORT + "def make(jit):\n    return jit(len, in_axis_resources=P())\npjit(len)\n")


def test_choice_between_two_other_functions() -> None:
    unchanged(IMPORT + "jit = mine if pjit else yours\njit(len, in_axis_resources=P())\n")


@pytest.mark.parametrize(
    "body",
    [
        "    if 'in_axis_resources' in kw:\n        print()\n    return pjit(f, **kw)\n",
        "    print(kw.get('in_axis_resources'))\n    return pjit(f, **kw)\n",
        "    print(kw['in_axis_resources'])\n    return pjit(f, **kw)\n",
        "    kw['in_axis_resources'] = str(kw.pop('in_axis_resources'))\n    return pjit(f, **kw)\n",
    ],
)
def test_wrapper_that_reads_the_old_name(body: str) -> None:
    found = unchanged(WRAP + body + "wrap(len, in_axis_resources=P())\n", findings=2 + body.count("= str")).findings
    assert all("`wrap` hands in_axis_resources to pjit" in f.message for f in found)


@pytest.mark.parametrize(
    "body",
    [
        "    check(kw)\n    return pjit(f, **kw)\n",
        "    kw = dict(kw)\n    return pjit(f, **kw)\n",
        "    opts = dict(kw)\n    return pjit(f, **opts)\n",
        "    opts = {}\n    opts.update(kw)\n    return pjit(f, **opts)\n",
        "    return pjit(f, **{'donate_argnums': 0, **kw})\n",
    ],
)
def test_wrapper_whose_entries_go_elsewhere_too(body: str) -> None:
    unchanged(WRAP + body + "wrap(len, in_axis_resources=P())\n", findings=["`wrap` hands in_axis_resources to pjit"])


def test_decorated_wrapper() -> None:
    source = IMPORT + "@register\ndef wrap(f, **kw):\n    return pjit(f, **kw)\nwrap(len, in_axis_resources=P())\n"
    unchanged(source, findings=["`wrap` hands in_axis_resources to pjit"])


@pytest.mark.parametrize(
    "source",
    [
        "jit = pjit if flag else mine\njit(len, in_axis_resources=P())\n",
        "def make(jit=pjit):\n    return jit(len, in_axis_resources=P())\n",
        "JITS = {'a': pjit}\nJITS[mode](len, in_axis_resources=P())\n",
        "def make(jit):\n    return jit(len, in_axis_resources=P())\nmake(pjit)\n",
    ],
)
def test_callee_that_may_be_pjit(source: str) -> None:
    unchanged(IMPORT + source, findings=["may be pjit, which knows in_axis_resources as in_shardings only"])


@pytest.mark.parametrize(
    "source",
    [
        "jit = pjit if flag else jax.jit\njit(len, {}=P())\n",
        "if flag:\n    jit = pjit\nelse:\n    jit = jax.jit\njit(len, {}=P())\n",
        "{{'a': pjit, 'b': jax.jit}}[mode](len, {}=P())\n",
        "jit = pjit if flag else jax.jit\nopts = dict({}=P())\njit(len, **opts)\n",
        "wrap = lambda f, **k: pjit(f, **k)\nwrap(len, {}=P())\n",
        "class A:\n    def wrap(self, f, **k):\n        return pjit(f, **k)\n    def go(self):\n        return self.wrap(len, {}=P())\n",
        "def wrap(f, **k):\n    return pjit(f, **k)\ndef outer(f, **k):\n    return wrap(f, **k)\nouter(len, {}=P())\n",
        "def wrap(f, **k):\n    return pjit(f, **k)\nopts = {{'{}': P()}}\nwrap(len, **opts)\n",
    ],
)
def test_detour_to_pjit(source: str) -> None:
    first = "import jax\n" + IMPORT
    rewritten(first + source.format("in_axis_resources"), first + source.format("in_shardings"))


def test_wrapper_that_sets_entries_is_a_review_with_its_calls() -> None:
    body = "    kw.setdefault('{0}', P())\n    kw['{1}'] = None\n    return pjit(f, **kw)\nwrap(len, {0}=P('x'))\n"
    result = rewritten(
        WRAP + body.format("in_axis_resources", "out_axis_resources"), WRAP + body.format("in_shardings", "out_shardings")
    )
    assert [str(f.applicability) for f in result.findings] == ["review", "review"]


def test_wrapper_with_a_parameter_that_it_puts_in() -> None:
    source = (
        IMPORT
        + "def wrap(f, in_axis_resources=None, **kw):\n    kw['{}'] = in_axis_resources\n    return pjit(f, **kw)\nwrap(len, in_axis_resources=P())\n"
    )
    rewritten(source.format("in_axis_resources"), source.format("in_shardings"))


def test_needs_the_release_that_gave_the_keywords() -> None:
    result = testing.run(IMPORT + "f = pjit(len, in_axis_resources=P())\n", select="axis-resources")
    assert str(result.requires) == "0.4.4"


def test_wrapper_that_is_cached_and_gets_a_dict() -> None:
    source = (
        "@cache\ndef make(name, **kw):\n    return pjit(len, **kw)\n"
        "def named(in_axis_resources, **more):\n    opts = dict(**more)\n    opts['in_axis_resources'] = in_axis_resources\n"
        "    return make('f', **opts)\n"
    )
    unchanged(IMPORT + source, findings=["`make` hands in_axis_resources to pjit"])


def test_pjit_or_a_stand_in_that_is_passed_on() -> None:
    source = (
        "if flag:\n    maybe = noop\nelse:\n    maybe = pjit\nmodel = Model(maybe=maybe)\n"
        "class Model:\n    def __init__(self, maybe):\n        self.init = maybe(len, in_axis_resources=P())\n"
    )
    unchanged(IMPORT + source, findings=["may be pjit, which knows in_axis_resources as in_shardings only"])


@pytest.mark.parametrize(
    "body",
    [
        "    if jax.__version_info__ < (0, 4, 4):\n        kw['in_axis_resources'] = kw.pop('in_shardings')\n    return pjit(f, **kw)\n",
        "    kw['in_shardings'] = kw.pop('in_axis_resources')\n    return pjit(f, **kw)\n",
        "    if 'in_axis_resources' in kw:\n        kw['in_shardings'] = kw.pop('in_axis_resources')\n    return pjit(f, **kw)\n",
    ],
)
def test_wrapper_that_translates_the_names_itself(body: str) -> None:
    unchanged("import jax\n" + WRAP + body + "wrap(len, in_shardings=P())\n")
