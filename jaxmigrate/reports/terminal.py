"""The report for a terminal: counts, then what to look at, then what is left and why, grouped and aligned."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jaxmigrate.model import Applicability, Outcome, Settings, Severity
from jaxmigrate.reports.summary import Place, Summary, count, display
from jaxmigrate.reports.text import closing, headline, held_by, hunk, left_alone

PLACES = 8
"""Places of one group that are shown; a pipe gets all of them."""

COLUMNS = {"safe": "green", "review": "yellow", "unsafe": "red", "held": "magenta", "manual": "red", "deprecated": "dim"}


def render_terminal(
    summary: Summary, *, width: int, color: bool, wrote: bool, settings: Settings | None, elapsed: float | None
) -> str:
    """The whole report at `width` columns."""
    return printed(((part, False) for part in _parts(summary, wrote, settings, elapsed)), width=width, color=color)


def printed(parts: Iterable[tuple[RenderableType, bool]], *, width: int, color: bool) -> str:
    """Parts as a terminal of this width shows them, without blanks at the ends of lines.

    Args:
        parts: what to print, and whether it shall run on beyond the width, as what people copy must.
        width: columns of the terminal.
        color: use ANSI colours.
    """
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=True,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    for part, runs_on in parts:
        console.print(part, soft_wrap=runs_on)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().split("\n")[:-1])


def _parts(summary: Summary, wrote: bool, settings: Settings | None, elapsed: float | None) -> Iterator[RenderableType]:
    yield Text(_sentence(headline(summary, wrote, elapsed)), style="bold")
    if summary.table():
        yield Padding(_counts(summary), (1, 0, 0, 2))
    yield from _section("First of all: a guard hides that these fail", summary.urgent, "red")
    done = "applied" if wrote else "would be applied"
    yield from _section(f"Look at these: {done}, but each rests on an assumption", _others(_assumed(summary)), "yellow")
    yield from _section("Left to do by hand", _others(summary.left(Outcome.MANUAL)), "red")
    yield from _section("Held back", _others(summary.left(Outcome.HELD)), "magenta")
    yield from _section("Deprecated, or only to know", summary.deprecated, "dim")
    if summary.failed or summary.skipped:
        yield Padding(_files(summary), (1, 0, 0, 0))
    last = [*left_alone(summary), *closing(summary, wrote, settings)]
    if last:
        yield Text()
        yield Group(*(_closing_line(line) for line in last))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _assumed(summary: Summary) -> list[Place]:
    return [*summary.applied(Applicability.REVIEW), *summary.applied(Applicability.UNSAFE)]


def _others(places: Iterable[Place]) -> list[Place]:
    """Without those that were shown before everything else."""
    return [place for place in places if place.finding.severity is not Severity.URGENT]


def _counts(summary: Summary) -> Table:
    table = summary.table()
    used = {column: style for column, style in COLUMNS.items() if any(row[column] for row in table.values())}
    grid = Table(box=None, padding=(0, 2, 0, 0), show_header=True, header_style="dim")
    grid.add_column("codemod", no_wrap=True)
    for column, style in used.items():
        grid.add_column(column, justify="right", style=style)
    for name, row in table.items():
        grid.add_row(name, *(str(row[column] or "") for column in used))
    if len(table) > 1:
        totals = (sum(row[column] for row in table.values()) for column in used)
        grid.add_row("in all", *(str(total) for total in totals), style="bold")
    return grid


def _section(title: str, places: Sequence[Place], style: str) -> Iterator[RenderableType]:
    if not places:
        return
    yield Padding(Text(f"{title} ({len(places)})", style=f"bold {style}"), (1, 0, 0, 0))
    for (codemod, message), group in _grouped(places).items():
        label = Text.assemble((codemod, "bold"), ": ", display(message))
        yield Padding(label, (0, 0, 0, 2))
        yield Padding(Group(*_places(group)), (0, 0, 0, 4))


def _grouped(places: Iterable[Place]) -> dict[tuple[str, str], list[Place]]:
    groups: dict[tuple[str, str], list[Place]] = {}
    for place in places:
        finding = place.finding
        held = f" ({held_by(finding)})" if finding.outcome is Outcome.HELD else ""
        groups.setdefault((finding.codemod, finding.message + held), []).append(place)
    return groups


def _places(group: Sequence[Place]) -> Iterator[RenderableType]:
    for place in group[:PLACES]:
        yield Text(place.where, style="cyan", overflow="fold")
        styles = {"-": "red", "+": "green"}
        yield from (Padding(Text(line, style=styles[line[0]], overflow="fold"), (0, 0, 0, 2)) for line in hunk(place.finding))
    if len(group) > PLACES:
        more = count(len(group) - PLACES, "more place")
        yield Text(f"... and {more}; piped into a file, this report lists all of them", style="dim")


def _files(summary: Summary) -> RenderableType:
    lines: list[RenderableType] = []
    for title, results, style in (("Failed", summary.failed, "red"), ("Skipped", summary.skipped, "dim")):
        if results:
            lines.append(Text(f"{title} ({len(results)})", style=f"bold {style}"))
            shown = results if style == "red" else results[:PLACES]
            lines += [Padding(_file(display(r.path), display(r.reason)), (0, 0, 0, 2)) for r in shown]
            if len(results) > len(shown):
                lines.append(Padding(Text(f"... and {len(results) - len(shown)} more", style="dim"), (0, 0, 0, 2)))
    return Group(*lines)


def _file(path: str, reason: str) -> Text:
    return Text.assemble((path, "cyan"), ": ", reason)


def _closing_line(line: str) -> RenderableType:
    label, colon, rest = line.partition(": ")
    if colon and label in ("Next", "Left"):
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_row(Text(f"{label}:", style="bold"), rest)
        return grid
    return Text(line)
