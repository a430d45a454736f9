"""Guards that hide a vanished name: a ``try``, ``hasattr`` or ``getattr`` after which a feature is off and nothing tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jaxmigrate import presence
from jaxmigrate.guards import block_of, catches, is_empty, leaves
from jaxmigrate.imports import imported_name
from jaxmigrate.model import Severity
from jaxmigrate.names import Source
from jaxmigrate.reached import has
from jaxmigrate.renames import Proposal
from jaxmigrate.scan import last_part

_AT_IMPORT = {"ImportError", "Exception", "BaseException"}
_AT_MODULE = {*_AT_IMPORT, "ModuleNotFoundError"}
_AT_ATTRIBUTE = {"AttributeError", "Exception", "BaseException"}
_BROAD = ("Exception", "BaseException")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def swallowed(source: Source, node: ast.AST) -> ast.AST | None:
    """The except clause (or ``with suppress``) that makes a failure of the import or attribute at `node` go by unnoticed."""
    guard = _end_of_failure(source, node)
    if not isinstance(guard, ast.ExceptHandler):
        return guard
    return guard if _is_mute(source, guard.body) and not _is_answered(source, guard) else None


def _is_foreseen(source: Source, node: ast.AST) -> bool:
    """Whether the code around goes on without what fails at `node`, and knows."""
    guard = _end_of_failure(source, node)
    return isinstance(guard, ast.ExceptHandler) and _is_mute(source, guard.body) and _is_answered(source, guard)


def _end_of_failure(source: Source, node: ast.AST) -> ast.AST | None:
    """The except clause (or ``with suppress``) in which a failure of the import or attribute at `node` ends."""
    wanted = _errors_of(source, node)
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, _FUNCTIONS):
            return None
        if isinstance(ancestor, ast.Try) and child in ancestor.body:
            handler = next((h for h in ancestor.handlers if catches(h, wanted)), None)
            if handler is not None:
                return handler
        if isinstance(ancestor, ast.With) and child in ancestor.body:
            calls = (i.context_expr for i in ancestor.items)
            if any(isinstance(c, ast.Call) and last_part(c.func) == "suppress" and _catch_any(c.args, wanted) for c in calls):
                return ancestor
        child = ancestor
    return None


def _is_answered(source: Source, handler: ast.ExceptHandler) -> bool:
    """Whether the loss was foreseen: a use asks for None, or another ``try`` beside it takes a living name."""
    statement = source.parent(handler)
    if handler.type is None or last_part(handler.type) in _BROAD or not isinstance(statement, ast.Try):
        return False
    imports = [s for s in statement.body if isinstance(s, ast.ImportFrom)]
    names = {alias.asname or alias.name for s in imports for alias in s.names}
    stand_ins = [t for s in handler.body if isinstance(s, ast.Assign) and _is_none(s.value) for t in s.targets]
    if any(isinstance(t, ast.Name) and t.id in names and _is_compared_with_none(source, t.id) for t in stand_ins):
        return True
    block = block_of(source, statement)
    beside = [s for s in block if isinstance(s, ast.Try) and abs(block.index(s) - block.index(statement)) == 1]
    others = [s for other in beside for s in other.body if isinstance(s, ast.ImportFrom)]
    return any(o.module == s.module and not lacks(source, o) for o in others for s in imports)


def _is_compared_with_none(source: Source, name: str) -> bool:
    tests = (source.parent(use) for use in source.by_id.get(name, ()))
    return any(isinstance(t, ast.Compare) and isinstance(t.ops[0], ast.IsNot) and _is_none(t.comparators[0]) for t in tests)


def _errors_of(source: Source, node: ast.AST) -> set[str]:
    statement = source.parent(node) if isinstance(node, ast.alias) else node
    if isinstance(statement, ast.Import):
        return _AT_MODULE
    return _AT_IMPORT if isinstance(statement, ast.ImportFrom) else _AT_ATTRIBUTE


def _catch_any(kinds: Sequence[ast.expr], wanted: set[str]) -> bool:
    return any(last_part(kind) in wanted for kind in kinds)


def _is_mute(source: Source, body: Sequence[ast.stmt]) -> bool:
    """Whether a handler goes on as if nothing had happened: it raises nothing, tells nobody and does nothing instead."""
    for statement in body:
        if isinstance(statement, (ast.Pass, ast.Continue, ast.Break)):
            continue
        value = statement.value if isinstance(statement, (ast.Return, ast.Assign, ast.AnnAssign)) else statement
        if value is None or (isinstance(value, ast.expr) and _is_default(source, value)):
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        return False
    return True


def _is_default(source: Source, value: ast.expr) -> bool:
    """Whether a value is none that anything was done for: empty, or variables as they are."""
    if is_empty(value):
        return True
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
    return all(is_empty(part) or (isinstance(part, ast.Name) and _is_variable(source, part)) for part in parts)


def _is_variable(source: Source, name: ast.Name) -> bool:
    """Whether a name is that of a variable or parameter, and not of a function, a class or an import."""
    bindings, _ = source.lookup(name.id, source.scope(name))
    made = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return bool(bindings) and not any(b.kind == "import" or isinstance(b.node, made) for b in bindings)


def hidden(source: Source, proposals: Sequence[Proposal]) -> Iterator[tuple[Proposal, ast.AST]]:
    """Findings about vanished names whose failure a guard hides, and that guard.

    Of the edits of a name that is imported under a guard the first tells of it: the import itself may go without a word.
    """
    seen: set[ast.AST] = set()
    through: list[tuple[Proposal, ast.AST]] = []
    for proposal in proposals:
        if proposal.guard or "." not in proposal.symbol or has(source, proposal.symbol, source.newest):
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
    """Make findings whose failure a guard hides urgent, and say what hides it; those of a loss that was foreseen are low."""
    for proposal in proposals:
        is_left = not proposal.guard and not proposal.changes and proposal.severity is Severity.NORMAL
        if is_left and isinstance(proposal.node, ast.alias) and _is_foreseen(source, proposal.node):
            proposal.severity = Severity.LOW
            proposal.message += "; the code around it is made for its absence too"
    for proposal, guard in list(hidden(source, proposals)):
        what = "the except clause" if isinstance(guard, ast.ExceptHandler) else "suppress"
        proposal.severity = Severity.URGENT
        proposal.message += (
            f"; where it is missing nothing tells: {what} in line {source.original_line(guard)} goes on without it"
        )


def mark_questions(source: Source, proposals: Sequence[Proposal]) -> None:
    """Make findings urgent at ``hasattr(x, "old_member")`` after whose no nothing is done instead."""
    for proposal in proposals:
        name, call = proposal.node, source.parent(proposal.node)
        if proposal.guard or proposal.changes or not isinstance(name, ast.Constant) or proposal.severity is Severity.URGENT:
            continue
        if isinstance(call, ast.Call) and asks(call, name) and (off := switches_off(source, call)):
            proposal.severity, proposal.message = Severity.URGENT, f"{off}: {proposal.message}"


def still_fails(source: Source, proposal: Proposal) -> bool:
    """Whether the block of a ``try`` around an edit imports something that is gone for good: the edit alone mends nothing.

    Or whether the import behind it stays, since something asks for it: ``if hcb: hcb.call(...)``.
    """
    if _import_swallowed(source, proposal) is not None and proposal.old is not None:
        uses = (n for n in source.by_id.get(proposal.old.name, ()) if isinstance(n.ctx, ast.Load))
        if isinstance(proposal.old.statement, ast.Import | ast.ImportFrom) and lacks(source, proposal.old.statement):
            return any(not isinstance(source.parent(n), ast.Attribute) for n in uses)
    guard = swallowed(source, proposal.node)
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
    somewhere = any(has(source, _asked_for(source, question), release) for release in source.releases)
    when = f"{answer} on JAX {source.newest}" if somewhere else f"always {answer} now"
    if any(_stops(source, *tested) for tested in _tests_of(source, question, negated)):
        return f"{source.segment(question)} is {when}: the program stops here"
    if _has_alternative(source, question, negated):
        return ""
    return f"{source.segment(question)} is {when}, and nothing tells that what it guards is switched off"


def _asked_for(source: Source, test: ast.expr) -> str:
    """The qualified name that a question asks for: ``hasattr(jax, "old")``, ``"jax.old" in sys.modules``."""
    asked = presence.question(source, test)
    if asked is not None:
        owner = source.resolve(asked.owner)
        return f"{owner}.{asked.name}" if owner else asked.name
    return next((str(n.value) for n in ast.walk(test) if isinstance(n, ast.Constant) and isinstance(n.value, str)), "")


def _has_alternative(source: Source, question: ast.expr, absent: bool = False) -> bool:
    """Whether the code does something else where the answer is no; also unless the answer only decides something here."""
    uses = _uses(source, question)
    if uses is None:
        return _other_way(source, question, absent) is not False
    absent ^= _tested(source, question)[1]
    ways = [way for n in uses if (way := _other_way(source, n, absent)) is not None]
    return not ways or any(ways)


def _uses(source: Source, question: ast.expr) -> list[ast.Name] | None:
    """Where the variable is read that the answer is put into; none if it gets others too, None if there is no such variable."""
    parent = source.parent(_whole(source, question))
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(target := parent.targets[0], ast.Name):
        return None
    nodes = source.by_id[target.id]
    assigned = sum(not isinstance(n.ctx, ast.Load) for n in nodes)
    return [n for n in nodes if isinstance(n.ctx, ast.Load)] if assigned == 1 else []


def _tests_of(source: Source, question: ast.expr, answer: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The expressions that are as good as known where the answer to a question is, and whether they hold."""
    decided = _decided(source, question, answer)
    if decided is not None:
        yield decided
        for use in _uses(source, question) or () if decided[0] is _whole(source, question) else ():
            if (further := _decided(source, use, decided[1])) is not None:
                yield further


def _decided(source: Source, node: ast.expr, holds: bool) -> tuple[ast.expr, bool] | None:
    """The whole test that `node` decides, and how it comes out; None if other parts of it matter."""
    while True:
        parent = source.parent(node)
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            node, holds = parent, not holds
        elif isinstance(parent, ast.Compare) and len(parent.ops) == 1 and _is_none(parent.comparators[0]):
            node, holds = parent, holds is not isinstance(parent.ops[0], (ast.Is, ast.Eq))
        elif isinstance(parent, ast.BoolOp):
            if holds is isinstance(parent.op, ast.And):
                return None
            node = parent
        elif isinstance(parent, ast.NamedExpr):
            node = parent
        else:
            return node, holds


def _stops(source: Source, test: ast.expr, holds: bool) -> bool:
    """Whether the program ends where a test comes out like this: ``if not hasattr(jax, "old"): raise``."""
    parent = source.parent(test)
    if isinstance(parent, ast.Assert):
        return parent.test is test and not holds
    if not isinstance(parent, ast.If) or parent.test is not test:
        return False
    taken = parent.body if holds else parent.orelse
    if not taken and leaves(parent.body):  # what follows the return of the other arm
        block = block_of(source, parent)
        taken = block[block.index(parent) + 1 :][:1] if block else []
    return bool(taken) and _ends(taken[-1])


def _ends(statement: ast.stmt) -> bool:
    """``raise``, ``sys.exit(1)``."""
    if isinstance(statement, ast.Raise):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and last_part(call.func) in ("exit", "_exit", "quit", "abort")


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
        return not _is_mute(source, alive)
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
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.NamedExpr)):
        node, parent = parent, source.parent(parent)
    return node


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
