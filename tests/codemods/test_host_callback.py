"""host-callback: first what must be left alone, or to a human."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import findings, rewritten, run, unchanged

SELECT = {"select": "host-callback"}
HEAD = "import jax\nimport numpy as np\nfrom jax.experimental import host_callback as hcb\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\ny = jax.debug.callback(f, x, ordered=True)\n", id="already-migrated"),
        pytest.param("from mylib import host_callback as hcb\ny = hcb.id_tap(f, x)\n", id="own-module-of-that-name"),
        pytest.param("import jax\ndef id_tap(f, x): return x\ny = id_tap(f, x)\n", id="own-function"),
        pytest.param(HEAD + "def g(hcb): return hcb.id_tap(f, x)\n", id="shadowed-module"),
        pytest.param("import jax\ndef g():\n    '''See jax.experimental.host_callback.id_tap.'''\n", id="docstring"),
        pytest.param("import jax\n# hcb.id_print(x), of host_callback\n", id="comment"),
        pytest.param(HEAD + "hcb.id_tap(f, x)  # jaxmigrate: ignore[host-callback]\n", id="suppressed"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("tap = hcb.id_tap\n", ["id_tap is passed on"], id="as-a-value"),
        pytest.param("import functools\ntap = functools.partial(hcb.id_tap, f)\n", ["id_tap is passed on"], id="partial"),
        pytest.param("ops = {'call': hcb.call}\n", ["call is passed on"], id="in-a-dict"),
        pytest.param("hcb.id_tap(*both)\n", ["hold * or **"], id="star"),
        pytest.param("hcb.id_tap(f, x, what='x')\n", ["unknown argument 'what'"], id="keywords-for-the-tap-before-0.2.9"),
        pytest.param("hcb.id_tap(f, x, tap_with_device=flag)\n", ["told its device"], id="flag-for-the-device"),
        pytest.param(
            "def f(x, transforms, device): print(device)\njax.pmap(g)\nhcb.id_tap(f, x, tap_with_device=True)\n",
            ["told its device"],
            id="function-that-uses-its-device-of-several",
        ),
        pytest.param("hcb.call(f, x, call_with_device=flag)\n", ["told its device"], id="call-with-a-flag-for-the-device"),
        pytest.param("hcb.id_tap(f, x, device_index=i)\n", ["device_index=i"], id="another-device"),
        pytest.param("hcb.id_tap(f, x, callback_flavor=flavor)\n", ["callback_flavor"], id="flavor"),
        pytest.param("hcb.id_print('x is', x)\n", ["more arguments by position"], id="print-like-print"),
        pytest.param("ys = [y for y in hcb.id_tap(f, g(x))]\n", ["has to get a name"], id="no-walrus-there"),
        pytest.param("hcb.id_print(x, threshold=3)\n", ["printoptions"], id="threshold"),
        pytest.param("hcb.id_print(x, tap_with_device=True)\n", ["which device prints"], id="print-with-device"),
        pytest.param("hcb.id_print(x, what=name())\n", ["label what is computed"], id="computed-label"),
        pytest.param("hcb.id_print(x, output_stream=open('log'))\n", ["another one by the time"], id="stream-made-at-the-call"),
        pytest.param("stop = hcb.stop_outfeed_receiver\n", ["no outfeed receiver"], id="stopping-as-a-value"),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged(HEAD + source, findings=expected, **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("hcb.id_tap(f, x)", "jax.debug.callback(lambda arg: f(NP(arg), ()), x, ordered=True)", id="unseen-function"),
        pytest.param(
            "hcb.id_tap(f, x, tap_with_device=True)",
            "jax.debug.callback(lambda arg: f(NP(arg), (), device=jax.local_devices()[0]), x, ordered=True)",
            id="device-of-one",
        ),
        pytest.param(
            "def g(arg): hcb.id_tap(arg, x)",
            "def g(arg): jax.debug.callback(lambda value: arg(NP(value), ()), x, ordered=True)",
            id="parameter-of-the-lambda-does-not-capture",
        ),
        pytest.param(
            "for f in taps:\n    hcb.id_tap(f, x)",
            "for f in taps:\n    jax.debug.callback(lambda arg, tap=f: tap(NP(arg), ()), x, ordered=True)",
            id="function-of-a-loop-is-bound-at-once",
        ),
        pytest.param(
            "hcb.id_tap(lambda x, t, n=n: g(x, n), y)",
            "jax.debug.callback(lambda arg, tap=lambda x, t, n=n: g(x, n): tap(NP(arg), ()), y, ordered=True)",
            id="default-of-a-lambda-is-read-at-once",
        ),
        pytest.param(
            "hcb.id_tap(lambda x, transforms: g(x, transforms), y)",
            "jax.debug.callback(lambda arg: (lambda x, transforms: g(x, transforms))(NP(arg), ()), y, ordered=True)",
            id="lambda-that-looks-at-its-transforms",
        ),
        pytest.param(
            "hcb.id_tap(lambda *_: g(), x)", "jax.debug.callback(lambda *_: g(), x, ordered=True)", id="lambda-of-anything"
        ),
        pytest.param(
            "hcb.id_tap(lambda *a: g(a), x)",
            "jax.debug.callback(lambda arg: (lambda *a: g(a))(NP(arg), ()), x, ordered=True)",
            id="lambda-that-counts-its-arguments",
        ),
        pytest.param(
            "if debug: y = hcb.id_tap(g, x)",
            "if debug: y = (jax.debug.callback(lambda arg: g(NP(arg), ()), x, ordered=True), x)[1]",
            id="no-second-statement-behind-a-colon",
        ),
        pytest.param(
            "y = f(hcb.id_tap(g, h(x)))",
            "y = f((jax.debug.callback(lambda arg: g(NP(arg), ()), (tapped := h(x)), ordered=True), tapped)[1])",
            id="argument-is-evaluated-once",
        ),
        pytest.param(
            "y: int = hcb.id_tap(g, x)",
            "y: int = (jax.debug.callback(lambda arg: g(NP(arg), ()), x, ordered=True), x)[1]",
            id="annotated-assignment",
        ),
        pytest.param(
            "a.y = hcb.id_tap(g, x, result=z)",
            "a.y = (jax.debug.callback(lambda arg: g(NP(arg), ()), x, ordered=True), z)[1]",
            id="assigned-to-an-attribute",
        ),
        pytest.param(
            "def g(x, transforms): x[0] = 1\nhcb.id_tap(g, x)",
            "def g(x, transforms): x[0] = 1\njax.debug.callback(lambda arg: g(jax.tree_util.tree_map(np.array, arg), ()), x, ordered=True)",
            id="function-that-writes-into-its-argument",
        ),
        pytest.param(
            "@jax.pmap\ndef h(x): hcb.id_tap(g, x)",
            "@jax.pmap\ndef h(x): jax.debug.callback(lambda arg: g(NP(arg), ()), x)",
            id="several-devices-take-no-order",
        ),
        pytest.param(
            "def g(x): print(x)\nhcb.call(g, x)",
            "def g(x): print(x)\njax.experimental.io_callback(g, None, x, ordered=True)",
            id="call-for-nothing",
        ),
        pytest.param(
            "def g(x): return np.sin(x)\n_ = hcb.call(g, x, result_shape=x)",
            "def g(x): return np.sin(x)\n_ = jax.experimental.io_callback(g, x, x, ordered=True)",
            id="unused-result-is-never-pure",
        ),
        pytest.param(
            "def g(x): return np.random.rand()\ny = hcb.call(g, x, result_shape=s)",
            "def g(x): return np.random.rand()\ny = jax.experimental.io_callback(g, s, x, ordered=True)",
            id="random-numbers-are-not-pure",
        ),
        pytest.param(
            "def g(x): return cache[int(x)]\ny = hcb.call(g, x, result_shape=s)",
            "def g(x): return cache[int(x)]\ny = jax.experimental.io_callback(g, s, x, ordered=True)",
            id="global-state-is-not-pure",
        ),
        pytest.param(
            "def g(x):\n    if x > 0: raise ValueError\n    return np.exp(x)\ny = hcb.call(g, x, result_shape=s)",
            "def g(x):\n    if x > 0: raise ValueError\n    return np.exp(x)\n"
            "y = jax.experimental.io_callback(lambda arg: g(np.asarray(arg)), s, x, ordered=True)",
            id="check-is-not-pure",
        ),
        pytest.param(
            "y = hcb.call(self.step, x, result_shape=s)",
            "y = jax.experimental.io_callback(lambda arg: self.step(NP(arg)), s, x, ordered=True)",
            id="method-may-do-anything",
        ),
        pytest.param(
            "def g(x):\n    out = np.zeros(3)\n    for i in range(3):\n        out[i] = np.abs(x).sum()\n    return out\n"
            "y = hcb.call(g, x, result_shape=s)",
            "def g(x):\n    out = np.zeros(3)\n    for i in range(3):\n        out[i] = np.abs(x).sum()\n    return out\n"
            "y = jax.pure_callback(g, s, x)",
            id="array-of-its-own-is-pure",
        ),
        pytest.param("y = hcb.call(np.sin, (x), result_shape=x)", "y = jax.pure_callback(np.sin, x, x)", id="numpy-is-pure"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    after = after.replace("NP(", "jax.tree_util.tree_map(np.asarray, ")
    wanted = HEAD.replace("host_callback as hcb", "io_callback") if "io_callback" in after else HEAD
    if "io_callback" not in after:
        wanted = "\n".join(line for line in HEAD.splitlines() if "hcb" not in line) + "\n"
    rewritten(HEAD + before + "\n", wanted + after.replace("jax.experimental.io_callback", "io_callback") + "\n", **SELECT)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def w(fn, x): return hcb.call(lambda v: fn(v), x, result_shape=x)\n", id="unknown-function-called"),
        pytest.param("y = hcb.call(lambda f: f(), x, result_shape=x)\n", id="argument-called"),
        pytest.param("def w(cache, x): return hcb.call(lambda v: cache[int(v)], x, result_shape=x)\n", id="state-of-a-closure"),
        pytest.param(
            "def w(c, x): return hcb.call(lambda v: np.asarray(c.get(1)), x, result_shape=x)\n", id="method-of-a-closure"
        ),
        pytest.param("def f(v, acc=[]): return np.asarray(acc)\ny = hcb.call(f, x, result_shape=x)\n", id="mutable-default"),
        pytest.param(
            "buf = np.zeros(3)\ny = hcb.call(lambda v: np.add(v, 1, out=buf), x, result_shape=x)\n", id="written-elsewhere"
        ),
        pytest.param("y = hcb.call(lambda v: np.add(v, 1, out=v), x, result_shape=x)\n", id="written-into-the-argument"),
        pytest.param(
            "rng = np.random.default_rng(0)\ny = hcb.call(lambda v: rng.normal(size=3), x, result_shape=x)\n", id="generator"
        ),
        pytest.param("log = []\ny = hcb.call(lambda v: (log.append(v), v)[1], x, result_shape=x)\n", id="appended"),
        pytest.param("N = 3\nN = 4\ny = hcb.call(lambda v: np.asarray(v) * N, x, result_shape=x)\n", id="global-bound-twice"),
        pytest.param(
            "def h(v):\n    print(v)\n    return v\ny = hcb.call(lambda v: h(v), x, result_shape=x)\n", id="helper-that-prints"
        ),
        pytest.param("@cached\ndef f(v): return np.sin(v)\ny = hcb.call(f, x, result_shape=x)\n", id="decorated"),
        pytest.param("y = hcb.call(lambda v: np.save('f', v), x, result_shape=x)\n", id="written-to-disk"),
        pytest.param("def f(v): return np.asarray(open('f').read())\ny = hcb.call(f, x, result_shape=x)\n", id="read-from-disk"),
    ],
)
def test_what_may_have_effects_is_no_pure_callback(source: str) -> None:
    (found,) = findings(HEAD + source, **SELECT)
    assert "io_callback(" in found.after
    assert "pure_callback(" not in found.after


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "def w(x, n): return hcb.call(lambda v: (np.sin(v) * n).astype(x.dtype), x, result_shape=x)\n", id="closure"
        ),
        pytest.param("N = 3\ny = hcb.call(lambda v: np.asarray(v) * N, x, result_shape=x)\n", id="constant"),
        pytest.param("def h(v): return np.cos(v)\ny = hcb.call(lambda v: h(v), x, result_shape=x)\n", id="helper"),
        pytest.param("y = hcb.call(lambda v: np.array([np.sin(u) for u in v]), x, result_shape=x)\n", id="comprehension"),
    ],
)
def test_what_only_computes_is_a_pure_callback(source: str) -> None:
    (found,) = findings(HEAD + source, **SELECT)
    assert "pure_callback(" in found.after


def test_literal_brace_before_the_first_field_is_printed_by_python() -> None:
    rewritten(
        HEAD + 'hcb.id_print({"a": x})\n',
        'import jax\nimport numpy as np\njax.debug.callback(lambda *values: print("{{ a={} }}".format(*values)), x, ordered=True)\n',
        **SELECT,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("lambda v, t: bar.update(v)", "lambda v: bar.update(jax.tree_util.tree_map(np.asarray, v))", id="library"),
        pytest.param("lambda v, t: log.append(v + 1)", "lambda v: log.append(np.asarray(v) + 1)", id="arithmetic"),
        pytest.param("lambda v, t: print(f'{v}', v[0], float(v))", "lambda v: print(f'{v}', v[0], float(v))", id="printed"),
        pytest.param("lambda v, t: print(len(v), v.shape)", "lambda v: print(len(v), v.shape)", id="shape"),
        pytest.param("lambda v, t: {'{': np.sum(v)}", "lambda v: {'{': np.sum(v)}", id="numpy-and-braces"),
        pytest.param(
            "lambda v, t: f(v, v)", "lambda arg: (lambda v, t: f(v, v))(jax.tree_util.tree_map(np.asarray, arg), ())", id="twice"
        ),
        pytest.param("lambda v, t: f(1)", "lambda v: f(1)", id="unread"),
        pytest.param("lambda v, t: print(repr(v))", "lambda v: print(repr(jax.tree_util.tree_map(np.asarray, v)))", id="repr"),
        pytest.param("lambda v, t: f'{v!r}'", "lambda v: f'{jax.tree_util.tree_map(np.asarray, v)!r}'", id="repr-in-a-format"),
        pytest.param("lambda v, t: print([v])", "lambda v: print([jax.tree_util.tree_map(np.asarray, v)])", id="in-a-list"),
    ],
)
def test_functions_get_the_arrays_of_numpy_that_they_got(before: str, after: str) -> None:
    rewritten(
        f"{HEAD}hcb.id_tap({before}, x)\n",
        f"import jax\nimport numpy as np\njax.debug.callback({after}, x, ordered=True)\n",
        **SELECT,
    )


@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        pytest.param("print, x", "print, None, x", id="array"),
        pytest.param("lambda v: print(v), x", "lambda v: print(v), None, x", id="array-by-a-lambda"),
        pytest.param("print, [x]", "lambda arg: print(jax.tree_util.tree_map(np.asarray, arg)), None, [x]", id="tree"),
        pytest.param(
            "lambda v: print(v), {'x': x}",
            "lambda v: print(jax.tree_util.tree_map(np.asarray, v)), None, {'x': x}",
            id="tree-by-a-lambda",
        ),
        pytest.param("lambda v: print(v['x']), {'x': x}", "lambda v: print(v['x']), None, {'x': x}", id="leaf-of-a-tree"),
        pytest.param(
            "lambda v: print(v[1:]), (x, x)",
            "lambda v: print(jax.tree_util.tree_map(np.asarray, v)[1:]), None, (x, x)",
            id="part-of-a-tree",
        ),
    ],
)
def test_a_tree_is_printed_as_it_was(arguments: str, after: str) -> None:
    source = f"{HEAD}hcb.call({arguments})\n"
    assert f"io_callback({after}, ordered=True)\n" in run(source, select="host-callback").after.decode()


@pytest.mark.parametrize(
    ("shape", "after"),
    [
        pytest.param("-1", "jax.ShapeDtypeStruct((), jnp.result_type(int))", id="negative"),
        pytest.param("True", "jax.ShapeDtypeStruct((), jnp.result_type(bool))", id="bool"),
        pytest.param("(0.5,)", "(jax.ShapeDtypeStruct((), jnp.result_type(float)),)", id="tuple-of-one"),
        pytest.param("[x, [1]]", "[x, [jax.ShapeDtypeStruct((), jnp.result_type(int))]]", id="nested"),
        pytest.param("{'n': 1, **r}", "{'n': jax.ShapeDtypeStruct((), jnp.result_type(int)), **r}", id="dict"),
        pytest.param("np.zeros(3)", "jnp.asarray(np.zeros(3))", id="array-of-64-bits"),
        pytest.param("[x, jnp.zeros(3)]", "[x, jnp.zeros(3)]", id="as-it-is"),
    ],
)
def test_numbers_and_wide_types_in_the_shape(shape: str, after: str) -> None:
    source = f"{HEAD}import jax.numpy as jnp\ny = hcb.call(f, x, result_shape={shape})\n"
    assert f", {after}, x, ordered=True)\n" in run(source, select="host-callback").after.decode()


def test_two_kinds_of_callbacks_are_not_ordered_with_each_other() -> None:
    source = f"{HEAD}hcb.id_tap(f, x)\ny = hcb.call(g, x, result_shape=x)\n"
    assert all("each for themselves" in f.message for f in run(source, select="host-callback").findings)


def test_exceptions() -> None:
    rewritten(
        "import jax\nfrom jax.experimental import host_callback as hcb\ntry:\n    hcb.barrier_wait()\nexcept hcb.CallbackException: pass\n",
        "import jax\ntry:\n    jax.effects_barrier()\nexcept jax.errors.JaxRuntimeError: pass\n",
        **SELECT,
    )


def test_64_bit_types_stay_where_they_are_on() -> None:
    flag = "jax.config.update('jax_enable_x64', True)\n"
    (found,) = findings(HEAD + flag + "y = hcb.call(g, x, result_shape=jax.ShapeDtypeStruct((), np.int64))\n", **SELECT)
    assert "canonicalize_dtype" not in str(found.after)


def test_a_use_in_the_dead_branch_of_a_guard_stays() -> None:
    unchanged(
        """
        import jax
        try:
            from jax.experimental import io_callback
        except ImportError:
            from jax.experimental import host_callback as hcb
        """,
        **SELECT,
    )


def test_an_old_target_is_told_that_results_are_arrays() -> None:
    source = (
        "import jax\nfrom jax.experimental import host_callback as hcb\ny = hcb.call(lambda v: float(v), x, result_shape=s)\n"
    )
    told = [f.message for f in run(source, select="host-callback", target="0.4.13").findings]
    assert any("no Python numbers" in message for message in told)
    assert not any("no Python numbers" in f.message for f in run(source, select="host-callback", target="0.4.30").findings)


def test_another_package_is_not_imported_in_the_try_around_the_old_one() -> None:
    source = (
        "import jax\ntry:\n    from jax.experimental.host_callback import id_tap\nexcept ImportError:\n    raise\n"
        "id_tap(bar.update, 1)\n"
    )
    assert run(source, select="host-callback").after.startswith(b"import jax\nimport numpy as np\ntry:\n")


def test_a_tap_under_vmap_gets_one_example_at_a_time() -> None:
    (found,) = findings(f"{HEAD}jax.vmap(lambda x: hcb.id_tap(f, x))(xs)\n", **SELECT)
    assert "for each example" in found.message
    assert "is an error" not in found.message
    source = f"{HEAD}def f(v, transforms):\n    print(transforms)\njax.vmap(lambda x: hcb.id_tap(f, x))(xs)\n"
    unchanged(source, findings=1, **SELECT, ignore=["removed-names"])
