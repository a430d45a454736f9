"""test-util: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = "test-util"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.test_util import check_grads, check_vjp\ncheck_grads(f, x, 1)\n", id="alive"),
        pytest.param("from jax._src import test_util as jtu\nclass T(jtu.JaxTestCase): ...\n", id="private-but-alive"),
        pytest.param("import jax\nfrom mylib import test_util\ntest_util.check_eq(a, b)\n", id="another-module"),
        pytest.param("import jax\nself.check_close(a, b)\n", id="method"),
        pytest.param("import jax\ndef check_eq(a, b): ...\ncheck_eq(1, 2)\n", id="own-function"),
        pytest.param("import jax\n# jax.test_util.check_eq\n", id="comment"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


def test_equal_trees() -> None:
    before = "import jax\nimport numpy as np\njax.test_util.check_eq(a, b)\n"
    rewritten(
        before, "import jax\nimport numpy as np\njax.tree_util.tree_map(np.testing.assert_array_equal, a, b)\n", select=SELECT
    )


def test_close_trees() -> None:
    before = "import jax\nimport numpy as np\njax.test_util.check_close(a, b, rtol=0.1, atol=t)\n"
    after = (
        "import jax\nimport numpy as np\n"
        "jax.tree_util.tree_map(lambda x, y: np.testing.assert_allclose(x, y, rtol=0.1, atol=t), a, b)\n"
    )
    rewritten(before, after, select=SELECT)


def test_the_loader() -> None:
    before = "from absl.testing import absltest\nimport jax.test_util as jtu\nabsltest.main(testLoader=jtu.JaxTestLoader())\n"
    after = "from absl.testing import absltest\nabsltest.main(testLoader=absltest.TestLoader())\n"
    rewritten(before, after, select=SELECT)


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        ("jax.test_util.check_close(a, b)", "went by dtype"),
        ("jax.test_util.check_close(a, b, atol=1, rtol=f())", "assert_allclose"),
        ("jax.test_util.check_eq(a, b, err_msg='x')", "assert_array_equal"),
        ("jax.test_util.check_eq(*trees)", "*"),
        ("class T(jax.test_util.JaxTestCase): ...", "JaxTestCase is private"),
        ("loader = jax.test_util.JaxTestLoader", "absltest.TestLoader"),
        ("draw = jax.test_util.cases_from_list", "list(cases)"),
        ("jax.test_util.cases_from_list(*cases)", "list(cases)"),
        ("on = {'d': jax.test_util.device_under_test}", "jax.default_backend"),
    ],
)
def test_what_is_no_longer_there_is_explained(use: str, advice: str) -> None:
    unchanged(f"import jax\n{use}\n", select=SELECT, findings=[advice])


def test_what_was_of_absl_and_cases_drawn_from_many() -> None:
    rewritten(
        """
        from jax import test_util as jtu
        class T:
          @jtu.parameterized.named_parameters(
              jtu.cases_from_list({
                  'testcase_name': f'_{i}',
                  'x': i,
              } for i in range(3)))
          def test(self, x): ...
        if __name__ == '__main__':
          jtu.absltest.main()
        """,
        """
        from absl.testing import absltest
        from absl.testing import parameterized
        class T:
          @parameterized.named_parameters(
              list({
                  'testcase_name': f'_{i}',
                  'x': i,
              } for i in range(3)))
          def test(self, x): ...
        if __name__ == '__main__':
          absltest.main()
        """,
        select=SELECT,
    )


def test_the_device_under_test_is_the_backend() -> None:
    before = "import jax\nfrom jax.test_util import device_under_test\nif device_under_test() == 'tpu': jax.jit\n"
    rewritten(before, "import jax\nif jax.default_backend() == 'tpu': jax.jit\n", select=SELECT)
