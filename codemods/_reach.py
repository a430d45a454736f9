"""Which calls of a file bring pjit its keywords by a detour: a callee that may be pjit, or a function that hands its ** on."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxmigrate_codemods._pjit import PJIT, FunctionNode, Pjit, function_body, is_partial, uses

if TYPE_CHECKING:
    from jaxmigrate.names import Binding, Source

_JIT = ("jax.jit", "jax.api.jit", "jax._src.api.jit")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_PJIT, _OTHER = "pjit", "other"


@dataclass(slots=True, eq=False)
class Wrapper:
    """A function of the file whose ``**kwargs`` reach pjit."""

    function: FunctionNode
    parameter: str
    whole: bool
    """Whether pjit is given just these, not a dict that was made out of them."""
    calls: list[ast.Call] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return f"`{self.function.name}`" if not isinstance(self.function, ast.Lambda) else "this lambda"

    def parameters(self) -> set[str]:
        """The names of its own, which do not reach pjit by themselves."""
        given = self.function.args
        return {a.arg for a in (*given.args, *given.kwonlyargs)}


@dataclass(slots=True, eq=False)
class Reach:
    """The calls of a file that hand keywords to pjit."""

    pjit: list[Pjit]
    chosen: list[ast.Call] = field(default_factory=list)
    """The callee is pjit or jit, by a choice at run time."""
    doubtful: list[ast.Call] = field(default_factory=list)
    """The callee may be pjit, or something unknown."""
    wrappers: list[Wrapper] = field(default_factory=list)

    def calls(self) -> Iterator[ast.Call]:
        """All that certainly reach pjit."""
        for use in self.pjit:
            yield from use.calls_with_arguments()
        yield from self.chosen
        for wrapper in self.wrappers:
            yield from wrapper.calls

    def splats(self) -> set[ast.expr]:
        """The values that pjit is given by ``**``."""
        return {k.value for c in self.calls() for k in c.keywords if k.arg is None}


def reach_of(source: Source, keywords: tuple[str, ...]) -> Reach:
    """Everything in a file through which `keywords` reach pjit."""
    reach = Reach(uses(source))
    direct = set(reach.calls())
    is_passed_on = _is_passed_on(source)
    for call in dict.fromkeys(c for name in (*keywords, None) for c in _calls_with(source, name)):
        callee = call.args[0] if call.args and is_partial(source, call) else call.func
        kinds = _kinds(source, callee, is_passed_on) if call not in direct else set()
        if _PJIT in kinds:
            (reach.doubtful if _OTHER in kinds else reach.chosen).append(call)
    _wrappers(source, reach)
    return reach


def _calls_with(source: Source, keyword: str | None) -> Iterator[ast.Call]:
    if keyword is not None:
        parents = [source.parent(k) for k in source.keywords.get(keyword, ())]
        yield from (p for p in parents if isinstance(p, ast.Call))
        return
    for node in _other_names(source):  # with ** alone
        call = source.parent(node)
        if isinstance(call, ast.Call) and any(k.arg is None for k in call.keywords):
            yield call


def _other_names(source: Source) -> Iterator[ast.Name]:
    """The uses of names that pjit may have by an assignment."""
    names: set[str] = set()
    for reference in source.names(*PJIT):
        parent = source.parent(reference)
        while isinstance(parent, (ast.IfExp, ast.BoolOp)):
            parent = source.parent(parent)
        names.update(t.id for t in getattr(parent, "targets", ()) if isinstance(parent, ast.Assign) and isinstance(t, ast.Name))
    for name in sorted(names):
        yield from (n for n in source.by_id.get(name, ()) if isinstance(n.ctx, ast.Load))


def _is_passed_on(source: Source) -> bool:
    """Whether pjit itself is an argument of a call, so that a parameter may be pjit."""
    for name in itertools.chain(source.names(*PJIT), _other_names(source)):
        parent = source.parent(name)
        if isinstance(parent, ast.keyword) or (isinstance(parent, ast.Call) and name in parent.args):
            call = source.parent(parent) if isinstance(parent, ast.keyword) else parent
            if isinstance(call, ast.Call) and not is_partial(source, call):
                return True
    return False


def _kinds(source: Source, node: ast.expr, is_passed_on: bool, depth: int = 5) -> set[str]:
    """What a callee can be: ``pjit``, ``jit`` or ``other``."""
    qualified = source.resolve(node)
    if qualified in PJIT:
        return {_PJIT}
    if qualified in _JIT:
        return {"jit"}
    options: list[ast.expr] = []
    if isinstance(node, ast.IfExp):
        options = [node.body, node.orelse]
    elif isinstance(node, ast.BoolOp):
        options = node.values
    elif isinstance(node, ast.Subscript) and isinstance(table := source.value_of(node.value), ast.Dict):
        options = table.values if table is node.value else [*table.values, node]  # a named dict may get more entries
    elif isinstance(node, ast.Name) and depth:
        bindings = source.lookup(node.id, source.scope(node))[0]
        return {k for b in bindings for k in _kinds_of_binding(source, b, is_passed_on, depth)} or {_OTHER}
    elif isinstance(node, ast.Attribute) and (behind := source.definition(node)) is not None:
        options = [behind]
    if not options or not depth:
        return {_OTHER}
    return {k for o in options for k in _kinds(source, o, is_passed_on, depth - 1)}


def _kinds_of_binding(source: Source, binding: Binding, is_passed_on: bool, depth: int) -> set[str]:
    if binding.kind == "assign" and binding.value is not None:
        return _kinds(source, binding.value, is_passed_on, depth - 1)
    if binding.kind == "import":
        return {_PJIT} if binding.qualified in PJIT else {"jit"} if binding.qualified in _JIT else {_OTHER}
    if binding.kind == "param":
        default = _default(source, binding)
        by_default = _kinds(source, default, False, depth - 1) if default is not None else set[str]()
        return {_OTHER, *by_default, *([_PJIT] if is_passed_on else ())}
    return {_OTHER}


def _default(source: Source, binding: Binding) -> ast.expr | None:
    arguments = source.parent(binding.node)
    if not isinstance(arguments, ast.arguments):
        return None
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(positional[::-1], arguments.defaults[::-1], strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((value for argument, value in pairs if argument is binding.node), None)


def _wrappers(source: Source, reach: Reach) -> None:
    """The functions that hand their ** to pjit, or to another of them."""
    known: dict[FunctionNode, Wrapper] = {}
    pending = list(reach.calls())
    while pending:
        call = pending.pop()
        for keyword in call.keywords:
            for name, whole in _sources(source, keyword.value) if keyword.arg is None else ():
                function = _owner(source, name)
                if function is None:
                    continue
                if function in known:
                    known[function].whole &= whole
                    continue
                known[function] = wrapper = Wrapper(function, name.id, whole)
                wrapper.calls += _calls_of(source, function)
                pending += wrapper.calls
    reach.wrappers += known.values()


def _sources(source: Source, value: ast.expr) -> Iterator[tuple[ast.Name, bool]]:
    """The names whose entries ``**value`` brings, and whether it is just that name."""
    if isinstance(value, ast.Name):
        yield value, True
        for binding in source.lookup(value.id, source.scope(value))[0]:
            for part in ast.walk(binding.value) if binding.value is not None else ():
                if isinstance(part, ast.Name):
                    yield part, False
        for node in source.by_id.get(value.id, ()):
            method = source.parent(node)
            call = source.parent(method) if isinstance(method, ast.Attribute) and method.attr == "update" else None
            for argument in call.args if isinstance(call, ast.Call) else ():
                if isinstance(argument, ast.Name):
                    yield argument, False
    else:
        yield from ((part, False) for part in ast.walk(value) if isinstance(part, ast.Name))


def _owner(source: Source, name: ast.Name) -> FunctionNode | None:
    """The function whose ``**`` parameter `name` is."""
    bindings = source.lookup(name.id, source.scope(name))[0]
    for binding in bindings:
        arguments = source.parent(binding.node) if binding.kind == "param" else None
        if isinstance(arguments, ast.arguments) and arguments.kwarg is binding.node:
            function = source.parent(arguments)
            return function if isinstance(function, _FUNCTIONS) else None
    return None


def _calls_of(source: Source, function: FunctionNode) -> list[ast.Call]:
    """The calls of a function, a method of self or a named lambda, and partials of it."""
    parent = source.parent(function)
    if isinstance(function, ast.Lambda):
        names = [t.id for t in parent.targets if isinstance(t, ast.Name)] if isinstance(parent, ast.Assign) else []
    else:
        names = [function.name]
    found: list[ast.Call] = []
    for name in names:
        for node in (*source.by_id.get(name, ()), *source.by_attribute.get(name, ())):
            call = source.parent(node)
            if not isinstance(call, ast.Call) or function_body(source, node) is not function:
                continue
            if call.func is node or (call.args[:1] == [node] and is_partial(source, call)):
                found.append(call)
    return found


@dataclass(slots=True, eq=False)
class HandedOn:
    """What a function does with the ** it hands to pjit."""

    written: list[ast.expr] = field(default_factory=list)
    """Where it puts entries in: ``d["key"]`` as a target, calls of ``setdefault`` and ``update``."""
    read: list[ast.expr] = field(default_factory=list)
    """Where it asks for one of the names, and leaves it in."""
    popped: dict[str, ast.expr] = field(default_factory=dict)
    """Names that it takes out, so that they do not reach pjit."""
    problem: ast.AST | None = None
    """The first use for which a rename could make a difference."""


def handed_on(source: Source, wrapper: Wrapper, table: dict[str, str], splats: set[ast.expr]) -> HandedOn:
    """Judge all that a function does with its ``**kwargs``."""
    found = HandedOn()
    decorators = getattr(wrapper.function, "decorator_list", ())
    odd = [d for d in decorators if not (isinstance(d, ast.Call) and source.resolve(d.func) == "functools.wraps")]
    if not wrapper.whole or odd or wrapper.parameters() & set(table.values()):
        found.problem = wrapper.function
    for node in source.by_id.get(wrapper.parameter, ()):
        scope = source.lookup(node.id, source.scope(node))[1]
        if scope is not None and scope.node is wrapper.function:
            _use(source, node, table, splats, found)
    put = {k for w in found.written for k in _names_in(w)}
    found.read += [found.popped.pop(name) for name in put & set(found.popped)]  # taken out, and put in again
    if found.read:
        found.problem = found.problem or wrapper.function
    return found


def _use(source: Source, node: ast.Name, table: dict[str, str], splats: set[ast.expr], found: HandedOn) -> None:
    """Judge one mention of the parameter."""
    parent = source.parent(node)
    holder = source.parent(parent) if parent is not None else None
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.slice, ast.Constant):
        stored = isinstance(parent.ctx, ast.Store) and isinstance(holder, ast.Assign)
        (found.written if stored else found.read if parent.slice.value in table else []).append(parent)
    elif isinstance(parent, ast.Attribute) and isinstance(holder, ast.Call) and holder.func is parent:
        _method(source, parent.attr, holder, table, found)
    elif isinstance(parent, ast.Compare) and isinstance(parent.left, ast.Constant) and len(parent.ops) == 1:
        if parent.left.value in table:
            found.read.append(parent)
    elif not (isinstance(parent, ast.keyword) and (node in splats or _is_jit(source, holder))):
        found.problem = found.problem or node


def _method(source: Source, name: str, call: ast.Call, table: dict[str, str], found: HandedOn) -> None:
    key = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    discarded = isinstance(source.parent(call), ast.Expr)
    if name == "pop" and isinstance(key, str):
        if key in table:
            found.popped[key] = call
    elif name == "update" or (name == "setdefault" and discarded and isinstance(key, str)):
        found.written.append(call)
    elif name in ("get", "setdefault") and isinstance(key, str):
        found.read += [call] if key in table else []
    else:
        found.problem = found.problem or call


def _names_in(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.keyword) and part.arg is not None:
            yield part.arg
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _is_jit(source: Source, call: ast.AST | None) -> bool:
    return isinstance(call, ast.Call) and source.resolve(call.func) in _JIT
