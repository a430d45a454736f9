"""`jax.test_util` has the checks of gradients only; comparisons are NumPy's.

https://docs.jax.dev/en/latest/changelog.html (0.3.8, 0.3.15)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, CallSite, Codemod, EditCall, NameSite, Reports, Rewrite, Template
from jaxmigrate_codemods._as_value import is_imported
from jaxmigrate_codemods._safe_zip import means_builtin

_MODULE = "jax.test_util"
_CASE, _LOADER, _EQUAL, _CLOSE = (f"{_MODULE}.{name}" for name in ("JaxTestCase", "JaxTestLoader", "check_eq", "check_close"))
_CASE_NOW = (
    "JaxTestCase is private: absl.testing.parameterized.TestCase is its base, numpy.testing.assert_allclose takes the place of "
    "assertAllClose, and jax.numpy functions are compared with NumPy's by hand"
)

_OF_ABSL = ("absltest", "parameterized")
_CASES, _DEVICE = f"{_MODULE}.cases_from_list", f"{_MODULE}.device_under_test"
_ALL_CASES = "list(cases): all of them are tested, where JAX drew some at random (ten, unless told otherwise)"

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


codemod.rename({f"{_MODULE}.{name}": f"absl.testing.{name}" for name in _OF_ABSL}, "{old} was {new} itself")


@codemod.call(_CASES)
def cases(site: CallSite) -> Reports:
    """``parameterized.named_parameters(jtu.cases_from_list({..} for ..))``."""
    if site.partial or len(site.node.args) != 1 or site.has_star() or not means_builtin(site, "list"):
        return site.manual(f"cases_from_list(cases) is {_ALL_CASES}")
    return Rewrite(f"cases_from_list(cases) is {_ALL_CASES}", REVIEW, (EditCall(site.node, func=Template("list")),))


@codemod.call(_DEVICE)
def device_under_test(site: CallSite) -> Reports:
    """The platform, as a word."""
    if site.partial or site.node.args or site.node.keywords:
        return site.manual("ask jax.default_backend()")
    message = "the device under test is that of jax.default_backend(), if no flag jax_test_dut tells another"
    return Rewrite(message, REVIEW, (site.replace("{jax.default_backend}()"),))


@codemod.name_(_CASES, _DEVICE)
def as_a_value(site: NameSite) -> Reports:
    """The function passed on, stored or given another name."""
    if site.role == "call" or not is_imported(site, site.node):
        return None
    return site.manual(f"it is {_ALL_CASES}" if site.symbol == _CASES else "jax.default_backend tells the device under test")


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
