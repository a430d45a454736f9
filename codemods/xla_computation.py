"""`xla_computation(f)(x)` becomes ``jit(f).lower(x).compiler_ir("hlo")``.

https://docs.jax.dev/en/latest/changelog.html (0.4.30)
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jaxmigrate.codemod import (
    REVIEW,
    CallSite,
    Codemod,
    Manual,
    NameSite,
    Piece,
    ReplaceExpr,
    ReplaceText,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate_codemods import _callbacks
from jaxmigrate_codemods._arrays import unused_in

_OLD = ("jax.xla_computation", "jax.api.xla_computation")

codemod = Codemod(
    "xla-computation",
    summary="xla_computation(f)(x) becomes jax.jit(f).lower(x).compiler_ir('hlo')",
    since="0.3.10",
    deprecated="0.4.30",
    removed="0.4.34",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"xla_computation"}),
    applicability=REVIEW,
)

_PARAMETERS = (
    "fun", "static_argnums", "axis_env", "in_parts", "out_parts", "backend", "tuple_args", "instantiate_const_outputs",
    "return_shape", "donate_argnums",
)  # fmt: skip
_ADVICE = (
    'jax.jit(f).lower(*args).compiler_ir("hlo") gives the program of f, and its out_info the shape of the result '
    "(docs.jax.dev/en/latest/aot.html)"
)
_DIFFERS = (
    "the program is lowered ahead of time: a single result is no longer wrapped in a tuple at its ROOT, and the module and its "
    "parameters are named after f"
)
_REFUSED = {
    "axis_env": "axis_env has no successor: jax.vmap(f, axis_name=..) or jax.shard_map binds the axis",
    "in_parts": "in_parts has no successor: jax.jit takes in_shardings",
    "out_parts": "out_parts has no successor: jax.jit takes out_shardings",
    "tuple_args": "tuple_args has no successor: the program takes its arguments one by one",
    "instantiate_const_outputs": "instantiate_const_outputs has no successor, and JAX refused it since 0.4.9 at the latest",
}


@codemod.call(*_OLD)
def xla_computation(site: CallSite) -> Reports:
    """The function that it made is usually called at once; where it is kept, a lambda takes its place."""
    if site.partial or _is_decorator(site):
        return site.manual(f"xla_computation makes a function here that others call: {_ADVICE}")
    bound = site.bind(*_PARAMETERS, optional=_PARAMETERS[1:])
    for name, why in _REFUSED.items():
        if name in bound and not _is_empty(bound[name]):
            return site.manual(f"{why}; {_ADVICE}")
    shaped = bound.get("return_shape")
    if shaped is not None and not isinstance(shaped, ast.Constant):
        return site.manual(f"whether return_shape is set is not known here: {_ADVICE}")
    call = site.parent()
    if isinstance(call, ast.Call) and call.func is site.node:
        return _called(site, call, bound)
    return _kept(site, bound)


def _is_decorator(site: CallSite) -> bool:
    around = site.parent()
    return isinstance(around, (ast.FunctionDef, ast.ClassDef)) and site.node in around.decorator_list


def _is_empty(value: ast.expr) -> bool:
    """Whether nothing is asked for; the number 0 is an argument's."""
    constant = isinstance(value, ast.Constant) and (value.value is None or value.value is False)
    return constant or (isinstance(value, (ast.Tuple, ast.List)) and not value.elts)


def _is_true(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and bool(value.value)


def _called(site: CallSite, call: ast.Call, bound: Mapping[str, ast.expr]) -> Reports:
    """``xla_computation(f)(x)``; the arguments stay as they are written."""
    pieces: dict[str, Piece] = {}
    jitted = _jitted(bound, pieces)
    if not _is_true(bound.get("return_shape")):
        _, end = site.source.span(call)
        lower = ReplaceExpr(site.node, Template(f"{jitted}.lower", pieces))
        return Rewrite(_message(bound), REVIEW, (lower, ReplaceText(end, end, '.compiler_ir("hlo")')), requires="0.3.10")
    repeated = [*call.args, *(k.value for k in call.keywords), bound["fun"]]
    if not all(_may_repeat(site, value) for value in repeated) or not _is_empty(bound.get("static_argnums", ast.Tuple([]))):
        return site.manual(f"the shape comes apart from the program now, and the arguments cannot stand twice: {_ADVICE}")
    arguments = _arguments(call, pieces)
    shape = f"{{jax.eval_shape}}({', '.join(['{fun}', *arguments])})"
    new = f'({jitted}.lower({", ".join(arguments)}).compiler_ir("hlo"), {shape})'
    return Rewrite(_message(bound), REVIEW, (ReplaceExpr(call, Template(new, pieces)),), requires="0.3.10")


def _arguments(call: ast.Call, pieces: dict[str, Piece]) -> list[str]:
    """The arguments of a call as holes."""
    given: list[str] = []
    for number, argument in enumerate(call.args):
        starred = isinstance(argument, ast.Starred)
        pieces[f"a{number}"] = argument.value if isinstance(argument, ast.Starred) else argument
        given.append("*" * starred + f"{{a{number}}}")
    for number, keyword in enumerate(call.keywords):
        pieces[f"k{number}"] = keyword.value
        given.append((f"{keyword.arg}=" if keyword.arg else "**") + f"{{k{number}}}")
    return given


def _may_repeat(site: CallSite, value: ast.expr) -> bool:
    inner = value.value if isinstance(value, ast.Starred) else value
    return site.source.is_pure(inner) or isinstance(inner, ast.Lambda)


def _jitted(bound: Mapping[str, ast.expr], pieces: dict[str, Piece]) -> str:
    """``jax.jit(f, ..)``, told to keep the parameters that `f` makes no use of, as its program had them."""
    pieces["fun"] = bound["fun"]
    options = ""
    for name in ("static_argnums", "donate_argnums", "backend"):
        if name in bound and not _is_empty(bound[name]):
            pieces[name] = bound[name]
            options += f", {name}={{{name}}}"
    return f"{{jax.jit}}({{fun}}{options}, keep_unused=True)"


def _message(bound: Mapping[str, ast.expr]) -> str:
    backend = "backend" in bound and not _is_empty(bound["backend"])
    traced = "; jit(backend=) is deprecated: from 0.4.30 on .trace(..).lower(lowering_platforms=(..)) lowers for another platform"
    return f"{_DIFFERS}{traced if backend else ''}"


def _kept(site: CallSite, bound: Mapping[str, ast.expr]) -> Reports:
    """``make = xla_computation(f)``."""
    values = [value for name, value in bound.items() if name != "return_shape"]
    if not all(site.source.is_pure(value) or isinstance(value, ast.Lambda) for value in values):
        return site.manual(f"xla_computation makes a function here that others call: {_ADVICE}")
    if not all(isinstance(v, (ast.Constant, ast.Lambda)) or _callbacks.is_stable(site.source, v) for v in values):
        return site.manual(f"what xla_computation is given may be something else by the time its function is called: {_ADVICE}")
    pieces: dict[str, Piece] = {}
    jitted = _jitted(bound, pieces)
    args, kwargs = (unused_in(site.text(), *names) for names in (("args", "arguments"), ("kwargs", "keywords")))
    new = f'{jitted}.lower(*{args}, **{kwargs}).compiler_ir("hlo")'
    if _is_true(bound.get("return_shape")):
        new = f"({new}, {{jax.eval_shape}}({{fun}}, *{args}, **{kwargs}))"
    lambda_ = f"lambda *{args}, **{kwargs}: {new}"
    return Rewrite(_message(bound), REVIEW, (ReplaceExpr(site.node, Template(lambda_, pieces)),), requires="0.3.10")


@codemod.name_(*_OLD)
def as_a_value(site: NameSite) -> Reports:
    """Calls are handled above."""
    around = site.parent()
    partial = isinstance(around, ast.Call) and site.source.resolve(around.func) == "functools.partial"
    if isinstance(around, ast.Call) and (around.func is site.node or (partial and around.args[:1] == [site.node])):
        return None
    return Manual(f"xla_computation is passed on here: {_ADVICE}")
