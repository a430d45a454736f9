"""How programs spell the flags jax_array and jax_parallel_functions_output_gda: names, values, command lines, environment."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Change, DeleteStatement, KeepBlock, ReplaceExpr, ReplaceText, Template
from jaxmigrate.folding import remove_decorator, remove_element

if TYPE_CHECKING:
    from jaxmigrate.names import Source

ARRAY, OUTPUT = "jax_array", "jax_parallel_functions_output_gda"
FLAGS = (ARRAY, OUTPUT)
VARIABLES = {flag.upper(): flag for flag in FLAGS}
CONFIGS = ("jax.config", "jax.config.config", "jax._src.config.config", "jax._src.config.flags")
NAMESPACES = (*(f"{c}.FLAGS" for c in CONFIGS), "jax._src.config.FLAGS", "jax.config.flags.FLAGS", "absl.flags.FLAGS")
UPDATES = tuple(f"{c}.update" for c in CONFIGS)
READS = {f"{base}.{flag}": flag for base in (*CONFIGS, *NAMESPACES) for flag in FLAGS}
READERS = tuple(f"{c}.{name}" for c in CONFIGS for name in ("_read", "read"))
VALUES = tuple(f"{c}.values" for c in CONFIGS)
MANAGER = "jax._src.config.jax_array"

_UNKNOWN_FLAG = frozenset({"AttributeError", "Exception", "BaseException"})
_TRUE = frozenset({"y", "yes", "t", "true", "on", "1"})
_FALSE = frozenset({"n", "no", "f", "false", "off", "0"})


@dataclass(frozen=True, slots=True)
class Setting:
    """A place that switches a flag."""

    flag: str
    value: ast.expr | None
    """The new value, if it is an expression of its own."""
    on: bool | None
    """What it is switched to, as far as the source says."""
    changes: tuple[Change, ...]
    """Take the place away; empty where that is not possible."""
    child: bool = False
    """It is meant for another program that this one starts."""


def setting(source: Source, flag: str, value: ast.expr | None, changes: tuple[Change, ...], *, child: bool = False) -> Setting:
    value = source.value_of(value) if value is not None else None
    return Setting(flag, value, truth(value), changes, child)


def truth(node: ast.expr | None) -> bool | None:
    """What a constant switches the flag to (strings as JAX reads them); None for anything else."""
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, str):
        return word_truth(node.value)
    return bool(node.value) if isinstance(node.value, int) else None


def word_truth(word: str) -> bool | None:
    """What a word of the environment or the command line switches the flag to."""
    low = word.lower()
    return True if low in _TRUE else False if low in _FALSE else None


def update_arguments(source: Source, call: ast.Call, shift: int) -> tuple[str, ast.expr] | None:
    """The flag and the value in the arguments ``(flag, value)`` that follow the first `shift` ones."""
    given = dict(zip(("name", "val"), call.args[shift:], strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
    if set(given) != {"name", "val"}:
        return None
    name = source.value_of(given["name"])
    if isinstance(name, ast.Constant) and name.value in FLAGS:
        return str(name.value), given["val"]
    return None


def update_setting(source: Source, call: ast.Call, *, deferred: bool = False) -> Setting | None:
    """``config.update(flag, value)``; deferred: ``register(config.update, flag, value)``."""
    bound = update_arguments(source, call, int(deferred))
    if bound is None:
        return None
    changes = drop_statement(source, call, bound[0])
    if not changes and not deferred:
        changes = (ReplaceExpr(call, Template("None")),)
    return setting(source, *bound, changes)


def assignment_setting(source: Source, node: ast.expr, flag: str) -> Setting | None:
    """``config.jax_array = value``, which JAX never meant to be the way."""
    assign = source.parent(node)
    if not isinstance(assign, ast.Assign):
        return None
    return setting(source, flag, assign.value, (delete(assign, flag),) if len(assign.targets) == 1 else ())


def manager_setting(source: Source, call: ast.Call) -> Setting:
    """``with jax_array(value):``, also as a decorator or entered on an exit stack."""
    value = call.args[0] if len(call.args) == 1 and not call.keywords else None
    return setting(source, ARRAY, value, _leave_manager(source, call))


def _leave_manager(source: Source, call: ast.Call) -> tuple[Change, ...]:
    parent = source.parent(call)
    if isinstance(parent, ast.withitem):
        return _leave_with(source, parent)
    if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return (remove_decorator(source, call),)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "enter_context":
        return drop_statement(source, parent)
    return ()


def _leave_with(source: Source, item: ast.withitem) -> tuple[Change, ...]:
    statement = source.parent(item)
    if not isinstance(statement, ast.With) or item.optional_vars is not None:
        return ()
    if len(statement.items) == 1:
        return (KeepBlock(statement, "body"),)
    at = statement.items.index(item)
    start, end = source.span(item.context_expr)
    if at + 1 < len(statement.items):
        return (ReplaceText(start, source.span(statement.items[at + 1].context_expr)[0], ""),)
    before = statement.items[at - 1]
    return (ReplaceText(source.span(before.optional_vars or before.context_expr)[1], end, ""),)


def drop_statement(source: Source, node: ast.expr, flag: str = ARRAY) -> tuple[Change, ...]:
    """Delete the statement that consists of `node`; nothing when it is part of another."""
    statement = source.parent(node)
    return (delete(statement, flag),) if isinstance(statement, ast.Expr) else ()


def delete(statement: ast.stmt, flag: str) -> DeleteStatement:
    """Delete a statement about a flag, and the comment above it when it names the flag."""
    return DeleteStatement(statement, about=(flag, flag.upper()))


def knows_jax_array(source: Source) -> bool:
    """Whether the file says anything about the flag jax_array."""
    if any(node.value == ARRAY for node in source.strings):
        return True
    return bool(source.names(MANAGER, *(name for name, flag in READS.items() if flag == ARRAY)))


def reads_flag(source: Source, node: ast.expr) -> str | None:
    """The flag that this expression reads, if any."""
    if isinstance(node, ast.Attribute):
        return READS.get(source.resolve(node) or "")
    name: ast.expr | None = None
    if isinstance(node, ast.Subscript) and source.resolve(node.value) in VALUES:
        name = node.slice
    elif isinstance(node, ast.Call) and source.resolve(node.func) in READERS and len(node.args) == 1:
        name = node.args[0]
    elif isinstance(node, ast.Call) and asks_by_name(source, node, "getattr"):
        name = node.args[1]
    return str(name.value) if isinstance(name, ast.Constant) and name.value in FLAGS else None


def asks_by_name(source: Source, call: ast.AST | None, function: str) -> bool:
    """Whether `call` is ``getattr(config, name, ...)`` (or hasattr) on JAX's configuration."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == function and len(call.args) > 1):
        return False
    return source.resolve(call.args[0]) in (*CONFIGS, *NAMESPACES)


def option_setting(source: Source, option: ast.Constant, update: ast.Call) -> Setting:
    """One of the options that a loop hands to ``config.update(option, value)``."""
    change = remove_element(source, option)
    return setting(source, str(option.value), update.args[1], (change,) if change else ())


def is_tried(source: Source, node: ast.AST) -> bool:
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
