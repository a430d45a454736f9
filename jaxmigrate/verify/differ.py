"""The places in which two versions of a file differ, as sites that a recorder can wrap in both.

A site is the smallest expression that differs and whose value says something by itself; what cannot be wrapped (a function that
is called, a part of a dotted name, a slice, a keyword) or means something else by design (the class in an ``isinstance``, a spec
that became a sharding) is lifted to the expression around it. Where statements come, go or leave their block, they are one site.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from jaxmigrate.verify.model import Kind, Site, Span
from jaxmigrate.verify.trees import Interner, Tree, TreeError, best_pairs, equal_runs, real, span_of
from jaxmigrate.verify.watches import Functions, Watches

__all__ = ["TreeError", "sites"]

_DEEPEST = 120
"""Expressions below this depth are compared as a whole."""
_SMALLEST_MOVE = 4
"""Nodes of a statement that is still the same one in another place."""
_WINDOW = 12
"""Statements around a place in a long list among which its counterpart is looked for."""
_MOST_REGION = 2000
"""Candidate pairs of statements up to which all ways to read a change are weighed against each other."""
_BY_MEANING = {"isinstance": 1, "issubclass": 1, "getattr": 1, "hasattr": 1, "setattr": 1, "delattr": 1, "partial": 0}
"""Functions, and which of their arguments says nothing without them: a class, the name of an attribute, a function."""
_CONVERSIONS = frozenset(
    {"global_array_to_host_local_array", "host_local_array_to_global_array", "make_array_from_process_local_data"}
)
_BUFFERS = frozenset({"_device_buffers", "device_buffers"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
_IMPORTS = (ast.Import, ast.ImportFrom)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FAMILIES: dict[type[ast.stmt], type[ast.stmt]] = {
    ast.AsyncFunctionDef: ast.FunctionDef,
    ast.AsyncFor: ast.For,
    ast.AsyncWith: ast.With,
    ast.AnnAssign: ast.Assign,
    ast.ImportFrom: ast.Import,
}


def sites(path: str, before: str | bytes, after: str | bytes, first_id: int) -> list[Site]:
    """The sites of one file, numbered from `first_id` in the order of their places; watches come last.

    Raises:
        TreeError: one of the versions cannot be parsed.
    """
    interner = Interner()
    diff = _Diff(Tree(before, interner), Tree(after, interner))
    if not diff.same(diff.before.root, diff.after.root):
        diff.module()
    return _numbered(path, diff, first_id)


@dataclass(frozen=True, slots=True)
class _Found:
    kind: Kind
    before: Span | None
    after: Span | None
    names: tuple[str, ...]
    function: str
    inside: Functions

    @property
    def order(self) -> tuple[Span, Span]:
        """By place: outer before inner."""
        span = self.before or self.after
        assert span is not None
        return Span(span.line, span.column, -span.end_line, -span.end_column), self.after or span


def _numbered(path: str, diff: _Diff, first_id: int) -> list[Site]:
    found = sorted(dict.fromkeys(diff.found), key=lambda f: f.order)
    ids = {(f.before, f.after): first_id + n for n, f in enumerate(found) if f.kind is Kind.VALUE}
    watches = Watches(diff.before, diff.after, diff.equal, diff.twins, ids, first_id + len(found))
    result = [
        Site(
            first_id + n,
            path,
            f.kind,
            f.before,
            f.after,
            diff.before.text(f.before) if f.before else "",
            diff.after.text(f.after) if f.after else "",
            f.names,
            f.function,
            tuple(i for i in watches.of(f.inside) if i != first_id + n),
        )
        for n, f in enumerate(found)
    ]
    for id_, (b, a) in watches.new.items():
        result.append(Site(id_, path, Kind.WATCH, b, a, diff.before.text(b), diff.after.text(a)))
    return result


class _Diff:
    """The walk over both trees; `found` is its result."""

    def __init__(self, before: Tree, after: Tree) -> None:
        self.before = before
        self.after = after
        self.found: list[_Found] = []
        self.equal: list[tuple[ast.AST, ast.AST]] = []
        """Parts that are the same in both versions."""
        self.twins: dict[ast.AST, ast.AST] = {}
        """Changed parts that belong together."""
        self._inside: Functions = ()
        self._qualified: tuple[str, ...] = ()
        self._depth = 0
        self._likeness: dict[tuple[ast.AST, ast.AST], float] = {}
        self._converted_names: dict[Tree, frozenset[str]] = {}
        self._spread: dict[Tree, set[str]] = {}

    def same(self, b: ast.AST, a: ast.AST) -> bool:
        """Whether two parts differ in nothing."""
        return self.before.number[b] == self.after.number[a]

    def likeness(self, b: ast.AST, a: ast.AST) -> float:
        """From 0 to 1: how much two parts have in common."""
        if self.same(b, a):
            return 1.0
        if (b, a) not in self._likeness:
            shared = self.before.bag(b) & self.after.bag(a)
            self._likeness[b, a] = 2.0 * sum(shared.values()) / (self.before.size[b] + self.after.size[a])
        return self._likeness[b, a]

    def add(self, kind: Kind, b: Span | None, a: Span | None, names: tuple[str, ...] = ()) -> None:
        """Keep a site."""
        self.found.append(_Found(kind, b, a, names, ".".join(self._qualified), self._inside))

    def value(self, b: ast.expr | None, a: ast.expr | None, kind: Kind = Kind.VALUE) -> None:
        """An expression as a site."""
        self.add(kind, span_of(b) if b else None, span_of(a) if a else None)

    def statements(self, b: Sequence[ast.stmt], a: Sequence[ast.stmt], but: ast.AST | None = None) -> None:
        """Statements as a site; the names that both versions bind there, `but` those, can be compared behind them."""
        others = {n.id for n in ast.walk(but) if isinstance(n, ast.Name)} if but is not None else set()
        names = tuple(sorted((_bound(b) & _bound(a)) - others))
        self.add(Kind.STATEMENT, span_of(b[0], b[-1]) if b else None, span_of(a[0], a[-1]) if a else None, names)

    # Blocks

    def module(self) -> None:
        """Compare the files."""
        self.bodies(self.before.root.body, self.after.root.body)

    def bodies(self, before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> None:
        """Compare two blocks."""
        b, a = real(before), real(after)
        codes = equal_runs([self.before.number[s] for s in b], [self.after.number[s] for s in a])
        regions = [(b[i1:i2], a[j1:j2]) for tag, i1, i2, j1, j2 in codes if tag != "equal"]
        for tag, i1, i2, j1, j2 in codes:
            if tag == "equal":
                self.equal += zip(b[i1:i2], a[j1:j2], strict=True)
        settled = self._moved(regions, b, a)
        for x, y in regions:
            self._region(x, y, settled)

    def _moved(
        self,
        regions: list[tuple[list[ast.stmt], list[ast.stmt]]],
        before: Sequence[ast.stmt],
        after: Sequence[ast.stmt],
    ) -> dict[ast.stmt, ast.stmt]:
        """Functions and classes belong together by their name, wherever in the block they are; equal statements too."""
        b_region = {s: n for n, (b, _) in enumerate(regions) for s in b}
        a_region = {s: n for n, (_, a) in enumerate(regions) for s in a}
        settled: dict[ast.stmt, ast.stmt] = {}
        keys = {s: _moving_key(s, self.before) for s in b_region}
        led_before, led_after = _leading(before, self.before), _leading(after, self.after)
        for b, a in _same_key(keys, {s: _moving_key(s, self.after) for s in a_region}):
            if isinstance(b, (*_FUNCTIONS, ast.ClassDef)):
                self.statement(b, a)
            elif b_region[b] == a_region[a]:
                continue
            elif not isinstance(b, _IMPORTS) and not led_before[b].same_for(b, led_after[a]):
                if self.before.size[b] < _SMALLEST_MOVE:
                    continue
                self.statements([b], [a])
            settled[b] = a
            settled[a] = b
        return settled

    def _region(self, before: list[ast.stmt], after: list[ast.stmt], settled: dict[ast.stmt, ast.stmt]) -> None:
        """Compare statements between two places that are equal."""
        group = _Group()
        for part in self._parts(before, after, settled):
            if part.pair:
                (b,), (a,) = part.before, part.after
                if not self.same(b, a) and group.leads_to(a):
                    group.take(part)  # new statements that only prepare this one
                self._flush(group)
                self.statement(b, a)
            elif any(s in settled for s in (*part.before, *part.after)):
                self._flush(group)
            else:
                if group.ends_before(part):
                    self._flush(group)
                group.take(part)
        self._flush(group)

    def _parts(self, before: list[ast.stmt], after: list[ast.stmt], settled: dict[ast.stmt, ast.stmt]) -> Iterator[_Part]:
        """What belongs together, in order."""
        while unwrapped := self._unwrapped(before, after, settled) if before and after else None:
            part, i, j = unwrapped
            yield from self._parts(before[:i], after[:j], settled)
            yield part
            before, after = before[i + len(part.before) :], after[j + len(part.after) :]
        if self._only_pair(before, after, settled):
            yield _Part(before, after, pair=True)
            return
        for b, a in best_pairs(before, after, lambda x, y: self._score(x, y, settled)):
            together = b is not None and a is not None and b not in settled
            yield _Part([b] if b else [], [a] if a else [], pair=together)

    @staticmethod
    def _only_pair(before: list[ast.stmt], after: list[ast.stmt], settled: dict[ast.stmt, ast.stmt]) -> bool:
        """Whether a statement stands where one of its kind stood, so that it is what became of it."""
        if len(before) != 1 or len(after) != 1 or before[0] in settled or after[0] in settled:
            return False
        definition = (*_FUNCTIONS, ast.ClassDef, *_IMPORTS)
        return _family(before[0]) is _family(after[0]) and not isinstance(before[0], definition)

    def _score(self, b: ast.stmt, a: ast.stmt, settled: dict[ast.stmt, ast.stmt]) -> float:
        """How well two statements go together; 0 if they do not."""
        if b in settled or a in settled:
            return 10.0 if settled.get(b) is a else 0.0
        if _family(b) is not _family(a) or isinstance(b, _IMPORTS):
            return 0.0
        likeness = self.likeness(b, a)
        if isinstance(b, (ast.Return, ast.Assert)):
            return likeness + 0.1
        if isinstance(b, _COMPOUND):
            return likeness + 0.02
        if _called(b) and _called(b) == _called(a):
            likeness += 0.3
        x, y = _assigned(b, self.before), _assigned(a, self.after)
        if x or y:
            likeness += 0.3 if x == y else 0.0 if x & y else -0.3
        return likeness if likeness >= 0.2 else 0.0

    def _unwrapped(
        self, before: list[ast.stmt], after: list[ast.stmt], settled: dict[ast.stmt, ast.stmt]
    ) -> tuple[_Part, int, int] | None:
        """A statement of which one version keeps only a block, if that explains more than pairing does; where it lies in both."""

        def weight(x: ast.stmt, y: ast.stmt) -> float:
            return self._score(x, y, settled) * min(self.before.size[x], self.after.size[y])

        def total(bs: list[ast.stmt], as_: list[ast.stmt]) -> float:
            return sum(weight(x, y) for x, y in _both(best_pairs(bs, as_, weight)))

        if len(before) * len(after) > _MOST_REGION:
            return _first_reading(before, after, settled, weight)
        best, chosen = total(before, after), None
        for part, i, j in _readings(before, after, settled, weight):
            assert part.inner is not None
            rest = total(before[i + len(part.before) :], after[j + len(part.after) :])
            gain = total(before[:i], after[:j]) + total(*part.inner) + rest
            if gain > best:
                best, chosen = gain, (part, i, j)
        return chosen

    def _flush(self, group: _Group) -> None:
        """What came together is a site; imports are sites of their own."""
        for wanted in (True, False):
            b = _runs(group.before, wanted)
            a = _runs(group.after, wanted)
            for n in range(max(len(b), len(a))):
                self.statements(b[n] if n < len(b) else [], a[n] if n < len(a) else [])
        inner = group.inner
        group.clear()
        if inner:
            self.bodies(*inner)

    # Statements

    def statement(self, b: ast.stmt, a: ast.stmt) -> None:
        """Compare two statements that belong together."""
        if self.same(b, a):
            self.equal.append((b, a))
            return
        self.twins[b] = a
        mark = len(self.found)
        state = self._inside, self._qualified, self._depth
        try:
            if type(b) is not type(a) and not isinstance(b, (ast.Assign, ast.AnnAssign)):
                self.statements([b], [a])
            getattr(self, f"_{_family(b).__name__.lower()}", self._plain)(b, a)
        except RecursionError:
            if state[1] or state[2]:
                raise  # the stack is shorter further out
            del self.found[mark:]
            self._inside, self._qualified, self._depth = state
            self.statements([b], [a])

    def _plain(self, b: ast.stmt, a: ast.stmt) -> None:
        """A statement with nothing to look into."""
        self.statements([b], [a])

    def _functiondef(self, b: ast.FunctionDef, a: ast.FunctionDef) -> None:
        self.sequence(b.decorator_list, a.decorator_list, lambda: None)
        if b.name != a.name or not self._arguments(b.args, a.args) or _type_parameters(b) != _type_parameters(a):
            self.statements([b], [a])
        self._annotation(b.returns, a.returns)
        self._enter(b, a, b.name)

    def _enter(self, b: ast.FunctionDef | ast.Lambda, a: ast.FunctionDef | ast.Lambda, name: str) -> None:
        outside = self._inside, self._qualified
        self._inside, self._qualified = (*self._inside, (b, a)), (*self._qualified, name)
        if isinstance(b, ast.Lambda):
            assert isinstance(a, ast.Lambda)
            self.expression(b.body, a.body)
        else:
            assert not isinstance(a, ast.Lambda)
            self.bodies(b.body, a.body)
        self._inside, self._qualified = outside

    def _arguments(self, b: ast.arguments, a: ast.arguments) -> bool:
        """Compare annotations and defaults; whether the parameters are the same."""
        for x, y in zip(_parameters(b), _parameters(a), strict=False):
            self._annotation(x.annotation, y.annotation)
        same = True
        for xs, ys in ((b.defaults, a.defaults), (b.kw_defaults, a.kw_defaults)):
            same &= len(xs) == len(ys)
            for v, w in zip(xs, ys, strict=False):
                if v is not None and w is not None:
                    self.expression(v, w)
                else:
                    same &= v is w
        return same and _shape(b) == _shape(a)

    def _annotation(self, b: ast.expr | None, a: ast.expr | None) -> None:
        if (b is None) != (a is None) or (b is not None and a is not None and not self.same(b, a)):
            self.value(b, a, Kind.ANNOTATION)

    def _classdef(self, b: ast.ClassDef, a: ast.ClassDef) -> None:
        self.sequence(b.decorator_list, a.decorator_list, lambda: None)
        head = [[self.before.number[x] for x in (*b.bases, *b.keywords)], [self.after.number[x] for x in (*a.bases, *a.keywords)]]
        if b.name != a.name or head[0] != head[1] or _type_parameters(b) != _type_parameters(a):
            self.statements([b], [a])
        outside = self._qualified
        self._qualified = (*self._qualified, b.name)
        self.bodies(b.body, a.body)
        self._qualified = outside

    def _return(self, b: ast.Return, a: ast.Return) -> None:
        if b.value is None or a.value is None:
            self.statements([b], [a])
        else:
            self.expression(b.value, a.value)

    def _expr(self, b: ast.Expr, a: ast.Expr) -> None:
        if isinstance(b.value, ast.Call) and isinstance(a.value, ast.Call) and not self.same(b.value.func, a.value.func):
            # Nobody takes the value, so that another function may give another one.
            if not self._nested(b.value, a.value):
                self.statements([b], [a])
        else:
            self.expression(b.value, a.value)

    def _assign(self, b: ast.Assign | ast.AnnAssign, a: ast.Assign | ast.AnnAssign) -> None:
        xs, ys = _targets(b), _targets(a)
        same = len(xs) == len(ys)
        for x, y in zip(xs, ys, strict=False):
            same &= self._target(x, y)
        if not same or (b.value is None) != (a.value is None):
            self.statements([b], [a])
        self._annotation(getattr(b, "annotation", None), getattr(a, "annotation", None))
        if same and self._other_options(b, a):
            self.statements([b], [a], but=xs[0])
        elif same and isinstance(xs[0], ast.Subscript) and b.value and a.value and self._has_numbers(b.value, a.value):
            self.statements([b], [a])  # the element is the same afterwards
        elif not same and _is_same_store(xs, ys):
            return  # the values differ by design, the variable has the same one afterwards
        elif b.value is not None and a.value is not None:
            if not same and self.same(b.value, a.value) and not isinstance(b.value, ast.Constant):
                self.value(b.value, a.value)
            self.expression(b.value, a.value)

    def _other_options(self, b: ast.Assign | ast.AnnAssign, a: ast.Assign | ast.AnnAssign) -> bool:
        """Whether a variable holds other keyword arguments by design: a dictionary that is only ever spread in calls."""
        target = _targets(b)[0]
        if not isinstance(target, ast.Name) or b.value is None or a.value is None:
            return False
        if not _other_keys(b.value, a.value):
            return False
        for tree in (self.before, self.after):
            if tree not in self._spread:
                self._spread[tree] = _only_spread(tree.flat)
        return all(target.id in self._spread[tree] for tree in (self.before, self.after))

    def _target(self, b: ast.expr, a: ast.expr) -> bool:
        """Whether two targets store to the same place, but for expressions in them that were compared."""
        if self.same(b, a):
            return True
        if isinstance(b, ast.Subscript) and isinstance(a, ast.Subscript):
            self._loaded(b.value, a.value)
            return self._slice(b.slice, a.slice)
        if isinstance(b, ast.Attribute) and isinstance(a, ast.Attribute) and b.attr == a.attr:
            return self._loaded(b.value, a.value)
        if isinstance(b, (ast.Tuple, ast.List)) and isinstance(a, (ast.Tuple, ast.List)) and len(b.elts) == len(a.elts):
            results = [self._target(x, y) for x, y in zip(b.elts, a.elts, strict=True)]
            return all(results)
        return False

    def _loaded(self, b: ast.expr, a: ast.expr) -> bool:
        """An object that a target stores into."""
        self.expression(b, a)
        return True

    def _augassign(self, b: ast.AugAssign, a: ast.AugAssign) -> None:
        if not self._target(b.target, a.target) or type(b.op) is not type(a.op):
            self.statements([b], [a])
        self.expression(b.value, a.value)

    def _assert(self, b: ast.Assert, a: ast.Assert) -> None:
        self.expression(b.test, a.test)
        self._optional(b, a, b.msg, a.msg)

    def _raise(self, b: ast.Raise, a: ast.Raise) -> None:
        self._optional(b, a, b.exc, a.exc)
        self._optional(b, a, b.cause, a.cause)

    def _optional(self, b: ast.stmt, a: ast.stmt, x: ast.expr | None, y: ast.expr | None) -> None:
        if x is not None and y is not None:
            self.expression(x, y)
        elif x is not y:
            self.statements([b], [a])

    def _if(self, b: ast.If, a: ast.If) -> None:
        while True:
            self.expression(b.test, a.test)
            self.bodies(b.body, a.body)
            x, y = (n.orelse[0] if len(n.orelse) == 1 else None for n in (b, a))
            if not (isinstance(x, ast.If) and isinstance(y, ast.If) and self._alike(x.test, y.test)):
                self.bodies(b.orelse, a.orelse)
                return
            b, a = x, y  # a chain of elif may be longer than the stack is deep
            self.twins[b] = a

    def _while(self, b: ast.While, a: ast.While) -> None:
        self.expression(b.test, a.test)
        self.bodies(b.body, a.body)
        self.bodies(b.orelse, a.orelse)

    def _for(self, b: ast.For, a: ast.For) -> None:
        if self._other_items(b.iter, a.iter):
            self.statements([b], [a], but=b.target)
        elif not self._target(b.target, a.target):
            self.statements([b], [a])
        else:
            self.expression(b.iter, a.iter)
        self.bodies(b.body, a.body)
        self.bodies(b.orelse, a.orelse)

    def _other_items(self, b: ast.expr, a: ast.expr) -> bool:
        """Whether a loop runs over something else by design: other literals, shards instead of buffers."""
        if isinstance(b, (ast.Tuple, ast.List)) and isinstance(a, (ast.Tuple, ast.List)):
            return len(b.elts) != len(a.elts)
        return self._converted(b, a)

    def _with(self, b: ast.With, a: ast.With) -> None:
        same = True
        for x, y in self._aligned(b.items, a.items):
            if x is None or y is None:
                self.value(x.context_expr if x else None, y.context_expr if y else None, Kind.CONTEXT)
                continue
            if x.optional_vars is not None and y.optional_vars is not None:
                same &= self._target(x.optional_vars, y.optional_vars)
            if not self.same(x.context_expr, y.context_expr):
                self.value(x.context_expr, y.context_expr, Kind.CONTEXT)
                self._nested(x.context_expr, y.context_expr)
            elif (x.optional_vars is None) != (y.optional_vars is None):
                self.value(x.context_expr, y.context_expr, Kind.CONTEXT)  # a name for what was there
        if not same:
            self.statements([b], [a])
        self.bodies(b.body, a.body)

    def _try(self, b: ast.Try, a: ast.Try) -> None:
        self.bodies(b.body, a.body)
        same = len(b.handlers) == len(a.handlers)
        for x, y in self._aligned(b.handlers, a.handlers):
            if x is None or y is None:
                continue
            same &= x.name == y.name and (x.type is None) == (y.type is None)
            if x.type is not None and y.type is not None:
                self.expression(x.type, y.type)
            self.bodies(x.body, y.body)
        if not same:
            self.statements([b], [a])
        self.bodies(b.orelse, a.orelse)
        self.bodies(b.finalbody, a.finalbody)

    def _match(self, b: ast.Match, a: ast.Match) -> None:
        self.expression(b.subject, a.subject)
        same = len(b.cases) == len(a.cases)
        for x, y in zip(b.cases, a.cases, strict=False):
            same &= self.same(x.pattern, y.pattern) and (x.guard is None) == (y.guard is None)
            if x.guard is not None and y.guard is not None:
                self.expression(x.guard, y.guard)
            self.bodies(x.body, y.body)
        if not same:
            self.statements([b], [a])

    # Expressions

    def expression(self, b: ast.expr, a: ast.expr) -> None:
        """Compare two expressions that can both be wrapped."""
        if self.same(b, a):
            self.equal.append((b, a))
        elif not self._nested(b, a):
            self.value(b, a)

    def _nested(self, b: ast.expr, a: ast.expr) -> bool:
        """Compare the parts of two expressions; whether the parts are all that differs."""
        self.twins[b] = a
        if type(b) is not type(a) or self._depth > _DEEPEST:
            return False
        self._depth += 1
        name = "comprehension" if isinstance(b, _COMPREHENSIONS) else type(b).__name__.lower()
        whole = getattr(self, f"_in_{name}", None)
        settled = whole is not None and bool(whole(b, a))
        self._depth -= 1
        return settled

    def _in_call(self, b: ast.Call, a: ast.Call) -> bool:
        settled = self._func(b.func, a.func)
        pairs, aligned = self._call_arguments(b, a, settled)
        settled &= aligned
        name = last_name(b.func) if self.same(b.func, a.func) else ""
        rest: list[tuple[ast.expr, ast.expr]] = []
        for n, (x, y) in enumerate(pairs):
            if self.same(x, y):
                self.equal.append((x, y))
            elif _says_nothing(x, y) or n == _BY_MEANING.get(name):
                settled = False
            elif self._converted(x, y) or self._only_whole(x, y):
                settled = False
                rest.append((x, y))
            else:
                rest.append((x, y))
        for x, y in rest:
            reshaped = type(x) is not type(y) or _is_placement(x) or _other_keys(x, y) or self._converted(x, y)
            if settled or not reshaped:
                self._argument(x, y)
        return settled

    def _argument(self, x: ast.expr, y: ast.expr) -> None:
        if isinstance(x, ast.Starred) and isinstance(y, ast.Starred):
            self.expression(x.value, y.value)
        elif isinstance(x, ast.GeneratorExp) and isinstance(y, ast.GeneratorExp):
            self._nested(x, y)
        else:
            self.expression(x, y)

    def _only_whole(self, x: ast.expr, y: ast.expr) -> bool:
        """Whether an argument says nothing by itself: a generator that differs as a whole, one of several ``*args``."""
        if isinstance(x, ast.GeneratorExp) and isinstance(y, ast.GeneratorExp):
            return self._other_comprehension(x, y)
        return any(isinstance(v, (ast.GeneratorExp, ast.Starred)) for v in (x, y)) and type(x) is not type(y)

    def _func(self, b: ast.expr, a: ast.expr) -> bool:
        """Compare what is called; whether the call itself is the same."""
        if self.same(b, a):
            self.equal.append((b, a))
            return True
        if isinstance(b, ast.Attribute) and isinstance(a, ast.Attribute):
            return self._member(b, a)
        if isinstance(b, (ast.Call, ast.Lambda, ast.Subscript)) and type(b) is type(a):
            self.expression(b, a)
            return True
        return False

    def _call_arguments(self, b: ast.Call, a: ast.Call, same_func: bool) -> tuple[list[tuple[ast.expr, ast.expr]], bool]:
        """Arguments that belong together, and whether no other ones are there."""
        aligned = same_func and len(b.args) == len(a.args) and [k.arg for k in b.keywords] == [k.arg for k in a.keywords]
        if aligned:
            keywords = [(k, m) for k, m in zip(b.keywords, a.keywords, strict=True)]
            pairs = [*zip(b.args, a.args, strict=True), *((k.value, m.value) for k, m in keywords)]
            return pairs, not any(k.arg is None and _other_keys(k.value, m.value) for k, m in keywords)
        theirs = {k.arg: k.value for k in a.keywords if k.arg}
        pairs = [(k.value, theirs.pop(k.arg)) for k in b.keywords if k.arg in theirs]
        left = [k.value for k in b.keywords if not any(k.value is x for x, _ in pairs)]
        found = best_pairs([*b.args, *left], [*a.args, *theirs.values()], self._same_kind)
        return [*pairs, *((x, y) for x, y in found if x is not None and y is not None)], False

    def _aligned(self, b: Sequence[_N], a: Sequence[_N]) -> list[tuple[_N | None, _N | None]]:
        if len(b) == len(a):
            return list(zip(b, a, strict=True))
        return list(best_pairs(b, a, self._alike))

    def _alike(self, b: ast.AST, a: ast.AST) -> float:
        return likeness if (likeness := self.likeness(b, a)) > 0.5 else 0.0

    def _same_kind(self, b: ast.AST, a: ast.AST) -> float:
        if type(b) is not type(a):
            return 0.0
        if isinstance(b, ast.Call) and isinstance(a, ast.Call) and last_name(b.func) != last_name(a.func):
            return 0.0
        return self._alike(b, a)

    def _in_attribute(self, b: ast.Attribute, a: ast.Attribute) -> bool:
        return self._member(b, a)

    def _member(self, b: ast.Attribute, a: ast.Attribute) -> bool:
        """Compare the objects of which a member is taken, if they are more than a name; whether the member is the same."""
        if (is_chain(b) and is_chain(a)) or isinstance(b.value, ast.Name) or isinstance(a.value, ast.Name):
            return False
        if b.attr == a.attr or (type(b.value) is type(a.value) and not is_chain(b.value)):
            self.expression(b.value, a.value)
        return b.attr == a.attr

    def _in_subscript(self, b: ast.Subscript, a: ast.Subscript) -> bool:
        if self.same(b.value, a.value):
            self.equal.append((b.value, a.value))
            return self._slice(b.slice, a.slice)
        alike = type(b.value) is type(a.value) and is_chain(b.value) == is_chain(a.value)
        if alike and self.same(b.slice, a.slice) and not self._converted(b.value, a.value):
            self.expression(b.value, a.value)
            return True
        if isinstance(b.value, ast.Call) and isinstance(a.value, ast.Call):
            self._nested(b.value, a.value)
        return False

    def _slice(self, b: ast.expr, a: ast.expr) -> bool:
        """Compare two indices; whether they can be compared without what they are applied to."""
        if self.same(b, a):
            self.equal.append((b, a))
            return True
        bs = b.elts if isinstance(b, ast.Tuple) else [b]
        as_ = a.elts if isinstance(a, ast.Tuple) else [a]
        pairs = [(x, y) for x, y in zip(bs, as_, strict=False) if not self.same(x, y)]
        if len(bs) != len(as_) or any(isinstance(v, (ast.Slice, ast.Starred)) for pair in pairs for v in pair):
            return False
        if any(_is_class(v) for pair in pairs for v in pair) and isinstance(b, ast.Tuple):
            return False
        if any(_says_nothing(x, y) for x, y in pairs):
            return False
        for x, y in pairs:
            self.expression(x, y)
        return True

    def _in_compare(self, b: ast.Compare, a: ast.Compare) -> bool:
        settled = list(map(type, b.ops)) == list(map(type, a.ops))
        if not settled:
            return False
        pairs = [(x, y) for x, y in zip([b.left, *b.comparators], [a.left, *a.comparators], strict=True) if not self.same(x, y)]
        lifted = [
            (x, y)
            for x, y in pairs
            if any(_is_class(v) or _is_text(v) for v in (x, y)) or _says_nothing(x, y) or self._converted(x, y)
        ]
        for x, y in pairs:
            if (x, y) not in lifted:
                self.expression(x, y)
        return not lifted

    def _in_boolop(self, b: ast.BoolOp, a: ast.BoolOp) -> bool:
        same = [type(b.op) is type(a.op)]
        self.sequence(b.values, a.values, lambda: same.append(False), lone=False)
        return all(same)

    def _in_binop(self, b: ast.BinOp, a: ast.BinOp) -> bool:
        pairs = [(x, y) for x, y in ((b.left, a.left), (b.right, a.right)) if not self.same(x, y)]
        if type(b.op) is not type(a.op) or any(_says_nothing(x, y) for x, y in pairs):
            return False
        if isinstance(b.op, ast.Mod) and any(self._has_numbers(x, y) for x, y in pairs):
            return False  # the text is the same
        self.expression(b.left, a.left)
        self.expression(b.right, a.right)
        return True

    def _has_numbers(self, b: ast.expr, a: ast.expr) -> bool:
        """Whether arrays of one element became the numbers in them."""
        if isinstance(b, ast.Tuple) and isinstance(a, ast.Tuple) and len(b.elts) == len(a.elts):
            return any(self._has_numbers(x, y) for x, y in zip(b.elts, a.elts, strict=True))
        if not isinstance(a, ast.Call) or not isinstance(a.func, ast.Attribute) or a.func.attr != "item":
            return False
        return self.same(b, a.func.value)

    def _in_unaryop(self, b: ast.UnaryOp, a: ast.UnaryOp) -> bool:
        if type(b.op) is not type(a.op) or isinstance(b.operand, ast.Constant):
            return False
        self.expression(b.operand, a.operand)
        return True

    def _in_ifexp(self, b: ast.IfExp, a: ast.IfExp) -> bool:
        for x, y in ((b.test, a.test), (b.body, a.body), (b.orelse, a.orelse)):
            self.expression(x, y)
        return True

    def _in_lambda(self, b: ast.Lambda, a: ast.Lambda) -> bool:
        settled = self._arguments(b.args, a.args)
        self._enter(b, a, "<lambda>")
        return settled

    def _in_dict(self, b: ast.Dict, a: ast.Dict) -> bool:
        if _keys(b) == _keys(a):
            for k, m in zip(b.keys, a.keys, strict=True):
                if k is not None and m is not None:
                    self.expression(k, m)
            for x, y in zip(b.values, a.values, strict=True):
                self.expression(x, y)
            return True
        self.sequence(b.values, a.values, lambda: None, lone=False)
        return False

    def _in_tuple(self, b: ast.Tuple | ast.List | ast.Set, a: ast.Tuple | ast.List | ast.Set) -> bool:
        same: list[bool] = []
        self.sequence(b.elts, a.elts, lambda: same.append(False), lone=False)
        return not same

    _in_list = _in_set = _in_tuple

    def sequence(self, b: Sequence[ast.expr], a: Sequence[ast.expr], uneven: Callable[[], None], *, lone: bool = True) -> None:
        """Compare expressions in a row; `uneven` is told of those that only one version has, which are sites if `lone`."""
        for x, y in self._aligned(b, a):
            if x is not None and y is not None:
                if isinstance(x, ast.Starred) != isinstance(y, ast.Starred):
                    uneven()
                else:
                    self._argument(x, y)
                continue
            uneven()
            if lone:
                self.value(x, y)

    def _in_comprehension(self, b: _Comprehension, a: _Comprehension) -> bool:
        if self._other_comprehension(b, a):
            return False
        for g, h in zip(b.generators, a.generators, strict=True):
            self.expression(g.iter, h.iter)
            for x, y in zip(g.ifs, h.ifs, strict=True):
                self.expression(x, y)
        for x, y in zip(_elements(b), _elements(a), strict=True):
            self.expression(x, y)
        return True

    def _other_comprehension(self, b: _Comprehension, a: _Comprehension) -> bool:
        """Whether the parts of two comprehensions mean different things, so that only their results can be compared."""
        pairs = list(zip(b.generators, a.generators, strict=False))
        if len(b.generators) != len(a.generators) or any(
            not self.same(g.target, h.target) or g.is_async != h.is_async or len(g.ifs) != len(h.ifs) for g, h in pairs
        ):
            return True
        iters = any(not self.same(g.iter, h.iter) for g, h in pairs)
        rest = any(not self.same(x, y) for x, y in zip(_elements(b), _elements(a), strict=True)) or any(
            not self.same(x, y) for g, h in pairs for x, y in zip(g.ifs, h.ifs, strict=True)
        )
        return iters and (rest or any(self._converted(g.iter, h.iter) for g, h in pairs))

    def _converted(self, b: ast.expr, a: ast.expr) -> bool:
        """Whether only one version converts here what it passes on: it gives another kind of object, by design."""
        if self._is_conversion(b, self.before) != self._is_conversion(a, self.after):
            return True
        if last_name(b) in _BUFFERS and last_name(a) == "addressable_shards":
            return True
        if isinstance(b, (ast.Tuple, ast.List)) and isinstance(a, (ast.Tuple, ast.List)) and len(b.elts) == len(a.elts):
            return any(map(self._converted, b.elts, a.elts))
        if isinstance(b, ast.Dict) and isinstance(a, ast.Dict) and len(b.values) == len(a.values):
            return any(map(self._converted, b.values, a.values))
        if isinstance(b, ast.IfExp) and isinstance(a, ast.IfExp):
            return self._converted(b.body, a.body) or self._converted(b.orelse, a.orelse)
        return False

    def _is_conversion(self, node: ast.expr, tree: Tree) -> bool:
        """Whether an expression is a conversion, or a variable for one."""
        if isinstance(node, ast.Name):
            if tree not in self._converted_names:
                self._converted_names[tree] = _names_of_conversions(tree.flat)
            return node.id in self._converted_names[tree]
        return _is_conversion(node)

    def _in_starred(self, b: ast.Starred, a: ast.Starred) -> bool:
        self.expression(b.value, a.value)
        return True

    def _in_namedexpr(self, b: ast.NamedExpr, a: ast.NamedExpr) -> bool:
        if not self.same(b.target, a.target):
            return False
        self.expression(b.value, a.value)
        return True

    def _in_await(self, b: ast.Await | ast.Yield | ast.YieldFrom, a: ast.Await | ast.Yield | ast.YieldFrom) -> bool:
        if b.value is None or a.value is None:
            return False
        self.expression(b.value, a.value)
        return True

    _in_yield = _in_yieldfrom = _in_await


_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_N = TypeVar("_N", bound=ast.AST)


@dataclass(slots=True)
class _Part:
    """Statements of both versions that belong together; `inner`: the blocks in which they can be compared further."""

    before: list[ast.stmt]
    after: list[ast.stmt]
    pair: bool = False
    inner: tuple[list[ast.stmt], list[ast.stmt]] | None = None


class _Group:
    """Statements in a row that become one site."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Start anew."""
        self.before: list[ast.stmt] = []
        self.after: list[ast.stmt] = []
        self.inner: tuple[list[ast.stmt], list[ast.stmt]] | None = None

    def take(self, part: _Part) -> None:
        """Add to the group."""
        self.before += part.before
        self.after += part.after
        self.inner = part.inner or self.inner

    def leads_to(self, statement: ast.stmt) -> bool:
        """Whether the group is new statements of which `statement` uses a result."""
        names = _bound(self.after)
        return bool(names) and not self.before and any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(statement))

    def ends_before(self, part: _Part) -> bool:
        """Whether a further part is a site of its own: after a block only what could not be reached belongs to it."""
        if part.inner:
            return not any(map(self.leads_to, part.after))
        if self.inner is None:
            return False
        block = self.inner[0]
        return not (block and isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)) and not part.after)


def last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c``; empty for anything that is no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_chain(node: ast.expr) -> bool:
    """Whether this is a dotted name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_class(node: ast.expr) -> bool:
    """Whether this looks like the name of a class."""
    name = last_name(node).lstrip("_")
    return is_chain(node) and name[:1].isupper() and not name.isupper()


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _says_nothing(b: ast.expr, a: ast.expr) -> bool:
    """Whether two parts differ for sure, while what is made of them tells whether that matters: constants, kinds of specs."""
    if type(b) is not type(a):
        return _is_placement(b) and _is_placement(a)
    return _is_literal(b) and _is_literal(a)


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_is_literal, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_literal(node.operand)
    return isinstance(node, ast.Constant)


def _is_conversion(node: ast.expr) -> bool:
    name = last_name(node.func) if isinstance(node, ast.Call) else ""
    return name in _CONVERSIONS or name.endswith("Sharding")


def _names_of_conversions(nodes: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(
        name.id
        for node in nodes
        if isinstance(node, ast.Assign) and _is_conversion(node.value)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    )


def _is_placement(node: ast.expr) -> bool:
    """Whether this says where something lies: a spec, a sharding, None, or a literal of them."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(_is_placement, node.elts))
    if isinstance(node, ast.Dict):
        return all(map(_is_placement, node.values))
    if isinstance(node, ast.Constant):
        return node.value is None
    if isinstance(node, ast.Call):
        return last_name(node.func) in ("P", "PartitionSpec", "PS") or _is_conversion(node)
    return last_name(node) == "FROM_GDA"


def _keys(node: ast.Dict) -> list[object]:
    return [(type(k.value), repr(k.value)) if isinstance(k, ast.Constant) else k is None for k in node.keys]


def _option_names(node: ast.expr) -> list[object] | None:
    """The keys of ``{...}`` or ``dict(...)``; None for anything else."""
    if isinstance(node, ast.Dict):
        return [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
    if isinstance(node, ast.Call) and last_name(node.func) == "dict" and not node.args:
        return [keyword.arg for keyword in node.keywords]
    return None


def _only_spread(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are used as ``**name`` in calls, or for ``name["key"] = value``, and for nothing else."""
    uses: Counter[str] = Counter()
    spread: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses[node.id] += 1
        elif isinstance(node, ast.keyword) and node.arg is None and isinstance(node.value, ast.Name):
            uses[node.value.id] -= 1
            spread.add(node.value.id)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            uses[node.value.id] -= 1
    return {name for name in spread if not uses[name]}


def _other_keys(b: ast.expr, a: ast.expr) -> bool:
    """Whether two literals of keyword arguments name other ones."""
    keys = _option_names(b), _option_names(a)
    return None not in keys and keys[0] != keys[1]


def _elements(node: _Comprehension) -> list[ast.expr]:
    return [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]


def _parameters(node: ast.arguments) -> list[ast.arg]:
    groups = (node.posonlyargs, node.args, [node.vararg], node.kwonlyargs, [node.kwarg])
    return [p for group in groups for p in group if p is not None]


def _shape(node: ast.arguments) -> list[list[str]]:
    """The names of the parameters of each kind."""
    groups = (node.posonlyargs, node.args, [node.vararg], node.kwonlyargs, [node.kwarg])
    return [[p.arg for p in group if p is not None] for group in groups]


def _type_parameters(node: ast.stmt) -> list[str]:
    return [ast.dump(p) for p in getattr(node, "type_params", ())]


def _is_same_store(before: list[ast.expr], after: list[ast.expr]) -> bool:
    """Whether ``x.attribute = ...`` became ``x = ...``, or ``[x] = ...`` did."""
    b, a = before[0], after[0]
    inner = (
        b.value if isinstance(b, ast.Attribute) else b.elts[0] if isinstance(b, (ast.List, ast.Tuple)) and len(b.elts) == 1 else b
    )
    if len(before) != 1 or len(after) != 1 or not isinstance(inner, ast.Name) or not isinstance(a, ast.Name):
        return False
    return inner is not b and inner.id == a.id


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _family(node: ast.stmt) -> type[ast.stmt]:
    return _FAMILIES.get(type(node), type(node))


def _blocks(node: ast.stmt, depth: int = 3) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement, and of the statements in them; functions and classes keep theirs."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) or not depth:
        return
    blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
    blocks += [handler.body for handler in getattr(node, "handlers", [])]
    for block in blocks:
        statements = real(block)
        if statements:
            yield statements
        for statement in statements:
            yield from _blocks(statement, depth - 1)


def _readings(
    before: list[ast.stmt],
    after: list[ast.stmt],
    settled: Collection[ast.stmt],
    weight: Callable[[ast.stmt, ast.stmt], float],
) -> Iterator[tuple[_Part, int, int]]:
    """Each way in which the block of a statement of one version may stand in the other one without it."""
    for i, b in enumerate(before):
        for block in _blocks(b) if b not in settled else ():
            if pairs := _both(best_pairs(block, after, weight)):
                j, end = after.index(pairs[0][1]), after.index(pairs[-1][1]) + 1
                yield _Part([b], after[j:end], inner=(block, after[j:end])), i, j
    for j, a in enumerate(after):
        for block in _blocks(a) if a not in settled else ():
            if pairs := _both(best_pairs(before, block, weight)):
                i, end = before.index(pairs[0][0]), before.index(pairs[-1][0]) + 1
                yield _Part(before[i:end], [a], inner=(before[i:end], block)), i, j


def _first_reading(
    before: list[ast.stmt],
    after: list[ast.stmt],
    settled: Collection[ast.stmt],
    weight: Callable[[ast.stmt, ast.stmt], float],
) -> tuple[_Part, int, int] | None:
    """The first such way in a long list, where what belongs together is not far apart."""
    for n in range(min(len(before), len(after))):
        start = max(n - _WINDOW, 0)
        near = [before[n : n + 1], after[start : n + _WINDOW]], [before[start : n + _WINDOW], after[n : n + 1]]
        for (bs, as_), i, j, outer in zip(near, (n, start), (start, n), (before[n], after[n]), strict=True):
            if not isinstance(outer, _COMPOUND):
                continue
            direct = max(weight(b, a) for b in bs for a in as_)
            for part, k, m in _readings(bs, as_, settled, weight):
                assert part.inner is not None
                if sum(weight(x, y) for x, y in _both(best_pairs(*part.inner, weight))) > direct:
                    return part, i + k, j + m
    return None


def _bound(statements: Iterable[ast.stmt]) -> set[str]:
    """The names that statements bind to values, and ``return`` if they return."""
    names: set[str] = set()
    stack: list[ast.AST] = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda, *_IMPORTS)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Return):
            names.add("return")
        if isinstance(node, _COMPREHENSIONS):
            stack += [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        else:
            stack += ast.iter_child_nodes(node)
    return names


def _called(node: ast.stmt) -> str:
    """The name of what a statement calls and does nothing else."""
    return last_name(node.value.func) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else ""


def _assigned(node: ast.stmt, tree: Tree) -> set[int]:
    """What an assignment stores to."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {tree.number[target] for target in targets}


def _both(pairs: Iterable[tuple[_N | None, _N | None]]) -> list[tuple[_N, _N]]:
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _moving_key(node: ast.stmt, tree: Tree) -> object:
    """What makes a statement the same one in another place; None if nothing does."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return isinstance(node, ast.ClassDef), node.name
    return tree.number[node]


@dataclass(frozen=True, slots=True)
class _Led:
    """What stands before a statement in its block: a number for what is executed, and how many of the names are defined."""

    executed: int
    names: tuple[str, ...]
    defined: int

    def same_for(self, statement: ast.stmt, other: _Led) -> bool:
        """Whether it makes no difference to `statement` which of two places it has."""
        crossed = {*self.names[: self.defined]} ^ {*other.names[: other.defined]}
        return self.executed == other.executed and not any(
            isinstance(n, ast.Name) and n.id in crossed for n in ast.walk(statement)
        )


def _leading(block: Sequence[ast.stmt], tree: Tree) -> dict[ast.stmt, _Led]:
    """For each statement what stands before it."""
    definitions = (*_FUNCTIONS, ast.ClassDef)
    names = tuple(s.name for s in block if isinstance(s, definitions))
    found: dict[ast.stmt, _Led] = {}
    executed = defined = 0
    for statement in block:
        found[statement] = _Led(executed, names, defined)
        if isinstance(statement, definitions):
            defined += 1
        elif not isinstance(statement, _IMPORTS):
            executed = hash((executed, tree.number[statement]))
    return found


def _same_key(b: dict[ast.stmt, object], a: dict[ast.stmt, object]) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """Pairs of statements whose key occurs once in each version."""
    once: list[dict[object, ast.stmt | None]] = []
    for keys in (b, a):
        found: dict[object, ast.stmt | None] = {}
        for statement, key in keys.items():
            found[key] = None if key in found else statement
        once.append(found)
    for key, first in once[0].items():
        second = once[1].get(key)
        if key is not None and first is not None and second is not None:
            yield first, second


def _runs(statements: list[ast.stmt], imports: bool) -> list[list[ast.stmt]]:
    """The runs of statements that are imports, or of those that are none."""
    groups = itertools.groupby(statements, lambda s: isinstance(s, _IMPORTS))
    return [list(group) for is_import, group in groups if is_import is imports]


def statement_at(before: bytes, after: bytes, line: int) -> tuple[Span, Span] | None:
    """The statement at a line of the original, or the next one, that is the same in both versions; where it is in them."""
    interner = Interner()
    diff = _Diff(Tree(before, interner), Tree(after, interner))
    if diff.same(diff.before.root, diff.after.root):
        diff.equal.append((diff.before.root, diff.after.root))
    else:
        diff.module()
    pairs = [
        (span_of(b), span_of(a))
        for x, y in diff.equal
        for b, a in zip(diff.before.walk(x), diff.after.walk(y), strict=True)
        if isinstance(b, ast.stmt)
    ]
    at = [pair for pair in pairs if pair[0].end_line >= line]
    return min(at, key=lambda pair: (max(pair[0].line - line, 0), pair[0].end_line - pair[0].line), default=None)
