"""``jaxmigrate rewrite``: find the old APIs, rewrite them, say what is left."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import click

from jaxmigrate import runner
from jaxmigrate.cli.options import (
    Wishes,
    colored,
    configuration,
    merge,
    rewriting_options,
    settings_of,
    split_names,
    split_options,
)
from jaxmigrate.discovery import discover, git_root
from jaxmigrate.gate import prefilter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jaxmigrate.config import Config
    from jaxmigrate.model import FileResult, Settings

# Nothing that only a hit needs is imported above: most files of most trees have none.

DONE, LEFT, FAILED = 0, 1, 2


class Output(NamedTuple):
    """How the run shall show what it found."""

    mode: str
    """``write``, ``check`` or ``diff``."""
    format: str
    color: bool | None
    exit_zero: bool
    stdin: bool = False

    @property
    def report_to_stderr(self) -> bool:
        """A patch, or the text of a file, has standard output for itself."""
        return self.mode == "diff" or (self.stdin and self.mode == "write")


@click.command("rewrite", short_help="Rewrite old JAX APIs in files and folders.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--diff", is_flag=True, help="Print the patch and write nothing.")
@click.option("--check", is_flag=True, help="Print the report and write nothing.")
@rewriting_options
@click.option("--strict", is_flag=True, help="Count APIs that are only deprecated as left to do.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 although something is left to do.")
@click.option("--format", "format_", type=click.Choice(["text", "json", "github"]), default="text", help="Form of the report.")
@click.option("--color/--no-color", default=None, help="Use colours. [default: on a terminal]")
@click.option("-j", "--jobs", type=click.IntRange(1), metavar="N", help="At most this many processes. [default: the processors]")
@click.option("--verify", metavar="'SCRIPT ARGS'", help="Execute this before and after, and write only what proved equivalent.")
@click.option("--keep-unreached", is_flag=True, help="With --verify: also write edits that the program did not reach.")
@click.option("--stdin-filename", metavar="PATH", help="What to call the file that is read from standard input.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    diff: bool,
    check: bool,
    target: str | None,
    origin: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    safe_only: bool,
    unsafe: bool,
    options: tuple[str, ...],
    config: str | None,
    strict: bool,
    exit_zero: bool,
    format_: str,
    color: bool | None,
    jobs: int | None,
    verify: str | None,
    keep_unreached: bool,
    stdin_filename: str | None,
) -> None:
    """Rewrite every use of a JAX API that the target lacks, and say what is left and why.

    PATH is a file, a folder (what git or .gitignore leaves out is left out), or - for standard input.

    \b
    Exit status:
      0  nothing is left to do
      1  something is (with --check and --diff: also an edit that would be made)
      2  wrong usage, or a file that could not be read, parsed or written
    """
    if safe_only and unsafe:
        raise click.UsageError("--safe-only and --unsafe exclude each other.")
    wishes = Wishes(target, split_names(select), split_names(ignore), split_options(options), safe_only, unsafe, origin, strict)
    output = Output("diff" if diff else "check" if check else "write", format_, color, exit_zero)
    if "-" in paths:
        if len(paths) > 1:
            raise click.UsageError("- (standard input) cannot be combined with other paths.")
        name = stdin_filename or "<stdin>"
        if verify is not None:
            raise click.UsageError("--verify needs files, not standard input.")
        wishes = merge(wishes, configuration((stdin_filename or ".",), config))
        ctx.exit(_stdin(name, settings_of(wishes), output._replace(stdin=True)))
    project = configuration(paths, config)
    wishes = merge(wishes, project)
    settings = settings_of(wishes) if wishes.unusual else None
    if keep_unreached and verify is None:
        raise click.UsageError("--keep-unreached says what --verify does with edits that it did not reach.")
    status = DONE
    if verify is not None:
        status, settings = _proven(verify, settings or settings_of(wishes), project, paths, keep_unreached)
        if status == FAILED:
            ctx.exit(FAILED)
    ctx.exit(max(status, _files(paths, project.exclude, project.base, settings, wishes, output, jobs)))


def _proven(
    verify: str, settings: Settings, project: Config, paths: tuple[str, ...], keep_unreached: bool
) -> tuple[int, Settings]:
    """What the run says as an exit status, and the settings with the edits held back that it did not prove equivalent."""
    from dataclasses import replace

    from jaxmigrate.cli.verify import held_back

    status, held = held_back(verify, settings, project, tuple(map(os.path.abspath, paths)), keep_unreached)
    names = {os.path.realpath(path): path for path, _ in discover(paths, project.exclude, project.base).files}
    by_name = {(names[os.path.realpath(p)], c, at): why for (p, c, at), why in held.items() if os.path.realpath(p) in names}
    return status, replace(settings, held=by_name)


def _files(
    paths: tuple[str, ...],
    exclude: tuple[str, ...],
    base: str,
    settings: Settings | None,
    wishes: Wishes,
    output: Output,
    jobs: int | None,
) -> int:
    started = time.perf_counter()
    found = discover(paths, exclude, base)
    progress = _Progress(started)
    survey = runner.look(found.files, progress.reading, found.named)
    if not survey.hits and not survey.pins and not found.errors:
        progress.clear()
        return _nothing(len(found.files), wishes, output)
    if settings is None and not found.errors and output.format == "text" and runner.has_nothing(survey):
        progress.clear()
        return _nothing(len(found.files), wishes, output)
    settings = settings or settings_of(wishes)
    results = _missing(found.errors)
    write = output.mode == "write"
    try:
        for result in runner.process(survey, settings, jobs=jobs, write=write, progress=progress.rewriting):
            if output.mode == "diff":
                _patch(result, output, progress)
            _keep(result, results)
    except KeyboardInterrupt:
        progress.clear()
        click.echo(f"jaxmigrate: interrupted; {_written(results.values())}, none is half written", err=True)
        return FAILED
    progress.clear()
    if not any(map(_speaks, results.values())):
        return _nothing(len(found.files), wishes, output)
    _report(list(results.values()), len(found.files), settings, output, time.perf_counter() - started)
    return status_of(results.values(), output)


def _nothing(files: int, wishes: Wishes, output: Output) -> int:
    if output.format != "text":
        _report([], files, settings_of(wishes), output, None)
    elif files:
        click.echo(f"Nothing to do in {files} file{'' if files == 1 else 's'}.", err=output.report_to_stderr)
    else:
        click.echo("No files to look at.", err=True)
    return DONE


def _missing(errors: Iterable[tuple[str, str]]) -> dict[str, FileResult]:
    from jaxmigrate.model import FileResult, Status

    return {path: FileResult(path, Status.FAILED, reason=reason) for path, reason in errors}


def _keep(result: FileResult, results: dict[str, FileResult]) -> None:
    """Remember what the report needs: no contents, and nothing of a file that neither has anything to say nor needs anything."""
    from dataclasses import replace

    from jaxmigrate.model import Status

    known = results.get(result.path)
    if known is not None:
        status = known.status if result.status is Status.UNCHANGED else result.status
        findings, written = known.findings + result.findings, known.written or result.written
        results[result.path] = replace(known, status=status, findings=findings, written=written)
    elif _speaks(result) or result.needs:
        results[result.path] = replace(result, before=b"", after=b"")


def _speaks(result: FileResult) -> bool:
    return bool(result.findings or result.reason or result.before != result.after)


def _patch(result: FileResult, output: Output, progress: _Progress) -> None:
    if result.before != result.after:
        from jaxmigrate.reports import diff

        progress.clear()
        patch = diff.patch(result, patch_name(result.path), color=colored(output.color, sys.stdout))
        click.echo(patch, nl=False, color=True)


def patch_name(path: str) -> str:
    """The name in a patch: from the current folder, or, outside of it, from the top of the file's own checkout."""
    name = os.path.relpath(path)
    if name.startswith(".."):
        top = git_root(os.path.dirname(os.path.abspath(path)))
        name = os.path.relpath(path, top or os.path.abspath(os.sep))
    return name.replace(os.sep, "/")


def _report(results: list[FileResult], scanned: int, settings: Settings, output: Output, elapsed: float | None) -> None:
    stream = sys.stderr if output.report_to_stderr else sys.stdout
    wrote = output.mode == "write"
    if output.format == "json":
        from jaxmigrate.reports import json_

        report = json_.render(results, wrote=wrote, settings=settings, elapsed=elapsed, scanned=scanned)
    elif output.format == "github":
        from jaxmigrate.reports import github

        report = github.render(results, wrote=wrote)
    else:
        from jaxmigrate.reports import text

        color = colored(output.color, stream)
        width = _width() if color or stream.isatty() else None
        seconds = elapsed if width else None
        report = text.render(results, width=width, color=color, wrote=wrote, settings=settings, elapsed=seconds, scanned=scanned)
    click.echo(report, nl=False, file=stream, color=True)


def _width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns


def status_of(results: Iterable[FileResult], output: Output) -> int:
    """The exit status that DESIGN section 7 promises."""
    from jaxmigrate.model import Status

    left = False
    for result in results:
        if result.status is Status.FAILED:
            return FAILED
        pending = result.status is Status.REWRITTEN and not result.written and output.mode != "write"
        left = left or pending or any(finding.outstanding for finding in result.findings)
    return LEFT if left and not output.exit_zero else DONE


def _written(results: Iterable[FileResult]) -> str:
    number = sum(result.written for result in results)
    return f"{number} file{' was' if number == 1 else 's were'} rewritten"


def _stdin(name: str, settings: Settings, output: Output) -> int:
    """Standard input to standard output; the report goes to standard error unless it is all that was asked for."""
    data = sys.stdin.buffer.read()
    if not prefilter(data) and not runner.unparsable(data):
        if output.mode == "write":
            sys.stdout.buffer.write(data)
        return DONE
    result = runner.rewrite_bytes(data, runner.aged(settings, name), name)
    failed = bool(result.reason)
    changed = result.before != result.after
    if output.mode == "write" and not failed:
        sys.stdout.buffer.write(result.after if changed else data)
        sys.stdout.buffer.flush()
    elif output.mode == "diff":
        _patch(result, output, _Progress(0.0))
    results: dict[str, FileResult] = {}
    _keep(result, results)
    if results:
        _report(list(results.values()), 1, settings, output, None)
    return status_of(results.values(), output)


class _Progress:
    """A plain counter on standard error, for runs that take more than a second on a terminal."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._wanted = sys.stderr.isatty()
        self._shown = ""
        self._when = 0.0

    def reading(self, done: int, total: int) -> None:
        """Show how many files were read."""
        self._show("reading", done, total)

    def rewriting(self, done: int, total: int) -> None:
        """Show how many files with hits were rewritten."""
        self._show("rewriting", done, total)

    def _show(self, what: str, done: int, total: int) -> None:
        if not self._wanted:
            return
        now = time.perf_counter()
        if now - self._started > 1 and now - self._when > 0.1:
            self.clear()
            self._shown, self._when = f"{what} {done}/{total}", now
            click.echo(self._shown, nl=False, err=True)

    def clear(self) -> None:
        """Take the counter off the screen, with blanks: escape sequences are not for every terminal."""
        if self._shown:
            click.echo(f"\r{' ' * len(self._shown)}\r", nl=False, err=True)
            self._shown = ""
