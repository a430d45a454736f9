"""Many files: look for those that matter, rewrite each on its own, in order, and let none of them end the run."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jaxmigrate.discovery import BUILD_SCRIPTS, PINS, PROJECT_MARKS, PYTHON, SCRIPT_BLOCK, TEXT, around
from jaxmigrate.gate import has_trace, prefilter

if TYPE_CHECKING:
    from jaxmigrate.model import FileResult, ProjectIndex, Settings
    from jaxmigrate.pins import ProjectPins
    from jaxmigrate.project import Indexer

# This module is on the path of every start: what only a hit needs is imported when there is one.

MAX_BYTES = 5_000_000
"""A larger file that mentions a migrated name is generated, and would need gigabytes to parse."""
PARALLEL_BYTES = 1_000_000
"""Bytes to parse from which several processes are faster than one."""
_CHUNK_BYTES = 100_000
_CHUNK_FILES = 16
_READ = 1 << 20
_ONLY_AST = 0x400
"""``ast.PyCF_ONLY_AST``."""
_FEW = 3
"""Files that are looked at before it is known whether anything else is needed."""
_MANY = 1000
"""Files from which it matters how often each is searched."""
_COLLECT = 100
"""Files after which cycles are collected while automatic collection is off: that costs a fifth of the time and finds little.

What was there before the first file (modules, tables) is not looked at again.
"""

Progress = Callable[[int, int], None]
"""Told from time to time how many files are done, of how many."""


class Hit(NamedTuple):
    """A file that must be parsed, or one that cannot be (`reason` says why)."""

    path: str
    kind: str
    size: int
    reason: str = ""


class Survey(NamedTuple):
    """What the first look at all files found."""

    hits: list[Hit]
    project: ProjectIndex | None
    """How the hits hang together."""
    pins: Sequence[str] = ()
    """Files that may hold version requirements on the library."""
    around: Sequence[str] = ()
    """Others of the project, which tell its age alone."""


def run(
    files: Sequence[tuple[str, str]],
    settings: Settings,
    *,
    jobs: int | None = None,
    write: bool = False,
    progress: Progress | None = None,
) -> Iterator[FileResult]:
    """Rewrite `files` (path, kind) and yield the results of those that matter, in order.

    Files without a trace of a migrated API are read and nothing more: they have no result. What the files say only together
    comes last, as second results of the files where it is to be reported.
    """
    survey = look(files, progress)
    yield from process(survey, settings, jobs=jobs, write=write, progress=progress)


def look(files: Sequence[tuple[str, str]], progress: Progress | None = None, named: Collection[str] = frozenset()) -> Survey:
    """Read every file once and keep the names of those that may hold something to migrate.

    Of `named` files more is asked: that they can be parsed, and what they take from modules that are not among `files`.
    """
    look_ = _Look(_grouping(files), named)
    for number, (path, kind) in enumerate(files):
        if progress is not None and not number & 255:
            progress(number, len(files))
        look_.at(number, path, kind)
    look_.again(files)
    project = look_.hang_together(files)
    hits = [hit for _, hit in sorted(look_.hits)]
    return Survey(hits, project, look_.pins, _around(files) if hits else [])


class _Look:
    """What was seen so far. Files are in groups: where none mentions jax, nobody else's traces are searched for.

    That spares two of three searches in trees that hold much besides JAX.
    """

    def __init__(self, group_of: Callable[[str], str], named: Collection[str]) -> None:
        self.hits: list[tuple[int, Hit]] = []
        self.pins: list[str] = []
        self._with_trace: list[str] = []
        self._indexer: Indexer | None = None
        self._group_of = group_of
        self._named = named
        self._groups = {""}
        self._later: list[int] = []

    def at(self, number: int, path: str, kind: str) -> None:
        """Look at a file, or put it off until its group is known to concern us."""
        try:
            data = _read(path)
        except OSError as error:
            self.hits.append((number, Hit(path, kind, 0, _unreadable(error))))
            return
        names_library = b"jax" in data
        if kind != PYTHON or path.endswith(BUILD_SCRIPTS) or (names_library and SCRIPT_BLOCK in data):
            self._at_build_file(number, path, kind, data)
            if kind == PINS:
                return
        if path in self._named and kind == PYTHON:
            self._at_named(number, path, data)
            return
        group = self._group_of(path)
        if group not in self._groups:
            if not names_library:
                self._later.append(number)
                return
            self._groups.add(group)
        if names_library or has_trace(data):
            self._traced(number, path, kind, data)

    def _at_build_file(self, number: int, path: str, kind: str, data: bytes) -> None:
        if has_trace(data):
            self.pins.append(path)
        if path.endswith(".ipynb") and (path in self._named or b"import jax" in data or b"from jax" in data):
            self.hits.append((number, Hit(path, kind, 0)))  # what is not read is told

    def _at_named(self, number: int, path: str, data: bytes) -> None:
        self._traced(number, path, PYTHON, data)
        if len(data) > MAX_BYTES:
            return
        reason = "" if prefilter(data) else unparsable(data)
        if reason:
            self.hits.append((number, Hit(path, PYTHON, len(data), reason)))
            return
        self._indexer = self._indexer or _indexer()
        self._indexer.follow(path, data)

    def again(self, files: Sequence[tuple[str, str]]) -> None:
        """Look at what was put off."""
        later, self._later = self._later, []
        for number in later:
            path, kind = files[number]
            if self._group_of(path) in self._groups:
                self.at(number, path, kind)

    def _traced(self, number: int, path: str, kind: str, data: bytes) -> None:
        if kind == TEXT:
            self.hits.append((number, Hit(path, kind, len(data))))
        elif not prefilter(data):
            self._with_trace.append(path)
        else:
            self.hits.append((number, _hit(path, data)))
            if len(data) <= MAX_BYTES:
                self._indexer = self._indexer or _indexer()
                self._indexer.add(path, data)

    def hang_together(self, files: Sequence[tuple[str, str]]) -> ProjectIndex | None:
        """The index of the hits; files that take a migrated name from one become hits too, though they hold no trace of it."""
        if self._indexer is None or not (self.hits or self._indexer.has_found):
            return None
        index, takers = self._indexer.of_project([hit.path for _, hit in self.hits], self._with_trace)
        numbers = {os.path.abspath(path): number for number, (path, _) in enumerate(files)} if takers else {}
        for taker in takers:
            if taker in numbers:
                path, kind = files[numbers[taker]]
                self.hits.append((numbers[taker], Hit(path, kind, len(_content(path)))))
        return index


def _grouping(files: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """How the files fall into groups: small sets and projects are one, else each folder below the common one is one."""
    paths = [path for path, _ in files] if len(files) >= _MANY else []
    try:
        common = os.path.commonpath([min(paths), max(paths)])
    except ValueError:  # none, or both absolute and relative ones
        return lambda path: ""
    if any(os.path.exists(os.path.join(common or ".", mark)) for mark in PROJECT_MARKS):
        return lambda path: ""
    start = len(common) + 1 if common else 0
    return lambda path: path[: max(path.find("/", start), 0)]


def unparsable(data: bytes) -> str:
    """Why these bytes are no Python source; empty if they are. Files with a trace are parsed anyway."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "<file>", "exec", _ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _why_unparsable(data)
    return ""


def _why_unparsable(data: bytes) -> str:
    from jaxmigrate.document import Document, DocumentError
    from jaxmigrate.names import SourceError, parse

    document = Document.decode(data)
    if isinstance(document, DocumentError):
        return document.message
    try:
        parse(document.text)
    except SourceError as error:
        return f"cannot be parsed: {error}"
    return ""


def _hit(path: str, data: bytes) -> Hit:
    if len(data) <= MAX_BYTES:
        return Hit(path, PYTHON, len(data))
    reason = f"{len(data) / 1e6:.1f} MB is too large to parse (limit {MAX_BYTES / 1e6:.0f} MB); exclude it if it is generated"
    return Hit(path, PYTHON, len(data), reason)


def _read(path: str) -> bytes:
    """The content of a file with the fewest system calls: most trees are read and left."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        data = os.read(descriptor, _READ)
        if len(data) == _READ:
            parts = [data]
            while part := os.read(descriptor, _READ):
                parts.append(part)
            data = b"".join(parts)
    finally:
        os.close(descriptor)
    return data


def _unreadable(error: OSError) -> str:
    from jaxmigrate.document import describe

    return f"cannot be read: {describe(error)}"


def _indexer() -> Indexer:
    from jaxmigrate.project import Indexer

    return Indexer(_content, _matters)


def _matters(data: bytes) -> bool:
    """Whether anything may be said about a qualified name, or about the content of a file."""
    if len(data) > 200 or not all(part.isidentifier() for part in data.decode("utf-8", "replace").split(".")):
        return prefilter(data)
    from jaxmigrate import quiet

    name = data.decode("utf-8")
    known = quiet.concerns(name)
    if known is not None:
        return known
    from jaxmigrate.registry import load

    return load().concerns(name)


def _content(path: str) -> bytes:
    """What the index can learn from: nothing, if the file has gone."""
    try:
        return _read(path)
    except OSError:
        return b""


def has_nothing(survey: Survey) -> bool:
    """Whether a run with the usual settings surely has nothing to say; asked of a few files only, before all else is loaded."""
    if survey.pins or survey.around or len(survey.hits) > _FEW or (survey.project is not None and survey.project.exports):
        return False
    from jaxmigrate.project import module_name
    from jaxmigrate.quiet import is_quiet

    for hit in survey.hits:
        module, is_package = module_name(hit.path)
        if hit.kind != PYTHON or hit.reason or not is_quiet(_content(hit.path), module=module, is_package=is_package):
            return False
    return True


def process(
    survey: Survey,
    settings: Settings,
    *,
    jobs: int | None = None,
    write: bool = False,
    progress: Progress | None = None,
) -> Iterator[FileResult]:
    """Rewrite the hits of a survey and yield their results in order."""
    from jaxmigrate import quiet

    pins = _pins(survey, settings)
    if pins is not None:
        settings = pins.settings
    may_pass_over = pins is None and quiet.may_be_asked(settings)
    work = _Work(settings, survey.project, may_pass_over=may_pass_over, ages=bool(survey.pins) and pins is not None)
    workers = _workers(survey.hits, jobs) if survey.hits else 1
    results = _parallel(survey.hits, work, workers) if workers > 1 else map(work.rewrite, survey.hits)
    with_facts: list[FileResult] = []
    for number, result in enumerate(results):
        if progress is not None:
            progress(number, len(survey.hits))
        if result.facts:
            with_facts.append(_facts_only(result))
        result = _write(result) if write else result
        if pins is not None:
            pins.see(result)
        yield result
    yield from _project_results(with_facts, settings)
    for result in pins.results() if pins is not None else ():
        yield _write(result) if write else result


def _around(files: Sequence[tuple[str, str]]) -> list[str]:
    return [path for path in around(files) if has_trace(_content(path))]


def aged(settings: Settings, path: str) -> Settings:
    """The settings that know for which JAX the text of one file was written, where the requirements of its project tell."""
    pins = _pins(Survey([], None, around=_around([(path, PYTHON)])), settings)
    return settings if pins is None else pins.settings


def _pins(survey: Survey, settings: Settings) -> ProjectPins | None:
    """The version requirements of the project, if it has any that we may speak of, or that tell its age."""
    if not survey.pins and (not survey.around or settings.origin is not None):
        return None
    from jaxmigrate.pins import ProjectPins

    return ProjectPins.read(survey.pins, settings, survey.around)


def _facts_only(result: FileResult) -> FileResult:
    from jaxmigrate.model import FileResult, Status

    return FileResult(result.path, Status.UNCHANGED, facts=result.facts)


def _project_results(results: list[FileResult], settings: Settings) -> Iterator[FileResult]:
    """What is known only when all files were seen, as further results of files that had one."""
    if not results:
        return
    from jaxmigrate.engine import project_findings
    from jaxmigrate.model import FileResult, Status

    for path, finding in project_findings(results, settings):
        yield FileResult(path, Status.UNCHANGED, findings=(finding,))


def _write(result: FileResult) -> FileResult:
    from dataclasses import replace

    from jaxmigrate.document import write_atomically
    from jaxmigrate.model import Status

    if result.status is not Status.REWRITTEN:
        return result
    error = write_atomically(result.path, result.before, result.after)
    return _failed(result.path, error.message) if error else replace(result, written=True)


class _Work:
    """What it takes to rewrite one file; sent to each worker once."""

    def __init__(self, settings: Settings, index: ProjectIndex | None, *, may_pass_over: bool = False, ages: bool = True) -> None:
        """`ages`: what JAX files need that stay as they are; `may_pass_over` allows to leave files alone that are quiet."""
        from jaxmigrate.project import ModuleNames

        self.settings = settings
        self.may_pass_over = may_pass_over
        self.ages = ages
        self.index = index
        self.names = ModuleNames()
        self.done = 0

    def rewrite(self, hit: Hit) -> FileResult:
        """The result for one file; whatever goes wrong with it stays with it."""
        if not gc.isenabled():
            if self.done == 1:  # the first file has loaded what all need
                gc.freeze()
            elif self.done and not self.done % _COLLECT:
                gc.collect()
        self.done += 1
        if hit.reason:
            return _failed(hit.path, hit.reason)
        return _isolated(hit.path, lambda: self._rewrite(hit))

    def _rewrite(self, hit: Hit) -> FileResult:
        from jaxmigrate.document import DocumentError, read

        data = read(hit.path)
        if isinstance(data, DocumentError):
            return _failed(hit.path, data.message)
        if hit.kind == PINS:
            from jaxmigrate.model import FileResult, Status

            return FileResult(hit.path, Status.SKIPPED, reason="is a notebook: only the pip lines in it are looked at")
        if hit.kind == TEXT:
            from jaxmigrate.hosts.text import scan_text

            return scan_text(hit.path, data, self.settings)
        module, is_package = self.names.of(hit.path)
        if self.may_pass_over and self._is_quiet(data, module, is_package):
            from jaxmigrate.model import FileResult, Status

            return FileResult(hit.path, Status.UNCHANGED)
        from jaxmigrate.engine import rewrite_source

        return rewrite_source(
            data, self.settings, path=hit.path, module=module, is_package=is_package, index=self.index, ages=self.ages
        )

    def _is_quiet(self, data: bytes, module: str, is_package: bool) -> bool:
        from jaxmigrate.quiet import is_quiet

        exports = self.index.exports if self.index is not None else None
        return is_quiet(data, self.settings.target.numbers, module=module, is_package=is_package, exports=exports)


def rewrite_bytes(data: bytes, settings: Settings, path: str) -> FileResult:
    """Rewrite text that is no file of a tree; it is a failed result if anything goes wrong."""
    reason = "" if prefilter(data) else unparsable(data)
    if reason:
        return _failed(path, reason)
    from jaxmigrate.engine import rewrite_source

    return _isolated(path, lambda: rewrite_source(data, settings, path=path))


def _failed(path: str, reason: str) -> FileResult:
    from jaxmigrate.model import FileResult, Status

    return FileResult(path, Status.FAILED, reason=reason)


def _isolated(path: str, rewrite: Callable[[], FileResult]) -> FileResult:
    try:
        return rewrite()
    except RecursionError:
        return _failed(path, "is nested too deeply")
    except MemoryError:
        return _failed(path, "needs more memory than there is")
    except Exception as error:  # a bug of ours must not cost the other files
        return _failed(path, f"internal error: {_where(error)}")


def _where(error: Exception) -> str:
    """What happened and in which line of ours, for a bug report."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace else ""
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"


def _workers(hits: Sequence[Hit], jobs: int | None) -> int:
    """How many processes pay off: starting them costs more than a small tree."""
    size = sum(hit.size for hit in hits if not hit.reason)
    if jobs == 1 or size < PARALLEL_BYTES:
        return 1
    return min(jobs or _processors(), 1 + size // (PARALLEL_BYTES // 2), len(hits), 60)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parallel(hits: Sequence[Hit], work: _Work, workers: int) -> Iterator[FileResult]:
    # Imported here once, instead of in every process that is forked.
    import jaxmigrate.cst
    import jaxmigrate.engine  # noqa: F401
    from jaxmigrate.pool import Pool

    return Pool(work.rewrite, workers, _died).map(_chunks(hits))


def _died(hit: Hit) -> FileResult:
    return _failed(hit.path, "worker died on it (killed, or out of memory)")


def _chunks(hits: Sequence[Hit]) -> Iterator[list[Hit]]:
    """Files in groups, since handing over a small one costs as much as rewriting it."""
    chunk: list[Hit] = []
    size = 0
    for hit in hits:
        chunk.append(hit)
        size += hit.size
        if size >= _CHUNK_BYTES or len(chunk) == _CHUNK_FILES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
