"""Questions for the presence of a name: ``hasattr(jax, "new")``, ``getattr(x, "new", None) is None``, ``"new" in dir(jax)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmigrate.names import Source

Answers = frozenset[bool]


@dataclass(frozen=True, slots=True)
class Question:
    """What a test asks for, and how it comes out."""

    owner: ast.expr
    name: str
    if_there: Answers
    """Both ways where it depends on the value."""
    if_missing: Answers

    def turned_round(self) -> Question:
        """The same under ``not``."""
        there, missing = (frozenset(not answer for answer in answers) for answers in (self.if_there, self.if_missing))
        return Question(self.owner, self.name, there, missing)


_YES, _NO = frozenset((True,)), frozenset((False,))


def question(source: Source, test: ast.expr) -> Question | None:
    """What a test asks for; also when the answer was put into a variable."""
    test = source.value_of(test)
    if isinstance(test, ast.NamedExpr):
        test = test.value
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(source, test.left, test.ops[0], test.comparators[0])
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Name) or len(test.args) < 2:
        return None
    owner, name, *default = test.args
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or test.keywords:
        return None
    if test.func.id == "hasattr" and not default:
        return Question(owner, name.value, _YES, _NO)
    if test.func.id == "getattr" and len(default) == 1 and isinstance(default[0], ast.Constant):
        holds = bool(default[0].value)
        return Question(owner, name.value, _YES if default[0].value is None else _YES | _NO, frozenset((holds,)))
    return None


def _compared(source: Source, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Question | None:
    if isinstance(right, ast.Constant) and right.value is None and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        asked = question(source, left)
        if asked is None or asked.if_missing != _NO or asked.if_there != _YES:
            return None
        return asked.turned_round() if isinstance(op, (ast.Is, ast.Eq)) else asked
    owner = namespace_of(right)
    if owner is None or not isinstance(op, (ast.In, ast.NotIn)) or not isinstance(left, ast.Constant):
        return None
    asked = Question(owner, str(left.value), _YES, _NO)
    return asked.turned_round() if isinstance(op, ast.NotIn) else asked


def namespace_of(node: ast.expr) -> ast.expr | None:
    """Whose names are in ``vars(module)``, ``dir(module)`` or ``module.__dict__``."""
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "__dict__" else None
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("vars", "dir")
    return node.args[0] if is_call and isinstance(node, ast.Call) and len(node.args) == 1 else None
