"""One walk over a syntax tree: parents, scopes, bindings and look-up tables of names.

The hot path of every file with a hit: it touches each node once and asks nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True, eq=False)
class Binding:
    """One way a name gets its value in a scope."""

    name: str
    kind: str
    """``import``, ``assign``, ``param``, ``def``, ``class``, ``other`` (loop, with, except, unpacking, augmented, del)."""
    node: ast.AST
    """The alias, target, parameter or definition."""
    statement: ast.stmt | None
    qualified: str = ""
    """For imports: what is bound."""
    value: ast.expr | None = None
    """For a plain assignment: the expression."""
    indexed: bool = False
    """For imports: the name belongs to a module of the project, which got it from `qualified`."""


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function, lambda or comprehension and the names it binds."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    imported: dict[str, None] = field(default_factory=dict)
    """Names bound by an import, in order."""
    outer: dict[str, str] = field(default_factory=dict)
    """Names declared ``global`` or ``nonlocal``."""

    @property
    def is_class(self) -> bool:
        """Whether inner scopes do not see these names."""
        return isinstance(self.node, ast.ClassDef)


_NO_NODES = {
    *("ctx", "op", "ops", "names", "id", "attr", "arg", "name", "rest", "kwd_attrs", "type_comment", "kind", "module", "level"),
    *("asname", "conversion", "simple", "is_async", "type_ignores", "tag"),
}
"""Fields that hold no node with a place in the text."""


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a node class that hold nodes with a place in the text, last first: the order of a stack."""
    special = {"MatchSingleton": (), "TypeAlias": ("value", "type_params", "name"), "Interpolation": ("format_spec", "value")}
    if kind.__name__ in special:
        return special[kind.__name__]
    return tuple(f for f in reversed(kind._fields) if f not in _NO_NODES)


class _Children(dict[type[ast.AST], tuple[str, ...]]):
    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = fields = _child_fields(kind)
        return fields


CHILDREN = _Children()
"""The fields to visit of each node class."""


def last_part(node: ast.AST) -> str:
    """The last part of a name: of ``a.b.c`` it is ``c``; empty for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class _Walker:
    """The one pass: parents, scopes, bindings and the look-up tables."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.stack: list[tuple[ast.AST, Scope]] = []

    def walk(self) -> None:  # noqa: C901  # the hot loop: a call costs more than a branch
        source, stack = self.source, self.stack
        parents, by_id, by_attribute = source.parents, source.by_id, source.by_attribute
        fields_of = CHILDREN
        stack.append((source.tree, source.scope_root))
        while stack:
            node, scope = stack.pop()
            kind = node.__class__
            if kind is ast.Name:
                by_id.setdefault(node.id, []).append(node)  # type: ignore[attr-defined,arg-type]
                if node.ctx.__class__ is not ast.Load:  # type: ignore[attr-defined]
                    self._store(node, scope)  # type: ignore[arg-type]
                continue
            if kind is ast.Constant:
                if node.value.__class__ is str:  # type: ignore[attr-defined]
                    source.strings.append(node)  # type: ignore[arg-type]
                continue
            special = _SPECIAL.get(kind)
            if special is not None:
                inside = special(self, node, scope)
                if inside is None:
                    continue
            elif kind is ast.Attribute:
                by_attribute.setdefault(node.attr, []).append(node)  # type: ignore[attr-defined,arg-type]
                parents[node.value] = node  # type: ignore[attr-defined]
                stack.append((node.value, scope))  # type: ignore[attr-defined]
                continue
            for name in fields_of[kind]:
                value = getattr(node, name)
                if value.__class__ is list:
                    for item in reversed(value):
                        if item is not None:  # the keys of {**x}
                            parents[item] = node
                            stack.append((item, scope))
                elif value is not None:
                    parents[value] = node
                    stack.append((value, scope))

    def bind(
        self, scope: Scope, name: str, kind: str, node: ast.AST, qualified: str = "", value: ast.expr | None = None
    ) -> Binding:
        target = scope
        if scope.outer.get(name) == "global":
            target = self.source.scope_root
        while isinstance(target.node, _COMPREHENSIONS) and kind == "other" and isinstance(self._owner(node), ast.NamedExpr):
            target = target.parent or target  # := binds outside the comprehension
        statement = self._statement(node)
        binding = Binding(name, kind, node, statement, qualified, value)
        target.bindings.setdefault(name, []).append(binding)
        if kind == "import":
            target.imported[name] = None
        return binding

    def _owner(self, node: ast.AST) -> ast.AST | None:
        return self.source.parents.get(node)

    def _statement(self, node: ast.AST) -> ast.stmt | None:
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.source.parents.get(current)
        return current

    def _store(self, node: ast.Name, scope: Scope) -> None:
        parent = self.source.parents.get(node)
        if isinstance(parent, ast.Assign) and node in parent.targets:
            self.bind(scope, node.id, "assign", node, value=parent.value)
        elif isinstance(parent, ast.AnnAssign):
            if parent.value is not None:
                self.bind(scope, node.id, "assign", node, value=parent.value)
            else:
                self.bind(scope, node.id, "declare", node)
        elif isinstance(parent, ast.NamedExpr):
            self.bind(scope, node.id, "other", node, value=parent.value)
        elif isinstance(node.ctx, ast.Del):
            self.bind(scope, node.id, "del", node)
        else:
            self.bind(scope, node.id, "other", node)

    def push(self, parent: ast.AST, children: Iterable[ast.AST | None], scope: Scope, *, enter: bool = False) -> None:
        """Queue `children`; `enter` marks them as evaluated in another scope than their parent."""
        for child in reversed([c for c in children if c is not None]):
            self.source.parents[child] = parent
            if enter:
                self.source._scope_at[child] = scope
            self.stack.append((child, scope))

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self.bind(scope, node.name, "def", node)
        inner = Scope(node, scope)
        self.push(node, node.body, inner, enter=True)
        self._arguments(node, node.args, scope, inner)
        if node.returns is not None:
            self.source._annotations.append((node.returns, scope))
        self.push(node, [*node.decorator_list, node.returns, *getattr(node, "type_params", ())], scope)

    def lambda_(self, node: ast.Lambda, scope: Scope) -> None:
        inner = Scope(node, scope)
        self.push(node, [node.body], inner, enter=True)
        self._arguments(node, node.args, scope, inner)

    def _arguments(self, node: ast.AST, arguments: ast.arguments, scope: Scope, inner: Scope) -> None:
        self.source.parents[arguments] = node
        everything = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
        for argument in everything:
            if argument is not None:
                self.source.parents[argument] = arguments
                inner.bindings.setdefault(argument.arg, []).append(Binding(argument.arg, "param", argument, None))
                if argument.annotation is not None:
                    self.source._annotations.append((argument.annotation, scope))
                    self.push(argument, [argument.annotation], scope)
        self.push(arguments, [*arguments.defaults, *arguments.kw_defaults], scope)

    def class_(self, node: ast.ClassDef, scope: Scope) -> None:
        self.bind(scope, node.name, "class", node)
        inner = Scope(node, scope)
        self.push(node, node.body, inner, enter=True)
        self.push(node, [*node.decorator_list, *node.bases, *node.keywords, *getattr(node, "type_params", ())], scope)

    def comprehension(self, node: ast.AST, scope: Scope) -> None:
        inner = Scope(node, scope)
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore[attr-defined]
        self.push(node, results, inner, enter=True)
        for number, generator in enumerate(generators):
            self.source.parents[generator] = node
            outer = number == 0
            self.push(generator, [generator.target, *generator.ifs], inner, enter=True)
            self.push(generator, [generator.iter], scope if outer else inner, enter=not outer)

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> Scope:
        self.source._annotations.append((node.annotation, scope))
        leaf = last_part(node.annotation)
        if leaf == "TypeAlias" and node.value is not None:
            self.source._annotations.append((node.value, scope))
        return scope

    def call(self, node: ast.Call, scope: Scope) -> Scope:
        """``typing.cast("T", x)`` and friends hold a quoted annotation too."""
        leaf = last_part(node.func)
        if leaf in ("cast", "TypeVar", "NewType") and node.args:
            for argument in node.args:
                if isinstance(argument, (ast.Constant, ast.Subscript)):
                    self.source._annotations.append((argument, scope))
            for keyword in node.keywords:
                if keyword.arg == "bound":
                    self.source._annotations.append((keyword.value, scope))
        return scope

    def assigned(self, node: ast.Assign, scope: Scope) -> Scope:
        """``Alias = Union["T", int]``: strings in a subscript on the right-hand side are forward references."""
        if isinstance(node.value, ast.Subscript):
            self.source._annotations.append((node.value, scope))
        return scope

    def keyword(self, node: ast.keyword, scope: Scope) -> Scope:
        if node.arg is not None:
            self.source.keywords.setdefault(node.arg, []).append(node)
        return scope

    def import_(self, node: ast.Import, scope: Scope) -> None:
        self.source.imports.append(node)
        for alias in node.names:
            self.source.parents[alias] = node
            name = alias.asname or alias.name.partition(".")[0]
            self.bind(scope, name, "import", alias, alias.name if alias.asname else name)

    def import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        source = self.source
        source.imports.append(node)
        module = source.absolute(node.module, node.level)
        for alias in node.names:
            source.parents[alias] = node
            if alias.name == "*":
                source.stars.append(node)
                continue
            qualified = source._through_index(f"{module}.{alias.name}")
            binding = self.bind(scope, alias.asname or alias.name, "import", alias, qualified)
            binding.indexed = qualified != f"{module}.{alias.name}"

    def outer(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            scope.outer[name] = "global" if isinstance(node, ast.Global) else "nonlocal"

    def with_(self, node: ast.With, scope: Scope) -> Scope:
        self.source.withs.append(node)
        return scope

    def handler(self, node: ast.ExceptHandler, scope: Scope) -> Scope:
        if node.name:
            self.bind(scope, node.name, "other", node)
        return scope

    def match_name(self, node: ast.AST, scope: Scope) -> Scope:
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name:
            self.bind(scope, name, "other", node)
        return scope


_SPECIAL: Mapping[type[ast.AST], Callable[..., Scope | None]] = {
    ast.FunctionDef: _Walker.function,
    ast.AsyncFunctionDef: _Walker.function,
    ast.Lambda: _Walker.lambda_,
    ast.ClassDef: _Walker.class_,
    ast.ListComp: _Walker.comprehension,
    ast.SetComp: _Walker.comprehension,
    ast.DictComp: _Walker.comprehension,
    ast.GeneratorExp: _Walker.comprehension,
    ast.AnnAssign: _Walker.annotated,
    ast.Call: _Walker.call,
    ast.Assign: _Walker.assigned,
    ast.keyword: _Walker.keyword,
    ast.Import: _Walker.import_,
    ast.ImportFrom: _Walker.import_from,
    ast.Global: _Walker.outer,
    ast.Nonlocal: _Walker.outer,
    ast.With: _Walker.with_,
    ast.ExceptHandler: _Walker.handler,
    ast.MatchAs: _Walker.match_name,
    ast.MatchStar: _Walker.match_name,
    ast.MatchMapping: _Walker.match_name,
}


_parsed: dict[str, ast.Module] = {}


def hand_over(text: str, tree: ast.Module) -> None:
    """Keep a tree for whoever parses the same text next; it is given away once."""
    _parsed.clear()
    _parsed[text] = tree


def handed_over(text: str) -> ast.Module | None:
    """The tree that was kept for this text."""
    return _parsed.pop(text, None)


def walk(source: Source) -> None:
    """Fill the look-up tables of `source` from its tree."""
    _Walker(source).walk()
