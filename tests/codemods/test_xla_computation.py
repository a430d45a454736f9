"""xla-computation: first what must be left alone, or to a human."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = {"select": "xla-computation"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\nc = jax.jit(f).lower(x).compiler_ir('hlo')\n", id="already-migrated"),
        pytest.param("import jax\ndef xla_computation(f): return f\nc = xla_computation(f)(x)\n", id="own-function"),
        pytest.param("import jax\ndef g(jax): return jax.xla_computation(f)(x)\n", id="shadowed-module"),
        pytest.param("import jax\nxla_computation = make(f)\nxla_computation.as_hlo_text()\n", id="variable-of-that-name"),
        pytest.param("import jax\nfrom torch_xla import xla_computation\nc = xla_computation(f)(x)\n", id="another-library"),
        pytest.param("import jax\nif hasattr(jax, 'xla_computation'):\n    c = jax.xla_computation(f)(x)\n", id="guarded"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("c = jax.xla_computation(f, axis_env=[('i', 4)])(x)\n", ["axis_env has no successor"], id="axis-env"),
        pytest.param("c = jax.xla_computation(f, tuple_args=True)(x)\n", ["tuple_args has no successor"], id="tuple-args"),
        pytest.param("c = jax.xla_computation(f, return_shape=flag)(x)\n", ["whether return_shape"], id="flag-for-the-shape"),
        pytest.param(
            "c, s = jax.xla_computation(f, return_shape=True)(make())\n", ["cannot stand twice"], id="argument-not-to-be-repeated"
        ),
        pytest.param(
            "c, s = jax.xla_computation(f, static_argnums=1, return_shape=True)(x, 2)\n",
            ["cannot stand twice"],
            id="shape-with-static-arguments",
        ),
        pytest.param("c = jax.xla_computation(*fs)(x)\n", ["hold * or **"], id="star"),
        pytest.param("@jax.xla_computation\ndef g(x): return x\n", ["passed on here"], id="decorator"),
        pytest.param("@jax.xla_computation(f)\ndef g(x): return x\n", ["others call"], id="decorator-made-by-a-call"),
        pytest.param("import functools\ng = functools.partial(jax.xla_computation, f)\n", ["others call"], id="partial"),
        pytest.param("lower = jax.xla_computation\n", ["passed on here"], id="as-a-value"),
        pytest.param("make = jax.xla_computation(wrap(f))\n", ["others call"], id="kept-with-a-function-made-there"),
        pytest.param(
            "for f in fs:\n    makes.append(jax.xla_computation(f))\n", ["something else by the time"], id="kept-in-a-loop"
        ),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged("import jax\n" + source, findings=expected, **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "c = jax.xla_computation(f)(x, *rest, **kw)",
            'c = jax.jit(f, keep_unused=True).lower(x, *rest, **kw).compiler_ir("hlo")',
            id="stars-of-the-call-stay",
        ),
        pytest.param(
            "t = jax.xla_computation(lambda x: x)(x).as_hlo_text()",
            't = jax.jit(lambda x: x, keep_unused=True).lower(x).compiler_ir("hlo").as_hlo_text()',
            id="method-of-the-result",
        ),
        pytest.param(
            "c = jax.xla_computation(fun=f, backend='cpu', in_parts=None)(x)",
            "c = jax.jit(f, backend='cpu', keep_unused=True).lower(x).compiler_ir(\"hlo\")",
            id="keywords",
        ),
        pytest.param(
            "c = jax.xla_computation(f, 0, donate_argnums=0)(x)",
            'c = jax.jit(f, static_argnums=0, donate_argnums=0, keep_unused=True).lower(x).compiler_ir("hlo")',
            id="argument-of-number-0",
        ),
        pytest.param(
            "make = jax.xla_computation(f)",
            'make = lambda *args, **kwargs: jax.jit(f, keep_unused=True).lower(*args, **kwargs).compiler_ir("hlo")',
            id="kept",
        ),
        pytest.param(
            "def g(args): return jax.xla_computation(args)",
            "def g(args): return lambda *arguments, **kwargs: "
            'jax.jit(args, keep_unused=True).lower(*arguments, **kwargs).compiler_ir("hlo")',
            id="parameter-of-the-lambda-does-not-capture",
        ),
        pytest.param(
            "c, s = jax.xla_computation(f, return_shape=True)(x, y=y)",
            'c, s = (jax.jit(f, keep_unused=True).lower(x, y=y).compiler_ir("hlo"), jax.eval_shape(f, x, y=y))',
            id="shape",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    rewritten(f"import jax\n{before}\n", f"import jax\n{after}\n", **SELECT)
