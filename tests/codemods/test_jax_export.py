"""jax-export: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = {"select": "jax-export"}
HEAD = "import jax\nfrom jax.experimental import export\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\nfrom jax import export\ne = export.export(jax.jit(f))(x)\n", id="already-migrated"),
        pytest.param("import jax\nfrom torch import export\ne = export.export(f)(x)\n", id="another-library"),
        pytest.param("import jax\ndef export(f): return f\ne = export(f)\n", id="own-function"),
        pytest.param("import jax\nprint(job.lowering_platforms)\n", id="field-in-a-file-without-export"),
        pytest.param("import jax\nfrom jax import export\nf(lowering_platforms=('cpu',))\n", id="keyword-of-something-else"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("make = export.export\n", ["export is passed on here"], id="as-a-value"),
        pytest.param(
            "import functools\nmake = functools.partial(export.export, f)\n", ["takes the result of jax.jit"], id="partial"
        ),
        pytest.param("runs = map(export.call, exported)\n", ["call is passed on here"], id="function-that-is-a-method-now"),
        pytest.param(
            "s = export.args_specs(args, shapes, get_shape_and_dtype=g)\n", ["symbolic_args_specs"], id="other-parameters"
        ),
        pytest.param("e = export.export(*fs)(x)\n", ["hold * or **"], id="star"),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged(HEAD + source, findings=expected, **SELECT)


def test_both_modules_do_not_exist_at_an_early_target() -> None:
    unchanged(HEAD + "e = export.export(f)(x)\n", findings=["choose by version"], target="0.4.25", **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "def f(x): return x\ne = export.export(f)(x)", "def f(x): return x\ne = jax.export.export(jax.jit(f))(x)", id="plain"
        ),
        pytest.param("e = export.export(lambda x: x)(x)", "e = jax.export.export(jax.jit(lambda x: x))(x)", id="lambda"),
        pytest.param(
            "@jax.jit\ndef f(x): return x\ne = export.export(f)(x)",
            "@jax.jit\ndef f(x): return x\ne = jax.export.export(f)(x)",
            id="jitted",
        ),
        pytest.param(
            "g = jax.jit(f)\ne = export.export(g)(x)", "g = jax.jit(f)\ne = jax.export.export(g)(x)", id="jitted-before"
        ),
        pytest.param("def h(f): return export.export(f)(x)", "def h(f): return jax.export.export(f)(x)", id="unknown-stays"),
        pytest.param(
            "e = export.export(g, lowering_platforms=['cpu'], disabled_checks=())(x)",
            "e = jax.export.export(g, platforms=['cpu'], disabled_checks=())(x)",
            id="platforms",
        ),
        pytest.param("y = export.call(e)(x)", "y = e.call(x)", id="call"),
        pytest.param("y = export.call_exported(export.deserialize(b))(x)", "y = jax.export.deserialize(b).call(x)", id="nested"),
        pytest.param("b = export.serialize(e)", "b = e.serialize()", id="serialize"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    wanted = ("import jax\nimport jax.export\n" if "jax.export" in after else "import jax\n") + after
    if "deserialize" in wanted:
        wanted = "import jax\nfrom jax.export import deserialize\n" + after.replace("jax.export.deserialize", "deserialize")
    rewritten(HEAD + before + "\n", wanted + "\n", **SELECT)


def test_fields_have_other_names() -> None:
    rewritten(
        "from jax.experimental.export import Exported\ndef f(e: Exported, d): return e.lowering_platforms, d.uses_shape_polymorphism\n",
        "from jax.export import Exported\ndef f(e: Exported, d): return e.platforms, d.uses_global_constants\n",
        **SELECT,
    )


def test_the_module_within_the_module_before_0_4_24() -> None:
    rewritten(
        "import jax\nfrom jax.experimental.export import export\ne = export.export(jax.jit(f))(x)\ny = export.call_exported(e)(x)\n",
        "import jax\nimport jax.export\ne = jax.export.export(jax.jit(f))(x)\ny = e.call(x)\n",
        **SELECT,
    )
