"""`jax.experimental.export` is `jax.export`, which takes jitted functions and has methods where there were functions.

https://docs.jax.dev/en/latest/export/export.html#migration-guide-from-jax-experimental-export
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    AttributeSite,
    CallSite,
    Codemod,
    EditCall,
    Manual,
    NameSite,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate.registry import history
from jaxmigrate_codemods import _callbacks

_HOME = "jax.experimental.export"
_MODULE = f"{_HOME}.export"
"""A function of `_HOME` from 0.4.24 on, a module with the same names before."""

codemod = Codemod(
    "jax-export",
    summary="jax.experimental.export is jax.export: of jitted functions, with methods call and serialize",
    since="0.4.30",
    deprecated="0.4.30",
    removed="0.4.36",
    link="https://docs.jax.dev/en/latest/export/export.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)
_MOVES = history().moves("jax-export")
_SPECS = f"{_HOME}.args_specs"


def args_specs(site: NameSite) -> Reports:
    """Its successor has other parameters behind the first two."""
    call = site.parent()
    plain = isinstance(call, ast.Call) and call.func is site.node and len(call.args) == 2 and not call.keywords
    if plain and isinstance(call, ast.Call) and not any(isinstance(a, ast.Starred) for a in call.args):
        return None
    return site.manual("args_specs is jax.export.symbolic_args_specs(args, shapes_specs, constraints=(), scope=None) now")


codemod.rename({old: news for old, news in _MOVES.items() if old != _SPECS})
codemod.rename({_SPECS: _MOVES[_SPECS], f"{_MODULE}.args_specs": _MOVES[_SPECS]}, handler=args_specs)
codemod.rename({f"{_MODULE}.{old.rpartition('.')[2]}": news for old, news in _MOVES.items() if old != _SPECS})
_EARLY = "{old} became {new} with JAX 0.4.30, after the target {target}: choose by version"
_NEW = {
    "export": "jax.export.export",
    "call": "the method call",
    "call_exported": "the method call",
    "serialize": "the method serialize",
}


def _too_early(site: CallSite | NameSite) -> Manual | None:
    if site.target_has("0.4.30"):
        return None
    return site.manual(_EARLY.format(old=site.symbol, new=_NEW[site.symbol.rpartition(".")[2]], target=site.target))


@codemod.call(_MODULE, f"{_MODULE}.export")
def export(site: CallSite) -> Reports:
    """The function must be the result of jax.jit."""
    if site.partial:
        return site.manual("jax.export.export takes the result of jax.jit, and platforms= where this took lowering_platforms=")
    if early := _too_early(site):
        return early
    bound = site.bind("fun_jax", "lowering_platforms", "disabled_checks", optional=("lowering_platforms", "disabled_checks"))
    function = bound["fun_jax"]
    kind = _kind(site, function)
    values: dict[str | int, Template] = {}
    if kind == "plain":
        jitted = Template("{jax.jit}({f})", {"f": function})
        values = {0: jitted, "fun_jax": jitted}
    message = (
        "export lives in jax.export"
        + {
            "plain": " and takes the result of jax.jit",
            "jitted": "",
            "": f" and takes the result of jax.jit, which {site.text(function)} is assumed to be",
        }[kind]
    )
    change = EditCall(
        site.node,
        func=Template("{jax.export.export}"),
        rename={"lowering_platforms": "platforms", "fun_jax": "fun_jit"},
        values=values,
    )
    return Rewrite(message, SAFE if kind else REVIEW, (change,))


def _kind(site: CallSite, function: ast.expr) -> str:
    """``jitted``, ``plain``, or empty where the source does not show which."""
    if _callbacks.function_of(site.source, function) is not None:
        return "plain"
    value = site.source.value_of(function)
    if isinstance(value, ast.Call):
        made = site.source.resolve(value.func)
        return "jitted" if made in ("jax.jit", "jax.experimental.pjit.pjit") else ""
    if isinstance(function, ast.Name):
        bindings, _ = site.source.lookup(function.id, site.source.scope(function))
        node = bindings[0].node if len(bindings) == 1 else None
        names = {site.source.resolve(n) for d in getattr(node, "decorator_list", []) for n in ast.walk(d)}
        return "jitted" if "jax.jit" in names else ""
    return "plain" if (site.source.resolve(function) or "").startswith("jax.numpy.") else ""


@codemod.call(f"{_HOME}.call", f"{_HOME}.call_exported", f"{_MODULE}.call_exported")
def call(site: CallSite) -> Reports:
    """``call(exported)`` is the method ``exported.call``."""
    if site.partial:
        return site.manual("call became a method: exported.call")
    if early := _too_early(site):
        return early
    exported = site.bind("exported")["exported"]
    return Rewrite("call is a method of what was exported", SAFE, (site.replace("{exported}.call", exported=exported),))


@codemod.call(f"{_HOME}.serialize")
def serialize(site: CallSite) -> Reports:
    """``serialize(exported, vjp_order=1)`` is a method."""
    if site.partial:
        return site.manual("serialize became a method: exported.serialize()")
    if early := _too_early(site):
        return early
    bound = site.bind("exp", "vjp_order", optional=("vjp_order",))
    text = "{exp}.serialize(vjp_order={vjp_order})" if "vjp_order" in bound else "{exp}.serialize()"
    return Rewrite("serialize is a method of what was exported", SAFE, (site.replace(text, **bound),))


@codemod.name_(
    _MODULE, f"{_MODULE}.export", f"{_HOME}.call", f"{_HOME}.call_exported", f"{_MODULE}.call_exported", f"{_HOME}.serialize"
)
def as_a_value(site: NameSite) -> Reports:
    """Calls are handled above, and the module of that name by its members."""
    around = site.parent()
    if isinstance(around, ast.Attribute):
        return None
    if isinstance(around, ast.Call):
        partial = site.source.resolve(around.func) == "functools.partial" and around.args[:1] == [site.node]
        if partial or around.func is site.node:
            return None
    return Manual(f"{site.symbol.rpartition('.')[2]} is passed on here, and became {_NEW[site.symbol.rpartition('.')[2]]}")


_FIELDS = {
    "mlir_module_serialization_version": "calling_convention_version",
    "uses_shape_polymorphism": "uses_global_constants",
    "lowering_platforms": "platforms",
}


@codemod.attribute(*_FIELDS)
def field_(site: AttributeSite) -> Reports:
    """Fields of what was exported."""
    kind = site.receiver_type
    known = kind is not None and kind.endswith("export.Exported")
    related = kind is None and (site.source.mentions("Exported") or site.source.mentions("export"))
    if site.assignment or not (known or related) or not site.target_has("0.4.30"):
        return None
    new = _FIELDS[site.node.attr]
    message = f"{site.node.attr} of an Exported is {new} from 0.4.30 on"
    change = site.replace(f"{{x}}.{new}", x=site.value)
    if known:
        return Rewrite(message, SAFE, (change,), requires="0.4.30")
    return Rewrite(f"{message}; {site.text(site.value)} is taken to be one", REVIEW, (change,), requires="0.4.30")
