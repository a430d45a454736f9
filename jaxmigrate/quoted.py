"""Expressions in string annotations and type comments, and the comments of a text: parsed with their place in the file."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from jaxmigrate.scan import CHILDREN, last_part

NEWLINE = re.compile(rb"\r\n|\r|\n")
TYPE_COMMENT = re.compile(rb"#[ \t]*type:[ \t]*(?!ignore\b)([^\r\n]*)")


def comments_of(utf8: bytes) -> list[tuple[int, str]]:
    """Byte offset and text of each comment; empty when the text does not tokenize."""
    import io
    import tokenize

    starts = [0, *(m.end() for m in NEWLINE.finditer(utf8))]
    found: list[tuple[int, str]] = []
    text = NEWLINE.sub(b"\n", utf8).decode("utf-8")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="\n").readline):
            if token.type == tokenize.COMMENT:
                line = token.line
                start = starts[token.start[0] - 1] + len(line[: token.start[1]].encode("utf-8"))
                found.append((start, token.string))
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


class Example(NamedTuple):
    """One ``>>>`` of a docstring with its further lines."""

    line: int
    """Counted from 0 in the docstring."""
    code: str
    tree: ast.Module


def examples(text: str) -> list[Example]:
    """The examples in a docstring that are Python."""
    found: list[tuple[int, list[str]]] = []
    inside = False
    for number, line in enumerate(text.splitlines()):
        bare = line.strip()
        if bare.startswith(">>> "):
            found.append((number, [bare[4:]]))
            inside = True
        elif inside and (bare == "..." or bare.startswith("... ")):
            found[-1][1].append(bare[4:])
        else:
            inside = False
    return [e for number, lines in found for e in _example(number, "\n".join(lines))]


def _example(number: int, code: str) -> Iterator[Example]:
    import warnings

    with warnings.catch_warnings(), contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        warnings.simplefilter("ignore")
        yield Example(number, code, ast.parse(code))


def parse_at(text: str, line: int, column: int) -> ast.expr | None:
    """Parse one line of text that stands at a position of the file."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if text[:1] in " \t":  # the parser strips leading blanks in eval mode
        column += len(text) - len(text.lstrip(" \t"))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset += column  # type: ignore[attr-defined]
            node.end_col_offset += column  # type: ignore[attr-defined]
    return tree


def parse_type_comment(body: str, line: int, column: int) -> Iterator[ast.expr]:
    """The expressions of ``# type: X`` or ``# type: (A, B) -> C``."""
    match = re.fullmatch(r"\((.*)\)\s*->\s*(.*?)\s*(#.*)?", body)
    parts = [(match[1], match.start(1)), (match[2], match.start(2))] if match else [(body.split("#")[0].rstrip(), 0)]
    for text, start in parts:
        bare = text.replace("*", " ")  # (*args, **kwargs) types
        if bare.strip():
            shift = len(body[:start].encode("utf-8"))
            tree = parse_at(bare.strip(), line, column + shift + len(bare) - len(bare.lstrip()))
            if tree is not None:
                yield tree


def annotation_strings(root: ast.expr) -> Iterator[ast.Constant]:
    """String constants of an annotation that are expressions: all but those inside ``Literal``."""
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node
            continue
        if isinstance(node, ast.Subscript):
            base = node.value
            leaf = last_part(base)
            if leaf == "Literal":
                continue
        for name in CHILDREN[type(node)]:
            value = getattr(node, name)
            values = value if isinstance(value, list) else (value,)
            stack.extend(v for v in values if v is not None)  # None is the key of {**x}
