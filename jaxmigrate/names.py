"""Which syntax node is which qualified name: parents, scopes, imports and re-binding of one parsed file.

One walk over the stdlib's `ast` collects everything; all questions are answered lazily from what it collected, since most files
ask only a few. libcst's scope analysis is not used: it costs 67 times the parse (measured, `field/SPEED.md`).
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from jaxmigrate import guards, values
from jaxmigrate.model import Position, ProjectIndex

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_TYPE_COMMENT = re.compile(rb"#[ \t]*type:[ \t]*(?!ignore\b)([^\r\n]*)")
_LEAVES = (
    ast.Load, ast.Store, ast.Del, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class NameError_(Exception):
    """A name cannot be spelled where it is needed."""


@dataclass(slots=True, eq=False)
class Binding:
    """One way a name gets its value in a scope."""

    name: str
    kind: str
    """``import``, ``assign``, ``param``, ``def``, ``class``, ``other`` (loop, with, except, unpacking, augmented, del)."""
    node: ast.AST
    """The alias, target, parameter or definition."""
    statement: ast.stmt | None
    qualified: str = ""
    """For imports: what is bound."""
    value: ast.expr | None = None
    """For a plain assignment: the expression."""
    indexed: bool = False
    """For imports: the name belongs to a module of the project, which got it from `qualified`."""


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function, lambda or comprehension and the names it binds."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: dict[str, str] = field(default_factory=dict)
    """Names declared ``global`` or ``nonlocal``."""

    @property
    def is_class(self) -> bool:
        """Whether inner scopes do not see these names."""
        return isinstance(self.node, ast.ClassDef)


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """What a name or attribute chain means."""

    qualified: str
    direct: bool
    """Reached through imports of the library itself, not through an assignment or another module of the project."""
    binding: Binding
    """The binding of the chain's first name (at the use, before following assignments)."""
    shared: bool = False
    """The first name has other bindings too (the other arm of a try or if)."""


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """An expression inside a string annotation or a type comment, its nodes placed at their true position in the file."""

    tree: ast.expr
    host: ast.AST
    """The string constant, or the statement the comment belongs to."""


class SourceError(ValueError):
    """The file cannot be parsed."""


def parse(text: str) -> ast.Module:
    """Parse with the stdlib, quietly.

    Raises:
        SourceError: with a one-line reason that names the line.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        hint = " (Python 2?)" if _looks_like_python2(text, error) else ""
        raise SourceError(f"line {error.lineno}: {error.msg}{hint}") from None
    except (RecursionError, MemoryError):
        raise SourceError("nested too deeply for Python's own parser") from None
    except ValueError as error:
        raise SourceError(str(error)) from None


def _looks_like_python2(text: str, error: SyntaxError) -> bool:
    lines = text.splitlines()
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    return bool(re.search(r"^\s*(print|exec)\s+[^=(\s]|^\s*except\s+[\w.]+\s*,|^\s*raise\s+\w+\s*,|\b0\d+\b|<>", line))


class Source:
    """One parsed file and the answers about it."""

    def __init__(
        self,
        utf8: bytes,
        *,
        path: str = "<stdin>",
        module: str = "",
        is_package: bool = False,
        index: ProjectIndex | None = None,
        facts: values.Facts | None = None,
        dead: frozenset[str] = frozenset(),
        dead_members: frozenset[str] = frozenset(),
    ) -> None:
        """`utf8` is the text without byte-order mark; `dead` and `dead_members` are what the newest JAX lacks (for guards)."""
        self.utf8 = utf8
        self.text = utf8.decode("utf-8")
        self.path = path
        self.module = module
        self.is_package = is_package
        self.index = index or ProjectIndex()
        self.facts = facts or values.Facts()
        self.dead = dead
        self.dead_members = dead_members
        self.dead_leaves = frozenset(name.rpartition(".")[2] for name in dead)
        self.tree = parse(self.text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.by_id: dict[str, list[ast.Name]] = {}
        self.by_attribute: dict[str, list[ast.Attribute]] = {}
        self.strings: list[ast.Constant] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.keywords: dict[str, list[ast.keyword]] = {}
        self.stars: list[ast.ImportFrom] = []
        self.embedded: list[Embedded] = []
        self._annotations: list[tuple[ast.expr, Scope]] = []
        self._scope_at: dict[ast.AST, Scope] = {}
        self._line_starts: list[int] | None = None
        self._bound_to: dict[str, set[str]] | None = None
        self._resolved: dict[ast.AST, Resolved | None] = {}
        self._embedded_hosts: set[ast.AST] = set()
        self.scope_root = Scope(self.tree, None)
        _Walker(self).walk()

    @property
    def line_starts(self) -> list[int]:
        """Byte offset of the start of each line."""
        if self._line_starts is None:
            self._line_starts = [0, *(m.end() for m in _NEWLINE.finditer(self.utf8))]
        return self._line_starts

    def offset(self, line: int, column: int) -> int:
        """Byte offset of an ast position."""
        return self.line_starts[line - 1] + column

    def position(self, offset: int) -> Position:
        """Line and column (in characters) of a byte offset."""
        starts = self.line_starts
        line = bisect_right(starts, offset)
        start = starts[line - 1]
        return Position(line, len(self.utf8[start:offset].decode("utf-8", "replace")))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """UTF-8 byte offsets of `node`; decorators belong to a definition."""
        if isinstance(node, ast.Module):
            return 0, len(self.utf8)
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        start = self.offset(line, column)
        decorators = getattr(node, "decorator_list", None)
        if decorators:
            start = self.utf8.rindex(b"@", 0, self.offset(decorators[0].lineno, decorators[0].col_offset))
        return start, self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def segment(self, node: ast.AST) -> str:
        """The source text of `node`."""
        start, end = self.span(node)
        return self.utf8[start:end].decode("utf-8")

    def mentions(self, word: str) -> bool:
        """Whether the identifier occurs in the code of the file (as a name, attribute or imported name)."""
        if word in self.by_id or word in self.by_attribute or word in self.keywords:
            return True
        return any(word in (a.name.split(".")[-1], a.asname) for s in self.imports for a in s.names)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around `node`; None for the module."""
        return self.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        current = self.parents.get(node)
        while current is not None:
            yield current
            current = self.parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds `node` (or is it)."""
        current: ast.AST | None = node
        while current is not None:
            if isinstance(current, ast.stmt):
                return current
            current = self.parents.get(current)
        raise LookupError("node is in no statement")

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function in whose body `node` runs."""
        scope: Scope | None = self.scope(node)
        while scope is not None:
            if isinstance(scope.node, (*_FUNCTIONS, ast.Lambda)):
                return scope.node
            scope = scope.parent
        return None

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around `node`."""
        return next((a for a in self.ancestors(node) if isinstance(a, ast.ClassDef)), None)

    def enclosing_withs(self, node: ast.AST) -> list[tuple[ast.With | ast.AsyncWith, ast.withitem]]:
        """The with items in whose body `node` stands, innermost first, within the same function."""
        found: list[tuple[ast.With | ast.AsyncWith, ast.withitem]] = []
        child = node
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
                break
            if isinstance(ancestor, (ast.With, ast.AsyncWith)) and not isinstance(child, ast.withitem):
                found.extend((ancestor, item) for item in reversed(ancestor.items))
            child = ancestor
        return found

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which `node` is evaluated."""
        current: ast.AST | None = node
        while current is not None:
            found = self._scope_at.get(current)
            if found is not None:
                return found
            current = self.parents.get(current)
        return self.scope_root

    def lookup(self, name: str, scope: Scope) -> tuple[list[Binding], Scope | None]:
        """The bindings that `name` may have when used in `scope`, and the scope that holds them."""
        current: Scope | None = scope
        while current is not None:
            if not (current.is_class and current is not scope):
                outer = current.outer.get(name)
                if outer == "global":
                    return self.scope_root.bindings.get(name, []), self.scope_root
                if outer is None and name in current.bindings:
                    return current.bindings[name], current
            current = current.parent
        return [], None

    def resolved(self, node: ast.AST) -> Resolved | None:
        """What a Name or Attribute means, or None when imports and assignments do not tell."""
        if node not in self._resolved:
            self._resolved[node] = None  # a cycle of assignments ends here
            self._resolved[node] = self._resolve(node)
        return self._resolved[node]

    def resolve(self, node: ast.AST) -> str | None:
        """The qualified name of a Name or Attribute, or None."""
        found = self.resolved(node)
        return found.qualified if found else None

    def _resolve(self, node: ast.AST) -> Resolved | None:
        if isinstance(node, ast.Attribute):
            chain = [node.attr]
            base: ast.AST = node.value
            while isinstance(base, ast.Attribute):
                chain.append(base.attr)
                base = base.value
            if not isinstance(base, ast.Name):
                return None
            root = self.resolved(base)
            if root is None:
                return None
            written = ".".join((root.qualified, *reversed(chain)))
            qualified = self._through_index(written)
            return Resolved(qualified, root.direct and qualified == written, root.binding, root.shared)
        if isinstance(node, ast.Name):
            return self._resolve_name(node)
        return None

    def _resolve_name(self, node: ast.Name) -> Resolved | None:
        bindings, _ = self.lookup(node.id, self.scope(node))
        imports = [b for b in bindings if b.kind == "import"]
        others = [b for b in bindings if b.kind != "import" and not guards.is_placeholder(self, b)]
        if imports:
            if others:
                return None
            if len({b.qualified for b in imports}) != 1:
                chosen = guards.first_living(self, imports)
                return Resolved(chosen.qualified, not chosen.indexed, chosen, True) if chosen else None
            return Resolved(imports[0].qualified, not imports[0].indexed, imports[0], len(bindings) > 1)
        if len(others) == 1 and others[0].kind == "assign" and others[0].value is not None:
            value = others[0].value
            if isinstance(value, (ast.Name, ast.Attribute)):
                inner = self.resolved(value)
                if inner:
                    return Resolved(inner.qualified, False, others[0], len(bindings) > 1)
        return None

    def _through_index(self, qualified: str) -> str:
        if not self.index.exports:
            return qualified
        module, _, name = qualified.rpartition(".")
        return self.index.exports.get(module, {}).get(name, qualified)

    def absolute(self, module: str | None, level: int) -> str:
        """The absolute name of the module a from-import names."""
        if not level:
            return module or ""
        parts = self.module.split(".") if self.module else []
        if not self.is_package and parts:
            parts.pop()
        parts = parts[: len(parts) - (level - 1)] if level > 1 else parts
        base = ".".join(parts) or "." * level
        return f"{base}.{module}" if module else base

    def references(self, wanted: frozenset[str]) -> Iterator[tuple[ast.expr, Resolved]]:
        """Every Name and Attribute that means one of the qualified names, quoted annotations included."""
        leaves = {name.rpartition(".")[2] for name in wanted} | self._passed_on(wanted)
        for leaf in leaves & self.by_attribute.keys():
            for attribute in self.by_attribute[leaf]:
                found = self.resolved(attribute)
                if found and found.qualified in wanted:
                    yield attribute, found
        for name in self._local_names(wanted):
            for node in self.by_id.get(name, ()):
                if isinstance(node.ctx, ast.Load):
                    found = self.resolved(node)
                    if found and found.qualified in wanted:
                        yield node, found

    def _passed_on(self, wanted: frozenset[str]) -> set[str]:
        """Other names under which modules of the project pass these objects on."""
        return {name for names in self.index.exports.values() for name, meaning in names.items() if meaning in wanted}

    def foreign_meanings(self) -> set[str]:
        """Qualified names that this file has through modules of the project, so under names that need not look like them."""
        if not self.index.exports:
            return set()
        meanings = {b.qualified for bindings in self.scope_root.bindings.values() for b in bindings if b.indexed}
        for names in self.index.exports.values():
            meanings |= {meaning for name, meaning in names.items() if name in self.by_attribute}
        return meanings

    def _local_names(self, wanted: frozenset[str]) -> set[str]:
        """Names that some binding of the file, in some scope, gives one of these meanings."""
        if self._bound_to is None:
            self._bound_to = {}
            for scope in {self.scope_root, *self._scope_at.values()}:
                for bindings in scope.bindings.values():
                    for binding in bindings:
                        qualified: str | None = binding.qualified
                        if binding.kind == "assign" and isinstance(binding.value, (ast.Name, ast.Attribute)):
                            qualified = self.resolve(binding.value)
                        if qualified:
                            self._bound_to.setdefault(qualified, set()).add(binding.name)
        return set().union(*(self._bound_to[q] for q in self._bound_to.keys() & wanted))

    def names(self, *qualified: str) -> list[ast.expr]:
        """The nodes that mean one of these names."""
        return [node for node, _ in self.references(frozenset(qualified))]

    def calls(self, *qualified: str) -> list[ast.Call]:
        """The calls of these names."""
        return [p for n in self.names(*qualified) if isinstance(p := self.parent(n), ast.Call) and p.func is n]

    def is_quoted(self, node: ast.AST) -> bool:
        """Whether `node` stands in a string annotation or a type comment."""
        return any(a in self._embedded_hosts for a in (node, *self.ancestors(node)))

    def visible(self, qualified: str, at: ast.AST) -> str | None:
        """How an import of this very object (or of a module holding it) spells it at `at`; None when nothing does."""
        scope: Scope | None = self.scope(at)
        start = scope
        best: str | None = None
        seen: set[str] = set()
        while scope is not None and start is not None:
            if not (scope.is_class and scope is not start):
                for name, bindings in scope.bindings.items():
                    if name in seen:
                        continue
                    seen.add(name)
                    spelled = self._spelled_through(name, bindings, qualified, at)
                    if spelled and (best is None or _taste(spelled, qualified) < _taste(best, qualified)):
                        best = spelled
            scope = scope.parent
        return best

    def _spelled_through(self, name: str, bindings: list[Binding], qualified: str, at: ast.AST) -> str | None:
        imports = [b for b in bindings if b.kind == "import"]
        if not imports or any(b.kind != "import" and not guards.is_placeholder(self, b) for b in bindings):
            return None
        held = {b.qualified for b in imports}
        if len(held) != 1:
            return None
        (held_name,) = held
        usable = [b for b in imports if guards.reaches(self, b, at)]
        if not usable:
            return None
        if held_name == qualified:
            return name
        if qualified.startswith(held_name + "."):
            rest = qualified[len(held_name) + 1 :]
            module = qualified.rpartition(".")[0]
            if module == held_name or self.facts.is_attribute_path(held_name, module) or self._imported(module, at):
                return f"{name}.{rest}"
        return None

    def _imported(self, module: str, at: ast.AST) -> bool:
        """Whether a plain ``import module`` of this file makes the module reachable by attributes."""
        for statement in self.imports:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    loaded = alias.name == module or alias.name.startswith(module + ".")
                    if loaded and self.scope(statement) in (self.scope_root, self.scope(at)):
                        return True
            elif statement.module and not statement.level:
                whole = [statement.module, *(f"{statement.module}.{a.name}" for a in statement.names)]
                loaded = any(w == module or w.startswith(module + ".") for w in whole)
                if loaded and self.scope(statement) is self.scope_root and self.parent(statement) is self.tree:
                    return True
        return False

    def infer(self, node: ast.expr) -> str | None:
        """The type of a value: a qualified name, ``?other`` for something known to be foreign, None for unknown."""
        return values.infer(self, node)

    def definition(self, node: ast.expr) -> ast.expr | None:
        """The single expression a name or an attribute of self is bound to, if there is exactly one."""
        return values.definition(self, node)

    def value_of(self, node: ast.expr) -> ast.expr:
        """`node`, or the expression behind it when names with one definition stand between."""
        return values.value_of(self, node)

    def callers(self, maker: ast.AST) -> tuple[list[ast.Call], bool]:
        """The calls of a callable made at `maker` (a Call or a def), and whether these are all there can be."""
        return values.callers(self, maker)

    def tracing_evidence(self, node: ast.AST) -> str:
        """Why the code at `node` may see tracers; empty when nothing says so."""
        return values.tracing_evidence(self, node)

    def role(self, node: ast.expr) -> str:
        """How a type name is used (see `NameSite.role`)."""
        return values.role(self, node)

    def is_pure(self, node: ast.expr) -> bool:
        """Whether evaluating `node` twice is harmless."""
        return values.is_pure(node)

    def guard(self, node: ast.AST) -> str:
        """Why `node` is only reached on a JAX that has the old API; empty when it is not guarded."""
        return guards.guard(self, node)

    def embed(self, words: frozenset[str]) -> None:
        """Parse string annotations and type comments that mention one of `words`, so that their names are found too.

        Local names that imports give to old classes and modules count as words.
        """
        words |= {
            binding.name
            for bindings in self.scope_root.bindings.values()
            for binding in bindings
            if binding.kind == "import" and (binding.qualified in self.dead or self.facts.is_gone_module(binding.qualified))
        }
        waiting = list(self._annotations)
        while waiting:
            root, scope = waiting.pop()
            for constant in _annotation_strings(root):
                assert isinstance(constant.value, str)
                if words.isdisjoint(_IDENTIFIER.findall(constant.value)):
                    continue
                tree = self._parse_string(constant)
                if tree is not None:
                    self._attach(tree, constant, scope)
                    waiting.append((tree, scope))  # quotes within quotes
        if b"type:" in self.utf8:
            self._embed_type_comments(words)

    def quoted(self, constant: ast.Constant) -> ast.expr | None:
        """The expression inside a string annotation."""
        for embedded in self.embedded:
            if embedded.host is constant:
                return embedded.tree
        tree = self._parse_string(constant)
        if tree is not None:
            self._attach(tree, constant, self.scope(constant))
        return tree

    def _parse_string(self, constant: ast.Constant) -> ast.expr | None:
        raw = self.segment(constant)
        match = re.fullmatch(r"""([rRuU]?)('''|\"\"\"|'|")(.*)\2""", raw, re.DOTALL)
        if not match or match[3] != constant.value or constant.lineno != constant.end_lineno:
            return None
        column = constant.col_offset + len(match[1]) + len(match[2])
        return _parse_at(match[3], constant.lineno, column)

    def _embed_type_comments(self, words: frozenset[str]) -> None:
        comments = None
        for match in _TYPE_COMMENT.finditer(self.utf8):
            body = match[1].decode("utf-8", "replace")
            if words.isdisjoint(_IDENTIFIER.findall(body)):
                continue
            comments = comments if comments is not None else self.comment_offsets()
            if match.start() not in comments:
                continue
            line = bisect_right(self.line_starts, match.start())
            column = match.start(1) - self.line_starts[line - 1]
            host = self._statement_at(line)
            for tree in _parse_type_comment(body, line, column):
                self._attach(tree, host, self.scope(host))

    def comment_offsets(self) -> dict[int, str]:
        """Byte offset -> text of every comment."""
        return dict(comments_of(self.utf8))

    def _statement_at(self, line: int) -> ast.AST:
        """The innermost statement that begins at or before `line` and ends at or after it (or just before it)."""
        best: ast.AST = self.tree
        for node in ast.walk(self.tree):
            inside = isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
            if inside and (best is self.tree or node.lineno >= best.lineno):  # type: ignore[attr-defined]
                best = node
        return best

    def _attach(self, tree: ast.expr, host: ast.AST, scope: Scope) -> None:
        self.embedded.append(Embedded(tree, host))
        self._embedded_hosts.add(tree)
        self.parents[tree] = host
        self._scope_at[tree] = scope
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, _LEAVES):
                    self.parents[child] = node
            if isinstance(node, ast.Name):
                self.by_id.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.Attribute):
                self.by_attribute.setdefault(node.attr, []).append(node)


def _taste(spelled: str, qualified: str) -> tuple[bool, int]:
    """Shorter is better, but ``jax.Array`` is better than an alias of another name (``P`` for a longer path is fine)."""
    renamed = spelled != qualified and qualified.count(".") == 1 and spelled.rpartition(".")[2] != qualified.rpartition(".")[2]
    return renamed, len(spelled)


def comments_of(utf8: bytes) -> list[tuple[int, str]]:
    """Byte offset and text of each comment; empty when the text does not tokenize."""
    import io
    import tokenize

    starts = [0, *(m.end() for m in _NEWLINE.finditer(utf8))]
    found: list[tuple[int, str]] = []
    text = _NEWLINE.sub(b"\n", utf8).decode("utf-8")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="\n").readline):
            if token.type == tokenize.COMMENT:
                line = token.line
                start = starts[token.start[0] - 1] + len(line[: token.start[1]].encode("utf-8"))
                found.append((start, token.string))
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


def _parse_at(text: str, line: int, column: int) -> ast.expr | None:
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


def _parse_type_comment(body: str, line: int, column: int) -> Iterator[ast.expr]:
    """The expressions of ``# type: X`` or ``# type: (A, B) -> C``."""
    match = re.fullmatch(r"\((.*)\)\s*->\s*(.*?)\s*(#.*)?", body)
    parts = [(match[1], match.start(1)), (match[2], match.start(2))] if match else [(body.split("#")[0].rstrip(), 0)]
    for text, start in parts:
        bare = text.replace("*", " ")  # (*args, **kwargs) types
        if bare.strip():
            shift = len(body[:start].encode("utf-8"))
            tree = _parse_at(bare.strip(), line, column + shift + len(bare) - len(bare.lstrip()))
            if tree is not None:
                yield tree


def _annotation_strings(root: ast.expr) -> Iterator[ast.Constant]:
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
            leaf = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            if leaf == "Literal":
                continue
        for name in _CHILDREN[type(node)]:
            value = getattr(node, name)
            stack.extend(value if isinstance(value, list) else () if value is None else (value,))


_NO_NODES = {
    *("ctx", "op", "ops", "names", "id", "attr", "arg", "name", "rest", "kwd_attrs", "type_comment", "kind", "module", "level"),
    *("asname", "conversion", "simple", "is_async", "type_ignores", "tag"),
}
"""Fields that hold no node with a place in the text."""


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a node class that hold nodes with a place in the text, last first: the order of a stack."""
    special = {"MatchSingleton": (), "TypeAlias": ("value", "type_params", "name"), "Interpolation": ("format_spec", "value")}
    if kind.__name__ in special:
        return special[kind.__name__]
    return tuple(f for f in reversed(kind._fields) if f not in _NO_NODES)


class _Children(dict[type[ast.AST], tuple[str, ...]]):
    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = fields = _child_fields(kind)
        return fields


_CHILDREN = _Children()


class _Walker:
    """The one pass: parents, scopes, bindings and the look-up tables."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.stack: list[tuple[ast.AST, Scope]] = []

    def walk(self) -> None:  # noqa: C901  # the hot loop: a call costs more than a branch
        source, stack = self.source, self.stack
        parents, by_id, by_attribute = source.parents, source.by_id, source.by_attribute
        fields_of = _CHILDREN
        stack.append((source.tree, source.scope_root))
        while stack:
            node, scope = stack.pop()
            kind = node.__class__
            if kind is ast.Name:
                by_id.setdefault(node.id, []).append(node)  # type: ignore[attr-defined,arg-type]
                if node.ctx.__class__ is not ast.Load:  # type: ignore[attr-defined]
                    self._store(node, scope)  # type: ignore[arg-type]
                continue
            if kind is ast.Constant:
                if node.value.__class__ is str:  # type: ignore[attr-defined]
                    source.strings.append(node)  # type: ignore[arg-type]
                continue
            special = _SPECIAL.get(kind)
            if special is not None:
                inside = special(self, node, scope)
                if inside is None:
                    continue
            elif kind is ast.Attribute:
                by_attribute.setdefault(node.attr, []).append(node)  # type: ignore[attr-defined,arg-type]
                parents[node.value] = node  # type: ignore[attr-defined]
                stack.append((node.value, scope))  # type: ignore[attr-defined]
                continue
            for name in fields_of[kind]:
                value = getattr(node, name)
                if value.__class__ is list:
                    for item in reversed(value):
                        if item is not None:  # the keys of {**x}
                            parents[item] = node
                            stack.append((item, scope))
                elif value is not None:
                    parents[value] = node
                    stack.append((value, scope))

    def bind(
        self, scope: Scope, name: str, kind: str, node: ast.AST, qualified: str = "", value: ast.expr | None = None
    ) -> Binding:
        target = scope
        if scope.outer.get(name) == "global":
            target = self.source.scope_root
        while isinstance(target.node, _COMPREHENSIONS) and kind == "other" and isinstance(self._owner(node), ast.NamedExpr):
            target = target.parent or target  # := binds outside the comprehension
        statement = self._statement(node)
        binding = Binding(name, kind, node, statement, qualified, value)
        target.bindings.setdefault(name, []).append(binding)
        return binding

    def _owner(self, node: ast.AST) -> ast.AST | None:
        return self.source.parents.get(node)

    def _statement(self, node: ast.AST) -> ast.stmt | None:
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.source.parents.get(current)
        return current

    def _store(self, node: ast.Name, scope: Scope) -> None:
        parent = self.source.parents.get(node)
        if isinstance(parent, ast.Assign) and node in parent.targets:
            self.bind(scope, node.id, "assign", node, value=parent.value)
        elif isinstance(parent, ast.AnnAssign):
            if parent.value is not None:
                self.bind(scope, node.id, "assign", node, value=parent.value)
            else:
                self.bind(scope, node.id, "declare", node)
        elif isinstance(parent, ast.NamedExpr):
            self.bind(scope, node.id, "other", node, value=parent.value)
        elif isinstance(node.ctx, ast.Del):
            self.bind(scope, node.id, "del", node)
        else:
            self.bind(scope, node.id, "other", node)

    def push(self, parent: ast.AST, children: Iterable[ast.AST | None], scope: Scope, *, enter: bool = False) -> None:
        """Queue `children`; `enter` marks them as evaluated in another scope than their parent."""
        for child in reversed([c for c in children if c is not None]):
            self.source.parents[child] = parent
            if enter:
                self.source._scope_at[child] = scope
            self.stack.append((child, scope))

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self.bind(scope, node.name, "def", node)
        inner = Scope(node, scope)
        self.push(node, node.body, inner, enter=True)
        self._arguments(node, node.args, scope, inner)
        if node.returns is not None:
            self.source._annotations.append((node.returns, scope))
        self.push(node, [*node.decorator_list, node.returns, *getattr(node, "type_params", ())], scope)

    def lambda_(self, node: ast.Lambda, scope: Scope) -> None:
        inner = Scope(node, scope)
        self.push(node, [node.body], inner, enter=True)
        self._arguments(node, node.args, scope, inner)

    def _arguments(self, node: ast.AST, arguments: ast.arguments, scope: Scope, inner: Scope) -> None:
        self.source.parents[arguments] = node
        everything = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
        for argument in everything:
            if argument is not None:
                self.source.parents[argument] = arguments
                inner.bindings.setdefault(argument.arg, []).append(Binding(argument.arg, "param", argument, None))
                if argument.annotation is not None:
                    self.source._annotations.append((argument.annotation, scope))
                    self.push(argument, [argument.annotation], scope)
        self.push(arguments, [*arguments.defaults, *arguments.kw_defaults], scope)

    def class_(self, node: ast.ClassDef, scope: Scope) -> None:
        self.bind(scope, node.name, "class", node)
        inner = Scope(node, scope)
        self.push(node, node.body, inner, enter=True)
        self.push(node, [*node.decorator_list, *node.bases, *node.keywords, *getattr(node, "type_params", ())], scope)

    def comprehension(self, node: ast.AST, scope: Scope) -> None:
        inner = Scope(node, scope)
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore[attr-defined]
        self.push(node, results, inner, enter=True)
        for number, generator in enumerate(generators):
            self.source.parents[generator] = node
            outer = number == 0
            self.push(generator, [generator.target, *generator.ifs], inner, enter=True)
            self.push(generator, [generator.iter], scope if outer else inner, enter=not outer)

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> Scope:
        self.source._annotations.append((node.annotation, scope))
        return scope

    def call(self, node: ast.Call, scope: Scope) -> Scope:
        """``typing.cast("T", x)`` and friends hold a quoted annotation too."""
        leaf = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if leaf in ("cast", "TypeVar", "NewType") and node.args:
            for argument in node.args:
                if isinstance(argument, (ast.Constant, ast.Subscript)):
                    self.source._annotations.append((argument, scope))
            for keyword in node.keywords:
                if keyword.arg == "bound":
                    self.source._annotations.append((keyword.value, scope))
        return scope

    def assigned(self, node: ast.Assign, scope: Scope) -> Scope:
        """``Alias = Union["T", int]``: strings in a subscript on the right-hand side are forward references."""
        if isinstance(node.value, ast.Subscript):
            self.source._annotations.append((node.value, scope))
        return scope

    def keyword(self, node: ast.keyword, scope: Scope) -> Scope:
        if node.arg is not None:
            self.source.keywords.setdefault(node.arg, []).append(node)
        return scope

    def import_(self, node: ast.Import, scope: Scope) -> None:
        self.source.imports.append(node)
        for alias in node.names:
            self.source.parents[alias] = node
            name = alias.asname or alias.name.partition(".")[0]
            self.bind(scope, name, "import", alias, alias.name if alias.asname else name)

    def import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        source = self.source
        source.imports.append(node)
        module = source.absolute(node.module, node.level)
        for alias in node.names:
            source.parents[alias] = node
            if alias.name == "*":
                source.stars.append(node)
                continue
            qualified = source._through_index(f"{module}.{alias.name}")
            binding = self.bind(scope, alias.asname or alias.name, "import", alias, qualified)
            binding.indexed = qualified != f"{module}.{alias.name}"

    def outer(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            scope.outer[name] = "global" if isinstance(node, ast.Global) else "nonlocal"

    def handler(self, node: ast.ExceptHandler, scope: Scope) -> Scope:
        if node.name:
            self.bind(scope, node.name, "other", node)
        return scope

    def match_name(self, node: ast.AST, scope: Scope) -> Scope:
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name:
            self.bind(scope, name, "other", node)
        return scope


_SPECIAL: Mapping[type[ast.AST], Callable[..., Scope | None]] = {
    ast.FunctionDef: _Walker.function,
    ast.AsyncFunctionDef: _Walker.function,
    ast.Lambda: _Walker.lambda_,
    ast.ClassDef: _Walker.class_,
    ast.ListComp: _Walker.comprehension,
    ast.SetComp: _Walker.comprehension,
    ast.DictComp: _Walker.comprehension,
    ast.GeneratorExp: _Walker.comprehension,
    ast.AnnAssign: _Walker.annotated,
    ast.Call: _Walker.call,
    ast.Assign: _Walker.assigned,
    ast.keyword: _Walker.keyword,
    ast.Import: _Walker.import_,
    ast.ImportFrom: _Walker.import_from,
    ast.Global: _Walker.outer,
    ast.Nonlocal: _Walker.outer,
    ast.ExceptHandler: _Walker.handler,
    ast.MatchAs: _Walker.match_name,
    ast.MatchStar: _Walker.match_name,
    ast.MatchMapping: _Walker.match_name,
}
