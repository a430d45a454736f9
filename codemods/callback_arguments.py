"""Host callbacks are given `jax.Array` since 0.4.27, and `pure_callback` under vmap must say how since 0.6.0.

https://docs.jax.dev/en/latest/_autosummary/jax.pure_callback.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, UNSAFE, CallSite, Codemod, EditCall, InsertBefore, Report, Reports, Rewrite, Template

from ._arrays import VALUE_TYPES, elements
from ._changes import before, builtin_calls, has_star

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "callback-arguments",
    summary="host callbacks are given jax.Array, and say how they are mapped by vmap",
    since="0.4.27",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.pure_callback.html",
    words=frozenset({"pure_callback", "io_callback", "callback", "debug_callback"}),
    applicability=UNSAFE,
)

_CALLBACKS = {
    "jax.pure_callback": "callback", "jax.experimental.io_callback": "callback", "jax.debug.callback": "callback",
}  # fmt: skip


@codemod.call(*_CALLBACKS)
@before("0.4.27")
def arguments(site: CallSite) -> Reports:
    """A callback that asks whether it was given an array of NumPy."""
    function = _function(site)
    if function is None:
        return None
    tests = list(_numpy_tests(site.source, function))
    if not tests:
        return None
    name = tests[0].args[0]
    assert isinstance(name, ast.Name)
    given = _arguments(site, function)
    if given is not None and all(_is_no_array(site.source, given.get(_parameter(t))) for t in tests):
        return None
    message = f"a host callback is given a jax.Array since 0.4.27, and was given an array of NumPy: {name.id}"
    if given is None or isinstance(function, ast.Lambda) or not _is_only_callback(site.source, function):
        return site.manual(message, tests[0])
    if not all(_may_be_converted(site.source, given.get(_parameter(t)), t) for t in tests):
        return site.manual(message, tests[0])
    if any(_is_made_numpy(site.source, function, t) for t in tests):
        return None
    names = sorted({t.args[0].id for t in tests if isinstance(t.args[0], ast.Name)})
    line = "\n".join(f"{n} = {{numpy.asarray}}({n})" for n in names)
    return Rewrite(message, REVIEW, (InsertBefore(_first_statement(function), Template(line)),), tests[0])


def _function(site: CallSite) -> ast.FunctionDef | ast.Lambda | None:
    """The callback, if it is defined in this file."""
    given = site.positional()[0] if site.positional() else (k.value if (k := site.keyword("callback")) else None)
    made = site.source.value_of(given) if given is not None else None
    if isinstance(made, ast.Lambda):
        return made
    if not isinstance(made, ast.Name):
        return None
    bindings, _ = site.source.lookup(made.id, site.source.scope(made))
    found = bindings[0].node if len(bindings) == 1 else None
    return found if isinstance(found, ast.FunctionDef) else None


_OPTIONS = {
    "jax.pure_callback": ("vmap_method", "vectorized", "sharding"),
    "jax.experimental.io_callback": ("ordered", "sharding"),
    "jax.debug.callback": ("ordered", "partitioned"),
}  # fmt: skip
"""The keywords that JAX takes for itself; it passes on all others."""


def _arguments(site: CallSite, function: ast.FunctionDef | ast.Lambda) -> dict[str, ast.expr] | None:
    """What the call fills each parameter of the callback with, and not those that keep their defaults; None: hidden."""
    if site.partial or has_star(site.node) or (site.positional() and site.keyword("callback")):
        return None
    before = 1 if site.symbol == "jax.debug.callback" else 2
    shapes = sum(k.arg in ("callback", "result_shape_dtypes") for k in site.node.keywords)
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    filled = dict(zip(names, site.positional()[max(before - shapes, 0) :], strict=False))
    own = {"callback", "result_shape_dtypes", *_OPTIONS[site.symbol]}
    return filled | {k.arg: k.value for k in site.node.keywords if k.arg is not None and k.arg not in own}


def _is_array(source: Source, node: ast.expr | None) -> bool:
    return node is not None and source.infer(node) in VALUE_TYPES


def _is_no_array(source: Source, node: ast.expr | None) -> bool:
    """Whether nothing is given, or what the file shows to be a tree or something else than an array."""
    return node is None or (source.infer(node) is not None and not _is_array(source, node))


def _parameter(test: ast.Call) -> str:
    name = test.args[0]
    assert isinstance(name, ast.Name)
    return name.id


def _may_be_converted(source: Source, given: ast.expr | None, test: ast.Call) -> bool:
    """Whether an array is given, by what the call shows or since the callback refuses everything else."""
    if _is_array(source, given):
        return True
    around = source.parent(test)
    if isinstance(around, ast.Assert):
        refuses = around.test is test
    elif isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not):
        branch = source.parent(around)
        refuses = isinstance(branch, ast.If) and branch.test is around and isinstance(branch.body[-1], ast.Raise)
    else:
        refuses = False
    return refuses and not _is_no_array(source, given)


def _numpy_tests(source: Source, function: ast.FunctionDef | ast.Lambda) -> Iterator[ast.Call]:
    """``isinstance(x, np.ndarray)`` for a parameter of the callback, without jax.Array beside it."""
    parameters = {a.arg for a in (*function.args.posonlyargs, *function.args.args)}
    for call in builtin_calls(source, "isinstance"):
        if source.function(call) is not function or len(call.args) != 2:
            continue
        classes = {source.resolve(e) for e in elements(call.args[1])}
        given = call.args[0]
        if isinstance(given, ast.Name) and given.id in parameters and "numpy.ndarray" in classes and not classes & _ARRAYS:
            yield call


_ARRAYS = {"jax.Array", "jax.numpy.ndarray"}


_NUMPY_ONLY = frozenset({
    "ctypes", "data", "dump", "dumps", "flags", "getfield", "newbyteorder", "strides", "tofile", "tostring",
})  # fmt: skip
"""What an array of NumPy has and a jax.Array lacks, of what leaves it as it is: those given were not writable."""
_COMMON = frozenset({"data", "dump", "dumps", "flags", "strides"})
"""Those that trees of the program's own classes have as well."""


@codemod.call(*_CALLBACKS)
@before("0.4.27")
def members(site: CallSite) -> Iterator[Report]:
    """A callback that asks its argument for what only an array of NumPy has; once for an argument."""
    source, function = site.source, _function(site)
    if function is None:
        return
    for name, given in sorted((_arguments(site, function) or {}).items()):
        asked = _asked(source, function, name)
        if not asked or _is_no_array(source, given):
            continue
        message = f"a host callback is given a jax.Array since 0.4.27, which has no {asked[0].attr}"
        if _is_array(source, given):
            alone = all(isinstance(a.ctx, ast.Load) for a in asked) and _is_only_callback(source, function)
            changes = tuple(site.replace("{numpy.asarray}({x})", a.value, x=a.value) for a in asked) if alone else ()
            yield Rewrite(message, REVIEW, changes, asked[0]) if changes else site.manual(message, asked[0])
        elif any(a.attr not in _COMMON for a in asked):
            yield site.manual(f"{message}: convert {name} with numpy.asarray, if it is an array", asked[0])


def _asked(source: Source, function: ast.FunctionDef | ast.Lambda, name: str) -> list[ast.Attribute]:
    """The members of a parameter that only an array of NumPy has; none where the parameter is bound anew."""
    nodes = [n for n in source.by_id.get(name, ()) if source.function(n) is function and _is_parameter(source, n)]
    if any(not isinstance(n.ctx, ast.Load) for n in nodes):
        return []
    return [a for n in nodes if isinstance(a := source.parent(n), ast.Attribute) and a.attr in _NUMPY_ONLY]


def _is_parameter(source: Source, node: ast.Name) -> bool:
    """Whether a name in a callback is that of its parameter, and not of a loop within a comprehension."""
    return any(b.kind == "param" for b in source.lookup(node.id, source.scope(node))[0])


def _is_only_callback(source: Source, function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether the function has one use, and so is given nothing but what JAX gives."""
    if isinstance(function, ast.Lambda):
        return isinstance(source.parent(function), (ast.Call, ast.keyword))
    if function.decorator_list:
        return False
    uses = [n for n in source.by_id.get(function.name, ()) if isinstance(n.ctx, ast.Load)]
    return len(uses) == 1


def _is_made_numpy(source: Source, function: ast.FunctionDef, test: ast.Call) -> bool:
    """Whether the parameter is assigned anew before it is asked."""
    name = test.args[0]
    assert isinstance(name, ast.Name)
    stores = (n for n in source.by_id.get(name.id, ()) if isinstance(n.ctx, ast.Store) and source.function(n) is function)
    return any(True for _ in stores)


def _first_statement(function: ast.FunctionDef) -> ast.stmt:
    """The first statement behind the docstring."""
    body = function.body
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str)
    return body[1] if is_text and len(body) > 1 else body[0]


@codemod.call("jax.pure_callback")
@before("0.6.0")
def mapped(site: CallSite) -> Reports:
    """The default under vmap was to call once for each element."""
    if site.partial or site.keyword("vmap_method") is not None or site.keyword("vectorized") is not None:
        return None
    if any(k.arg is None for k in site.node.keywords):
        return None
    why = "pure_callback under vmap raises without vmap_method since 0.6.0, and was called for one element after the other"
    evidence = _vmap_around(site)
    if not site.target_has("0.4.35"):
        return site.manual(f"{why}: vmap_method='sequential' from 0.4.35 on") if evidence else None
    change = EditCall(site.node, append=(("vmap_method", Template('"sequential"')),))
    if evidence:
        return Rewrite(f"{why}; {evidence}", REVIEW, (change,), requires="0.4.35")
    return Rewrite(f"{why}; this keeps it so, in case {_around(site)} is mapped", UNSAFE, (change,), requires="0.4.35")


def _around(site: CallSite) -> str:
    function = site.source.function(site.node)
    return function.name if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else "the code"


def _vmap_around(site: CallSite) -> str:
    """The function around the call that this file gives to vmap, in words."""
    source = site.source
    function = source.function(site.node)
    while function is not None:
        for node in source.names("jax.vmap"):
            call = source.parent(node)
            given = call.args[0] if isinstance(call, ast.Call) and call.func is node and call.args else None
            if given is function or (isinstance(given, ast.Name) and given.id == getattr(function, "name", "")):
                return f"{getattr(function, 'name', 'the function')} is mapped in line {source.original_line(node)}"
            if node in getattr(function, "decorator_list", ()) or call in getattr(function, "decorator_list", ()):
                return f"{getattr(function, 'name', 'the function')} is decorated with {source.segment(node)}"
        parent = source.parent(function)
        function = source.function(parent) if parent is not None else None
    return ""
