"""Which releases come to a place: code that chooses by version, or by presence of a name, keeps the others away.

Of the releases that the result must run on, from the target to the newest. An old API that only those reach which have it is left
alone (DESIGN section 3, *guard*), and so is one that none reaches; what fails in a release that comes there is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from jaxmigrate.expected import EXPECTED, is_expected
from jaxmigrate.guards import (
    block_of,
    catches,
    catches_absence,
    is_dead_module,
    is_empty,
    is_lazy,
    leaves,
    type_checking_block,
)
from jaxmigrate.presence import question
from jaxmigrate.scan import last_part
from jaxmigrate.version_tests import answers, is_version_test

if TYPE_CHECKING:
    from jaxmigrate.model import Version
    from jaxmigrate.names import Source

Releases = frozenset["Version"]
Narrowing = tuple[str, Releases]
"""What keeps releases away, and those that come all the same."""

_BROAD = {"Exception", "BaseException"}
_OF_IMPORT = {"ImportError", "ModuleNotFoundError"}
_FALLBACK = "it is the fallback of a try whose first choice is current"
_REPLACED = "the except clause already has the successor"
_BY_VERSION = "the code around it chooses by jax's version"
UNCLEAR = f"{_BY_VERSION}, but it is not clear which comes here"
"""Such a place is neither edited nor let go without a word."""


def guard(source: Source, node: ast.AST, symbol: str = "", removed: Version | None = None) -> str:
    """Why the old API `symbol` at `node` is only reached where it exists; empty when nothing guards it.

    Where no record tells of the symbol, it is taken to be gone since `removed`.
    """
    if is_expected(source, node, symbol):
        return EXPECTED
    left, unclear = source.releases, ""
    for reason, reached in _narrowings(source, node):
        left &= reached
        if source.newest not in left and not any(_is_at_odds(source, symbol, release, removed) for release in left):
            return reason
        unclear = reason if reason is UNCLEAR else unclear
    return unclear


def waits(source: Source, node: ast.AST, name: str) -> str:
    """Why `name`, which older releases do not have yet, is only reached where it exists; empty when nothing guards it."""
    if is_lazy(source, node) or type_checking_block(source, node) is not None:
        return "it is never evaluated at run time"
    left = source.releases
    for reason, reached in (*_for_older(source, node), *_narrowings(source, node)):
        left &= reached
        if reason is UNCLEAR or all(has(source, name, r) for r in left):
            return reason
    return ""


def _for_older(source: Source, node: ast.AST) -> Iterator[Narrowing]:
    """``try: new() / except AttributeError: old()``."""
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.Try) and child in ancestor.body and any(map(catches_absence, ancestor.handlers)):
            yield "the except clause is for a JAX without it", frozenset()
        child = ancestor


def _narrowings(source: Source, node: ast.AST) -> Iterator[Narrowing]:
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.Try):
            yield from _by_try(source, ancestor, child, node)
        elif isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:
            in_body = child in ancestor.body if isinstance(ancestor, ast.If) else child is ancestor.body
            yield _by_test(source, ancestor.test, in_body, node)
        elif isinstance(ancestor, ast.BoolOp) and child in ancestor.values:  # `hasattr(x, "old") and x.old`
            before = ancestor.values[: next(i for i, v in enumerate(ancestor.values) if v is child)]
            yield from (_by_test(source, v, isinstance(ancestor.op, ast.And), node) for v in before)
        yield from _by_what_stands_before(source, ancestor, child, node)
        child = ancestor


def _by_what_stands_before(source: Source, ancestor: ast.AST, child: ast.AST, node: ast.AST) -> Iterator[Narrowing]:
    """``if hasattr(x, "new"): return x.new`` above: what follows in the block is the fallback."""
    if isinstance(ancestor, (ast.Module, ast.ClassDef)):
        return  # nothing returns there
    for earlier in _before(source, child):
        if isinstance(earlier, ast.If) and not earlier.orelse and leaves(earlier.body):
            yield _by_test(source, earlier.test, False, node)
        elif isinstance(earlier, ast.Try) and leaves(earlier.body) and not any(leaves(h.body) for h in earlier.handlers):
            yield from (_fallback(source, earlier, handler) for handler in earlier.handlers)


def _before(source: Source, statement: ast.AST) -> list[ast.stmt]:
    """The statements of the same block above."""
    block = block_of(source, statement)
    return block[: block.index(statement)] if isinstance(statement, ast.stmt) and block else []


def _by_try(source: Source, statement: ast.Try, child: ast.AST, node: ast.AST) -> Iterator[Narrowing]:
    if isinstance(child, ast.ExceptHandler):
        if child.type is None or node not in ast.walk(child.type):  # what is caught is asked for whenever anything is raised
            yield _fallback(source, statement, child)
    elif child in statement.body:
        for handler in statement.handlers:
            if _is_uncallable(source, node) and not catches(handler, {"TypeError", *_BROAD}):
                continue  # the name is there, but calling or indexing it raises something else
            is_answer = catches(handler, _errors(source, statement, node)) and _replaces(source, statement, handler)
            if is_answer or (isinstance(child, ast.stmt) and _puts_back(source, child, handler)):
                yield _REPLACED, frozenset()


def _puts_back(source: Source, probe: ast.stmt, handler: ast.ExceptHandler) -> bool:
    """Whether a handler gives the library the name whose absence `probe` finds: ``jax.tree_map = jax.tree.map``."""
    stores = (n for s in handler.body for n in ast.walk(s) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return not _library_names(source, [probe]).isdisjoint(filter(None, map(source.resolve, stores)))


def _is_uncallable(source: Source, node: ast.AST) -> bool:
    """Whether `node` calls or indexes an attribute that is still there but can no longer be called or indexed."""
    attribute = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    return isinstance(attribute, ast.Attribute) and attribute.attr in source.facts.uncallable


def _errors(source: Source, statement: ast.Try, node: ast.AST) -> set[str]:
    """What is raised in the block of a ``try`` where the old name at `node` is missing."""
    if isinstance(node, (ast.alias, ast.Import, ast.ImportFrom)):
        return {*_OF_IMPORT, *_BROAD}
    root = node
    while isinstance(root, (ast.Call, ast.Attribute, ast.Subscript)):
        root = root.func if isinstance(root, ast.Call) else root.value
    bindings = source.lookup_at(root)[0] if isinstance(root, ast.Name) else []
    imported = any(b.statement is not None and statement in source.ancestors(b.statement) for b in bindings)
    return {"AttributeError", "NameError", *_BROAD, *(_OF_IMPORT if imported else ())}


def _fallback(source: Source, statement: ast.Try, handler: ast.ExceptHandler) -> Narrowing:
    """Who comes to an except clause: the releases without what is tried, if that alone can make it fail."""
    if catches(handler, _BROAD) and _calls_others(source, statement.body):
        return "", source.releases
    names = _library_names(source, statement.body)
    by_keyword = catches(handler, {"TypeError"}) and bool(
        _called_with_keywords(statement.body) & _called_with_keywords(handler.body)
    )
    by_name = catches(handler, _errors_of_body(statement.body)) and (
        _only_imports_ours(source, statement.body) or _may_be_missing(source, names)
    )
    if not names or not (by_keyword or by_name) or _holds_dead_member(source, statement.body):
        return "", source.releases
    return _FALLBACK, frozenset(r for r in source.releases if any(not has(source, name, r) for name in names))


def _errors_of_body(body: Sequence[ast.stmt]) -> set[str]:
    """What is raised where one of the names that statements import or read is missing."""
    imports = [isinstance(s, (ast.Import, ast.ImportFrom)) for s in body]
    return {*_BROAD, *(_OF_IMPORT if any(imports) else ()), *(() if all(imports) else ("AttributeError", "NameError"))}


def _calls_others(source: Source, body: Sequence[ast.stmt]) -> bool:
    """Whether statements call anything but the library (and builtins), which may fail for any reason."""
    callees = (n.func for s in body for n in ast.walk(s) if isinstance(n, ast.Call))
    names = (n for n in callees if isinstance(n, (ast.Name, ast.Attribute)))
    return any(not _library_names(source, [ast.Expr(n)]) and _is_bound(source, n) for n in names)


def _is_bound(source: Source, callee: ast.Name | ast.Attribute) -> bool:
    return not isinstance(callee, ast.Name) or bool(source.lookup(callee.id, source.scope(callee))[0])


def _only_imports_ours(source: Source, body: Sequence[ast.stmt]) -> bool:
    """Whether statements do nothing but import of the library, which fails for no other reason."""
    return all(
        isinstance(s, (ast.Import, ast.ImportFrom)) and all(_is_ours(source, name) for name in _imported(source, s)) for s in body
    )


def _called_with_keywords(body: Sequence[ast.stmt]) -> set[str]:
    """The last parts of what is called with keywords: those may be what a function does not know."""
    calls = (n for s in body for n in ast.walk(s) if isinstance(n, ast.Call) and n.keywords)
    return {last_part(call.func) for call in calls}


def _replaces(source: Source, statement: ast.Try, handler: ast.ExceptHandler) -> bool:
    """Whether the handler does with a living API what the body does with the old one."""
    if _holds_dead(source, handler.body) or isinstance(handler.body[-1], ast.Raise):
        return False
    bound = _bound(statement.body)
    if bound and all(isinstance(s, ast.Pass) for s in handler.body):
        above = [s for s in _before(source, statement) if not _holds_dead(source, [s])]
        return any(name in bound and _library_names(source, [s]) for s in above for name in _bound([s]))
    is_broad = catches(handler, _BROAD)
    succeeds = _has_successor(source, statement, handler)
    if bound:
        instead = [value for name, value in _bound(handler.body).items() if name in bound]
        return any(value is None or (not is_empty(value) and (succeeds or not is_broad)) for value in instead)
    if not isinstance(statement.body[-1], ast.Return):
        return succeeds
    last = handler.body[-1]
    if not isinstance(last, ast.Return) or last.value is None or is_empty(last.value):
        return False
    return succeeds or (not is_broad and any(isinstance(node, ast.Call) for node in ast.walk(last.value)))


def _has_successor(source: Source, statement: ast.Try, handler: ast.ExceptHandler) -> bool:
    """Whether a handler uses the library; where it catches anything, what took the place of a name that is tried, or is young."""
    names = _library_names(source, handler.body)
    if not catches(handler, _BROAD):
        return bool(names)
    history = source.facts.history
    advices = (history.advice(name) for name in _library_names(source, statement.body))
    successors = {successor.name for advice in advices if advice is not None for successor in advice.successors}
    return not names.isdisjoint(successors) or _may_be_missing(source, names)


def _bound(body: Sequence[ast.stmt]) -> dict[str, ast.expr | None]:
    """The names that statements bind, and to what value; None for imports and definitions."""
    names: dict[str, ast.expr | None] = {}
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name.partition(".")[0]: None for alias in statement.names}
        elif isinstance(statement, ast.Assign):
            names |= {target.id: statement.value for target in statement.targets if isinstance(target, ast.Name)}
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names[statement.name] = None
    return names


def _library_names(source: Source, statements: Sequence[ast.stmt], depth: int = 0) -> set[str]:
    """What of the library statements use: by name, as members that its values have, and through functions of this file."""
    found: set[str] = set()
    for node in (n for s in statements for n in ast.walk(s)):
        if isinstance(node, ast.Attribute) and node.attr in source.facts.news and _is_telling(node.value, node.attr):
            found.add(node.attr)
        elif isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(source.parent(node), ast.Attribute):
            name = source.resolve(node)
            if name is None and depth == 0 and isinstance(node, ast.Name):
                bindings, _ = source.lookup(node.id, source.scope(node))
                functions = [b.node for b in bindings if isinstance(b.node, ast.FunctionDef)]
                found |= _library_names(source, functions, depth + 1)
            elif name is not None and _is_ours(source, name):
                found.add(name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {name for name in _imported(source, node) if _is_ours(source, name)}
    return found


def _imported(source: Source, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    else:
        yield from (f"{source.absolute(statement.module, statement.level)}.{alias.name}" for alias in statement.names)


def _is_ours(source: Source, name: str) -> bool:
    """Whether a name is one of the library's that does something: its version does not."""
    return not name.endswith("__") and name.partition(".")[0] in source.facts.history.members("")


def has(source: Source, name: str, release: Version) -> bool:
    """Whether a release has a name, or objects of the library a member, as far as is known."""
    history = source.facts.history
    owner, _, leaf = name.rpartition(".")
    if not owner or not history.is_module(owner):
        since, lost = source.facts.news.get(leaf), history.members_gone.get(leaf, {})
        if not owner:
            return since <= release if since is not None else all(entry.at(release) for entry in lost.values())
        if owner in lost and not lost[owner].at(release):
            return False
    if (release == source.newest or history.entry(name) is None) and (source.is_dead(name) or is_dead_module(source, name)):
        return False
    parts = name.split(".")
    lives = (history.entry(".".join(parts[:end])) for end in range(1, len(parts) + 1))
    return release == source.newest or all(entry is None or entry.at(release) for entry in lives)


def _is_at_odds(source: Source, old: str, release: Version, removed: Version | None) -> bool:
    """Whether a release lacks a name already, or warns of it; one that has it not yet is another matter."""
    history = source.facts.history
    entry = history.entry(old)
    lives = [entry] if entry is not None else [*history.members_gone.get(old, {}).values()]
    ends = [history.removed(life) for life in lives if not life.alive] or [removed, *(life.deprecated for life in lives)]
    return any(end is not None and end <= release for end in ends)


def _may_be_missing(source: Source, names: Iterable[str]) -> bool:
    """Whether some release may lack one of the names: all of those on record have ``jax.numpy.asarray``."""
    history = source.facts.history
    lives = [history.entry(name) for name in names]
    return any(e is None or not e.alive or len(e.ranges) > 1 or e.since > history.versions[0] for e in lives)


def _holds_dead_member(source: Source, statements: Sequence[ast.stmt]) -> bool:
    """Whether statements use an attribute or keyword that only old classes and functions have."""
    nodes = [n for s in statements for n in ast.walk(s)]
    named = {n.attr for n in nodes if isinstance(n, ast.Attribute)} | {n.arg for n in nodes if isinstance(n, ast.keyword)}
    return not named.isdisjoint(source.dead_members)


def _holds_dead(source: Source, statements: Sequence[ast.stmt]) -> bool:
    """Whether statements use or import an old name."""
    nodes = [n for s in statements for n in ast.walk(s)]
    named = (source.resolve(n) for n in nodes if isinstance(n, (ast.Name, ast.Attribute)))
    imported = (name for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for name in _imported(source, n))
    return (
        _holds_dead_member(source, statements)
        or any(map(source.is_dead, named))
        or any(source.is_dead(name) or is_dead_module(source, name) for name in imported)
    )


def _by_test(source: Source, test: ast.expr, in_body: bool, node: ast.AST) -> Narrowing:
    """Who comes to an arm of a test."""
    test = source.value_of(test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _by_test(source, test.operand, not in_body, node)
    if isinstance(test, ast.BoolOp):
        parts = [_by_test(source, v, in_body, node) for v in test.values]
        reason = next((why for why, _ in sorted(parts, key=lambda part: len(part[1])) if why), "")
        if isinstance(test.op, ast.And) == in_body:  # every part of an `and` holds in its body; of an `or`, fails in its else
            return reason, source.releases.intersection(*(reached for _, reached in parts))
        return reason, frozenset().union(*(reached for _, reached in parts))
    if is_version_test(source, test):
        return _by_version(source, test, in_body)
    asked = question(source, test)
    if asked is None or not _tells_releases(source, asked.owner, asked.name, node):
        return "", source.releases
    ways = {r: asked.if_there if _owns(source, asked.owner, asked.name, r) else asked.if_missing for r in source.releases}
    return f"the code around it asks whether {asked.name!r} exists", frozenset(r for r in ways if in_body in ways[r])


def _by_version(source: Source, test: ast.expr, in_body: bool) -> Narrowing:
    found = source.tested.get(test)
    if found is None:
        found = source.tested[test] = {release: answers(source, test, release) for release in source.releases}
    if not any(found.values()):
        return UNCLEAR, source.releases
    return _BY_VERSION, frozenset(release for release, answer in found.items() if not answer or in_body in answer)


def _owns(source: Source, owner: ast.expr, name: str, release: Version) -> bool:
    """Whether ``hasattr(owner, name)`` holds on a release."""
    module = source.resolve(owner)
    if module is None:
        return name not in source.dead_members and has(source, name, release)
    return has(source, f"{module}.{name}", release) and (release != source.newest or name not in source.dead_members)


def _tells_releases(source: Source, owner: ast.expr, name: str, node: ast.AST) -> bool:
    """Whether ``hasattr(x, "addressable_shards")`` asks for JAX's release, and not what kind of value `x` is.

    Of an object that is not known, a member that values of JAX have not had, or will not have, in every release; a name that may
    be anybody's (``device``, ``layout``) only where the old API is read of the same object.
    """
    known = source.resolve(owner)
    if known is not None:
        return _is_ours(source, known) or name in source.dead_members
    lost = name in source.dead_members or name in source.facts.history.members_gone
    if not (lost or name in source.facts.news):
        return False
    if _is_about(node, owner):
        return True
    return not lost and _is_telling(owner, name)


def _is_telling(owner: ast.expr, member: str) -> bool:
    """Whether a member is hardly anybody's but JAX's: ``x.addressable_shards``, not ``x.device`` nor one of one's own."""
    return "_" in member.strip("_") and not (isinstance(owner, ast.Name) and owner.id in ("self", "cls"))


def _is_about(node: ast.AST, owner: ast.expr) -> bool:
    """Whether `node` is ``owner.old``, ``owner.old()`` or a call or test of it: ``isinstance(owner, Old)``."""
    wanted = ast.dump(owner)
    if isinstance(node, ast.Call) and node.args and ast.dump(node.args[0]) == wanted:
        return True
    inner = node.func if isinstance(node, ast.Call) else node
    while isinstance(inner, (ast.Attribute, ast.Subscript)):
        inner = inner.value
        if ast.dump(inner) == wanted:
            return True
    return False
