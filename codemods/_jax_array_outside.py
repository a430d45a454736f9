"""The flags outside JAX's configuration: environment variables and command-line arguments."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Change, EditCall, last_part
from jaxmigrate.folding import remove_element

from ._jax_array import VARIABLES, Setting, delete, drop_statement, setting, word_truth

if TYPE_CHECKING:
    from jaxmigrate.names import Source

ARGUMENT = re.compile(r"--(no)?(jax_array|jax_parallel_functions_output_gda)(?:=(.*))?")
ASSIGNMENT = re.compile(r"(JAX_ARRAY|JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA)=(\w*)")

_ENVIRON = "os.environ"
_SETTERS = frozenset({"os.environ.setdefault", "os.putenv"})
_RUNNERS = frozenset({"system", "popen", "run", "Popen", "call", "check_call", "check_output", "getoutput", "split", "shell"})


def variable_setting(source: Source, node: ast.Constant) -> Setting | None:
    """The environment variable `node` names is set here: in os.environ or in the environment of a child process."""
    flag, parent = VARIABLES[str(node.value)], source.parent(node)
    if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
        assign = source.parent(parent)
        if isinstance(assign, ast.Assign) and len(assign.targets) == 1 and _is_environment(source, parent.value):
            child = source.resolve(parent.value) != _ENVIRON
            return setting(source, flag, assign.value, (delete(assign, flag),), child=child)
    if isinstance(parent, ast.Call) and parent.args[0] is node and len(parent.args) == 2 and _sets_variable(source, parent):
        foreign = source.resolve(parent.func) not in _SETTERS
        return setting(source, flag, parent.args[1], drop_statement(source, parent, flag), child=foreign)
    if isinstance(parent, ast.Dict) and node in parent.keys and _is_environment(source, parent):
        return _in_dict(source, flag, node, parent)
    return None


def _in_dict(source: Source, flag: str, node: ast.Constant, whole: ast.Dict) -> Setting:
    call = source.parent(whole)
    own = isinstance(call, ast.Call) and source.resolve(call.func) == f"{_ENVIRON}.update"
    value = whole.values[whole.keys.index(node)]
    if own and len(whole.keys) == 1 and isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        return setting(source, flag, value, drop_statement(source, call))
    change = remove_element(source, node)
    return setting(source, flag, value, (change,) if change else (), child=not own)


def _sets_variable(source: Source, call: ast.Call) -> bool:
    if source.resolve(call.func) in _SETTERS:
        return True
    return isinstance(call.func, ast.Attribute) and call.func.attr == "setenv"


def _is_environment(source: Source, node: ast.expr) -> bool:
    """Whether `node` is the environment, a copy of it, or a dict that becomes one."""
    value, parent = source.value_of(node), source.parent(node)
    if source.resolve(value) == _ENVIRON or _copies_environment(source, value):
        return True
    if isinstance(parent, ast.keyword):
        return parent.arg == "env"
    if isinstance(parent, ast.Call):
        return any(source.resolve(e) in (_ENVIRON, f"{_ENVIRON}.update") for e in (parent.func, *parent.args))
    return False


def _copies_environment(source: Source, value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return source.resolve(value.func) == f"{_ENVIRON}.copy" or any(source.resolve(a) == _ENVIRON for a in value.args)
    return isinstance(value, ast.Dict) and any(source.resolve(v) == _ENVIRON for v in value.values)


def keyword_settings(source: Source) -> Iterator[tuple[ast.keyword, Setting]]:
    """``dict(os.environ, JAX_ARRAY="1")`` and ``os.environ.update(JAX_ARRAY="1")``."""
    for variable, flag in VARIABLES.items():
        for keyword in source.keywords.get(variable, ()):
            call = source.parent(keyword)
            if not isinstance(call, ast.Call):
                continue
            own = source.resolve(call.func) == f"{_ENVIRON}.update"
            if own or (isinstance(call.func, ast.Name) and call.func.id == "dict" and _is_environment(source, call)):
                alone = own and not call.args and len(call.keywords) == 1
                changes = drop_statement(source, call) if alone else ()
                edit = EditCall(call, drop=frozenset({variable}))
                yield keyword, setting(source, flag, keyword.value, changes or (edit,), child=not own)


def argument_setting(source: Source, node: ast.Constant) -> Setting | None:
    """An argument of a command such as ``--jax_array=true``, or ``JAX_ARRAY=1`` in front of one, as an element of its own."""
    text = str(node.value)
    argument, assignment = ARGUMENT.fullmatch(text), ASSIGNMENT.fullmatch(text)
    if argument:
        on = True if argument[3] is None else word_truth(argument[3])
        return Setting(argument[2], None, not on if argument[1] and on is not None else on, _drop_argument(source, node), True)
    if assignment:
        return Setting(VARIABLES[assignment[1]], None, word_truth(assignment[2]), _drop_argument(source, node), True)
    return None


def _drop_argument(source: Source, node: ast.Constant) -> tuple[Change, ...]:
    parent = source.parent(node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "append":
        return drop_statement(source, parent)
    change = remove_element(source, node)
    return (change,) if change else ()


def defines_own_flag(source: Source, flag: str) -> bool:
    """Whether the file defines a command-line flag of this name itself (absl, argparse, click)."""
    return any(_defines(source.parent(c), flag) for c in source.strings if str(c.value).lstrip("-") == flag)


def _defines(call: ast.AST | None, flag: str) -> bool:
    if not isinstance(call, ast.Call):
        return False
    leaf = last_part(call.func)
    return leaf.startswith("DEFINE") or leaf in ("add_argument", "option")


def is_read(source: Source, name: str) -> bool:
    """Whether the file itself asks for the environment variable."""
    return any(reads_variable(source, c) for c in source.strings if c.value == name)


def reads_variable(source: Source, node: ast.Constant) -> bool:
    """Whether the environment variable that `node` names is read here."""
    parent = source.parent(node)
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Load) and source.resolve(parent.value) == _ENVIRON
    if isinstance(parent, ast.Compare):
        return any(source.resolve(c) == _ENVIRON for c in parent.comparators)
    if not isinstance(parent, ast.Call):
        return False
    name = source.resolve(parent.func)
    return name in ("os.environ.get", "os.getenv") or (name == "os.environ.pop" and not drop_statement(source, parent))


def clearing(source: Source, node: ast.Constant) -> ast.stmt | None:
    """The statement that takes the variable out of the environment and does nothing else."""
    parent = source.parent(node)
    if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Del) and source.resolve(parent.value) == _ENVIRON:
        statement = source.parent(parent)
        return statement if isinstance(statement, ast.Delete) and len(statement.targets) == 1 else None
    if not isinstance(parent, ast.Call):
        return None
    known = source.resolve(parent.func) in ("os.environ.pop", "os.unsetenv")
    if known or (isinstance(parent.func, ast.Attribute) and parent.func.attr == "delenv"):
        statement = source.parent(parent)
        return statement if isinstance(statement, ast.Expr) else None
    return None


def in_command(source: Source, node: ast.Constant, part: re.Pattern[str]) -> bool:
    """Whether the string is a command line that holds `part` as a word, handed to something that runs it."""
    call = source.parent(node)
    if not isinstance(call, ast.Call) or not re.search(rf"(?<!\S)(?:{part.pattern})(?!\S)", str(node.value)):
        return False
    leaf = last_part(call.func)
    return leaf in _RUNNERS


def is_program(text: str, words: Iterable[str]) -> bool:
    """Whether the string is Python source that uses one of the words as a name, an attribute or a string of its own."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    wanted = set(words)
    used = [
        n.attr if isinstance(n, ast.Attribute) else n.value
        for n in ast.walk(tree)
        if isinstance(n, (ast.Attribute, ast.Constant))
    ]
    return len(tree.body) > 1 and any(isinstance(word, str) and word in wanted for word in used)
