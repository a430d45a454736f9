"""Where a file uses jax's pjit, which functions it makes, and where these are called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from jaxmigrate_codemods._specs import is_none, sentinels

if TYPE_CHECKING:
    from jaxmigrate.names import Binding, Scope, Source

T = TypeVar("T")
K = TypeVar("K")
PJIT = ("jax.experimental.pjit.pjit", "jax._src.pjit.pjit")
CONSTRAINT = ("jax.experimental.pjit.with_sharding_constraint", "jax._src.pjit.with_sharding_constraint")
LAX_CONSTRAINT = "jax.lax.with_sharding_constraint"
IN, OUT = ("in_shardings", "in_axis_resources"), ("out_shardings", "out_axis_resources")
_AOT = frozenset({"lower", "trace", "eval_shape"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Argument = tuple[str | int, ast.expr]


def line(node: ast.AST) -> int:
    """The line `node` begins in."""
    return getattr(node, "lineno", 0)


def is_guarded(source: Source, node: ast.expr) -> bool:
    """Whether this reference, or the import behind it, is only for a JAX that has the old API."""
    found = source.resolved(node)
    statement = found.binding.statement if found is not None else None
    return bool(source.guard(node)) or (isinstance(statement, ast.ImportFrom) and bool(source.guard(statement)))


def is_traced(source: Source, node: ast.AST) -> bool:
    """Whether `node` is in a function that a transformation runs, where values are tracers."""
    evidence = source.tracing_evidence(node)
    return bool(evidence) and not evidence.startswith("this file mentions")


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """A call of a pjit-ed function; `arguments` holds those bound by ``functools.partial`` before its own."""

    call: ast.Call
    arguments: tuple[ast.expr, ...]

    @property
    def starred(self) -> bool:
        """Whether the positions of the arguments cannot be told."""
        return any(isinstance(a, ast.Starred) for a in self.arguments) or any(k.arg is None for k in self.call.keywords)


@dataclass(slots=True, eq=False)
class Followed:
    """Where a callable goes: its calls, ahead-of-time uses, and the first place where it gets out of sight."""

    calls: list[Called] = field(default_factory=list)
    lowered: list[ast.Call] = field(default_factory=list)
    decorated: list[ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=list)
    leak: ast.AST | None = None
    why: str = ""


@dataclass(slots=True, eq=False)
class Pjit:
    """One mention of pjit, the call that holds its shardings, and everything made by it."""

    name: ast.expr
    """The reference to pjit itself."""
    call: ast.Call | None
    """``pjit(f, ...)`` or ``partial(pjit, ...)``; None for a bare decorator."""
    partial: bool
    functions: list[ast.expr | ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=list)
    """What is wrapped: expressions, or decorated definitions."""
    later: list[ast.Call] = field(default_factory=list)
    """Calls of a stored partial, which may bring more arguments."""
    made: Followed = field(default_factory=Followed)

    @property
    def at(self) -> ast.AST:
        """Where to report it."""
        return self.call or self.name

    def positional(self) -> list[ast.expr]:
        """The positional arguments of pjit after the function itself."""
        return list(self.call.args[1:]) if self.call is not None and not self.partial else []

    def calls_with_arguments(self) -> list[ast.Call]:
        """Every call that hands keywords to pjit."""
        return ([self.call] if self.call is not None else []) + self.later

    def keyword(self, *names: str) -> ast.keyword | None:
        """The first keyword of one of these names."""
        return next((k for c in self.calls_with_arguments() for k in c.keywords if k.arg in names), None)

    def has_sentinel(self, source: Source) -> bool:
        """Whether FROM_GDA is among the shardings, which from-gda has to settle first."""
        given = self.in_shardings()
        return given is not None and any(sentinels(source, given[1]))

    def in_shardings(self) -> Argument | None:
        """The key (keyword or position) and value of the input shardings."""
        return self._sharding(IN, 1)

    def out_shardings(self) -> Argument | None:
        """The key and value of the output shardings."""
        return self._sharding(OUT, 2)

    def _sharding(self, names: tuple[str, str], position: int) -> Argument | None:
        found = self.keyword(*names)
        if found is not None and found.arg is not None:
            return found.arg, found.value
        positional = self.positional()
        return (position, positional[position - 1]) if len(positional) >= position else None

    def has_star(self) -> bool:
        """Whether ``*`` or ``**`` hides arguments of pjit, or a partial binds some by position."""
        calls = self.calls_with_arguments()
        starred = any(isinstance(a, ast.Starred) for c in calls for a in c.args)
        splatted = any(k.arg is None for c in calls for k in c.keywords)
        return starred or splatted or (self.partial and any(len(c.args) > 1 for c in calls))

    def dynamic(self, source: Source, arguments: tuple[ast.expr, ...]) -> list[ast.expr] | None:
        """The arguments that shardings are for: without the static ones; None when these cannot be told."""
        if self.keyword("static_argnames") is not None:
            return None
        static = self.keyword("static_argnums")
        if static is None:
            return list(arguments)
        try:
            numbers = ast.literal_eval(source.value_of(static.value))
        except (ValueError, TypeError):
            return None
        positions = {numbers} if isinstance(numbers, int) else set(numbers or ())
        if not all(isinstance(n, int) and n >= 0 for n in positions):
            return None
        return [a for i, a in enumerate(arguments) if i not in positions]


def uses(source: Source) -> list[Pjit]:
    """Every place where pjit itself is called, wrapped in ``functools.partial``, or used as a decorator."""
    return [use for node in source.names(*PJIT) if (use := use_of(source, node)) is not None]


def use_of(source: Source, node: ast.expr) -> Pjit | None:
    """The use of pjit at this reference; None when it is only passed on."""
    parent = source.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        use = Pjit(node, parent, partial=False)
        use.functions += [*parent.args[:1], *(k.value for k in parent.keywords if k.arg == "fun")]
        use.made = follow(source, parent)
        return use
    if isinstance(parent, ast.Call) and parent.args[:1] == [node] and is_partial(source, parent):
        use = Pjit(node, parent, partial=True)
        _through_partial(source, use, parent)
        return use
    if isinstance(parent, _FUNCTIONS) and node in parent.decorator_list:
        use = Pjit(node, None, partial=False)
        use.functions.append(parent)
        use.made = follow(source, node)
        return use
    return None


def is_partial(source: Source, call: ast.Call) -> bool:
    """Whether `call` is ``functools.partial(...)``."""
    return source.resolve(call.func) == "functools.partial"


def _through_partial(source: Source, use: Pjit, call: ast.Call) -> None:
    stored = follow(source, call, through_decorators=False)
    use.made.leak, use.made.why = stored.leak, stored.why
    for decorated in stored.decorated:
        use.functions.append(decorated)
        _merge(use.made, follow_definition(source, decorated, call))
    for called in stored.calls:
        maker = called.call
        use.later.append(maker)
        use.functions.extend(maker.args[:1])
        _merge(use.made, follow(source, maker))


def _merge(into: Followed, more: Followed) -> None:
    into.calls += more.calls
    into.lowered += more.lowered
    if into.leak is None:
        into.leak, into.why = more.leak, more.why


def follow_definition(source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.AST) -> Followed:
    """Follow what a decorator makes of a definition."""
    tracker = _Tracker(source, decorator)
    tracker.decorates(function, decorator)
    return tracker.found


def follow(source: Source, maker: ast.AST, *, through_decorators: bool = True) -> Followed:
    """Follow the value of `maker` (an expression) through this file.

    Without `through_decorators`, definitions that it decorates are only listed.
    """
    tracker = _Tracker(source, maker, through_decorators)
    tracker.value(maker, ())
    tracker.found.calls.sort(key=lambda c: (line(c.call), c.call.col_offset))
    return tracker.found


class _Tracker:
    """Follows one callable through names, decorators, ``functools.partial`` and attributes of self.

    Unlike `Source.callers` it knows the idiom ``f = pjit(f, ...)``, arguments bound on the way, and ``f.lower(...)``.
    """

    def __init__(self, source: Source, origin: ast.AST, through_decorators: bool = True) -> None:
        self.source = source
        self.origin = origin
        self.through_decorators = through_decorators
        self.found = Followed()
        self._seen: set[object] = set()

    def _lose(self, node: ast.AST, why: str) -> None:
        if self.found.leak is None:
            self.found.leak, self.found.why = node, why

    def value(self, node: ast.AST, bound: tuple[ast.expr, ...]) -> None:
        """`node` is an expression whose value is the callable."""
        parent = self.source.parent(node)
        if isinstance(parent, ast.Call):
            self._in_call(parent, node, bound)
        elif isinstance(parent, ast.Attribute):
            self._attribute_of(parent)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and parent.value is node:
            for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                self._target(target, bound)
            if isinstance(parent, ast.NamedExpr):
                self.value(parent, bound)
        elif isinstance(parent, _FUNCTIONS) and node in parent.decorator_list:
            self.found.decorated.append(parent)
            if self.through_decorators:
                self.decorates(parent, node)
        elif not isinstance(parent, ast.Expr):
            self._lose(node, _fate(parent))

    def _in_call(self, call: ast.Call, node: ast.AST, bound: tuple[ast.expr, ...]) -> None:
        if call.func is node:
            self.found.calls.append(Called(call, (*bound, *call.args)))
        elif call.args[:1] == [node] and is_partial(self.source, call):
            self.value(call, (*bound, *call.args[1:]))
        else:
            self._lose(node, "it is passed on")

    def _attribute_of(self, attribute: ast.Attribute) -> None:
        call = self.source.parent(attribute)
        if attribute.attr in _AOT and isinstance(call, ast.Call) and call.func is attribute:
            self.found.lowered.append(call)
        else:
            self._lose(attribute, f"its attribute {attribute.attr} is used")

    def decorates(self, function: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.AST) -> None:
        """The callable is what a decorator makes of this definition."""
        outermost = function.decorator_list[0]
        if decorator is not outermost and not any(n is decorator for n in ast.walk(outermost)):
            self._lose(function, "another decorator is around it")
        elif isinstance(self.source.scope(function).node, ast.ClassDef):
            self._lose(function, "it is a method")
        else:
            self._name(function.name, self.source.scope(function), ())

    def _target(self, target: ast.expr, bound: tuple[ast.expr, ...]) -> None:
        if isinstance(target, ast.Name):
            scope = self.source.lookup(target.id, self.source.scope(target))[1]
            if scope is not None:
                self._name(target.id, scope, bound)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            self._self_attribute(target, bound)
        else:
            self._lose(target, "it is stored where it cannot be followed")

    def _name(self, name: str, scope: Scope, bound: tuple[ast.expr, ...]) -> None:
        if (name, scope) in self._seen:
            return
        self._seen.add((name, scope))
        source = self.source
        origin = source.statement(self.origin) if not isinstance(self.origin, ast.stmt) else self.origin
        wrapped = _rewrapped(source, scope.bindings.get(name, []), origin)
        if wrapped is None:
            self._lose(origin, f"{name} is bound more than once")
            return
        if scope.node is source.tree and name in source.index.consumed.get(source.module, ()):
            self._lose(origin, f"other modules import {name}")
        for node in source.by_id.get(name, ()):
            if isinstance(node.ctx, ast.Load) and source.lookup(name, source.scope(node))[1] is scope:
                early = wrapped and source.scope(node) is scope and node.lineno <= (origin.end_lineno or 0)
                if not early:
                    self.value(node, bound)

    def _self_attribute(self, target: ast.Attribute, bound: tuple[ast.expr, ...]) -> None:
        owner = self.source.enclosing_class(target)
        if owner is None or (target.attr, owner) in self._seen:
            return
        self._seen.add((target.attr, owner))
        wrapped = set(ast.walk(self.origin))
        for node in self.source.by_attribute.get(target.attr, ()):
            ours = isinstance(node.value, ast.Name) and node.value.id == "self"
            inside = self.source.enclosing_class(node)
            if node is target or node in wrapped:  # ``self.step = pjit(model.step)``
                continue
            if not isinstance(node.ctx, ast.Load):
                if ours and inside is owner and not _assigns_none(self.source, node):
                    self._lose(node, f"self.{target.attr} is assigned more than once")
            elif ours and inside is owner:
                self.value(node, bound)
            elif not ours or _inherits(inside, owner):
                self._lose(node, f"{target.attr} is used outside its class")


def _fate(parent: ast.AST | None) -> str:
    if isinstance(parent, ast.Return):
        return "it is returned"
    if isinstance(parent, ast.keyword):
        return "it is passed on"
    return "it is stored where it cannot be followed"


def _rewrapped(source: Source, bindings: list[Binding], origin: ast.stmt) -> bool | None:
    """False: bound once. True: ``def f`` and then ``f = pjit(f)`` beside it. None: anything else."""
    real = [b for b in bindings if not (b.value is not None and is_none(b.value)) and b.kind not in ("declare", "del")]
    if len(real) == 1 and real[0].kind in ("assign", "def", "other"):
        return False
    if len(real) == 2 and real[0].kind == "def" and real[1].statement is origin:
        definition = real[0].node
        beside = source.parent(definition) is source.parent(origin) and line(definition) < line(origin)
        return True if beside else None
    return None


def _assigns_none(source: Source, node: ast.Attribute) -> bool:
    parent = source.parent(node)
    return isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is not None and is_none(parent.value)


def _inherits(cls: ast.ClassDef | None, owner: ast.ClassDef) -> bool:
    return cls is not None and any(isinstance(b, ast.Name) and b.id == owner.name for b in cls.bases)


def function_body(source: Source, node: ast.AST, *, rebound: bool = False) -> FunctionNode | None:
    """The definition or lambda behind an expression.

    With `rebound`, also the one that ``f`` means in ``f = pjit(f)``, where the name is bound twice.
    """
    if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        return node
    if isinstance(node, ast.Call) and is_partial(source, node) and node.args:
        return function_body(source, node.args[0], rebound=rebound)
    if isinstance(node, ast.Name):
        return _named_function(source, node, rebound)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        owner = source.enclosing_class(node)
        methods = [s for s in owner.body if isinstance(s, _FUNCTIONS) and s.name == node.attr] if owner else []
        return methods[0] if len(methods) == 1 else None
    return None


def _named_function(source: Source, node: ast.Name, rebound: bool) -> FunctionNode | None:
    bindings = source.lookup(node.id, source.scope(node))[0]
    definitions = [b.node for b in bindings if isinstance(b.node, _FUNCTIONS)]
    if len(definitions) == 1 and (len(bindings) == 1 or (rebound and all(b.kind in ("def", "assign") for b in bindings))):
        return definitions[0]
    value = source.definition(node)
    return function_body(source, value, rebound=rebound) if isinstance(value, (ast.Lambda, ast.Call)) else None


def grouped(items: Iterable[T], keys: Callable[[T], set[K]]) -> list[tuple[list[T], set[K]]]:
    """Put items that share a key (directly or through others) together."""
    groups: list[tuple[list[T], set[K]]] = []
    for item in items:
        own = keys(item)
        together = [g for g in groups if g[1] & own]
        merged = ([i for g in together for i in g[0]] + [item], own.union(*(g[1] for g in together)))
        groups = [g for g in groups if g not in together] + [merged]
    return groups
