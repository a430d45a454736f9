"""What is to be judged: two versions of a tree, the places in which they differ, and to which edit each place belongs."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from jaxmigrate import runner
from jaxmigrate.discovery import PYTHON, discover, kind_of
from jaxmigrate.document import Document
from jaxmigrate.model import FileResult, Finding, Outcome, Position, Settings, Status
from jaxmigrate.verify.copy import is_loose, listed
from jaxmigrate.verify.differ import TreeError, sites, statement_at
from jaxmigrate.verify.model import Edit, Kind, Plan, Program, Site, Span

_MAX_BYTES = 5_000_000


class PlanError(ValueError):
    """The two versions cannot be put beside each other; the message says why."""


def plan_texts(before: str | bytes, after: str | bytes, path: str = "program.py") -> Plan:
    """The plan of two versions of one file."""
    return _against({path: _bytes(before)}, {path: _bytes(after)})


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8")


# Our own edits


def plan_rewrite(
    root: str, settings: Settings, *, paths: Sequence[str] = (), exclude: Sequence[str] = (), base: str = "."
) -> Plan:
    """Rewrite the tree in memory; each applied edit gets the places that differ where it was made.

    Only files below `paths` are rewritten, if there are any; `exclude` are patterns relative to `base`.
    """
    top = os.path.realpath(root)
    found = discover([os.path.realpath(path) for path in paths] or _code(top), tuple(exclude), base)
    problems = [(path, reason) for path, reason in found.errors]
    survey = runner.look(found.files, named=found.named if paths else frozenset())
    builder = _Builder()
    for result in runner.process(survey, settings):
        path = _relative(result.path, top)
        if path is None:
            if result.status is Status.REWRITTEN:
                problems.append((result.path, "is not part of the tree of the program: its edits are not verified"))
        elif result.status is Status.FAILED:
            problems.append((path, result.reason))
        elif result.status is Status.REWRITTEN:
            builder.add(path, result)
    plan = builder.plan()
    # Imports that no edit is about need not be recorded: whatever uses them is.
    return replace(plan, sites=_needed(plan, plan.edits), problems=(*problems, *plan.problems))


def _code(top: str) -> list[str]:
    """What to rewrite of a tree: all of it, but of a folder that may be anything only the files that are copied."""
    if not is_loose(top):
        return [top]
    return [os.path.join(top, name) for name in sorted(listed(top)) if kind_of(os.path.basename(name)) == PYTHON]


def _relative(path: str, top: str) -> str | None:
    relative = os.path.relpath(os.path.realpath(path), top)
    return None if relative.split(os.sep, 1)[0] == os.pardir else relative.replace(os.sep, "/")


class _Builder:
    """Collects files into a plan."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.edits: list[Edit] = []
        self.before: dict[str, bytes] = {}
        self.after: dict[str, bytes] = {}
        self.problems: list[tuple[str, str]] = []

    def differing(self, path: str, before: bytes, after: bytes) -> list[Site]:
        """Take a file in, and return its sites; none if it cannot be compared."""
        self.before[path], self.after[path] = before, after
        if max(len(before), len(after)) > _MAX_BYTES:
            self.problems.append((path, "is too large to be compared"))
            return []
        try:
            found = sites(path, before, after, len(self.sites) + 1)
        except TreeError as error:
            self.problems.append((path, f"cannot be compared: {error}"))
            return []
        self.sites += found
        return found

    def add(self, path: str, result: FileResult) -> None:
        """A file that was rewritten."""
        applied = [finding for finding in result.findings if finding.outcome is Outcome.APPLIED]
        found = self.differing(path, result.before, result.after)
        text = _Text(result.before)
        shares = _shares(applied, [site for site in found if site.kind is not Kind.WATCH], text)
        for finding, share in zip(applied, shares, strict=True):
            if not share and (extra := self._beside(path, result, finding)):
                share.append(extra)
            ids = tuple(sorted({site.id for site in share}))
            position = finding.position
            self.edits.append(
                Edit(
                    len(self.edits) + 1, path, position.line, position.column, finding.codemod,
                    finding.message, finding.before, finding.after, ids,
                )
            )  # fmt: skip

    def _beside(self, path: str, result: FileResult, finding: Finding) -> Site | None:
        """For an edit of a comment or of what no version executes: the statement at it, so that it is known whether it ran."""
        spans = statement_at(result.before, result.after, finding.position.line)
        if spans is None:
            return None
        site = Site(len(self.sites) + 1, path, Kind.STATEMENT, *spans)
        self.sites.append(site)
        return site

    def plan(self) -> Plan:
        """What was collected."""
        return Plan(tuple(self.sites), tuple(self.edits), self.before, self.after, tuple(self.problems))


class _Text:
    """Positions of a text in characters and in bytes."""

    def __init__(self, data: bytes) -> None:
        document = Document.decode(data)
        utf8 = document.utf8 if isinstance(document, Document) else data
        self._lines = utf8.replace(b"\r\n", b"\n").replace(b"\r", b"\n").splitlines()

    def place(self, position: Position) -> tuple[int, int]:
        """Line and column in bytes."""
        if not 0 < position.line <= len(self._lines):
            return position.line, position.column
        line = self._lines[position.line - 1]
        if line.isascii():
            return position.line, position.column
        return position.line, len(line.decode("utf-8", "replace")[: position.column].encode("utf-8"))


def _shares(findings: Sequence[Finding], found: Sequence[Site], text: _Text) -> list[list[Site]]:
    """For each finding the sites it stands for; every site but imports stands with some finding."""
    ranges = [(text.place(f.position), text.place(f.end)) for f in findings]
    shares = [_touched(start, end, found) for start, end in ranges]
    taken = {site.id for share in shares for site in share}
    for site in found if findings else ():
        # That an import ran says nothing of an edit elsewhere.
        if site.id not in taken and not (_is_import(site.before_text) or _is_import(site.after_text)):
            shares[_cause(site, ranges, shares, found)].append(site)
    return shares


def _touched(start: tuple[int, int], end: tuple[int, int], found: Sequence[Site]) -> list[Site]:
    """The sites in the range of a finding; if there are none, the smallest one around it."""
    inside: list[Site] = []
    around: list[Site] = []
    for site in found:
        if site.before is None:
            continue
        begin, stop = (site.before.line, site.before.column), (site.before.end_line, site.before.end_column)
        if begin <= start and end <= stop and (begin, stop) != (start, end):
            around.append(site)
        elif begin < end and start < stop:
            inside.append(site)
    smallest = min(around, key=_extent, default=None)
    if not inside and smallest is not None:
        inside.append(smallest)
    return inside


def _extent(site: Site) -> tuple[int, int]:
    assert site.before is not None
    return site.before.end_line - site.before.line, site.before.end_column - site.before.column


def _cause(
    site: Site,
    ranges: Sequence[tuple[tuple[int, int], tuple[int, int]]],
    shares: Sequence[Sequence[Site]],
    found: Sequence[Site],
) -> int:
    """The finding nearest to a site that none touches: what it inserts stands before what it changes."""
    if site.before is not None:
        line = site.before.line
        return min(range(len(ranges)), key=lambda n: abs(ranges[n][0][0] - line))
    assert site.after is not None
    behind = [s for s in found if s.before is not None and s.after is not None and s.after >= site.after]
    near = min(behind, key=lambda s: s.after or Span(0, 0, 0, 0), default=None)
    return next((n for n, share in enumerate(shares) if near is not None and near in share), len(ranges) - 1)


def _is_import(text: str) -> bool:
    return text.startswith(("import ", "from "))


# Somebody else's edits


def plan_against(original: str, root: str, script: str | None = None) -> Plan:
    """The plan of a migration that was made already: `original` holds what the tree in `root`, or its `script`, was before.

    Raises:
        PlanError: the two cannot be put beside each other.
    """
    top = os.path.realpath(root)
    if os.path.isfile(original):
        if script is None:
            raise PlanError("--against names a file, but the program is a module: give the tree as it was before")
        path = _relative(os.path.abspath(script), top)
        if path is None or not os.path.isfile(os.path.join(top, path)):
            raise PlanError(f"--against names a file, but {script} is none")
        return _against({path: _read(original)}, {path: _read(os.path.join(top, path))})
    if not os.path.isdir(original):
        raise PlanError(f"--against: {original!r} does not exist")
    start = os.path.dirname(os.path.abspath(script)) if script else top
    return _trees(os.path.realpath(original), top, os.path.realpath(start))


def _trees(original: str, top: str, start: str) -> Plan:
    old = _files(original)
    place = _counterpart(old, top, start)
    new = _files(place)
    prefix = os.path.relpath(place, top)
    common = sorted(old & new)
    if not any(name.endswith(".py") for name in common):
        raise PlanError(f"--against: no file of {original!r} has a counterpart in {place!r}")
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for name in common:
        b, a = _read(os.path.join(original, name)), _read(os.path.join(place, name))
        if b != a:
            path = _join(prefix, name)
            before[path], after[path] = b, a
    for name in sorted(old - new):
        before[_join(prefix, name)] = _read(os.path.join(original, name))
    added = sorted(_join(prefix, name) for name in new - old if name.endswith(".py"))
    plan = _against(before, after)
    reason = "is new in the migrated version: judged by what the rest does with it"
    return replace(plan, problems=(*plan.problems, *((path, reason) for path in added)))


def _join(prefix: str, name: str) -> str:
    return (name if prefix == "." else os.path.join(prefix, name)).replace(os.sep, "/")


def _counterpart(old: Collection[str], top: str, start: str) -> str:
    """The folder of the migrated tree that the original stands for: the one above the script that shares most names."""
    folders = [start]
    while folders[-1] != top and os.path.dirname(folders[-1]) != folders[-1]:
        folders.append(os.path.dirname(folders[-1]))
    return max(reversed(folders), key=lambda folder: sum(os.path.isfile(os.path.join(folder, name)) for name in old))


def _files(tree: str) -> set[str]:
    return {name.replace(os.sep, "/") for name in listed(tree) if os.path.isfile(os.path.join(tree, name))}


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror}") from None


def _against(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Plan:
    builder = _Builder()
    for path, old in before.items():
        if path not in after or not path.endswith((".py", ".pyw")):
            builder.before[path] = old
            if path in after:
                builder.after[path] = after[path]
            continue
        for site in builder.differing(path, old, after[path]):
            if site.kind is not Kind.WATCH:
                builder.edits.append(_edit(len(builder.edits) + 1, site, old, after[path]))
    return builder.plan()


_WHAT = {
    Kind.VALUE: "expression",
    Kind.STATEMENT: "statements",
    Kind.CONTEXT: "context of a with statement",
    Kind.ANNOTATION: "annotation",
}


def _edit(id_: int, site: Site, before: bytes, after: bytes) -> Edit:
    span = site.before or site.after
    assert span is not None
    what = _WHAT[site.kind] if not _is_import(site.before_text or site.after_text) else "import"
    how = "new" if site.before is None else "removed" if site.after is None else "changed"
    column = _column(before if site.before else after, span)
    return Edit(id_, site.path, span.line, column, "", f"{how} {what}", site.before_text, site.after_text, (site.id,))


def _column(data: bytes, span: Span) -> int:
    document = Document.decode(data)
    utf8 = document.utf8 if isinstance(document, Document) else data
    lines = utf8.replace(b"\r\n", b"\n").replace(b"\r", b"\n").splitlines()
    return len(lines[span.line - 1][: span.column].decode("utf-8", "replace")) if span.line <= len(lines) else span.column


# Parts of a plan


def only(plan: Plan, ids: frozenset[int]) -> Plan:
    """The same two versions, of which only these edits are recorded and judged."""
    edits = tuple(edit for edit in plan.edits if edit.id in ids)
    return replace(plan, edits=edits, sites=_needed(plan, edits))


def _needed(plan: Plan, edits: Sequence[Edit]) -> tuple[Site, ...]:
    """The sites of these edits and the watches of those."""
    wanted = {id_ for edit in edits for id_ in edit.sites}
    wanted |= {id_ for site in plan.sites if site.id in wanted for id_ in site.watched_by}
    return tuple(site for site in plan.sites if site.id in wanted)


def loaded_scope(plan: Plan, root: str, program: Program, target: str, cwd: str) -> frozenset[str]:
    """The files of the tree that the program may load, by its import statements: the edits in them concern it."""
    top = os.path.realpath(root)
    finder = _Modules(top, os.path.realpath(cwd), plan)
    is_module = program is Program.MODULE
    todo = finder.module(target, "", main=True) if is_module else finder.start(target.partition("::")[0])
    seen: set[str] = set()
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            todo += finder.imports(path)
    return frozenset(seen)


class _Modules:
    """Where the modules of a tree are, as the program's search path finds them."""

    def __init__(self, top: str, cwd: str, plan: Plan) -> None:
        self._top = top
        self._cwd = cwd
        self._plan = plan
        self._folders = [cwd, top, os.path.join(top, "src")]

    def start(self, target: str) -> list[str]:
        """The files that are run: a script, or the tests in a folder and what pytest loads with them."""
        path = os.path.realpath(os.path.join(self._cwd, target))
        if os.path.isdir(path):
            files = [os.path.join(path, name) for name in sorted(_files(path)) if name.endswith(".py")]
        else:
            files = [path]
        self._folders = list(dict.fromkeys([*map(os.path.dirname, files), *self._folders]))
        folder = os.path.dirname(files[0]) if files else path
        while folder.startswith(self._top):
            files.append(os.path.join(folder, "conftest.py"))
            folder = os.path.dirname(folder)
        return [relative for file in files if (relative := self._known(file))]

    def _known(self, path: str) -> str | None:
        relative = _relative(path, self._top)
        return relative if relative is not None and (relative in self._plan.after or os.path.isfile(path)) else None

    def module(self, name: str, package: str, *, main: bool = False) -> list[str]:
        """The files that an import of this module loads; `package` is the folder of the file that imports, for relative names."""
        level = len(name) - len(name.lstrip("."))
        folders = [os.path.normpath(os.path.join(self._top, package, *[os.pardir] * (level - 1)))] if level else self._folders
        parts = [part for part in name.lstrip(".").split(".") if part]
        for folder in folders:
            found = self._below(folder, parts, main=main)
            if found:
                return found
        return []

    def _below(self, folder: str, parts: Sequence[str], *, main: bool) -> list[str]:
        found: list[str] = []
        if not parts:
            found += filter(None, [self._known(os.path.join(folder, "__init__.py"))])
        for number, part in enumerate(parts):
            package = os.path.join(folder, part)
            last = number == len(parts) - 1
            init = self._known(os.path.join(package, "__init__.py"))
            module = self._known(package + ".py")
            found += [path for path in (init, module if last and not init else None) if path]
            if last and main:
                found += filter(None, [self._known(os.path.join(package, "__main__.py"))])
            if not os.path.isdir(package) and not module:
                break
            folder = package
        return found

    def imports(self, path: str) -> Iterator[str]:
        """The files that the import statements of a file load, in either version."""
        for data in (self._plan.before.get(path), self._plan.after.get(path) or self._content(path)):
            for name in _imports(data) if data else ():
                yield from self.module(name, os.path.dirname(path))

    def _content(self, path: str) -> bytes:
        try:
            return _read(os.path.join(self._top, path))
        except PlanError:
            return b""


def _imports(data: bytes) -> list[str]:
    """The modules that a file names in imports, and what it takes from them, which may be modules too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names.append(base)
            names += [f"{base}.{alias.name}" if node.module else base + alias.name for alias in node.names if alias.name != "*"]
        elif isinstance(node, ast.Call) and node.args and _is_import_module(node.func):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                names.append(first.value)
    return list(dict.fromkeys(names))


def _is_import_module(func: ast.expr) -> bool:
    if isinstance(func, ast.Attribute):
        return func.attr == "import_module"
    return isinstance(func, ast.Name) and func.id == "__import__"
