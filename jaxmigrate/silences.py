"""Guards that hide a vanished name: a ``try``, ``hasattr`` or ``getattr`` after which a feature is off and nothing tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jaxmigrate.guards import is_empty, leaves
from jaxmigrate.imports import imported_name
from jaxmigrate.model import Severity
from jaxmigrate.names import Source
from jaxmigrate.renames import Proposal
from jaxmigrate.scan import last_part

_AT_IMPORT = {"ImportError", "Exception", "BaseException"}
_AT_MODULE = {*_AT_IMPORT, "ModuleNotFoundError"}
_AT_ATTRIBUTE = {"AttributeError", "Exception", "BaseException"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def swallowed(source: Source, node: ast.AST) -> ast.AST | None:
    """The except clause (or ``with suppress``) that makes a failure of the import or attribute at `node` go by unnoticed."""
    wanted = _errors_of(source, node)
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, _FUNCTIONS):
            return None
        if isinstance(ancestor, ast.Try) and child in ancestor.body:
            handler = next((h for h in ancestor.handlers if _catches(h.type, wanted)), None)
            if handler is not None:
                return handler if _is_mute(handler.body) else None
        if isinstance(ancestor, ast.With) and child in ancestor.body:
            calls = (i.context_expr for i in ancestor.items)
            if any(isinstance(c, ast.Call) and last_part(c.func) == "suppress" and _catch_any(c.args, wanted) for c in calls):
                return ancestor
        child = ancestor
    return None


def _errors_of(source: Source, node: ast.AST) -> set[str]:
    statement = source.parent(node) if isinstance(node, ast.alias) else node
    if isinstance(statement, ast.Import):
        return _AT_MODULE
    return _AT_IMPORT if isinstance(statement, ast.ImportFrom) else _AT_ATTRIBUTE


def _catches(kind: ast.expr | None, wanted: set[str]) -> bool:
    if kind is None:
        return True
    return _catch_any(kind.elts if isinstance(kind, ast.Tuple) else [kind], wanted)


def _catch_any(kinds: Sequence[ast.expr], wanted: set[str]) -> bool:
    return any(last_part(kind) in wanted for kind in kinds)


def _is_mute(body: Sequence[ast.stmt]) -> bool:
    """Whether a handler goes on as if nothing had happened: it raises nothing, tells nobody and does nothing instead."""
    for statement in body:
        if isinstance(statement, (ast.Pass, ast.Continue, ast.Break)):
            continue
        if isinstance(statement, ast.Return) and (statement.value is None or is_empty(statement.value)):
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and (statement.value is None or is_empty(statement.value)):
            continue
        return False
    return True


def hidden(source: Source, proposals: Sequence[Proposal]) -> Iterator[tuple[Proposal, ast.AST]]:
    """Findings about vanished names whose failure a guard hides, and that guard.

    Of the edits of a name that is imported under a guard the first tells of it: the import itself may go without a word.
    """
    seen: set[ast.AST] = set()
    through: list[tuple[Proposal, ast.AST]] = []
    for proposal in proposals:
        if proposal.guard or not source.is_dead(proposal.symbol or None):
            continue
        if (guard := swallowed(source, proposal.node)) is not None:
            yield proposal, guard
        elif proposal.changes and (guard := _import_swallowed(source, proposal)) is not None:
            through.append((proposal, guard))
    for proposal, guard in sorted(through, key=lambda t: source.span(t[0].node)):
        if guard not in seen:
            seen.add(guard)
            yield proposal, guard


def _import_swallowed(source: Source, proposal: Proposal) -> ast.AST | None:
    """The guard that hides that the import failed through which a name came."""
    old = proposal.old
    if old is None or not isinstance(old.statement, (ast.Import, ast.ImportFrom)) or not source.is_dead(old.qualified):
        return None
    return swallowed(source, old.statement)


def mark(source: Source, proposals: Sequence[Proposal]) -> None:
    """Make findings whose failure a guard hides urgent, and say what hides it."""
    for proposal, guard in list(hidden(source, proposals)):
        what = "the except clause" if isinstance(guard, ast.ExceptHandler) else "suppress"
        proposal.severity = Severity.URGENT
        proposal.message += (
            f"; where it is missing nothing tells: {what} in line {source.original_line(guard)} goes on without it"
        )


def still_fails(source: Source, node: ast.AST) -> bool:
    """Whether the block of a ``try`` around an edit imports something that is gone for good: the edit alone mends nothing."""
    guard = swallowed(source, node)
    block = source.parent(guard) if isinstance(guard, ast.ExceptHandler) else guard
    return any(lacks(source, s) for s in getattr(block, "body", ()) if isinstance(s, (ast.Import, ast.ImportFrom)))


def lacks(source: Source, statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import takes a vanished name that has no other home."""
    history, names = source.facts.history, (imported_name(source, statement, a) for a in statement.names if a.name != "*")
    return any(source.is_dead(name) and ((advice := history.advice(name)) is None or advice.verb != "move") for name in names)


def asks(call: ast.AST | None, name: ast.Constant) -> bool:
    """Whether a call asks by ``hasattr`` or ``getattr`` with a default for the attribute `name`."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args[1:2] != [name]:
        return False
    return (call.func.id, len(call.args)) in (("hasattr", 2), ("getattr", 3)) and str(name.value).isidentifier()


def switches_off(source: Source, call: ast.Call) -> str:
    """What a question for a vanished name answers now, where there is nothing in its stead; empty where there may be."""
    if len(call.args) == 2:
        return answers(source, call, "False")
    default = call.args[2]
    if not is_empty(default):
        return ""  # what is there instead comes along
    holds = isinstance(default, ast.Constant) and bool(default.value)
    if holds and not _tested(source, call)[1]:
        return ""  # what asks for it is switched on
    return answers(source, call, source.segment(default), negated=holds)


def answers(source: Source, question: ast.expr, answer: str, *, negated: bool = False) -> str:
    """What a question is always answered now, where there is nothing in its stead; `negated` if it asks for an absence."""
    if _has_alternative(source, question, negated):
        return ""
    return f"{source.segment(question)} is always {answer} now, and nothing tells that what it guards is switched off"


def _has_alternative(source: Source, call: ast.expr, absent: bool = False) -> bool:
    """Whether the code does something else where the answer is no; also unless the answer only decides something here."""
    test = _whole(source, call)
    parent = source.parent(test)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(target := parent.targets[0], ast.Name):
        uses = [n for n in source.by_id.get(target.id, ()) if isinstance(n.ctx, ast.Load)]
        assigned = sum(not isinstance(n.ctx, ast.Load) for n in source.by_id[target.id])
        ways = [way for n in uses if (way := _other_way(source, n, absent)) is not None]
        return assigned > 1 or not ways or any(ways)
    return _other_way(source, call, absent) is not False


def _other_way(source: Source, answer: ast.expr, absent: bool) -> bool | None:
    """Whether there is another way where a test of `answer` fails; None if nothing is tested here."""
    node, negated = _tested(source, answer)
    negated ^= absent
    parent = source.parent(node)
    if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.Or):
        return True
    while isinstance(parent, ast.BoolOp):
        node, parent = parent, source.parent(parent)
    if isinstance(parent, ast.IfExp) and parent.test is node:
        return not is_empty(parent.body if negated else parent.orelse)
    if isinstance(parent, ast.If) and parent.test is node:
        return _if_has_other_way(source, parent, negated)
    if isinstance(parent, ast.Call) and "skip" in last_part(parent.func):
        return False
    if isinstance(parent, ast.Call) and last_part(parent.func) in ("isinstance", "issubclass") and parent.args[1:] == [node]:
        return False  # nothing is of that class any more
    return None


def _if_has_other_way(source: Source, statement: ast.If, negated: bool) -> bool:
    alive, dead = (statement.body, statement.orelse) if negated else (statement.orelse, statement.body)
    if alive:
        return not _is_mute(alive)
    return not negated and leaves(dead)  # then what follows is the other way


def _tested(source: Source, answer: ast.expr) -> tuple[ast.expr, bool]:
    """The test around an answer without ``not`` and comparisons with None, and whether it asks for its absence."""
    node, negated = answer, False
    while True:
        parent = source.parent(node)
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            node, negated = parent, not negated
        elif isinstance(parent, ast.Compare) and len(parent.ops) == 1 and _is_none(parent.comparators[0]):
            negated ^= isinstance(parent.ops[0], (ast.Is, ast.Eq))
            node = parent
        elif isinstance(parent, ast.NamedExpr) and parent.value is node:
            node = parent
        else:
            return node, negated


def _whole(source: Source, node: ast.expr) -> ast.expr:
    """The whole test that a call is part of."""
    parent = source.parent(node)
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp)):
        node, parent = parent, source.parent(parent)
    return node


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
