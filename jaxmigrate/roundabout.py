"""Names that no import spells: of modules that are loaded by their path, in strings that are run, and in calls handed on."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.names import Source, SourceError
from jaxmigrate.scan import last_part

if TYPE_CHECKING:
    from jaxmigrate.scan import Binding, Scope

MODULES = "sys.modules"
_RUNS = {"eval", "exec", "compile", *(f"timeit.{name}" for name in ("timeit", "repeat", "Timer"))}
"""Callees that run a string."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that means a qualified name."""

    node: ast.expr
    qualified: str
    module: str = ""
    """The module it was loaded as, about which something may be said elsewhere."""
    read: ast.expr | None = None
    """Where it is read, if not there: what guards this place guards it."""


def leaf(source: Source, callee: ast.expr) -> str:
    """The name of a callee; that of importlib under which it is imported."""
    meant = source.resolve(callee) or ""
    if meant.startswith("importlib."):
        return meant.rpartition(".")[2]
    return last_part(callee)


def chain(source: Source, node: ast.expr, qualified: str) -> tuple[ast.expr, str]:
    """The whole of the attribute chain that begins with `node`, and what it means if that means `qualified`."""
    parent = source.parent(node)
    while isinstance(parent, ast.Attribute):
        node, qualified, parent = parent, f"{qualified}.{parent.attr}", source.parent(parent)
    return node, qualified


def loaded(source: Source) -> Iterator[Mention]:
    """What is read of ``import_module("a.b")``, ``__import__("a")`` and ``sys.modules["a"]``, also through a variable."""
    for path in source.strings:
        if not isinstance(path.value, str) or not all(map(str.isidentifier, path.value.split("."))):
            continue
        for loader in _loaders(source, path):
            module = path.value if _gives_leaf(source, loader) else path.value.partition(".")[0]
            for use in (loader, *_uses(source, loader)):
                node, qualified = chain(source, use, module)
                if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and (node is not use or isinstance(use, ast.Subscript)):
                    yield Mention(node, qualified, "" if isinstance(use, ast.Subscript) else module)


def _loaders(source: Source, path: ast.Constant) -> Iterator[ast.expr]:
    """The expressions that load the module of this path."""
    for holder in holders(source, path):
        call, parent = call_of(source, holder), source.parent(holder)
        if call is not None and leaf(source, call.func) in ("import_module", "__import__"):
            yield call
        elif isinstance(parent, ast.Subscript) and parent.slice is holder and source.resolve(parent.value) == MODULES:
            yield parent


def holders(source: Source, text: ast.Constant) -> Iterator[ast.expr]:
    """A string, and the uses of a variable that holds nothing else."""
    yield text
    statement = source.parent(text)
    if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
        yield from (n for n in source.by_id[target.id] if isinstance(n.ctx, ast.Load) and source.value_of(n) is text)


def call_of(source: Source, argument: ast.expr) -> ast.Call | None:
    """The call that gets `argument` first, or as ``name=``."""
    parent = source.parent(argument)
    if isinstance(parent, ast.keyword) and parent.arg == "name" and isinstance(call := source.parent(parent), ast.Call):
        return call if not call.args else None
    return parent if isinstance(parent, ast.Call) and parent.args[:1] == [argument] else None


def _gives_leaf(source: Source, loader: ast.expr) -> bool:
    """Whether the module itself is given; ``__import__("a.b")`` gives ``a`` unless names are asked for."""
    if not isinstance(loader, ast.Call) or leaf(source, loader.func) != "__import__":
        return True
    return len(loader.args) > 3 or any(k.arg == "fromlist" for k in loader.keywords)


def _uses(source: Source, loader: ast.expr) -> Iterator[ast.Name]:
    """The uses of a variable that holds nothing but the module."""
    statement = source.parent(loader)
    if not isinstance(statement, (ast.Assign, ast.NamedExpr)) or statement.value is not loader:
        return
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    if isinstance(target, ast.Name):
        for node in source.by_id[target.id]:
            bindings = source.lookup_at(node)[0] if isinstance(node.ctx, ast.Load) else []
            if len(bindings) == 1 and bindings[0].node is target:
                yield node


def in_code(source: Source) -> Iterator[Mention]:
    """Names in literal strings that are run: ``eval("jax.f(x)")``; what they do not import themselves comes from around them."""
    for text in source.strings:
        call = source.parent(text)
        if not isinstance(call, ast.Call) or call.args[:1] != [text] or not _runs(source, call.func):
            continue
        try:
            inner = Source(textwrap.dedent(str(text.value)).strip().encode(), facts=source.facts, dead=source.dead)
        except SourceError:
            continue
        names = set(inner.meanings()) | _imported(inner) | set(_from_outside(source, source.scope(text), inner))
        yield from (Mention(text, name) for name in sorted(_longest(names)))


def _runs(source: Source, callee: ast.expr) -> bool:
    name = source.resolve(callee) or ""
    if isinstance(callee, ast.Name) and not name and not source.lookup(callee.id, source.scope(callee))[0]:
        name = callee.id  # a builtin
    return name.removeprefix("builtins.") in _RUNS


def _imported(source: Source) -> set[str]:
    found = {a.name for s in source.imports if isinstance(s, ast.Import) for a in s.names}
    return found | {f"{s.module}.{a.name}" for s in source.imports if isinstance(s, ast.ImportFrom) for a in s.names}


def _from_outside(source: Source, scope: Scope, inner: Source) -> Iterator[str]:
    for name, nodes in inner.by_id.items():
        bindings, _ = source.lookup(name, scope)
        meanings = {b.qualified if b.kind == "import" else "" for b in bindings}
        if len(meanings) == 1 and "" not in meanings:
            for node in nodes:
                if inner.lookup(name, inner.scope(node))[1] is None:
                    yield chain(inner, node, next(iter(meanings)))[1]


def _longest(names: set[str]) -> set[str]:
    """Those that are no beginning of another one."""
    return {name for name in names if not any(other.startswith(f"{name}.") for other in names)}


def handed_on(source: Source, node: ast.expr) -> Iterator[ast.Call]:
    """The calls of a function through partials and transformations: ``jit(f)(x, key=1)``, and ``g(key=1)`` of a partial `g`."""
    parent = source.parent(node)
    if not isinstance(parent, ast.Call) or parent.args[:1] != [node] or parent.func is node:
        return
    callee = source.resolve(parent.func)
    if callee != "functools.partial" and callee not in source.facts.transforms:
        return
    yield from source.callers(parent)[0]
    yield from handed_on(source, parent)
    for use in _uses(source, parent):
        yield from handed_on(source, use)


def either(source: Source) -> Iterator[Mention]:
    """What is read of a name that is one of several modules: ``import jax.numpy as np`` here, ``import numpy as np`` there."""
    by_name: dict[str, set[str]] = {}
    for binding in source.bindings():
        by_name.setdefault(binding.name, set()).update(_meanings(source, binding))
    doubtful = [name for name, meanings in by_name.items() if len(meanings) > 1]
    for node in (n for name in doubtful for n in source.by_id.get(name, ()) if isinstance(n.ctx, ast.Load)):
        if source.resolved(node) is None:
            found = {meaning for binding in source.lookup_at(node)[0] for meaning in _meanings(source, binding)}
            for meaning in sorted(found) if len(found) > 1 else ():
                whole, qualified = chain(source, node, meaning)
                if whole is not node:
                    yield Mention(whole, qualified, meaning)


def _meanings(source: Source, binding: Binding) -> Iterator[str]:
    """What an import gives, or each side of ``jnp if fast else np``."""
    if binding.kind == "import":
        yield binding.qualified
    elif binding.kind == "assign" and binding.value is not None:
        value = binding.value
        yield from (
            q for v in ((value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)) if (q := source.resolve(v))
        )


def in_turn(source: Source) -> Iterator[Mention]:
    """Names that are read one after the other: ``for name in ["f", "g"]: getattr(module, name)``, and parametrized tests."""
    for callee in source.by_id.get("getattr", ()):
        call = source.parent(callee)
        if not isinstance(call, ast.Call) or len(call.args) != 2 or not isinstance(name := call.args[1], ast.Name):
            continue
        owner = source.resolve(call.args[0]) if not _is_asked_for(source, call, name) else None
        for binding in source.lookup_at(name)[0] if owner else ():
            values = source.value_of(given) if (given := _given_in_turn(source, binding.node, name.id)) is not None else None
            for value in values.elts if isinstance(values, (ast.List, ast.Tuple, ast.Set)) else ():
                if isinstance(value, ast.Constant) and str(value.value).isidentifier():
                    yield Mention(value, f"{owner}.{value.value!s}", owner or "", call)


def _is_asked_for(source: Source, call: ast.Call, name: ast.Name) -> bool:
    """Whether what is read stands under ``if hasattr(module, name)``."""
    inner: ast.AST = call
    for ancestor in source.ancestors(call):
        if isinstance(ancestor, (ast.If, ast.IfExp)) and inner is not ancestor.test and inner not in _listed(ancestor.orelse):
            test = ancestor.test
            asked = test.args if isinstance(test, ast.Call) and leaf(source, test.func) == "hasattr" else []
            if [*map(ast.dump, asked)] == [*map(ast.dump, (call.args[0], name))]:
                return True
        inner = ancestor
    return False


def _listed(block: list[ast.stmt] | ast.expr) -> list[ast.AST]:
    return [*block] if isinstance(block, list) else [block]


def _given_in_turn(source: Source, binding: ast.AST, name: str) -> ast.expr | None:
    """The expression whose elements a loop variable or the parameter of a test is."""
    around = source.parent(binding)
    if isinstance(around, (ast.For, ast.comprehension)) and around.target is binding:
        return around.iter
    function = source.parent(around) if isinstance(around, ast.arguments) else None
    decorators = function.decorator_list if isinstance(function, ast.FunctionDef) else []
    calls = (d for d in decorators if isinstance(d, ast.Call) and leaf(source, d.func) == "parametrize" and len(d.args) > 1)
    return next((call.args[1] for call in calls if getattr(call.args[0], "value", None) == name), None)


def replaced(source: Source) -> dict[str, str]:
    """Names of the library to which the project gives something that is not of the library, and where."""
    found = dict.fromkeys(source.index.replaced, "another module of the project")
    for node in (n for nodes in source.by_attribute.values() for n in nodes if isinstance(n.ctx, ast.Store)):
        statement = source.parent(node)
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if (name := source.resolve(node)) and not _is_of_library(source, value):
            found[name] = f"line {source.original_line(node)}"
    for text in source.strings:
        call = source.parent(text)
        if isinstance(call, ast.Call) and call.args[1:2] == [text] and leaf(source, call.func) == "setattr":
            owner = source.resolve(call.args[0])
            if owner and len(call.args) > 2 and not _is_of_library(source, call.args[2]):
                found[f"{owner}.{text.value!s}"] = f"line {source.original_line(call)}"
    return {name: where for name, where in found.items() if ".config." not in name}  # an option is there to be set


def _is_of_library(source: Source, value: ast.expr | None) -> bool:
    """Whether a value is an object of the library: an old name that is given its successor means what it meant."""
    name = source.resolve(value) if value is not None else None
    return bool(name) and str(name).partition(".")[0] in source.facts.history.members("")


_ABSL = "absl.flags.FLAGS"
_DEFINES = (b"DEFINE_", b"define_", b"add_option")
"""How an option of one's own is made."""


def options(source: Source) -> Iterator[tuple[ast.expr, str, bool]]:
    """Options of the library that are read, and whether among those of absl, which are anybody's."""
    if any(word in source.utf8 for word in _DEFINES):
        return
    for qualified, uses in source.meanings().items():
        owner, _, name = qualified.rpartition(".")
        library = owner.partition(".")[0]
        if name.startswith(f"{library}_") and owner == f"{library}.config":
            yield from ((node, name, False) for node, _ in uses if isinstance(getattr(node, "ctx", None), ast.Load))
        elif owner == _ABSL:
            yield from ((node, name, True) for node, _ in uses)
    for text in source.strings:
        if isinstance(text.value, str) and text.value.isidentifier() and _reads(source, text, text.value.partition("_")[0]):
            yield text, text.value, False


def _reads(source: Source, name: ast.Constant, library: str) -> bool:
    """Whether an option is read by its name: ``config.read(name)``, ``config.values[name]``, ``getattr(config, name)``."""
    place, config = source.parent(name), f"{library}.config"
    if isinstance(place, ast.Subscript):
        return place.slice is name and source.resolve(place.value) == f"{config}.values"
    if not isinstance(place, ast.Call):
        return False
    if place.args == [name]:
        return source.resolve(place.func) == f"{config}.read"
    by_name = getattr(place.func, "id", "") == "getattr" and len(place.args) == 2 and place.args[1] is name
    return by_name and source.resolve(place.args[0]) == config
