"""Arguments that JAX took for arrays, dtypes or masks once and refuses today: lists, arrays as dtypes, numbers as masks.

https://docs.jax.dev/en/latest/changelog.html (0.2.7, 0.2.21, 0.3.15, 0.3.25, 0.8.0, 0.10.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    AttributeSite,
    CallSite,
    Change,
    Codemod,
    EditCall,
    FileSite,
    Report,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate.model import Severity

from ._changes import ARRAY, argument, before, builtin_calls, has_star, is_constant, kind
from ._shapes import shape

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "stricter-arguments",
    summary="lists for arrays, arrays for dtypes, numbers for masks: what functions took once",
    since="0.2.21",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)

_ONE = (
    "abs absolute all amax amin any arccos arccosh arcsin arcsinh arctan arctanh argmax argmin argsort around average cbrt "
    "ceil clip conj conjugate cos cosh count_nonzero cumprod cumsum deg2rad diag diff exp exp2 expand_dims expm1 fabs "
    "flatnonzero flip fliplr flipud floor imag invert isfinite isinf isnan log log10 log1p log2 logical_not max mean median "
    "min moveaxis nan_to_num nanargmax nanargmin nanmax nanmean nanmedian nanmin nanstd nansum nanvar negative nonzero "
    "ones_like outer pad percentile prod ptp quantile rad2deg ravel real reciprocal repeat reshape rint roll rot90 round "
    "searchsorted sign sin sinc sinh sort split sqrt square squeeze std sum swapaxes take tan tanh tile trace transpose "
    "tril triu unique var zeros_like array_split "
)
_TWO = (
    "add allclose arctan2 bitwise_and bitwise_or bitwise_xor convolve correlate cross divide dot equal "
    "floor_divide fmax fmin greater greater_equal heaviside hypot inner isclose isin kron less less_equal logaddexp "
    "logical_and logical_or logical_xor matmul maximum minimum mod multiply not_equal outer polyval power remainder "
    "subtract tensordot true_divide vdot "
)
_ARRAYS = {**dict.fromkeys(_ONE.split(), 1), **dict.fromkeys(_TWO.split(), 2)}
"""Function of jax.numpy -> how many of its first arguments are arrays; each refused lists from 0.2.21 on."""


_LATER = (
    "gradient",
    *(
        f"linalg.{name}"
        for name in ("cholesky", "det", "eig", "eigh", "inv", "lstsq", "norm", "pinv", "qr", "slogdet", "solve", "svd")
    ),
    *(f"fft.{name}" for name in ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "fftn", "ifftn", "fftshift", "ifftshift")),
)
"""What refused lists from 0.3.24 on."""


@codemod.call(*(f"jax.numpy.{name}" for name in _ARRAYS))
@before("0.2.21")
def lists(site: CallSite) -> Reports:
    """``jnp.sum([1, 2])``."""
    if site.partial or has_star(site.node):
        return None
    count = _ARRAYS[site.symbol.rpartition(".")[2]]
    given = [a for a in site.node.args[:count] if _is_list(site.source, a)]
    if not given:
        return None
    return Rewrite(f"{site.symbol} takes no lists since 0.2.21", REVIEW, tuple(_as_array(site, a) for a in given))


@codemod.call(*(f"jax.numpy.{name}" for name in ("hstack", "vstack", "dstack", "column_stack", "row_stack")))
@before("0.10.0")
def stacked_lists(site: CallSite) -> Reports:
    """``jnp.hstack([[1], [2]])``."""
    if site.partial or len(site.node.args) != 1 or site.node.keywords:
        return None
    arrays = site.source.value_of(site.node.args[0])
    if not isinstance(arrays, (ast.List, ast.Tuple)) or arrays is not site.node.args[0]:
        return None
    given = [a for a in arrays.elts if _is_list(site.source, a)]
    if not given:
        return None
    return Rewrite(f"{site.symbol} takes no lists for arrays since 0.10.0", REVIEW, tuple(_as_array(site, a) for a in given))


@codemod.call("jax.numpy.broadcast_to", "jax.numpy.broadcast_arrays", *(f"jax.numpy.{name}" for name in _LATER))
@before("0.3.24")
def more_lists(site: CallSite) -> Reports:
    """``jnp.linalg.norm([3.0, 4.0])``: others that refused lists later."""
    release = "0.3.2" if "broadcast" in site.symbol else "0.3.24"
    if site.partial or has_star(site.node) or not site.is_older_than(release):
        return None
    count = len(site.node.args) if site.symbol.endswith(("broadcast_arrays", "solve", "lstsq")) else 1
    given = [a for a in site.node.args[:count] if _is_list(site.source, a)]
    if not given:
        return None
    return Rewrite(f"{site.symbol} takes no lists since {release}", REVIEW, tuple(_as_array(site, a) for a in given))


def _is_list(source: Source, node: ast.expr) -> bool:
    """A list by its looks, or a name that is only ever one; a tuple may be a shape or axes."""
    if isinstance(node, (ast.List, ast.ListComp)):
        return True
    return isinstance(node, ast.Name) and isinstance(source.value_of(node), (ast.List, ast.ListComp))


def _as_array(site: CallSite | FileSite, node: ast.expr) -> Change:
    return site.replace("{jax.numpy.asarray}({x})", node, x=node)


@codemod.file
@before("0.3.15")
def operands(site: FileSite) -> Iterator[Report]:
    """``x + [1, 2]``, ``x == [1, 2]`` and, older, ``x[[0, 1]]``."""
    for node in ast.walk(site.node):
        if isinstance(node, ast.BinOp):
            yield from _operated(site, node, node.left, node.right)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and not isinstance(node.ops[0], _NO_OPERATORS):
            yield from _operated(site, node, node.left, node.comparators[0])
        elif isinstance(node, ast.Subscript) and site.is_older_than("0.2.7"):
            yield from _index(site, node)


_NO_OPERATORS = (ast.In, ast.NotIn, ast.Is, ast.IsNot)


def _operated(site: FileSite, node: ast.expr, left: ast.expr, right: ast.expr) -> Iterator[Report]:
    for x, other in ((left, right), (right, left)):
        if _is_list(site.source, other) and kind(site.source, x) == ARRAY:
            yield Rewrite("operators take no lists for arrays since 0.3.15", REVIEW, (_as_array(site, other),), node)


def _index(site: FileSite, node: ast.Subscript) -> Iterator[Report]:
    if isinstance(node.slice, ast.List) and isinstance(node.ctx, ast.Load) and kind(site.source, node.value) == ARRAY:
        yield Rewrite("an index is no list since 0.2.7", REVIEW, (_as_array(site, node.slice),), node)


_MASKED = ("all", "any", "max", "mean", "min", "nanmax", "nanmean", "nanmin", "nansum", "prod", "std", "sum", "var")


@codemod.call(*(f"jax.numpy.{name}" for name in _MASKED))
@before("0.8.0")
def masks(site: CallSite) -> Reports:
    """``where=`` of numbers."""
    mask = site.keyword("where")
    if mask is None or not _is_numbers(site.source, mask.value):
        return None
    change = EditCall(site.node, values={"where": Template("{mask}.astype(bool)", {"mask": mask.value})})
    return Rewrite("where= takes booleans only since 0.8.0", REVIEW, (change,))


@codemod.attribute(*_MASKED)
@before("0.8.0")
def masks_of_methods(site: AttributeSite) -> Reports:
    """``x.sum(where=...)``."""
    call = site.call()
    mask = argument(call, None, "where") if call is not None else None
    if call is None or mask is None or kind(site.source, site.value) != ARRAY or not _is_numbers(site.source, mask):
        return None
    change = EditCall(call, values={"where": Template("{mask}.astype(bool)", {"mask": mask})})
    return Rewrite("where= takes booleans only since 0.8.0", REVIEW, (change,))


def _is_numbers(source: Source, node: ast.expr) -> bool:
    """Whether a mask is shown to be an array of numbers."""
    value = source.value_of(node)
    if not isinstance(value, ast.Call) or has_star(value):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr == "astype" and source.resolve(value.func) is None:
        return _is_number_type(source, argument(value, 0, "dtype"))
    qualified = source.resolve(value.func) or ""
    if qualified not in ("jax.numpy.array", "jax.numpy.asarray", "jax.numpy.ones", "jax.numpy.zeros") or not value.args:
        return False
    dtype = argument(value, 1, "dtype")
    if dtype is not None:
        return _is_number_type(source, dtype)
    return qualified in ("jax.numpy.ones", "jax.numpy.zeros") or _are_numbers(value.args[0])


def _are_numbers(node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return bool(node.elts) and all(_are_numbers(e) for e in node.elts)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def _is_number_type(source: Source, node: ast.expr | None) -> bool:
    if isinstance(node, ast.Constant):
        name = str(node.value)
    elif isinstance(node, ast.Name) and source.resolve(node) is None:
        name = node.id
    else:
        name = (source.resolve(node) or "").rpartition(".")[2] if node is not None else ""
    return name.rstrip("0123456789_") in ("int", "uint", "float", "bfloat")


_TYPED = {
    **dict.fromkeys(("jax.numpy.zeros", "jax.numpy.ones", "jax.numpy.empty", "jax.numpy.array", "jax.numpy.asarray"), 1),
    **dict.fromkeys(("jax.numpy.zeros_like", "jax.numpy.ones_like"), 1),
    **dict.fromkeys(("jax.numpy.full", "jax.numpy.full_like"), 2),
    "jax.numpy.arange": None,
}  # fmt: skip


@codemod.call(*_TYPED)
@before("0.8.0")
def array_as_dtype(site: CallSite) -> Reports:
    """``dtype=x`` for the dtype of x, which was an error before 0.4.30 as well."""
    if site.is_older_than("0.4.30"):
        return None
    dtype = argument(site.node, _TYPED[site.symbol], "dtype") if not site.partial else argument(site.node, None, "dtype")
    if dtype is None or kind(site.source, dtype) != ARRAY:
        return None
    return Rewrite("an array is no dtype since 0.8.0", REVIEW, (site.replace("{x}.dtype", dtype, x=dtype),))


@codemod.attribute("astype")
@before("0.8.0")
def cast_to_array(site: AttributeSite) -> Reports:
    """``x.astype(y)``."""
    call = site.call()
    dtype = argument(call, 0, "dtype") if call is not None else None
    if dtype is None or site.is_older_than("0.4.30") or kind(site.source, site.value) != ARRAY:
        return None
    if kind(site.source, dtype) != ARRAY:
        return None
    return Rewrite("an array is no dtype since 0.8.0", REVIEW, (site.replace("{x}.dtype", dtype, x=dtype),))


@codemod.call("jax.numpy.array_equal", "jax.numpy.array_equiv")
@before("0.6.0")
def equal_to_no_array(site: CallSite) -> Reports:
    """What is no array was equal to none; text is refused since 0.4.26, None since 0.6.0."""
    if site.partial:
        return None
    for given in site.node.args[:2]:
        value = site.source.value_of(given)
        release = "0.6.0" if is_constant(value, None) else "0.4.26" if _is_no_array(value) else ""
        if release and site.is_older_than(release):
            return site.manual(f"{site.symbol} of {site.text(given)} is an error since {release}, and was False", given)
    return None


def _is_no_array(node: ast.expr) -> bool:
    return isinstance(node, (ast.Dict, ast.Set)) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


@codemod.call("jax.sharding.Mesh", "jax.experimental.maps.Mesh", "jax.interpreters.pxla.Mesh", "jax.experimental.mesh")
@before("0.3.25")
def one_name_for_axes(site: CallSite) -> Reports:
    """``Mesh(devices, "xy")`` had two axes."""
    names = argument(site.node, 1, "axis_names") if not site.partial else argument(site.node, None, "axis_names")
    value = names.value if isinstance(names, ast.Constant) else None
    if names is None or not isinstance(value, str) or not 2 <= len(set(value)) == len(value) <= 3:
        return None
    new = "(" + ", ".join(repr(letter).replace("'", '"') for letter in value) + ")"
    message = "a str names one axis of a Mesh since 0.3.25, and named one with each letter"
    return Rewrite(message, REVIEW, (site.replace(new, names),))


@codemod.call("jax.jit", "jax.pjit", "jax.experimental.pjit.pjit")
@before("0.4.27")
def static_names(site: CallSite) -> Reports:
    """``static_argnames`` that the function does not have."""
    static = site.keyword("static_argnames")
    function = _function(site)
    if static is None or function is None or function.args.kwarg is not None:
        return None
    parameters = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    value = static.value
    given = [
        g.value for g in (value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]) if isinstance(g, ast.Constant)
    ]
    unknown = [name for name in given if isinstance(name, str) and name not in parameters]
    if not unknown:
        return None
    return site.manual(f"static_argnames names what {function.name} does not take ({', '.join(unknown)}): an error since 0.4.27")


def _function(site: CallSite) -> ast.FunctionDef | None:
    """The function of this file that is wrapped."""
    source, parent = site.source, site.parent()
    if isinstance(parent, ast.FunctionDef) and parent.decorator_list == [site.node]:
        return parent
    if site.partial or not site.node.args or not isinstance(site.node.args[0], ast.Name):
        return None
    bindings, _ = source.lookup(site.node.args[0].id, source.scope(site.node))
    found = bindings[0].node if len(bindings) == 1 else None
    return found if isinstance(found, ast.FunctionDef) and not found.decorator_list else None


@codemod.call("jax.dlpack.from_dlpack")
def capsules(site: CallSite) -> Reports:
    """``from_dlpack(to_dlpack(x))``: the array itself is taken, and no capsule, which is an error whatever the program's age."""
    if site.partial or not site.node.args or (array := _capsule_of(site.source, site.node.args[0])) is None:
        return None
    message = "from_dlpack takes the array itself and no capsule since 0.7.2"
    if site.node.args[0] is not site.source.value_of(site.node.args[0]):
        return site.manual(f"{message}: leave out to_dlpack")
    if not site.target_has("0.4.16"):
        return site.manual(f"{message}; before 0.4.16 it took capsules only: choose by version")
    return Rewrite(message, REVIEW, (site.replace("{x}", site.node.args[0], x=array),))


@codemod.call("jax.dlpack.from_dlpack")
@before("0.7.2")
def given_capsules(site: CallSite) -> Reports:
    """``from_dlpack(capsule)`` of what others hand over, which may be either."""
    given = site.node.args[0] if site.node.args and not site.partial else None
    bindings = site.source.lookup(given.id, site.source.scope(given))[0] if isinstance(given, ast.Name) else []
    if given is None or [b.kind for b in bindings] != ["param"] or site.source.infer(given) is not None:
        return None
    message = f"from_dlpack takes no capsules since 0.7.2: {site.text(given)} must be the array that has __dlpack__"
    return site.manual(message, severity=Severity.LOW)


def _capsule_of(source: Source, node: ast.expr) -> ast.expr | None:
    """The array of ``to_dlpack(x)``, ``x.__dlpack__()`` and ``x.toDlpack()``."""
    made = source.value_of(node)
    if not isinstance(made, ast.Call) or has_star(made):
        return None
    named = (source.resolve(made.func) or "").rpartition(".")[2]
    if named == "to_dlpack":
        return made.args[0] if len(made.args) == 1 else None
    is_method = isinstance(made.func, ast.Attribute) and made.func.attr in ("__dlpack__", "toDlpack")
    return made.func.value if isinstance(made.func, ast.Attribute) and is_method and not made.args and not made.keywords else None


@codemod.call("jax.numpy.cross")
@before("0.12.0")
def flat_cross(site: CallSite) -> Reports:
    """Vectors of two numbers."""
    if site.partial or len(site.node.args) < 2 or has_star(site.node) or site.node.keywords:
        return None
    shapes = [shape(site.source, a) for a in site.node.args[:2]]
    if not any(s and s[-1] == 2 for s in shapes):
        return None
    message = "jnp.cross takes vectors of three numbers only since 0.12.0"
    a, b = site.node.args[:2]
    if all(s == (2,) for s in shapes) and site.source.is_pure(a) and site.source.is_pure(b):
        new = site.replace("{a}[0] * {b}[1] - {a}[1] * {b}[0]", site.node, a=a, b=b)
        return Rewrite(message, REVIEW, (new,))
    return site.manual(f"{message}: of vectors of two it is a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]")


_COMPLEX = {"clip": "0.4.33", "hypot": "0.4.33", "fabs": "0.4.33", "arange": "0.10.0"}


@codemod.call(*(f"jax.numpy.{name}" for name in _COMPLEX))
@before("0.10.0")
def complex_numbers(site: CallSite) -> Reports:
    """Functions without an answer for complex numbers."""
    release = _COMPLEX[site.symbol.rpartition(".")[2]]
    if site.partial or not site.is_older_than(release) or not any(is_complex(site.source, a) for a in site.node.args):
        return None
    return site.manual(f"{site.symbol} takes no complex numbers since {release}: take .real or abs first")


def is_complex(source: Source, node: ast.expr) -> bool:
    """Whether a complex number is written in an array, or its dtype says so."""
    value = source.value_of(node)
    if isinstance(value, (ast.List, ast.Tuple)):
        return any(is_complex(source, e) for e in value.elts)
    if isinstance(value, ast.BinOp):
        return is_complex(source, value.left) or is_complex(source, value.right)
    if isinstance(value, ast.UnaryOp):
        return is_complex(source, value.operand)
    if isinstance(value, ast.Constant):
        return isinstance(value.value, complex)
    made = source.resolve(value.func) if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or made not in ("jax.numpy.array", "jax.numpy.asarray"):
        return made == "jax.lax.complex"
    dtype = argument(value, 1, "dtype")
    if dtype is not None:
        return "complex" in source.segment(dtype)
    return bool(value.args) and is_complex(source, value.args[0])


_TREES = {"all": 0, "flatten": 0, "leaves": 0, "map": 1, "reduce": 1, "structure": 0}
"""Function of jax.tree -> position of its first tree."""
_TREE_FUNCTIONS = {
    f"{home}{name}": position for name, position in _TREES.items() for home in ("jax.tree.", "jax.tree_util.tree_")
}
_ITERATORS = ("enumerate", "filter", "iter", "map", "reversed", "zip")


@codemod.call(*_TREE_FUNCTIONS)
@before("0.10.1")
def iterators(site: CallSite) -> Iterator[Report]:
    """``jax.tree.leaves(f(x) for x in xs)``, which never looked into the generator."""
    if site.partial or has_star(site.node) or argument(site.node, None, "is_leaf") is not None:
        return
    calls = set(builtin_calls(site.source, *_ITERATORS))
    for given in site.node.args[_TREE_FUNCTIONS[site.symbol] :]:
        if isinstance(given, ast.GeneratorExp) or given in calls:
            message = (
                "an iterator is one leaf, nothing looks into it, and JAX warns of it since 0.10.1: give list(...), or is_leaf"
            )
            yield site.manual(message, given)
