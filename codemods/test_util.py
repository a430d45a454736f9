"""`jax.test_util` has the checks of gradients only; comparisons are NumPy's.

https://docs.jax.dev/en/latest/changelog.html (0.3.8, 0.3.15)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, CallSite, Codemod, NameSite, Reports, Rewrite

_MODULE = "jax.test_util"
_CASE, _LOADER, _EQUAL, _CLOSE = (f"{_MODULE}.{name}" for name in ("JaxTestCase", "JaxTestLoader", "check_eq", "check_close"))
_CASE_NOW = (
    "JaxTestCase is private: absl.testing.parameterized.TestCase is its base, numpy.testing.assert_allclose takes the place of "
    "assertAllClose, and jax.numpy functions are compared with NumPy's by hand"
)

codemod = Codemod(
    "test-util",
    summary="helpers of JAX's own tests: comparisons are NumPy's, loaders absl's",
    since="0.2.0",
    deprecated="0.3.8",
    removed="0.3.15",
    link="https://docs.jax.dev/en/latest/changelog.html#jax-0-3-15-july-22-2022",
    words=frozenset({"test_util"}),
    applicability=REVIEW,
)


@codemod.call(_EQUAL)
def check_eq(site: CallSite) -> Reports:
    """Two trees with equal leaves."""
    bound = site.bind("xs", "ys", "err_msg", optional=("err_msg",))
    if site.partial or "err_msg" in bound:
        return site.manual("jax.tree_util.tree_map(numpy.testing.assert_array_equal, xs, ys) compares two trees")
    template = "{jax.tree_util.tree_map}({numpy.testing.assert_array_equal}, {xs}, {ys})"
    message = "assert_array_equal compares the leaves, and takes types of elements for equal that hold equal values"
    return Rewrite(message, REVIEW, (site.replace(template, xs=bound["xs"], ys=bound["ys"]),))


@codemod.call(_CLOSE)
def check_close(site: CallSite) -> Reports:
    """Two trees with close leaves; the tolerance depended on their types."""
    bound = site.bind("xs", "ys", "atol", "rtol", "err_msg", optional=("atol", "rtol", "err_msg"))
    if site.partial or not {"atol", "rtol"} <= set(bound):
        return site.manual(
            "numpy.testing.assert_allclose(x, y, rtol=..., atol=...) for the leaves; JAX's tolerance went by dtype"
        )
    template = (
        "{jax.tree_util.tree_map}(lambda x, y: {numpy.testing.assert_allclose}(x, y, rtol={rtol}, atol={atol}), {xs}, {ys})"
    )
    if not all(site.source.is_pure(bound[name]) for name in ("atol", "rtol")):
        return site.manual("numpy.testing.assert_allclose(x, y, rtol=..., atol=...) for the leaves")
    change = site.replace(template, xs=bound["xs"], ys=bound["ys"], rtol=bound["rtol"], atol=bound["atol"])
    return Rewrite("assert_allclose compares the leaves", REVIEW, (change,))


@codemod.name_(_CASE)
def test_case(site: NameSite) -> Reports:
    """The base of test classes."""
    return site.manual(_CASE_NOW)


@codemod.name_(_LOADER)
def loader(site: NameSite) -> Reports:
    """``absltest.main(testLoader=jtu.JaxTestLoader())``: the loader shuffled and filtered tests, no more."""
    call = site.parent()
    if isinstance(call, ast.Call) and call.func is site.node and not call.args and not call.keywords:
        message = "absl's own loader finds the same tests"
        return Rewrite(message, REVIEW, (site.replace("{absl.testing.absltest.TestLoader}()", call),))
    return site.manual("absl.testing.absltest.TestLoader finds the same tests")
