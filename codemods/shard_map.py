"""`jax.experimental.shard_map.shard_map` is `jax.shard_map`, whose arguments are keywords and partly have other names.

https://docs.jax.dev/en/latest/notebooks/shard_map.html

The old function still works, all but `auto` (gone since 0.8.0), and is deprecated. `check_rep` is `check_vma`; where `auto` named
the axes of the mesh that are left to the compiler, `axis_names` names the others.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    UNSAFE,
    CallSite,
    Codemod,
    EditCall,
    Manual,
    NameSite,
    ReplaceText,
    Reports,
    Rewrite,
    Template,
    Unbindable,
)
from jaxmigrate.model import Severity
from jaxmigrate_codemods._pjit import function_body

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "shard-map",
    summary="shard_map of jax.experimental is jax.shard_map",
    since="0.6.1",
    deprecated="0.8.0",
    removed=None,
    link="https://docs.jax.dev/en/latest/notebooks/shard_map.html",
    words=frozenset({"shard_map"}),
    applicability=REVIEW,
    severity=Severity.LOW,
)

_OLD, _NEW = "jax.experimental.shard_map.shard_map", "jax.shard_map"
_NAMES = {"check_rep": "check_vma", "auto": "axis_names"}
_POSITIONS = ("f", "mesh", "in_specs", "out_specs", "check_rep", "auto")
_KNOWN = {*_POSITIONS, *_NAMES.values()}
_LOOPS = ("jax.lax.scan", "jax.lax.while_loop", "jax.lax.fori_loop")
_MESSAGE = "shard_map is jax.shard_map now"
_ADVICE = "write jax.shard_map(f, mesh=..., in_specs=..., out_specs=..., check_vma=...), with axis_names for what auto left out"


def use(site: NameSite) -> Reports:
    """A call changes together with its arguments; elsewhere the name alone changes."""
    call = site.parent()
    if site.quoted or _is_followed(site, call):
        return None
    if isinstance(call, ast.Call) and call.func is site.node:
        return _called(CallSite(site.source, call, site.settings, site.symbol), Template(f"{{{_NEW}}}"))
    if isinstance(call, ast.Call) and call.args[0:1] == [site.node] and site.source.resolve(call.func) == "functools.partial":
        return _called(CallSite(site.source, call, site.settings, site.symbol, partial=True), Template(f"{{{_NEW}}}"))
    doubt = "its mesh and specs are given by keyword, and neither check_rep nor auto, where it is called"
    seen = isinstance(call, ast.Call) and not (site.source.resolve(call.func) or "").startswith("inspect.")
    return Rewrite(f"{_MESSAGE}, assuming that {doubt}", REVIEW if seen else UNSAFE, ())


def _is_followed(site: NameSite, around: ast.AST | None) -> bool:
    """Whether the function gets one more name, by which its calls are known as well, or is only asked for."""
    if isinstance(around, (ast.Compare, ast.If, ast.UnaryOp)):
        return True
    if not isinstance(around, ast.Assign) or around.value is not site.node or len(around.targets) != 1:
        return False
    target = around.targets[0]
    return isinstance(target, ast.Name) and len(site.source.lookup(target.id, site.source.scope(target))[0]) == 1


codemod.rename(
    {_OLD: _NEW}, handler=use, passed_on="modules that take shard_map from here give mesh and specs by keyword, and no check_rep"
)


@codemod.call(_NEW)
def half_migrated(site: CallSite) -> Reports:
    """The new function with arguments of the old one."""
    if site.partial or not (len(site.positional()) > 1 or any(k.arg in _NAMES for k in site.node.keywords)):
        return None
    resolved = site.source.resolved(site.node.func)
    bindings = site.source.lookup(resolved.binding.name, site.source.scope(site.node))[0] if resolved is not None else []
    if len(bindings) > 1:  # of two imports, one for each version
        return None
    return replace(_called(site, None), severity=Severity.NORMAL)


@codemod.call(_OLD)
def auto_without_successor(site: CallSite) -> Reports:
    """For a target that lacks the new function, `auto` is more than deprecated."""
    auto = site.keyword("auto")
    if site.target_has(codemod.since) or auto is None:
        return None
    message = "auto is gone since JAX 0.8.0, and jax.shard_map, which has axis_names for it, came with 0.6.1: choose by version"
    return site.manual(message, auto.value, Severity.NORMAL)


@codemod.call(_OLD, _NEW)
def loops(site: CallSite) -> Reports:
    """Since 0.6.1 the check tells values that vary over the mesh from those that do not, by their types."""
    check = site.keyword("check_rep") or site.keyword("check_vma")
    off = check is not None and isinstance(check.value, ast.Constant) and check.value.value is False
    if not site.is_older_than("0.6.1") or off or not site.positional():
        return None
    body = function_body(site.source, site.positional()[0])
    calls = (node for node in ast.walk(body) if isinstance(node, ast.Call)) if body is not None else ()
    if not any(site.source.resolve(call.func) in _LOOPS for call in calls):
        return None
    return site.manual(
        "since JAX 0.6.1 what a loop in the mapped function carries must vary over the mesh from the start if it does later: "
        "jax.lax.pcast(start, axis, to='varying') makes it, and check_vma=False asks no questions",
        severity=Severity.LOW,
    )


def _called(site: CallSite, function: Template | None) -> Rewrite | Manual:
    try:
        return _edited(site, function)
    except Unbindable as error:
        return site.manual(f"not rewritten, {error}: {_ADVICE}", site.node)


def _edited(site: CallSite, function: Template | None) -> Rewrite:
    bound = site.bind(*_POSITIONS, *_NAMES.values(), optional=_KNOWN)
    if len(site.positional()) > len(_POSITIONS) or ("auto" in bound and "axis_names" in bound):
        raise Unbindable("its arguments are not those of shard_map")
    if (keyword := site.keyword("f")) is not None:
        return _function_by_position(site, keyword)
    shift = int(site.partial)
    names = enumerate(_POSITIONS[: len(site.positional())])
    to_keyword = {i + shift: _NAMES.get(name, name) for i, name in names if name != "f"}
    values: dict[str | int, Template] = {0: function} if function is not None and site.partial else {}
    rename, drop = dict(_NAMES), frozenset[str | int]()
    later, doubt = _bound_later(site, bound)
    doubts = [doubt] if doubt else []
    if "auto" in bound:
        key: str | int = "auto" if site.keyword("auto") else 5 + shift
        if _is_empty(site.source, bound["auto"]):
            drop = frozenset({key})
            del rename["auto"]
        else:
            values[key] = _axis_names(site, bound)
            doubts.append(f"that {site.text(bound['auto'])} does not name all axes of the mesh")
    change = EditCall(site.node, None if site.partial else function, rename, drop, to_keyword, values)
    if doubts:
        return Rewrite(f"{_MESSAGE}, assuming {' and '.join(doubts)}", REVIEW, (change, *later), at=site.node)
    return Rewrite(_MESSAGE, SAFE, (change, *later), at=site.node)


def _function_by_position(site: CallSite, keyword: ast.keyword) -> Rewrite:
    """``f=`` goes first, alone: the old function takes it by position as well."""
    if site.node.args[int(site.partial) :] or site.node.keywords[0] is not keyword:
        raise Unbindable("its function is given by keyword behind other arguments, and jax.shard_map takes it by position")
    start, end = site.source.offset(keyword.lineno, keyword.col_offset), site.source.span(keyword.value)[0]
    return Rewrite(f"{_MESSAGE}, and takes its function by position", SAFE, (ReplaceText(start, end, ""),), at=site.node)


def _is_empty(source: Source, auto: ast.expr) -> bool:
    """``frozenset()``, which was the default."""
    return isinstance(auto, ast.Call) and getattr(auto.func, "id", "") in ("frozenset", "set") and not auto.args


def _axis_names(site: CallSite, bound: dict[str, ast.expr]) -> Template:
    mesh = bound.get("mesh")
    if mesh is None or not site.source.is_pure(mesh):
        raise Unbindable("the mesh, whose axes without those of auto are its axis_names, has no name here")
    return Template("set({mesh}.axis_names) - {auto}", {"mesh": mesh, "auto": bound["auto"]})


def _bound_later(site: CallSite, bound: dict[str, ast.expr]) -> tuple[list[EditCall], str]:
    """What calls of a partial give it, with changes for those, and what is assumed of calls that are not seen."""
    parent = site.parent()
    if not site.partial or (isinstance(parent, ast.FunctionDef) and site.node in parent.decorator_list):
        return [], ""
    calls, complete = site.source.callers(site.node)
    for call in calls:
        if len(call.args) + len(site.positional()) > 1 or any(k.arg in ("f", "auto", None) for k in call.keywords):
            raise Unbindable(f"line {site.source.original_line(call)} gives it more")
    later = [EditCall(call, rename=_NAMES) for call in calls if any(k.arg in _NAMES for k in call.keywords)]
    seen = complete or {"mesh", "in_specs", "out_specs"} <= bound.keys()
    return later, "" if seen else "that it is given the rest by keyword, and neither check_rep nor auto"
