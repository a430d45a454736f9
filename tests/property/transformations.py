"""Changes of a program that must not change what the rewriter does with it.

A `Change` is applied to a fixture's before.py and after.py alike: rewriting the changed program must give the changed result. It
gives None for a program that it does not apply to.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a program's text."""

    text: Callable[[str], str | None]

    @property
    def name(self) -> str:
        """What Hypothesis prints."""
        return self.text.__name__

    def __repr__(self) -> str:
        return self.name

    def apply(self, before: str, after: str) -> tuple[str, str] | None:
        """The changed pair."""
        if self.text is aliased:
            return aliased_pair(before, after)
        new = self.text(before), self.text(after)
        return (new[0], new[1]) if new[0] is not None and new[1] is not None else None


def string_lines(text: str) -> set[int]:
    """Numbers of the lines that begin inside a string."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno is not None:
            inside.update(range(node.lineno + 1, node.end_lineno + 1))
    return inside


def _is_plain(text: str) -> bool:
    return "from __future__" not in text and "\\\n" not in text


def _indented(text: str, by: str) -> Iterator[str]:
    keep = string_lines(text)
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        yield line if number in keep or not line.strip() else by + line


def under_if(text: str) -> str | None:
    """The whole program in the body of an ``if``."""
    return "if True:\n" + "".join(_indented(text, "    ")) if _is_plain(text) else None


def under_try(text: str) -> str | None:
    """The whole program in a ``try`` that has nothing to do with imports."""
    return "try:\n" + "".join(_indented(text, "    ")) + "finally:\n    print()\n" if _is_plain(text) else None


def in_function(text: str) -> str | None:
    """The whole program in a function, so that its imports are local."""
    if not _is_plain(text) or re.search(r"^\s*(global|nonlocal) |__all__|import \*|globals\(\)", text, re.MULTILINE):
        return None
    return "def main():\n" + "".join(_indented(text, "    ")) + "\n\nmain()\n"


def tabs(text: str) -> str | None:
    """Tabs for indentation."""
    keep = string_lines(text)
    lines = text.splitlines(keepends=True)
    return "".join(line if n in keep else _tabbed(line) for n, line in enumerate(lines, 1))


def _tabbed(line: str) -> str:
    bare = line.lstrip(" ")
    width = len(line) - len(bare)
    return "\t" * (width // 4) + " " * (width % 4) + bare


def form_feeds(text: str) -> str | None:
    """A form feed before each top-level function."""
    keep = string_lines(text)
    lines = text.splitlines(keepends=True)
    return "".join("\f\n" + line if line.startswith("def ") and n not in keep else line for n, line in enumerate(lines, 1))


def no_final_newline(text: str) -> str | None:
    """The last line does not end."""
    return text.rstrip("\n")


def trailing_lines(text: str) -> str | None:
    """White space at the end of the file."""
    return text + "\n   \n\n"


def heading(text: str) -> str | None:
    """A comment and blank lines before everything, with characters of all sizes."""
    return "# \u00e9 \u6f22 \U0001d4b3 \u200b\n\n\n" + text


def aliased(text: str) -> str | None:
    """Another alias for every ``import a.b as c``."""
    return (aliased_pair(text, text) or (None,))[0]


def aliased_pair(before: str, after: str) -> tuple[str, str] | None:
    """`aliased`, unless the edit brings an alias of its own, which may depend on the others."""
    names = _aliases(before)
    if not names or _aliases(after) - names or any(_is_quoted(ast.parse(before), name) for name in names):
        return None
    for number, name in enumerate(sorted(names)):  # as long as before: the shortest spelling wins
        pattern, new = rf"(?<![\w.]){name}(?!\w)", name[:-1] + "\u00e9\u00f6\u00fc\u00f1\u00f8\u00e5\u00df\u00fe"[number % 8]
        before, after = re.sub(pattern, new, before), re.sub(pattern, new, after)
    return before, after


def _aliases(text: str) -> set[str]:
    imports = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import))
    return {a.asname for n in imports for a in n.names if a.asname}


def noisy(text: str) -> str | None:
    """Oddly laid out statements between the top-level ones; `quiet` takes them away."""
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    keep = string_lines(text)
    starts = {min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", ()))]) for s in tree.body[1:]}
    out = []
    for number, line in enumerate(lines, 1):
        blank_before = number > 1 and not lines[number - 2].strip() and number - 1 not in keep
        if number in starts and blank_before and "__future__" not in text:
            out.append(NOISE)
        out.append(line)
    return "".join(out)


NOISE = "noise  = [ 1,2 ,\n  'é' ;  ]  # \t noise \n".replace(" ;", "") + "if noise :   noise = { }\n"


def quiet(text: str) -> str:
    """Without the noise."""
    return text.replace(NOISE, "")


NESTING = (under_if, under_try, in_function)
_ORDER = (aliased, form_feeds, under_if, under_try, in_function, tabs, heading, trailing_lines, no_final_newline)
CHANGES = [Change(f) for f in _ORDER]
"""In the order in which several of them are applied."""


def crlf(data: bytes) -> bytes | None:
    """Line ends of Windows."""
    return data.replace(b"\n", b"\r\n")


def cr(data: bytes) -> bytes | None:
    """Line ends of old Macs; a form feed alone on a line is none then."""
    return None if b"\r" in data else data.replace(b"\n", b"\r")


def byte_order_mark(data: bytes) -> bytes | None:
    """A mark in front."""
    return None if b"latin-1" in data else b"\xef\xbb\xbf" + data


def latin1(data: bytes) -> bytes | None:
    """Another encoding, declared in the first line."""
    text = data.decode()
    try:
        return b"# -*- coding: latin-1 -*-\n" + ("# \u00e9\u00ff\n" + text).encode("latin-1")
    except UnicodeEncodeError:
        return None


Recode = Callable[[bytes], bytes | None]
ENCODINGS: list[Recode] = [latin1, crlf, cr, byte_order_mark]


def lost_comments(before: str, after: str) -> set[str]:
    """The comments that are gone although the code of their line is still there."""
    # the comment of an argument that goes is joined to the one before: ``# one; two``
    kept = {f"# {part}" for text in comment_texts(after) for part in (text.lstrip("# "), *text.lstrip("# ").split("; "))}
    code = {line.partition("#")[0].strip() for line in after.splitlines()}
    times = Counter(line.partition("#")[0].strip() for line in before.splitlines())
    alone = {text for text in code if times[text] == 1 and text not in ("", "else:", "pass")}
    lines = [line for line in before.splitlines() if line.partition("#")[0].strip() in alone]
    return {c for c in comment_texts(before) if f"# {c.lstrip('# ')}" not in kept and any(line.endswith(c) for line in lines)}


def comment_texts(text: str) -> list[str]:
    """All comments but type comments, which are code."""
    comments_ = (t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT)
    return [c for c in comments_ if not re.match(r"#\s*type:", c)]


def comments(text: str) -> str | None:
    """A comment of its own at the end of every line that can bear one, imports aside: a comment on one speaks of that import."""
    ends: set[int] = set()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    for token in tokens:
        bare = token.line.strip()
        ends_line = token.type in (tokenize.NEWLINE, tokenize.NL) and bare and not bare.startswith(("import ", "from "))
        if ends_line and "#" not in token.line and "\\\n" not in token.line:
            ends.add(token.start[0])
    lines = text.splitlines(keepends=True)
    return "".join(f"{line.rstrip(chr(10))}  # c{n}\n" if n in ends else line for n, line in enumerate(lines, 1))


def spelled_by_module(text: str) -> str | None:
    """``from a.b import C`` at the top becomes ``import a.b as m0``, and its uses ``m0.C``."""
    tree = ast.parse(text)
    if "# type:" in text:
        return None
    names: dict[str, str] = {}
    lines = text.splitlines(keepends=True)
    for number, node in enumerate(s for s in tree.body if isinstance(s, ast.ImportFrom)):
        if (
            node.module == "__future__"
            or node.level
            or node.lineno != node.end_lineno
            or any(a.asname or a.name == "*" for a in node.names)
        ):
            continue
        lines[node.lineno - 1] = f"import {node.module} as m{number}\n"
        names |= {a.name: f"m{number}.{a.name}" for a in node.names}
    inner = (n for s in tree.body if not isinstance(s, ast.ImportFrom) for n in ast.walk(s))
    if not names or any(isinstance(n, ast.ImportFrom) for n in inner) or any(_is_quoted(tree, name) for name in names):
        return None
    return _renamed("".join(lines), names)


def spelled_by_name(text: str) -> str | None:
    """``import a.b as m`` at the top becomes ``from a.b import C, D``, and ``m.C`` becomes ``C``."""
    tree = ast.parse(text)
    lines, edits = text.splitlines(keepends=True), []
    taken = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    for node in tree.body:
        alone = isinstance(node, ast.Import) and len(node.names) == 1 and ";" not in lines[node.lineno - 1]
        alias = node.names[0] if isinstance(node, ast.Import) and alone else None
        if alias is None or not alias.asname or not alias.name.startswith(("jax.", "jaxlib.")) or _is_quoted(tree, alias.asname):
            continue
        uses = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == alias.asname]
        names = sorted({n.attr for n in uses})
        if len(uses) != sum(getattr(n, "id", "") == alias.asname for n in ast.walk(tree)) or not names or taken & set(names):
            continue
        taken |= set(names)
        lines[node.lineno - 1] = f"from {alias.name} import {', '.join(names)}\n"
        edits += [(n.lineno, n.col_offset, len(alias.asname) + 1) for n in uses]
    for line, column, width in sorted(edits, reverse=True):
        data = lines[line - 1].encode()
        lines[line - 1] = (data[:column] + data[column + width :]).decode()
    return "".join(lines) if edits and "# type:" not in text else None


IMPORT_STYLES = [spelled_by_module, spelled_by_name]


def _is_quoted(tree: ast.Module, name: str) -> bool:
    """Whether a string names it (an annotation, ``__all__``), or a type comment may."""
    strings = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return any(re.search(rf"\b{name}\b", s) for s in strings)


def _renamed(text: str, names: dict[str, str]) -> str:
    edits = []
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id in names:
            at = starts[node.lineno - 1] + node.col_offset
            edits.append((at, at + len(node.id.encode()), names[node.id]))
    data = text.encode()
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()


def structure(text: str) -> str:
    """The program without its imports and with names in one spelling: what must not change when all of it is nested."""
    return ast.dump(_Bare().visit(ast.parse(text)))


class _Bare(ast.NodeTransformer):
    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return (
            ast.Name(node.attr, ast.Load())
            if ast.unparse(node.value) in ("jax.sharding", "experimental")
            else self.generic_visit(node)
        )


def essence(text: str) -> tuple[list[str], list[str]]:
    """The imports, sorted, and the other lines without blank ones, tabs expanded: the rest is layout of what the edit adds."""
    lines = [line.expandtabs(4) for line in text.splitlines() if line.strip()]
    is_import = [bool(re.match(r"\s*(import|from) ", line)) for line in lines]
    imports = sorted(line.strip() for line, yes in zip(lines, is_import, strict=True) if yes)
    return imports, [line for line, yes in zip(lines, is_import, strict=True) if not yes]
