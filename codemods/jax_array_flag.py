"""The flags jax_array and jax_parallel_functions_output_gda are gone: drop what sets them, fold what reads them.

https://jax.readthedocs.io/en/latest/jax_array_migration.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    CallSite,
    Codemod,
    EditCall,
    FileSite,
    NameSite,
    Report,
    Reports,
    Rewrite,
    StringSite,
)

from . import _jax_array as flags
from . import _jax_array_outside as outside
from . import _jax_array_reports as reports

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "jax-array-flag",
    summary="jax_array is always on: drop what sets the flag, fold what reads it",
    since="0.4.1",
    deprecated="0.4.7",
    removed="0.4.14",
    link="https://jax.readthedocs.io/en/latest/jax_array_migration.html",
    words=frozenset({*flags.FLAGS, *flags.VARIABLES, *(f"no{flag}" for flag in flags.FLAGS)}),
    applicability=REVIEW,
)

_READ_OUTSIDE = "nothing in JAX reads {name} any more; every array is a jax.Array: decide without it"
_DOTTED = re.compile(r"jax(\._src)?(\.config)+\.(jax_array|jax_parallel_functions_output_gda)")
_REMOVE = "remove it: every array is a jax.Array, and nothing reads this any more"
codemod.text(rb"(?<![\w-])--(?:no)?(?:jax_array|jax_parallel_functions_output_gda)(?![\w-])", "JAX refuses this flag; " + _REMOVE)
codemod.text(rb"\b(?:JAX_ARRAY|JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA)\b", _REMOVE)


@codemod.call(*flags.UPDATES)
def update(site: CallSite) -> Reports:
    """``config.update("jax_array", ...)``."""
    setting = flags.update_setting(site.source, site.node, deferred=site.partial)
    if setting is None or (setting.on and flags.is_tried(site.source, site.node)):
        return None
    return reports.settled(site, setting)


@codemod.call(flags.MANAGER)
def manager(site: CallSite) -> Reports:
    """``with jax_array(True):``, also as a decorator or entered on an exit stack."""
    return reports.settled(site, flags.manager_setting(site.source, site.node))


@codemod.call("jax._src.test_util.with_config")
def with_config(site: CallSite) -> Iterator[Report]:
    """``@jtu.with_config(jax_array=True)``, as JAX's own tests and their copies have it."""
    for flag in flags.FLAGS:
        keyword = site.keyword(flag)
        if keyword is not None:
            drop = EditCall(site.node, drop=frozenset({flag}))
            found = reports.settled(site, flags.setting(site.source, flag, keyword.value, (drop,)))
            if found is not None:
                yield found


@codemod.name_(*flags.READS)
def read(site: NameSite) -> Reports:
    """``config.jax_array`` is true wherever it is read."""
    flag = flags.READS[site.symbol]
    if not reports.is_loaded(site.node):
        setting = flags.assignment_setting(site.source, site.node, flag)
        return reports.settled(site, setting) if setting else None
    if site.symbol.startswith("absl.") and outside.defines_own_flag(site.source, flag):
        return None
    return reports.folded(site, site.node, flag)


@codemod.string(*flags.FLAGS)
def flag_in_string(site: StringSite) -> Reports:
    """The flag's name as a string: getattr, hasattr, values[...], a deferred update, a loop over options."""
    source, parent = site.source, site.parent()
    if site.value not in flags.FLAGS:
        return _text(site)
    if isinstance(parent, (ast.Subscript, ast.Call)) and flags.reads_flag(source, parent) == site.value:
        return _read_by_name(site, parent)
    if isinstance(parent, ast.Call):
        return _presence(site, parent) if flags.asks_by_name(source, parent, "hasattr") else _in_call(site, parent)
    if isinstance(parent, ast.Compare):
        asks = any(source.resolve(c) in flags.VALUES for c in parent.comparators)
        return site.manual(reports.PRESENCE) if asks else None
    return _as_option(site, parent)


def _read_by_name(site: StringSite, node: ast.Subscript | ast.Call) -> Reports:
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return site.manual(f"remove it: {reports.GONE[site.value]}")
    if isinstance(node, ast.Call) and len(node.args) == 3 and flags.truth(node.args[2]):
        return None  # getattr(config, flag, True) is right already
    return reports.folded(site, node, site.value)


def _in_call(site: StringSite, call: ast.Call) -> Reports:
    source = site.source
    if source.resolve(call.func) in flags.UPDATES:
        return None
    if call.args and source.resolve(call.args[0]) in flags.UPDATES:
        setting = flags.update_setting(source, call, deferred=True)
        return reports.settled(site, setting) if setting and source.resolve(call.func) != "functools.partial" else None
    known = any(source.resolve(a) in (*flags.CONFIGS, *flags.NAMESPACES) for a in call.args)
    updates = isinstance(call.func, ast.Attribute) and call.func.attr == "update" and len(call.args) == 2
    if known or (updates and call.args[0] is site.node):
        return site.manual(f"if this is JAX's own configuration, remove it: {reports.GONE[site.value]}")
    return None


def _presence(site: StringSite, call: ast.expr) -> Reports:
    """``hasattr(config, "jax_array") and config.jax_array`` asks about the arrays; as a guard of updates it is right."""
    source, whole = site.source, site.source.parent(call)
    if reports.is_and(whole):
        reads = [v for v in whole.values if flags.reads_flag(source, v) == site.value]
        if reads and site.target_has("0.4.1"):
            return reports.asked(site, whole, [call, *reads], site.value)
    if isinstance(whole, ast.If) and whole.test is call and all(_updates(source, s) for s in whole.body):
        return None
    return site.manual(reports.PRESENCE)


def _updates(source: Source, statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and source.resolve(call.func) in flags.UPDATES


def _as_option(site: StringSite, parent: ast.AST | None) -> Reports:
    """The name in a display of options, which ``config.update(key, value)`` may get."""
    if isinstance(parent, (ast.List, ast.Tuple)):
        report = _in_loop(site, parent)
        if report is not None:
            return report
    shown = isinstance(parent, (ast.List, ast.Tuple, ast.Set)) or (isinstance(parent, ast.Dict) and site.node in parent.keys)
    if shown and any(_is_open_update(site.source, call) for call in site.source.calls(*flags.UPDATES)):
        return site.manual(f"if this reaches jax.config.update, remove it: {reports.GONE[site.value]}")
    return None


def _is_open_update(source: Source, call: ast.Call) -> bool:
    """Whether ``config.update`` gets a name that the source does not spell out."""
    first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("name", None)), None)
    return first is not None and not isinstance(source.value_of(first), ast.Constant)


def _in_loop(site: StringSite, options: ast.List | ast.Tuple) -> Reports:
    """``for option in ("jax_array", ...): config.update(option, True)``."""
    source, loop = site.source, site.source.parent(options)
    if not (isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)):
        return None
    name = loop.target.id
    for call in source.calls(*flags.UPDATES):
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Name) and first.id == name and loop in source.ancestors(call) and len(call.args) == 2:
            return reports.settled(site, flags.option_setting(source, site.node, call))
    return None


def _text(site: StringSite) -> Reports:
    setting = outside.argument_setting(site.source, site.node)
    if setting is not None:
        return None if outside.defines_own_flag(site.source, setting.flag) else reports.settled(site, setting)
    if _DOTTED.fullmatch(site.value) or outside.is_program(site.value, flags.FLAGS):
        return site.manual(f"names the flag in a string: {reports.GONE[flags.ARRAY]}")
    if outside.in_command(site.source, site.node, outside.ARGUMENT):
        return site.manual(f"remove the flag from the command: {reports.GONE[flags.ARRAY]}")
    return None


@codemod.string(*flags.VARIABLES)
def variable(site: StringSite) -> Reports:
    """``os.environ["JAX_ARRAY"] = "1"`` and the other ways to set, ask for and clear the variable."""
    source = site.source
    if site.value not in flags.VARIABLES:
        setting = outside.argument_setting(source, site.node)
        if setting is not None:
            return reports.settled(site, setting)
        found = outside.in_command(source, site.node, outside.ASSIGNMENT) or outside.is_program(site.value, flags.VARIABLES)
        return site.manual(f"remove the variable from the command: {reports.GONE[flags.ARRAY]}") if found else None
    setting = outside.variable_setting(source, site.node)
    if setting is not None:
        return reports.settled(site, _unless_read(source, site.value, setting))
    cleared = outside.clearing(source, site.node)
    if cleared is not None:
        known = any(c.value == site.value and outside.variable_setting(source, c) for c in source.strings)
        changes = (flags.delete(cleared, site.value),)
        gone = reports.GONE[flags.VARIABLES[site.value]]
        return Rewrite(gone, SAFE if known else REVIEW, changes, requires=reports.ALWAYS_ON)
    return site.manual(_READ_OUTSIDE.format(name=site.value)) if outside.reads_variable(source, site.node) else None


def _unless_read(source: Source, name: str, setting: flags.Setting) -> flags.Setting:
    """A variable that the file itself reads stays set."""
    return replace(setting, changes=()) if outside.is_read(source, name) else setting


@codemod.file
def variable_by_keyword(site: FileSite) -> Iterator[Report]:
    """``dict(os.environ, JAX_ARRAY="1")``."""
    for keyword, setting in outside.keyword_settings(site.source):
        assert keyword.arg is not None
        report = reports.settled(site, _unless_read(site.source, keyword.arg, setting))
        if report is not None:
            yield replace(report, at=keyword)
