"""What the modules of a tree pass to each other: the first pass of a run, by regular expressions over the files with hits.

It knows too little rather than too much of what a module exports (a name bound in two ways is left out) and too much rather than
too little of what others take from it: the first decides what is rewritten, the second what is kept.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from jaxmigrate.discovery import PYTHON, discover, git_root, kind_of

if TYPE_CHECKING:
    from jaxmigrate.model import ProjectIndex

# All of these are asked of texts that begin with a line feed (see `_lines`): a pattern that begins with a literal is searched for
# many times as fast as one that begins with ``^``.
_FROM = re.compile(rb"\n([ \t]*)(?:try:[ \t]*)?from[ \t]+([.\w]+)[ \t]+import[ \t]*(\((?:[^)#]|#[^\n]*)*\)|(?:[^\n;#\\]|\\\n)*)")
_IMPORT = re.compile(rb"\n([ \t]*)import[ \t]+([^\n;#]*)")
_ALIAS = re.compile(rb"\n([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=[ \t]*([A-Za-z_][\w.]*)[ \t]*(?:#.*)?$", re.MULTILINE)
_TOP_ALIAS = re.compile(rb"\n([A-Za-z_]\w*)[ \t]*=[ \t]*([A-Za-z_]\w*)\.?([\w.]*)[ \t]*(?:#.*)?$", re.MULTILINE)
_BOUND = re.compile(
    rb"\n[ \t]*(?:(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)"
    rb"|(?:(?:if|elif|else|try|except|with|for)\b[^\n:]*:[ \t]*)?([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=))"
)
_PATCH = re.compile(rb"\n[ \t]*([A-Za-z_]\w*(?:\.\w+)+)[ \t]*=(?!=)")
_SETATTR = re.compile(rb"\bsetattr\(\s*([\w.]+)\s*,\s*['\"](\w+)['\"]")
_VALUE = re.compile(rb"[ \t,]*([A-Za-z_]\w*)[\w.]*[ \t]*(?:[)#\n]|\Z)")
"""A dotted name that is all of what is given."""
_ALL = re.compile(rb"import[ \t]*\*")
_LOADS = (b"patch", b"setattr", b"import_module", b"__import__", b"sys.modules", b"resolve_name", b"locate")
"""What reaches a module, or a member of one, by a path in a string."""
_DOTTED = re.compile(rb"""['"]([A-Za-z_]\w*(?:\.\w+)*)['"]""")
_WORD = re.compile(rb"\w+")
_COMMENT = re.compile(rb"#[^\n]*")
_NEVER_OURS = sys.stdlib_module_names | {"jax", "jaxlib", "numpy", "scipy"}
_PASSED_ON = {"jax", *(f"jax.{name}" for name in ("numpy", "lax", "random", "nn", "scipy", "tree_util", "core", "experimental"))}
"""Modules that a project may hand to its own modules from one place, to choose between libraries say."""
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_SOURCE_FOLDERS = ("src", "lib", "python")
_FAR = 500
"""Imports that are followed from one file."""
_ROUNDS = 5
"""A name is followed through at most this many modules."""


class ModuleNames:
    """Dotted names of files, found by the chain of ``__init__`` files above them; looks at each folder once."""

    def __init__(self) -> None:
        self._packages: dict[str, tuple[str, ...]] = {}

    def of(self, path: str) -> tuple[str, bool]:
        """The dotted name of the module in `path`, and whether it is a package."""
        folder, name = os.path.split(os.path.abspath(path))
        stem = name.partition(".")[0]
        package = self._package(folder)
        if stem == "__init__":
            return ".".join(package) or os.path.basename(folder), True
        return ".".join((*package, stem)), False

    def root(self, path: str) -> str:
        """The folder that holds the outermost package of `path`."""
        folder = os.path.dirname(os.path.abspath(path))
        for _ in self._package(folder):
            folder = os.path.dirname(folder)
        return folder

    def _package(self, folder: str) -> tuple[str, ...]:
        known = self._packages.get(folder)
        if known is None:
            inside = any(os.path.exists(os.path.join(folder, name)) for name in ("__init__.py", "__init__.pyi"))
            parent, base = os.path.split(folder)
            known = (*self._package(parent), base) if inside and base else ()
            if known in (("jax",), ("jaxlib",)):
                # A folder of that name in a package without ``__init__`` is not JAX, and its parts are no JAX API.
                known = (os.path.basename(parent), base)
            self._packages[folder] = known
        return known


def module_name(path: str) -> tuple[str, bool]:
    """The dotted name of the module in `path`, and whether it is a package (``__init__``)."""
    return ModuleNames().of(path)


class _Taken(NamedTuple):
    """An import that takes `name` (``*`` for all) from `module`."""

    module: str
    name: str


Read = Callable[[str], bytes]


def build_index(files: Iterable[tuple[str, bytes]]) -> ProjectIndex:
    """The index of a tree, given path and content of its files."""
    contents = {os.path.abspath(path): data for path, data in files}
    indexer = Indexer(contents.__getitem__, lambda qualified: True)
    for path, data in contents.items():
        indexer.add(path, data)
    return indexer.finish()


class Indexer:
    """Takes the files of a tree one by one and says in the end how they hang together.

    It keeps names, not contents: the few files from which others take something are read once more, in the end.
    """

    def __init__(self, read: Read, matters: Callable[[bytes], bool]) -> None:
        """`matters` tells of a qualified name whether it may be migrated."""
        self.names = ModuleNames()
        self._read = read
        self._matters = matters
        self._paths: dict[str, str] = {}
        self._by_tail: dict[str, list[str]] = {}
        self._meant: dict[str, list[str]] = {}
        """The modules that an import may mean, as far as it was asked."""
        self._ambiguous: set[str] = set()
        self._legacy: dict[str, set[str]] = {}
        """Module -> names of its top level that may be migrated."""
        self._wanted: dict[bytes, set[bytes]] = {}
        """The same by the last part of the module's name."""
        self._passed: dict[str, list[tuple[str, str, str]]] = {}
        """Module -> what it takes from others at its top level: local name, their module, their name."""
        self._taken: set[_Taken] = set()
        self._aliases: dict[tuple[str, str], list[str]] = {}
        self._loading: list[str] = []
        """Files that may reach modules by a path in a string."""
        self._followed: set[str] = set()
        self._patched: set[str] = set()
        """Names of the library that some module assigns."""
        self._replaced: set[str] = set()
        """Those that get something which is not of the library."""

    def add(self, path: str, data: bytes) -> None:
        """Learn what the file takes from others, and what others may take from it."""
        data = _lines(data)
        imports = self._consume(path, data)
        if path.endswith(".pyi"):
            return
        name, _ = self.names.of(path)
        if name not in self._paths:
            self._by_tail.setdefault(_tail(name), []).append(name)
            self._meant.clear()
        path = os.path.abspath(path)
        self._followed.add(path)
        if self._paths.setdefault(name, path) != path:
            self._ambiguous.add(name)
        named = {i.local: i.qualified for i in imports if i.local} | {"jax": "jax"}
        named |= {alias: _join(named[first], rest) for alias, first, rest in _top_aliases(data) if first in named}
        self._note(name, {n for n, q in named.items() if q.startswith("jax.") and self._matters(_bytes(q))})
        self._note(name, set(_handed_on(data, imports)))
        patches = [patch for patch in _patches(data, named) if patch[0].startswith("jax.")]
        self._patched.update(qualified for qualified, _ in patches)
        self._replaced.update(qualified for qualified, is_ours in patches if not is_ours)
        self._passed[name] = [
            (local, *qualified.rpartition(".")[::2]) for local, qualified in named.items() if _root(qualified) not in _NEVER_OURS
        ] + [("*", i.module, "*") for i in imports if i.name == "*"]

    def _note(self, module: str, names: set[str]) -> None:
        if names:
            self._legacy.setdefault(module, set()).update(names)
            self._wanted.setdefault(_bytes(_tail(module)), set()).update(map(_bytes, names))

    def _consume(self, path: str, data: bytes) -> list[_Import]:
        imports = list(_imports(data, *self.names.of(path)))
        for item in imports:
            if _root(item.module) not in _NEVER_OURS:
                if item.name:
                    self._taken.add(_Taken(item.module, item.name))
                if item.name != "*":
                    self._aliases.setdefault((item.local or item.module, item.qualified), []).append(path)
        if _loads(data):
            self._loading.append(path)
        return imports

    def follow(self, path: str, data: bytes) -> None:
        """Learn what the project's modules define from which the file takes something: it may be all that a run is given."""
        finder = _Finder(self.names.root(path))
        todo = [(item.module, item.name) for item in _imports(_lines(data), *self.names.of(path))]
        seen = set(todo)
        while todo and len(seen) < _FAR:
            module, name = todo.pop()
            source = finder.find(module)
            if source is not None:
                onward = self._onward(source, module, name) - seen
                seen |= onward
                todo += onward

    def _onward(self, source: str, module: str, name: str) -> set[tuple[str, str]]:
        """Learn from the module in `source`, and say where it has `name` from (everything, if there is no name)."""
        data = self._read(source)
        imports = [i for i in _imports(_lines(data), *self.names.of(source)) if not name or i.local == name or i.name == "*"]
        if source not in self._followed and (imports or self._matters(data)):
            self.add(source, data)
        onward = {(item.module, name if item.name == "*" else item.name) for item in imports}
        return onward | {(f"{module}.{name}", "")} if name else onward

    @property
    def has_found(self) -> bool:
        """Whether there is anything that may be migrated."""
        return bool(self._legacy)

    def of_project(self, hits: Iterable[str], others: Iterable[str]) -> tuple[ProjectIndex | None, list[str]]:
        """The index (None if it would be empty), and which files take what may be migrated from a hit.

        They take it directly or through each other, and are looked for among `others` and in the whole projects of the hits.
        """
        takers: list[str] = []
        known = set(map(os.path.abspath, hits))
        around = set(map(os.path.abspath, others))
        for _ in range(_ROUNDS):
            self._spread()
            before = sum(map(len, self._legacy.values()))
            _add_surroundings(around, sorted(known.intersection(self._paths[module] for module in self._legacy)), self.names)
            for path in sorted(around - known):
                data = self._read(path)
                if self._may_take(data) and self._takes(path, _lines(data)):
                    known.add(path)
                    takers.append(path)
                    self.add(path, data)
            self._spread()
            if sum(map(len, self._legacy.values())) == before:
                break
        learned = self._learned()
        if not any(learned):
            return None, takers
        from jaxmigrate.model import ProjectIndex

        return ProjectIndex(*learned), takers

    def _spread(self) -> None:
        """Names that a module takes from another one and passes on may be migrated too."""
        changed = True
        while changed:
            changed = False
            for module, passed in self._passed.items():
                own = self._legacy.get(module, set())
                for local, source, name in passed:
                    theirs = self._legacy_of(source)
                    new = (theirs if name == "*" else {local} if name in theirs else set()) - own
                    if new:
                        self._note(module, new)
                        own, changed = self._legacy[module], True

    def _modules(self, imported: str) -> list[str]:
        """The modules of the tree that an import of this name may mean."""
        found = self._meant.get(imported)
        if found is None:
            found = [module for module in self._by_tail.get(_tail(imported), ()) if _may_be(imported, module)]
            self._meant[imported] = found
        return found

    def _legacy_of(self, imported: str) -> set[str]:
        return {name for module in self._modules(imported) for name in self._legacy.get(module, ())}

    def _may_take(self, data: bytes) -> bool:
        """Whether the file may take a name that may be migrated; cheap, since it is asked of whole projects."""
        sources = self._wanted.keys() & _imported_words(data)
        if sources and _ALL.search(data):
            return True
        if _loads(data):
            sources |= self._wanted.keys() & {word for path in _DOTTED.findall(data) for word in path.split(b".")}
        return any(name in data for source in sources for name in self._wanted[source])

    def _takes(self, path: str, data: bytes) -> bool:
        """Whether the file does take one."""
        for item in _imports(data, *self.names.of(path)):
            names = self._legacy_of(item.module) if item.name else set()
            if item.name in names or (item.name == "*" and names):
                return True
            local = item.local or item.module
            if any(_reads(data, local, name) for name in self._legacy_of(item.qualified)):
                return True
        return any(_bytes(name) in data for module in self._named_in(data) for name in self._legacy_of(module))

    def _named_in(self, data: bytes) -> Iterator[str]:
        """Modules of the tree whose path stands in a string, alone or before the name of a member."""
        for path in dict.fromkeys(_DOTTED.findall(data)):
            text = path.decode("utf-8", "replace")
            yield from (
                name for name in (text, text.rpartition(".")[0]) if _root(text) not in _NEVER_OURS and self._modules(name)
            )

    def finish(self) -> ProjectIndex:
        """The index of everything that was added."""
        from jaxmigrate.model import ProjectIndex

        return ProjectIndex(*self._learned())

    def _learned(self) -> tuple[dict[str, dict[str, str]], dict[str, frozenset[str]], frozenset[str], frozenset[str]]:
        """What makes up the index."""
        self._take_attributes()
        exports = self._exports()
        consumed: dict[str, set[str]] = {}
        for taken in self._taken:
            for module in self._modules(taken.module):
                all_names = {*exports.get(module, ()), *self._legacy.get(module, ())}
                consumed.setdefault(module, set()).update({*all_names, "*"} if taken.name == "*" else (taken.name,))
        taken_names = {module: frozenset(names) for module, names in consumed.items() if names}
        return exports, taken_names, frozenset(self._patched), frozenset(self._replaced)

    def _take_attributes(self) -> None:
        """``compat.DeviceArray`` takes a name as ``from compat import DeviceArray`` does, and ``patch("compat.DeviceArray")``."""
        for (local, module), paths in self._aliases.items():
            for name in self._legacy_of(module):
                if any(_reads(self._read(path), local, name) for path in paths):
                    self._taken.add(_Taken(module, name))
        for path in self._loading:
            data = self._read(path)
            for module in self._named_in(data):
                self._taken |= {_Taken(module, name) for name in self._legacy_of(module) if _bytes(name) in data}

    def _exports(self) -> dict[str, dict[str, str]]:
        """Module -> name -> qualified name of the JAX object behind it, of modules others import from, followed through them."""
        imported = {name for taken in self._taken for name in (taken.module, f"{taken.module}.{taken.name}")}
        imported |= {module for _, module in self._aliases}
        modules = {
            name: _module(self._read(path), *self.names.of(path)) for name, path in self._paths.items() if name in imported
        }
        found = {name: _jax_only(module.binds) for name, module in modules.items() if name not in self._ambiguous}
        for _ in range(_ROUNDS):
            before = sum(map(len, found.values()))
            for name in found:
                _follow(modules[name], name, found)
            if sum(map(len, found.values())) == before:
                break
        return {name: names for name, names in found.items() if names}


class _Finder:
    """Where the modules are that a file may import: beside its package, or in a folder above, up to the top of the checkout."""

    def __init__(self, root: str) -> None:
        top = git_root(root) or root
        self._folders = [root]
        while self._folders[-1] != top and os.path.dirname(self._folders[-1]) != self._folders[-1]:
            self._folders.append(os.path.dirname(self._folders[-1]))
        self._folders += [os.path.join(folder, name) for folder in self._folders[:] for name in _SOURCE_FOLDERS]

    def find(self, module: str) -> str | None:
        """The file of a module, None for one that is installed elsewhere."""
        if _root(module) in _NEVER_OURS:
            return None
        relative = os.path.join(*module.split("."))
        for folder in self._folders:
            for name in (f"{relative}.py", os.path.join(relative, "__init__.py")):
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    return path
        return None


def _imported_words(data: bytes) -> set[bytes]:
    """Every word of the import statements, and some more."""
    words: set[bytes] = set()
    for before, after in itertools.pairwise(data.split(b"import")):
        names = after[: after.find(b")")] if after[:2].strip() == b"(" else after[:200]
        words.update(_WORD.findall(before[before.rfind(b"\n") + 1 :] + b" " + names))
    return words


class _Module(NamedTuple):
    """What a module binds at its top level: name -> qualified name of what it is; and the modules it takes everything from."""

    binds: dict[str, str]
    stars: tuple[str, ...]


def _module(data: bytes, name: str, is_package: bool) -> _Module:
    data = _lines(data)
    imports = list(_imports(data, name, is_package))
    return _Module(_bindings(data, imports), tuple(i.module for i in imports if i.name == "*" and not i.indented))


def _follow(module: _Module, name: str, found: dict[str, dict[str, str]]) -> None:
    """Add what the module passes on from other modules of the tree."""
    own = found[name]
    for star in module.stars:
        for public, qualified in found.get(star, {}).items():
            if public not in module.binds and not public.startswith("_"):
                own.setdefault(public, qualified)
    for local, qualified in module.binds.items():
        source, _, leaf = qualified.rpartition(".")
        if local not in own and leaf in found.get(source, ()):
            own[local] = found[source][leaf]


def _handed_on(data: bytes, imports: list[_Import]) -> Iterator[str]:
    """Modules of the library that a module imports without using them itself: others take them from there."""
    found = {i.local or i.module for i in imports if i.qualified in _PASSED_ON and not i.indented}
    rest = _IMPORT.sub(b"", _FROM.sub(b"", data)) if found else b""
    return (name for name in found if name.isidentifier() and _bytes(f"{name}.") not in rest)


def _lines(data: bytes) -> bytes:
    """The same text with plain line feeds, one before each line."""
    return b"\n" + (data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data)


def _loads(data: bytes) -> bool:
    return any(word in data for word in _LOADS)


def _tail(name: str) -> str:
    return name.rpartition(".")[2]


def _bytes(name: str) -> bytes:
    """As it stands in a file; names of files may hold anything."""
    return name.encode("utf-8", "surrogateescape")


def _root(name: str) -> str:
    return name.partition(".")[0]


def _join(name: str, rest: str) -> str:
    return f"{name}.{rest}" if rest else name


def _patches(data: bytes, named: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """The qualified names that ``jax.core.x = ...`` and ``setattr(jax.core, "x", ...)`` give a value; whether one of JAX."""
    found = [(match[1], match.end()) for match in _PATCH.finditer(data)]
    if b"setattr(" in data:
        found += [(match[1] + b"." + match[2], match.end()) for match in _SETATTR.finditer(data)]
    for name, end in found:
        first, _, inner = name.decode().partition(".")
        if first in named:
            value = _VALUE.match(data, end)
            yield f"{named[first]}.{inner}", value is not None and _root(named.get(value[1].decode(), "")) == "jax"


def _reads(data: bytes, local: str, name: str) -> bool:
    """Whether a file reads `name` of what it calls `local`, or names it behind that: ``patch.object(local, "name")``."""
    return any(_bytes(text) in data for text in (f"{local}.{name}", f'{local}, "{name}"', f"{local}, '{name}'"))


def _top_aliases(data: bytes) -> Iterator[tuple[str, str, str]]:
    """``A = b.c.D`` at the top level -> (A, b, c.D)."""
    for name, first, rest in _TOP_ALIAS.findall(data):
        yield name.decode(), first.decode(), rest.decode()


def _add_surroundings(around: set[str], exporters: Iterable[str], names: ModuleNames) -> None:
    """Add the Python files that may import from one of `exporters`: those of its checkout, project, package or folder."""
    listings: dict[tuple[str, bool], set[str]] = {}
    listed: set[str] = set()
    for path in exporters:
        for top in _tops(path, names.root(path)) if path not in listed else ():
            if top not in listings:
                listings[top] = _python_files(*top)
            if path in listings[top]:
                listed |= listings[top]
                break
    around |= listed


def _tops(path: str, root: str) -> Iterator[tuple[str, bool]]:
    """Folders to look in for who imports from `path`, widest first, and whether below them too; `root` holds its package.

    A checkout that ignores the file is not its own.
    """
    top = git_root(root)
    if top is not None:
        yield top, True
    parent, name = os.path.split(root)
    for folder in (root, parent) if name in _SOURCE_FOLDERS else (root,):
        if any(os.path.exists(os.path.join(folder, mark)) for mark in _PROJECT_FILES):
            yield folder, True
    inside = os.path.relpath(path, root).split(os.sep)
    yield (os.path.join(root, inside[0]), True) if len(inside) > 1 else (root, False)


def _python_files(top: str, recursive: bool) -> set[str]:
    if recursive:
        return {path for path, kind in discover([top]).files if kind == PYTHON}
    return {os.path.join(top, name) for name in os.listdir(top) if kind_of(name) == PYTHON}


def _may_be(imported: str, module: str) -> bool:
    """Whether the import may mean the module: folders without ``__init__`` and changed search paths shorten either name."""
    return f".{imported}".endswith(f".{module}") or f".{module}".endswith(f".{imported}")


def _jax_only(binds: dict[str, str]) -> dict[str, str]:
    return {name: qualified for name, qualified in binds.items() if qualified.partition(".")[0] == "jax"}


class _Import(NamedTuple):
    """One name of an import statement; `name` is empty for ``import module``, `local` for one without ``as``."""

    module: str
    name: str
    local: str
    indented: bool

    @property
    def qualified(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def _imports(data: bytes, module: str, is_package: bool) -> Iterator[_Import]:
    for indent, source, names in _FROM.findall(data):
        base = _absolute(source.decode(), module, is_package)
        if base is not None:
            for name, local in _aliases(names):
                yield _Import(base, name, local or name, bool(indent))
    for indent, names in _IMPORT.findall(data):
        for name, local in _aliases(names):
            yield _Import(name, "", local, bool(indent))


def _aliases(names: bytes) -> Iterator[tuple[str, str]]:
    """``a, b as c`` -> (a, ""), (b, c)."""
    for item in _COMMENT.sub(b"", names).strip(b"() \t\n").split(b","):
        words = item.replace(b"\\", b" ").decode("utf-8", "replace").split()
        if len(words) == 1:
            yield words[0], ""
        elif len(words) == 3 and words[1] == "as":
            yield words[0], words[2]


def _absolute(source: str, module: str, is_package: bool) -> str | None:
    """The absolute name of what ``from source import`` names in `module`; None beyond the top."""
    relative = source.lstrip(".")
    level = len(source) - len(relative)
    if not level:
        return source
    parts = module.split(".")
    keep = len(parts) - level + (1 if is_package else 0)
    if keep < 0 or (keep == 0 and not relative):
        return None
    return ".".join([*parts[:keep], *([relative] if relative else [])])


def _bindings(data: bytes, imports: list[_Import]) -> dict[str, str]:
    """Names with exactly one meaning at the top level of a module, and that meaning."""
    binds: dict[str, str] = {}
    doubtful: set[str] = set()
    modules = {"jax": "jax"} if any(i.module == "jax" or i.module.startswith("jax.") for i in imports if not i.name) else {}
    for item in imports:
        if item.name == "*" or not item.local:
            continue
        if item.indented or binds.get(item.local, item.qualified) != item.qualified:
            doubtful.add(item.local)
        binds[item.local] = item.qualified
    counts: dict[str, int] = {}
    for defined, assigned in _BOUND.findall(data):
        name = (defined or assigned).decode()
        counts[name] = counts.get(name, 0) + 1
    aliases = {name.decode(): value.decode() for name, value in _ALIAS.findall(data)}
    for name in counts:
        value = aliases.get(name)
        if name in binds or counts[name] > 1 or value is None:
            doubtful.add(name)
            continue
        first, _, rest = value.partition(".")
        known = binds.get(first) or modules.get(first)
        if known and first not in doubtful:
            binds[name] = f"{known}.{rest}" if rest else known
    whole = [i.indented for i in imports if not i.name and not i.local and i.module.partition(".")[0] == "jax"]
    if whole and not any(whole) and "jax" not in counts:
        binds.setdefault("jax", "jax")  # others may take the library itself from here
    return {name: qualified for name, qualified in binds.items() if name not in doubtful}
