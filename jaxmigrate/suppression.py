"""``# jaxmigrate: ignore[codemod, ...]`` on a line, ``# jaxmigrate: skip-file`` anywhere."""

from __future__ import annotations

import ast
import re

from jaxmigrate.names import Source
from jaxmigrate.renames import Proposal

_SUPPRESS = re.compile(r"#\s*jaxmigrate:\s*(ignore(?:\[([^\]]*)\])?|skip-file)")


def skips_file(source: Source) -> bool:
    """Whether a comment asks for the whole file to be left alone."""
    if b"skip-file" not in source.utf8:
        return False
    return any((m := _SUPPRESS.search(text)) and m[1] == "skip-file" for text in source.comments.values())


def is_suppressed(source: Source, proposal: Proposal) -> bool:
    """Whether a comment silences a codemod on the lines of a proposal, or on the import that its old name came through."""
    if not source.has_directives:
        return False
    imported = proposal.old.statement if proposal.old else None
    if isinstance(imported, (ast.Import, ast.ImportFrom)) and silenced(source, imported, proposal.codemod):
        return True
    return silenced(source, proposal.node, proposal.codemod)


def silenced(source: Source, node: ast.AST, codemod: str = "") -> bool:
    """Whether a comment on the lines of `node` silences `codemod` (or any, without one)."""
    if not source.has_directives:
        return False
    start, end = source.span(node)
    first = source.position(start).line
    last = first if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.With)) else source.position(end).line
    for offset, text in source.comments.items():
        match = _SUPPRESS.search(text)
        if match and first <= source.position(offset).line <= last:
            names = {n.strip() for n in match[2].split(",")} if match[2] is not None else None
            if names is None or not codemod or codemod in names:
                return True
    return False
