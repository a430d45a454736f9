"""The report of a run as GitHub workflow commands, which show each finding at its line of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxmigrate.model import FileResult, Finding, Outcome, Severity, Status

_LEVELS = {Severity.URGENT: "error", Severity.NORMAL: "warning", Severity.LOW: "notice"}


def render(results: Sequence[FileResult], *, wrote: bool) -> str:
    """One line for each failed file, finding that is left and edit that was not written; the gravest first.

    ``::error`` is for what fails without a sound and for failed files, ``::notice`` for what is only deprecated.
    """
    lines = [line for result in results for line in _annotations(result, wrote)]
    return "".join(f"{line}\n" for _, line in sorted(lines, key=lambda entry: entry[0] is not Severity.URGENT))


def _annotations(result: FileResult, wrote: bool) -> Iterator[tuple[Severity, str]]:
    file = _property(result.path)
    if result.status is Status.FAILED:
        yield Severity.NORMAL, f"::error file={file},title=jaxmigrate::{_data(result.reason)}"
    for finding in result.findings:
        if finding.is_left or (finding.outcome is Outcome.APPLIED and not wrote):
            title = _property(f"jaxmigrate {finding.codemod}")
            level = _LEVELS[finding.severity]
            yield finding.severity, f"::{level} file={file},{_span(finding)},title={title}::{_data(finding.message)}"


def _span(finding: Finding) -> str:
    start, end = finding.position, finding.end
    lines = f"line={start.line},endLine={end.line}"
    # GitHub ignores columns of annotations that span lines, and wants them to be absent.
    return lines if start.line != end.line else f"{lines},col={start.column + 1},endColumn={end.column}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
