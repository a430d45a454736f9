"""The report of a verification for people: hazards, every edit with its verdict and evidence, what the program did as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jaxmigrate.reports.placement import drawn
from jaxmigrate.reports.summary import count, display
from jaxmigrate.verify.model import Difference, Edit, Judgement, Report, Verdict
from jaxmigrate.verify.words import UNCOVERED

WIDTH = 80
"""Of pictures in a pipe."""

LINES = 6
"""Of a replaced source that are shown."""

STYLES = {
    Verdict.EQUIVALENT: "green",
    Verdict.DIFFERENT: "bold red",
    Verdict.NOT_REACHED: "yellow",
    Verdict.NONDETERMINISTIC: "magenta",
    Verdict.NOT_COMPARABLE: "yellow",
}

Line = tuple[str, str]
"""A line and its style."""


def render(report: Report, *, width: int | None = None, color: bool = False, require: float = 0.0) -> str:
    """The report as text that ends with a newline.

    Args:
        report: what the verification found.
        width: columns of the terminal; None for a pipe (no wrapping, no colour).
        color: use ANSI colours (terminal only).
        require: percent of the edits that must have been reached.
    """
    lines = _lines(report, min(width or WIDTH, 120), require)
    if width is None:
        return "".join(f"{line}\n" for line, _ in lines)
    return _terminal(lines, width, color)


def _terminal(lines: Iterable[Line], width: int, color: bool) -> str:
    from rich.padding import Padding  # slow to import and only needed on a terminal
    from rich.text import Text

    from jaxmigrate.reports.terminal import printed

    def part(line: str, style: str) -> Padding:
        """Continuation lines keep the indentation of their first."""
        text = line.lstrip(" ")
        return Padding(Text(text, style=style), (0, 0, 0, len(line) - len(text)))

    copied = "cyan"
    return printed(
        ((Text(line, style=style), True) if style == copied else (part(line, style), False) for line, style in lines),
        width=width,
        color=color,
    )


def explained(report: Report) -> bool:
    """Whether the report says itself why the program differs though no edit does."""
    return any(sentence.endswith(UNCOVERED) for sentence in report.program)


def _lines(report: Report, width: int, require: float) -> Iterator[Line]:
    for hazard in report.hazards:
        yield f"hazard: {display(hazard)}", "bold red"
    judged = () if report.errors else report.judgements
    for judgement in sorted(judged, key=lambda j: (j.edit.path, j.edit.line, j.edit.column, j.edit.id)):
        yield from _judgement(judgement, width)
    for sentence in report.program:
        yield f"program: {display(sentence)}", "red" if report.program_differs else ""
    if report.program_differs and not explained(report):
        yield "program: the versions do not do the same, and no single edit shows why", "bold red"
    for error in report.errors:
        yield f"error: {display(error)}", "bold red"
    for note in report.notes:
        yield f"note: {display(note)}", "dim"
    yield from ((line, "bold red") for line in _short_of(report, require))
    yield summary(report), "bold"


def where(edit: Edit) -> str:
    """``path:line:column``, the column counted from 1 as editors do."""
    return f"{display(edit.path)}:{edit.line}:{edit.column + 1}"


def _judgement(judgement: Judgement, width: int) -> Iterator[Line]:
    edit = judgement.edit
    name = f" {edit.codemod}" if edit.codemod else ""
    evidence = f": {display(judgement.evidence[0])}" if judgement.evidence else ""
    yield f"{where(edit)}:{name} [{edit.id}] {judgement.verdict.value}{evidence}", STYLES[judgement.verdict]
    if judgement.hint:
        yield f"    {judgement.hint}", ""
    for line in judgement.evidence[1:]:
        yield f"    {display(line)}", "dim"
    if judgement.verdict is Verdict.DIFFERENT:
        yield from _side("-", edit.before, edit.column)
        yield from _side("+", edit.after, edit.column)
        for difference in judgement.differences:
            yield from _difference(difference, judgement.evidence[:1], width)
        if judgement.reproduce:
            yield f"    again: {judgement.reproduce}", "cyan"


def _side(sign: str, source: str, column: int) -> Iterator[Line]:
    lines = source.replace("\r\n", "\n").expandtabs(4).rstrip("\n").split("\n") if source.strip() else []
    indents = [len(line) - len(line.lstrip(" ")) for line in lines[1:] if line.strip()]
    dedent = min(column, *indents) if indents else 0
    shown = [*(line.lstrip() for line in lines[:1]), *(line[dedent:] for line in lines[1:])]
    style = "red" if sign == "-" else "green"
    for line in shown[:LINES]:
        yield f"    {sign} {display(line)}".rstrip(), style
    if len(shown) > LINES:
        yield f"    {sign} ... {count(len(shown) - LINES, 'more line')}", style


def _difference(difference: Difference, said: tuple[str, ...], width: int) -> Iterator[Line]:
    """What differs, unless the evidence has said it; where devices hold something else, their picture."""
    place = f" of {display(difference.where)}" if difference.where else ""
    texts = f"{difference.before} before, {difference.after} after"
    if difference.placements:
        yield f"    {difference.aspect}{place}:", ""
        yield from ((f"      {line}".rstrip(), "") for line in drawn(*difference.placements, width - 6))
    elif not any(texts in line for line in said):
        yield f"    {difference.aspect}{place}: {display(texts)}", ""


def _short_of(report: Report, require: float) -> Iterator[str]:
    total = len(report.judgements)
    if report.errors:
        yield "nothing was verified"
    elif not report.reached:
        yield "no edited place was executed: nothing was verified"
    elif 100.0 * report.reached < require * total:
        share = 100.0 * report.reached / total
        yield f"{report.reached} of {total} edits were reached, {share:.0f} %; {require:g} % are required"


def summary(report: Report) -> str:
    """The last line: how many edits got which verdict."""
    always = (Verdict.EQUIVALENT, Verdict.DIFFERENT, Verdict.NOT_REACHED)
    sometimes = (Verdict.NONDETERMINISTIC, Verdict.NOT_COMPARABLE)
    verdicts = [*always, *(v for v in sometimes if report.count(v))]
    return f"{count(len(report.judgements), 'edit')}: {', '.join(f'{report.count(v)} {v.value}' for v in verdicts)}"
