"""The API that codemods are written against: declare what to look for, report what to do; the engine edits.

A codemod module makes one `Codemod` and registers functions on it. A function is given a *site* (a place where a registered
name, call, attribute or string occurs, already resolved through the file's aliases) and yields `Rewrite` and `Manual` objects.
It holds no state and touches no file: every change it asks for is rendered by `jaxmigrate.cst` and placed by `jaxmigrate.engine`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jaxmigrate.history import Successor
from jaxmigrate.model import Applicability, Fact, Settings, Severity, Version
from jaxmigrate.scan import last_part as last_part

if TYPE_CHECKING:
    from jaxmigrate.names import Source

SAFE, REVIEW, UNSAFE, MANUAL = Applicability.SAFE, Applicability.REVIEW, Applicability.UNSAFE, Applicability.MANUAL

Piece = ast.expr | str
"""What fills a template's ``{name}``: an expression of the file (copied with its comments) or ready source text."""


@dataclass(frozen=True, slots=True)
class Template:
    """New source text with holes.

    ``{shape}`` is filled by a piece; ``{jax.sharding.NamedSharding}`` (a dotted name) is spelled the way the file spells it and
    imported if needed. ``{{`` and ``}}`` are literal braces.
    """

    text: str
    pieces: Mapping[str, Piece] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReplaceExpr:
    """Replace the expression `node`; parentheses are added where the context needs them."""

    node: ast.expr
    new: Template


@dataclass(frozen=True, slots=True)
class EditCall:
    """Change parts of a call and leave the rest of its text (comments, line breaks, argument order) as it is.

    `func` replaces the callee. `rename` maps an old keyword to a new one. `drop` names keywords, or positions counted from 0, to
    remove. `to_keyword` turns positional argument i into a keyword. `values` replaces the value of a keyword or position.
    `append` adds arguments at the end: (keyword or None, value).
    """

    node: ast.Call
    func: Template | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    drop: frozenset[str | int] = frozenset()
    to_keyword: Mapping[int, str] = field(default_factory=dict)
    values: Mapping[str | int, Template] = field(default_factory=dict)
    append: tuple[tuple[str | None, Template], ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteStatement:
    """Remove a whole statement (``pass`` takes its place where it was the only one of its block).

    Comment lines directly above stay for what follows, unless they name one of the words `about`.
    """

    node: ast.stmt
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplaceStatement:
    """Replace a whole simple statement by the statements of the template, at its own indentation."""

    node: ast.stmt
    new: Template


@dataclass(frozen=True, slots=True)
class InsertBefore:
    """Put the statements of the template on lines of their own before `node`, at its indentation."""

    node: ast.stmt
    new: Template


@dataclass(frozen=True, slots=True)
class InsertAfter:
    """Put the statements of the template on lines of their own after `node`, at its indentation."""

    node: ast.stmt
    new: Template


@dataclass(frozen=True, slots=True)
class KeepBlock:
    """Replace an ``if`` (or one ``elif`` arm of it), or a ``with``, by one of its blocks, dedented, comments kept.

    `block` is ``body`` or ``orelse``; ``orelse`` of an ``if`` without ``else`` deletes the statement.
    """

    node: ast.If | ast.With
    block: str


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replace the UTF-8 bytes ``[start, end)`` of the file, for text that is no expression (string contents, a comment)."""

    start: int
    end: int
    text: str


Change = ReplaceExpr | EditCall | DeleteStatement | ReplaceStatement | InsertBefore | InsertAfter | KeepBlock | ReplaceText


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A finding with an edit; its changes are applied together or not at all."""

    message: str
    applicability: Applicability
    changes: tuple[Change, ...]
    at: ast.AST | None = None
    """Where to report it, if not at the site."""
    requires: str = ""
    """The JAX it needs beyond what the names in its templates say, such as the release that gave a keyword."""
    severity: Severity | None = None
    """How much it matters, if not as much as the codemod as a whole."""
    raises: frozenset[str] = frozenset()
    """What a call with the old arguments raises today, beside TypeError: a test may expect it."""


@dataclass(frozen=True, slots=True)
class Manual:
    """A finding without an edit: `message` says why not and what to do instead."""

    message: str
    at: ast.AST | None = None
    severity: Severity | None = None
    """How much it matters, if not as much as the codemod as a whole."""


@dataclass(frozen=True, slots=True)
class Note:
    """No finding, but a fact for the codemod's project hook."""

    value: str
    at: ast.AST | None = None


Report = Rewrite | Manual | Note
Reports = Iterable[Report] | Report | None


class Unbindable(Exception):
    """The arguments of a call cannot be bound to the old signature; the engine turns it into a manual finding."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a file; `node` is the expression (for files: the module)."""

    source: Source
    node: ast.AST
    settings: Settings
    symbol: str = ""
    """Qualified name of the old API this site uses, or the attribute's name."""

    @property
    def target(self) -> Version:
        """The oldest JAX that the result must run on."""
        return self.settings.target

    def target_has(self, version: str) -> bool:
        """Whether every JAX the result must run on is at least `version`."""
        return self.settings.target >= Version.parse(version)

    def is_older_than(self, version: str) -> bool:
        """Whether the program is known to be written for a JAX before `version`, so that what changed there concerns it."""
        return self.settings.origin is not None and self.settings.origin < Version.parse(version)

    def option(self, name: str, default: str) -> str:
        """The user's choice for an option of a codemod."""
        return self.settings.option(name, default)

    def parent(self) -> ast.AST | None:
        """The node around this one."""
        return self.source.parent(self.node)

    def text(self, node: ast.AST | None = None) -> str:
        """The source of `node` (default: of the site)."""
        return self.source.segment(node if node is not None else self.node)

    def replace(self, template: str, /, node: ast.expr | None = None, **pieces: Piece) -> ReplaceExpr:
        """Replace `node` (default: the site's expression) by a template."""
        target = node if node is not None else self.node
        assert isinstance(target, ast.expr)
        return ReplaceExpr(target, Template(template, pieces))

    def manual(self, message: str, at: ast.AST | None = None, severity: Severity | None = None) -> Manual:
        """A finding without an edit."""
        return Manual(message, at, severity)

    def may_be_traced(self) -> str:
        """Why the code at this site may see tracers, as a short clause; empty when nothing in the file says so."""
        return self.source.tracing_evidence(self.node)


@dataclass(frozen=True, slots=True)
class NameSite(Site):
    """A use of a registered name in an expression (annotations, also quoted ones, included); imports are not sites."""

    node: ast.expr
    direct: bool = True
    """False when the name was re-bound by an assignment (``P = PartitionSpec``): such a use needs no rename."""
    quoted: bool = False
    """Whether it stands in a string annotation or a type comment."""

    @property
    def role(self) -> str:
        """How the name is used.

        One of ``isinstance``, ``issubclass``, ``annotation``, ``type-compare``, ``register``, ``dict-key``, ``base-class``,
        ``call``, ``attribute`` (an attribute of it is read), ``alias`` (``X = name``), ``value``.
        """
        return self.source.role(self.node)


@dataclass(frozen=True, slots=True)
class CallSite(Site):
    """A call of a registered name (also through ``functools.partial`` when `partial` is set, or as a decorator)."""

    node: ast.Call
    partial: bool = False
    """The call is ``functools.partial(name, ...)``; its first argument is the name itself."""

    def has_star(self) -> bool:
        """Whether the arguments hold ``*`` or ``**``."""
        return any(isinstance(a, ast.Starred) for a in self.node.args) or any(k.arg is None for k in self.node.keywords)

    def keyword(self, name: str) -> ast.keyword | None:
        """The keyword argument `name` as written."""
        return next((k for k in self.node.keywords if k.arg == name), None)

    def positional(self) -> list[ast.expr]:
        """The positional arguments (without the function itself in a partial)."""
        return self.node.args[1:] if self.partial else self.node.args

    def bind(self, *parameters: str, optional: Iterable[str] = ()) -> dict[str, ast.expr]:
        """Bind the arguments to the old signature: parameter name -> expression, absent ones left out.

        Raises:
            Unbindable: ``*``/``**``, an unknown keyword, too many arguments, or a required one missing.
        """
        if self.has_star():
            raise Unbindable("the arguments hold * or **, so they cannot be matched to parameters")
        positional = self.positional()
        if len(positional) > len(parameters):
            raise Unbindable(f"{len(positional)} positional arguments for {len(parameters)} parameters")
        bound = dict(zip(parameters, positional, strict=False))
        for keyword in self.node.keywords:
            assert keyword.arg is not None
            if keyword.arg not in parameters:
                raise Unbindable(f"unknown argument {keyword.arg!r}")
            bound[keyword.arg] = keyword.value
        missing = [p for p in parameters if p not in bound and p not in set(optional)]
        if missing:
            raise Unbindable(f"no argument for {', '.join(missing)}")
        return bound


@dataclass(frozen=True, slots=True)
class AttributeSite(Site):
    """``value.attr`` where `attr` is a registered attribute name and the whole is no module path."""

    node: ast.Attribute
    receiver_type: str | None = None
    """Qualified type of the value as inferred, or None when unknown."""
    assignment: bool = False
    """The attribute is stored or deleted, not read."""

    @property
    def value(self) -> ast.expr:
        """The receiver."""
        return self.node.value

    def call(self) -> ast.Call | None:
        """The call ``value.attr(...)`` when the attribute is called at once."""
        parent = self.parent()
        return parent if isinstance(parent, ast.Call) and parent.func is self.node else None


@dataclass(frozen=True, slots=True)
class StringSite(Site):
    """A string literal (no annotation, no docstring) that holds a registered word."""

    node: ast.Constant

    @property
    def value(self) -> str:
        """The string."""
        assert isinstance(self.node.value, str)
        return self.node.value


@dataclass(frozen=True, slots=True)
class FileSite(Site):
    """The whole module, for codemods that must see several places at once."""

    node: ast.Module


Handler = Callable[..., Reports]
ProjectHandler = Callable[[Sequence[Fact]], Iterable[tuple[Fact, str]]]


@dataclass(frozen=True, slots=True)
class TextPattern:
    """What to look for in files that are not Python (shell scripts, Dockerfiles, CI files): reported, never edited."""

    pattern: bytes
    """A regular expression over one line."""
    message: str
    """The finding; empty when a match is only a note."""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """An old qualified name and its successor, for the engine's own rename verb."""

    old: str
    new: str
    message: str
    passed_on: str = ""
    """What to say, as a review, where other modules get the name from this one: its meaning changes for them."""
    handler: Handler | None = None
    """Decides each use: a `Rewrite` with no changes sets message and applicability; None lets the engine's default stand."""
    successors: tuple[Successor, ...] = ()
    """Where the new name depends on the target: all of them, the newest first (`new` is then the newest)."""

    def at(self, target: Version) -> Move:
        """The same with the newest name that every release since `target` has; the newest of all when there is none."""
        fitting = next((s for s in self.successors if s.since <= target), None)
        return self if fitting is None or fitting.name == self.new else replace(self, new=fitting.name)


@dataclass(slots=True, eq=False)
class Codemod:
    """One migration: what it is, and what it looks for.

    `since` is the first JAX with the new API; `deprecated` and `removed` are the releases that deprecated and removed the old one
    (None: not yet). `words` are identifiers one of which a file must contain to be parsed at all; `link` is JAX's own text.
    """

    name: str
    summary: str
    since: str
    deprecated: str | None
    removed: str | None
    link: str
    words: frozenset[str]
    applicability: Applicability = SAFE
    """The strongest reservation that its edits may carry; a test holds it to what it emits."""
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Option name -> accepted values, the default first."""
    moves: dict[str, Move] = field(default_factory=dict)
    names: dict[str, list[Handler]] = field(default_factory=dict)
    calls: dict[str, list[Handler]] = field(default_factory=dict)
    attributes: dict[str, list[Handler]] = field(default_factory=dict)
    strings: dict[str, list[Handler]] = field(default_factory=dict)
    files: list[Handler] = field(default_factory=list)
    texts: list[TextPattern] = field(default_factory=list)
    projects: list[ProjectHandler] = field(default_factory=list)
    severity: Severity = Severity.NORMAL
    """How much its findings matter: `LOW` where the old API is only deprecated."""
    _at: dict[Version, dict[str, tuple[Codemod, Move]]] = field(default_factory=dict, repr=False)
    _leaves: frozenset[str] = field(default_factory=frozenset, repr=False)
    arguments: dict[Handler, Mapping[str, Iterable[str]]] = field(default_factory=dict)
    """Handlers that speak of a call only if it has certain arguments (see `only_with`)."""
    needs: dict[Handler, tuple[str, ...]] = field(default_factory=dict)
    """Whole-file handlers that speak only where the file has certain names (see `only_where`)."""
    about: frozenset[str] = frozenset()
    """Names whose behaviour changed at `since`, of which handlers speak that are not registered for them."""
    gone: dict[str, str] = field(default_factory=dict)
    """Module that no longer exists -> what to do about a use that nothing else handles."""

    def moves_at(self, target: Version) -> Mapping[str, tuple[Codemod, Move]]:
        """The renames as they are for a target, with their codemod."""
        if target not in self._at:
            self._at[target] = {old: (self, move.at(target)) for old, move in self.moves.items()}
        return self._at[target]

    def leaves(self) -> frozenset[str]:
        """The words, and the last parts of all old names."""
        if not self._leaves:
            tables = (self.moves, self.names, self.calls)
            self._leaves = self.words | {name.rpartition(".")[2] for table in tables for name in table}
        return self._leaves

    def changes(self, symbol: str) -> Iterator[str]:
        """The releases that changed the behaviour of a name, as far as this codemod speaks of it."""
        if symbol in self.about:
            yield self.since
        for handler in (*self.names.get(symbol, ()), *self.calls.get(symbol, ())):
            if version := getattr(handler, "before", ""):
                yield str(version)

    def name_(self, *qualified: str) -> Callable[[Handler], Handler]:
        """Register a function of `NameSite` for every use of these names in an expression."""
        return self._register(self.names, qualified)

    def call(self, *qualified: str) -> Callable[[Handler], Handler]:
        """Register a function of `CallSite` for every call of these names, also as a decorator or through partial."""
        return self._register(self.calls, qualified)

    def attribute(self, *names: str) -> Callable[[Handler], Handler]:
        """Register a function of `AttributeSite` for these attributes of values."""
        return self._register(self.attributes, names)

    def string(self, *words: str) -> Callable[[Handler], Handler]:
        """Register a function of `StringSite` for string literals that contain one of these words."""
        return self._register(self.strings, words)

    def file(self, handler: Handler) -> Handler:
        """Register a function of `FileSite`, called once for a file that holds one of the words."""
        self.files.append(handler)
        return handler

    def only_with(self, table: Mapping[str, Iterable[str]]) -> Callable[[Handler], Handler]:
        """Say which arguments a call must have for the handler to speak of it: other files are let go without asking.

        By name of the function or attribute (``at[].set`` is one behind ``.at[...]``): keywords, positions from 0 like ``#2``,
        ``#*`` for ``**``, with ``=None`` where the argument is just that; ``~flags`` stands for a first argument that is not a
        literal among the living names of that section of the history. What is below `only_with` is what registers the handler.
        """

        def decorate(handler: Handler) -> Handler:
            self.arguments[handler] = table
            return handler

        return decorate

    def only_where(self, *needs: str) -> Callable[[Handler], Handler]:
        """Say what a file must have for a whole-file handler to speak: one of these names, ``import x``, or a ``with``."""

        def decorate(handler: Handler) -> Handler:
            self.needs[handler] = needs
            return handler

        return decorate

    def text(self, pattern: bytes, message: str, note: str | None = None) -> None:
        """Report lines of non-Python files that match."""
        self.texts.append(TextPattern(pattern, message, note))

    def project(self, handler: ProjectHandler) -> ProjectHandler:
        """Register a function that sees all notes of this codemod after the last file: yields (where to report, message)."""
        self.projects.append(handler)
        return handler

    def rename(
        self,
        table: Mapping[str, str | Sequence[Successor]],
        message: str = "{old} is {new} now",
        handler: Handler | None = None,
        passed_on: str = "",
    ) -> None:
        """Rename qualified names: uses, imports (``as`` kept), quoted annotations, ``mock.patch`` strings, re-exports.

        A name with several successors, each usable from a release on, gets the newest one that the target has.

        A new name with the same last part moves the import and leaves the uses alone; otherwise the uses are rewritten. In type
        containers (tuples of isinstance, ``Union``, ``|``) duplicates collapse. `handler`, given a `NameSite`, may return a
        `Manual` (the use stays), a `Rewrite` with changes (instead of the rename), or one without (its message and
        applicability are used); None means the default, safe. `passed_on` is the assumption under which a name that other
        modules take from this one may mean the successor: it makes the import's move a review.
        """
        self._at.clear()
        for old, new in table.items():
            choices = () if isinstance(new, str) else tuple(sorted(new, key=lambda s: s.since, reverse=True))
            name = new if isinstance(new, str) else choices[0].name
            self.moves[old] = Move(old, name, message, passed_on, handler, choices)

    @staticmethod
    def _register(table: dict[str, list[Handler]], keys: Iterable[str]) -> Callable[[Handler], Handler]:
        def decorate(handler: Handler) -> Handler:
            for key in keys:
                table.setdefault(key, []).append(handler)
            return handler

        return decorate


def reports(result: Reports) -> Iterator[Report]:
    """Flatten what a handler returned."""
    if result is None:
        return
    if isinstance(result, (Rewrite, Manual, Note)):
        yield result
    else:
        yield from result
