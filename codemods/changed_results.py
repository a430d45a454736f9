"""Functions of jax.numpy and jax.scipy whose results have another shape, dtype or value today.

https://docs.jax.dev/en/latest/changelog.html (0.2.9, 0.2.21, 0.3.5, 0.3.8, 0.4.24 to 0.4.36, 0.5.0, 0.10.0)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    UNSAFE,
    AttributeSite,
    CallSite,
    Codemod,
    EditCall,
    FileSite,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate.model import Severity

from ._arrays import VALUE_TYPES
from ._changes import argument, before, has_star, is_constant, kind, lines
from ._shapes import rank
from .stricter_arguments import is_complex

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "changed-results",
    summary="results with another shape, dtype or value: solve, unique, sign, ceil, toeplitz, rankdata, take",
    since="0.3.8",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=UNSAFE,
)


@codemod.call("jax.numpy.linalg.solve", "jax.scipy.linalg.solve")
@before("0.5.0")
def solve(site: CallSite) -> Reports:
    """A right-hand side with fewer dimensions than the matrices was a batch of vectors; it is one matrix now."""
    a, b = argument(site.node, 0, "a"), argument(site.node, 1, "b")
    if site.partial or site.has_star() or a is None or b is None or _has_new_dimension(b):
        return None
    of_a, of_b = rank(site.source, a), rank(site.source, b)
    why = "the right-hand side of solve is a batch of vectors only if it has one dimension since 0.5.0"
    if of_a is not None and of_b is not None:
        if of_a < 3 or of_b != of_a - 1 or of_b == 1:
            return None
        if argument(site.node, None, "b") is None and len(site.node.args) == 2 and len(site.node.keywords) == 0:
            new = site.replace(f"{site.text(site.node.func)}({{a}}, {{b}}[..., None]).squeeze(-1)", site.node, a=a, b=b)
            return Rewrite(why, REVIEW, (new,))
        return site.manual(f"{why}: solve(a, b[..., None]).squeeze(-1)")
    if (of_a or 3) < 3 or (2 if of_b is None else of_b) < 2 or _is_matrix(site.source, b):
        return None
    return site.manual(
        f"{why}: if {site.text(b)} has two or more, and one less than {site.text(a)}, write solve(a, b[..., None]).squeeze(-1)",
        severity=Severity.LOW,
    )


def _has_new_dimension(node: ast.expr) -> bool:
    """``b[..., None]``: right-hand sides as columns, on either side of the change."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(index, ast.Tuple) and is_constant(index.elts[-1], None)


def _is_matrix(source: Source, node: ast.expr) -> bool:
    """Whether it is made by a function that makes matrices."""
    made = source.value_of(node)
    return isinstance(made, ast.Call) and (source.resolve(made.func) or "") in ("jax.numpy.eye", "jax.numpy.identity")


_NAMED = {"eig": "0.8.0", "eigh": "0.4.24", "qr": "0.4.24", "slogdet": "0.4.24", "svd": "0.4.24"}
_CARRYING = tuple(f"jax.lax.{name}" for name in ("cond", "fori_loop", "scan", "switch", "while_loop"))


@codemod.call(*(f"jax.numpy.linalg.{name}" for name in _NAMED))
@before("0.8.0")
def named_results(site: CallSite) -> Reports:
    """A tuple with names is a tree of another kind: no branch or loop takes it beside a plain one."""
    name = site.symbol.rpartition(".")[2]
    if site.partial or len(site.node.args) != 1 or site.node.keywords or not site.is_older_than(_NAMED[name]):
        return None
    if not _is_carried(site.source, site.node):
        return None
    message = f"{site.symbol} gives a named tuple since {_NAMED[name]}, which is no tree of the kind of a plain one"
    return Rewrite(message, SAFE, (site.replace("tuple({result})", result=site.node),))


def _is_carried(source: Source, node: ast.expr) -> bool:
    """Whether the value, or a pair with it, is what a branch or the body of a loop gives."""
    parent = source.parent(node)
    if isinstance(parent, ast.Tuple):
        parent = source.parent(parent)
    function = parent if isinstance(parent, ast.Lambda) else source.function(node) if isinstance(parent, ast.Return) else None
    if isinstance(function, ast.Lambda):
        uses: list[ast.AST] = [function]
    elif isinstance(function, ast.FunctionDef):
        uses = list(source.by_id.get(function.name, ()))
    else:
        return False
    return any(_is_given(source, use) for use in uses)


def _is_given(source: Source, use: ast.AST) -> bool:
    """Whether a function is handed to control flow, also as one of a list of branches."""
    parent = source.parent(use)
    if isinstance(parent, (ast.List, ast.Tuple)):
        parent = source.parent(parent)
    return isinstance(parent, ast.Call) and source.resolve(parent.func) in _CARRYING


@codemod.call("jax.numpy.unique")
@before("0.4.24")
def unique_inverse(site: CallSite) -> Reports:
    """The inverse of arrays with several dimensions was flat."""
    inverse, axis = argument(site.node, 2, "return_inverse"), argument(site.node, 4, "axis")
    if site.partial or not site.node.args or not is_constant(inverse, True) or not (axis is None or is_constant(axis, None)):
        return None
    if (rank(site.source, site.node.args[0]) or 0) < 2:
        return None
    return site.manual("the inverse of unique has the shape of the argument since 0.4.24, and was flat: .ravel() makes it so")


@codemod.call("jax.numpy.sign")
@before("0.4.24")
def complex_sign(site: CallSite) -> Reports:
    """Of complex numbers it was the sign of the real part."""
    if site.partial or not site.node.args or not is_complex(site.source, site.node.args[0]):
        return None
    return site.manual("sign of a complex number is x / abs(x) since 0.4.24, and was the sign of its real part: jnp.sign(x.real)")


@codemod.call("jax.numpy.ceil", "jax.numpy.floor", "jax.numpy.trunc")
@before("0.4.31")
def rounded_integers(site: CallSite) -> Reports:
    """Integers stay integers."""
    if site.partial or not site.node.args or not _is_integer(site.source, site.node.args[0]) or _is_cast(site):
        return None
    change = site.replace("{whole}.astype(float)", site.node, whole=site.node)
    return Rewrite(f"{site.symbol} of integers gives integers since 0.4.31, and gave floats", UNSAFE, (change,))


def _is_cast(site: CallSite) -> bool:
    """Whether the dtype of the result is chosen at once."""
    parent = site.parent()
    return isinstance(parent, ast.Attribute) and parent.attr == "astype"


def _is_integer(source: Source, node: ast.expr) -> bool:
    """An array of integers by what is written."""
    value = source.value_of(node)
    if not isinstance(value, ast.Call) or has_star(value) or not value.args:
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr == "astype" and source.resolve(value.func) is None:
        return _is_integer_type(source, value.args[0])
    qualified = source.resolve(value.func)
    dtype = argument(value, None, "dtype")
    if dtype is not None:
        return qualified in ("jax.numpy.array", "jax.numpy.asarray", "jax.numpy.arange") and _is_integer_type(source, dtype)
    if qualified == "jax.numpy.arange":
        return all(isinstance(a, ast.Constant) and type(a.value) is int for a in value.args)
    return qualified in ("jax.numpy.array", "jax.numpy.asarray") and len(value.args) == 1 and _are_integers(value.args[0])


def _are_integers(node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return bool(node.elts) and all(_are_integers(e) for e in node.elts)
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_integer_type(source: Source, node: ast.expr) -> bool:
    name = (source.resolve(node) or "").rpartition(".")[2] if not isinstance(node, ast.Constant) else str(node.value)
    if isinstance(node, ast.Name) and node.id == "int" and source.lookup("int", source.scope(node))[1] is None:
        return True
    return name.rstrip("0123456789_") in ("int", "uint")


@codemod.call("jax.scipy.linalg.toeplitz")
@before("0.4.36")
def toeplitz(site: CallSite) -> Reports:
    """More dimensions are a batch; they were laid flat."""
    if site.partial or site.has_star() or site.node.keywords:
        return None
    wide = [a for a in site.node.args if (rank(site.source, a) or 0) > 1]
    if not wide:
        return None
    changes = tuple(site.replace("{x}.ravel()", a, x=a) for a in wide)
    return Rewrite("toeplitz takes arrays with dimensions for a batch since 0.4.36, and laid them flat", REVIEW, changes)


@codemod.call("jax.numpy.trim_zeros")
@before("0.8.0")
def trim_zeros(site: CallSite) -> Reports:
    """It trims every dimension."""
    if site.partial or not site.node.args or (rank(site.source, site.node.args[0]) or 1) == 1:
        return None
    return site.manual("trim_zeros trims every dimension since 0.8.0, and the first one only before")


@codemod.call("jax.scipy.stats.rankdata")
@before("0.10.0")
def rankdata(site: CallSite) -> Reports:
    """Ranks are floats; those that need be were not."""
    method = argument(site.node, 1, "method")
    if site.partial or not isinstance(method, ast.Constant) or method.value not in ("min", "max", "dense", "ordinal"):
        return None
    if _is_cast(site):
        return None
    change = site.replace("{ranks}.astype(int)", site.node, ranks=site.node)
    return Rewrite("rankdata gives floats since 0.10.0, and gave integers with this method", REVIEW, (change,))


@codemod.call("jax.scipy.linalg.qr")
@before("0.3.8")
def only_r(site: CallSite) -> Reports:
    """With mode="r" the result is a tuple of one."""
    mode = argument(site.node, 3, "mode")
    if site.partial or not isinstance(mode, ast.Constant) or mode.value != "r" or isinstance(site.parent(), ast.Subscript):
        return None
    parent = site.parent()
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Tuple, ast.List)):
        return None
    change = site.replace("{whole}[0]", site.node, whole=site.node)
    return Rewrite('qr with mode="r" gives a tuple of one array since 0.3.8', REVIEW, (change,), requires="0.3.8")


@codemod.file
@before("0.3.8")
def out_of_bounds(site: FileSite) -> Reports:
    """`take` clamped indices beyond the end; it gives NaN for them. One finding for a file."""
    source = site.source
    calls = sorted(source.calls("jax.numpy.take"), key=lambda c: (c.lineno, c.col_offset))
    calls = [c for c in calls if not has_star(c) and len(c.args) < 5 and not any(k.arg == "mode" for k in c.keywords)]
    calls = [c for c in calls if not _is_within(source, argument(c, 1, "indices"))]
    if not calls:
        return None
    return site.manual(
        f"take ({lines(source, calls)}) gives NaN for indices beyond the end since 0.3.8, and gave the last element; where that "
        'may happen, clip the indices (mode="clip" does it too, but takes a negative one for 0)',
        calls[0],
        Severity.LOW,
    )


def _is_within(source: Source, node: ast.expr | None) -> bool:
    """Whether indices are meant to be there: a number that is written, a range, an order."""
    value = source.value_of(node) if node is not None else None
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Constant)
    return (source.resolve(value.func) or "").rpartition(".")[2] in ("arange", "argsort", "argmax", "argmin", "permutation")


@codemod.call("jax.numpy.einsum")
@before("0.5.0")
def contraction_order(site: CallSite) -> Reports:
    """The order of many contractions is chosen otherwise, so that sums round otherwise."""
    if site.partial or site.has_star() or site.keyword("optimize") is not None or len(site.node.args) < 6:
        return None
    change = EditCall(site.node, append=(("optimize", Template('"optimal"')),))
    return Rewrite(
        'einsum of five and more arrays may contract in another order since 0.5.0 (optimize="auto", and was "optimal")',
        UNSAFE,
        (change,),
        severity=Severity.LOW,
    )


@codemod.call("jax.numpy.isscalar")
@before("0.4.35")
def scalars(site: CallSite) -> Reports:
    """Arrays without dimensions were none, unless their type was weak."""
    if site.partial or len(site.node.args) != 1 or isinstance(site.source.value_of(site.node.args[0]), ast.Constant):
        return None
    if rank(site.source, site.node.args[0]):
        return None
    return site.manual(
        "isscalar is True for every array without dimensions since 0.4.35, and was False for those with a type of their own, "
        "such as jnp.float32(1): numpy.isscalar is False for all arrays",
        severity=Severity.LOW,
    )


@codemod.attribute("astype")
@before("0.4.27")
def complex_truth(site: AttributeSite) -> Reports:
    """Only the real part of a complex number was asked whether it is zero."""
    call = site.call()
    if call is None or not call.args or not is_complex(site.source, site.value):
        return None
    dtype = call.args[0]
    name = dtype.id if isinstance(dtype, ast.Name) else (site.source.resolve(dtype) or "").rpartition(".")[2]
    if name not in ("bool", "bool_"):
        return None
    change = site.replace("{x}.real", site.value, x=site.value)
    return Rewrite(
        "a complex number is True unless both parts are zero since 0.4.27; only the real part counted", REVIEW, (change,)
    )


@codemod.attribute("copy")
@before("0.3.5")
def copies(site: AttributeSite) -> Reports:
    """``x.copy()`` was an array of NumPy."""
    call = site.call()
    if call is None or call.args or call.keywords or kind(site.source, site.value) not in VALUE_TYPES:
        return None
    around = site.source.parent(call)
    if isinstance(around, ast.Attribute) or (isinstance(around, ast.Call) and call in around.args):
        return None  # both kinds of arrays do
    change = site.replace("{numpy.array}({x})", call, x=site.value)
    message = "x.copy() of a JAX array is one too since 0.3.5, and was an array of NumPy, which can be written to"
    return Rewrite(message, UNSAFE, (change,), severity=Severity.LOW)


@codemod.file
@before("0.2.21")
def array_tests(site: FileSite) -> Reports:
    """``isinstance(x, jnp.ndarray)`` was true for arrays of NumPy. One finding for a file."""
    source = site.source
    read = source.original or source
    if any(n for n in read.names("jax.numpy.DeviceArray")):
        return None
    tests = [n for n in source.names("jax.numpy.ndarray") if source.role(n) == "isinstance" and not _asks_numpy(source, n)]
    tests.sort(key=lambda n: (n.lineno, n.col_offset))
    if not tests or source.original is not None:
        return None
    changes = tuple(site.replace("({array}, {numpy.ndarray})", n, array=n) for n in tests if _is_alone(source, n))
    message = (
        f"isinstance with jnp.ndarray ({lines(source, tests)}) is False for arrays of NumPy since 0.2.21, and was True: where "
        "they may come, ask for numpy.ndarray too"
    )
    if len(changes) != len(tests):
        return site.manual(message, tests[0], Severity.LOW)
    return Rewrite(message, UNSAFE, changes, tests[0], severity=Severity.LOW)


def _asks_numpy(source: Source, node: ast.expr) -> bool:
    """Whether the same condition asks for arrays of NumPy too."""
    whole = next((a for a in source.ancestors(node) if isinstance(a, ast.Call)), None)
    if whole is not None and isinstance(source.parent(whole), ast.BoolOp):
        around: ast.AST = source.parent(whole) or whole
    else:
        around = whole or node
    return any(source.resolve(n) == "numpy.ndarray" for n in ast.walk(around) if isinstance(n, (ast.Name, ast.Attribute)))


def _is_alone(source: Source, node: ast.expr) -> bool:
    parent = source.parent(node)
    return isinstance(parent, ast.Call) and parent.args[1:2] == [node]


@codemod.file
@before("0.2.9")
def segments(site: FileSite) -> Reports:
    """Negative ids of `segment_sum` counted from the end. One finding for a file."""
    calls = sorted(site.source.calls("jax.ops.segment_sum"), key=lambda c: (c.lineno, c.col_offset))
    if not calls:
        return None
    return site.manual(
        f"segment_sum ({lines(site.source, calls)}) leaves out negative ids since 0.2.9, and counted them from the end",
        calls[0],
        Severity.LOW,
    )
