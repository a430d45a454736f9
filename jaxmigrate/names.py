"""Which syntax node is which qualified name: parents, scopes, imports and re-binding of one parsed file.

One walk over the stdlib's `ast` collects everything; all questions are answered lazily from what it collected, since most files
ask only a few. libcst's scope analysis is not used: it costs 67 times the parse (measured, `field/SPEED.md`).
"""

from __future__ import annotations

import ast
import contextlib
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import accumulate

from jaxmigrate import fates, guards, reached, values
from jaxmigrate.model import Position, ProjectIndex, Version
from jaxmigrate.quoted import TYPE_COMMENT, annotation_strings, comments_of, parse_at, parse_type_comment
from jaxmigrate.scan import Binding, Scope, handed_over, walk

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_LEAVES = (
    ast.Load, ast.Store, ast.Del, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class NameError_(Exception):
    """A name cannot be spelled where it is needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """What a name or attribute chain means."""

    qualified: str
    direct: bool
    """Reached through imports of the library itself, not through an assignment or another module of the project."""
    binding: Binding
    """The binding of the chain's first name (at the use, before following assignments)."""


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
    if (tree := handed_over(text)) is not None:
        return tree
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        hint = _hint(text, error)
        raise SourceError(f"line {error.lineno}: {error.msg}{hint}") from None
    except RecursionError:
        return _parse_deep(text)
    except MemoryError:
        raise SourceError("nested too deeply for Python's own parser") from None
    except ValueError as error:
        raise SourceError(str(error)) from None


def _parse_deep(text: str) -> ast.Module:
    """Parse what Python compiles but turns into nodes only with a larger stack (1500 ``elif``, say)."""
    import sys
    import threading

    found: list[ast.Module] = []

    def run() -> None:
        with contextlib.suppress(RecursionError, MemoryError, SyntaxError, ValueError):
            found.append(ast.parse(text))

    limit, size = sys.getrecursionlimit(), threading.stack_size(512 * 1024 * 1024)
    sys.setrecursionlimit(100_000)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    if not found:
        raise SourceError("nested too deeply for Python's own parser")
    return found[0]


def _hint(text: str, error: SyntaxError) -> str:
    """Which other Python the line may have been written for."""
    lines = re.split(r"\r\n|\r|\n", text)
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    if _looks_like_python2(line):
        return " (Python 2?)"
    if re.search(r"^\s*type\s+\w+\s*[\[=]|^\s*(?:async\s+)?def\s+\w+\[|^\s*class\s+\w+\[|\bf['\"]|^\s*except\b.*,", line):
        import sys

        return f" (newer syntax than this Python {sys.version_info[0]}.{sys.version_info[1]} knows?)"
    return ""


def _looks_like_python2(line: str) -> bool:
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
        target: Version | None = None,
    ) -> None:
        """`utf8` is the text without byte-order mark; `dead` and `dead_members` are what the newest JAX lacks (for guards).

        Without `target` the newest release is all that matters.
        """
        self.utf8 = utf8
        self.text = utf8.decode("utf-8")
        self.path = path
        self.module = module
        self.is_package = is_package
        self.index = index or ProjectIndex()
        self.facts = facts or values.Facts()
        self.dead = dead
        self.dead_members = dead_members
        versions = self.facts.history.versions or (Version((0,)),)
        self.newest = versions[-1]
        self.releases = frozenset((self.newest, *(v for v in versions if target is not None and v >= target)))
        """Those that the result must run on, from the target to the newest."""
        self.tree = parse(self.text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.by_id: dict[str, list[ast.Name]] = {}
        self.by_attribute: dict[str, list[ast.Attribute]] = {}
        self.strings: list[ast.Constant] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.keywords: dict[str, list[ast.keyword]] = {}
        self.stars: list[ast.ImportFrom] = []
        self.withs: list[ast.With] = []
        self.embedded: list[Embedded] = []
        self._annotations: list[tuple[ast.expr, Scope]] = []
        self._scope_at: dict[ast.AST, Scope] = {}
        self._line_starts: list[int] | None = None
        self._comments: dict[int, str] | None = None
        self.has_directives = b"jaxmigrate:" in utf8
        """Whether a comment may speak to us."""
        self.traced: dict[ast.AST, str] = {}
        """Functions already judged by `values.tracing_evidence`, and why they see tracers."""
        self.tested: dict[ast.AST, dict[Version, frozenset[bool]]] = {}
        """How tests of the library's version come out, by release."""
        self.replaced: dict[str, str] | None = None
        """Names to which the project gives something else, and where, as `roundabout.replaced` found them."""
        self.original: Source | None = None
        """The file as it was read; None when this is it."""
        self.to_original: Callable[[int], int] | None = None
        """Byte offset -> line in the file as it was read; set by the engine from the second round on."""
        self.inferred: dict[tuple[ast.expr, int], str | None] = {}
        """What `values.infer` found, by node and depth of its search."""
        self._references: dict[str, list[tuple[ast.expr, Resolved]]] | None = None
        self._known_dead: dict[str, bool] = {}
        self._through: dict[str, str] = {}
        self._bound_to: dict[str, set[str]] | None = None
        self._resolved: dict[ast.AST, Resolved | None] = {}
        self._embedded_hosts: set[ast.AST] = set()
        self.scope_root = Scope(self.tree, None)
        walk(self)
        self.postpones_annotations = any(
            isinstance(s, ast.ImportFrom) and s.module == "__future__" and any(a.name == "annotations" for a in s.names)
            for s in self.imports
        )
        """Whether ``from __future__ import annotations`` keeps annotations from being evaluated."""

    @property
    def line_starts(self) -> list[int]:
        """Byte offset of the start of each line."""
        if self._line_starts is None:
            # bytes.splitlines knows just the three line ends of Python's own tokenizer
            self._line_starts = [0, *accumulate(map(len, self.utf8.splitlines(keepends=True)))]
            if self.utf8 and not self.utf8.endswith((b"\n", b"\r")):
                self._line_starts.pop()
        return self._line_starts

    def offset(self, line: int, column: int) -> int:
        """Byte offset of an ast position."""
        return self.line_starts[line - 1] + column

    @property
    def indent_unit(self) -> str:
        """One step of indentation in this file: that of its first indented block."""
        for node in self.tree.body:
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and body[0].lineno > node.lineno:
                start = self.span(body[0])[0]
                indent = self.utf8[self.offset(self.position(start).line, 0) : start].decode("utf-8")
                if indent and not indent.strip():
                    return indent
        return "    "

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

    def original_line(self, node: ast.AST) -> int:
        """The line of `node` in the file as it was read, for messages."""
        start = self.span(node)[0]
        return self.to_original(start) if self.to_original else self.position(start).line

    def segment(self, node: ast.AST) -> str:
        """The source text of `node`."""
        start, end = self.span(node)
        return self.utf8[start:end].decode("utf-8")

    def unix(self, start: int, end: int) -> str:
        """The text between two offsets with ``\\n`` line ends, as `jaxmigrate.cst` takes it."""
        return self.utf8[start:end].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")

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

    def lookup_at(self, node: ast.Name) -> tuple[list[Binding], Scope | None]:
        """The same for one use: of bindings that follow each other in a block the one before it.

        In the body of a class a name means what it does outside until the body binds it.
        """
        scope = self.scope(node)
        bindings, holder = self.lookup(node.id, scope)
        if len(bindings) > 1 and holder is not None and not holder.is_class:
            return self._last_before(node, bindings, holder, scope), holder
        if holder is not scope or not scope.is_class or not isinstance(node.ctx, ast.Load):
            return bindings, holder
        if not all(self._binds_later(binding, node) for binding in bindings):
            return bindings, holder
        outer = scope.parent
        while outer is not None and outer.is_class:
            outer = outer.parent
        return self.lookup(node.id, outer) if outer is not None else ([], None)

    def _last_before(self, node: ast.Name, bindings: list[Binding], holder: Scope, scope: Scope) -> list[Binding]:
        """The binding in force at a use: ``shard_map = shard_map.shard_map`` reads what was imported above it.

        All of them where one is made in an arm or a loop, or a function reads the name that may be called between two.
        """
        block = getattr(holder.node, "body", None)
        if not isinstance(block, list) or not isinstance(node.ctx, ast.Load) or not any(b.kind == "import" for b in bindings):
            return bindings
        if not all(
            b.kind in ("import", "assign", "def", "class") and self.parent(b.statement or b.node) is holder.node for b in bindings
        ):
            return bindings
        whole = next((a for a in (node, *self.ancestors(node)) if self.parent(a) is holder.node), None)
        if whole is None:
            return bindings
        starts = [self.span(b.statement)[0] for b in bindings if b.statement is not None]
        before = [b for b, start in zip(bindings, starts, strict=False) if start < self.span(whole)[0]]
        if not before or (scope is not holder and len(before) < len(bindings)):
            return bindings
        return [max(before, key=lambda b: self.span(b.statement or b.node)[0])]

    def _binds_later(self, binding: Binding, node: ast.Name) -> bool:
        """Whether a statement of the same body evaluates `node` before it binds: ``name = f(name)``, or comes after it."""
        statement = binding.statement
        if statement is None or binding.kind not in ("assign", "def", "class"):
            return False
        return self.span(statement)[0] > self.span(node)[0] or any(a is statement for a in self.ancestors(node))

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
            direct = (root.direct and qualified == written) or self._is_from_living_module(node, base)
            return Resolved(qualified, direct, root.binding)
        if isinstance(node, ast.Name):
            return self._resolve_name(node)
        return None

    def _is_from_living_module(self, node: ast.Attribute, base: ast.Name) -> bool:
        """Whether a chain of names goes on from a module that stays, whatever that is called here: ``np = jax.numpy``."""
        owner: ast.expr = node.value
        while True:
            found = self.resolved(owner)
            if found is not None and self.facts.history.is_module(found.qualified) and not self.is_dead(found.qualified):
                entry = self.facts.history.entry(found.qualified)
                if entry is not None and entry.alive:
                    return True
            if owner is base or not isinstance(owner, ast.Attribute):
                return False
            owner = owner.value

    def _resolve_name(self, node: ast.Name) -> Resolved | None:
        bindings, _ = self.lookup_at(node)
        imports = [b for b in bindings if b.kind == "import"]
        others = [b for b in bindings if b.kind != "import" and not guards.is_placeholder(self, b)]
        if imports:
            if others:
                return None
            if len({b.qualified for b in imports}) != 1:
                chosen = guards.first_living(self, imports)
                return Resolved(chosen.qualified, not chosen.indexed, chosen) if chosen else None
            return Resolved(imports[0].qualified, not imports[0].indexed, imports[0])
        if len(others) == 1 and others[0].kind == "assign" and others[0].value is not None:
            value = others[0].value
            if isinstance(value, (ast.Name, ast.Attribute)):
                inner = self.resolved(value)
                if inner:
                    return Resolved(inner.qualified, False, others[0])
        return None

    def _through_index(self, qualified: str) -> str:
        """What a name of a module of the project is bound to, when that is an object of the library."""
        exports = self.index.exports
        if not exports:
            return qualified
        found = self._through.get(qualified)
        if found is None:
            found = self._through[qualified] = self._followed(qualified, exports)
        return found

    @staticmethod
    def _followed(qualified: str, exports: Mapping[str, Mapping[str, str]]) -> str:
        parts = qualified.split(".")
        for count in range(len(parts) - 1, 0, -1):
            names = exports.get(".".join(parts[:count]))
            if names is not None and parts[count] in names:
                return ".".join((names[parts[count]], *parts[count + 1 :]))
        return qualified

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

    def references(self, wanted: Set[str]) -> Iterator[tuple[ast.expr, Resolved]]:
        """Every Name and Attribute that means one of the qualified names, quoted annotations included."""
        known = self.meanings()
        hits = known.keys() & wanted
        for qualified in [q for q in known if q in hits] if hits else ():
            yield from known[qualified]

    def meanings(self) -> dict[str, list[tuple[ast.expr, Resolved]]]:
        """Every qualified name that the file uses, and where."""
        if self._references is None:
            self._references = self._all_references()
        return self._references

    def _all_references(self) -> dict[str, list[tuple[ast.expr, Resolved]]]:
        """Every Name that is read, and every attribute of one, by what it means."""
        found: dict[str, list[tuple[ast.expr, Resolved]]] = {}
        for name in dict.fromkeys(name for names in self._meanings().values() for name in sorted(names)):
            for node in self.by_id.get(name, ()):
                resolved = self.resolved(node)
                if resolved is None:
                    continue
                if isinstance(node.ctx, ast.Load):
                    found.setdefault(resolved.qualified, []).append((node, resolved))
                top = self.parents.get(node)
                while isinstance(top, ast.Attribute):
                    if (deeper := self.resolved(top)) is not None:
                        found.setdefault(deeper.qualified, []).append((top, deeper))
                    top = self.parents.get(top)
        return found

    def foreign_meanings(self) -> set[str]:
        """Qualified names that this file has through modules of the project, so under names that need not look like them."""
        if not self.index.exports:
            return set()
        meanings = {b.qualified for bindings in self.scope_root.bindings.values() for b in bindings if b.indexed}
        for name in self.by_attribute.keys() & self.index.by_name.keys():
            meanings |= self.index.by_name[name]
        return meanings

    def _meanings(self) -> dict[str, set[str]]:
        """Qualified name -> names that some binding of the file gives this meaning."""
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
        return self._bound_to

    def bindings(self) -> Iterator[Binding]:
        """Every way in which a name of the file gets its value."""
        for scope in {self.scope_root, *self._scope_at.values()}:
            for bindings in scope.bindings.values():
                yield from bindings

    def names(self, *qualified: str) -> list[ast.expr]:
        """The nodes that mean one of these names."""
        return [node for node, _ in self.references(frozenset(qualified))]

    def calls(self, *qualified: str) -> list[ast.Call]:
        """The calls of these names."""
        return [p for n in self.names(*qualified) if isinstance(p := self.parent(n), ast.Call) and p.func is n]

    def is_quoted(self, node: ast.AST) -> bool:
        """Whether `node` stands in a string annotation or a type comment."""
        return any(a in self._embedded_hosts for a in (node, *self.ancestors(node)))

    def loaded_modules(self) -> set[str]:
        """Every module that the absolute imports of this file load (a name of a ``from`` import may be one)."""
        loaded: set[str] = set()
        for statement in self.imports:
            if isinstance(statement, ast.Import):
                names = [a.name for a in statement.names]
            else:
                names = (
                    []
                    if statement.level
                    else [statement.module or "", *(f"{statement.module}.{a.name}" for a in statement.names)]
                )
            for name in names:
                parts = name.split(".")
                loaded |= {".".join(parts[: n + 1]) for n in range(len(parts))}
        return loaded

    def is_bound_from_inside(self, name: str) -> bool:
        """Whether an inner function declares the name ``nonlocal`` or ``global``."""
        return any(name in scope.outer for scope in set(self._scope_at.values()))

    def visible(self, qualified: str, at: ast.AST) -> str | None:
        """How an import of this very object (or of a module holding it) spells it at `at`; None when nothing does."""
        start = self.scope(at)
        scope: Scope | None = start
        inner: list[Scope] = []
        best: str | None = None
        while scope is not None:
            if scope is start or not scope.is_class:
                for name in scope.imported:
                    if any(name in s.bindings for s in inner):
                        continue  # shadowed on the way
                    spelled = self._spelled_through(name, scope.bindings[name], qualified, at)
                    if spelled and (best is None or _taste(spelled, qualified) < _taste(best, qualified)):
                        best = spelled
                inner.append(scope)
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
            return name if _tells(name, qualified) else None
        if qualified.startswith(held_name + "."):
            rest = qualified[len(held_name) + 1 :]
            module = self.facts.home_of(qualified)
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

    def guard(self, node: ast.AST, symbol: str = "", removed: Version | None = None) -> str:
        """Why only a JAX that has the old API `symbol` reaches `node` (see `reached.guard`); empty when it is not guarded."""
        return reached.guard(self, node, symbol, removed)

    def embed(self, words: frozenset[str]) -> None:
        """Parse string annotations and type comments that mention one of `words`, so that their names are found too.

        Local names that imports give to old classes and modules count as words.
        """
        waiting = [item for item in self._annotations if not _is_bare(item[0])]
        typed = TYPE_COMMENT.search(self.utf8) if b"type:" in self.utf8 else None
        if not waiting and not typed:
            return
        local = {
            name
            for name in self.scope_root.imported
            for binding in self.scope_root.bindings[name]
            if binding.kind == "import" and self._may_be_old(binding.qualified)
        }
        while waiting:
            root, scope = waiting.pop()
            for constant in annotation_strings(root):
                assert isinstance(constant.value, str)
                found = _IDENTIFIER.findall(constant.value)
                if words.isdisjoint(found) and local.isdisjoint(found):
                    continue
                tree = self._parse_string(constant)
                if tree is not None:
                    self._attach(tree, constant, scope)
                    waiting.append((tree, scope))  # quotes within quotes
        if typed:
            self._embed_type_comments(words | local)

    def _may_be_old(self, qualified: str) -> bool:
        """Whether a name below `qualified` may be one that the newest release lacks."""
        known = qualified.partition(".")[0] in self.facts.history.members("")
        return known or qualified in self.dead or self.facts.is_gone_module(qualified)

    def is_dead(self, qualified: str | None) -> bool:
        """Whether the newest release lacks the name, as the codemods or the history know."""
        if qualified is None:
            return False
        known = self._known_dead.get(qualified)
        if known is None:
            known = self._known_dead[qualified] = qualified in self.dead or fates.is_dead(self.facts.history, qualified)
        return known

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
        return parse_at(match[3], constant.lineno, column)

    def _embed_type_comments(self, words: frozenset[str]) -> None:
        for match in TYPE_COMMENT.finditer(self.utf8):
            body = match[1].decode("utf-8", "replace")
            if words.isdisjoint(_IDENTIFIER.findall(body)):
                continue
            if match.start() not in self.comments:
                continue
            line = bisect_right(self.line_starts, match.start())
            column = match.start(1) - self.line_starts[line - 1]
            host = self._statement_at(line)
            for tree in parse_type_comment(body, line, column):
                self._attach(tree, host, self.scope(host))

    @property
    def comments(self) -> dict[int, str]:
        """Byte offset -> text of every comment; tokenizing is slow, so it is done when asked for, and once."""
        if self._comments is None:
            self._comments = dict(comments_of(self.utf8))
        return self._comments

    def _statement_at(self, line: int) -> ast.AST:
        """The innermost statement that begins at or before `line` and ends at or after it (or just before it)."""
        best: ast.AST = self.tree
        for node in ast.walk(self.tree):
            inside = isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
            if inside and (best is self.tree or node.lineno >= best.lineno):  # type: ignore[attr-defined]
                best = node
        return best

    def _attach(self, tree: ast.expr, host: ast.AST, scope: Scope) -> None:
        self._references = None
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


def _is_bare(annotation: ast.expr) -> bool:
    """Whether an annotation is a plain name, as most are: nothing is quoted in it."""
    while isinstance(annotation, ast.Attribute):
        annotation = annotation.value
    return isinstance(annotation, ast.Name)


def _tells(name: str, qualified: str) -> bool:
    """Whether an alias may be read as the thing: its own name, a prefix of it (``Part``) or initials (``P``, ``NS``)."""
    leaf = qualified.rpartition(".")[2]
    initials = "".join(c for c in leaf if c.isupper())
    return leaf.lower().startswith(name.lower()) or initials.startswith(name) or name.lstrip("_") == leaf


def _taste(spelled: str, qualified: str) -> tuple[bool, bool, int]:
    """Shorter is better, but ``jax.Array`` is better than an alias of another name (``P`` for a longer path is fine).

    Of two imports of the thing itself, that under its own name is better.
    """
    renamed = spelled != qualified and qualified.count(".") == 1 and spelled.rpartition(".")[2] != qualified.rpartition(".")[2]
    return renamed, spelled != qualified.rpartition(".")[2], len(spelled)


__all__ = ["Binding", "NameError_", "Resolved", "Scope", "Source", "SourceError", "parse"]
