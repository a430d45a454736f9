"""Versions of JAX compared as text or as decimal numbers: "0.12.0" sorts before "0.4.1", and 0.12 is less than 0.4.

https://docs.jax.dev/en/latest/changelog.html (0.10.0 is the first release that they put in the wrong place)

The wrong branch is taken without a word: `jax.__version_info__` (0.3.5) compares number by number. Another branch is taken
then than today, so this is reported first, and only mended with --unsafe.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import UNSAFE, Codemod, Manual, NameSite, ReplaceExpr, Report, Reports, Rewrite
from jaxmigrate.model import Severity
from jaxmigrate.scan import last_part
from jaxmigrate.version_tests import is_misread

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
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


@codemod.name_(*_OF_JAX, *_OF_JAXLIB)
def compared(site: NameSite) -> Reports:
    """``jax.__version__ >= "0.4.1"``, ``float(jax.__version__[:3]) < 0.4``, ``jax.__version__.split(".") > ["0", "4"]``."""
    found = _comparisons(site, site.node)
    return [report for comparison, term in found if (report := _judged(site, comparison, term)) is not None]


def _comparisons(site: NameSite, start: ast.expr) -> Iterator[tuple[ast.Compare, ast.expr]]:
    """Where the version, or a variable that holds what is made of it, is a term of a comparison; and that term."""
    term: ast.AST = start
    for ancestor in site.source.ancestors(start):
        if isinstance(ancestor, ast.Compare) and isinstance(term, ast.expr):
            yield ancestor, term
            return
        if isinstance(ancestor, ast.Assign) and term is not start and isinstance(ancestor.targets[0], ast.Name):
            uses = site.source.by_id.get(ancestor.targets[0].id, ())  # of one that is but another name there are sites
            yield from (found for use in uses if isinstance(use.ctx, ast.Load) for found in _comparisons(site, use))
        if isinstance(ancestor, ast.stmt):
            return
        term = ancestor


def _judged(site: NameSite, comparison: ast.Compare, term: ast.expr) -> Report | None:
    if not all(isinstance(op, _ORDERS) for op in comparison.ops):
        return None
    wrong = next(_misread(site, comparison), None)
    if wrong is None:
        return _as_decimals(site, comparison, term)
    said = f"compared as text, JAX {wrong} is on the wrong side"
    changes = _in_numbers(site, comparison, term) if site.symbol in _OF_JAX else None
    if changes is None:
        return site.manual(f"{said}: compare packaging.version.Version of both", comparison, Severity.URGENT)
    message = f"{said}: jax.__version_info__ compares numbers, so another branch is taken than today"
    return Rewrite(message, UNSAFE, changes, comparison, severity=Severity.URGENT)


def _misread(site: NameSite, comparison: ast.Compare) -> Iterator[Version]:
    """The releases, the newest first, for which letters and numbers give different answers."""
    return (r for r in sorted(site.source.releases, reverse=True) if is_misread(site.source, comparison, r))


def _in_numbers(site: NameSite, comparison: ast.Compare, term: ast.expr) -> tuple[ReplaceExpr, ...] | None:
    """The edits that compare numbers, where all is written out in the comparison."""
    part = term.slice if isinstance(term, ast.Subscript) else None
    text = term.value if isinstance(term, ast.Subscript) else term
    calls = ("str",) if part is None else ()
    while text is not site.node and isinstance(text, ast.Call):
        if isinstance(text.func, ast.Attribute) and text.func.attr == "split":
            text = text.func.value
        elif last_part(text.func) in ("tuple", "list", *calls) and len(text.args) == 1:
            text = text.args[0]
        else:
            return None
    if text is not site.node or (part is not None and term.value is site.node):  # type: ignore[attr-defined]
        return None
    index = f"[{site.text(part)}]" if part is not None else ""
    changes = [site.replace("{jax.__version_info__}" + index, term)]
    for other in (t for t in (comparison.left, *comparison.comparators) if t is not term):
        numbers = _written(other, alone=bool(index) and not isinstance(part, ast.Slice))
        if not numbers:
            return None
        changes.append(site.replace(numbers, other))
    return tuple(changes)


def _written(term: ast.expr, alone: bool) -> str:
    """A version that is spelled out, as a tuple of numbers; a part of one (`alone`) as a number."""
    if isinstance(term, ast.Constant):
        parts = term.value.split(".") if isinstance(term.value, str) and _NUMBERS.fullmatch(term.value) else []
    else:
        elements = term.elts if isinstance(term, (ast.List, ast.Tuple)) else []
        parts = [str(e.value) for e in elements if isinstance(e, ast.Constant)]
        parts = parts if len(parts) == len(elements) and all(map(str.isdigit, parts)) else []
    numbers = [str(int(part)) for part in parts]
    if alone:
        return numbers[0] if len(numbers) == 1 else ""
    return f"({', '.join(numbers)}{',' if len(numbers) == 1 else ''})" if numbers else ""


def _as_decimals(site: NameSite, comparison: ast.Compare, term: ast.expr) -> Manual | None:
    """The version as a decimal number, or its first letters."""
    others = [t for t in (comparison.left, *comparison.comparators) if t is not term]
    values = [t.value if isinstance(t, ast.Constant) else None for t in others]
    if (
        isinstance(term, ast.Call)
        and last_part(term.func) == "float"
        and all(isinstance(v, float) and 0.1 < v < 1 for v in values)
    ):
        what = "as a decimal number 0.12 is less than 0.4"
    elif isinstance(term, ast.Subscript) and term.value is site.node and all(map(_is_version, values)):
        what = "as text, '12' comes before '4'"
    else:
        return None
    return site.manual(f"{what}: compare jax.__version_info__ with a tuple of numbers", comparison, Severity.URGENT)


def _is_version(value: object) -> bool:
    return isinstance(value, str) and _NUMBERS.fullmatch(value) is not None
