"""What kept its name and changed its behaviour: silence without an origin first, then the traps of each codemod."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxmigrate.model import Severity, Version
from jaxmigrate.testing import findings, rewritten, run, unchanged
from tests.fixture_cases import CASES

CODEMODS = (
    "tracer-classes", "partition-spec-tuple", "uninitialised-empty", "random-bits", "pmap-shards", "cost-analysis",
    "none-in-trees", "mesh-axis-types", "jaxpr-walks", "array-conversions", "stricter-arguments", "changed-results",
    "callback-arguments", "printed-forms", "tracer-hashes", "shape-dtype-struct", "devices", "jax-array-protocol",
    "jit-methods",
)  # fmt: skip
OWN = [case for case in CASES if case.folder.parent.name in CODEMODS]
HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax.sharding import PartitionSpec as P\n"
_STATS = "from typing import NamedTuple\nclass S(NamedTuple):\n    data: jax.Array\n    flags: jax.Array\n"
_PARAMETER = "class V:\n    def __jax_array__(self): return self.value\n"
ALL = {"select": CODEMODS, "origin": "0.2.0", "allowed": "unsafe"}


def test_every_codemod_has_a_fixture() -> None:
    assert {case.folder.parent.name for case in OWN} == set(CODEMODS)


@pytest.mark.parametrize("case", OWN, ids=lambda case: case.id)
@pytest.mark.parametrize("origin", [None, "0.12.0"])
def test_nothing_is_said_of_programs_that_are_not_known_to_be_old(case: object, origin: str | None) -> None:
    folder: Path = case.folder  # type: ignore[attr-defined]
    unchanged((folder / "before.py").read_bytes(), select=CODEMODS, allowed="unsafe", origin=origin)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(x): return isinstance(x, jax.Array)", id="isinstance-is-true-for-tracers"),
        pytest.param("def f(t): return issubclass(type(t), np.ndarray)", id="class-of-numpy"),
        pytest.param("def f(x): return issubclass(type(x), (jax.Array, jax.core.Tracer))", id="asks-for-tracers-too"),
        pytest.param("def f(x, issubclass): return jax.Array", id="own-issubclass"),
        pytest.param("def register(t): return t\nregister(jax.Array)", id="own-register"),
        pytest.param("def f(app): app.register(jax.Array)", id="register-of-something"),
        pytest.param(
            "import functools\n@functools.singledispatch\ndef f(x): pass\n@f.register(np.ndarray)\ndef _(x): pass",
            id="registered-for-numpy",
        ),
        pytest.param(
            "import functools\n@functools.singledispatch\ndef f(x): pass\n@f.register(jax.Array)\n@f.register(jax.core.Tracer)\n"
            "def _(x): pass",
            id="registered-for-tracers-too",
        ),
        pytest.param("spec = P('x')\nprint(isinstance(spec, P), isinstance((1,), tuple))", id="tests-of-other-things"),
        pytest.param("def f(s): return isinstance(s, (tuple, P))", id="both-classes"),
        pytest.param("def f(spec): return isinstance(spec, P) or isinstance(spec, tuple)", id="both-tests"),
        pytest.param("def f(x): return isinstance(x, tuple)", id="tuple-of-unknown"),
        pytest.param("def f(config): return config.sharding.spec == ('x',)", id="spec-of-settings"),
        pytest.param("class A:\n    sharding = B()\ndef f(a): return '%s' % a.sharding.spec", id="own-sharding"),
        pytest.param("s = P('x')\n{'a': 1}.get(s), {('x',): 1}.get('x'), Table().get(s)", id="tables-of-others"),
        pytest.param("spec = P('x')\nspec = tuple(spec)\nprint(spec == ('x',))", id="made-a-tuple"),
        pytest.param("spec = P('x')\nprint(spec == P('x'), spec[0] == 'x', len(spec) == 1, 'x' in spec)", id="what-still-holds"),
        pytest.param("spec = P('x')\nprint(P(*(spec + ('y',))), len(spec + ('y',)), tuple(spec + ('y',)))", id="sum-taken-apart"),
        pytest.param("class Spec(tuple): pass\ns = Spec()\nprint(s == ('x',), isinstance(s, tuple))", id="own-class"),
        pytest.param("import json\njson.dumps({'a': tuple(P('x'))})", id="json-of-a-tuple"),
        pytest.param("x = np.empty(3)", id="empty-of-numpy"),
        pytest.param("x = jnp.empty(0), jnp.empty((0, 3)), jnp.empty([2, 0])", id="empty-of-nothing"),
        pytest.param("def f(n, v): return jnp.empty(n).at[:].set(v), jnp.empty_like(v).at[...].set(v)", id="filled-at-once"),
        pytest.param("def empty(n): return n\nempty(3)", id="own-empty"),
        pytest.param("import random\nrandom.uniform(0, 1)\nnp.random.normal()", id="random-of-others"),
        pytest.param("def f(random, key): return random.normal(key)", id="random-parameter"),
        pytest.param("key = jax.random.PRNGKey(0)\njax.random.key_data(key)", id="nothing-drawn"),
        pytest.param("jax.config.jax_threefry_partitionable = False\njax.random.normal(k)", id="flag-set-as-an-attribute"),
        pytest.param("with jax.threefry_partitionable(False): jax.random.normal(k)", id="flag-set-by-a-context"),
        pytest.param(
            "import os\nos.environ['JAX_THREEFRY_PARTITIONABLE'] = '0'\njax.random.normal(k)", id="flag-in-the-environment"
        ),
        pytest.param("y = jnp.ones(3)\ny.addressable_data(0), y.addressable_shards[0].data", id="shards-not-of-pmap"),
        pytest.param("y = jax.pmap(f)(x)\ny.addressable_data(0)[0], y.addressable_shards[0].data.dtype", id="row-taken-already"),
        pytest.param("y = jax.pmap(f, out_axes=1)(x)\ny.addressable_data(0)", id="mapped-elsewhere"),
        pytest.param("y = jax.pmap(f)(x)\nprint(y.data, y[0].addressable_data(0))", id="other-data"),
        pytest.param("def f(x): return x.lower(1).cost_analysis()['flops']", id="costs-by-name"),
        pytest.param("c = f.cost_analysis()\nc = c[0] if isinstance(c, list) else c", id="costs-asked-for-their-type"),
        pytest.param(
            "class A:\n    def cost_analysis(self): return [1]\ndef f(a): return a.cost_analysis()[0]", id="own-cost-analysis"
        ),
        pytest.param("jax.tree_util.tree_map(f, {'a': None}, {'a': None})", id="none-on-both-sides"),
        pytest.param("jax.tree_util.tree_map(f, {'a': 1}, {'a': None})", id="none-as-a-leaf-of-the-second"),
        pytest.param("jax.tree_util.tree_map(f, None)", id="one-tree"),
        pytest.param("jax.tree_util.tree_map(f, None, x, is_leaf=lambda x: x is None)", id="leaf-function"),
        pytest.param("jax.tree_util.tree_map(f, params, grads)", id="unknown-trees"),
        pytest.param("jnp.array([1.0]), jnp.array(x, None), np.array(None), jnp.array({'a': None})", id="none-elsewhere"),
        pytest.param("jax.sharding.Mesh(np.array(jax.devices()), ('x',))", id="mesh-itself"),
        pytest.param("jax.make_mesh((1,), ('x',), axis_types=(jax.sharding.AxisType.Explicit,))", id="types-given"),
        pytest.param("jax.sharding.AbstractMesh((1,), ('x',), jax.sharding.AxisType.Auto)", id="types-of-an-abstract-mesh-given"),
        pytest.param("import re\ndef f(n): return n == 'pjit' or n in ('pjit', 'x')", id="pjit-of-unknown"),
        pytest.param("def f(fn): return fn.name == 'pjit'", id="name-of-something-else"),
        pytest.param("def f(e): return e.primitive.name == 'pjit' or e.primitive.name == 'jit'", id="asks-for-both"),
        pytest.param("def f(e): return e.primitive.name in ('pjit', 'jit')", id="lists-both"),
        pytest.param("def f(e):\n    match e.primitive.name:\n        case 'pjit' | 'jit': pass", id="matches-both"),
        pytest.param(
            "def f(p):\n    if p.primitive.name == 'pjit': return 1\n    elif p.primitive.name == 'jit': return 2",
            id="a-branch-each",
        ),
        pytest.param("class A:\n    def f(self): self.eqns = []\ndef g(e): return e.eqns", id="own-eqns"),
        pytest.param("def f(x): return float(x), float(jnp.float32(1)), float(jnp.ones(3)[0]), float(jnp.sum(x))", id="numbers"),
        pytest.param(
            "x = jnp.ones(1)\nfloat(not x), float(jax.random.bernoulli(k, p)), float(jax.random.choice(k, x))", id="other-shapes"
        ),
        pytest.param("x = jnp.ones(1)\nfloat(x @ x), float(jnp.ones((2, 1))[0, 0]), float(jnp.ones(3)[m])", id="made-scalars"),
        pytest.param("x = jnp.ones(n)\nfloat(x)\nfloat(jnp.array(y))\nfloat(jnp.ones(shape))", id="unknown-size"),
        pytest.param("x = np.ones(1)\nfloat(x)\nint(np.array([1]))", id="arrays-of-numpy"),
        pytest.param("x = jnp.ones(1)\nx = x.sum()\nfloat(x)", id="bound-anew"),
        pytest.param("def float(x): return x\nfloat(jnp.ones(1))", id="own-float"),
        pytest.param("x = jnp.ones(3)\nprint(x if x.size else 0, bool(jnp.ones(1)))", id="truth-of-one"),
        pytest.param(
            "np.asarray(jax.random.PRNGKey(0)), np.asarray(jax.random.key_data(jax.random.key(0)))", id="old-style-keys"
        ),
        pytest.param("jnp.sum(x), jnp.zeros([2]), jnp.reshape(x, [2, 1]), jnp.concatenate([x, y]), jnp.stack([x])", id="lists"),
        pytest.param("jnp.hstack([x, y]), jnp.vstack([1.0, 2.0]), jnp.hstack([jnp.array([1])])", id="stacks-of-arrays"),
        pytest.param("np.ones(2) + [1, 2]\n[1] + [2]\ndef f(x): return x + [1]", id="operands-that-may-be-lists"),
        pytest.param("x = jnp.ones(2)\nx = list(x)\ny = x + [1], list(jnp.ones(2)) + [1]", id="lists-made-of-arrays"),
        pytest.param("jnp.zeros(2, dtype=jnp.float32), jnp.zeros(2, x.dtype), jnp.ones(2, dtype)", id="dtypes"),
        pytest.param("jnp.sum(x, where=x > 0), jnp.sum(x, where=mask), jnp.mean(x, where=m.astype(bool))", id="masks"),
        pytest.param("jax.sharding.Mesh(d, ('x', 'y')), jax.sharding.Mesh(d, 'x')", id="names-of-axes"),
        pytest.param("import torch\ntorch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))", id="dlpack-of-torch"),
        pytest.param("def f(a, n=1, **k): pass\njax.jit(f, static_argnames=('n', 'm'))", id="any-keyword"),
        pytest.param("def f(a, *, n): pass\njax.jit(f, static_argnames='n')", id="argument-that-is-there"),
        pytest.param("jnp.cross(jnp.ones(3), jnp.ones(3)), jnp.cross(a, b)", id="cross-of-three"),
        pytest.param("jnp.linalg.solve(jnp.eye(2), b), jnp.linalg.solve(a, b[..., None]).squeeze(-1)", id="solve-of-a-matrix"),
        pytest.param("jnp.linalg.solve(jnp.ones((3, 2, 2)), jnp.ones((3, 2, 1)))", id="solve-of-a-batch-of-matrices"),
        pytest.param("np.linalg.solve(a, b)", id="solve-of-numpy"),
        pytest.param("jnp.unique(jnp.arange(3), return_inverse=True), jnp.unique(x, return_inverse=True)", id="unique-of-flat"),
        pytest.param("jnp.sign(x), jnp.sign(jnp.array([1.0])), jnp.ceil(x), jnp.ceil(jnp.array([1.5]))", id="sign-and-ceil"),
        pytest.param("jnp.ceil(jnp.array([1])).astype(int)", id="dtype-chosen"),
        pytest.param("jnp.take(x, jnp.argsort(x)), jnp.take(x, 0), jnp.take(x, i, mode='wrap')", id="take-within"),
        pytest.param(
            "from jax.scipy.stats import rankdata\nrankdata(x), rankdata(x, method='average')", id="ranks-that-were-floats"
        ),
        pytest.param("jnp.einsum('ij,jk', a, b)", id="einsum-of-two"),
        pytest.param(
            "def f(x): return isinstance(x, np.ndarray)\njax.pure_callback(f, s, x, vmap_method='sequential')\nf(1)".replace(
                "np.ndarray", "(np.ndarray, jax.Array)"
            ),
            id="callback-that-takes-both",
        ),
        pytest.param("jax.pure_callback(f, s, x, vmap_method='expand_dims')", id="method-given"),
        pytest.param("jax.pure_callback(f, s, x, **options)", id="method-may-be-given"),
        pytest.param("def f(x: jax.Array):\n    try: hash(x)\n    except TypeError: pass", id="hash-that-may-fail"),
        pytest.param("x = jnp.ones(2)\nd = {}\nd[x] = 1", id="hash-where-nothing-is-traced"),
        pytest.param("def f(x: jax.Array, i): return x[x], {'a': x}, {i: x}, hash(i), x in [x]", id="arrays-that-are-no-keys"),
        pytest.param("def f(x: jax.Array):\n    d = {}\n    d[id(x)] = d[int(x)] = d[x.shape] = x", id="keys-made-of-arrays"),
        pytest.param("def hash(x): return 1\ndef f(x: jax.Array): return hash(x)", id="own-hash"),
        pytest.param(
            "import functools\n@functools.partial(jax.jit, static_argnums=0)\n@functools.lru_cache\ndef f(n): return n",
            id="cache-of-static-arguments",
        ),
        pytest.param("import functools\n@functools.lru_cache\n@jax.jit\ndef f(n): return n", id="cache-outside"),
        pytest.param("import functools\n@jax.jit\n@functools.cache\ndef f(): return 1", id="cache-of-nothing"),
        pytest.param("s = jax.ShapeDtypeStruct((2,), int)\ns.sharding = None\ns = s.shape", id="what-can-be-set"),
        pytest.param("def f(x):\n    x.shape = (2,)\ny = np.ones(3)\ny.shape = (3, 1)", id="shape-of-numpy"),
        pytest.param("class A:\n    def __init__(self): self.shape = jax.ShapeDtypeStruct((2,), int)", id="shape-of-ones-own"),
        pytest.param("def f(x): return x.device, hasattr(x, 'device'), getattr(x, 'device', None)", id="device-of-unknown"),
        pytest.param("import torch\nt = torch.ones(2)\nprint(t.device)\ns = jax.sharding.Mesh\ns.device", id="device-of-others"),
        pytest.param("jax.devices('cpu')[0], jax.device_count('cpu')", id="devices-of-one-process"),
        pytest.param(
            "jax.process_index(), jax.devices(), jax.devices('gpu'), jax.local_devices(backend='cpu')", id="other-devices"
        ),
        pytest.param(
            "[d for d in jax.devices('cpu') if d.process_index == jax.process_index()]", id="devices-of-a-process-chosen"
        ),
        pytest.param("[a, b] = c.cost_analysis()\nfor x in c.cost_analysis().items(): pass", id="costs-of-two"),
        pytest.param("def f(t): return jax.Array in t.__args__, {jax.Array: 1}, jax.Array in TYPES", id="array-among-others"),
        pytest.param(
            "from multipledispatch import dispatch\n@dispatch((jax.Array, jax.core.Tracer))\ndef f(x): pass",
            id="dispatch-of-both",
        ),
        pytest.param("class A:\n    def f(self): return jnp.sin(self)", id="object-of-another-protocol"),
        pytest.param("jax.jit(jax.grad(f)).lower(x)\njax.grad(f).lower(x)\n'A'.lower()", id="jit-comes-last"),
        pytest.param("@jax.jit\n@jax.vmap\ndef f(x): return x\nf.lower(x)", id="jit-decorates-last"),
        pytest.param("@jax.vmap\ndef f(x): return x\nx.lower(jax.jit(f))\nf.trace", id="jit-elsewhere"),
        pytest.param("jnp.isscalar(3), jnp.isscalar(jnp.ones(2)), np.isscalar(x)", id="what-was-and-is-a-scalar"),
        pytest.param(
            "z = jnp.array([1j])\nz.astype(int), x.astype(bool), z.real.astype(bool), jnp.ones(2).astype(bool)", id="casts"
        ),
        pytest.param("def f(x): return x.copy(), jnp.ones(2).copy().sum(), jnp.sum(jnp.ones(2).copy())", id="copies-only-read"),
        pytest.param(
            "def f(x): return isinstance(x, (np.ndarray, jnp.ndarray)) or isinstance(x, np.ndarray)", id="asks-numpy-too"
        ),
        pytest.param(
            "a, x = np.zeros(3), jnp.ones(1)\na[0] = x[0]\na[:1] = x\na[i] = x\nb = np.zeros((2, 1))\nb[0] = x\nc[0] = x",
            id="elements-that-may-be-rows",
        ),
        pytest.param("x = jnp.ones(1)\n'%s %r' % (x, x), '%f' % y, '%.2f' % x[0], '%(a)f' % {'a': x}, '%%' % x", id="texts"),
        pytest.param("x = jnp.ones(3)\n'%.2f' % x.sum(axis=-1), '%.2f' % x.mean(), float(x.sum(0))", id="reduced-to-scalars"),
        pytest.param("def f(x): return x.sum(where=x > 0)\njnp.ones(2).sum(where=m)", id="masks-of-methods"),
        pytest.param("jnp.array_equal(x, y), jnp.array_equal(x, [1, 2]), np.array_equal(x, None)", id="equal-to-arrays"),
        pytest.param(
            "from jax.experimental import pallas as pl\npl.BlockSpec((8,), lambda i: i), pl.BlockSpec(), pl.BlockSpec(shape, index)",
            id="blocks-in-order",
        ),
        pytest.param("jnp.linalg.norm(x), jnp.fft.fft(x), np.linalg.norm([1.0]), jnp.broadcast_to(1, [2])", id="other-lists"),
        pytest.param(
            "def f(x):\n    x = np.asarray(x)\n    x.tofile('x')\n    y.flags\njax.debug.callback(f, x)",
            id="callback-that-converts",
        ),
        pytest.param("def f(x): return x.shape, x.tobytes(), x.data.size if 0 else 1\nf(x)", id="no-callback"),
        pytest.param(
            f"{_STATS}def log(s: S, n): s.data.mean()\njax.debug.callback(log, S(x, x > 0), 3)", id="callback-of-a-tree"
        ),
        pytest.param("jax.debug.callback(lambda s: print(s.data, s.flags), batch)", id="callback-of-something-with-data"),
        pytest.param(
            "def log(x, b=b): b.data += np.asarray(x)\njax.debug.callback(log, jnp.ones(2))", id="callback-with-a-default"
        ),
        pytest.param(
            "def log(x, b=b): assert isinstance(b, np.ndarray)\njax.debug.callback(log, jnp.ones(2))", id="default-that-is-tested"
        ),
        pytest.param("jax.debug.callback(lambda x: [x.data for x in rows], jnp.ones(2))", id="callback-with-a-name-of-its-own"),
        pytest.param(
            f"{_STATS}def log(s): return isinstance(s, np.ndarray)\njax.debug.callback(log, S(x, x))", id="test-of-a-tree"
        ),
        pytest.param(
            "m = jax.tree_util.tree_map(lambda p: p if p.ndim else None, a)\njax.tree_util.tree_map(f, m, m)\n"
            "jax.tree_util.tree_map(f, a, m)\njax.tree_util.tree_map(f, m, b)",
            id="masked-tree-with-others",
        ),
        pytest.param("p = eqn.primitive.get_bind_params(eqn.params)\na, b = x.get_bind_params(y)", id="parameters-alone"),
        pytest.param("T = {}\nT[jax.Array] = 1\nf(jax.Array, 1)\nx = T[jax.Array]", id="tables-asked-by-class"),
        pytest.param(
            "p = jax.pmap(f)(x)\np = jnp.ones(3)\np.addressable_data(0)\nfor i in r: p.addressable_data(0)",
            id="bound-to-others-too",
        ),
        pytest.param(
            "p = jax.pmap(f)(x)\nfor i in r:\n    print(p.addressable_data(0))\n    p = g(p)\nif a: p = jax.pmap(f)(x)\np.addressable_data(0)",
            id="bound-anew-in-a-loop",
        ),
        pytest.param(
            "i = jnp.where(a, b, c)[0]\nj = jnp.nonzero(a, size=2)[0]\nif i or j or jnp.where(a)[0].size: pass",
            id="sizes-of-finds",
        ),
        pytest.param(
            "def f(d): return str(d).split('_'), str(jax.devices()[0]), repr(jax.devices()[0]).split('=')", id="device-text"
        ),
        pytest.param(
            "def f(e): return 'pjit' in e.name, e.primitive.name.startswith('x'), e.name.startswith('pjit')", id="part-of-a-name"
        ),
        pytest.param(
            "s = P('x')\nT, U = {'a': 1}, [1, 2]\n'%s' % (s,), '%s' % tuple(s), T[s[0]], s in U, s in [P('x')], s[0] in ['x']",
            id="specs-among-others",
        ),
        pytest.param("def f(x):\n    match x:\n        case (a, b): return '%s' % x", id="match-of-unknown"),
        pytest.param(
            "from collections.abc import Sequence\ndef f(x, s: P): return isinstance(x, Sequence), s[0], list(s)", id="sequences"
        ),
        pytest.param(
            "key = jax.random.PRNGKey(0)\njax.device_put(key), jax.random.key_data(key), key.shape, str(key)[:0]", id="keys-only"
        ),
        pytest.param(
            "import equinox as eqx\np = eqx.filter(m, eqx.is_array)\njax.tree_util.tree_map(f, p, p), p", id="filtered-alone"
        ),
        pytest.param("k = jax.random.key(0)\nnp.save('x', jax.random.key_data(k)), np.stack(k.shape)", id="data-of-keys"),
        pytest.param(
            "float(jnp.ones(1) + x), float(jnp.ones(1) * jnp.ones(n)), float(jnp.ones((1, 2)) + jnp.ones((1, 1)))", id="sums"
        ),
        pytest.param(
            "jnp.linalg.solve(jnp.stack([a, b]), c[..., None]), float(jnp.stack(x)), float(jnp.stack([x]))",
            id="stacks-of-unknown",
        ),
        pytest.param("print('TFRT_CPU_0', \"PartitionSpec('x',)\")\nx = f'ShapedArray(float32[2]) {y}'", id="printed-only"),
        pytest.param("assert str(x) == 'ShapedArray'", id="name-of-a-class"),
        pytest.param("def f(x: jax.Array): return jax.dlpack.from_dlpack(x)", id="array-is-given-itself"),
        pytest.param("print(sorted(k for k in c.cost_analysis() if k == 'flops'))", id="keys-of-the-costs"),
        pytest.param("n = str(names).count('pjit'), 'pjit' in str(path)", id="text-of-something-else"),
        pytest.param("def f(a): return jnp.linalg.qr(a)\nq, r = f(x)\ng(lambda a: jnp.linalg.svd(a))", id="named-and-unpacked"),
        pytest.param("jax.lax.cond(p, lambda: jnp.linalg.svd(a, False), f)", id="arguments-that-change-the-result"),
        pytest.param("jax.lax.cond(p, lambda: jnp.linalg.qr(a)[0], f)", id="part-of-a-named-result"),
        pytest.param("jax.tree.map(f, (v for v in x), is_leaf=callable)\ntuple(map(f, x))", id="iterator-that-is-asked-for"),
        pytest.param("def map(f, x): return [f(x)]\njax.tree.leaves(map(f, x))", id="own-map"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(f"{HEAD}{source}\n", **ALL)


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        pytest.param(
            "def f(x: jax.Array):\n    d = {}\n    if x not in d: d[x] = hash(x)\n    return d[x]", ["x is a key"], id="key"
        ),
        pytest.param(
            "import functools\n@functools.lru_cache(None)\ndef g(n): return n\ndef f(x): return g(jnp.sum(x)), g(x.ndim)",
            ["jnp.sum(x) is given to g"],
            id="cached",
        ),
        pytest.param("import functools\n@jax.jit\n@functools.cache\ndef f(n): return n", ["transform inside"], id="cache-inside"),
        pytest.param("def f(s: jax.ShapeDtypeStruct): s.shape = ()", ["s could: make another"], id="struct-of-others"),
        pytest.param("a = b = jax.eval_shape(f)\na.shape = ()\nuse(b)", ["a could: make another"], id="struct-with-two-names"),
        pytest.param("a = jax.eval_shape(f)\nb = [a]\na.shape = ()", ["a could: make another"], id="struct-in-a-list"),
        pytest.param(
            "t = jax.ShapeDtypeStruct((2,), int)\nout = []\nfor i in range(3):\n    t.shape = (i,)\n    out.append(t)",
            ["t could: make another"],
            id="struct-passed-on-by-the-turn-before",
        ),
        pytest.param(
            "t = jax.ShapeDtypeStruct((2,), int)\ndef kept(): return t\nuse(kept())\nt.shape = ()",
            ["t could: make another"],
            id="struct-of-a-function",
        ),
        pytest.param(
            "jax.debug.callback(lambda x: x.tofile('x'), given)",
            ["convert x with numpy.asarray, if it is"],
            id="callback-of-unknown",
        ),
        pytest.param(
            "def log(x): x.data = 1\njax.debug.callback(log, jnp.ones(2))", ["which has no data"], id="callback-that-stores"
        ),
        pytest.param(
            "def log(x): return 1 if isinstance(x, np.ndarray) else 2\njax.debug.callback(log, given)",
            ["was given an array of NumPy: x"],
            id="callback-that-chooses",
        ),
        *(
            pytest.param(f"{_PARAMETER}def g(p: V): return {call}", ["jax.jit and its like"], id=f"object-given-to-{name}")
            for name, call in (
                ("scan", "jax.lax.scan(body, p, xs)"),
                ("cond", "jax.lax.cond(True, f, g, p)"),
                ("while", "jax.lax.while_loop(c, b, p)"),
                ("stop-gradient", "jax.lax.stop_gradient(p)"),
                ("collectives", "jax.lax.psum(p, 'i'), jax.lax.ppermute(p, 'i', perm=[])"),
                ("what-asks-for-its-shape", "jnp.shape(p), jnp.ndim(p), jnp.copy(p)"),
            )
        ),
        pytest.param(
            f"@jax.tree_util.register_pytree_node_class\n{_PARAMETER}def g(p: V): return jnp.sin(p)",
            ["jax.jit and its like"],
            id="object-that-is-a-tree",
        ),
        pytest.param(
            f"{_PARAMETER.replace('V', 'V(Base)')}def g(p: V): return jnp.sin(p)", ["jax.jit and its like"], id="object-of-a-base"
        ),
        pytest.param("x = jnp.ones(2)\nprint(x.device)", ["x.device is a property"], id="device-as-a-value"),
        pytest.param(
            "def f(x: jax.Array): return {x.sum(): 1}", ["x.sum() is a key; give something with a hash"], id="key-at-once"
        ),
        pytest.param("def f(y: jax.Array): return {1: 2}[y]", ["int(y), not traced"], id="looked-up-by-value"),
        pytest.param("def f(y: jax.Array): return {y: 2}", ["y is a key; id(y) tells"], id="named-key"),
        pytest.param("x = jnp.ones(2)\nprint(hasattr(x, 'device'))", ["x.device is a property"], id="device-by-name"),
        pytest.param("def f(x): return jax.Array in type(x).__mro__", ["nor among their bases"], id="bases"),
        pytest.param(
            "T = {jax.Array: 1, int: 2}\ndef f(x):\n    for t in type(x).__mro__:\n        if t in T: return T[t]",
            ["add one for jax.core.Tracer"],
            id="table-by-bases",
        ),
        pytest.param(
            "from multipledispatch import dispatch\n@dispatch(jax.Array, int)\ndef f(x, n): pass",
            ["multipledispatch"],
            id="dispatch",
        ),
        pytest.param("@jax.jit\ndef f(x): return x\njax.vmap(f).lower(x)", ["vmap makes has no lower"], id="lower-of-vmap"),
        pytest.param("@jax.vmap\n@jax.jit\ndef f(x): return x\nf.trace(x)", ["vmap makes has no trace"], id="trace-of-vmap"),
        pytest.param("jnp.isscalar(jnp.float32(1))", ["isscalar is True for every"], id="scalar"),
        pytest.param("jnp.array_equal(x, None), jnp.array_equal('a', x)", ["of None", "of 'a'"], id="equal-to-no-array"),
        pytest.param(
            "m = jax.tree_util.tree_map(lambda p: None if p.ndim else p, a)\njax.tree_util.tree_map(f, m, a)",
            ["m has None where a"],
            id="masked-tree",
        ),
        pytest.param("d = jax.devices()[0]\nint(str(d).split('_')[-1])", ["str of a CPU device"], id="device-taken-apart"),
        pytest.param("import re\nre.match(r'ShapedArray\\((.*)\\[', str(a))", ["str of an abstract value"], id="pattern"),
        pytest.param(
            "i = jnp.where(a)[0]\nif not i: print(bool(jnp.argwhere(b)))", ["i may be", "jnp.argwhere(b) may be"], id="finds"
        ),
        pytest.param("def f(e): return 'pjit' in e.primitive.name", ["look for jit too"], id="part-of-primitive"),
        pytest.param(
            "R = {}\ndef h(c): return c\n@h(jax.Array)\ndef f(x): return [R[t] for t in type(x).__mro__]",
            ["add one"],
            id="registry-of-bases",
        ),
        pytest.param("m.init(jax.random.PRNGKey(0), x)", ["random-bits: manual: jax.random gives"], id="key-given-on"),
        pytest.param(
            "k = jax.random.PRNGKey(0)\nm.init({'params': k}, x)",
            ["random-bits: manual: jax.random gives"],
            id="named-key-given-on",
        ),
        pytest.param(
            "import equinox as eqx\np, s = eqx.partition(m, f)\njax.tree_util.tree_map(g, p, m)",
            ["p may have None"],
            id="partition",
        ),
        pytest.param("t = type(x)\nprint(issubclass(t, jax.Array))", ["if t may be one"], id="class-by-name"),
        pytest.param("k = jax.random.key(0)\nnp.save('x', k)", ["a typed key is no array"], id="saved-key"),
        pytest.param(
            "p = jnp.ones(3)\nfor i in r: p = jax.pmap(f)(p)\np.addressable_data(0)",
            ["once the loop has run"],
            id="pmap-in-a-loop",
        ),
        pytest.param(
            "jax.tree_util.tree_map_with_path(f, {'a': None}, {'a': 1})", ["None in the first tree"], id="mapped-with-paths"
        ),
        pytest.param("jax.tree.map(f, [x], (v for v in x))", ["an iterator is one leaf"], id="generator-as-a-tree"),
        pytest.param("jax.ops.segment_sum(x, i)", ["segment_sum (line 5) leaves out"], id="segments"),
        pytest.param("class V:\n    def __jax_array__(self): return 1", ["a V that is given to one"], id="objects"),
    ],
)
def test_reported(source: str, messages: list[str]) -> None:
    unchanged(HEAD + source, findings=messages, **ALL)


def test_names_of_other_codemods_are_not_mistaken_for_what_was_written() -> None:
    """DeviceArray was no class of tracers: its successor in the dispatch is as good."""
    source = (
        "import functools, jax\nfrom jax.interpreters.xla import DeviceArray\n"
        "@functools.singledispatch\ndef f(x): pass\n@f.register(DeviceArray)\ndef _(x): pass\n"
        "def g(x): return issubclass(type(x), DeviceArray)\n"
    )
    result = run(source, select=["device-array", "tracer-classes"], origin="0.3.0")
    assert b"register(jax.Array)" in result.after
    assert {f.codemod for f in result.findings} == {"device-array"}


@pytest.mark.parametrize(
    ("codemod", "release", "source"),
    [
        ("tracer-classes", "0.8.2", "def f(x): return issubclass(type(x), jax.Array)"),
        ("partition-spec-tuple", "0.6.1", "isinstance(P('x'), tuple)"),
        ("partition-spec-tuple", "0.10.0", "P('x') == ('x',)"),
        ("uninitialised-empty", "0.11.0", "jnp.empty(3)"),
        ("random-bits", "0.5.0", "jax.random.normal(k)"),
        ("random-bits", "0.7.2", "import os\nos.x = 'jax_threefry_partitionable'\njax.random.randint(k, (), 0, 9, jnp.int8)"),
        ("pmap-shards", "0.4.34", "y = jax.pmap(f)(x)\ny.addressable_data(0)"),
        ("cost-analysis", "0.5.0", "f.lower(x).compile().cost_analysis()[0]"),
        ("none-in-trees", "0.4.34", "jax.tree_util.tree_map(f, None, x)"),
        ("none-in-trees", "0.6.0", "jnp.array(None)"),
        ("mesh-axis-types", "0.9.0", "jax.make_mesh((1,), ('x',))"),
        ("mesh-axis-types", "0.11.1", "jax.sharding.AbstractMesh((1,), ('x',))"),
        ("jaxpr-walks", "0.7.0", "def f(e): return e.primitive.name == 'pjit'"),
        ("jaxpr-walks", "0.7.0", "n = 'pjit' in str(jax.make_jaxpr(f)(x))"),
        ("jaxpr-walks", "0.7.0", "def f(jaxpr): return str(jaxpr).count('pjit')"),
        ("jaxpr-walks", "0.7.0", "def f(e): return e.primitive.name == 'pjit' or mode == 'jit'"),
        ("jaxpr-walks", "0.11.0", "def f(x): return isinstance(x, jax.extend.core.ClosedJaxpr)"),
        ("jaxpr-walks", "0.4.2", "def f(jaxpr): jaxpr.eqns = []"),
        ("array-conversions", "0.4.25", "float(jnp.ones(1))"),
        ("array-conversions", "0.4.24", "bool(jnp.ones(0))"),
        ("array-conversions", "0.4.36", "np.asarray(jax.random.key(0))"),
        ("array-conversions", "0.4.27", "jnp.nonzero(jnp.zeros(()))"),
        ("changed-results", "0.4.24", "jax.lax.cond(p, lambda a: jnp.linalg.eigh(a), f, x)"),
        ("changed-results", "0.8.0", "jax.lax.switch(i, [lambda: jnp.linalg.eig(a), f])"),
        ("stricter-arguments", "0.2.21", "jnp.sum([1, 2])"),
        ("stricter-arguments", "0.3.15", "jnp.ones(2) + [1, 2]"),
        ("stricter-arguments", "0.2.7", "jnp.ones(2)[[0, 1]]"),
        ("stricter-arguments", "0.10.0", "jnp.hstack([[1], [2]])"),
        ("stricter-arguments", "0.7.2", "def f(capsule): return jax.dlpack.from_dlpack(capsule)"),
        ("stricter-arguments", "0.10.1", "jax.tree_util.tree_leaves(map(f, x))"),
        ("stricter-arguments", "0.8.0", "jnp.sum(x, where=jnp.array([1, 0]))"),
        ("stricter-arguments", "0.3.25", "jax.sharding.Mesh(d, 'xy')"),
        ("stricter-arguments", "0.4.27", "@jax.jit\ndef g(): pass\ndef f(a): pass\njax.jit(f, static_argnames='b')"),
        ("stricter-arguments", "0.12.0", "jnp.cross(jnp.ones(2), jnp.ones(2))"),
        ("stricter-arguments", "0.4.33", "jnp.hypot(jnp.array([1j]), 2.0)"),
        ("changed-results", "0.5.0", "jnp.linalg.solve(jnp.ones((3, 2, 2)), jnp.ones((3, 2)))"),
        ("changed-results", "0.4.24", "jnp.unique(jnp.ones((2, 2)), return_inverse=True)"),
        ("changed-results", "0.4.24", "jnp.sign(jnp.array(3 + 4j))"),
        ("changed-results", "0.4.31", "jnp.floor(jnp.arange(3))"),
        ("changed-results", "0.4.36", "jax.scipy.linalg.toeplitz(jnp.ones((2, 3)))"),
        ("changed-results", "0.8.0", "jnp.trim_zeros(jnp.ones((2, 3)))"),
        ("changed-results", "0.10.0", "jax.scipy.stats.rankdata(x, 'min')"),
        ("changed-results", "0.3.8", "jnp.take(x, i, axis=0)\njnp.take(y, i)"),
        ("changed-results", "0.3.8", "r = jax.scipy.linalg.qr(a, mode='r')"),
        ("callback-arguments", "0.4.27", "def f(x): assert isinstance(x, np.ndarray)\njax.debug.callback(f, x)"),
        ("callback-arguments", "0.6.0", "jax.vmap(lambda x: jax.pure_callback(f, x, x))(y)"),
        ("tracer-classes", "0.8.2", "def f(x): return jax.Array in type(x).__mro__"),
        ("tracer-hashes", "0.4.36", "def f(x: jax.Array): return hash(x)"),
        ("shape-dtype-struct", "0.6.1", "s = jax.ShapeDtypeStruct((2,), int)\ns.shape = ()"),
        ("devices", "0.4.31", "print(jnp.ones(2).device)"),
        ("devices", "0.4.21", "jax.process_index()\njax.devices('cpu')"),
        ("jax-array-protocol", "0.8.0", "class V:\n    def __jax_array__(self): return 1"),
        ("cost-analysis", "0.5.0", "[c] = f.lower(x).compile().cost_analysis()"),
        ("jit-methods", "0.6.0", "jax.grad(jax.jit(f)).lower(x)"),
        ("changed-results", "0.4.35", "jnp.isscalar(x)"),
        ("changed-results", "0.4.27", "jnp.array([1j]).astype(bool)"),
        ("changed-results", "0.3.5", "y = jnp.ones(2).copy()"),
        ("changed-results", "0.2.21", "isinstance(x, jnp.ndarray)"),
        ("changed-results", "0.2.9", "jax.ops.segment_sum(x, i)"),
        ("array-conversions", "0.4.25", "'%f' % jnp.ones(1)"),
        ("array-conversions", "0.4.25", "a = np.zeros(2)\na[0] = jnp.ones((1, 1)).mean(axis=-1)"),
        ("stricter-arguments", "0.3.24", "jnp.linalg.norm([3.0, 4.0])"),
        ("stricter-arguments", "0.3.2", "jnp.broadcast_to([3.0, 4.0], (2, 2))"),
        ("stricter-arguments", "0.8.0", "jnp.ones(2).sum(where=jnp.array([1, 0]))"),
        ("stricter-arguments", "0.6.0", "jnp.array_equal(x, None)"),
        ("callback-arguments", "0.4.27", "jax.debug.callback(lambda x: x.tofile('x'), jnp.ones(2))"),
        ("none-in-trees", "0.4.34", "m = jax.tree_map(lambda p: None if p else p, a)\njax.tree_map(f, m, a)"),
        ("jaxpr-walks", "0.9.2", "def f(e): s, p = e.primitive.get_bind_params(e.params)"),
        ("printed-forms", "0.10.0", "str(d) == 'TFRT_CPU_0'"),
        ("printed-forms", "0.6.1", "assert str(a) == 'ShapedArray(float32[2])'"),
        ("printed-forms", "0.9.1", "assert repr(s) == \"PartitionSpec('x',)\""),
    ],
)
def test_only_programs_older_than_the_change_are_concerned(codemod: str, release: str, source: str) -> None:
    version = Version.parse(release).numbers
    older = ".".join(map(str, (*version[:-1], version[-1] - 1) if version[-1] else (*version[:-1],)))
    if version[-1] == 0 or len(version) < 3:
        older = ".".join(map(str, (version[0], version[1] - 1, 99)))
    (found,) = findings(HEAD + source + "\n", select=codemod, origin=older, allowed="unsafe")
    assert found.codemod == codemod
    assert not findings(HEAD + source + "\n", select=codemod, origin=release, allowed="unsafe")


@pytest.mark.parametrize(
    ("codemod", "before", "after"),
    [
        ("tracer-classes", "issubclass(x.__class__, np.ndarray | jax.Array)", "isinstance(x, np.ndarray | jax.Array)"),
        ("partition-spec-tuple", "not isinstance(x.sharding.spec, tuple)", "not isinstance(x.sharding.spec, (tuple, P))"),
        ("partition-spec-tuple", "x.sharding.spec != tuple(axes)", "x.sharding.spec != P(*tuple(axes))"),
        ("uninitialised-empty", "map(jnp.empty_like, xs)", "map(jnp.zeros_like, xs)"),
        (
            "mesh-axis-types",
            "jax.make_mesh(shape, names)",
            "jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(names))",
        ),
        (
            "mesh-axis-types",
            "jax.sharding.AbstractMesh((2, 4), ('x', 'y'))",
            "jax.sharding.AbstractMesh((2, 4), ('x', 'y'), axis_types=(AxisType.Auto,) * 2)",
        ),
        ("jaxpr-walks", 'str(e.primitive) == "pjit"', 'str(e.primitive) in ("pjit", "jit")'),
        ("jaxpr-walks", "e.primitive.name in {'pjit'}", "e.primitive.name in {'pjit', 'jit'}"),
        ("array-conversions", "int(jnp.ones(3)[:1])", "int(jnp.ones(3)[:1].item())"),
        ("array-conversions", "float(-jnp.ones((1, 1)) * 2)", "float((-jnp.ones((1, 1)) * 2).item())"),
        ("array-conversions", "float(jax.random.normal(k, shape=(1,)))", "float(jax.random.normal(k, shape=(1,)).item())"),
        ("jaxpr-walks", "e.primitive.name.startswith('pjit')", 'e.primitive.name.startswith(("pjit", "jit"))'),
        ("jaxpr-walks", "p = e.primitive.get_bind_params(q)[1]", "p = e.primitive.get_bind_params(q)"),
        (
            "pmap-shards",
            "p = jnp.ones(3)\np = jax.pmap(f)(p)\np.addressable_data(0)",
            "p = jnp.ones(3)\np = jax.pmap(f)(p)\np.addressable_data(0)[0]",
        ),
        ("partition-spec-tuple", "'%s %s' % P('x', 'y')", "'%s %s' % tuple(P('x', 'y'))"),
        ("partition-spec-tuple", "{('x',): 1}[x.sharding.spec]", "{('x',): 1}[tuple(x.sharding.spec)]"),
        (
            "partition-spec-tuple",
            "0\ns = P('x')\nmatch s:\n    case (a,): pass",
            "0\ns = P('x')\nmatch tuple(s):\n    case (a,): pass",
        ),
        (
            "changed-results",
            "jnp.linalg.solve(jnp.stack([jnp.eye(2)] * 3) + jnp.eye(2), jnp.ones((3, 2)))",
            "jnp.linalg.solve(jnp.stack([jnp.eye(2)] * 3) + jnp.eye(2), jnp.ones((3, 2))[..., None]).squeeze(-1)",
        ),
        ("array-conversions", "np.zeros((3,))\ny[0] = jnp.ones((1,))", "np.zeros((3,))\ny[0] = jnp.ones((1,)).item()"),
        (
            "pmap-shards",
            "jax.pmap(f)(x)\nbuf = y.addressable_shards[0]\nprint(buf.data.shape)",
            "jax.pmap(f)(x)\nbuf = y.addressable_shards[0]\nprint(buf.data[0].shape)",
        ),
        ("cost-analysis", "f(c.cost_analysis()[-1])", "f(c.cost_analysis())"),
        (
            "array-conversions",
            "print('%d: %.3f' % (n, jnp.ones((2, 1))[0]))",
            "print('%d: %.3f' % (n, jnp.ones((2, 1))[0].item()))",
        ),
        (
            "array-conversions",
            "a = np.zeros(len(s))\nfor i, _ in enumerate(s): a[i] = jnp.ones(1)",
            "a = np.zeros(len(s))\nfor i, _ in enumerate(s): a[i] = jnp.ones(1).item()",
        ),
        (
            "partition-spec-tuple",
            "0\nimport json\njson.dumps({'a': [x.sharding.spec]})",
            "0\nimport json\njson.dumps({'a': [tuple(x.sharding.spec)]})",
        ),
        ("stricter-arguments", "jax.sharding.Mesh(d, axis_names='xy')", 'jax.sharding.Mesh(d, axis_names=("x", "y"))'),
        ("stricter-arguments", "jax.dlpack.from_dlpack(t.to_dlpack(x))", "jax.dlpack.from_dlpack(x)"),
        ("partition-spec-tuple", "{('x',): 1}.get(x.sharding.spec)", "{('x',): 1}.get(tuple(x.sharding.spec))"),
        ("stricter-arguments", "jnp.array_split([1, 2], [1])", "jnp.array_split(jnp.asarray([1, 2]), [1])"),
        ("stricter-arguments", "jnp.mean([f(i) for i in xs])", "jnp.mean(jnp.asarray([f(i) for i in xs]))"),
        (
            "callback-arguments",
            "jax.debug.callback(lambda x, n: x.tofile(n), jnp.ones(2), n='x')",
            "jax.debug.callback(lambda x, n: np.asarray(x).tofile(n), jnp.ones(2), n='x')",
        ),
        (
            "shape-dtype-struct",
            "0\nfor n in ns:\n    s = jax.eval_shape(f)\n    s.shape = (n,)\n    out.append(s)",
            "0\nfor n in ns:\n    s = jax.eval_shape(f)\n    s = s.update(shape=(n,))\n    out.append(s)",
        ),
    ],
)
def test_rewritten(codemod: str, before: str, after: str) -> None:
    head = HEAD.replace("PartitionSpec as P", "PartitionSpec as P, AxisType") + "import torch.utils.dlpack as t\n"
    rewritten(f"{head}y = {before}\n", f"{head}y = {after}\n", select=codemod, origin="0.2.0", allowed="unsafe")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("@g.register\ndef _(x: jax.Array): return 1", 1),
        ("@g.register\ndef _(x: jax.Array, y: jax.Array): return 1", 1),
        ("@g.register\ndef _(x: int, y: jax.Array): return 1", 0),
        ("@g.register\ndef _(x) -> jax.Array: return 1", 0),
        ("@g.register\n@g.register(jax.core.Tracer)\ndef _(x: jax.Array): return 1", 0),
        ("@atexit.register\ndef _(x: jax.Array): return 1", 0),
    ],
)
def test_a_class_can_be_registered_by_an_annotation(function: str, said: int) -> None:
    source = f"{HEAD}import atexit\nfrom functools import singledispatch\n@singledispatch\ndef g(x): return 0\n{function}\n"
    unchanged(source, select="tracer-classes", origin="0.4.0", findings=["register the function for jax.core.Tracer"] * said)


def test_capsules_are_errors_whatever_the_age_of_the_program() -> None:
    head = "import torch.utils.dlpack as t\nimport jax.dlpack\n"
    for capsule in ("t.to_dlpack(x)", "x.__dlpack__()", "x.toDlpack()", "jax.dlpack.to_dlpack(x)"):
        before = f"{head}y = jax.dlpack.from_dlpack({capsule})\n"
        rewritten(before, f"{head}y = jax.dlpack.from_dlpack(x)\n", select="stricter-arguments")
        unchanged(before, select="stricter-arguments", target="0.4.13", findings=["choose by version"])
    named = f"{head}c = t.to_dlpack(x)\ny = jax.dlpack.from_dlpack(c)\n"
    unchanged(named, select="stricter-arguments", findings=["leave out to_dlpack"])


def test_places_of_a_file_are_counted_in_one_finding() -> None:
    (found,) = findings(
        HEAD + "jax.random.normal(k)\njax.random.uniform(k)\njax.random.split(k)\n", select="random-bits", origin="0.4.30"
    )
    assert "3 places from here" in found.message
    assert found.position.line == 5
    assert found.severity is Severity.LOW


def test_a_callback_that_is_called_otherwise_too_is_left_as_it_is() -> None:
    source = HEAD + "def f(x): return 1 if isinstance(x, np.ndarray) else 2\njax.debug.callback(f, y)\nf([1])\n"
    unchanged(source, select="callback-arguments", origin="0.4.13", findings=["was given an array of NumPy: x"])


def test_matched_primitives() -> None:
    rewritten(
        "import jax\ndef f(e):\n    match e.primitive.name:\n        case 'pjit': return 1\n",
        "import jax\ndef f(e):\n    match e.primitive.name:\n        case 'pjit' | 'jit': return 1\n",
        select="jaxpr-walks",
        origin="0.4.30",
    )


def test_old_targets_get_advice_where_no_spelling_fits_both() -> None:
    for source, advice in (
        ("jax.make_mesh((1, 1), ('x', 'y'))", "from 0.5.3 on add axis_types=(jax.sharding.AxisType.Auto,) * 2"),
        ("jax.jit(f).lower(x).compile().cost_analysis()[0]", "only where isinstance says that it is a list"),
        ("jax.vmap(lambda x: jax.pure_callback(f, x, x))(y)", "vmap_method='sequential' from 0.4.35 on"),
    ):
        unchanged(
            f"import jax\n{source}\n", findings=[advice], target="0.4.30", origin="0.4.13", select=CODEMODS, allowed="unsafe"
        )


def test_a_sum_of_specs_is_compared_as_what_it_is() -> None:
    """Only where the sum is made a tuple, it is one."""
    source = HEAD + "s = P('x') + ('y',)\nprint(s == ('x', 'y'))\n"
    assert b"s == P('x', 'y')" in run(source, select="partition-spec-tuple", origin="0.4.30").after
    assert b"tuple(P('x')) + ('y',)\nprint(s == ('x', 'y'))" in (
        run(source, select="partition-spec-tuple", origin="0.4.30", allowed="unsafe").after
    )


def test_an_array_is_asked_twice_in_one_line() -> None:
    """What was called is dealt with by another codemod, and what was not has one finding."""
    source = "import jax.numpy as jnp\nx = jnp.ones(2)\nd = x.device; e = x.device()\n"
    found = findings(source, select=("array-attributes", "devices"), origin="0.4.5")
    assert sorted((f.codemod, f.position.column) for f in found) == [("array-attributes", 18), ("devices", 4)]
