"""Translation rules to XLA become lowering rules of `jax.interpreters.mlir`.

A rule that `lower_fun` makes of a function is made by the `lower_fun` there; one that builds XLA operations by hand must be
written anew, unless the file registers a lowering of the primitive beside it.
https://docs.jax.dev/en/latest/jax-primitives.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    CallSite,
    Codemod,
    DeleteStatement,
    NameSite,
    Piece,
    ReplaceStatement,
    Reports,
    Rewrite,
    Site,
    Template,
)

_HOMES = ("jax.interpreters.xla", "jax.xla")
_TABLES = ("translations", "translations_with_avals", "call_translations", "initial_style_translations", "parallel_translations")
_LOWERING = "jax.interpreters.mlir.register_lowering"

codemod = Codemod(
    "xla-translations",
    summary="translation rules to XLA become lowering rules of jax.interpreters.mlir",
    since="0.2.26",
    deprecated="0.4.16",
    removed="0.4.29",
    link="https://docs.jax.dev/en/latest/jax-primitives.html",
    words=frozenset({"register_translation", "translations", *_TABLES, "backend_specific_translations"}),
    applicability=REVIEW,
)
_BESIDE = "the lowering that is registered for {primitive} in this file is what JAX uses: its translation to XLA goes"
_ADVICE = (
    "{register}({primitive}, rule{platform}), where the rule takes (ctx, *values) and builds StableHLO; mlir.lower_fun(f, "
    "multiple_results=..) makes one of a function of JAX (docs.jax.dev/en/latest/jax-primitives.html)"
)


@codemod.call(*(f"{home}.register_translation" for home in _HOMES))
def register_translation(site: CallSite) -> Reports:
    """``register_translation(p, rule, platform="cpu")``."""
    if site.partial:
        return site.manual(_ADVICE.format(register=_LOWERING, primitive="primitive", platform=""))
    optional = ("platform", "is_collective", "initial_style")
    bound = site.bind("prim", "rule", *optional, optional=optional)
    platform = bound.get("platform")
    if isinstance(platform, ast.Constant) and platform.value is None:
        platform = None
    statement = site.parent()
    return _registered(site, statement, bound["prim"], bound["rule"], platform)


@codemod.name_(*(f"{home}.{table}" for home in _HOMES for table in (*_TABLES, "backend_specific_translations")))
def table(site: NameSite) -> Reports:
    """``translations[p] = rule`` and ``backend_specific_translations["cpu"][p] = rule``."""
    around, platform = site.parent(), None
    specific = site.symbol.endswith("backend_specific_translations")
    if specific and isinstance(around, ast.Subscript) and around.value is site.node:
        platform, around = around.slice, site.source.parent(around)
    inner = site.source.parent(around) if isinstance(around, ast.Subscript) else None
    if (
        isinstance(around, ast.Subscript)
        and isinstance(inner, ast.Assign)
        and inner.targets == [around]
        and (platform or not specific)
    ):
        return _registered(site, inner, around.slice, inner.value, platform)
    return site.manual(_ADVICE.format(register=_LOWERING, primitive="primitive", platform=", platform=.." if specific else ""))


def _registered(site: Site, statement: ast.AST | None, primitive: ast.expr, rule: ast.expr, platform: ast.expr | None) -> Reports:
    """One rule for one primitive."""
    alone = isinstance(statement, (ast.Assign, ast.Expr))
    if alone and isinstance(statement, ast.stmt) and _is_lowered_beside(site, primitive, platform):
        return Rewrite(_BESIDE.format(primitive=site.text(primitive)), REVIEW, (DeleteStatement(statement),))
    made = _made_of(site, rule)
    pieces: dict[str, Piece] = {"p": primitive}
    suffix = ""
    if platform is not None:
        pieces["platform"], suffix = platform, ", platform={platform}"
    if made is None or not alone or not isinstance(statement, ast.stmt):
        text = site.text(primitive)
        shown = "" if platform is None else f", platform={site.text(platform)}"
        return site.manual(_ADVICE.format(register=_LOWERING, primitive=text, platform=shown))
    pieces["f"], multiple = made
    pieces["multiple"] = multiple
    new = f"{{{_LOWERING}}}({{p}}, {{jax.interpreters.mlir.lower_fun}}({{f}}, multiple_results={{multiple}}){suffix})"
    return Rewrite(
        "a rule made of a function lowers it through MLIR", SAFE, (ReplaceStatement(statement, Template(new, pieces)),)
    )


def _is_lowered_beside(site: Site, primitive: ast.expr, platform: ast.expr | None) -> bool:
    """Whether the file registers a lowering for the same primitive and platform: a translation for one beat one for all."""
    return any(
        site.text(p) == site.text(primitive) and _is_same(other, platform)
        for p, other in _lowerings(site)
        if site.source.function(p) is site.source.function(primitive)
    )


def _is_same(one: ast.expr | None, other: ast.expr | None) -> bool:
    return one is other if one is None or other is None else ast.dump(one) == ast.dump(other)


def _lowerings(site: Site) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    for call in site.source.calls(_LOWERING):
        platform = next((k.value for k in call.keywords if k.arg == "platform"), call.args[2] if len(call.args) > 2 else None)
        if call.args and not site.source.guard(call):
            yield call.args[0], platform


def _made_of(site: Site, rule: ast.expr) -> tuple[Piece, Piece] | None:
    """The function that ``xla.lower_fun`` makes a rule of, and whether it has several results."""
    value = site.source.value_of(rule)
    if not isinstance(value, ast.Call) or site.source.resolve(value.func) not in {f"{home}.lower_fun" for home in _HOMES}:
        return None
    keywords = {k.arg: k.value for k in value.keywords}
    multiple = keywords.get("multiple_results", value.args[1] if len(value.args) > 1 else None)
    known = keywords.keys() <= {"multiple_results", "new_style"} and 0 < len(value.args) <= 2
    if not known or multiple is None or any(isinstance(a, ast.Starred) for a in value.args) or value is not rule:
        return None
    return value.args[0], multiple
