"""How a file uses its expressions, where that decides what of their values counts."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping

from jaxmigrate.verify.model import Kind, Site, Span


class Uses:
    """How the migrated files use their expressions."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._known: dict[str, dict[Span, str]] = {}

    def of(self, site: Site) -> str:
        """``converted``, ``discarded``, ``truth`` as `compare_site` takes it, or nothing that matters."""
        if site.after is None or site.kind is not Kind.VALUE:
            return ""
        if site.path not in self._known:
            self._known[site.path] = dict(_uses(self._files.get(site.path, b"")))
        use = self._known[site.path].get(site.after, "")
        return use if use != "argument" else "converted" if _converts(site) else ""


def _uses(source: bytes) -> Iterator[tuple[Span, str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((_span(value), "argument") for value in (*node.args, *(k.value for k in node.keywords)))
        elif isinstance(node, ast.Expr):
            yield _span(node.value), "discarded"
        elif isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
            yield from ((_span(part), "truth") for part in _operands(node.test))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield from ((_span(part), "truth") for part in _operands(node.operand))


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    """A test and what its truth is made of."""
    yield test
    if isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _operands(part)


def _span(node: ast.expr) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def _converts(site: Site) -> bool:
    """Whether the edit wraps an expression into a call, as host-local inputs must be."""
    before, after = (re.sub(r"\s+", "", text) for text in (site.before_text, site.after_text))
    return bool(before) and before != after and f"({before}," in after
