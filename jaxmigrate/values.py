"""What values are: types of receivers, definitions of names, callers of callables, roles of type names.

Everything here reasons within one file from what is written there; what it cannot tell is None, never a guess. The facts about
particular libraries (which function returns what) come from the packs as `Facts`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxmigrate import guards
from jaxmigrate.history import History
from jaxmigrate.model import Version
from jaxmigrate.scan import last_part
from jaxmigrate.signatures import Signatures

if TYPE_CHECKING:
    from jaxmigrate.names import Binding, Scope, Source

OTHER = "?other"
_BUILTIN_CALLS = {"len": "int", "int": "int", "float": "float", "str": "str", "bool": "bool", "repr": "str", "dict": "dict",
                  "set": "set", "range": "range", "open": "file", "isinstance": "bool", "id": "int", "sum": ""}  # fmt: skip
_SEQUENCES = {"list", "List", "Sequence", "Iterable", "Iterator", "Tuple", "tuple", "Set", "set", "FrozenSet", "Collection"}
_BUILTIN_TYPES = {"int", "float", "str", "bool", "bytes", "dict", "list", "tuple", "set"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the packs know about the world outside the file."""

    returns: Mapping[str, str] = field(default_factory=dict)
    """Callable -> type of its result; ``jax.numpy.*`` matches one more name part."""
    members: Mapping[str, str] = field(default_factory=dict)
    """``type.attribute`` -> type; ``type.method()`` -> type of its result."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Type name -> the canonical one."""
    types: frozenset[str] = frozenset()
    """Classes: calling one makes an instance."""
    foreign: frozenset[str] = frozenset()
    """Top-level packages whose results are never JAX values."""
    transforms: frozenset[str] = frozenset()
    """Functions whose argument is run with tracers."""
    uncallable: frozenset[str] = frozenset()
    """Attributes that were methods (or lists) and are there as something else, so that using them raises TypeError."""
    traced_classes: frozenset[str] = frozenset()
    """Base classes whose methods run with tracers."""
    autoimported: frozenset[str] = frozenset()
    """Submodules reachable as attributes after importing their parent."""
    by_path: frozenset[str] = frozenset()
    """Packages whose submodules are best named in full where the root is imported, though they need an import of their own."""
    containers: frozenset[str] = frozenset()
    """Packages that only hold others: what is in them is imported, never they themselves."""
    news: Mapping[str, Version] = field(default_factory=dict)
    """Members that objects of the library have not had in every release, and since when they do."""
    since: Mapping[str, Version] = field(default_factory=dict)
    """Emitted API -> first release that has it, where the history does not tell."""
    history: History = field(default_factory=History)
    signatures: Signatures = field(default_factory=Signatures)

    def since_of(self, name: str) -> Version | None:
        """The first release with `name`, or with the module it is said to live in."""
        while name:
            if name in self.since:
                return self.since[name]
            if (found := self.history.since(name)) is not None:
                return found
            name = name.rpartition(".")[0]
        return None

    def is_attribute_path(self, root: str, module: str) -> bool:
        """Whether `module` is reachable by attributes once `root` is imported."""
        current = module
        while current != root:
            if current not in self.autoimported:
                return False
            current = current.rpartition(".")[0]
            if not current:
                return False
        return True

    def home_of(self, qualified: str) -> str:
        """The module that must be loaded to reach a name: what is a module itself may be one that its package does not load."""
        alone = qualified not in self.autoimported and self.history.is_module(qualified)
        return qualified if alone else qualified.rpartition(".")[0]

    def is_by_path(self, module: str) -> bool:
        """Whether the module lies in a package whose members are named in full."""
        return any(module == package or module.startswith(f"{package}.") for package in self.by_path)

    def is_gone_module(self, module: str) -> bool:
        """Whether the module, or one that it lives in, is gone."""
        while module:
            found = self.history.entry(module)
            if found is not None and not found.alive and self.history.is_module(module):
                return True
            if found is None and "._" in module and self.history.has_private(module) is False:
                return True
            module = module.rpartition(".")[0]
        return False

    def canonical(self, name: str) -> str:
        """The canonical name of a type."""
        return self.aliases.get(name, name)

    def result_of(self, qualified: str) -> str | None:
        """The type of a call of `qualified`."""
        found = self.returns.get(qualified)
        if found is None:
            canonical = self.canonical(qualified)
            if canonical in self.types:
                return canonical
            found = self._by_module(qualified)
        if found is None and qualified.partition(".")[0] in self.foreign:
            return OTHER
        return found or None

    def _by_module(self, qualified: str) -> str | None:
        """The longest ``module.*`` entry that covers the name."""
        module = qualified.rpartition(".")[0]
        while module:
            if (found := self.returns.get(module + ".*")) is not None:
                return found
            module = module.rpartition(".")[0]
        return None


def infer(source: Source, node: ast.expr, depth: int = 0) -> str | None:
    """The type of the value of `node`; see `Source.infer`."""
    if depth > 12:
        return None
    known = source.inferred
    if (node, depth) not in known:
        known[node, depth] = _infer(source, node, depth)
    return known[node, depth]


def _infer(source: Source, node: ast.expr, depth: int) -> str | None:
    found = _narrowed(source, node)
    if found:
        return found
    function: Callable[..., str | None] | None = _INFER.get(type(node))
    return function(source, node, depth + 1) if function else None


def _constant(source: Source, node: ast.Constant, depth: int) -> str | None:
    return None if node.value is None else f"builtins.{type(node.value).__name__}"


def _sequence(source: Source, node: ast.List | ast.Tuple | ast.Set, depth: int) -> str | None:
    kinds = {infer(source, e, depth) for e in node.elts}
    if len(kinds) == 1 and (kind := kinds.pop()):
        return f"list[{kind}]"
    return "builtins.list"


def _comprehension(source: Source, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, depth: int) -> str | None:
    kind = infer(source, node.elt, depth)
    return f"list[{kind}]" if kind else "builtins.list"


def _either(source: Source, node: ast.IfExp, depth: int) -> str | None:
    return _agreed([infer(source, node.body, depth), infer(source, node.orelse, depth)])


def _boolop(source: Source, node: ast.BoolOp, depth: int) -> str | None:
    return _agreed([infer(source, v, depth) for v in node.values])


def _agreed(kinds: list[str | None]) -> str | None:
    return kinds[0] if kinds and all(k == kinds[0] for k in kinds) else None


def _binop(source: Source, node: ast.BinOp, depth: int) -> str | None:
    kinds = [infer(source, node.left, depth), infer(source, node.right, depth)]
    for kind in kinds:
        if kind in source.facts.types and f"{kind}.*binary" in source.facts.members:
            return source.facts.members[f"{kind}.*binary"]
    return _agreed(kinds)


def _name(source: Source, node: ast.Name, depth: int) -> str | None:
    bindings, scope = source.lookup(node.id, source.scope(node))
    if scope is None:
        return None
    kinds = [_binding_type(source, b, depth) for b in bindings if not _is_none(b)]
    if kinds and None not in kinds and (agreed := _agreed(kinds)):
        return agreed
    last = latest(source, node, bindings, scope) if len(bindings) > 1 else None
    return _binding_type(source, last, depth) if last is not None else None


def latest(source: Source, node: ast.Name, bindings: list[Binding], scope: Scope) -> Binding | None:
    """The assignment that surely gave a name its value at `node`: the last before it, straight in the body it runs in.

    ``def f(x): x = jnp.asarray(x)`` and the like; None where a branch, a loop or another function may have bound it since.
    """
    if source.scope(node) is not scope or source.is_bound_from_inside(node.id):
        return None
    start = source.span(node)[0]
    around = set(source.ancestors(node))
    before = [b for b in bindings if b.statement is None or source.span(b.statement)[1] <= start]
    chosen = max((b for b in before if b.statement is not None), key=lambda b: source.span(b.node)[0], default=None)
    if chosen is None or chosen.kind != "assign" or chosen.statement is None or source.parent(chosen.statement) not in around:
        return None
    for other in bindings:
        loops = {a for a in source.ancestors(other.node) if isinstance(a, (ast.For, ast.While, ast.AsyncFor))}
        if other is not chosen and loops & around:
            return None
    return chosen


def _is_none(binding: Binding) -> bool:
    return binding.kind in ("del", "declare") or (isinstance(binding.value, ast.Constant) and binding.value.value is None)


def _binding_type(source: Source, binding: Binding, depth: int) -> str | None:
    node = binding.node
    parent = source.parent(node)
    if binding.kind == "assign" and binding.value is not None:
        if isinstance(parent, ast.AnnAssign):
            return annotation_type(source, parent.annotation) or infer(source, binding.value, depth)
        return infer(source, binding.value, depth)
    if binding.kind == "param":
        return _parameter_type(source, binding, depth)
    if binding.kind in ("class", "def", "import"):
        return OTHER if binding.kind != "import" else None
    if isinstance(parent, ast.NamedExpr):
        return infer(source, parent.value, depth)
    if isinstance(parent, (ast.For, ast.AsyncFor, ast.comprehension)) and parent.target is node:
        return element(infer(source, parent.iter, depth))
    if isinstance(parent, ast.withitem) and parent.optional_vars is node:
        return infer(source, parent.context_expr, depth)
    if isinstance(parent, ast.Tuple):
        return _unpacked(source, parent, node, depth)
    return None


def _unpacked(source: Source, target: ast.Tuple, node: ast.AST, depth: int) -> str | None:
    """``for i, d in enumerate(devices)``, ``a, b = xs`` and ``for a, b in zip(xs, ys)``."""
    position = next((i for i, e in enumerate(target.elts) if e is node), None)
    owner = source.parent(target)
    if position is None:
        return None
    if isinstance(owner, ast.Assign):
        value = owner.value
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            return infer(source, value.elts[position], depth)
        return element(infer(source, value, depth))
    if isinstance(owner, (ast.For, ast.comprehension)) and isinstance(owner.iter, ast.Call):
        call = owner.iter
        called = call.func.id if isinstance(call.func, ast.Name) else ""
        if called == "enumerate" and call.args:
            return "builtins.int" if position == 0 else element(infer(source, call.args[0], depth))
        if called == "zip" and position < len(call.args):
            return element(infer(source, call.args[position], depth))
        if isinstance(call.func, ast.Attribute) and call.func.attr == "items" and position == 1:
            kind = infer(source, call.func.value, depth)
            return kind[5:-1] if kind and kind.startswith("dict[") else None
    return None


def _parameter_type(source: Source, binding: Binding, depth: int) -> str | None:
    argument = binding.node
    assert isinstance(argument, ast.arg)
    if argument.annotation is not None:
        return annotation_type(source, argument.annotation)
    return None


def element(kind: str | None) -> str | None:
    """The type of the elements of ``list[T]``."""
    return kind[5:-1] if kind and kind.startswith("list[") else None


def annotation_type(source: Source, node: ast.expr) -> str | None:
    """The type an annotation names; Optional is looked through, sequences give ``list[T]``."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            hosted = source.quoted(node)
            return annotation_type(source, hosted) if hosted is not None else None
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _agreed([k for n in (node.left, node.right) if not _is_none_node(n) for k in [annotation_type(source, n)]])
    if isinstance(node, ast.Subscript):
        return _generic_type(source, node)
    qualified = source.resolve(node)
    if qualified is None:
        return _unresolved_annotation(source, node)
    leaf = qualified.rpartition(".")[2]
    if qualified.startswith(("typing.", "typing_extensions.")):
        return None if leaf in ("Any", "Union", "Optional") else OTHER
    return source.facts.canonical(qualified)


def _unresolved_annotation(source: Source, node: ast.expr) -> str | None:
    if not isinstance(node, ast.Name):
        return None
    bindings, scope = source.lookup(node.id, source.scope(node))
    if scope is None:
        return f"builtins.{node.id}" if node.id in _BUILTIN_TYPES else None
    if len(bindings) == 1:
        if bindings[0].kind == "class":
            return OTHER
        value = bindings[0].value
        if isinstance(value, (ast.Subscript, ast.BinOp)) and not _is_recursive(source, node.id, value):
            return annotation_type(source, value)
    return None


def _is_recursive(source: Source, name: str, value: ast.expr) -> bool:
    """Whether an alias is made of itself, perhaps through others: ``Tree = Union[Array, Dict[str, "Tree"]]``."""
    waiting, seen = [value], set[str]()
    while waiting:
        for part in ast.walk(waiting.pop()):
            text = part.id if isinstance(part, ast.Name) else part.value if isinstance(part, ast.Constant) else ""
            for word in re.findall(r"\w+", text) if isinstance(text, str) else ():
                if word == name:
                    return True
                if word not in seen:
                    seen.add(word)
                    bindings = source.lookup(word, source.scope(value))[0]
                    waiting += [b.value for b in bindings if isinstance(b.value, (ast.Subscript, ast.BinOp))]
    return False


def _generic_type(source: Source, node: ast.Subscript) -> str | None:
    base = node.value
    leaf = last_part(base)
    inner = node.slice
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    parts = [p for p in parts if not _is_none_node(p)]
    if leaf in ("Optional", "Union", "Annotated", "Final", "ClassVar"):
        chosen = parts[:1] if leaf == "Annotated" else parts
        return _agreed([annotation_type(source, p) for p in chosen]) if chosen else None
    if leaf in _SEQUENCES and parts:
        kinds = [annotation_type(source, p) for p in parts if not (isinstance(p, ast.Constant) and p.value is Ellipsis)]
        kind = _agreed(kinds)
        return f"list[{kind}]" if kind else "builtins.list"
    if leaf in ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict") and len(parts) == 2:
        kind = annotation_type(source, parts[1])
        return f"dict[{kind}]" if kind else "builtins.dict"
    return OTHER if leaf in ("Callable", "Type", "type") else None


def _is_none_node(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _call(source: Source, node: ast.Call, depth: int) -> str | None:
    function = node.func
    qualified = source.resolve(function)
    if qualified is not None:
        return source.facts.result_of(qualified) or _local_call(source, function, depth)
    if isinstance(function, ast.Name):
        return _local_call(source, function, depth) or _builtin_call(source, function, node, depth)
    if isinstance(function, ast.Attribute):
        receiver = infer(source, function.value, depth)
        if receiver == OTHER:
            return OTHER
        if receiver:
            return _container_call(receiver, function.attr) or source.facts.members.get(f"{receiver}.{function.attr}()")
        return _method_call(source, function, depth)
    return None


_CONTAINERS = ("builtins.dict", "builtins.list", "builtins.tuple", "builtins.set")
"""Built-in containers whose elements are unknown."""


def _container_call(receiver: str, method: str) -> str | None:
    """What a method of a built-in value gives: the elements of a container may be anything."""
    if receiver.startswith("dict["):
        return {"values": f"list[{receiver[5:-1]}]", "get": receiver[5:-1], "pop": receiver[5:-1], "copy": receiver}.get(method)
    if receiver.startswith("builtins.") and receiver not in _CONTAINERS:
        return OTHER
    return None


def _method_call(source: Source, function: ast.Attribute, depth: int) -> str | None:
    if isinstance(function.value, ast.Name) and function.value.id in ("self", "cls"):
        owner = source.enclosing_class(function)
        for statement in owner.body if owner else ():
            if isinstance(statement, _FUNCTIONS) and statement.name == function.attr and statement.returns is not None:
                return annotation_type(source, statement.returns)
    return None


def _local_call(source: Source, function: ast.expr, depth: int) -> str | None:
    if not isinstance(function, ast.Name):
        return None
    bindings, _ = source.lookup(function.id, source.scope(function))
    if len(bindings) != 1:
        return None
    node = bindings[0].node
    if isinstance(node, ast.ClassDef):
        return OTHER
    if isinstance(node, ast.FunctionDef) and node.returns is not None:
        return annotation_type(source, node.returns)
    return None


def _builtin_call(source: Source, function: ast.Name, node: ast.Call, depth: int) -> str | None:
    if source.lookup(function.id, source.scope(function))[1] is not None:
        return None
    name = function.id
    if name in ("list", "tuple", "sorted", "reversed", "iter", "set", "frozenset") and len(node.args) >= 1:
        kind = infer(source, node.args[0], depth) or ""
        if kind.startswith("list["):
            return kind
        return f"list[{kind}]" if kind == source.facts.canonical("jax.Array") else "builtins.list"
    if name in ("next", "min", "max") and len(node.args) == 1:
        return element(infer(source, node.args[0], depth))
    result = _BUILTIN_CALLS.get(name)
    return f"builtins.{result}" if result else None


def _attribute(source: Source, node: ast.Attribute, depth: int) -> str | None:
    qualified = source.resolve(node)
    if qualified is not None:
        return OTHER if qualified.partition(".")[0] in source.facts.foreign else source.facts.members.get(qualified)
    receiver = infer(source, node.value, depth)
    if receiver == OTHER:
        return OTHER
    if receiver:
        return source.facts.members.get(f"{receiver}.{node.attr}")
    if _is_self(node.value):
        kinds = [annotation_type(source, a.annotation) if isinstance(a, ast.AnnAssign) else infer(source, a, depth)
                 for a in _self_values(source, node)]  # fmt: skip
        return _agreed(kinds)
    return None


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _self_values(source: Source, node: ast.Attribute) -> list[ast.expr | ast.AnnAssign]:
    """What ``self.attr`` is assigned anywhere in the class around `node` (None values apart), or its class-level annotation."""
    owner = source.enclosing_class(node)
    if owner is None:
        return []
    found: list[ast.expr | ast.AnnAssign] = []
    for statement in owner.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.target.id == node.attr:
            found.append(statement)
        elif isinstance(statement, ast.Assign) and any(isinstance(t, ast.Name) and t.id == node.attr for t in statement.targets):
            found.append(statement.value)
    for other in source.by_attribute.get(node.attr, ()):
        if isinstance(other.ctx, ast.Store) and _is_self(other.value) and source.enclosing_class(other) is owner:
            parent = source.parent(other)
            if isinstance(parent, ast.AnnAssign):
                found.append(parent)
            elif isinstance(parent, ast.Assign) and other in parent.targets:
                if not _is_none_node(parent.value):
                    found.append(parent.value)
            else:
                found.append(other)  # unpacked or augmented: of unknown value
    return found


def _subscript(source: Source, node: ast.Subscript, depth: int) -> str | None:
    kind = infer(source, node.value, depth)
    if kind and kind.startswith("list["):
        return kind if isinstance(node.slice, ast.Slice) else element(kind)
    if kind and kind.startswith("dict["):
        return kind[5:-1]
    if kind == OTHER:
        return OTHER
    return source.facts.members.get(f"{kind}.[]") if kind else None


def _dict(source: Source, node: ast.Dict | ast.DictComp, depth: int) -> str | None:
    values = [node.value] if isinstance(node, ast.DictComp) else node.values
    kind = _agreed([infer(source, v, depth) for v in values]) if values else None
    return f"dict[{kind}]" if kind else "builtins.dict"


def _walrus(source: Source, node: ast.NamedExpr, depth: int) -> str | None:
    return infer(source, node.value, depth)


def _string(source: Source, node: ast.expr, depth: int) -> str | None:
    return "builtins.str"


def _function(source: Source, node: ast.expr, depth: int) -> str | None:
    return OTHER


_INFER: Mapping[type[ast.expr], Callable[..., str | None]] = {
    ast.Constant: _constant, ast.List: _sequence, ast.Tuple: _sequence, ast.Set: _sequence, ast.ListComp: _comprehension,
    ast.SetComp: _comprehension, ast.GeneratorExp: _comprehension, ast.IfExp: _either, ast.BoolOp: _boolop, ast.BinOp: _binop,
    ast.Name: _name, ast.Call: _call, ast.Attribute: _attribute, ast.Subscript: _subscript, ast.NamedExpr: _walrus,
    ast.JoinedStr: _string, ast.Lambda: _function, ast.Dict: _dict, ast.DictComp: _dict, ast.Starred: lambda *_: None,
}  # fmt: skip


def _narrowed(source: Source, node: ast.expr) -> str | None:
    """The type an ``isinstance`` test around or before `node` gives it."""
    if not isinstance(node, (ast.Name, ast.Attribute)) or "isinstance" not in source.by_id:
        return None
    wanted = ast.dump(node)
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        for test in _tests_that_hold(ancestor, child):
            if kind := _tested(source, test, wanted):
                return kind
        if isinstance(ancestor, (*_FUNCTIONS, ast.ClassDef)):
            return None
        child = ancestor
    return None


def _tests_that_hold(ancestor: ast.AST, child: ast.AST) -> Iterator[ast.expr]:
    """The conditions that are true when `child` of `ancestor` runs."""
    in_body = isinstance(ancestor, (ast.If, ast.While)) and child in ancestor.body
    if isinstance(ancestor, (ast.If, ast.While, ast.IfExp)) and (in_body or child is ancestor.body):
        yield ancestor.test
    elif isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:  # in the else part
        yield from _denied(ancestor.test)
    elif isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And):
        yield from ancestor.values[: next((i for i, v in enumerate(ancestor.values) if v is child), 0)]
    elif isinstance(ancestor, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and child is ancestor.elt:
        yield from (t for g in ancestor.generators for t in g.ifs)
    if isinstance(child, ast.stmt):
        for block in ("body", "orelse", "finalbody"):
            siblings = getattr(ancestor, block, None)
            if isinstance(siblings, list) and child in siblings:
                yield from _held_since(siblings[: siblings.index(child)])


def _held_since(statements: list[ast.stmt]) -> Iterator[ast.expr]:
    """The conditions that are true once these statements have run through."""
    for statement in statements:
        if isinstance(statement, ast.Assert):
            yield statement.test
        elif isinstance(statement, ast.If) and not statement.orelse and guards.leaves(statement.body):
            yield from _denied(statement.test)


def _denied(test: ast.expr) -> Iterator[ast.expr]:
    """The condition that is true when `test`, a negation, is false."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield test.operand


def _tested(source: Source, test: ast.expr, wanted: str) -> str | None:
    test = source.value_of(test) if isinstance(test, ast.Name) else test
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return next((k for v in test.values if (k := _tested(source, v, wanted))), None)
    is_test = isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"
    if not is_test or not isinstance(test, ast.Call) or len(test.args) != 2 or isinstance(test.args[1], ast.Tuple):
        return None
    return annotation_type(source, test.args[1]) if ast.dump(test.args[0]) == wanted else None


def definition(source: Source, node: ast.expr) -> ast.expr | None:
    """The only expression that a name or an attribute of self is ever bound to."""
    if isinstance(node, ast.Name):
        bindings, _ = source.lookup(node.id, source.scope(node))
        if len(bindings) == 1 and bindings[0].kind == "assign":
            return bindings[0].value
        return None
    if isinstance(node, ast.Attribute) and _is_self(node.value):
        found = _self_values(source, node)
        if len(found) == 1:
            value = found[0].value if isinstance(found[0], ast.AnnAssign) else found[0]
            return value if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", None), ast.Store) else None
    return None


def value_of(source: Source, node: ast.expr) -> ast.expr:
    """Follow names with a single definition to the expression behind them."""
    for _ in range(8):
        found = definition(source, node)
        if found is None:
            return node
        node = found
    return node


def is_pure(node: ast.expr) -> bool:
    """Names, attributes, constants and subscripts of those: evaluating them twice is harmless."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Attribute):
        return is_pure(node.value)
    if isinstance(node, ast.Subscript):
        return is_pure(node.value) and is_pure(node.slice)
    if isinstance(node, ast.UnaryOp):
        return is_pure(node.operand)
    return isinstance(node, ast.Tuple) and all(is_pure(e) for e in node.elts)


def callers(source: Source, maker: ast.AST) -> tuple[list[ast.Call], bool]:
    """Calls of the callable that `maker` (a Call or a def) makes, followed within the file; see `Source.callers`."""
    tracker = _Tracker(source)
    if isinstance(maker, _FUNCTIONS):
        tracker.function(maker)
    else:
        tracker.value(maker)
    return sorted(tracker.calls, key=lambda c: (c.lineno, c.col_offset)), tracker.complete


class _Tracker:
    """Follows one callable value through assignments, decorators, partial and attributes of self."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.calls: list[ast.Call] = []
        self.complete = True
        self._seen: set[object] = set()

    def value(self, node: ast.AST) -> None:
        """`node` is an expression whose value is the callable."""
        parent = self.source.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            self.calls.append(parent)
        elif isinstance(parent, ast.Assign) and parent.value is node:
            for target in parent.targets:
                self.target(target)
        elif isinstance(parent, (ast.AnnAssign, ast.NamedExpr)) and parent.value is node:
            self.target(parent.target)
            if isinstance(parent, ast.NamedExpr):
                self.value(parent)
        elif isinstance(parent, _FUNCTIONS) and node in parent.decorator_list:
            if parent.decorator_list[0] is not node:
                self.complete = False
            self.function(parent)
        elif isinstance(parent, ast.Expr):
            pass
        else:
            self.complete = False

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Calls of a def by its name, or as a method through self."""
        scope = self.source.scope(node)
        if isinstance(scope.node, ast.ClassDef):
            self.attribute(node.name, scope.node)
        else:
            self.name(node.name, scope)

    def target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            _, scope = self.source.lookup(target.id, self.source.scope(target))
            if scope is not None:
                self.name(target.id, scope)
        elif isinstance(target, ast.Attribute) and _is_self(target.value):
            owner = self.source.enclosing_class(target)
            if owner is not None:
                self.attribute(target.attr, owner)
        else:
            self.complete = False

    def name(self, name: str, scope: Scope) -> None:
        if (name, id(scope)) in self._seen:
            return
        self._seen.add((name, id(scope)))
        if len([b for b in scope.bindings.get(name, ()) if not _is_none(b)]) != 1:
            self.complete = False
        for node in self.source.by_id.get(name, ()):
            if isinstance(node.ctx, ast.Load) and self.source.lookup(name, self.source.scope(node))[1] is scope:
                self.value(node)

    def attribute(self, name: str, owner: ast.ClassDef) -> None:
        if (name, id(owner)) in self._seen:
            return
        self._seen.add((name, id(owner)))
        for node in self.source.by_attribute.get(name, ()):
            if not isinstance(node.ctx, ast.Load):
                continue
            if _is_self(node.value) and self.source.enclosing_class(node) is owner:
                self.value(node)
            elif not _is_self(node.value):
                self.complete = False


def tracing_evidence(source: Source, node: ast.AST) -> str:
    """Why `node` may see tracers: a transformed function around it (or above it in calls), or a file that speaks of tracers."""
    function = source.function(node)
    while function is not None:
        if reason := _traced(source, function):
            return reason
        function = source.function(function)
    for word in ("Tracer", "is_tracer", "UnexpectedTracerError", "ConcretizationTypeError", "TracerArrayConversionError"):
        if source.mentions(word):
            return f"this file mentions {word}"
    return ""


def _traced(source: Source, function: ast.AST) -> str:
    """Why a function is run with tracers: transformed itself, a method of a module class, or called by one that is."""
    if function not in source.traced:
        source.traced[function] = ""  # a cycle of calls ends here
        source.traced[function] = (
            _transformed(source, function) or _in_module_class(source, function) or _by_caller(source, function)
        )
    return source.traced[function]


def _in_module_class(source: Source, function: ast.AST) -> str:
    owner = source.parent(function)
    if isinstance(owner, ast.ClassDef):
        for base in owner.bases:
            if source.resolve(base) in source.facts.traced_classes:
                return f"methods of {source.segment(base)} run under transformations"
    return ""


def _by_caller(source: Source, function: ast.AST) -> str:
    if not isinstance(function, _FUNCTIONS):
        return ""
    for call in _direct_calls(source, function):
        caller = source.function(call)
        while caller is not None:
            if reason := _traced(source, caller):
                return f"{function.name} is called where {reason}"
            caller = source.function(caller)
    return ""


def _direct_calls(source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Call]:
    """Calls of a function by its name, or of a method through self, in this file."""
    owner = source.parent(function)
    nodes: list[ast.Name | ast.Attribute] = []
    if isinstance(owner, ast.ClassDef):
        nodes += [
            a for a in source.by_attribute.get(function.name, ()) if _is_self(a.value) and source.enclosing_class(a) is owner
        ]
    else:
        for name in source.by_id.get(function.name, ()):
            bindings, _ = source.lookup(function.name, source.scope(name))
            if any(b.node is function for b in bindings):
                nodes.append(name)
    for node in nodes:
        parent = source.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            yield parent


def _transformed(source: Source, function: ast.AST) -> str:
    transforms = source.facts.transforms
    if isinstance(function, _FUNCTIONS):
        for decorator in function.decorator_list:
            for part in ast.walk(decorator):
                if isinstance(part, (ast.Name, ast.Attribute)) and (source.resolve(part) or "") in transforms:
                    return f"{function.name} is decorated with {source.segment(part)}"
        known = function.name in source.scope(function).bindings
        nodes: list[ast.AST] = [*source.by_id.get(function.name, ())] if known else []
        nodes += [a for a in source.by_attribute.get(function.name, ()) if _is_self(a.value)]
        name = function.name
    else:
        nodes, name = [function], "the lambda"
    for use in nodes:
        call = source.parent(use)
        if isinstance(call, ast.Call) and use in call.args and (source.resolve(call.func) or "") in transforms:
            return f"{name} is passed to {source.segment(call.func)}"
    return ""


_UNIONS = {"Union", "Optional"}


def container(source: Source, node: ast.expr) -> ast.expr:
    """The outermost tuple, ``Union[...]``, ``Optional[...]`` or ``|`` chain of types that `node` is an element of."""
    current: ast.expr = node
    parent = source.parent(current)
    while isinstance(parent, ast.expr) and _contains_type(parent, current):
        current, parent = parent, source.parent(parent)
    return current


def _contains_type(parent: ast.expr, child: ast.expr) -> bool:
    if isinstance(parent, (ast.Tuple, ast.List, ast.Set)):
        return True
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, (ast.BitOr, ast.Add))
    if isinstance(parent, ast.Subscript):
        return child is parent.slice and last_part(parent.value) in _UNIONS
    return isinstance(parent, ast.Call) and last_part(parent.func) in ("tuple", "set", "frozenset") and child in parent.args


def role(source: Source, node: ast.expr) -> str:
    """How a type name is used; see `NameSite.role`."""
    parent = source.parent(node)
    if isinstance(parent, ast.Attribute):
        return "attribute"
    if isinstance(parent, ast.Call) and parent.func is node:
        return "call"
    if source.is_quoted(node) or guards.in_annotation(source, node):
        return "annotation"
    outer = container(source, node)
    parent = source.parent(outer)
    if isinstance(parent, ast.Call) and outer in parent.args:
        return _argument_role(parent, outer)
    if isinstance(parent, ast.Compare) and any(_is_type_call(p) for p in (parent.left, *parent.comparators) if p is not outer):
        return "type-compare"
    if isinstance(parent, ast.Dict) and outer in parent.keys:
        return "dict-key"
    if isinstance(parent, ast.Subscript) and parent.slice is outer:
        return "annotation" if isinstance(parent.ctx, ast.Load) and _looks_generic(parent.value) else "dict-key"
    if isinstance(parent, ast.ClassDef) and outer in parent.bases:
        return "base-class"
    if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is outer:
        return "alias"
    return "value"


def _looks_generic(node: ast.expr) -> bool:
    leaf = last_part(node)
    return leaf[:1].isupper() or leaf in ("list", "dict", "tuple", "set", "frozenset", "type")


def _argument_role(call: ast.Call, argument: ast.expr) -> str:
    leaf = last_part(call.func)
    position = next(i for i, a in enumerate(call.args) if a is argument)
    if leaf in ("isinstance", "assertIsInstance", "assertNotIsInstance") and position == 1:
        return "isinstance"
    if leaf == "issubclass" and position == 1:
        return "issubclass"
    if leaf == "register" or leaf.startswith("register_"):
        return "register"
    if leaf == "cast" and position == 0:
        return "annotation"
    return "value"


def _is_type_call(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) == 1
