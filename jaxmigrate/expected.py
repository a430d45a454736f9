"""Tests that expect a use to fail: ``with pytest.raises(AttributeError): jax.old(x)`` asserts that the name is gone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.scan import last_part

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_RAISES = {"raises", "assertRaises", "assertRaisesRegex"}
_WARNS = {"warns", "assertWarns", "assertWarnsRegex"}
_OF_ABSENCE = {"AttributeError", "ImportError", "ModuleNotFoundError"}
_OF_ARGUMENTS = {"TypeError"}
_OF_AGE = {"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"}


EXPECTED = "the code asserts that it fails"


def is_expected(source: Source, node: ast.AST, symbol: str, raises: frozenset[str] = frozenset()) -> bool:
    """Whether the code asserts that the very use at `node` fails: as a name that is gone, or by its arguments.

    `raises` is what else the use is known to raise.
    """
    is_gone = source.is_dead(symbol or None)
    errors = (_OF_ABSENCE if is_gone else _OF_ARGUMENTS) | raises
    return any(_asserts(call, errors, is_gone) for call in _around(source, node))


def _around(source: Source, node: ast.AST) -> list[ast.Call]:
    """The calls that assert how a statement or lambda of which `node` is all ends."""
    whole = _whole(source, node)
    parent = source.parent(whole)
    if isinstance(parent, ast.Lambda):
        call = source.parent(parent)
        return [call] if isinstance(call, ast.Call) and call.func is not parent else []
    if isinstance(parent, ast.Call) and whole in parent.args:  # pytest.raises(TypeError, jnp.clip, x, a_min=0)
        return [parent]
    statement = whole if isinstance(whole, ast.stmt) else parent
    block = source.parent(statement) if isinstance(statement, ast.stmt) else None
    if not isinstance(block, (ast.With, ast.AsyncWith)) or block.body != [statement]:
        return []
    return [call for item in block.items if isinstance(call := item.context_expr, ast.Call)]


def _whole(source: Source, node: ast.AST) -> ast.AST:
    """The call of which `node` is an argument or the callee, with what is read of it."""
    parent = source.parent(node)
    if isinstance(parent, ast.Call) and not _is_assertion(parent) and _is_refused(source, node, parent):
        return parent
    while isinstance(parent, (ast.Call, ast.Attribute, ast.Subscript)) and node in (
        getattr(parent, "func", None),
        getattr(parent, "value", None),
    ):
        node, parent = parent, source.parent(parent)
    return node


def _is_refused(source: Source, node: ast.AST, call: ast.Call) -> bool:
    """Whether `node` is an argument that the call may refuse, and not a use of the library in itself."""
    if not isinstance(node, ast.expr):
        return isinstance(node, ast.keyword)
    return node in call.args and not isinstance(node, ast.Call) and source.resolve(node) is None


def _is_assertion(call: ast.Call) -> bool:
    return last_part(call.func) in _RAISES | _WARNS


def _asserts(call: ast.Call, errors: set[str], is_gone: bool) -> bool:
    name = last_part(call.func)
    kinds = call.args[0].elts if call.args and isinstance(call.args[0], ast.Tuple) else call.args[:1]
    expected = {last_part(kind) for kind in kinds}
    if name in _RAISES:
        return bool(expected) and expected <= errors
    of_age = name == "deprecated_call" or "Deprecation" in name or (name in _WARNS and bool(expected) and expected <= _OF_AGE)
    return of_age and not is_gone
