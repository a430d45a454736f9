"""What becomes of a place that sets or reads one of the flags, and the words for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from jaxmigrate.codemod import REVIEW, SAFE, Report, Reports, Rewrite, Site
from jaxmigrate.folding import Fold, fold, fold_operands

from . import _jax_array as flags

if TYPE_CHECKING:
    from jaxmigrate.names import Source

GONE = {
    flags.ARRAY: "every array is a jax.Array, and the flag is gone",
    flags.OUTPUT: "outputs are global jax.Arrays whatever the flag says, and the flag is gone",
}
ALWAYS_ON = "0.4.1"
"""From this release on arrays are jax.Array unless a flag says otherwise."""
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
PRESENCE = "asks whether JAX has the flag, which is false again since 0.4.14: decide without it; every array is a jax.Array"
_OWN_FLAG = "; this is taken to be the flag that JAX defined, not one of the program's own"


def settled(site: Site, setting: flags.Setting) -> Report | None:
    """What becomes of a place that sets a flag."""
    flag, changes = setting.flag, setting.changes
    if not site.target_has(ALWAYS_ON):
        return site.manual(_TOO_OLD.format(flag=flag))
    waits = flag == flags.ARRAY and _waits(site)
    if waits and site.settings.allowed >= REVIEW:
        return None
    restores = setting.value is not None and flags.reads_flag(site.source, setting.value) == flag
    if setting.on or restores:
        if not changes:
            return site.manual(f"remove it: {GONE[flag]}")
        return Rewrite(GONE[flag], REVIEW if setting.child or waits else SAFE, changes, requires=ALWAYS_ON)
    if flag == flags.ARRAY:
        return site.manual(_OFF if setting.on is False else _MAYBE_OFF)
    if changes and (setting.value is None or site.source.is_pure(setting.value)):
        return Rewrite(_LOCAL, REVIEW, changes, requires=ALWAYS_ON)
    return site.manual(_LOCAL)


def folded(site: Site, node: ast.expr, flag: str) -> Reports:
    """What becomes of the expression `node`, which reads a flag."""
    source = site.source
    if not site.target_has(ALWAYS_ON):
        return site.manual(_TOO_OLD.format(flag=flag))
    if _is_asked(source, node, flag):
        return None  # decided together with the hasattr
    waits = flag == flags.ARRAY and _waits(site)
    if waits and site.settings.allowed >= REVIEW:
        return None
    saved = _saved(source, node, flag)
    if saved is not None:
        return Rewrite(GONE[flag], REVIEW if waits else SAFE, (flags.delete(saved, flag),), requires=ALWAYS_ON)
    if flag == flags.OUTPUT and flags.knows_jax_array(source):
        return report(site, fold(source, node, False), flag, _NO_EFFECT)
    return report(site, fold(source, node, True), flag, GONE[flag], doubtful=waits)


def asked(site: Site, whole: ast.BoolOp, known: list[ast.expr], flag: str) -> Report:
    """What becomes of ``hasattr(config, flag) and config.flag``, the operands `known` of `whole`."""
    if flag == flags.OUTPUT and flags.knows_jax_array(site.source):
        return report(site, fold(site.source, known[-1], False), flag, _NO_EFFECT)
    return report(site, fold_operands(site.source, whole, known), flag, GONE[flag])


def _waits(site: Site) -> bool:
    """Whether a read of the older flag must be folded first: what it means hangs on the file's knowing about jax_array."""
    source = site.source
    reads = source.names(*(name for name, flag in flags.READS.items() if flag == flags.OUTPUT))
    return any(_is_open(source, node) for node in reads)


def _is_open(source: Source, node: ast.expr) -> bool:
    line = source.utf8[source.offset(node.lineno, 0) :].splitlines()[0]
    if b"jaxmigrate:" in line or not is_loaded(node):
        return False
    if source.guard(node) and not _is_asked(source, node, flags.OUTPUT):
        return False
    return _saved(source, node, flags.OUTPUT) is not None or bool(fold(source, node, False).changes)


def is_loaded(node: ast.expr) -> bool:
    """Whether it is an attribute that is read."""
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)


def is_and(node: ast.AST | None) -> TypeGuard[ast.BoolOp]:
    """Whether `node` is an ``and``."""
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)


def report(site: Site, fold_: Fold, flag: str, why: str, *, doubtful: bool = False) -> Report:
    """The finding for a fold, with its reservations."""
    if not fold_.changes:
        return site.manual(f"cannot hold any more: {why}")
    absl = site.symbol.startswith("absl.")
    doubtful = doubtful or bool(fold_.dropped) or fold_.literal or flag == flags.OUTPUT or absl
    message = why + (_OTHER_BRANCH if fold_.dropped and flag == flags.ARRAY else "") + (_OWN_FLAG if absl else "")
    return Rewrite(message, REVIEW if doubtful else SAFE, fold_.changes, requires=ALWAYS_ON)


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
    return flags.update_arguments(source, call, int(deferred)) == (flag, use)


def _is_asked(source: Source, node: ast.expr, flag: str) -> bool:
    """Whether `node` stands behind ``hasattr(config, flag) and``."""
    whole = source.parent(node)
    return is_and(whole) and any(_asks_presence(source, v, flag) for v in whole.values)


def _asks_presence(source: Source, node: ast.expr, flag: str) -> bool:
    if not isinstance(node, ast.Call) or not flags.asks_by_name(source, node, "hasattr"):
        return False
    name = node.args[1]
    return isinstance(name, ast.Constant) and name.value == flag
