"""Versions of JAX compared as text or as decimal numbers: "0.12.0" sorts before "0.4.1", and 0.12 is less than 0.4.

https://docs.jax.dev/en/latest/changelog.html (0.10.0 is the first release that they put in the wrong place)

The wrong branch is taken without a word: `jax.__version_info__` (0.3.5) compares number by number. Another branch is taken
then than today, so this is reported first, and only mended with --unsafe.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jaxmigrate.codemod import UNSAFE, Codemod, NameSite, Reports, Rewrite
from jaxmigrate.model import Severity

if TYPE_CHECKING:
    from jaxmigrate.model import Version

codemod = Codemod(
    "version-strings",
    summary="versions of JAX that are compared as text or as decimal numbers",
    since="0.3.5",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax", "jaxlib"}),
    applicability=UNSAFE,
)
_OF_JAX = ("jax.__version__", "jax.version.__version__")
_OF_JAXLIB = ("jaxlib.__version__", "jaxlib.version.__version__")
_ORDER = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


@codemod.name_(*_OF_JAX, *_OF_JAXLIB)
def compared(site: NameSite) -> Reports:
    """``jax.__version__ >= "0.4.1"``, ``float(jax.__version__[:3]) < 0.4``, ``jax.__version__.split(".") > ["0", "4"]``."""
    comparison = site.parent()
    if not isinstance(comparison, ast.Compare):
        return _as_something_else(site)
    if not all(type(op) in _ORDER for op in comparison.ops):
        return None
    terms = (comparison.left, *comparison.comparators)
    bounds = [(term, text) for term in terms if term is not site.node and (text := _bound(site, term))]
    wrong = next(_misplaced(site, comparison, dict(bounds)), None) if len(bounds) == len(terms) - 1 else None
    if wrong is None:
        return None
    literals = all(isinstance(term, ast.Constant) for term, _ in bounds)
    said = f"compared as text, JAX {wrong} is on the wrong side"
    if site.symbol in _OF_JAXLIB or not literals:
        return site.manual(f"{said}: compare packaging.version.Version of both", comparison, Severity.URGENT)
    changes = [site.replace("{jax.__version_info__}")]
    changes += [site.replace(_tuple(text), term) for term, text in bounds]
    message = f"{said}: jax.__version_info__ compares numbers, so another branch is taken than today"
    return Rewrite(message, UNSAFE, tuple(changes), comparison, severity=Severity.URGENT)


def _bound(site: NameSite, term: ast.expr) -> str:
    """The version that another term of the comparison spells out."""
    value = site.source.value_of(term)
    text = value.value if isinstance(value, ast.Constant) else None
    return text if isinstance(text, str) and _NUMBERS.fullmatch(text) else ""


def _misplaced(site: NameSite, comparison: ast.Compare, bounds: dict[ast.expr, str]) -> Iterator[Version]:
    """The releases, the newest first, for which letters and numbers give different answers."""
    for version in reversed(site.source.facts.history.versions):
        if version < site.target:
            return
        terms = [bounds.get(term, str(version)) for term in (comparison.left, *comparison.comparators)]
        if _holds(comparison.ops, terms) is not _holds(comparison.ops, [_split(term) for term in terms]):
            yield version


def _holds(ops: Sequence[ast.cmpop], terms: Sequence[Any]) -> bool:
    return all(_ORDER[type(op)](a, b) for op, a, b in zip(ops, terms, terms[1:], strict=False))


def _split(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _tuple(version: str) -> str:
    numbers = _split(version)
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"


def _as_something_else(site: NameSite) -> Reports:
    """The version as a decimal number, or as a list of texts, in a comparison."""
    inner: ast.AST = site.node
    how = ""
    for ancestor in site.source.ancestors(site.node):
        if isinstance(ancestor, ast.Compare):
            break
        if isinstance(ancestor, ast.Call) and ancestor.func is not inner:
            how = "float" if getattr(ancestor.func, "id", "") == "float" else ""
            if not how and not _joins(ancestor):
                return None
        elif isinstance(ancestor, ast.Attribute) and ancestor.attr == "split":
            how = "split"
        elif not isinstance(ancestor, (ast.Attribute, ast.Call, ast.Subscript)):
            return None
        inner = ancestor
    else:
        return None
    others = [term for term in (ancestor.left, *ancestor.comparators) if term is not inner]
    if not all(type(op) in _ORDER for op in ancestor.ops) or not all(_is_alike(how, inner, other) for other in others):
        return None
    what = "as a decimal number 0.12 is less than 0.4" if how == "float" else "as text, '12' comes before '4'"
    return site.manual(f"{what}: compare jax.__version_info__ with a tuple of numbers", ancestor, Severity.URGENT)


def _joins(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "join"


def _is_alike(how: str, inner: ast.AST, other: ast.expr) -> bool:
    """Whether the other side of the comparison is of the kind that goes wrong."""
    value = other.value if isinstance(other, ast.Constant) else None
    if how == "float":
        return isinstance(value, float) and 0.1 < value < 1
    if isinstance(inner, ast.Subscript):  # a part of the version
        whole = isinstance(inner.slice, ast.Constant) and inner.slice.value == 0  # which is 0 in all releases
        return isinstance(value, str) and bool(_NUMBERS.fullmatch(value)) and not whole
    elements = other.elts if isinstance(other, (ast.List, ast.Tuple)) else []
    return how == "split" and bool(elements) and all(isinstance(e, ast.Constant) and isinstance(e.value, str) for e in elements)
