"""What is read of a value that may be a module: as an argument, from a table, a class, a function; what says nothing comes first."""

from __future__ import annotations

import pytest

from jaxmigrate.model import ProjectIndex, Severity, Status
from jaxmigrate.testing import run
from tests.test_completeness import OURS, said

HEAD = "import jax, jax.numpy as jnp, numpy as onp, functools, operator, pytest\nfrom unittest import mock\n"

LEFT_ALONE = {
    "parameter_without_a_default": "def f(x, xp):\n    return xp.product(x)\n",
    "parameter_with_another_default": "def f(x, xp=onp):\n    return xp.product(x)\n",
    "parameter_of_another_function": "def f(x, xp=jnp): ...\ndef g(x, xp):\n    return xp.product(x)\n",
    "member_of_both": "def f(x, xp=jnp):\n    return xp.prod(x) + xp.float128(x)\n",
    "member_that_never_was": "def f(x, xp=jnp):\n    return xp.never_was(x)\n",
    "argument_of_another_function": "def f(xp):\n    return xp.product(x)\ng(jnp)\n",
    "other_argument": "def f(x, xp):\n    return xp.product(x)\nf(jnp, onp)\n",
    "other_value": "class A:\n    np = jnp\nclass B:\n    np = onp\n    def f(self):\n        return self.np.product(x)\n",
    "value_that_was_replaced": "xp = jnp\nxp = onp\nxp.product(x)\n",
    "other_key": "LIBS = {'jax': jnp, 'np': onp}\nLIBS['np'].product(x)\n",
    "other_number": "LIBS = [jnp, onp]\nLIBS[1].product(x)\n",
    "other_part_of_a_tuple": "xp, np = jnp, onp\nnp.product(x)\n",
    "other_column": "for name, np in [(jnp, onp)]:\n    np.product(x)\n",
    "compared": "for xp in (jnp, onp):\n    if xp is onp:\n        xp.product(x)\n",
    "compared_before": "def f(xp=jnp):\n    if xp is jnp:\n        return 1\n    return xp.product(x)\n",
    "compared_by_its_name": "def f(xp=jnp):\n    return xp.product(x) if xp.__name__ == 'numpy' else xp.prod(x)\n",
    "asked_for": "def f(xp=jnp):\n    return xp.product(x) if hasattr(xp, 'product') else xp.prod(x)\n",
    "other_arm_of_the_same_test": "if fast:\n    xp = jnp\nelse:\n    xp = onp\nif not fast: ...\nelse: ...\nif fast: ...\nelse:\n    xp.product(x)\n",
    "function_that_returns_another": "def get():\n    def inner():\n        return jnp\n    return onp\nget().product(x)\n",
    "own_method": "class A:\n    xp = jnp\n    def product(self): ...\n    def f(self):\n        return self.product()\n",
    "living_keyword": "def f(xp=jnp):\n    return xp.clip(x, min=0)\n",
    "keyword_of_something_else": "def f(np=onp, xp=jnp):\n    return np.clip(x, a_min=0) + xp.clip(x, 0)\n",
    "names_with_the_living_among_them": "getattr(jax.lax, f'reduce_{x}')\n",
    "names_that_begin_with_nothing": "getattr(jax.ops, f'{x}')\n",
    "names_of_another_module": "getattr(onp, f'index_{x}')\n",
    "name_among_others_that_is_asked_for": "f = getattr(jnp, 'product' if p else 'sum', None)\n",
    "table_of_other_names": "T = {'product': 1}\ngetattr(jnp, T[k])\n",
    "names_in_other_namespaces": "vars(onp)['product']\nglobals()['product']\nx.__dict__['product']\n",
    "name_that_never_was_in_a_namespace": "vars(jnp)['never_was']\noperator.attrgetter('never_was')(jax)\n",
    "name_set_in_a_namespace": "vars(jnp)['product'] = f\n",
    "attribute_of_another_object": "operator.attrgetter('product')(x)\noperator.itemgetter('product')(jnp)\n",
    "double_that_need_not_be_there": "mock.patch.multiple(jax, tree_map=f, create=True)\n",
    "double_of_another_object": "mock.patch.multiple(x, tree_map=f)\nmock.patch.object(target=x, attribute='tree_map')\n",
    "code_with_a_gap_in_a_name": "exec(f'jax.tree_{x}(y)')\neval('jax.tree_%s' % x)\neval('jnp.' + x)\n",
    "string_that_is_not_run": "print(f'jax.tree_map({x})')\n",
    "value_of_another_key": "mods = {}\nmods['np'] = onp\nmods['jax'] = jnp\nmods['np'].product(x)\n",
    "value_of_another_container": "mods = []\nmods.append(jnp)\nothers = []\n[m.product for m in others]\n",
    "keys_that_are_no_values": "for mod in {'a': jnp}:\n    mod.product(x)\n",
    "values_that_are_no_names": "for op in {'a': 'product'}:\n    getattr(jnp, op)\n",
    "other_argument_of_a_row": "@parameterized.parameters((jnp, onp))\ndef test(self, a, b):\n    b.product(x)\n",
    "name_of_a_case": "@parameterized.named_parameters(('product', 'sum'))\ndef test(self, op):\n    getattr(jnp, op)\n",
    "attribute_of_another_name": "a.np = jnp\nb.np.product(x)\n",
    "words_that_are_not_read": "for op in 'product sum'.split():\n    getattr(onp, op)\n",
    "other_key_of_a_dict": "LIBS = dict(jax=jnp, np=onp)\nLIBS['np'].product(x)\n",
    "argument_of_what_is_unpacked": "xp, y = f(jnp, x)\nxp.product(x)\n",
    "keyword_of_one_that_is_told_apart": "for f in (jnp.clip, onp.clip):\n    if f is onp.clip:\n        f(x, a_min=0)\n",
    "other_field": "R = namedtuple('R', 'a b')\nfor r in [R('product', 'sum')]:\n    getattr(jnp, r.b)\n",
    "code_for_another_program": "run(['bash', '-c', 'echo jax.numpy.product'])\nrun(['-c'])\n",
    "time_of_something_else": "timeit.timeit(stmt='jnp.product(x)')\n",
    "keyword_of_the_wrapper_itself": "def f(x, a_min=0, **kw):\n    return jnp.clip(x, **kw)\nf(x, a_min=0)\n",
    "keyword_of_another_wrapper": "def f(x, **kw):\n    return onp.clip(x, **kw) + jnp.clip(x)\nf(x, a_min=0)\n",
    "attributes_step_by_step": "functools.reduce(getattr, ['numpy', 'prod'], jax)\nfunctools.reduce(f, ['product'], jnp)\n",
    "lazy_module_that_has_it": "np = LazyLoader('np', globals(), 'jax.numpy')\nnp.prod(x)\nlazy('jax.numpy.product is gone')\n",
    "question_with_another_way": "f = vars(jnp).get('product', mine)\n",
    "question_for_what_is_there": "'prod' in dir(jnp)\nvars(jnp).get('prod')\n'product' in dir(x)\nx.get('product')\n",
    "table_that_makes_no_call": "{'target': 'jax.numpy.product', 'jax.numpy.product': 1}\n",
    "cycle": "a = b\nb = a\nc = [c, a[0]]\ndef f(x=f):\n    return f(c[0](x))\nf().product\na.product\nc[0].product\n",
}  # fmt: skip


@pytest.mark.parametrize("source", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_nothing_is_said(source: str) -> None:
    assert not said(HEAD + source)


PRODUCT = "jax.numpy.product"
REACHED = {
    "default": "def f(x, xp=jnp):\n    return xp.product(x)\n",
    "default_by_keyword": "def f(x, *, xp=jnp):\n    return xp.product(x)\n",
    "default_of_a_lambda": "f = lambda x, xp=jnp: xp.product(x)\n",
    "default_in_the_body": "def f(x, xp=None):\n    xp = xp or jnp\n    return xp.product(x)\n",
    "default_in_a_branch": "def f(x, xp=None):\n    if xp is None:\n        xp = jnp\n    return xp.product(x)\n",
    "argument": "def f(xp, x):\n    return xp.product(x)\nf(jnp, x)\n",
    "argument_by_keyword": "def f(x, xp):\n    return xp.product(x)\nf(x, xp=jnp)\n",
    "argument_of_a_partial": "def f(xp, x):\n    return xp.product(x)\ng = functools.partial(f, jnp)\n",
    "argument_of_a_method": "class A:\n    def f(self, xp):\n        return xp.product(x)\n    def g(self):\n        self.f(jnp)\n",
    "class": "class B:\n    np = jnp\n    def f(self, x):\n        return self.np.product(x)\n",
    "class_by_its_name": "class B:\n    np = jnp\nB.np.product(x)\n",
    "object": "class B:\n    np = jnp\nb = B()\nb.np.product(x)\n",
    "class_before": "class A:\n    np = jnp\nclass B(A):\n    def f(self, x):\n        return super().np.product(x)\n",
    "import_in_a_class": "class B:\n    import jax.numpy as np\n    @classmethod\n    def f(cls, x):\n        return cls.np.product(x)\n",
    "member": "class B:\n    def __init__(self, xp=jnp):\n        self.np = xp\n    def f(self, x):\n        return self.np.product(x)\n",
    "property": "class B:\n    @property\n    def xp(self):\n        return jnp\n    def f(self, x):\n        return self.xp.product(x)\n",
    "method": "class B:\n    def xp(self):\n        return jnp\n    def f(self, x):\n        return self.xp().product(x)\n",
    "field": "class B:\n    np: object = dataclasses.field(default=jnp)\n    def f(self, x):\n        return self.np.product(x)\n",
    "namespace": "ns = types.SimpleNamespace(np=jnp, lax=jax.lax)\nns.np.product(x)\n",
    "loop": "for mod in (jnp, onp):\n    mod.product(x)\n",
    "loop_over_a_name": "MODS = [onp] + [jnp]\n[mod.product(x) for mod in MODS]\n",
    "loop_over_pairs": "for name, mod in [('jax', jnp), ('np', onp)]:\n    mod.product(x)\n",
    "loop_over_items": "for name, mod in {'jax': jnp, 'np': onp}.items():\n    mod.product(x)\n",
    "loop_with_numbers": "for i, mod in enumerate([jnp, onp]):\n    mod.product(x)\n",
    "loop_over_two": "for y, mod in zip(ys, [jnp, onp]):\n    mod.product(x)\n",
    "parametrized": "@pytest.mark.parametrize('xp', [onp, pytest.param(jnp, id='a')])\ndef test(xp):\n    xp.product(x)\n",
    "parametrized_by_two": "@pytest.mark.parametrize('y, xp', [(1, onp), (2, jnp)])\ndef test(xp, y):\n    xp.product(x)\n",
    "parametrized_with_marks": "@pytest.mark.parametrize('y, xp', [pytest.param(2, jnp, id='a')])\ndef test(xp, y):\n    xp.product(x)\n",
    "fixture": "@pytest.fixture(params=[onp, jnp])\ndef xp(request):\n    yield request.param\ndef test(xp):\n    xp.product(x)\n",
    "walrus": "if (xp := jnp):\n    xp.product(x)\n",
    "either": "(jnp if fast else onp).product(x)\n",
    "one_of_three": "xp = None if a else (onp if b else jnp)\nxp.product(x)\n",
    "table": "{'jax': jnp, 'np': onp}[backend].product(x)\n",
    "table_with_a_name": "LIBS = dict(jax=jnp, np=onp)\nxp = LIBS.get(backend, onp)\nxp.product(x)\n",
    "table_by_a_key": "LIBS = {'jax': jnp, 'np': onp}\nLIBS['jax'].product(x)\n",
    "tuple": "xp, (lib, z) = jnp, (jax, 1)\nxp.product(x)\n",
    "function": "def get(b):\n    if b == 'jax':\n        return jnp\n    return onp\nxp = get(b)\nxp.product(x)\n",
    "function_that_imports": "def get():\n    import jax.numpy as np\n    return np\nget().product(x)\n",
    "lambda": "get = lambda: jnp\nget().product(x)\n",
    "context": "with contextlib.nullcontext(jnp) as xp:\n    xp.product(x)\n",
    "module_of_a_module": "def f(x, lib=jax):\n    return lib.numpy.product(x)\n",
    "getattr": "def f(x, xp=jnp):\n    return getattr(xp, 'product')(x)\n",
    "one_of_two_names": "f = getattr(jnp, 'product' if p else 'sum')\n",
    "table_of_names": "T = {'p': 'product', 's': 'sum'}\nf = getattr(jnp, T[k])\n",
    "name_by_default": "def f(x, op='product'):\n    return getattr(jnp, op)(x)\n",
    "name_as_an_argument": "def f(op, x):\n    return getattr(jnp, op)(x)\nf('product', 1)\n",
    "names_that_are_mapped": "f = map(lambda n: getattr(jnp, n), ['product', 'sum'])\n",
    "vars": "f = vars(jnp)['product']\n",
    "namespace_of_a_module": "f = jnp.__dict__['product']\n",
    "attrgetter": "f = operator.attrgetter('numpy.product')(jax)\n",
    "methodcaller": "f = operator.methodcaller('product', x)(jnp)\n",
    "getattribute": "f = jnp.__getattribute__('product')\n",
    "getattribute_of_object": "f = object.__getattribute__(jnp, 'product')\n",
    "static": "f = inspect.getattr_static(jnp, 'product')\n",
    "patched_by_keywords": "mock.patch.object(target=jnp, attribute='product')\n",
    "patched_together": "mock.patch.multiple(jnp, product=f)\n",
    "patched_together_by_path": "mock.patch.multiple('jax.numpy', product=f)\n",
    "appended": "mods = []\nmods.append(jnp)\nfor m in mods:\n    m.product(x)\n",
    "put_under_a_key": "mods = {}\nmods['jax'] = jnp\nmods[b].product(x)\n",
    "put_by_a_method": "mods = {}\nmods.update(jax=jnp)\nmods[b].product(x)\n",
    "attribute_of_a_name": "a.np = jnp\na.np.product(x)\n",
    "context_variable": "xp = contextvars.ContextVar('xp', default=jnp)\nxp.get().product(x)\n",
    "imported_or_skipped": "np = pytest.importorskip('jax.numpy')\ndef test():\n    np.product(x)\n",
    "loaded_and_asked": "m = importlib.import_module('jax.numpy')\nf = getattr(m, 'product')\n",
    "rows": "@parameterized.parameters((jnp, 1), (onp, 2))\ndef test(self, xp, n):\n    xp.product(x)\n",
    "rows_with_names": "@parameterized.named_parameters(('a', jnp), ('b', onp))\ndef test(self, xp):\n    xp.product(x)\n",
    "rows_by_name": "@parameterized.named_parameters(dict(testcase_name='a', op='product'))\ndef test(self, op):\n    getattr(jnp, op)\n",
    "row_that_is_one": "@parameterized.parameters('product', 'sum')\ndef test(self, op):\n    getattr(jnp, op)\n",
    "product_of_rows": "@parameterized.product(xp=[jnp, onp], n=[1])\ndef test(self, xp, n):\n    xp.product(x)\n",
    "words": "for op in 'product sum'.split():\n    getattr(jnp, op)\n",
    "keys": "for op in {'product': 1, 'sum': 2}:\n    getattr(jnp, op)\n",
    "keys_of_items": "OPS = {'product': 1}\nfor op, n in OPS.items():\n    getattr(jnp, op)\n",
    "records": "R = namedtuple('R', 'name n')\ndef rec(name, n): return R(name, n)\nfor r in [rec('product', 1)]:\n    getattr(jnp, r.name)\n",
    "step_by_step": "functools.reduce(getattr, 'numpy.product'.split('.'), jax)\n",
    "code_for_another_python": "subprocess.run([sys.executable, '-c', 'import jax.numpy as np; np.product(x)'])\n",
    "code_that_is_dedented": "exec(textwrap.dedent('    jnp.product(x)'))\n",
    "code_in_lines": "exec('\\n'.join(['x = 1', 'jnp.product(x)']))\n",
    "code_by_keyword": "compile(source='jnp.product(x)', filename='', mode='exec')\n",
    "code_with_what_sets_it_up": "import timeit\ntimeit.timeit('np.product(x)', setup='import jax.numpy as np')\n",
    "loaded_when_it_is_used": "np = LazyLoader('np', globals(), 'jax.numpy')\nnp.product(x)\n",
    "loaded_by_lazy_loader": "import lazy_loader\nnp = lazy_loader.load('jax.numpy')\nnp.product(x)\n",
    "loaded_already": "import sys\nsys.modules.get('jax.numpy').product(x)\n",
    "path_with_a_colon": "pkgutil.resolve_name('jax.numpy:product')\n",
    "configuration": "{'_target_': 'jax.numpy.product', 'x': 1}\n",
    "code_with_a_gap": "eval(f'jnp.product({x}, axis={k})')\n",
    "code_to_format": "eval('jnp.product({})'.format(x))\n",
    "code_by_percent": "eval('jnp.product(%s)' % x)\n",
    "code_put_together": "eval('jnp.product(' + x + ')')\n",
    "code_in_a_variable": "code = 'jnp.product(x)'\neval(code)\n",
}  # fmt: skip


@pytest.mark.parametrize("source", REACHED.values(), ids=REACHED)
def test_what_is_reached_is_reported_once(source: str) -> None:
    assert [f.symbol for f in said(HEAD + source)] == [PRODUCT]
    assert run(HEAD + source, select=OURS).status is Status.UNCHANGED


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("if 'product' in vars(jnp):\n    faster()\n", id="in-vars"),
        pytest.param("if 'product' not in dir(jnp):\n    raise ImportError\n", id="not-in-dir"),
        pytest.param("if jnp.__dict__.get('product'):\n    faster()\n", id="get"),
        pytest.param("import sys\nif sys.modules.get('jax.interpreters.masking'):\n    faster()\n", id="module"),
    ],
)
def test_a_question_that_is_answered_no_for_good(source: str) -> None:
    [finding] = said(HEAD + source)
    assert finding.severity is Severity.URGENT


@pytest.mark.parametrize("name", ["f'index_{x}'", "'index_' + x", "'index_%s' % x", "'index_{}'.format(x)"])
def test_a_family_of_names_that_is_gone(name: str) -> None:
    [finding] = said(f"{HEAD}getattr(jax.ops, {name})\n")
    assert finding.symbol.startswith("jax.ops.index_")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(x, xp=jnp):\n    return xp.clip(x, a_min=0)\n", id="of-a-module-by-default"),
        pytest.param("class B:\n    clip = staticmethod(jnp.clip)\nB.clip(x, a_min=0)\n", id="of-a-member"),
        pytest.param("{'clip': jnp.clip}[k](x, a_min=0)\n", id="of-a-function-in-a-table"),
        pytest.param("def f(x, **kw):\n    return jnp.clip(x, **kw)\nf(x, a_min=0)\n", id="of-a-wrapper"),
        pytest.param("class A:\n    clip = functools.partialmethod(jnp.clip, a_min=0)\n", id="of-a-partial-method"),
        pytest.param("import toolz\nf = toolz.curry(jnp.clip, a_min=0)\n", id="of-a-curried-function"),
    ],
)
def test_keywords_that_are_gone(source: str) -> None:
    assert [f.symbol for f in said(HEAD + source)] == ["jax.numpy.clip(a_min=)"]


PUT_LATER = {
    "item": "opts = {}\nopts['a_min'] = 0\njnp.clip(x, **opts)\n",
    "update": "opts = dict(y=1)\nopts.update(a_min=0)\njnp.clip(x, **opts)\njnp.clip(y, **opts)\n",
    "update_by_another": "opts = {}\nopts.update({'a_min': 0})\njnp.clip(x, **opts)\n",
    "default": "opts = {}\nopts.setdefault('a_min', 0)\nf = functools.partial(jnp.clip, **opts)\n",
    "of_a_partial": "opts = {}\nopts['a_min'] = 0\nf = functools.partial(jnp.clip, x)\nf(**opts)\n",
}


@pytest.mark.parametrize("source", PUT_LATER.values(), ids=PUT_LATER)
def test_keywords_that_a_dictionary_gets_later(source: str) -> None:
    assert [f.symbol for f in said(HEAD + source)] == ["jax.numpy.clip(a_min=)"]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("opts = {}\nopts['min'] = 0\njnp.clip(x, **opts)\n", id="living"),
        pytest.param("opts = {}\nopts['a_min'] = 0\nopts.pop('a_min')\njnp.clip(x, **opts)\n", id="taken-out"),
        pytest.param("opts = {}\nopts['a_min'] = 0\ndel opts['a_min']\njnp.clip(x, **opts)\n", id="deleted"),
        pytest.param("opts = {}\nopts['a_min'] = 0\nonp.clip(x, **opts)\njnp.clip(x)\n", id="of-another-function"),
        pytest.param("opts = {}\nopts['a_min'] = 0\njax.jit(jnp.clip, **opts)\n", id="of-what-takes-the-function"),
        pytest.param("def f(opts):\n    opts['a_min'] = 0\ndef g(opts):\n    jnp.clip(x, **opts)\n", id="another-name"),
    ],
)
def test_keys_that_say_nothing(source: str) -> None:
    assert not said(HEAD + source)


def test_a_key_that_is_put_under_a_condition_is_a_quiet_word() -> None:
    source = "opts = {}\nif v is not None:\n    opts['a_min'] = v\njnp.clip(x, **opts)\n"
    assert [f.severity for f in said(HEAD + source)] == [Severity.LOW]


def test_keywords_through_stars_of_the_project() -> None:
    index = ProjectIndex(exports={"lib.compat": {"np": "jax.numpy", "clip": "jax.numpy.clip"}})
    source = "from lib.compat import *\nnp.clip(x, a_min=0)\nclip(x, a_max=0)\ndef f(np): np.clip(x, a_min=0)\n"
    assert [f.position.line for f in said(source, module="lib.use", index=index)] == [2, 3]
