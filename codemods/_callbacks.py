"""What the source shows about functions that run on the host: their parameters, their effects, what they need of an array."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate_codemods._arrays import VALUE_TYPES

if TYPE_CHECKING:
    from jaxmigrate.names import Source

Function = ast.FunctionDef | ast.Lambda

_MODULES = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg", "math")
"""Modules of functions without effects, but for `_EFFECTS`."""
_EFFECTS = frozenset(
    [
        "copyto", "fill_diagonal", "fromfile", "genfromtxt", "load", "loadtxt", "memmap", "place", "put",
        "put_along_axis", "putmask", "save", "savetxt", "savez", "savez_compressed", "seterr", "set_printoptions",
        "frombuffer", "vectorize", "apply_along_axis", "apply_over_axes", "fromfunction", "fromiter", "piecewise",
        "frompyfunc", "nditer", "seterrcall", "setbufsize",
    ]
)  # fmt: skip
_BUILTINS = frozenset(
    [
        "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "int", "isinstance", "len",
        "list", "max", "min", "pow", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip",
        "True", "False", "None",
    ]
)  # fmt: skip
_METHODS = frozenset(
    [
        "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "copy", "cumprod", "cumsum", "diagonal",
        "dot", "flatten", "imag", "item", "max", "mean", "min", "ndim", "nonzero", "prod", "ptp", "ravel", "real",
        "repeat", "reshape", "round", "shape", "size", "squeeze", "std", "sum", "swapaxes", "take", "tolist", "trace",
        "transpose", "var", "items", "keys", "values", "get", "index", "count", "T", "dtype",
    ]
)  # fmt: skip
_OF_NDARRAY = frozenset(
    [
        "flags", "sort", "fill", "resize", "put", "itemset", "setflags", "ctypes", "base", "strides", "tobytes",
        "tostring", "data", "partition", "byteswap",
    ]
)  # fmt: skip
"""What an ndarray has and a jax.Array has not."""
_FIELDS = frozenset({"data", "flags", "base"})
"""Those of them that the classes of programs have as fields."""
_WORSE = (
    ast.Global, ast.Nonlocal, ast.Raise, ast.Assert, ast.Yield, ast.YieldFrom, ast.Await, ast.With, ast.AsyncWith, ast.AsyncFor,
    ast.Try, ast.Import, ast.ImportFrom, ast.Delete, ast.ClassDef, ast.NamedExpr, ast.AsyncFunctionDef,
)  # fmt: skip


def function_of(source: Source, node: ast.expr) -> Function | None:
    """The lambda or the only, undecorated def behind an expression."""
    if isinstance(node, ast.Name):
        bindings, _ = source.lookup(node.id, source.scope(node))
        if len(bindings) == 1 and isinstance(found := bindings[0].node, ast.FunctionDef):
            return None if found.decorator_list else found
    value = source.value_of(node)
    return value if isinstance(value, ast.Lambda) else None


def first_parameter(function: Function) -> str | None:
    """The name of the first positional parameter."""
    positional = [*function.args.posonlyargs, *function.args.args]
    return positional[0].arg if positional else None


def body_of(function: Function) -> list[ast.AST]:
    """All nodes of the body, decorators and defaults left out."""
    roots: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else list(function.body)
    return [node for root in roots for node in ast.walk(root)]


def reads(function: Function, name: str) -> bool:
    """Whether the body mentions a name."""
    return any(isinstance(node, ast.Name) and node.id == name for node in body_of(function))


def takes_one(function: Function) -> bool:
    """Whether it can be called with one argument and does not look at what else it could be given."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if len(positional) - len(arguments.defaults) > 1 or not (positional or arguments.vararg):
        return False
    if any(default is None for default in arguments.kw_defaults):
        return False
    others = [*positional[1:], *arguments.kwonlyargs, *(a for a in (arguments.vararg, arguments.kwarg) if a is not None)]
    return not any(reads(function, other.arg) for other in others)


def ignores(function: Function, name: str) -> bool:
    """Whether it takes a keyword and makes no use of it."""
    arguments = function.args
    named = {a.arg for a in [*arguments.args, *arguments.kwonlyargs]}
    if name in named:
        return not reads(function, name)
    return arguments.kwarg is not None and not reads(function, arguments.kwarg.arg)


def wanted(source: Source, node: ast.expr, argument: ast.expr) -> str:
    """How a function is to be given NumPy's arrays: ``asarray``, as a copy of its own (``array``), or not at all (empty).

    Callbacks hand over a jax.Array from 0.4.27 on, which progress bars, libraries in C and arithmetic take in other ways.
    """
    if _is_pure_name(source.resolve(node)):
        return ""
    in_tree = isinstance(source.value_of(argument), _DISPLAYS)
    if _is_builtin(source, node):
        return "" if _converts(node, in_tree) else "asarray"
    function = function_of(source, node)
    if function is None:
        return "asarray"
    if _writes(source, function):
        return "array"
    rest = function.args.vararg
    if first_parameter(function) is None and rest is not None:
        return "asarray" if reads(function, rest.arg) else ""
    return "" if all(_takes_any(source, use, in_tree) for use in _uses(function)) else "asarray"


def _uses(function: Function) -> list[ast.Name]:
    """Where a function reads its first parameter."""
    first = first_parameter(function)
    return [n for n in body_of(function) if isinstance(n, ast.Name) and n.id == first]


def _is_array_there(source: Source, use: ast.Name) -> bool:
    around = source.parent(use)
    if isinstance(around, ast.Attribute):
        return around.attr in _OF_NDARRAY - _FIELDS | _COMMON | {"T", "reshape", "astype", "sum", "mean"}
    if isinstance(around, ast.Compare):
        return all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in around.ops)
    return isinstance(around, (ast.BinOp, ast.UnaryOp, ast.AugAssign)) and not isinstance(getattr(around, "op", None), ast.Not)


_DISPLAYS = (ast.Tuple, ast.List, ast.Dict)
_READING = frozenset({"float", "int", "bool", "complex", "len"})
_SHOWING = frozenset({"str", "print", "format"})
"""What shows a jax.Array as it does an ndarray; in a tree, and by repr, it is ``Array(...)``."""
_COMMON = frozenset({"shape", "dtype", "ndim", "size", "item", "tolist"})


def _takes_any(source: Source, node: ast.expr, in_tree: bool) -> bool:
    """Whether what is done with a value comes to the same for a jax.Array and an ndarray, or for a tree of them."""
    around = source.parent(node)
    if isinstance(around, ast.Attribute):
        return around.attr in _COMMON
    if isinstance(around, ast.Subscript):
        return (
            around.value is node
            and isinstance(around.ctx, ast.Load)
            and _takes_any(source, around, in_tree and isinstance(around.slice, ast.Slice))
        )
    if isinstance(around, _DISPLAYS):
        return _takes_any(source, around, in_tree=True)
    if isinstance(around, ast.keyword):
        around = source.parent(around)
    if isinstance(around, ast.Call):
        known = _is_builtin(source, around.func) and _converts(around.func, in_tree)
        return around.func is not node and (known or (source.resolve(around.func) or "").startswith("numpy."))
    if isinstance(around, ast.FormattedValue):
        return not in_tree and around.conversion in (-1, ord("s"))
    return isinstance(around, ast.Return) or (isinstance(around, ast.Lambda) and around.body is node)


def _is_builtin(source: Source, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and hasattr(builtins, node.id) and not source.lookup(node.id, source.scope(node))[0]


def _converts(builtin: ast.expr, in_tree: bool) -> bool:
    name = getattr(builtin, "id", "")
    return name in _READING or (name in _SHOWING and not in_tree)


def has_leaves(node: ast.expr) -> bool:
    """Whether an argument holds an array at all."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(map(has_leaves, node.elts))
    if isinstance(node, ast.Dict):
        return any(map(has_leaves, node.values))
    return not (isinstance(node, ast.Constant) and node.value is None)


def is_array(source: Source, node: ast.expr, function: ast.expr) -> bool:
    """Whether an argument is one array, no tree of them, as far as it or its function shows."""
    value, known, kind = source.value_of(node), function_of(source, function), source.infer(node)
    if kind is not None and kind not in VALUE_TYPES and not kind.startswith("numpy."):
        return isinstance(value, ast.Constant) and isinstance(value.value, (bool, int, float, complex))
    if known is not None and any(_is_array_there(source, use) for use in _uses(known)):
        return True
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (bool, int, float, complex))
    if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        return True
    if isinstance(value, ast.Call) and (source.resolve(value.func) or "").startswith("jax.numpy."):
        return True
    return source.infer(node) == "jax.Array"


def _writes(source: Source, function: Function) -> str:
    """Whether it does with its first argument (``array``), or with a part of it (``tree``), what only works with an ndarray."""
    first = first_parameter(function)
    parts = _parts_of(function, first)
    found = ""
    for node in body_of(function):
        value = getattr(node, "value", None)
        if isinstance(value, ast.Name) and (value.id == first or value.id in parts):
            wants = isinstance(node, ast.Attribute) and node.attr in _OF_NDARRAY
            stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
            if wants or (stored and (value.id == first or not _is_made(source, value))):
                found = "array" if value.id == first and not parts else "tree"
        elif isinstance(node, ast.Call) and _asks_for_ndarray(source, node, first):
            found = found or "array"
    return found


def _parts_of(function: Function, parameter: str | None) -> set[str]:
    """The names that are unpacked from, or bound to parts of, a parameter."""
    found: set[str] = set()
    for node in body_of(function):
        if isinstance(node, ast.Assign):
            value: ast.expr = node.value
            while isinstance(value, (ast.Subscript, ast.Attribute)):
                value = value.value
            if isinstance(value, ast.Name) and (value.id == parameter or value.id in found):
                found |= {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return found


def _asks_for_ndarray(source: Source, call: ast.Call, parameter: str | None) -> bool:
    asks = isinstance(call.func, ast.Name) and call.func.id == "isinstance" and len(call.args) == 2
    of = call.args[0] if asks else None
    return isinstance(of, ast.Name) and of.id == parameter and source.resolve(call.args[1]) == "numpy.ndarray"


def is_visibly_pure(source: Source, node: ast.expr, depth: int = 0) -> bool:
    """Whether the file shows that a function only computes something out of its arguments."""
    if _is_pure_name(source.resolve(node)):
        return True
    function = function_of(source, node)
    if function is None or depth > 2:
        return False
    if not all(isinstance(d, ast.Constant) for d in [*function.args.defaults, *filter(None, function.args.kw_defaults)]):
        return False
    own = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    nodes = body_of(function)
    local = own | {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    local |= {a.arg for n in nodes if isinstance(n, ast.Lambda) for a in ast.walk(n.args) if isinstance(a, ast.arg)}
    return all(_is_harmless(source, n, own, local, depth) for n in nodes)


def _is_harmless(source: Source, node: ast.AST, own: set[str], local: set[str], depth: int) -> bool:
    if isinstance(node, _WORSE):
        return False
    if isinstance(node, ast.Name):
        return node.id in local or isinstance(node.ctx, ast.Store) or _is_constant(source, node, depth)
    if isinstance(node, ast.Attribute):
        known = _is_pure_name(source.resolve(node)) or source.resolve(node) in _MODULES
        return isinstance(node.ctx, ast.Load) and (known or node.attr in _METHODS)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return isinstance(node.value, ast.Name) and node.value.id in local - own and _is_made(source, node.value)
    if isinstance(node, ast.FunctionDef):
        return False
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id not in local
        return (named or isinstance(node.func, ast.Attribute)) and all(k.arg != "out" for k in node.keywords)
    return not (isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant))


def _is_made(source: Source, name: ast.Name) -> bool:
    """Whether a local name is bound to the result of a call, such as an array made for it or a copy."""
    bindings, _ = source.lookup(name.id, source.scope(name))
    return any(isinstance(b.value, ast.Call) and b.kind == "assign" for b in bindings)


def _is_constant(source: Source, node: ast.Name, depth: int) -> bool:
    """Whether a name from outside a function always means the same: a module, a function, a number, a parameter."""
    qualified = source.resolve(node)
    if qualified in _MODULES or _is_pure_name(qualified):
        return True
    bindings, _ = source.lookup(node.id, source.scope(node))
    if not bindings:
        return node.id in _BUILTINS and hasattr(builtins, node.id)
    if len(bindings) > 1:
        return False
    if isinstance(bindings[0].value, ast.Constant):
        return True
    if bindings[0].kind == "param":
        return _is_read_only(source, node)
    return is_visibly_pure(source, node, depth + 1)


def _is_read_only(source: Source, node: ast.Name) -> bool:
    """Whether nothing but the value, the shape or the type of a parameter from around is asked for."""
    around = source.parent(node)
    if isinstance(around, ast.Attribute):
        return around.attr in ("shape", "dtype", "ndim", "size")
    return not (isinstance(around, ast.Call) and around.func is node) and not isinstance(around, ast.Subscript)


def _is_pure_name(qualified: str | None) -> bool:
    module, _, name = (qualified or "").rpartition(".")
    return module in _MODULES and name not in _EFFECTS and name not in ("random", "lib", "ctypeslib", "testing")


def is_stable(source: Source, node: ast.expr) -> bool:
    """Whether an expression read later, when a callback runs, still means what it means now."""
    if isinstance(node, ast.Attribute):
        return is_stable(source, node.value)
    if not isinstance(node, ast.Name):
        return False
    bindings, scope = source.lookup(node.id, source.scope(node))
    if not bindings:
        return True  # a builtin, or global by other ways
    if len(bindings) > 1 or bindings[0].kind not in ("import", "def", "class", "param", "assign"):
        return False
    return scope is source.scope_root or bindings[0].kind == "param" or not _is_in_loop(source, bindings[0].node)


def _is_in_loop(source: Source, node: ast.AST) -> bool:
    return any(isinstance(ancestor, (ast.For, ast.While, ast.AsyncFor)) for ancestor in _within_function(source, node))


def _within_function(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return
        yield ancestor


def may_span_devices(source: Source) -> str:
    """What in the file makes computations span several devices, where JAX refuses ordered effects; empty if nothing."""
    words = ("pmap", "pjit", "shard_map", "xmap", "NamedSharding", "PartitionSpec", "Mesh", "device_put_sharded", "soft_pmap")
    return next((word for word in words if source.mentions(word)), "")
