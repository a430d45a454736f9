"""Tests of the library's version (``jax.__version_info__ >= (0, 4)``), and how they come out on a release."""

from __future__ import annotations

import ast
import copy
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.scan import last_part

if TYPE_CHECKING:
    from jaxmigrate.model import Version
    from jaxmigrate.names import Source

_TEXTS = {"jax.__version__", "jax.version.__version__", "jaxlib.__version__", "jaxlib.version.__version__"}
_ORDER = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_PARSERS = {"Version", "LooseVersion", "StrictVersion", "parse", "parse_version"}
_PARTS = {"major": 0, "minor": 1, "micro": 2}

Value = tuple[int, ...] | tuple[str, ...] | int | str
"""A version, or a part of one."""
Answers = frozenset[bool]
_UNCLEAR: Answers = frozenset()
_RELEASE = re.compile(r"(\d+(?:\.\d+)*)\.?((?:a|b|rc|dev)\d*)?")
"""A version as text: its numbers, and ``rc1`` of ``0.5.0rc1``."""


@dataclass(frozen=True, slots=True)
class _On:
    """The release on which a test is asked."""

    source: Source
    release: Version

    @property
    def numbers(self) -> tuple[int, ...]:
        """``__version_info__``: three numbers at least."""
        return tuple(map(int, str(self.release).split(".")))


def is_version_test(source: Source, test: ast.expr) -> bool:
    """Whether a test asks for the version of the library."""
    test = _asked_by_function(source, source.value_of(test))
    if isinstance(test, ast.Call):
        method = isinstance(test.func, ast.Attribute) and _is_version(source, test.func.value)
        return method or any(_is_version(source, a) for a in test.args) or _compares_within(source, test)
    return isinstance(test, ast.Compare) and any(_is_version(source, part) for part in (test.left, *test.comparators))


def _compares_within(source: Source, call: ast.Call) -> bool:
    """Whether a function of this file answers with a comparison of the version, however it comes to it."""
    function = _function(source, call)
    answers = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None] if function else []
    compared = (n for answer in answers for n in ast.walk(answer) if isinstance(n, ast.Compare))
    return any(_is_version(source, term) for n in compared for term in (n.left, *n.comparators))


def _is_version(source: Source, node: ast.expr, depth: int = 0) -> bool:
    node = source.value_of(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and _asks_for_version(inner):
            return True
        if isinstance(inner, (ast.Attribute, ast.Name)):
            qualified = source.resolve(inner) or ""
            if qualified in _TEXTS or qualified == "jax.__version_info__":
                return True
            if qualified.startswith(("jax.version.", "jaxlib.version.")):
                return True
            if depth < 3 and isinstance(inner, ast.Name) and inner is not node and _is_version(source, inner, depth + 1):
                return True
    return False


def _asks_for_version(call: ast.Call) -> bool:
    """``importlib.metadata.version("jax")``, or a helper that looks like it."""
    return (
        "version" in last_part(call.func).lower()
        and len(call.args) == 1
        and getattr(call.args[0], "value", "") in ("jax", "jaxlib")
    )


def answers(source: Source, test: ast.expr, release: Version) -> Answers:
    """How a test of the version comes out on a release.

    Both ways where text says otherwise than numbers would, and version-strings cannot mend it; empty when it does not tell.
    """
    asked = _asked_by_function(source, source.value_of(test))
    if isinstance(asked, ast.Call):
        return _begins(_On(source, release), asked)
    if not isinstance(asked, ast.Compare):
        return _UNCLEAR
    terms = (asked.left, *asked.comparators)
    mended = any(source.resolve(term) in _TEXTS for term in terms) and asked is source.value_of(test)
    return _chained(_On(source, release), asked, mended)


def is_misread(source: Source, comparison: ast.Compare, release: Version) -> bool:
    """Whether text puts that release on another side of the comparison than numbers would."""
    return all(type(op) in _ORDER for op in comparison.ops) and len(_chained(_On(source, release), comparison, False)) == 2


def _chained(on: _On, comparison: ast.Compare, in_numbers: bool) -> Answers:
    """How a chain of comparisons comes out: as text and as numbers, or `in_numbers` only."""
    terms = (comparison.left, *comparison.comparators)
    links = [_link(on, op, a, b, in_numbers) for op, a, b in zip(comparison.ops, terms, terms[1:], strict=False)]
    if frozenset((False,)) in links:
        return frozenset((False,))
    return frozenset.union(*links) if all(links) else _UNCLEAR


def _asked_by_function(source: Source, test: ast.expr) -> ast.expr:
    """The comparison that a function of this file makes for ``is_older("0.4.1")``, or the call as it stands."""
    function = _function(source, test)
    if function is None or not isinstance(test, ast.Call) or test.keywords or len(function.args.args) != len(test.args):
        return test
    if not all(last_part(d.func if isinstance(d, ast.Call) else d) in ("cache", "lru_cache") for d in function.decorator_list):
        return test
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or not isinstance(body[0].value, ast.Compare):
        return test
    given = {argument.arg: value for argument, value in zip(function.args.args, test.args, strict=True)}
    filled: ast.expr = _Filled(given).visit(copy.deepcopy(body[0].value))
    return filled


def _function(source: Source, call: ast.expr) -> ast.FunctionDef | None:
    """The function of this file that is called."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    bindings, _ = source.lookup(call.func.id, source.scope(call))
    node = bindings[0].node if len(bindings) == 1 else None
    return node if isinstance(node, ast.FunctionDef) else None


class _Filled(ast.NodeTransformer):
    """Puts arguments in the place of parameters."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._given.get(node.id, node)


def _link(on: _On, op: ast.cmpop, left: ast.expr, right: ast.expr, in_numbers: bool) -> Answers:
    """How one comparison of a chain comes out."""
    if isinstance(op, (ast.In, ast.NotIn)):
        return _among(on, op, left, right)
    values = _parsed_alike(on, left, right)
    if values[0] is None or values[1] is None:
        return _UNCLEAR
    return _compared(type(op), values[0], values[1], in_numbers)


def _among(on: _On, op: ast.In | ast.NotIn, left: ast.expr, right: ast.expr) -> Answers:
    """``jax.__version__ in ("0.4.1", "0.4.2")``."""
    right = on.source.value_of(right)
    if not isinstance(right, (ast.Tuple, ast.List, ast.Set)):
        return _UNCLEAR
    answers = [_link(on, ast.Eq(), left, element, False) for element in right.elts]
    if not all(answers):
        return _UNCLEAR
    return frozenset((any(True in answer for answer in answers) is isinstance(op, ast.In),))


def _parsed_alike(on: _On, left: ast.expr, right: ast.expr) -> tuple[Value | None, Value | None]:
    """What two terms are; ``parts(jax.__version__) < parts("0.4.1")`` with one helper is a comparison of numbers."""
    terms = [on.source.value_of(term) for term in (left, right)]
    calls = [term for term in terms if isinstance(term, ast.Call) and len(term.args) == 1]
    if len(calls) == 2 and ast.dump(calls[0].func) == ast.dump(calls[1].func):
        texts = [_value(on, call.args[0]) for call in calls]
        if isinstance(texts[0], str) and isinstance(texts[1], str):
            return _parsed(on, texts[0]), _parsed(on, texts[1])
    return _value(on, left), _value(on, right)


def _begins(on: _On, call: ast.Call) -> Answers:
    """``jax.__version__.startswith("0.3.")``."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "startswith" or len(call.args) != 1:
        return _UNCLEAR
    version, given = _value(on, call.func.value), on.source.value_of(call.args[0])
    beginnings = [_constant(e) for e in (given.elts if isinstance(given, ast.Tuple) else [given])]
    texts = tuple(b for b in beginnings if isinstance(b, str))
    return frozenset((version.startswith(texts),)) if isinstance(version, str) and len(texts) == len(beginnings) else _UNCLEAR


def _compared(kind: type[ast.cmpop], left: Value, right: Value, numbers_only: bool) -> Answers:
    compare = _ORDER.get(kind)
    if compare is None:
        return _UNCLEAR
    if isinstance(left, int) or isinstance(right, int):
        return frozenset((bool(compare(left, right)),)) if isinstance(left, int) and isinstance(right, int) else _UNCLEAR
    if isinstance(left, str) and isinstance(right, str):
        return _as_texts(kind, left, right, numbers_only)
    sides = [_split(side) if isinstance(side, str) else side for side in (left, right)]  # of a helper that may give either
    kinds = {type(element) for side in sides for element in side}
    if kinds == {str}:
        texts = [tuple(map(str, side)) for side in sides]
        numbers = [_integers(text) for text in texts]
        if numbers[0] is None or numbers[1] is None:
            return _UNCLEAR
        return frozenset((bool(compare(*texts)), bool(compare(numbers[0], numbers[1]))))
    length = max(map(len, sides))
    padded = [(*side, *(0,) * (length - len(side))) for side in sides]
    answers = frozenset((bool(compare(*sides)), bool(compare(*padded)))) if kinds == {int} else _UNCLEAR
    return answers if len(answers) == 1 else _UNCLEAR  # (0, 12) < (0, 12, 0), but not in versions


def _as_texts(kind: type[ast.cmpop], left: str, right: str, numbers_only: bool) -> Answers:
    numbers = _split(left), _split(right)
    if numbers[0] == numbers[1] and (kind in (ast.Eq, ast.NotEq) or _is_early(left) or _is_early(right)):
        return _UNCLEAR  # perhaps of this release only, or of the candidates for it
    answer = bool(_ORDER[kind](*numbers))
    if numbers_only or kind in (ast.Eq, ast.NotEq):
        return frozenset((answer,))
    return frozenset((answer, bool(_ORDER[kind](left, right))))


def _value(on: _On, node: ast.expr) -> Value | None:
    """What an expression is on the release."""
    node = on.source.value_of(node)
    if isinstance(node, (ast.Name, ast.Attribute)):
        qualified = on.source.resolve(node) or ""
        if qualified in _TEXTS:
            return str(on.release)
        if qualified in ("jax.__version_info__", "jax.version.__version_info__"):
            return on.numbers
        return _part(on, node)
    if isinstance(node, (ast.Tuple, ast.List)):
        return _elements([_constant(e) for e in node.elts])
    if isinstance(node, ast.Subscript):
        return _subscript(on, node)
    if isinstance(node, ast.IfExp):
        arms = _value(on, node.body), _value(on, node.orelse)
        return arms[0] if arms[0] == arms[1] else None
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):  # int(part) for part in ...
        made = node.elt.func if isinstance(node.elt, ast.Call) else node.elt
        return _integers(_value(on, node.generators[0].iter)) if last_part(made) == "int" and len(node.generators) == 1 else None
    return _call(on, node) if isinstance(node, ast.Call) else _constant(node)


def _elements(elements: list[int | str | None]) -> Value | None:
    numbers = tuple(e for e in elements if isinstance(e, int))
    texts = tuple(e for e in elements if isinstance(e, str))
    return next((found for found in (numbers, texts) if len(found) == len(elements) > 0), None)


def _constant(node: ast.expr) -> int | str | None:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, str):
        return value if _RELEASE.fullmatch(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _part(on: _On, node: ast.expr) -> Value | None:
    """``Version(jax.__version__).minor`` and ``.release``."""
    if not isinstance(node, ast.Attribute) or node.attr not in ("release", *_PARTS):
        return None
    version = _value(on, node.value)
    if not isinstance(version, tuple) or node.attr == "release":
        return version if isinstance(version, tuple) else None
    return version[_PARTS[node.attr]] if len(version) > _PARTS[node.attr] else None


def _subscript(on: _On, node: ast.Subscript) -> Value | None:
    whole = _value(on, node.value)
    if not isinstance(whole, tuple):
        return None
    if isinstance(node.slice, ast.Slice):
        end = _constant(node.slice.upper) if node.slice.upper is not None else len(whole)
        from_start = node.slice.lower is None and node.slice.step is None
        return whole[:end] if from_start and isinstance(end, int) else None
    index = _constant(node.slice)
    return whole[index] if isinstance(index, int) and index < len(whole) else None


def _call(on: _On, call: ast.Call) -> Value | None:
    """Parsers of versions, ``int(...)``, ``.split(".")``, and helpers that make a tuple of the version."""
    leaf = last_part(call.func)
    if _asks_for_version(call):
        return str(on.release)
    if leaf == "split" and isinstance(call.func, ast.Attribute):
        text = _value(on, call.func.value)
        return tuple(text.split(".")) if isinstance(text, str) else None
    if leaf == "map" and len(call.args) == 2 and last_part(call.args[0]) == "int":
        return _integers(_value(on, call.args[1]))
    inner = _value(on, call.args[0]) if len(call.args) == 1 else None
    if leaf in ("tuple", "list") and isinstance(inner, tuple):
        return inner
    if leaf == "int":
        return int(inner) if isinstance(inner, str) and inner.isdigit() else None
    if (on.source.resolve(call.func) or leaf).rpartition(".")[2] in _PARSERS:
        return _parsed(on, inner) if isinstance(inner, str) else None
    if leaf == "str" and isinstance(inner, str):
        return inner
    return on.numbers if _is_version(on.source, call) and leaf not in ("float", "str") else None


def _parsed(on: _On, text: str) -> tuple[int, ...] | None:
    """The numbers of a version; ``0.5.0rc1`` stands for 0.5.0 unless that is the release."""
    numbers = _split(text)
    return None if _is_early(text) and numbers == on.numbers[: len(numbers)] else numbers


def _integers(parts: Value | None) -> tuple[int, ...] | None:
    texts = [str(part) for part in parts] if isinstance(parts, tuple) else ["?"]
    return tuple(map(int, texts)) if all(text.isdigit() for text in texts) else None


def _split(version: str) -> tuple[int, ...]:
    """The numbers of a version, without what follows them (``rc1``)."""
    found = _RELEASE.fullmatch(version)
    return tuple(map(int, found[1].split("."))) if found else ()


def _is_early(version: str) -> bool:
    """Whether it is an alpha, a candidate or the like."""
    found = _RELEASE.fullmatch(version)
    return found is not None and found[2] is not None
