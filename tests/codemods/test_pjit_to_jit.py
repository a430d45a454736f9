"""pjit-to-jit: function, shardings and mesh context together, or not at all."""

from __future__ import annotations

import functools

import pytest

from jaxmigrate import testing
from jaxmigrate.model import ProjectIndex

unchanged = functools.partial(testing.unchanged, select="pjit-to-jit")
HEAD = (
    "import jax\nimport numpy as np\nfrom jax.experimental.pjit import pjit\n"
    "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\nmesh = Mesh(np.array(jax.devices()), ('x',))\n"
)
ROWS = "f = pjit(lambda a: a, in_shardings=P('x'), out_shardings=P('x'))\n"
JIT = "f = jax.jit(\n    lambda a: a,\n    in_shardings=NamedSharding(mesh, P('x')),\n    out_shardings=NamedSharding(mesh, P('x')))\n"
CALL = "with mesh:\n    y = f(x)\n"


def kept(source: str, reason: str, head: str = HEAD) -> None:
    """A pjit that stays, and why."""
    unchanged(head + source, findings=[f"manual: pjit is kept: {reason}"])


def result(source: str, **kw: object) -> str:
    """What becomes of a program."""
    after = testing.run(HEAD + source, select="pjit-to-jit", **kw).after.decode()  # type: ignore[arg-type]
    assert not testing.applied(testing.run(after, select="pjit-to-jit"))
    return after.partition("('x',))\n")[2]


def test_own_pjit() -> None:
    unchanged("def pjit(f, in_shardings):\n    return f\nf = pjit(len, in_shardings=None)\n")


def test_shadowed_by_a_parameter() -> None:
    unchanged(HEAD + "def run(pjit):\n    return pjit(len)\n")


def test_target_where_pjit_is_the_documented_function() -> None:
    unchanged(HEAD + ROWS + CALL, target="0.4.13")


def test_last_release_before_the_deprecation() -> None:
    unchanged(HEAD + ROWS + CALL, target="0.7.2")


def test_bare_context_without_pjit() -> None:
    unchanged(HEAD.replace("from jax.experimental.pjit import pjit\n", "") + "f = jax.jit(len)\nwith mesh:\n    y = f(x)\n")


def test_old_keywords_wait_for_axis_resources() -> None:
    unchanged(HEAD + ROWS.replace("in_shardings", "in_axis_resources") + CALL)


def test_sentinel_waits_for_from_gda() -> None:
    unchanged(HEAD.replace("import pjit", "import FROM_GDA, pjit") + "f = pjit(len, in_shardings=(FROM_GDA, P()))\n" + CALL)


def test_fourth_positional_waits() -> None:
    unchanged(HEAD + "f = pjit(len, P(), P(), 1)\n" + CALL)


def test_alias_is_reported_once() -> None:
    kept("parallel = pjit\nf = parallel(len, in_shardings=P())\n" + CALL, "it is passed on, or gets another name")


def test_passed_on() -> None:
    kept("from mylib import wrap\ng = wrap(pjit)\n", "it is passed on")


def test_hidden_arguments() -> None:
    kept("f = pjit(len, **options)\n" + CALL, "its arguments hold * or **")


def test_returned() -> None:
    kept("def make(g):\n    return pjit(g, in_shardings=P('x'))\n", "it is returned in line 7")


def test_transformed() -> None:
    kept(ROWS + "with mesh:\n    y = jax.vmap(f)(x)\n", "it is passed on in line 8")


def test_in_a_container() -> None:
    kept("fs = [pjit(len, in_shardings=P('x'))]\nwith mesh:\n    fs[0](x)\n", "it is stored where it cannot be followed")


def test_other_attribute_of_the_function() -> None:
    kept(ROWS + "with mesh:\n    f.clear_cache()\n", "its attribute clear_cache is used")


def test_not_called_here() -> None:
    kept(ROWS, "nothing in this file calls it")


def test_called_outside_a_mesh() -> None:
    kept(ROWS + CALL + "z = f(y)\n", "no mesh is certain to be in force at its call in line 9")


def test_called_in_a_function_that_is_called_from_anywhere() -> None:
    kept(ROWS + "def run(x):\n    return f(x)\nclass A:\n    g = run\n", "no mesh is certain")


def test_two_meshes() -> None:
    kept("other = Mesh(d, ('x',))\n" + ROWS + CALL + "with other:\n    f(x)\n", "its call in line 11 is under another mesh")


def test_mesh_bound_twice() -> None:
    kept(
        ROWS + "if x:\n    mesh = Mesh(x, ('x',))\n" + CALL, "the mesh at its call in line 10 has no name that is bound only once"
    )


def test_mesh_made_after_the_function() -> None:
    kept("", "the mesh has no name yet", head=HEAD.replace("mesh =", f"{ROWS}mesh =") + CALL)


def test_parameter_that_may_be_any_context() -> None:
    kept(ROWS + "def run(context, x):\n    with context:\n        return f(x)\n", "no mesh is certain")


def test_parameter_of_another_function() -> None:
    kept("def run(mesh: Mesh, x):\n    with mesh:\n        return f(x)\n" + ROWS, "the mesh has no name yet")


def test_specs_made_at_run_time() -> None:
    kept("f = pjit(len, in_shardings=specs())\n" + CALL, "the shardings specs() cannot be read off")


def test_spec_from_a_parameter() -> None:
    kept(
        "def run(spec, x):\n    f = pjit(len, in_shardings=spec)\n    with mesh:\n        return f(x)\n",
        "the shardings spec cannot",
    )


def test_automatic_sharding() -> None:
    source = HEAD.replace("import pjit", "import AUTO, pjit") + "f = pjit(len, in_shardings=AUTO(mesh))\n" + CALL
    unchanged(source, findings=["cannot be read off"])


def test_tree_with_none_that_others_read() -> None:
    kept(
        "spec = (P('x'), None)\nprint(spec)\nf = pjit(max, in_shardings=spec)\nwith mesh:\n    f(x, y)\n",
        "the shardings behind spec",
    )


def test_no_shardings_and_inputs_from_anywhere() -> None:
    kept("f = pjit(lambda a: a)\n" + CALL, "it has no shardings")


def test_bare_decorator_and_inputs_from_anywhere() -> None:
    kept("@pjit\ndef f(a):\n    return a\n" + CALL, "it has no shardings")


def test_method_is_not_followed() -> None:
    kept("class A:\n    @functools.partial(pjit, in_shardings=P())\n    def f(self, a):\n        return a\n", "it is a method",
         head=f"import functools\n{HEAD}".replace("import functools\nimport jax", "import functools, jax"))  # fmt: skip


def test_attribute_used_outside_its_class() -> None:
    source = "class A:\n    def __init__(self):\n        self.mesh = mesh\n        self.f = pjit(len, in_shardings=P())\n"
    kept(source + "def run(a, x):\n    with mesh:\n        return a.f(x)\n", "f is used outside its class")


def test_attribute_assigned_twice() -> None:
    source = "class A:\n    def a(self):\n        self.f = pjit(len, in_shardings=P())\n    def b(self):\n        self.f = len\n"
    kept(source, "self.f is assigned more than once")


def test_imported_by_other_modules() -> None:
    index = ProjectIndex(consumed={"lib": frozenset({"f"})})
    unchanged(HEAD + ROWS + CALL, findings=["other modules import f"], module="lib", index=index)


def test_host_local_inputs_come_first() -> None:
    kept("rank = jax.process_index()\n" + ROWS + CALL, "what its callers pass may be local to a process")


def test_function_by_keyword() -> None:
    first = ROWS.replace("lambda a", "fun=lambda a")
    assert result(first + CALL) == JIT + "y = f(x)\n"
    kept("f = pjit(in_shardings=P('x'), fun=lambda a: a)\n" + CALL, "its function is given by keyword")


def test_nothing_else_in_the_context() -> None:
    assert result(ROWS + CALL) == JIT + "y = f(x)\n"


@pytest.mark.parametrize(
    "statement",
    ["g(y)", "self.g(y)", "y = h[0](y)", "y.update(1)", "import lib", "y = jax.jit(g)(y)", "y = jax.lax.scan(g, 0, y)",
     "for b in batches: f(b)", "y = [f(b) for b in batches]", "with other: f(x)", "y = eval('f')", "y = map(g, y)", "y = next(g)"],
)  # fmt: skip
def test_context_stays_for_code_that_may_look_at_it(statement: str) -> None:
    text = result(f"{ROWS}def run(self, g, h, batches, other, x):\n    with mesh:\n        y = f(x)\n        {statement}\n")
    assert "    with mesh:\n        y = f(x)\n" in text
    assert text.startswith(JIT)


@pytest.mark.parametrize(
    "statement",
    ["print(y.sum(), len(y))", "y = np.asarray(y)", "y.block_until_ready()", "assert y.shape == (8,)", "z = y + jax.numpy.ones(8)",
     "for i in range(3): f(x)", "for i, b in enumerate([x, x]): f(b)", "z = y.at[0].set(1)", "z = jax.lax.scan(lambda c, a: (c, a), 0, y)",
     "z = {}.get(1)", "log = []; log.append(1)"],
)  # fmt: skip
def test_context_goes_from_around_code_that_does_not(statement: str) -> None:
    text = result(f"{ROWS}def run(x):\n    with mesh:\n        y = f(x)\n        {statement}\n")
    assert text == f"{JIT}def run(x):\n    y = f(x)\n    {statement}\n"


@pytest.mark.parametrize(
    "look", ["maps.xmap(len, [], [])(y)", "maps.thread_resources.env", "pxla.thread_resources.env.physical_mesh"]
)
def test_context_stays_for_what_reads_it(look: str) -> None:
    imports = "from jax.experimental import maps\nfrom jax.interpreters import pxla\n"
    assert f"with mesh:\n    y = f(x)\n    z = {look}\n" in result(f"{imports}{ROWS}with mesh:\n    y = f(x)\n    z = {look}\n")


def test_context_stays_when_the_function_reads_it() -> None:
    source = "from jax.interpreters import pxla\nf = pjit(lambda a: a * pxla.thread_resources.env.physical_mesh.size, in_shardings=P('x'))\n"
    assert result(source + CALL).endswith(CALL)


def test_context_stays_for_a_function_that_stays() -> None:
    text = result(ROWS + "k = pjit(lambda a: a, in_shardings=specs())\nwith mesh:\n    y = k(f(x))\n")
    assert text == JIT + "k = pjit(lambda a: a, in_shardings=specs())\nwith mesh:\n    y = k(f(x))\n"


def test_context_stays_for_a_rebound_function_that_stays() -> None:
    source = "def k(a):\n    return a\nk = pjit(k, in_shardings=specs())\n"
    assert result(source + ROWS + "with mesh:\n    y = k(f(x))\n").endswith("with mesh:\n    y = k(f(x))\n")


def test_context_stays_when_the_function_may_look_at_it() -> None:
    source = "from lib import model\nf = pjit(lambda a: model(a), in_shardings=P('x'), out_shardings=None)\n"
    text = result(source + CALL)
    assert "NamedSharding(mesh, P())" in text
    assert text.endswith(CALL)


def test_context_stays_when_an_inner_function_constrains() -> None:
    source = (
        "def inner(a):\n    return jax.lax.with_sharding_constraint(a, P('x'))\n"
        "f = pjit(lambda a: jax.lax.scan(lambda c, b: (c, inner(b)), 0, a), in_shardings=P('x'))\n"
    )
    assert "with jax.set_mesh(mesh):\n    y = f(x)\n" in result(source + CALL)
    assert "with mesh:\n    y = f(x + 1)\n" in result(source + "with mesh:\n    y = f(x + 1)\n")


def test_set_mesh_is_not_for_meshes_of_another_kind() -> None:
    source = "def run(mesh: Mesh, x):\n    f = pjit(lambda a: jax.lax.with_sharding_constraint(a, P('x')), in_shardings=P('x'))\n"
    assert "    with mesh:\n        return f(x)\n" in result(source + "    with mesh:\n        return f(x)\n")


def test_constraint_that_brings_its_mesh_needs_no_context() -> None:
    source = "f = pjit(lambda a: jax.lax.with_sharding_constraint(a, NamedSharding(mesh, P('x'))), in_shardings=P('x'))\n"
    assert result(source + CALL).endswith("\ny = f(x)\n")


def test_function_that_gave_a_mesh_context() -> None:
    source = "from jax.experimental import maps\nm = maps.mesh(np.array(jax.devices()), ('x',))\n"
    kept(source + ROWS + "with m:\n    y = f(x)\n", "no mesh is certain")


def test_context_with_a_name_or_a_second_item_stays() -> None:
    assert "with mesh as m:\n" in result(ROWS + "with mesh as m:\n    y = f(x)\n")
    assert "with mesh, open(p):\n" in result(ROWS + "with mesh, open(p):\n    y = f(x)\n")


def test_comment_on_the_context_line_keeps_it() -> None:
    assert "with mesh:  # eight devices\n" in result(ROWS + "with mesh:  # eight devices\n    y = f(x)\n")


def test_one_line_context_stays() -> None:
    assert result(ROWS + "with mesh: y = f(x)\n") == JIT + "with mesh: y = f(x)\n"


def test_multi_line_strings_keep_their_blanks() -> None:
    source = "with mesh:\n    # first\n    y = f(x)\n    print('''a\n    b''')\n\n    # last\n"
    assert result(ROWS + source) == JIT + "# first\ny = f(x)\nprint('''a\n    b''')\n\n# last\n"


def test_tabs() -> None:
    after = JIT.replace("    ", "\t") + "if x:\n\ty = f(x)\n"
    assert result(ROWS + "if x:\n\twith mesh:\n\t\ty = f(x)\n") == after


def test_nested_contexts_lose_the_inner_one_only() -> None:
    text = result(ROWS + "with lock:\n    with mesh:\n        y = f(x)\n")
    assert text == JIT + "with lock:\n    y = f(x)\n"


def test_generator_keeps_its_context() -> None:
    text = result(ROWS + "def run(x):\n    with mesh:\n        yield f(x)\n")
    assert "    with mesh:\n        yield f(x)\n" in text


def test_import_guard_is_left_alone() -> None:
    source = HEAD.replace("from jax.experimental.pjit import pjit\n", "") + (
        "if hasattr(jax, 'shard_map'):\n    pjit = jax.jit\nelse:\n    from jax.experimental.pjit import pjit\nf = pjit(len)\n"
    )
    unchanged(source)


def test_crlf_and_unicode() -> None:
    before = (HEAD + "# é\n" + ROWS + "with mesh:\n    y = f('ä')\n").replace("\n", "\r\n").encode()
    after = testing.run(before, select="pjit-to-jit").after
    assert after.endswith(("# é\n" + JIT + "y = f('ä')\n").replace("\n", "\r\n").encode())


def test_suppressed_on_its_line() -> None:
    unchanged(HEAD + ROWS.replace(")\n", ")  # jaxmigrate: ignore[pjit-to-jit]\n") + CALL)


@pytest.mark.parametrize(("entered", "advice"), [("mesh", ": annotate it"), ("m", ": annotate it"), ("self.mesh", "")])
def test_context_that_may_be_no_mesh_is_named(entered: str, advice: str) -> None:
    parameter = entered.partition(".")[0]
    source = f"def run({parameter}):\n    f = pjit(len, in_shardings=P('x'))\n    with {entered}:\n        return f(x)\n"
    kept(
        source, f"no mesh is certain to be in force at its call in line 9; `{entered}` may be something else than a mesh{advice}"
    )


def test_annotation_tells_that_it_is_a_mesh() -> None:
    source = "def run(m: Mesh):\n    f = pjit(len, in_shardings=P('x'))\n    with m:\n        return f(x)\n"
    assert "jax.jit(len, in_shardings=NamedSharding(m, P('x')))" in result(source)


def test_context_that_is_known_to_be_something_else_is_not_blamed() -> None:
    source = "def run(path: str):\n    f = pjit(len, in_shardings=P('x'))\n    with open(path):\n        return f(x)\n"
    kept(source, "no mesh is certain to be in force at its call in line 9; it still works")


def test_lines_are_those_of_the_file_as_it_was() -> None:
    source = "from jax.interpreters.xla import DeviceArray\n" + HEAD + ROWS + "y = f(x)\n"
    assert any("at its call in line 8" in f.message for f in testing.findings(source))


LONG = "f = pjit(lambda *a: a, in_shardings=(P('x'), P('x')), out_shardings=P('x'))\n"
BROKEN = (
    "jax.jit(\n    lambda *a: a,\n    in_shardings=(NamedSharding(mesh, P('x')), NamedSharding(mesh, P('x'))),\n"
    "    out_shardings=NamedSharding(mesh, P('x')))\n"
)


def test_short_call_stays_on_its_line() -> None:
    assert result("f = pjit(lambda *a: a, out_shardings=P('x'))\n" + CALL) == (
        "f = jax.jit(lambda *a: a, out_shardings=NamedSharding(mesh, P('x')))\ny = f(x)\n"
    )


def test_long_call_gets_one_argument_a_line() -> None:
    assert result(LONG + CALL) == "f = " + BROKEN + "y = f(x)\n"


def test_call_in_a_context_that_goes_is_broken_at_its_new_indentation() -> None:
    source = "if x:\n    with mesh:\n        y = pjit(\n            lambda *a: a, in_shardings=(P('x'), None), out_shardings=P('x'))(x, x)\n"
    assert result(source) == (
        "if x:\n    y = jax.jit(\n        lambda *a: a,\n        in_shardings=(NamedSharding(mesh, P('x')), NamedSharding(mesh, P())),\n"
        "        out_shardings=NamedSharding(mesh, P('x')))(x, x)\n"
    )


def test_arguments_aligned_with_the_first_stay_so() -> None:
    source = "f = pjit(lambda *a: a,\n         in_shardings=(P('x'), P('x')), out_shardings=P('x'), donate_argnums=(0, 1))\n"
    assert result(source + CALL) == (
        "f = jax.jit(lambda *a: a,\n         in_shardings=(NamedSharding(mesh, P('x')), NamedSharding(mesh, P('x'))),\n"
        "         out_shardings=NamedSharding(mesh, P('x')),\n         donate_argnums=(0, 1))\ny = f(x)\n"
    )


def test_elements_get_lines_where_one_argument_is_still_too_long() -> None:
    source = "f = pjit(lambda *a: a, in_shardings=(P('x'), P('x'), P(('x',), None), P(None, 'x')))\n"
    assert result(source + CALL) == (
        "f = jax.jit(\n    lambda *a: a,\n    in_shardings=(\n        NamedSharding(mesh, P('x')),\n        NamedSharding(mesh, P('x')),\n"
        "        NamedSharding(mesh, P(('x',), None)),\n        NamedSharding(mesh, P(None, 'x'))))\ny = f(x)\n"
    )


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_lines_are_broken_with_the_ends_of_the_file(ending: str) -> None:
    after = testing.run((HEAD + LONG + CALL).replace("\n", ending).encode(), select="pjit-to-jit").after
    assert after.endswith(BROKEN.replace("\n", ending).encode() + b"y = f(x)" + ending.encode())


def test_comment_between_the_arguments_keeps_its_place() -> None:
    source = "f = pjit(\n    lambda *a: a, in_shardings=(P('x'), P('x')), out_shardings=P('x'),  # rows\n    donate_argnums=0)\n"
    assert result(source + CALL) == (
        "f = jax.jit(\n    lambda *a: a,\n    in_shardings=(NamedSharding(mesh, P('x')), NamedSharding(mesh, P('x'))),\n"
        "    out_shardings=NamedSharding(mesh, P('x')),  # rows\n    donate_argnums=0)\ny = f(x)\n"
    )


def test_named_tuple_of_specs_gets_one_a_line() -> None:
    source = "SPECS = (P('x'), P('x'), (P('x')), P('x'))\nf = pjit(lambda *a: a, in_shardings=SPECS)\n"
    assert result(source + CALL) == (
        "SPECS = (\n    NamedSharding(mesh, P('x')),\n    NamedSharding(mesh, P('x')),\n    (NamedSharding(mesh, P('x'))),\n"
        "    NamedSharding(mesh, P('x')))\nf = jax.jit(lambda *a: a, in_shardings=SPECS)\ny = f(x)\n"
    )


@pytest.mark.parametrize("specs", ["P('x'), P('x'), P('x'), P('x')", "(P('x')), P('x'), \\\n    P('x'), P('x')"])
def test_tuple_without_brackets_stays_on_its_line(specs: str) -> None:
    text = result(f"SPECS = {specs}\nf = pjit(lambda *a: a, in_shardings=SPECS)\n" + CALL)
    assert text.startswith("SPECS = ")
    assert len(text.splitlines()) == len(specs.splitlines()) + 2


NEEDY = "jax.jit(lambda v: jax.lax.with_sharding_constraint(v, P('x')))(x)"
READING = "    def run(self, x):\n        with mesh:\n            y = f(x)\n            return self.p\n"


@pytest.mark.parametrize(
    "members",
    [
        "    @property\n    def p(self):\n        return NEEDY\n",
        "    @functools.cached_property\n    def p(self):\n        return NEEDY\n",
        "    @abc.abstractproperty\n    def p(self):\n        return NEEDY\n",
        "    @cached_property\n    def p(self):\n        return NEEDY\n",
        "    @property\n    def p(self):\n        return self.q\n    @property\n    def q(self):\n        return NEEDY\n",
        "    @property\n    def p(self):\n        return self.m()\n    def m(self):\n        return NEEDY\n",
        "    p = property(lambda self: NEEDY)\n",
        "    def read(self):\n        return NEEDY\n    p = property(read)\n",
        "    p = property(elsewhere)\n",
        "    @lazy\n    def p(self):\n        return 1\n",
        "    def __getattr__(self, name):\n        return NEEDY\n",
        "    @property\n    def p(self):\n        return 1\n    @p.setter\n    def p(self, v):\n        NEEDY\n",
    ],
)
def test_property_that_needs_the_mesh_keeps_it(members: str) -> None:
    source = "class A:\n" + members.replace("NEEDY", NEEDY) + READING
    assert "        with mesh:\n            y = f(x)\n" in result("import abc, functools\n" + ROWS + source)


@pytest.mark.parametrize("bases", ["A", "A, Other", "Between"])
def test_property_of_a_base_class_in_the_file(bases: str) -> None:
    source = (
        f"class A:\n    @property\n    def p(self):\n        return {NEEDY}\nclass Between(A):\n    pass\nclass B({bases}):\n"
    )
    assert "        with mesh:\n            y = f(x)\n" in result(ROWS + source + READING)


def test_property_of_a_class_that_extends_this_one() -> None:
    source = f"class B(A):\n    @property\n    def p(self):\n        return {NEEDY}\n"
    assert "        with mesh:\n            y = f(x)\n" in result(ROWS + "class A:\n" + READING + source)


def test_property_of_another_object() -> None:
    source = f"class A:\n    @property\n    def p(self):\n        return {NEEDY}\na = A()\n"
    assert "with mesh:\n    y = f(x)\n" in result(ROWS + source + "with mesh:\n    y = f(x)\n    z = a.p\n")


@pytest.mark.parametrize(
    "members",
    [
        "",
        "    def __init__(self):\n        self.p = 1\n",
        "    p = 1\n",
        "    @property\n    def p(self):\n        return self.q + 1\n",
        "    def p(self):\n        return NEEDY\n",
        "    @property\n    def other(self):\n        return NEEDY\n",
        "    def __init__(self):\n        self.p = 1\n    def __getattr__(self, name):\n        return NEEDY\n",
    ],
)
def test_attribute_that_needs_no_mesh_lets_it_go(members: str) -> None:
    assert "with mesh" not in result(ROWS + "class A:\n" + members.replace("NEEDY", NEEDY) + READING)


def test_property_of_an_unrelated_class() -> None:
    source = f"class Other:\n    @property\n    def p(self):\n        return {NEEDY}\nclass A:\n"
    assert "with mesh" not in result(ROWS + source + READING)


def test_attribute_of_an_array_is_no_property_of_the_file() -> None:
    source = f"class Other:\n    @property\n    def shape(self):\n        return {NEEDY}\nx = jax.numpy.ones(8)\n"
    assert "with mesh" not in result(ROWS + source + "with mesh:\n    y = f(x)\n    print(x.shape)\n")
