"""Names that no import spells: of modules that are loaded by their path, in strings that are run, and in calls handed on."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.guards import leaves
from jaxmigrate.names import Source, SourceError
from jaxmigrate.outcomes import Outcomes
from jaxmigrate.presence import namespace_of
from jaxmigrate.quoted import examples
from jaxmigrate.scan import last_part
from jaxmigrate.signatures import PARTIALS

if TYPE_CHECKING:
    from jaxmigrate.scan import Scope

MODULES = "sys.modules"
_BUILTIN = ("eval", "exec", "compile")
_RUN = (*(f"builtins.{name}" for name in _BUILTIN), "timeit.timeit", "timeit.repeat", "timeit.Timer")
"""Callees that run a string."""
_WORD, _KEYWORD = re.compile(r"\w+"), re.compile(r"(\w+)\s*=")
_FILLING = "GAP_OF_A_STRING"


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
                loads = use is loader and (isinstance(use, ast.Subscript) or _is_lazy(source, use))
                if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and (node is not use or loads):
                    yield Mention(node, qualified, "" if loads else module)


def _loaders(source: Source, path: ast.Constant) -> Iterator[ast.expr]:
    """The expressions that load the module of this path."""
    for holder in holders(source, path):
        call, parent = call_of(source, holder), source.parent(holder)
        if call is not None and leaf(source, call.func) in ("import_module", "__import__"):
            yield call
        elif call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "get":
            yield from [call] if source.resolve(call.func.value) == MODULES else []
        elif isinstance(parent, ast.Subscript) and parent.slice is holder:
            yield from [parent] if source.resolve(parent.value) == MODULES else []
        elif isinstance(parent, ast.Call) and holder in parent.args and _is_ours(source, str(path.value)):
            yield from [parent] if _is_lazy(source, parent) else []


def _is_lazy(source: Source, loader: ast.expr) -> bool:
    """Whether a call gives a module that is loaded when it is used: ``LazyLoader("np", globals(), "jax.numpy")``."""
    return isinstance(loader, ast.Call) and "lazy" in (source.resolve(loader.func) or last_part(loader.func)).lower()


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
    """Names in strings that are run: ``eval("jax.f(x)")``; what they do not import themselves comes from around them."""
    for place, code in (*_running(source), *_given_to_python(source)):
        yield from (Mention(place, name) for name in named_in(source, code, source.scope(place)))


def _given_to_python(source: Source) -> Iterator[tuple[ast.expr, str]]:
    """What another Python is given to run: ``[sys.executable, "-c", "import jax"]``."""
    for option in (text for text in source.strings if text.value == "-c"):
        around = source.parent(option)
        if isinstance(around, (ast.List, ast.Tuple)) and option is not around.elts[-1]:
            code = around.elts[around.elts.index(option) + 1]
            yield code, literal(source.value_of(code))


def in_doctests(source: Source) -> Iterator[tuple[Mention, int]]:
    """Names in the examples of docstrings, each once in each, and the line of the first."""
    for text in source.strings if b">>> " in source.utf8 else ():
        if not isinstance(source.parent(text), ast.Expr) or not isinstance(text.value, str) or ">>> " not in text.value:
            continue
        history, given = source.facts.history, _KEYWORD.findall(text.value)
        if history.names_gone.isdisjoint(_WORD.findall(text.value)) and history.parameters_gone.isdisjoint(given):
            continue
        found = examples(text.value)
        for name in named_in(source, "\n".join(example.code for example in found), source.scope_root):
            word = name.rstrip("=)").rpartition("(")[2].rpartition(".")[2]
            number = next((example.line for example in found if word in example.code), 0)
            yield Mention(text, name), source.original_line(text) + number


def _running(source: Source) -> Iterator[tuple[ast.expr, str]]:
    """Strings that are run, and the code; of what is timed with what sets it up."""
    builtin = (n for name in _BUILTIN for n in source.by_id.get(name, ()) if not source.lookup(name, source.scope(n))[0])
    for callee in (*builtin, *source.names(*_RUN)):
        call = source.parent(callee)
        if not isinstance(call, ast.Call) or call.func is not callee:
            continue
        is_timed = (source.resolve(callee) or "").startswith("timeit.")
        given = [*call.args[: 2 if is_timed else 1], *(k.value for k in call.keywords if k.arg in ("stmt", "setup", "source"))]
        code = "\n".join(textwrap.dedent(literal(source.value_of(text))) for text in reversed(given))
        if given:
            yield given[0], code


def named_in(source: Source, code: str, scope: Scope) -> list[str]:
    """The longest names in code that stands in a string, and keywords of calls (``f(key=)``); what has a gap in it is none."""
    text = textwrap.dedent(code.replace(GAP, _FILLING)).strip()
    try:
        inner = Source(text.encode(), facts=source.facts, dead=source.dead) if text else None
    except SourceError:
        return []
    if inner is None:
        return []
    read = [(node, name) for name, uses in inner.meanings().items() for node, _ in uses]
    read += _from_outside(source, scope, inner)
    names = _longest({_spelled_out(name) for name in (*_imported(inner), *(name for _, name in read))})
    calls = ((name, call) for node, name in read if isinstance(call := inner.parent(node), ast.Call) and call.func is node)
    return sorted(names | {f"{name}({k.arg}=)" for name, call in calls for k in call.keywords if k.arg})


def _spelled_out(name: str) -> str:
    """The parts of a name before the first gap."""
    return ".".join(itertools.takewhile(lambda part: _FILLING not in part, name.split(".")))


def _imported(source: Source) -> set[str]:
    found = {a.name for s in source.imports if isinstance(s, ast.Import) for a in s.names}
    return found | {f"{s.module}.{a.name}" for s in source.imports if isinstance(s, ast.ImportFrom) for a in s.names}


def _from_outside(source: Source, scope: Scope, inner: Source) -> Iterator[tuple[ast.expr, str]]:
    for name, nodes in inner.by_id.items():
        bindings, _ = source.lookup(name, scope)
        meanings = {b.qualified if b.kind == "import" else "" for b in bindings}
        if len(meanings) == 1 and "" not in meanings:
            for node in nodes:
                if inner.lookup(name, inner.scope(node))[1] is None:
                    yield chain(inner, node, next(iter(meanings)))


def _longest(names: set[str]) -> set[str]:
    """Those that are no beginning of another one."""
    return {name for name in names if not any(other.startswith(f"{name}.") for other in names)}


def handed_on(source: Source, node: ast.expr) -> Iterator[ast.Call]:
    """The calls of a function through partials and transformations: ``jit(f)(x, key=1)``, and ``g(key=1)`` of a partial `g`."""
    parent = source.parent(node)
    if not isinstance(parent, ast.Call) or parent.args[:1] != [node] or parent.func is node:
        return
    callee = source.resolve(parent.func)
    if callee not in PARTIALS and callee not in source.facts.transforms:
        return
    yield from source.callers(parent)[0]
    yield from handed_on(source, parent)
    for use in _uses(source, parent):
        yield from handed_on(source, use)


def put_under(source: Source, table: ast.expr) -> Iterator[tuple[ast.AST, str]]:
    """Keys that a dictionary is given after it was made: ``opts["key"] = 1``, ``opts.update(key=1)``; none that is taken out."""
    if not isinstance(table, ast.Name):
        return
    _, scope = source.lookup_at(table)
    uses = [n for n in source.by_id[table.id] if source.lookup_at(n)[1] is scope]
    parents = [source.parent(n) for n in uses]
    items = [p for p in parents if isinstance(p, ast.Subscript) and isinstance(p.slice, ast.Constant)]
    methods = [(p.attr, c) for p in parents if isinstance(p, ast.Attribute) and isinstance(c := source.parent(p), ast.Call)]
    removed = {str(i.slice.value) for i in items if isinstance(i.ctx, ast.Del) and isinstance(i.slice, ast.Constant)}
    removed |= {str(getattr(a, "value", "")) for name, call in methods if name == "pop" for a in call.args[:1]}
    for place, key in _keys_put(items, methods):
        if key not in removed:
            yield place, key


def _keys_put(items: list[ast.Subscript], methods: list[tuple[str, ast.Call]]) -> Iterator[tuple[ast.AST, str]]:
    for item in items:
        if isinstance(item.ctx, ast.Store) and isinstance(item.slice, ast.Constant):
            yield item.slice, str(item.slice.value)
    for name, call in methods:
        first = call.args[0] if call.args else None
        if name == "setdefault" and isinstance(first, ast.Constant):
            yield first, str(first.value)
        elif name == "update":
            yield from ((k, k.arg) for k in call.keywords if k.arg)
            yield from ((k, str(k.value)) for k in getattr(first, "keys", ()) if isinstance(k, ast.Constant))


def carries(source: Source) -> bool:
    """Whether a module of the library may be reached under a name that no import gives it for sure."""
    history, taken, several = source.facts.history, set[str](), set[str]()
    for binding in source.bindings():
        (several if binding.name in taken else taken).add(binding.name)
        is_ours = binding.kind == "import" and _is_ours(source, binding.qualified)
        if is_ours and isinstance(binding.statement and source.parent(binding.statement), ast.ClassDef):
            return True
    if any(b.kind == "import" and b.name in several and _is_ours(source, b.qualified) for b in source.bindings()):
        return True
    if any(
        isinstance(t.value, str) and _is_ours(source, t.value) and isinstance(source.parent(t), ast.Call) for t in source.strings
    ):
        return True
    modules = (uses for qualified, uses in source.meanings().items() if history.is_module(qualified))
    return any(not isinstance(source.parent(node), ast.Attribute) for uses in modules for node, _ in uses)


def _is_ours(source: Source, qualified: str) -> bool:
    return qualified.partition(".")[0] in source.facts.history.members("")


def maybe(source: Source, outcomes: Outcomes) -> Iterator[Mention]:
    """What is read of an expression that may be a module, by an argument, a table, a choice: ``(jnp if fast else np).f``."""
    for name in sorted(source.facts.history.names_gone & source.by_attribute.keys()):
        for node in source.by_attribute[name]:
            if source.resolved(node) is None and isinstance(node.ctx, ast.Load) and not is_told_apart(source, node.value):
                for meaning in sorted(outcomes.meanings(node.value)):
                    whole, qualified = chain(source, node.value, meaning)
                    yield Mention(whole, qualified, meaning)


def is_told_apart(source: Source, value: ast.expr) -> bool:
    """Whether a test around asks what a value is: then it is a certain one of those that it may be."""
    wanted, child = ast.dump(value), value
    for ancestor in source.ancestors(value):
        blocks = (getattr(ancestor, field, None) for field in ("body", "orelse"))
        earlier = [s for block in blocks if isinstance(block, list) and child in block for s in block[: block.index(child)]]
        tests = [s.test for s in earlier if isinstance(s, ast.If) and leaves(s.body)]
        tests += [ancestor.test] if isinstance(ancestor, (ast.If, ast.IfExp)) else []
        tests += ancestor.values if isinstance(ancestor, ast.BoolOp) else []
        asking = (c for test in tests for c in ast.walk(test) if isinstance(c, ast.Compare) or _asks_kind(c))
        if any(ast.dump(part) == wanted for question in asking for part in ast.walk(question)):
            return True
        child = ancestor  # type: ignore[assignment]
    return False


def _asks_kind(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_part(node.func) in ("hasattr", "isinstance", "getattr")


def by_variable(source: Source, outcomes: Outcomes) -> Iterator[Mention]:
    """Names that are not spelled where they are read: ``for name in ["f", "g"]: getattr(module, name)``, and whole families."""
    for callee in source.by_id.get("getattr", ()):
        call = source.parent(callee)
        if not isinstance(call, ast.Call) or len(call.args) != 2 or _is_asked_for(source, call, name := call.args[1]):
            continue
        owner = source.resolve(call.args[0])
        if owner is not None and isinstance(source.value_of(name), ast.Constant):
            continue  # said of the call
        if isinstance(name, ast.Name) and sum(b.kind == "assign" for b in source.lookup_at(name)[0]) > 1:
            continue
        for meaning in [owner] if owner is not None else sorted(outcomes.meanings(call.args[0])):
            for text in outcomes.texts(name) if _is_ours(source, meaning) else ():
                yield from _spelled(text, meaning, call)


def _spelled(text: ast.expr, owner: str, call: ast.Call) -> Iterator[Mention]:
    beginning = literal(text)
    if isinstance(text, ast.Constant):
        words = filter(str.isidentifier, re.split(r"[\s,]+", beginning))
        yield from (Mention(text, f"{owner}.{word}", owner, call) for word in words)
    elif beginning.partition(GAP)[0].isidentifier():
        yield Mention(text, f"{owner}.{beginning.partition(GAP)[0]}*", owner, call)


GAP = "\0"
"""Stands for what a string is given while the program runs."""
_FORMAT = re.compile(r"%[-#0 +]*[\d.]*[a-zA-Z]")
_OF_STRINGS = ("format", "join", "strip", "lstrip", "rstrip")
_BRACES = re.compile(r"\{[^{}]*\}")


def literal(node: ast.expr) -> str:
    """What of a string is spelled out, with gaps: of constants, f-strings, sums, ``%`` and ``format``."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else GAP
    if isinstance(node, ast.JoinedStr):
        return "".join(map(literal, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return literal(node.left) + literal(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        return _FORMAT.sub(GAP, literal(node.left))
    if isinstance(node, ast.Call) and last_part(node.func) == "dedent" and node.args:
        return textwrap.dedent(literal(node.args[0]))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (method := node.func.attr) in _OF_STRINGS:
        text = literal(node.func.value)
        pieces = _elements(node.args[0]) if method == "join" and node.args else []
        return _BRACES.sub(GAP, text) if method == "format" else text.join(map(literal, pieces)) if method == "join" else text
    return GAP


def by_key(source: Source, outcomes: Outcomes) -> Iterator[Mention]:
    """Names that are looked up in a module: ``vars(jax)["f"]``, ``attrgetter("f")(jax)``, ``mock.patch.multiple(jax, f=g)``."""
    for text in source.strings:
        if isinstance(text.value, str):
            for place, owner, name in _looked_up(source, text, text.value):
                if all(map(str.isidentifier, name.split("."))):
                    yield from (Mention(place, f"{m}.{name}", m) for m in sorted(outcomes.meanings(owner)) if _is_ours(source, m))
    yield from _step_by_step(source, outcomes)
    for callee in source.by_attribute.get("multiple", ()):
        call = source.parent(callee)
        if isinstance(call, ast.Call) and call.func is callee and call.args and last_part(callee.value) == "patch":
            target = call.args[0]
            named = [str(target.value)] if isinstance(target, ast.Constant) else sorted(outcomes.meanings(target))
            names = [k for k in call.keywords if k.arg not in (None, "create", "spec", "spec_set", "autospec", "new_callable")]
            is_certain = not any(k.arg == "create" for k in call.keywords)
            yield from (Mention(k.value, f"{m}.{k.arg}", m) for m in named for k in names if is_certain and _is_ours(source, m))


def _step_by_step(source: Source, outcomes: Outcomes) -> Iterator[Mention]:
    """``functools.reduce(getattr, "a.b".split("."), module)``."""
    for callee in source.names("functools.reduce"):
        call = source.parent(callee)
        if isinstance(call, ast.Call) and len(call.args) == 3 and last_part(call.args[0]) == "getattr":
            path, owner = call.args[1:]
            words = path.func if isinstance(path, ast.Call) else path
            is_split = isinstance(words, ast.Attribute) and words.attr == "split"
            text = (
                literal(words.value)
                if is_split and isinstance(words, ast.Attribute)
                else ".".join(map(literal, _elements(words)))
            )
            if all(map(str.isidentifier, text.split("."))):
                yield from (Mention(call, f"{m}.{text}", m) for m in sorted(outcomes.meanings(owner)) if _is_ours(source, m))


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else []


def _looked_up(source: Source, text: ast.Constant, name: str) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """Where a string names what is looked up: the place, the owner, and the name."""
    place = source.parent(text)
    if isinstance(place, ast.Subscript) and place.slice is text and isinstance(place.ctx, ast.Load):
        if (owner := namespace_of(place.value)) is not None:
            yield place, owner, name
    elif isinstance(place, ast.keyword) and isinstance(call := source.parent(place), ast.Call):
        owner = patched_of(source, text)
        if owner is not None and not any(k.arg == "create" for k in call.keywords):
            yield call, owner, name
    elif isinstance(place, ast.Call) and text in place.args:
        yield from _called_with(source, place, text, name)


def _called_with(source: Source, call: ast.Call, text: ast.Constant, name: str) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    callee = last_part(call.func)
    if callee == "__getattribute__" and call.args == [text] and isinstance(call.func, ast.Attribute):
        yield call, call.func.value, name
    elif callee in ("__getattribute__", "getattr_static") and len(call.args) == 2 and call.args[1] is text:
        yield call, call.args[0], name
    elif (source.resolve(call.func) or "") in ("operator.attrgetter", "operator.methodcaller"):
        for outer in source.callers(call)[0]:
            yield from ((call, owner, name) for owner in outer.args[:1])


def _is_asked_for(source: Source, call: ast.Call, name: ast.expr) -> bool:
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


def replaced(source: Source) -> dict[str, str]:
    """Names of the library to which the project gives something that is not of the library, and where."""
    if source.replaced is None:
        source.replaced = _replaced(source)
    return source.replaced


def _replaced(source: Source) -> dict[str, str]:
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


def doubled(source: Source) -> dict[str, str]:
    """Names of the library that a test double stands in for, by ``mock.patch``, and where."""
    found: dict[str, str] = {}
    for text in source.strings if b"patch" in source.utf8 else ():
        call = source.parent(text)
        by_path = isinstance(call, ast.Call) and call.args[:1] == [text] and leaf(source, call.func) == "patch"
        owner = None if by_path else patched_of(source, text)
        name = str(text.value) if by_path else f"{source.resolve(owner)}.{text.value!s}" if owner is not None else ""
        if _is_ours(source, name) and ".config." not in name:
            found[name] = f"line {source.original_line(text)}"
    return found


def patched_of(source: Source, text: ast.Constant) -> ast.expr | None:
    """Of what ``mock.patch.object`` replaces the attribute named by a string."""
    place = source.parent(text)
    call = source.parent(place) if isinstance(place, ast.keyword) and place.arg == "attribute" else place
    if not isinstance(call, ast.Call) or leaf(source, call.func) != "object":
        return None
    by_keyword = next((k.value for k in call.keywords if k.arg == "target"), None)
    if call is place:
        return call.args[0] if call.args[1:2] == [text] else None
    return call.args[0] if call.args else by_keyword


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
