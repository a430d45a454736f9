"""Shapes of arrays, as far as the calls that made them say.

A shape is a tuple of sizes (None: unknown); None stands for an array of unknown rank.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ._changes import argument, has_star, is_constant, made

if TYPE_CHECKING:
    from jaxmigrate.names import Source

Shape = tuple[int | None, ...]

_SHAPED = {
    **dict.fromkeys(("jax.numpy.zeros", "jax.numpy.ones", "jax.numpy.empty", "jax.numpy.full"), 0),
    **{f"jax.random.{name}": 1 for name in
       ("uniform", "normal", "randint", "laplace", "gumbel", "cauchy", "logistic", "rademacher", "exponential", "bits")},
    "jax.random.bernoulli": 2,
    "jax.random.truncated_normal": 3,
    "jax.random.gamma": 2,
    "jax.random.poisson": 2,
    "jax.random.beta": 3,
}  # fmt: skip
"""Function -> position of its parameter `shape`."""

_SAME = frozenset(
    f"jax.numpy.{name}"
    for name in ("zeros_like", "ones_like", "empty_like", "abs", "exp", "log", "sqrt", "square", "sin", "cos", "tanh", "negative")
)
_REDUCED = frozenset({"sum", "mean", "max", "min", "prod", "std", "var", "all", "any", "argmax", "argmin", "median"})
_KEPT = frozenset({"astype", "copy", "conj", "round", "block_until_ready"})


def shape(source: Source, node: ast.expr, depth: int = 0) -> Shape | None:
    """The shape of the JAX array that `node` is."""
    if depth > 8:
        return None
    node = made(source, node)
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return shape(source, node.operand, depth + 1)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return _joined(_operand(source, node.left, depth), _operand(source, node.right, depth))
    if isinstance(node, ast.Subscript):
        return _indexed(source, node, depth)
    if not isinstance(node, ast.Call) or has_star(node):
        return None
    qualified = source.resolve(node.func)
    if qualified is not None:
        return _called(source, node, qualified, depth)
    return _method(source, node, depth) if isinstance(node.func, ast.Attribute) else None


def rank(source: Source, node: ast.expr) -> int | None:
    """The number of dimensions, where the file shows it."""
    found = shape(source, node)
    return None if found is None else len(found)


def _called(source: Source, call: ast.Call, qualified: str, depth: int) -> Shape | None:
    module, _, name = qualified.rpartition(".")
    if qualified in _SHAPED:
        sizes = argument(call, _SHAPED[qualified], "shape")
        return _sizes(source, sizes) if sizes is not None else () if _SHAPED[qualified] == 1 else None
    if module != "jax.numpy" or not call.args:
        return None
    x = call.args[0]
    if name in ("array", "asarray"):
        return _literal(x) if not any(k.arg == "ndmin" for k in call.keywords) and len(call.args) < 3 else None
    if name in ("arange", "linspace"):
        return (None,) if not any(k.arg in ("axis", "retstep") for k in call.keywords) else None
    if name in ("eye", "identity", "tri"):
        return (None, None)
    if name == "stack":
        return _stacked(source, call, depth)
    if qualified in _SAME:
        return shape(source, x, depth + 1) if not any(k.arg == "shape" for k in call.keywords) else None
    if name == "ravel":
        return (None,)
    if name == "reshape":
        sizes = argument(call, 1, "shape") or argument(call, 1, "newshape")
        return _sizes(source, sizes) if sizes is not None else None
    return _reduced(shape(source, x, depth + 1), call, 1) if name in _REDUCED else None


def _stacked(source: Source, call: ast.Call, depth: int) -> Shape | None:
    """Arrays of one shape in a list, and a dimension before theirs."""
    arrays = call.args[0]
    repeated = arrays.left if isinstance(arrays, ast.BinOp) and isinstance(arrays.op, ast.Mult) else arrays
    if len(call.args) > 1 or call.keywords:
        return None
    elements = repeated.elts if isinstance(repeated, (ast.List, ast.Tuple)) else []
    elements = [repeated.elt] if isinstance(repeated, ast.ListComp) else elements
    one = shape(source, elements[0], depth + 1) if elements and not isinstance(elements[0], ast.Starred) else None
    return (
        (len(elements) if repeated is arrays and not isinstance(repeated, ast.ListComp) else None, *one)
        if one is not None
        else None
    )


def _method(source: Source, call: ast.Call, depth: int) -> Shape | None:
    assert isinstance(call.func, ast.Attribute)
    x, name = call.func.value, call.func.attr
    if name in ("ravel", "flatten") and source.infer(x) == "jax.Array":
        return (None,)
    before = shape(source, x, depth + 1)
    if before is None:
        return None
    if name in _KEPT:
        return before
    if name == "reshape":
        return _sizes(source, call.args[0]) if len(call.args) == 1 else tuple(_size(a) for a in call.args)
    return _reduced(before, call, 0) if name in _REDUCED else None


def _reduced(before: Shape | None, call: ast.Call, position: int) -> Shape | None:
    """What a reduction leaves."""
    axis = argument(call, position, "axis")
    if any(k.arg not in ("keepdims", "axis", "dtype") for k in call.keywords) or len(call.args) > position + 1:
        return None
    keep = argument(call, None, "keepdims")
    if axis is None or is_constant(axis, None):
        if keep is None or is_constant(keep, False):
            return ()
        return (1,) * len(before) if before is not None and is_constant(keep, True) else None
    number = _integer(axis)
    if not before or number is None or not (keep is None or is_constant(keep, True) or is_constant(keep, False)):
        return None
    at = number % len(before)
    if is_constant(keep, True):
        return tuple(1 if i == at else n for i, n in enumerate(before))
    return tuple(n for i, n in enumerate(before) if i != at)


def _integer(node: ast.expr) -> int | None:
    """A number that is written, also a negative one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if type(node.operand.value) is int else None
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _indexed(source: Source, node: ast.Subscript, depth: int) -> Shape | None:
    before = shape(source, node.value, depth + 1)
    if not before:
        return None
    index = node.slice
    if isinstance(index, ast.Slice):
        return (_length(index, before[0]), *before[1:])
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        index = index.operand
    is_number = isinstance(index, ast.Constant) and isinstance(index.value, int) and not isinstance(index.value, bool)
    return before[1:] if is_number else None


def _length(index: ast.Slice, size: int | None) -> int | None:
    """The length of ``x[:1]`` and ``x[3:4]``; otherwise unknown."""
    if index.lower is None and index.upper is None and index.step is None:
        return size
    low = index.lower.value if isinstance(index.lower, ast.Constant) else 0 if index.lower is None else None
    high = index.upper.value if isinstance(index.upper, ast.Constant) else None
    one = isinstance(low, int) and isinstance(high, int) and high - low == 1 and low >= 0 and index.step is None
    return 1 if one and (size is None or (isinstance(high, int) and high <= size)) else None


def _operand(source: Source, node: ast.expr, depth: int) -> Shape | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex)):
        return ()
    return shape(source, node, depth + 1)


def _joined(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of two broadcast operands."""
    if a is None or b is None:
        return None
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    padded = (1,) * (len(longer) - len(shorter)) + shorter
    return tuple(_size_of_both(m, n) for m, n in zip(longer, padded, strict=True))


def _size_of_both(m: int | None, n: int | None) -> int | None:
    """The size of a dimension where both have one; an unknown one may be 1."""
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    return m if n is None else n if m is None else None


def _sizes(source: Source, node: ast.expr) -> Shape | None:
    """A shape argument: a number, or a tuple or list of sizes."""
    node = source.value_of(node)
    if isinstance(node, (ast.Tuple, ast.List)):
        return None if any(isinstance(e, ast.Starred) for e in node.elts) else tuple(_size(source.value_of(e)) for e in node.elts)
    return (_size(node),) if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _size(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _literal(node: ast.expr) -> Shape | None:
    """The shape of nested lists of numbers."""
    if isinstance(node, ast.UnaryOp):
        return _literal(node.operand)
    if isinstance(node, ast.Constant):
        return () if isinstance(node.value, (int, float, complex)) else None
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    inner = [_literal(e) for e in node.elts]
    if any(i is None or i != inner[0] for i in inner):
        return None
    return (len(inner), *(inner[0] or ())) if inner else (0,)
