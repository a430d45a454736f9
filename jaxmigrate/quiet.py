"""A cheap proof that no codemod has anything to say about a file, for the many that use today's JAX and nothing else.

It reads one table that is derived from all codemods and the history (`quiet.txt` of our pack, written by ``tools/words.py``) and
loads none of them. Its answers err on one side only: of a file that it lets go a full run reports nothing. So a name may have
every meaning that any statement of the file gives it, and each must be one that nothing is ever said about.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from jaxmigrate.gate import BUILTIN, holds_own_word, holds_word, packages
from jaxmigrate.scan import CHILDREN, hand_over
from jaxmigrate.signatures import PARTIALS, given, signature

if TYPE_CHECKING:
    from jaxmigrate.model import Settings

FILE = "quiet.txt"
ALWAYS, WITH = "always", "with"
"""Which files a codemod looks at as a whole: all with a word of it, or those with a ``with`` statement too."""
ALL = "*"
"""In the place of a codemod: something may be said whatever words the file holds."""
MODULE, OBJECT, ASKED = "/", ":", "*"
"""Marks behind a name of the table: it is a module, an object used like one, or one that some codemod has an eye on."""
_CHAIN = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_TYPE_COMMENT = re.compile(r"#[ \t]*type:[ \t]*(?!ignore\b)([^\r\n]*)")
_COOKIE = re.compile(rb"[^\n]*\n?[^\n]*coding[:=](?![ \t]*[uU][tT][fF]-?8)")
_ROUNDS = 10
_LOADERS = ("import_module", "__import__", "modules", "multiple", "resolve_name", "importorskip", "run_module")
"""What reaches a module by its path."""
_RUNNERS = frozenset({"eval", "exec", "compile"})
_RUNNING_MODULES = frozenset({"timeit", "builtins"})
"""Functions, and modules of such, that run a string."""
_ABSL = "absl.flags.FLAGS."
NEWEST = (sys.maxsize,)
"""The target that has all of today's names, as numbers of its version."""


class Name(NamedTuple):
    """A living name about which nothing is said where it is merely used."""

    since: tuple[int, ...]
    mark: str


class Trigger(NamedTuple):
    """What one codemod looks for besides qualified names, in files that hold one of its words."""

    words: frozenset[str]
    attributes: frozenset[str]
    strings: tuple[str, ...]
    file: str
    """Whether it looks at whole files: ``always``, or those with a ``with`` statement."""


class Table:
    """What `quiet.txt` says; its sections are read when they are asked for."""

    def __init__(self, text: str) -> None:
        sections = (part.partition("]") for part in f"\n{text}".split("\n[")[1:])
        self._sections = {head: body for head, _, body in sections}
        self._names: dict[str, dict[str, Name]] = {}
        self.roots = frozenset(self._sections["libraries"].split())
        self.loud = {name: frozenset(owners) for name, *owners in self._lines("loud")}
        """Names of which something may be said -> the codemods that may, where the file holds a word of theirs."""
        self.loud_roots = frozenset(name.partition(".")[0] for name in self.loud)
        self.calls = {name: frozenset(arguments) for name, *arguments in self._lines("calls")}
        """Function -> the arguments that a call must have to be spoken of, as `Codemod.only_with` has them."""
        self.takes = dict(line.split(" ") for line in self._sections["takes"].splitlines() if line)
        """Function that refuses what it took once -> its signature of today."""
        self.methods = {name: frozenset(arguments) for name, *arguments in self._lines("methods")}
        """The same for attributes that are called."""

    @functools.cached_property
    def members(self) -> frozenset[str]:
        """Attributes of values that some class has lost."""
        return frozenset(self._sections["members"].split())

    @functools.cached_property
    def inherited(self) -> frozenset[str]:
        """Members that any class has lost."""
        return frozenset(name.rpartition(".")[2] for name, owners in self.loud.items() if ALL in owners)

    @functools.cached_property
    def gone(self) -> dict[str, frozenset[str]]:
        """Module -> the names that it lost."""
        return {module: frozenset(names) for module, *names in self._lines("gone")}

    def _lines(self, section: str) -> Iterator[list[str]]:
        return (line.split() for line in self._sections[section].splitlines() if line)

    @functools.cached_property
    def asked(self) -> frozenset[str]:
        """Names below objects that some codemod has an eye on."""
        return frozenset(self._sections["asked"].split())

    @functools.cached_property
    def triggers(self) -> dict[str, Trigger]:
        """The codemods."""
        found: dict[str, Trigger] = {}
        for block in self._sections["codemods"].split("\n\n"):
            name, *lines = block.strip("\n").split("\n")
            fields: dict[str, list[str]] = {"word": [], "attribute": [], "string": [], "file": []}
            for line in lines:
                kind, _, value = line.partition(" ")
                fields[kind].append(value.replace("\\n", "\n").replace("\\r", "\r"))
            words, attributes = frozenset(fields["word"]), frozenset(fields["attribute"])
            found[name] = Trigger(words, attributes, tuple(fields["string"]), "".join(fields["file"]))
        return found

    def names(self, module: str) -> Mapping[str, Name]:
        """The quiet names of a module."""
        found = self._names.get(module)
        if found is None:
            found = self._names[module] = {}
            for since, *names in self._lines(module) if module in self._sections else ():
                numbers = _numbers(since)
                for name in names:
                    mark = name[-1] if name[-1] in "/:*" else ""
                    found[name[:-1] if mark else name] = Name(numbers, mark)
        return found

    def is_quiet(self, qualified: str, target: tuple[int, ...] = NEWEST, *, as_module: bool = False) -> bool:
        """Whether nothing is said of a dotted name because of its history, as far as the table tells."""
        parent, *rest = qualified.split(".")
        if parent not in self.roots:
            return True
        mark = MODULE
        for part in rest:
            name = self.names(parent).get(part)
            if name is None or name.since > target:
                return False
            mark = name.mark
            if mark not in (MODULE, OBJECT):
                return not as_module
            parent = f"{parent}.{part}"
        return mark == MODULE or not as_module

    def may_be_loaded(self, path: str) -> bool:
        """Whether a path is not that of a module which became an object."""
        module, _, name = path.rpartition(".")
        own = self.names(module).get(name)
        return own is None or own.mark != OBJECT

    def concerns(self, qualified: str) -> bool | None:
        """Whether anything may be said of a dotted name (see `Pack.concerns`); None if the table does not tell."""
        if qualified in self.asked or qualified in self.loud or holds_own_word(qualified.encode()):
            return True
        if not self.is_quiet(qualified):
            return None
        parent, _, name = qualified.rpartition(".")
        own = self.names(parent).get(name)
        return own is not None and own.mark == ASKED


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@functools.cache
def table() -> Table | None:
    """The table; None where it does not speak of all codemods: other packs are installed, or it was not written anew."""
    if packages() != (BUILTIN,):
        return None
    pack = import_module(BUILTIN)
    with open(os.path.join(os.path.dirname(pack.__file__ or ""), FILE), encoding="utf-8") as file:
        known = Table(file.read())
    words = frozenset().union(*(trigger.words for trigger in known.triggers.values()))
    names = {module.replace("_", "-") for module in pack.MODULES}
    return known if known.triggers.keys() == names and words == frozenset(pack.WORDS) else None


def concerns(qualified: str) -> bool | None:
    """Whether anything may be said of a dotted name; None if only the codemods can tell."""
    known = table()
    return None if known is None else known.concerns(qualified)


def may_be_asked(settings: Settings) -> bool:
    """Whether the table holds for a run: of changed behaviour nothing is said as long as the program's age is not known."""
    known = table()
    return known is not None and settings.origin is None


def is_quiet(
    data: bytes,
    target: tuple[int, ...] = NEWEST,
    *,
    module: str = "",
    is_package: bool = False,
    exports: Mapping[str, Mapping[str, str]] | None = None,
) -> bool:
    """Whether nothing can be said about a file; `exports` are the JAX objects that modules of the project pass on."""
    known = table()
    if known is None or _COOKIE.match(data) or data.startswith(b"\xef\xbb\xbf"):
        return False
    present = {name: trigger for name, trigger in known.triggers.items() if holds_word(data, trigger.words)}
    if any(trigger.file == ALWAYS for trigger in present.values()):
        return False
    try:
        text = data.decode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    seen = _Seen(module, is_package)
    seen.walk(tree)
    if "type:" in text:
        seen.strings += [part for comment in _TYPE_COMMENT.findall(text) for part in re.split(r"->|#", comment.replace("*", " "))]
    if _Judge(known, seen, target, present, exports or {}).is_quiet():
        return True
    hand_over(text, tree)
    return False


class _Called(NamedTuple):
    """A call of ``base.rest``, or what may be a partial of it, whose first argument (`skip`) is the function."""

    base: ast.AST
    rest: tuple[str, ...]
    node: ast.Call
    skip: int

    def arguments(self) -> frozenset[str]:
        """What is given, as `Codemod.only_with` writes it."""
        given = [(f"#{n}", value) for n, value in enumerate(self.node.args[self.skip :])]
        given += [(k.arg or "#*", k.value) for k in self.node.keywords]
        nothing = [f"{name}=None" for name, value in given if isinstance(value, ast.Constant) and value.value is None]
        return frozenset((*(name for name, _ in given), *nothing))

    def literal(self) -> str:
        """The first argument, where it is a plain string."""
        first = self.node.args[self.skip] if len(self.node.args) > self.skip else None
        return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""

    def method(self) -> Iterator[str]:
        """What is called, if it is an attribute."""
        if self.rest:
            yield self.rest[-1]
            if isinstance(self.base, ast.Subscript) and isinstance(self.base.value, ast.Attribute):
                yield f"{self.base.value.attr}[].{self.rest[-1]}"


class _Seen:
    """What one walk over a tree collects, without regard to scopes and order."""

    def __init__(self, module: str, is_package: bool) -> None:
        self._module = module
        self._is_package = is_package
        self.meanings: dict[str, set[str]] = {}
        """Name -> what imports give it."""
        self.aliases: list[tuple[str, str, tuple[str, ...]]] = []
        """``name = base.rest``."""
        self.modules: set[str] = set()
        """What is imported as a module."""
        self.stars: set[str] = set()
        self.taken: set[str] = set()
        """What ``from`` imports name."""
        self.chains: set[tuple[str, tuple[str, ...]]] = set()
        self.values: set[tuple[str, tuple[str, ...]]] = set()
        """Chains that are neither called nor decorate: what they mean may have another name elsewhere."""
        self.bases: set[tuple[str, tuple[str, ...]]] = set()
        """Chains that classes are derived from."""
        self._in_place: set[int] = set()
        """Nodes that are called, or decorate."""
        self.attributes: set[str] = set()
        self.loose: set[str] = set()
        """Attributes of what is no name."""
        self.calls: list[_Called] = []
        self.strings: list[str] = []
        self.keywords: set[str] = set()
        self.asked_in_turn: set[str] = set()
        """Names of which something is read under a name that is not spelled out."""
        self.code: list[ast.AST] = []
        """What is called with a string."""
        self.has_with = False

    def walk(self, tree: ast.AST) -> None:  # noqa: C901  # the hot loop: a call costs more than a branch
        """Visit every node once."""
        stack: list[ast.AST | None] = [tree]
        while stack:
            node = stack.pop()
            if node is None:  # a key of {**x}
                continue
            kind = node.__class__
            if kind is ast.Name:
                self._chain(node, (node.id, ()))  # type: ignore[attr-defined]
                continue
            if kind is ast.Attribute:
                base, rest = _chain(node)
                self.attributes.update(rest)
                if base.__class__ is ast.Name:
                    self._chain(node, (base.id, rest))
                else:
                    stack.append(base)
                    if base.__class__ is not ast.Constant:
                        self.loose.update(rest)
                continue
            if kind is ast.Constant:
                if node.value.__class__ is str:  # type: ignore[attr-defined]
                    self.strings.append(node.value)  # type: ignore[attr-defined]
                continue
            if kind is ast.Expr and node.value.__class__ is ast.Constant:  # type: ignore[attr-defined]
                stack += _examples(node.value.value)  # type: ignore[attr-defined]  # of a docstring
                continue
            special = _SPECIAL.get(kind)
            if special is not None:
                special(self, node)
            for name in CHILDREN[kind]:
                value = getattr(node, name)
                if value.__class__ is list:
                    stack += value
                elif value is not None:
                    stack.append(value)

    def _chain(self, node: ast.AST, chain: tuple[str, tuple[str, ...]]) -> None:
        self.chains.add(chain)
        if id(node) not in self._in_place:
            self.values.add(chain)

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._in_place.update(map(id, node.decorator_list))

    def class_(self, node: ast.ClassDef) -> None:
        """What the body of a class imports is a member of it, and what its bases have."""
        self.bases.update((base.id, rest) for base, rest in map(_chain, node.bases) if isinstance(base, ast.Name))
        imports = (s for s in node.body if isinstance(s, (ast.Import, ast.ImportFrom)))
        self.values.update((a.asname or a.name.partition(".")[0], ()) for s in imports for a in s.names)

    def call(self, node: ast.Call) -> None:
        self._in_place.add(id(node.func))
        self._called(node, node.func, 0)
        self.keywords.update(k.arg for k in node.keywords if k.arg)
        if node.args:
            self._called(node, node.args[0], 1)
        if node.args or any(k.arg in ("stmt", "source") for k in node.keywords):
            self.code.append(_chain(node.func)[0])
        if len(node.args) > 1 and isinstance(name := node.args[1], ast.Constant) and isinstance(name.value, str):
            base, rest = _chain(node.args[0])  # getattr(jax, "name")
            if isinstance(base, ast.Name):
                self.chains.add((base.id, (*rest, *name.value.split("."))))
        elif len(node.args) == 2 and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            base, _ = _chain(node.args[0])  # getattr(jax, name)
            self.asked_in_turn |= {base.id} if isinstance(base, ast.Name) else set()

    def _called(self, node: ast.Call, function: ast.expr, skip: int) -> None:
        base, rest = _chain(function)
        if rest or base.__class__ is ast.Name:
            self.calls.append(_Called(base, rest, node, skip))

    def assign(self, node: ast.Assign) -> None:
        self._bound(node.targets, node.value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bound([node.target], node.value)

    def _bound(self, targets: list[ast.expr], value: ast.expr) -> None:
        if isinstance(value, ast.IfExp):
            self._bound(targets, value.body)
            value = value.orelse
        base, rest = _chain(value)
        if isinstance(base, ast.Name):
            self.aliases += [(target.id, base.id, rest) for target in targets if isinstance(target, ast.Name)]

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            self.modules.add(alias.name)
            root = alias.name.partition(".")[0]
            self.meanings.setdefault(alias.asname or root, set()).add(alias.name if alias.asname else root)

    def import_from(self, node: ast.ImportFrom) -> None:
        module = self._absolute(node.module, node.level)
        self.modules.add(module)
        for alias in node.names:
            if alias.name == "*":
                self.stars.add(module)
                continue
            self.taken.add(f"{module}.{alias.name}")
            self.meanings.setdefault(alias.asname or alias.name, set()).add(f"{module}.{alias.name}")

    def _absolute(self, module: str | None, level: int) -> str:
        """The absolute name of a module, as `Source.absolute` has it."""
        if not level:
            return module or ""
        parts = self._module.split(".") if self._module else []
        if not self._is_package and parts:
            parts.pop()
        parts = parts[: len(parts) - (level - 1)] if level > 1 else parts
        base = ".".join(parts) or "." * level
        return f"{base}.{module}" if module else base

    def with_(self, node: ast.With) -> None:
        self.has_with = True


_SPECIAL: Mapping[type[ast.AST], Callable[..., None]] = {
    ast.With: _Seen.with_,
    ast.FunctionDef: _Seen.definition,
    ast.AsyncFunctionDef: _Seen.definition,
    ast.ClassDef: _Seen.class_,
    ast.Call: _Seen.call,
    ast.Assign: _Seen.assign,
    ast.AnnAssign: _Seen.annotated,
    ast.Import: _Seen.import_,
    ast.ImportFrom: _Seen.import_from,
}


def _examples(docstring: object) -> list[ast.AST]:
    """The code of doctests: nothing is said of the rest of a docstring."""
    if not isinstance(docstring, str) or ">>> " not in docstring:
        return []
    from jaxmigrate.quoted import examples

    return [example.tree for example in examples(docstring)]


def _chain(node: ast.AST) -> tuple[ast.AST, tuple[str, ...]]:
    """``a.b.c`` -> the node of ``a``, and ``b``, ``c``."""
    if node.__class__ is not ast.Attribute:
        return node, ()
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return node, tuple(reversed(names))


class _Judge:
    """Whether anything may be said of what was seen."""

    def __init__(
        self,
        known: Table,
        seen: _Seen,
        target: tuple[int, ...],
        present: Mapping[str, Trigger],
        exports: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.known = known
        self.seen = seen
        self.target = target
        self.present = present
        self.exports = exports
        self._exporting = {_root(module) for module in exports}
        self.meanings = {name: {self._through(q) for q in meant} for name, meant in seen.meanings.items()}
        self._verdicts: dict[str, bool] = {}

    def is_quiet(self) -> bool:
        return (
            not (self.seen.has_with and any(trigger.file == WITH for trigger in self.present.values()))
            and self._attributes()
            and self._imports()
            and self._aliases()
            and all(self._means_nothing(base, rest) for base, rest in self.seen.chains)
            and self._members()
            and self._calls()
            and all(map(self._string, self.seen.strings))
            and not self._goes_roundabout()
            and not self._is_carried()
        )

    def _is_carried(self) -> bool:
        """Whether something lost may be reached through a value as in `jaxmigrate.outcomes`: a module, or a function."""
        known, seen = self.known, self.seen
        values = {self._through(".".join((q, *rest))) for base, rest in seen.values for q in self.meanings.get(base, ())}
        modules = {m for m in known.gone if any(m == v or m.startswith(f"{v}.") for v in values)}
        if not modules and values.isdisjoint(known.calls):
            return False
        words = {*seen.attributes, *seen.keywords, *(part for text in seen.strings for part in text.split("."))}
        if any(not known.gone[module].isdisjoint(words) for module in modules):
            return True
        reached = (f for f in known.calls if f in values or (_owner(f) in modules and f.rpartition(".")[2] in words))
        return any(not known.calls[function].isdisjoint(seen.keywords) for function in reached)

    def _goes_roundabout(self) -> bool:
        """Whether names may be reached as in `jaxmigrate.roundabout`: by paths, in strings that are run, by calls handed on."""
        words, roots = frozenset(self._words()), self.known.roots
        may_load = not words.isdisjoint(_LOADERS) or any("lazy" in word.lower() for word in words)
        if may_load and any(_root(text.replace(":", ".")) in roots for text in self.seen.strings):
            return True
        if any(map(self._may_run, self.seen.code)):
            return True
        if "-c" in self.seen.strings and any(root in text for text in self.seen.strings for root in roots):
            return True
        if any(_root(q) in roots for name in self.seen.asked_in_turn for q in self.meanings.get(name, ())):
            return True
        handed_on = (speaking for called in self.seen.calls if called.skip for speaking in self._speaking(called))
        given = {*self.seen.keywords, *self.seen.strings}
        if any(not speaking.isdisjoint(given) for speaking in handed_on):
            return True
        meant = {".".join((q, *rest)) for base, rest in self.seen.chains for q in self.meanings.get(base, ())}
        by_name = {f"{root}.config.{how}" for root in roots for how in ("read", "values")}
        absl = tuple(f"{_ABSL}{root}_" for root in roots)
        return not meant.isdisjoint(by_name) or any(q.startswith(absl) for q in meant)

    def _attributes(self) -> bool:
        return all(trigger.attributes.isdisjoint(self.seen.attributes) for trigger in self.present.values())

    def _imports(self) -> bool:
        known, seen = self.known, self.seen
        spoken = known.roots | known.loud_roots
        if seen.stars and (self.exports or any(_root(module) in spoken for module in seen.stars)):
            return False
        modules = all(self._is_quiet(name) and known.is_quiet(name, self.target, as_module=True) for name in seen.modules)
        return modules and all(self._is_quiet(q) and self._is_quiet(self._through(q)) for q in seen.taken)

    def _aliases(self) -> bool:
        """Add what names get by assignment; False if there is no end to it."""
        for _ in range(_ROUNDS):
            before = sum(map(len, self.meanings.values()))
            for name, base, rest in self.seen.aliases:
                if base in self.meanings:
                    found = {self._through(".".join((q, *rest))) for q in self.meanings[base]}
                    self.meanings.setdefault(name, set()).update(found)
            if sum(map(len, self.meanings.values())) == before:
                return True
        return False

    def _means_nothing(self, base: str, rest: tuple[str, ...]) -> bool:
        """Whether all meanings of a chain of names are quiet."""
        meant = self.meanings.get(base)
        if meant is None:
            return True
        if not self.exports:
            return all(self._is_quiet(".".join((q, *rest))) for q in meant)
        return all(self._is_quiet(self._through(".".join((q, *rest[:count])))) for q in meant for count in range(len(rest) + 1))

    def _is_quiet(self, qualified: str) -> bool:
        verdict = self._verdicts.get(qualified)
        if verdict is None:
            loud = any(self._speaks_of(name) for name in _prefixes(qualified))
            verdict = self._verdicts[qualified] = not loud and self.known.is_quiet(qualified, self.target)
        return verdict

    def _speaks_of(self, name: str) -> bool:
        """Whether a codemod may speak of this very name; what comes through other modules needs no word in this file."""
        owners = self.known.loud.get(name)
        return owners is not None and (bool(self.exports) or ALL in owners or not owners.isdisjoint(self.present))

    def _members(self) -> bool:
        """Whether no value (a name that is not merely an imported module) is asked for what some class has lost."""
        members = self.known.members
        if not members.isdisjoint(self.seen.loose):
            return False
        bases = {_root(q) for base, _ in self.seen.bases for q in self.meanings.get(base, ())}
        if not bases.isdisjoint(self.known.roots) and not self.known.inherited.isdisjoint(self.seen.attributes):
            return False
        assigned = {name for name, _, _ in self.seen.aliases}
        return not any(
            not members.isdisjoint(rest) and (base not in self.meanings or base in assigned) for base, rest in self.seen.chains
        )

    def _calls(self) -> bool:
        given = {*self.seen.keywords, *self.seen.strings}
        return not any(
            self._is_odd(speaking, called.literal())
            or not speaking.isdisjoint(called.arguments())
            or ("#*" in called.arguments() and not speaking.isdisjoint(given))
            for called in self.seen.calls
            for speaking in self._speaking(called)
        ) and not any(map(self._refused, self.seen.calls))

    def _refused(self, called: _Called) -> bool:
        """Whether a function that is called, or of which a partial is made, may refuse the arguments."""
        takes = self.known.takes
        names = [name for name in self._meant(called.base, called.rest) if name in takes] if takes else []
        if not names or (called.skip and PARTIALS.isdisjoint(self._meant(*_chain(called.node.func)))):
            return False
        found = given(called.node, partial=bool(called.skip))
        return found is not None and any(signature(takes[name]).refusal(found) for name in names)

    def _meant(self, base: ast.AST, rest: tuple[str, ...]) -> Iterator[str]:
        """All that a chain may mean."""
        for meant in self.meanings.get(base.id, ()) if isinstance(base, ast.Name) else ():
            yield self._through(".".join((meant, *rest)))

    def _speaking(self, called: _Called) -> Iterator[frozenset[str]]:
        """For each thing that may be called, the arguments that matter."""
        calls, methods = self.known.calls, self.known.methods
        yield from (methods[name] for name in called.method() if name in methods)
        yield from (calls[name] for name in self._meant(called.base, called.rest) if name in calls)

    def _is_odd(self, speaking: frozenset[str], literal: str) -> bool:
        """Whether the first argument is no literal that it may be."""
        sections = (mark[1:] for mark in speaking if mark[0] == "~")
        allowed = (self.known.names(section).get(literal) for section in sections)
        return any(name is None or name.since > self.target for name in allowed)

    def _string(self, text: str) -> bool:
        """Whether nothing is said of a string: as an annotation, as a path, or for a word in it."""
        if any(word in text for trigger in self.present.values() for word in trigger.strings):
            return False
        if not text.isascii():
            import unicodedata

            text = unicodedata.normalize("NFKC", text)  # as the parser does
        roots = self.known.roots | self.known.loud_roots
        for match in _CHAIN.findall(text):
            base, *rest = (part.strip() for part in match.split("."))
            if base in roots and match == text and not (self.known.may_be_loaded(text) and self._is_quiet(text)):
                return False
            if base in self.meanings and (")" in text or not self._means_nothing(base, tuple(rest))) and _may_be_code(text):
                return False
        return not (text[:1] == "." and text[1:2].isidentifier() and "import_module" in self._words())

    def _words(self) -> set[str]:
        """The words of the code that may tell of a way round, and the last parts of what is imported."""
        taken = (qualified.rpartition(".")[2] for qualified in self.seen.taken)
        return {*self.seen.attributes, *(rest[-1] if rest else base for base, rest in self.seen.chains), *self.meanings, *taken}

    def _may_run(self, callee: ast.AST) -> bool:
        """Whether a callee may run the string it is given."""
        name = callee.id if isinstance(callee, ast.Name) else ""
        return name in _RUNNERS or any(_root(q) in _RUNNING_MODULES for q in self.meanings.get(name, ()))

    def _through(self, qualified: str) -> str:
        """What a name of a module of the project is bound to, as `Source._through_index` has it."""
        parts = qualified.split(".") if _root(qualified) in self._exporting else ()
        for count in range(len(parts) - 1, 0, -1):
            names = self.exports.get(".".join(parts[:count]))
            if names is not None and parts[count] in names:
                return ".".join((names[parts[count]], *parts[count + 1 :]))
        return qualified


def _may_be_code(text: str) -> bool:
    """Whether a string may be an annotation; most are prose."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return True
    return True


def _owner(name: str) -> str:
    return name.rpartition(".")[0]


def _root(name: str) -> str:
    return name.partition(".")[0]


def _prefixes(name: str) -> Iterator[str]:
    """``a.b.c`` -> ``a``, ``a.b``, ``a.b.c``."""
    end = name.find(".")
    while end >= 0:
        yield name[:end]
        end = name.find(".", end + 1)
    yield name
