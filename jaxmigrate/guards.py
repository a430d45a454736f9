"""What stands around an import: conditions, handlers, ``TYPE_CHECKING``; and which imports reach which places."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.scan import last_part

if TYPE_CHECKING:
    from jaxmigrate.names import Binding, Source

_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "Exception", "BaseException"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def is_placeholder(source: Source, binding: Binding) -> bool:
    """Whether a binding only stands in for a failed import: ``except ImportError: jax = None``, or is no value at all."""
    if binding.kind in ("declare", "del"):
        return True
    if binding.kind != "assign" or binding.value is None or not is_empty(binding.value):
        return False
    return any(isinstance(a, ast.ExceptHandler) for a in source.ancestors(binding.node))


def first_living(source: Source, imports: list[Binding]) -> Binding | None:
    """Which of the imports in the arms of one ``try``/``except ImportError`` gives the name on the newest JAX."""
    owners = {next((a for a in source.ancestors(b.node) if isinstance(a, ast.Try)), None) for b in imports}
    owner = owners.pop() if len(owners) == 1 else None
    if owner is None or not all(catches_absence(h) for h in owner.handlers):
        return None
    ours = source.facts.history.members("")
    living = [b for b in imports if not source.is_dead(b.qualified) and not is_dead_module(source, b.qualified)]
    doubtful = living and living[0].qualified.partition(".")[0] not in ours  # another library is there or not
    if doubtful and any(b.qualified.partition(".")[0] in ours for b in living):
        return None
    return living[0] if living else None


def is_empty(value: ast.expr) -> bool:
    """None, a constant, an empty container, ``object``, ``Any`` or ``type(None)``: a stand-in, not a successor."""
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return all(is_empty(e) for e in value.elts)
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in ("type", "object", "tuple", "list", "dict")
    leaf = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
    return leaf in ("Any", "object", "NoneType")


def type_checking_block(source: Source, node: ast.AST) -> ast.If | None:
    """The ``if TYPE_CHECKING`` whose body holds `node`."""
    child = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.If) and child in ancestor.body and _is_type_checking(ancestor.test):
            return ancestor
        child = ancestor
    return None


def _is_type_checking(test: ast.expr) -> bool:
    leaf = last_part(test)
    return leaf == "TYPE_CHECKING"


def in_annotation(source: Source, node: ast.AST) -> bool:
    """Whether `node` is (part of) an annotation."""
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.arg):
            return True
        if isinstance(ancestor, ast.AnnAssign):
            return child is ancestor.annotation
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return child is ancestor.returns
        if isinstance(ancestor, ast.stmt):
            return False
        child = ancestor
    return False


def is_lazy(source: Source, node: ast.AST) -> bool:
    """Whether `node` is never evaluated at run time: quoted, or an annotation under ``from __future__ import annotations``."""
    if source.is_quoted(node):
        return True
    if not in_annotation(source, node):
        return False
    return source.postpones_annotations


def reaches(source: Source, binding: Binding, at: ast.AST) -> bool:
    """Whether the import that made `binding` has run (or need not have) when `at` is evaluated."""
    statement = binding.statement
    if statement is None:
        return True
    typing_block = type_checking_block(source, statement)
    if typing_block is not None:
        if not (is_lazy(source, at) or type_checking_block(source, at) is typing_block):
            return False
    elif not condition_holds(source, statement, at):
        return False
    if source.scope(statement) is source.scope(at) and not is_lazy(source, at):
        return statement.lineno <= getattr(at, "lineno", statement.lineno)
    return not runs_too_late(source, statement, at)


def runs_too_late(source: Source, statement: ast.stmt, at: ast.AST) -> bool:
    """Whether a function that holds `at` may be called by the module before it comes to this import, far below."""
    if source.scope(statement) is not source.scope_root or is_lazy(source, at):
        return False
    start, end = getattr(at, "lineno", statement.lineno), statement.lineno
    if end <= start:
        return False
    between = (
        s for s in source.tree.body if start < s.lineno < end and not isinstance(s, (*_SCOPES, ast.Import, ast.ImportFrom))
    )
    return any(isinstance(node, ast.Call) for s in between for node in ast.walk(s))


def condition_holds(source: Source, statement: ast.stmt, at: ast.AST) -> bool:
    """Whether every ``if``, handler or loop around the import is also around `at`; a try body counts as always run."""
    around = {id(a) for a in source.ancestors(at)}
    child: ast.AST = statement
    for ancestor in source.ancestors(statement):
        if isinstance(ancestor, _SCOPES):
            return True
        if isinstance(ancestor, ast.ExceptHandler) and id(ancestor) not in around:
            return False
        if isinstance(ancestor, ast.Try) and child in ancestor.body and any(id(h) in around for h in ancestor.handlers):
            return False  # perhaps it is the import that failed
        if isinstance(ancestor, (ast.If, ast.For, ast.While)):
            if id(ancestor) not in around:
                return False
            same_arm = child in getattr(ancestor, "body", ()) and any(id(s) in around or s is at for s in ancestor.body)
            other_arm = child in ancestor.orelse and any(id(s) in around or s is at for s in ancestor.orelse)
            if not (same_arm or other_arm):
                return False
        child = ancestor
    return True


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block ends by going elsewhere, so that what follows it runs only without it."""
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def block_of(source: Source, statement: ast.AST) -> list[ast.stmt]:
    """The block that a statement stands in; empty for what is none."""
    parent = source.parent(statement)
    blocks = (getattr(parent, field, None) for field in ("body", "orelse", "finalbody"))
    return next((block for block in blocks if isinstance(block, list) and statement in block), [])


def is_probe(source: Source, statement: ast.stmt) -> bool:
    """Whether a ``try`` finds out by an import what there is: more happens with it, or without it."""
    parent = source.parent(statement)
    if not isinstance(parent, ast.Try) or statement not in parent.body or not any(map(catches_absence, parent.handlers)):
        return False
    rest = [*parent.body, *parent.orelse, *(s for h in parent.handlers for s in h.body)]
    return not all(isinstance(s, (ast.Import, ast.ImportFrom, ast.Pass, ast.Raise)) for s in rest)


def catches_absence(handler: ast.ExceptHandler) -> bool:
    """Whether it runs where an import or an attribute is missing."""
    return catches(handler, _IMPORT_ERRORS)


def catches(handler: ast.ExceptHandler, wanted: set[str]) -> bool:
    """Whether it catches one of the exceptions, or all."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    leaves = {last_part(k) for k in kinds}
    return bool(leaves & wanted)


def is_dead_module(source: Source, module: str) -> bool:
    """Whether `module` is gone as a whole on the newest JAX."""
    return source.facts.is_gone_module(module)
