"""Functions and constants that left jax.numpy: `in1d`, `msort`, `row_stack`, `trapz`, `NINF` and their like.

https://docs.jax.dev/en/latest/changelog.html (0.4.9, 0.4.16, 0.4.24, 0.4.38, 0.10.0)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, EditCall, NameSite, ReplaceExpr, Reports, Rewrite, Template
from jaxmigrate.registry import history
from jaxmigrate_codemods._calls import argument, partial_of, passed_on, renamed_partial, rewritten

codemod = Codemod(
    "numpy-names",
    summary="functions and constants that left jax.numpy",
    since="0.2.0",
    deprecated="0.4.0",
    removed="0.4.9",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)
_FLAT_FUNCTIONS = frozenset({"arange", "flatnonzero", "linspace", "logspace", "ravel", "unique", "union1d", "setdiff1d"})
_FLAT_METHODS = frozenset({"ravel", "flatten"})


def fix(site: NameSite) -> Reports:
    """`trunc` leaves integers what they are, as `fix` did in its last years."""
    return Rewrite(
        "jax.numpy.fix is trunc; of integers fix made floats before JAX 0.4.31, which trunc leaves as they are", REVIEW, ()
    )


_MOVES = history().moves("numpy-names")
codemod.rename({old: new for old, new in _MOVES.items() if old != "jax.numpy.fix"})
codemod.rename({"jax.numpy.fix": _MOVES["jax.numpy.fix"]}, handler=fix)


@codemod.name_("jax.numpy.NINF", "jax.numpy.PZERO", "jax.numpy.NZERO")
def constant(site: NameSite) -> Reports:
    """Constants that have no name of their own any more."""
    leaf = site.symbol.rpartition(".")[2]
    new = {"NINF": "-{jax.numpy.inf}", "PZERO": "0.0", "NZERO": "-0.0"}[leaf]
    return Rewrite(f"{site.symbol} is {new.translate({123: None, 125: None})}", SAFE, (site.replace(new),))


_IN1D = "lambda ar1, ar2, assume_unique=False, invert=False: {jax.numpy.isin}(ar1, ar2, assume_unique, invert).ravel()"


@codemod.call("jax.numpy.in1d")
def in1d(site: CallSite) -> Reports:
    """`isin` keeps the shape of its first argument, where `in1d` gave a flat result."""
    names = {"ar1": "element", "ar2": "test_elements"}
    if site.partial:
        found: Reports = partial_of(site, _IN1D)
        return found
    first = argument(site, 0, "ar1")
    if first is not None and not site.has_star() and _is_flat(site, first):
        edit = EditCall(site.node, Template("{jax.numpy.isin}"), rename=names)
        return Rewrite("jax.numpy.in1d is jax.numpy.isin", SAFE, (edit,))
    new = rewritten(site, "{jax.numpy.isin}{arguments}.ravel()", names)
    return Rewrite("jax.numpy.in1d is isin, which keeps the shape: ravel() flattens it", SAFE, (ReplaceExpr(site.node, new),))


def _is_flat(site: CallSite, node: ast.expr) -> bool:
    """Whether an expression has one dimension for certain."""
    value = site.source.value_of(node)
    if not isinstance(value, ast.Call):
        return False
    module, _, leaf = (site.source.resolve(value.func) or "").rpartition(".")
    if module in ("jax.numpy", "numpy"):
        return leaf in _FLAT_FUNCTIONS or (
            leaf in ("array", "asarray") and bool(value.args) and _is_list_of_numbers(value.args[0])
        )
    return isinstance(value.func, ast.Attribute) and value.func.attr in _FLAT_METHODS and not module


def _is_list_of_numbers(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Tuple)) and all(isinstance(e, ast.Constant) for e in node.elts)


@codemod.call("jax.numpy.msort")
def msort(site: CallSite) -> Reports:
    """Sorting along the first dimension."""
    if site.partial:
        edit = renamed_partial(site, "jax.numpy.sort", axis="0")
        return Rewrite("jax.numpy.msort(a) is jax.numpy.sort(a, axis=0)", SAFE, (edit,))
    edit = EditCall(site.node, Template("{jax.numpy.sort}"), append=(("axis", Template("0")),))
    return Rewrite("jax.numpy.msort(a) is jax.numpy.sort(a, axis=0)", SAFE, (edit,))


@codemod.call("jax.numpy.asfarray")
def asfarray(site: CallSite) -> Reports:
    """An array of floats."""
    if site.has_star() or argument(site, 1, "dtype") is not None:
        return site.manual("jax.numpy.asfarray is gone: jax.numpy.asarray(x, dtype) with a floating type")
    if site.partial:
        edit = renamed_partial(site, "jax.numpy.asarray", dtype="float")
    else:
        edit = EditCall(site.node, Template("{jax.numpy.asarray}"), append=(("dtype", Template("float")),))
    return Rewrite("jax.numpy.asfarray is asarray with dtype=float; complex numbers stayed complex", REVIEW, (edit,))


@codemod.call("jax.numpy.issubsctype")
def issubsctype(site: CallSite) -> Reports:
    """It took arrays as well as types; `issubdtype` takes types alone."""
    first = argument(site, 0, "arg1")
    if site.partial or site.has_star() or first is None or site.node.keywords:
        return site.manual("jax.numpy.issubsctype is gone: jax.numpy.issubdtype(x.dtype, kind)")
    rename = EditCall(site.node, Template("{jax.numpy.issubdtype}"))
    resolved = site.source.resolve(first) or ""
    if (isinstance(first, ast.Attribute) and first.attr == "dtype") or resolved.startswith(("jax.numpy.", "numpy.")):
        return Rewrite("jax.numpy.issubsctype is jax.numpy.issubdtype", SAFE, (rename,))
    dtype = site.replace("{x}.dtype", first, x=first)
    known = site.source.infer(first) == "jax.Array"
    assumed = "" if known else f"; {site.text(first)} is taken to be an array"
    edit = EditCall(site.node, Template("{jax.numpy.issubdtype}"), values={0: dtype.new})
    return Rewrite(f"jax.numpy.issubsctype is issubdtype of the type{assumed}", SAFE if known else REVIEW, (edit,))


passed_on(
    codemod,
    {
        "jax.numpy.in1d": _IN1D,
        "jax.numpy.msort": "{functools.partial}({jax.numpy.sort}, axis=0)",
        "jax.numpy.asfarray": "{functools.partial}({jax.numpy.asarray}, dtype=float)",
    },
)
