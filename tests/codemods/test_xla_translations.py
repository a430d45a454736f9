"""xla-translations: first what must be left alone, or to a human."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, run, unchanged

SELECT = {"select": "xla-translations"}
HEAD = "import jax\nfrom jax.interpreters import mlir, xla\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(HEAD + "mlir.register_lowering(p, rule)\n", id="already-migrated"),
        pytest.param("import jax\nfrom i18n import xla\nxla.translations[p] = rule\n", id="another-library"),
        pytest.param("import jax\ntranslations = {}\ntranslations[p] = rule\n", id="own-table"),
        pytest.param(
            HEAD
            + "if hasattr(xla, 'register_translation'):\n    xla.register_translation(p, rule)\nmlir.register_lowering(p, r)\n",
            id="guard",
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("xla.register_translation(p, rule)\n", ["register_lowering(p, rule)"], id="rule-of-its-own"),
        pytest.param("xla.register_translation(p, rule, platform='cpu')\n", ["(p, rule, platform='cpu')"], id="platform"),
        pytest.param(
            "xla.register_translation(p, rule)\nmlir.register_lowering(p, r, platform='tpu')\n",
            ["register_lowering(p, rule)"],
            id="lowering-of-another-platform-beside-it",
        ),
        pytest.param(
            "xla.register_translation(p, rule)\nmlir.register_lowering(q, r)\n", ["(p, rule)"], id="lowering-of-another-primitive"
        ),
        pytest.param(
            "xla.backend_specific_translations['gpu'][p] = rule\n", ["(p, rule, platform='gpu')"], id="table-of-a-platform"
        ),
        pytest.param(
            "xla.backend_specific_translations['gpu'][p] = rule\nmlir.register_lowering(p, r)\n",
            ["(p, rule, platform='gpu')"],
            id="lowering-of-all-platforms-did-not-beat-it",
        ),
        pytest.param("rule = xla.translations[p]\n", ["register_lowering(primitive, rule)"], id="rule-taken-out"),
        pytest.param("xla.translations.update(rules)\n", ["register_lowering(primitive, rule)"], id="many-at-once"),
        pytest.param("xla.register_translation(*both)\n", ["hold * or **"], id="star"),
        pytest.param(
            "xla.translations[p] = xla.lower_fun(f, multiple_results=True, parallel=True)\n", ["(p, rule)"], id="parallel-rule"
        ),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged(HEAD + source, findings=expected, **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "xla.register_translation(p, xla.lower_fun(f, multiple_results=False, new_style=True))",
            "mlir.register_lowering(p, mlir.lower_fun(f, multiple_results=False))",
            id="made-of-a-function",
        ),
        pytest.param(
            "xla.backend_specific_translations['cpu'][p] = xla.lower_fun(f, True)",
            "mlir.register_lowering(p, mlir.lower_fun(f, multiple_results=True), platform='cpu')",
            id="in-the-table-of-a-platform",
        ),
        pytest.param(
            "xla.translations[p] = rule\nmlir.register_lowering(p, r)", "mlir.register_lowering(p, r)", id="lowering-beside-it"
        ),
        pytest.param(
            "jax.interpreters.xla.register_translation(self.p, rule)\nmlir.register_lowering(self.p, r)",
            "mlir.register_lowering(self.p, r)",
            id="full-path",
        ),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    head = "import jax\nfrom jax.interpreters import mlir, xla\nprint(jax, xla.x)\n"
    rewritten(head + before + "\n", head + after + "\n", **SELECT)


def test_a_rule_of_one_platform_outlives_the_lowering_made_of_that_of_all() -> None:
    source = (
        "from jax.interpreters import mlir, xla\nxla.translations[p] = xla.lower_fun(f, multiple_results=False)\n"
        "xla.backend_specific_translations['gpu'][p] = rule\n"
    )
    result = run(source, **SELECT)
    assert b"backend_specific_translations['gpu'][p] = rule" in result.after
    assert b"register_lowering(p, mlir.lower_fun(f" in result.after
