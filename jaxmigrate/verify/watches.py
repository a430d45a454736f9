"""Which calls run the body of a function: those that are given it, its decorators, and those of the functions that call it.

What such a call gives is concrete where the values inside of the function may be traced.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxmigrate.verify.model import Span
from jaxmigrate.verify.trees import Tree, span_of

Functions = tuple[tuple[ast.AST, ast.AST], ...]
"""Functions around a place, outermost first, in both versions."""

_TRANSFORMS = frozenset(
    {
        "checkify", "checkpoint", "custom_jvp", "custom_vjp", "grad", "hessian", "jacfwd", "jacobian", "jacrev", "jit",
        "linearize", "named_call", "partial", "pjit", "pmap", "remat", "shard_map", "soft_pmap", "value_and_grad", "vmap",
        "wraps", "xmap",
    }
)  # fmt: skip
"""Functions whose result is again the function, so that a call that takes it takes the function."""
_FAR = 4
"""So many names, and callers, are followed from a function."""
_MOST = 12
"""So many watches of one function."""


class Watches:
    """The watches of both versions, found when a site asks for them."""

    def __init__(
        self,
        before: Tree,
        after: Tree,
        equal: list[tuple[ast.AST, ast.AST]],
        twins: dict[ast.AST, ast.AST],
        ids: dict[tuple[Span | None, Span | None], int],
        next_id: int,
    ) -> None:
        """`ids` are those of sites that record values anyway."""
        self._trees = before, after
        self._equal = equal
        self._twins = twins
        self._all_twins: dict[ast.AST, ast.AST] | None = None
        self._indexes: tuple[_Index, _Index] | None = None
        self._known: dict[ast.AST, tuple[int, ...]] = {}
        self._ids = ids
        self._next = next_id
        self.new: dict[int, tuple[Span, Span]] = {}
        """The watches that are no other sites."""

    def of(self, inside: Functions) -> tuple[int, ...]:
        """The ids of the watches of these functions."""
        found: dict[int, None] = {}
        for b, a in inside:
            if b not in self._known:
                self._known[b] = tuple(self._watches(b, a))
            found.update(dict.fromkeys(self._known[b]))
        return tuple(found)

    def _watches(self, b: ast.AST, a: ast.AST) -> Iterator[int]:
        if self._indexes is None:
            self._indexes = _Index(self._trees[0]), _Index(self._trees[1])
        twins = self._every_twin()
        mine, theirs = self._indexes[0].watchers(b), self._indexes[1].watchers(a)
        pairs = [(x, twins[x]) for x in mine if x in twins]
        taken = {y for _, y in pairs}
        # Calls that were rewritten as a whole: as many as there are belong together in their order.
        pairs += zip([x for x in mine if x not in twins], [y for y in theirs if y not in taken], strict=False)
        for x, y in pairs[:_MOST]:
            if type(x) is type(y) or not isinstance(x, ast.Call):
                yield self._id(span_of(x), span_of(y))

    def _id(self, b: Span, a: Span) -> int:
        if (b, a) not in self._ids:
            self._ids[b, a] = self._next
            self.new[self._next] = b, a
            self._next += 1
        return self._ids[b, a]

    def _every_twin(self) -> dict[ast.AST, ast.AST]:
        if self._all_twins is None:
            self._all_twins = dict(self._twins)
            for b, a in self._equal:
                self._all_twins.update(zip(self._trees[0].walk(b), self._trees[1].walk(a), strict=True))
        return self._all_twins


class _Index:
    """Who takes and who calls what by name, in one version."""

    def __init__(self, tree: Tree) -> None:
        self._takers: dict[str, list[ast.Call]] = {}
        """Name of a function -> the calls that are given it."""
        self._callers: dict[str, list[ast.AST]] = {}
        """Name of a function -> the functions that call it."""
        self._parents = tree.parents()
        function: dict[ast.AST, ast.AST | None] = {}
        for node in tree.flat:
            parent = self._parents.get(node)
            inside = parent if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) else None
            function[node] = inside or (function.get(parent) if parent is not None else None)
            if isinstance(node, ast.Call):
                self._add(node, function[node])

    def _add(self, call: ast.Call, function: ast.AST | None) -> None:
        name = _name(call.func)
        if name and function is not None:
            self._callers.setdefault(name, []).append(function)
        for argument in _arguments(call):
            if name := _name(argument):
                self._takers.setdefault(name, []).append(call)

    def watchers(self, function: ast.AST) -> list[ast.AST]:
        """Calls and decorated definitions that run the body of `function`, those nearest to it first."""
        found: dict[ast.AST, None] = {}
        seen = {function}
        ring = [function]
        for _ in range(_FAR):
            following: list[ast.AST] = []
            for one in ring:
                names = self._own(one, found)
                self._taken(names, found)
                following += [c for name in names for c in self._callers.get(name, ()) if c not in seen]
            ring = list(dict.fromkeys(following))
            seen.update(ring)
            if not ring or len(found) >= _MOST:
                break
        return list(found)

    def _own(self, function: ast.AST, found: dict[ast.AST, None]) -> list[str]:
        """The names of a function; it is watched itself if it has decorators."""
        if isinstance(function, ast.Lambda):
            return self._given(function, found)
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        if function.decorator_list:
            found[function] = None
        return [function.name]

    def _taken(self, names: list[str], found: dict[ast.AST, None]) -> None:
        """Add the calls that take a function of one of `names`, and extend `names` by what their results are called."""
        for name in names:  # grows meanwhile
            for call in self._takers.get(name, ()):
                if call not in found and len(names) <= _FAR:
                    found[call] = None
                    names += [n for n in self._given(call, found) if n not in names]

    def _given(self, node: ast.AST, found: dict[ast.AST, None]) -> list[str]:
        """Where the function in `node` goes: the names it is assigned to; calls that take it are added to `found`."""
        while True:
            parent = self._parents.get(node)
            while isinstance(parent, (ast.keyword, ast.Starred, ast.Tuple, ast.List)):
                parent = self._parents.get(parent)
            if isinstance(parent, ast.Call) and _is_argument(node, parent):
                passes_on = not isinstance(node, ast.Call) or _name(node.func) in _TRANSFORMS or _name(parent.func) in _TRANSFORMS
                if not passes_on:
                    return []
                found[parent] = None
                node = parent
                continue
            if isinstance(parent, ast.Assign) and (not isinstance(node, ast.Call) or _name(node.func) in _TRANSFORMS):
                return [name for target in parent.targets if (name := _name(target))]
            return []


def _is_argument(node: ast.AST, call: ast.Call) -> bool:
    return call.func is not node


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call, and those in a literal."""
    values: Iterable[ast.expr] = [*call.args, *(k.value for k in call.keywords)]
    for value in values:
        if isinstance(value, (ast.Tuple, ast.List)):
            yield from value.elts
        else:
            yield value.value if isinstance(value, ast.Starred) else value


def _name(node: ast.expr) -> str:
    """The name of a function, with or without the object or module that holds it."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
