"""What an expression may give, step by step: sides of a choice, elements of a table, defaults and arguments of a parameter.

Where `Source.resolve` says what a name means for sure, this says what else is written that it may be; nothing is run or guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from jaxmigrate.scan import last_part
from jaxmigrate.values import latest

if TYPE_CHECKING:
    from jaxmigrate.names import Source
    from jaxmigrate.scan import Binding

Part = ast.expr | str
"""An expression, or the qualified name that an import gives."""
_T = TypeVar("_T")
_DEPTH = 60
"""Steps from where a search begins to where it ends."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_COPIES = {"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "cycle"}
"""Callables that give the elements of their argument."""
_LOADERS = ("import_module", "importorskip")
"""Callables that give the module of a path."""
_FORWARD = {"partial", "jit", "vmap"}
"""Callables that call their first argument with the others, or with what they are called with."""


class Outcomes:
    """The answers about one file, each found once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._meanings: dict[ast.expr, frozenset[str]] = {}
        self._parts: dict[ast.expr, list[Part]] = {}
        self._elements: dict[tuple[ast.expr, ast.expr | None], list[ast.expr]] = {}
        self._turns: dict[ast.expr, list[ast.expr]] = {}
        self._depth = 0

    def meanings(self, node: ast.expr) -> frozenset[str]:
        """The qualified names that an expression may mean."""
        if node not in self._meanings:
            self._meanings[node] = frozenset()  # a cycle ends here
            self._meanings[node] = frozenset(self._followed(self._found, node))
        return self._meanings[node]

    def parts(self, node: ast.expr) -> list[Part]:
        """What an expression may be, one step further."""
        if node not in self._parts:
            self._parts[node] = []
            rule = _PARTS.get(type(node))
            self._parts[node] = self._followed(partial(rule, self), node) if rule is not None else []
        return self._parts[node]

    def elements(self, node: ast.expr, key: ast.expr | None = None) -> list[ast.expr]:
        """The elements of a literal container, or of a name that holds one; with a `key` that is spelled out, that one."""
        if (node, key) not in self._elements:
            self._elements[node, key] = []
            self._elements[node, key] = self._followed(self._held, node, key)
        return self._elements[node, key]

    def turns(self, node: ast.expr) -> list[ast.expr]:
        """What a loop over a container gives: the keys of a dictionary."""
        if node not in self._turns:
            self._turns[node] = []
            self._turns[node] = self._followed(self._looped, node)
        return self._turns[node]

    def _looped(self, node: ast.expr) -> Iterator[ast.expr]:
        if isinstance(node, ast.Dict):
            yield from filter(None, node.keys)
        elif isinstance(node, ast.Name):
            yield from (e for part in self.parts(node) if isinstance(part, ast.expr) for e in self.turns(part))
            yield from (value for key, value in self._put(node) if key is None)
        elif isinstance(node, ast.Call) and last_part(node.func) == "items" and isinstance(node.func, ast.Attribute):
            yield from (e for part in (node.func.value, *self.parts(node.func.value)) for e in _pairs(part))
        else:
            yield from self.elements(node)

    def _put(self, node: ast.Name) -> Iterator[tuple[ast.expr | None, ast.expr]]:
        """Keys and values that a container with a name is given later; no key for what is appended."""
        _, scope = self.source.lookup_at(node)
        for use in self.source.by_id[node.id] if scope is not None else ():
            place = self.source.parent(use)
            if place is None or self.source.lookup_at(use)[1] is not scope:
                continue
            around = self.source.parent(place)
            if isinstance(place, ast.Subscript) and isinstance(place.ctx, ast.Store) and isinstance(around, ast.Assign):
                yield place.slice, around.value
            elif isinstance(place, ast.Attribute) and isinstance(around, ast.Call) and around.func is place:
                yield from _given_by(place.attr, around)

    def _followed(self, rule: Callable[..., Iterator[_T]], *node: ast.expr | None) -> list[_T]:
        """What a rule gives, unless this is too far from where the search began."""
        if self._depth > _DEPTH:
            return []
        self._depth += 1
        try:
            return [*rule(*node)]
        finally:
            self._depth -= 1

    def _found(self, node: ast.expr) -> Iterator[str]:
        if (name := self.source.resolve(node)) is not None:
            yield name
            return
        for part in self.parts(node):
            yield from [part] if isinstance(part, str) else self.meanings(part)
        owner, name = _read(node)
        if owner is not None:
            yield from (f"{module}.{name}" for module in self.meanings(owner))

    def texts(self, node: ast.expr) -> list[ast.expr]:
        """The strings that an expression may be, put together ones included."""
        seen: dict[Part, None] = {node: None}
        waiting: list[Part] = [node]
        while waiting:
            new = [p for part in waiting if isinstance(part, ast.expr) for p in self.parts(part) if p not in seen]
            seen |= dict.fromkeys(new)
            waiting = new
        return [part for part in seen if isinstance(part, ast.expr) and _is_text(part)]

    def _of_choice(self, node: ast.IfExp) -> Iterator[Part]:
        yield from (arm for arm in (node.body, node.orelse) if not self.source.guard(arm))

    def _of_bool(self, node: ast.BoolOp) -> Iterator[Part]:
        yield from node.values

    def _of_walrus(self, node: ast.NamedExpr) -> Iterator[Part]:
        yield node.value

    def _of_name(self, node: ast.Name) -> Iterator[Part]:
        bindings, scope = self.source.lookup_at(node)
        last = latest(self.source, node, bindings, scope) if scope is not None and len(bindings) > 1 else None
        for binding in bindings if last is None else [last]:
            if last is not None or not self._is_other_arm(binding, node):
                yield from self.bound(binding)

    def _is_other_arm(self, binding: Binding, use: ast.Name) -> bool:
        """Whether a name is bound where a test holds, and used where the same test fails, or the other way round."""
        if binding.statement is None:
            return False
        there = dict(_arms(self.source, binding.statement))
        return any(there.get(test, arm) != arm for test, arm in _arms(self.source, use))

    def _of_subscript(self, node: ast.Subscript) -> Iterator[Part]:
        yield from self.elements(node.value, node.slice)

    def _of_attribute(self, node: ast.Attribute) -> Iterator[Part]:
        owner = self._class_of(node.value)
        if owner is not None:
            yield from self._of_member(owner, node.attr)
        for call in self._made(node.value):
            yield from (k.value for k in call.keywords if k.arg == node.attr)
            fields = self._fields(call.func)
            yield from call.args[fields.index(node.attr) :][:1] if node.attr in fields else []
        yield from self._assigned(node)
        if node.attr == "param" and isinstance(node.value, ast.Name) and node.value.id == "request":
            yield from self._of_fixture(self.source.function(node))

    def _made(self, node: ast.expr) -> list[ast.Call]:
        """The calls that may have made a value."""
        calls = [part for part in (node, *self.parts(node)) if isinstance(part, ast.Call)]
        further = [part for call in calls for part in self.parts(call) if isinstance(part, ast.Call)]
        return [*calls, *further]

    def _fields(self, maker: ast.expr) -> list[str]:
        """The fields of a named tuple or a dataclass of the file, in order."""
        made = self._class_of(maker)
        if made is not None:
            return [s.target.id for s in made.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        kind = self.source.value_of(maker)
        if not isinstance(kind, ast.Call) or last_part(kind.func) != "namedtuple" or len(kind.args) < 2:
            return []
        return [name for part in _names(kind.args[1]) for name in part.split()]

    def _assigned(self, node: ast.Attribute) -> Iterator[Part]:
        """What is put into the attribute of a name: ``a.np = jnp``."""
        owner = node.value
        if not isinstance(owner, ast.Name) or owner.id in ("self", "cls"):
            return
        scope = self.source.lookup_at(owner)[1]
        for other in self.source.by_attribute.get(node.attr, ()):
            is_same = isinstance(other.value, ast.Name) and other.value.id == owner.id
            if isinstance(other.ctx, ast.Store) and is_same and self.source.lookup_at(other.value)[1] is scope:  # type: ignore[arg-type]
                yield from self._stored(other)

    def _of_fixture(self, function: ast.AST | None) -> Iterator[Part]:
        """``params=`` of the decorator that makes a function a fixture."""
        for decorator in function.decorator_list if isinstance(function, _FUNCTIONS) else ():
            if isinstance(decorator, ast.Call) and last_part(decorator.func) == "fixture":
                for keyword in decorator.keywords:
                    if keyword.arg == "params":
                        yield from map(_given, self.elements(keyword.value))

    def _class_of(self, node: ast.expr) -> ast.ClassDef | None:
        """The class of the file that an expression is, or is an object of."""
        function = node.func if isinstance(node, ast.Call) else node
        if last_part(function) in ("self", "cls", "super") and isinstance(function, ast.Name):
            return self.source.enclosing_class(node)
        made = self.source.value_of(function)
        name = made.func if isinstance(made, ast.Call) else made
        bindings = self.source.lookup_at(name)[0] if isinstance(name, ast.Name) else []
        owner = bindings[0].node if len(bindings) == 1 else None
        return owner if isinstance(owner, ast.ClassDef) else None

    def _of_member(self, owner: ast.ClassDef, name: str, seen: tuple[ast.ClassDef, ...] = ()) -> Iterator[Part]:
        """What the body of a class, its methods and the classes of the file before it give a member."""
        scope = self.source.scope(owner.body[0])
        for binding in scope.bindings.get(name, ()):
            if isinstance(binding.node, _FUNCTIONS):
                is_read = any(last_part(d).endswith("property") for d in binding.node.decorator_list)
                yield from _returned(binding.node) if is_read else ()
            else:
                yield from self.bound(binding)
        for node in self.source.by_attribute.get(name, ()):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if isinstance(node.ctx, ast.Store) and is_own and self.source.enclosing_class(node) is owner:
                yield from self._stored(node)
        for base in owner.bases:
            if (earlier := self._class_of(base)) is not None and earlier not in (*seen, owner):
                yield from self._of_member(earlier, name, (*seen, owner))

    def _of_call(self, node: ast.Call) -> Iterator[Part]:
        function, callee = node.func, last_part(node.func)
        if isinstance(function, ast.Lambda):
            yield function.body
        elif isinstance(function, ast.Name):
            yield from self._called(function)
        elif isinstance(function, ast.Attribute) and (owner := self._class_of(function.value)) is not None:
            methods = (b.node for b in self.source.scope(owner.body[0]).bindings.get(callee, ()))
            yield from (part for m in methods if isinstance(m, _FUNCTIONS) for part in _returned(m))
        if callee == "get" and isinstance(function, ast.Attribute) and not node.args:
            yield from (part for call in self._made(function.value) for part in self._of_call(call))
        elif callee == "get" and isinstance(function, ast.Attribute):
            yield from self.elements(function.value, node.args[0])
            yield from node.args[1:2]
        elif callee == "cast":
            yield from node.args[1:2]
        elif callee in _LOADERS and node.args and isinstance(path := node.args[0], ast.Constant):
            yield str(path.value)
        elif callee in ("field", "staticmethod", "nullcontext", "ContextVar"):
            yield from [k.value for k in node.keywords if k.arg == "default"] or node.args[:1]

    def _called(self, function: ast.Name) -> Iterator[Part]:
        """What a function of the file, or a lambda with a name, returns."""
        for binding in self.source.lookup_at(function)[0]:
            if isinstance(binding.node, _FUNCTIONS):
                yield from _returned(binding.node)
            elif isinstance(binding.value, ast.Lambda):
                yield binding.value.body

    def bound(self, binding: Binding) -> Iterator[Part]:
        """What a binding may give its name; nothing where no release from the target on comes there."""
        if binding.kind != "param" and self.source.guard(binding.node):
            return
        if binding.kind == "import":
            yield binding.qualified
        elif binding.kind == "param" and isinstance(binding.node, ast.arg):
            yield from self._of_parameter(binding.node)
        elif isinstance(binding.node, ast.Name):
            yield from self._stored(binding.node)

    def _stored(self, target: ast.expr) -> Iterator[Part]:
        """What is put into a target, by an assignment, a loop or a ``with``, also from a tuple."""
        path: list[int] = []
        around = self.source.parent(target)
        while isinstance(around, (ast.Tuple, ast.List)):
            path.insert(0, around.elts.index(target))
            target, around = around, self.source.parent(around)
        if isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and around.value is not None:
            yield from self._along([around.value], path)
        elif isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield from self._in_turn(around.iter, path)
        elif isinstance(around, ast.withitem):
            yield around.context_expr

    def _in_turn(self, values: ast.expr, path: list[int]) -> Iterator[Part]:
        """What a loop over `values` gives to a place of its target."""
        callee = last_part(values.func) if isinstance(values, ast.Call) else ""
        if not path or not isinstance(values, ast.Call) or callee not in ("enumerate", "zip", "items"):
            yield from self._along(self.turns(values), path)
        elif callee == "zip":
            yield from self._along((e for a in values.args[path[0] : path[0] + 1] for e in self.turns(a)), path[1:])
        elif path[0] == 0 and callee == "items":
            yield from self._along(self.turns(values.func.value) if isinstance(values.func, ast.Attribute) else [], path[1:])
        elif path[0] == 1:
            of = values.func.value if callee == "items" and isinstance(values.func, ast.Attribute) else values.args[0]
            yield from self._along(self.elements(of), path[1:])

    def _along(self, values: Iterable[ast.expr], path: list[int]) -> Iterator[Part]:
        for value in values:
            inner: ast.expr | None = _given(value)
            for index in path:
                pieces = _row(inner)
                inner = pieces[index] if index < len(pieces) else None
            if inner is not None:
                yield inner

    def _held(self, node: ast.expr, key: ast.expr | None) -> Iterator[ast.expr]:
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            yield from _at(node.elts, key)
        elif isinstance(node, ast.Dict):
            yield from _under(node, key)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            yield node.elt
        elif isinstance(node, ast.BinOp):
            yield from (e for side in (node.left, node.right) for e in self.elements(side))
        elif isinstance(node, ast.Call) and (held := self._held_by_call(node, key)) is not None:
            yield from held
        else:
            yield from (e for part in self.parts(node) if isinstance(part, ast.expr) for e in self.elements(part, key))
            for own, value in self._put(node) if isinstance(node, ast.Name) else ():
                if own is None or not isinstance(key, ast.Constant) or getattr(own, "value", None) == key.value:
                    yield value

    def _held_by_call(self, node: ast.Call, key: ast.expr | None) -> list[ast.expr] | None:
        """The elements of a container that a call makes; None if it makes none."""
        callee, wanted = last_part(node.func), key.value if isinstance(key, ast.Constant) else None
        if callee == "dict":
            return [k.value for k in node.keywords if wanted in (None, k.arg)]
        if callee in _COPIES and node.args:
            return self.elements(node.args[0])
        if callee == "values" and isinstance(node.func, ast.Attribute):
            return self.elements(node.func.value)
        return (
            [node.func.value] if callee == "split" and isinstance(node.func, ast.Attribute) else None
        )  # it stands for its words

    def _of_parameter(self, argument: ast.arg) -> Iterator[Part]:
        arguments = self.source.parent(argument)
        function = self.source.parent(arguments) if isinstance(arguments, ast.arguments) else None
        if not isinstance(arguments, ast.arguments) or function is None:
            return
        yield from _default(arguments, argument)
        if isinstance(function, ast.Lambda):
            yield from self._mapped(function, arguments.args.index(argument) if argument in arguments.args else -1)
        if isinstance(function, _FUNCTIONS):
            yield from self._parametrized(function, argument.arg)
            yield from self._passed(function, arguments, argument)
            yield from self._fixed(function, argument.arg)

    def _mapped(self, function: ast.Lambda, place: int) -> Iterator[Part]:
        """What ``map`` gives a parameter of a lambda in turn."""
        call = self.source.parent(function)
        is_mapped = isinstance(call, ast.Call) and call.args[:1] == [function] and last_part(call.func) in ("map", "filter")
        if isinstance(call, ast.Call) and is_mapped and place >= 0:
            yield from (e for values in call.args[place + 1 : place + 2] for e in self.turns(values))

    def _parametrized(self, function: _Function, name: str) -> Iterator[Part]:
        """What the decorators of a test give one of its parameters in turn."""
        for call in (d for d in function.decorator_list if isinstance(d, ast.Call)):
            callee = last_part(call.func)
            if callee == "parametrize" and len(call.args) > 1 and name in (names := _names(call.args[0])):
                yield from self._along(self.turns(call.args[1]), [names.index(name)] if len(names) > 1 else [])
            elif callee in ("parameters", "named_parameters"):
                yield from self._listed(call, function, name, 1 if callee == "named_parameters" else 0)
            elif callee == "product":
                yield from (e for k in call.keywords if k.arg == name for e in self.turns(k.value))

    def _listed(self, call: ast.Call, function: _Function, name: str, skip: int) -> Iterator[Part]:
        """What absl's ``@parameters((1, jnp), (2, np))`` gives; the first of ``named_parameters`` is the name of the test."""
        own = [a.arg for a in function.args.args[1:]]
        first = call.args[0] if len(call.args) == 1 else None
        is_row = isinstance(first, (ast.Tuple, ast.Dict)) or last_part(getattr(first, "func", ast.Pass())) == "dict"
        rows = call.args if first is None or is_row else self.turns(first)
        for row in rows:
            if isinstance(row, ast.Dict):
                yield from (v for k, v in zip(row.keys, row.values, strict=True) if getattr(k, "value", None) == name)
            elif isinstance(row, ast.Call) and last_part(row.func) == "dict":
                yield from (k.value for k in row.keywords if k.arg == name)
            elif name in own:
                alone = len(own) == 1 and not isinstance(row, (ast.Tuple, ast.List))
                yield from self._along([row], [] if alone else [own.index(name) + skip])

    def _passed(self, function: _Function, arguments: ast.arguments, argument: ast.arg) -> Iterator[Part]:
        """What calls in the file give a parameter."""
        every = [*arguments.posonlyargs, *arguments.args]
        place = every.index(argument) if argument in every else len(every)
        is_method = isinstance(self.source.parent(function), ast.ClassDef)
        uses: list[ast.Name] | list[ast.Attribute] = self.source.by_id.get(function.name, [])
        if is_method:
            place -= 1
            uses = [a for a in self.source.by_attribute.get(function.name, ()) if last_part(a.value) in ("self", "cls")]
        for use in uses:
            call = self.source.parent(use)
            if isinstance(call, ast.Call) and (is_method or self._is_use(use, function)):
                forwards = call.func is not use and call.args[:1] == [use] and last_part(call.func) in _FORWARD
                given = call.args[1:] if forwards else call.args if call.func is use else []
                if forwards or call.func is use:
                    yield from (k.value for k in call.keywords if k.arg == argument.arg)
                if 0 <= place < len(given) and not any(isinstance(g, ast.Starred) for g in given[: place + 1]):
                    yield given[place]

    def _is_use(self, name: ast.expr, function: ast.AST) -> bool:
        return isinstance(name, ast.Name) and any(b.node is function for b in self.source.lookup_at(name)[0])

    def _fixed(self, function: _Function, name: str) -> Iterator[Part]:
        """What the fixture of that name gives."""
        takes = function.name.startswith("test") or _is_fixture(function)
        for binding in self.source.scope_root.bindings.get(name, ()) if takes else ():
            if binding.node is not function and _is_fixture(binding.node) and isinstance(binding.node, _FUNCTIONS):
                yield from _returned(binding.node)


_PARTS: Mapping[type[ast.expr], Callable[..., Iterator[Part]]] = {
    ast.IfExp: Outcomes._of_choice,
    ast.BoolOp: Outcomes._of_bool,
    ast.NamedExpr: Outcomes._of_walrus,
    ast.Name: Outcomes._of_name,
    ast.Subscript: Outcomes._of_subscript,
    ast.Attribute: Outcomes._of_attribute,
    ast.Call: Outcomes._of_call,
}


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return last_part(node.func) == "format"
    return isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp))


def _at(elements: list[ast.expr], key: ast.expr | None) -> list[ast.expr]:
    """The element with that number, or all if there is none."""
    number = key.value if isinstance(key, ast.Constant) else None
    return elements[number : number + 1] if isinstance(number, int) and number >= 0 else elements


def _under(node: ast.Dict, key: ast.expr | None) -> list[ast.expr]:
    """The value under a key that is spelled out, or all values."""
    if not isinstance(key, ast.Constant) or not all(isinstance(k, ast.Constant) for k in node.keys):
        return node.values
    return [v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant) and k.value == key.value]


def _pairs(node: Part) -> Iterator[ast.expr]:
    """Key and value of each item of a dictionary, as tuples."""
    if isinstance(node, ast.Dict):
        yield from (ast.Tuple([k, v]) for k, v in zip(node.keys, node.values, strict=True) if k is not None)


def _given_by(method: str, call: ast.Call) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """Key and value that a method puts into a container; no key where there is none."""
    if method in ("append", "add"):
        yield from ((None, value) for value in call.args)
    elif method in ("extend", "update"):
        yield from ((None, value) for given in call.args if isinstance(given, (ast.List, ast.Tuple)) for value in given.elts)
        yield from ((ast.Constant(k.arg), k.value) for k in call.keywords if k.arg)
    elif method == "setdefault" and len(call.args) == 2:
        yield call.args[0], call.args[1]


def _read(node: ast.expr) -> tuple[ast.expr | None, str]:
    """Owner and name of what is read: ``owner.name`` or ``getattr(owner, "name")``."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
        name = node.args[1]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return node.args[0], name.value
    return None, ""


def _returned(function: _Function) -> Iterator[Part]:
    """What a function returns or, as a fixture, yields."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
            yield node.value
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def _default(arguments: ast.arguments, argument: ast.arg) -> Iterator[Part]:
    every = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(every[len(every) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    yield from (default for other, default in pairs if other is argument)


def _names(node: ast.expr) -> list[str]:
    """The names of a parametrized test: ``"a, b"`` or ``["a", "b"]``."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [str(e.value) for e in node.elts if isinstance(e, ast.Constant)]
    return [name.strip() for name in str(node.value).split(",")] if isinstance(node, ast.Constant) else []


def _row(node: ast.expr | None) -> list[ast.expr]:
    """What a tuple, or ``pytest.param``, gives to several names."""
    if isinstance(node, ast.Call) and last_part(node.func) == "param":
        return node.args
    return node.elts if isinstance(node, (ast.Tuple, ast.List)) else []


def _given(node: ast.expr) -> ast.expr:
    """The value in ``pytest.param(value, id="name")``, or a tuple of several."""
    if not isinstance(node, ast.Call) or last_part(node.func) != "param" or not node.args:
        return node
    return node.args[0] if len(node.args) == 1 else node


def _is_fixture(function: ast.AST) -> bool:
    decorators = function.decorator_list if isinstance(function, _FUNCTIONS) else []
    return any(last_part(d.func if isinstance(d, ast.Call) else d) == "fixture" for d in decorators)


def _arms(source: Source, node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The tests around a place, and whether it runs where they hold."""
    child = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.If) and child is not ancestor.test:
            yield ast.dump(ancestor.test), child in ancestor.body
        child = ancestor
