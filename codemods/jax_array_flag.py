"""The flags jax_array and jax_parallel_functions_output_gda are gone: drop what sets them, fold what reads them.

https://jax.readthedocs.io/en/latest/jax_array_migration.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    CallSite,
    Codemod,
    FileSite,
    NameSite,
    Report,
    Reports,
    Rewrite,
    Site,
    StringSite,
)
from jaxmigrate.folding import Fold, fold, fold_operands
from jaxmigrate_codemods import _jax_array as flags
from jaxmigrate_codemods import _jax_array_outside as outside

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

_GONE = {
    flags.ARRAY: "every array is a jax.Array, and the flag is gone",
    flags.OUTPUT: "outputs are global jax.Arrays whatever the flag says, and the flag is gone",
}
_OFF = (
    "asks for the array types that jax.Array replaced, which no longer exist (the guide allowed it until March 2023, to find "
    "out whether jax.Array broke a program): delete it and migrate what needed it"
)
_MAYBE_OFF = "the flag is gone: delete this; where the value was false, the old array types were asked for, which no longer exist"
_LOCAL = (
    "outputs are global jax.Arrays, and the flag is gone; where several processes run this, "
    "multihost_utils.global_array_to_host_local_array gives the part of this process"
)
_TOO_OLD = (
    "on JAX before 0.4.1 the flag is off unless asked for, and JAX 0.4.26 and later refuse it: raise the target to 0.4.1, or "
    "guard this place with hasattr(jax.config, {flag!r})"
)
_OTHER_BRANCH = "; the branch that goes ran where the flag was off (the default before JAX 0.4.1)"
_NO_EFFECT = "had no effect once jax_array was on, and the flag is gone: outputs are global jax.Arrays, never GlobalDeviceArrays"
_PRESENCE = "asks whether JAX has the flag, which is false again since 0.4.14: decide without it; every array is a jax.Array"
_READ_OUTSIDE = "nothing in JAX reads {name} any more; every array is a jax.Array: decide without it"
_OWN_FLAG = "; this is taken to be the flag that JAX defined, not one of the program's own"
_UNKNOWN_FLAG = frozenset({"AttributeError", "Exception", "BaseException"})
_DOTTED = re.compile(r"jax(\._src)?(\.config)+\.(jax_array|jax_parallel_functions_output_gda)")


_REMOVE = "remove it: every array is a jax.Array, and nothing reads this any more"
codemod.text(rb"(?<![\w-])--(?:no)?(?:jax_array|jax_parallel_functions_output_gda)(?![\w-])", "JAX refuses this flag; " + _REMOVE)
codemod.text(rb"\b(?:JAX_ARRAY|JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA)\b", _REMOVE)


def _settled(site: Site, setting: flags.Setting) -> Report | None:
    """What becomes of a place that sets a flag."""
    flag, changes = setting.flag, setting.changes
    if not site.target_has("0.4.1"):
        return site.manual(_TOO_OLD.format(flag=flag))
    if flag == flags.ARRAY and _undecided(site):
        return None
    restores = setting.value is not None and flags.reads_flag(site.source, setting.value) == flag
    if setting.on or restores:
        if not changes:
            return site.manual(f"remove it: {_GONE[flag]}")
        return Rewrite(_GONE[flag], REVIEW if setting.child else SAFE, changes)
    if flag == flags.ARRAY:
        return site.manual(_OFF if setting.on is False else _MAYBE_OFF)
    if changes and (setting.value is None or site.source.is_pure(setting.value)):
        return Rewrite(_LOCAL, REVIEW, changes)
    return site.manual(_LOCAL)


@codemod.call(*flags.UPDATES)
def update(site: CallSite) -> Reports:
    """``config.update("jax_array", ...)``."""
    setting = flags.update_setting(site.source, site.node, deferred=site.partial)
    if setting is None or (setting.on and _is_tried(site.source, site.node)):
        return None
    return _settled(site, setting)


def _is_tried(source: Source, node: ast.AST) -> bool:
    """Whether an unknown flag is already reckoned with: ``try: config.update(...)`` and ``except AttributeError``."""
    child = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.Try) and child in ancestor.body:
            return any(_catches_unknown_flag(handler) for handler in ancestor.handlers)
        if isinstance(ancestor, ast.With) and any(_suppresses(source, item.context_expr) for item in ancestor.items):
            return True
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        child = ancestor
    return False


def _suppresses(source: Source, manager: ast.expr) -> bool:
    """Whether it is ``contextlib.suppress(AttributeError)`` or wider."""
    if not isinstance(manager, ast.Call) or source.resolve(manager.func) != "contextlib.suppress":
        return False
    return any(getattr(kind, "id", "") in _UNKNOWN_FLAG for kind in manager.args)


def _catches_unknown_flag(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(k is None or getattr(k, "id", "") in _UNKNOWN_FLAG for k in kinds)


@codemod.call(flags.MANAGER)
def manager(site: CallSite) -> Reports:
    """``with jax_array(True):``, also as a decorator or entered on an exit stack."""
    return _settled(site, flags.manager_setting(site.source, site.node))


@codemod.name_(*flags.READS)
def read(site: NameSite) -> Reports:
    """``config.jax_array`` is true wherever it is read."""
    flag = flags.READS[site.symbol]
    if not _is_loaded(site.node):
        setting = flags.assignment_setting(site.source, site.node, flag)
        return _settled(site, setting) if setting else None
    if site.symbol.startswith("absl.") and outside.defines_own_flag(site.source, flag):
        return None
    return _folded(site, site.node, flag)


def _folded(site: Site, node: ast.expr, flag: str) -> Reports:
    source, whole = site.source, site.source.parent(node)
    if not site.target_has("0.4.1"):
        return site.manual(_TOO_OLD.format(flag=flag))
    if _is_and(whole) and any(_asks_presence(source, v, flag) for v in whole.values):
        return None  # decided together with the hasattr
    saved = _saved(source, node, flag)
    if saved is not None:
        return Rewrite(_GONE[flag], SAFE, (flags.delete(saved, flag),))
    if flag == flags.OUTPUT and flags.knows_jax_array(source):
        return _report(site, fold(source, node, False), flag, _NO_EFFECT)
    if flag == flags.ARRAY and _undecided(site):
        return None
    return _report(site, fold(source, node, True), flag, _GONE[flag])


def _undecided(site: Site) -> bool:
    """Whether a read of the other flag must be folded first: what it means hangs on the file's knowing about jax_array."""
    if site.settings.allowed < REVIEW:
        return False
    source = site.source
    reads = source.names(*(name for name, flag in flags.READS.items() if flag == flags.OUTPUT))
    return any(_is_open(source, node) for node in reads)


def _is_open(source: Source, node: ast.expr) -> bool:
    line = source.utf8[source.offset(node.lineno, 0) :].splitlines()[0]
    if source.guard(node) or b"jaxmigrate:" in line or not _is_loaded(node):
        return False
    return _saved(source, node, flags.OUTPUT) is not None or bool(fold(source, node, False).changes)


def _is_loaded(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)


def _is_and(node: ast.AST | None) -> TypeGuard[ast.BoolOp]:
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)


def _report(site: Site, folded: Fold, flag: str, why: str) -> Report:
    if not folded.changes:
        return site.manual(f"cannot hold any more: {why}")
    absl = site.symbol.startswith("absl.")
    doubtful = folded.dropped or folded.literal or flag == flags.OUTPUT or absl
    message = why + (_OTHER_BRANCH if folded.dropped and flag == flags.ARRAY else "") + (_OWN_FLAG if absl else "")
    return Rewrite(message, REVIEW if doubtful else SAFE, folded.changes)


def _saved(source: Source, node: ast.expr, flag: str) -> ast.stmt | None:
    """The assignment, when it keeps the flag's value only to put it back later."""
    assign = source.parent(node)
    if not isinstance(assign, ast.Assign) or len(assign.targets) != 1:
        return None
    target = assign.targets[0]
    if isinstance(target, ast.Name) and target.id in source.index.consumed.get(source.module, ()):
        return None
    uses = list(_uses(source, target))
    return assign if uses and all(_restores(source, use, flag) for use in uses) else None


def _uses(source: Source, target: ast.expr) -> Iterator[ast.expr]:
    """The other places that name the variable or attribute `target`."""
    if isinstance(target, ast.Name):
        scope = source.lookup(target.id, source.scope(target))[1]
        same = (n for n in source.by_id.get(target.id, ()) if source.lookup(n.id, source.scope(n))[1] is scope)
        yield from (n for n in same if n is not target)
    elif isinstance(target, ast.Attribute):
        yield from (a for a in source.by_attribute.get(target.attr, ()) if a is not target)
    else:
        yield target


def _restores(source: Source, use: ast.expr, flag: str) -> bool:
    """Whether `use` is the value in ``config.update(flag, use)``, called here or handed to something that calls it later."""
    call = source.parent(use)
    call = source.parent(call) if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or flags.reads_flag(source, source.value_of(use)) != flag:
        return False
    deferred = bool(call.args) and source.resolve(call.args[0]) in flags.UPDATES
    if not deferred and source.resolve(call.func) not in flags.UPDATES:
        return False
    return bool(flags.update_arguments(source, call, int(deferred)) == (flag, use))


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
        return site.manual(_PRESENCE) if asks else None
    return _as_option(site, parent)


def _read_by_name(site: StringSite, node: ast.Subscript | ast.Call) -> Reports:
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return site.manual(f"remove it: {_GONE[site.value]}")
    if isinstance(node, ast.Call) and len(node.args) == 3 and flags.truth(node.args[2]):
        return None  # getattr(config, flag, True) is right already
    return _folded(site, node, site.value)


def _in_call(site: StringSite, call: ast.Call) -> Reports:
    source = site.source
    if source.resolve(call.func) in flags.UPDATES:
        return None
    if call.args and source.resolve(call.args[0]) in flags.UPDATES:
        setting = flags.update_setting(source, call, deferred=True)
        return _settled(site, setting) if setting and source.resolve(call.func) != "functools.partial" else None
    known = any(source.resolve(a) in (*flags.CONFIGS, *flags.NAMESPACES) for a in call.args)
    updates = isinstance(call.func, ast.Attribute) and call.func.attr == "update" and len(call.args) == 2
    if known or (updates and call.args[0] is site.node):
        return site.manual(f"if this is JAX's own configuration, remove it: {_GONE[site.value]}")
    return None


def _asks_presence(source: Source, node: ast.expr, flag: str) -> bool:
    if not isinstance(node, ast.Call) or not flags.asks_by_name(source, node, "hasattr"):
        return False
    name = node.args[1]
    return isinstance(name, ast.Constant) and name.value == flag


def _presence(site: StringSite, call: ast.expr) -> Reports:
    """``hasattr(config, "jax_array") and config.jax_array`` asks about the arrays; as a guard of updates it is right."""
    source, whole = site.source, site.source.parent(call)
    if _is_and(whole):
        reads = [v for v in whole.values if flags.reads_flag(source, v) == site.value]
        if reads and site.target_has("0.4.1"):
            return _report(site, fold_operands(source, whole, [call, *reads]), site.value, _GONE[site.value])
    if isinstance(whole, ast.If) and whole.test is call and all(_updates(source, s) for s in whole.body):
        return None
    return site.manual(_PRESENCE)


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
        return site.manual(f"if this reaches jax.config.update, remove it: {_GONE[site.value]}")
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
            return _settled(site, flags.option_setting(source, site.node, call))
    return None


def _text(site: StringSite) -> Reports:
    setting = outside.argument_setting(site.source, site.node)
    if setting is not None:
        return None if outside.defines_own_flag(site.source, setting.flag) else _settled(site, setting)
    if _DOTTED.fullmatch(site.value) or outside.is_program(site.value, flags.FLAGS):
        return site.manual(f"names the flag in a string: {_GONE[flags.ARRAY]}")
    if outside.in_command(site.source, site.node, outside.ARGUMENT):
        return site.manual(f"remove the flag from the command: {_GONE[flags.ARRAY]}")
    return None


@codemod.string(*flags.VARIABLES)
def variable(site: StringSite) -> Reports:
    """``os.environ["JAX_ARRAY"] = "1"`` and the other ways to set, ask for and clear the variable."""
    source = site.source
    if site.value not in flags.VARIABLES:
        setting = outside.argument_setting(source, site.node)
        if setting is not None:
            return _settled(site, setting)
        found = outside.in_command(source, site.node, outside.ASSIGNMENT) or outside.is_program(site.value, flags.VARIABLES)
        return site.manual(f"remove the variable from the command: {_GONE[flags.ARRAY]}") if found else None
    setting = outside.variable_setting(source, site.node)
    if setting is not None:
        return _settled(site, _unless_read(source, site.value, setting))
    cleared = outside.clearing(source, site.node)
    if cleared is not None:
        known = any(c.value == site.value and outside.variable_setting(source, c) for c in source.strings)
        return Rewrite(_GONE[flags.VARIABLES[site.value]], SAFE if known else REVIEW, (flags.delete(cleared, site.value),))
    return site.manual(_READ_OUTSIDE.format(name=site.value)) if outside.reads_variable(source, site.node) else None


def _unless_read(source: Source, name: str, setting: flags.Setting) -> flags.Setting:
    """A variable that the file itself reads stays set."""
    return replace(setting, changes=()) if outside.is_read(source, name) else setting


@codemod.file
def variable_by_keyword(site: FileSite) -> Iterator[Report]:
    """``dict(os.environ, JAX_ARRAY="1")``."""
    for keyword, setting in outside.keyword_settings(site.source):
        assert keyword.arg is not None
        report = _settled(site, _unless_read(site.source, keyword.arg, setting))
        if report is not None:
            yield replace(report, at=keyword)
