"""The names of one import statement, line by line as its author laid them out.

Some of the names are taken, or others added, and the lines of the rest stay as they are; what then fits on one line goes there,
and a list that was aligned with its bracket still is. Text has ``\\n`` line ends. No libcst: it would take longer.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

_OUTSIDE = (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)

_FROM = re.compile(r"from\b.*\bimport\b", re.DOTALL)
PRAGMA = re.compile(r"#\s*(?:noqa|type:|pylint|isort|fmt|nosec|ruff|flake8|pyright|mypy|pytype|yapf|pragma)", re.IGNORECASE)
"""Comments for a tool that checks the very line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands."""

    limit: int
    """How long its lines may be."""
    indent: str = ""
    unit: str = "    "
    shared: bool = False
    """Whether other statements share its line."""
    aligned: bool = False
    """Whether long lists of the file begin their lines below the first name."""


@dataclass(frozen=True, slots=True)
class ImportName:
    """One name of an import statement."""

    name: str
    asname: str | None = None

    def __str__(self) -> str:
        return f"{self.name} as {self.asname}" if self.asname else self.name


@dataclass(frozen=True, slots=True)
class _Row:
    """The names on one line."""

    names: tuple[ImportName, ...]
    indent: str | None
    """None on the line of the word ``import``."""
    above: tuple[str, ...] = ()
    """Lines of comments, or blank ones, between the line before and this one."""
    comment: str = ""
    """The comment behind the names, with the white space before it."""
    raw: str = ""
    """The names as they were written."""

    def __str__(self) -> str:
        return self.raw or ", ".join(map(str, self.names))


@dataclass(frozen=True, slots=True)
class ImportList:
    """An import statement."""

    head: str
    """All up to the first name, or to the bracket: ``from jax.core import``, with the white space that follows."""
    rows: tuple[_Row, ...]
    brackets: bool = False
    opening: str = ""
    """The comment behind the bracket, with the white space before it; or the white space within the bracket."""
    below: tuple[str, ...] = ()
    """Lines of comments before the closing bracket."""
    comma: bool = False
    """Whether the last name has one."""
    closing: str | None = None
    """The indentation of a closing bracket on a line of its own."""

    @property
    def names(self) -> tuple[ImportName, ...]:
        """All names, in order."""
        return tuple(name for row in self.rows for name in row.names)

    @property
    def comments(self) -> list[str]:
        """All comments inside the statement."""
        found = [self.opening, *(c for row in self.rows for c in (*row.above, row.comment)), *self.below]
        return [c.strip() for c in found if c.strip()]

    @property
    def has_headings(self) -> bool:
        """Whether comments stand behind the bracket or on lines of their own."""
        return bool(self.opening.strip() or self.below or any(line for row in self.rows for line in row.above))

    @property
    def is_tall(self) -> bool:
        """Whether each name has a line to itself, behind a comma and between brackets that stand alone."""
        return self.closing is not None and self.comma and all(len(r.names) == 1 and r.indent is not None for r in self.rows)

    def __str__(self) -> str:
        return self.text()

    def text(self, *, shared: bool = False) -> str:
        """The statement; where its line is `shared` it does not end with a comment."""
        parts = [self.head, "(" + self.opening if self.brackets else ""]
        for number, row in enumerate(self.rows):
            if row.indent is not None:
                lead = "" if self.brackets else "\\" if self.head.endswith(" ") and number == 0 else " \\"
                parts += [lead, "\n", *(f"{row.indent if line else ''}{line}\n" for line in row.above), row.indent]
            parts.append(str(row))
            last = number == len(self.rows) - 1
            parts.append("" if last and not self.comma else ",")
            parts.append("" if last and self.brackets and self.closing is None else row.comment)
        if self.brackets:
            parts.append(self._end(shared=shared))
        return "".join(parts)

    def _end(self, *, shared: bool) -> str:
        last = self.rows[-1]
        if self.closing is not None:
            return "".join(["\n", *(f"{last.indent or ''}{line}\n" for line in self.below), self.closing, ")"])
        return f"{last.comment}\n)" if shared and last.comment else f"){last.comment}"

    def select(
        self, wanted: Callable[[ImportName], bool], taken: Callable[[ImportName], bool] = lambda _: False
    ) -> ImportList | None:
        """The statement with the `wanted` names alone; None without any.

        Comments come along, except those that belong to names which others have `taken` too; pragmas come along always.
        """
        rows = [*_selected(self.rows, wanted, taken)]
        if not rows:
            return None
        if self.rows[0].indent is None and self.closing is None and not rows[0].above:
            rows[0] = replace(rows[0], indent=None)
        others = any(taken(name) for name in self.names)
        opening = self.opening if not others or not self.opening.strip() or PRAGMA.match(self.opening.strip()) else ""
        below = () if others else self.below
        return replace(self, rows=tuple(rows), opening=opening, below=below)

    def moved(self, module: str, names: Mapping[ImportName, ImportName], column: str) -> ImportList:
        """The statement importing other `names` from a module; what was aligned with the bracket stays so.

        It begins behind the white space `column`.
        """
        head = _FROM.sub(f"from {module} import", self.head)
        old, new = (len(column) + len(h) + 1 for h in (self.head, head))
        rows = (replace(r, indent=" " * new if self.brackets and r.indent == " " * old else r.indent) for r in self.rows)
        return replace(self, head=head, rows=tuple(rows)).renamed(names)

    def renamed(self, names: Mapping[ImportName, ImportName]) -> ImportList:
        """The statement with other `names` in the places of its own."""
        new = [tuple(names[name] for name in row.names) for row in self.rows]
        rows = (replace(r, names=own, raw=r.raw if own == r.names else "") for r, own in zip(self.rows, new, strict=True))
        return replace(self, rows=tuple(rows))

    def added(self, name: ImportName, *, comment: str = "") -> ImportList:
        """The statement with one more name: in its place where the names are sorted, else at the end."""
        if name in self.names:
            return self
        place = _place([n.name for n in self.names], name.name)
        number = before = 0
        while number < len(self.rows) - 1 and before + len(self.rows[number].names) < place:
            before += len(self.rows[number].names)
            number += 1
        row = self.rows[number]
        single = len(self.rows) > 1 and all(len(r.names) == 1 for r in self.rows)
        if self.brackets and (comment or single or (row.comment and not PRAGMA.match(row.comment.strip()))):
            return replace(self, rows=_with_row(list(self.rows), place, _Row((name,), None, comment=comment)))
        names = (*row.names[: place - before], name, *row.names[place - before :])
        return replace(self, rows=(*self.rows[:number], replace(row, names=names, raw=""), *self.rows[number + 1 :]))

    def flat(self) -> ImportList:
        """The statement on one line, its only comment behind it."""
        comment = "".join(f"  {c}" for c in self.comments)
        head = re.sub(r"\s*\\\n\s*", " ", self.head).rstrip() + " "
        return ImportList(head, (_Row(self.names, None, comment=comment),))

    def tall(self, indent: str, unit: str) -> ImportList:
        """The statement in brackets, a line for each name."""
        rows = tuple(_Row((name,), indent + unit) for name in self.names)
        return ImportList(self.flat().head, rows, brackets=True, comma=True, closing=indent)

    def aligned(self, indent: str, limit: int) -> ImportList:
        """The statement in brackets, its lines beginning below its first name."""
        head = self.flat().head
        column = " " * (len(indent) + len(head) + 1)
        rows = (_Row(self.names[:1], None), _Row(self.names[1:], column))
        return ImportList(head, rows, brackets=True).refilled(limit, indent)

    def refilled(self, limit: int, start: str = "") -> ImportList:
        """The statement with its names spread over its lines anew, none of them longer than `limit`."""
        first, indent = self.rows[0], self.rows[-1].indent or ""
        width = len(start) + len(self.head) + len(self.opening) + 1
        rows: list[_Row] = [_Row((), first.indent)]
        column = width if first.indent is None else len(first.indent)
        for name in self.names:
            size = len(str(name)) + 2
            if rows[-1].names and column + size > limit:
                rows.append(_Row((), indent))
                column = len(indent)
            rows[-1] = replace(rows[-1], names=(*rows[-1].names, name))
            column += size
        return replace(self, rows=tuple(rows))

    def fitted(self, place: Place, *, tall: bool = False) -> ImportList:
        """The statement in the form that its author would give it after its names have changed.

        On one line if it fits there, unless it was `tall` and may stay so; else as before, or as long ones are in the file.
        """
        flat = self.flat()
        fits = len(place.indent) + len(str(flat)) <= place.limit
        if not self.brackets and len(self.rows) == 1:
            return self if fits or len(self.names) == 1 or self.comments else self._broken(place)
        if len(self.comments) > 1 or any(line for row in self.rows for line in row.above) or self.below:
            return self
        if self.comments:
            return flat if len(self.names) == 1 and not self.is_tall and not place.shared else self
        if fits and not (tall and self.is_tall and len(self.names) > 1):
            return flat
        if len(self.rows) == 1 and self.closing is None:
            return self._broken(place)
        return self if all(len(r.names) == 1 for r in self.rows) else self.refilled(place.limit, place.indent)

    def _broken(self, place: Place) -> ImportList:
        return self.aligned(place.indent, place.limit) if place.aligned else self.tall(place.indent, place.unit)


def parse(text: str) -> ImportList:
    """Read one import statement that names what it imports (no star)."""
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(text + "\n").readline) if t.type not in _OUTSIDE]
    at = next(number for number, token in enumerate(tokens) if token.string == "import")
    brackets = tokens[at + 1].string == "("
    comments = {t.start[0]: t for t in tokens if t.type == tokenize.COMMENT}
    code = [t for t in tokens[at + 1 + brackets :] if t.type != tokenize.COMMENT]
    end = code.pop() if brackets else None
    lines = _Lines(text.split("\n"), comments)
    opening = tokens[at + brackets]
    found = [*_names(code)]
    rows = [*lines.rows(found, opening.end[0], brackets=brackets)]
    last = found[-1].end[0]
    return ImportList(
        lines.head(opening if brackets else found[0].first),
        tuple(rows),
        brackets,
        lines.opening(opening, found[0].first) if brackets else "",
        lines.between(last, end.start[0]) if end is not None else (),
        brackets and code[-1].string == ",",
        lines.indent(end) if end is not None and end.start[0] > last else None,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A name in the text."""

    name: ImportName
    first: tokenize.TokenInfo
    end: tuple[int, int]


def _names(code: list[tokenize.TokenInfo]) -> Iterator[_Found]:
    while code:
        size = next((number for number, token in enumerate(code) if token.string == ","), len(code))
        own, code = code[:size], code[size + 1 :]
        words = [token.string for token in own]
        asname = words[-1] if "as" in words else None
        name = "".join(words[: words.index("as")] if asname else words)
        yield _Found(ImportName(name, asname), own[0], own[-1].end)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a statement, numbered from 1."""

    lines: list[str]
    comments: dict[int, tokenize.TokenInfo]

    def head(self, first: tokenize.TokenInfo) -> str:
        """The text before a token; what continues the line before the first name is no part of it."""
        before = [*self.lines[: first.start[0] - 1], self.lines[first.start[0] - 1][: first.start[1]]]
        text = "\n".join(before)
        return text if first.string == "(" else re.sub(r"(?s)\bimport\b\s*\\\n\s*\Z", "import ", text)

    def opening(self, bracket: tokenize.TokenInfo, first: tokenize.TokenInfo) -> str:
        """What follows the opening bracket on its line, up to a name."""
        line = self.lines[bracket.end[0] - 1]
        own = line[bracket.end[1] : first.start[1] if first.start[0] == bracket.end[0] else None]
        return own if first.start[0] == bracket.end[0] else own.rstrip()

    def indent(self, token: tokenize.TokenInfo) -> str:
        """The white space at the start of the line of a token."""
        line = self.lines[token.start[0] - 1]
        return line[: len(line) - len(line.lstrip())]

    def between(self, above: int, below: int) -> tuple[str, ...]:
        """The lines between two others, without the white space around them."""
        return tuple(line.strip() for line in self.lines[above : below - 1] if line.strip() != "\\")

    def rows(self, found: list[_Found], head: int, *, brackets: bool) -> Iterator[_Row]:
        """The names line by line; `head` is the number of the line of ``import`` and the bracket."""
        previous = head
        while found:
            start = found[0].first.start[0]
            size = next((n for n, name in enumerate(found) if name.first.start[0] != start), len(found))
            own, found = found[:size], found[size:]
            stop = own[-1].end
            raw = self.lines[start - 1][own[0].first.start[1] : stop[1]] if stop[0] == start else ""
            indent = self.indent(own[0].first) if start > head else None
            above = self.between(previous, start) if brackets else ()
            yield _Row(tuple(name.name for name in own), indent, above, self.comment(stop), raw)
            previous = stop[0]

    def comment(self, stop: tuple[int, int]) -> str:
        """The comment of a line, with the white space before it."""
        token = self.comments.get(stop[0])
        if token is None:
            return ""
        before = self.lines[stop[0] - 1][: token.start[1]]
        return before[len(before.rstrip()) :] + token.string


def _selected(
    rows: tuple[_Row, ...], wanted: Callable[[ImportName], bool], taken: Callable[[ImportName], bool]
) -> Iterator[_Row]:
    """The rows with the `wanted` names, with the comments that belong to no name that others have `taken`.

    A comment on a line of its own is about all names down to the next such line.
    """
    carried: tuple[str, ...] = ()
    for number, row in enumerate(rows):
        if row.above:
            section = [row, *_until_above(rows[number + 1 :])]
            carried = () if any(taken(name) for r in section for name in r.names) else row.above
        names = tuple(filter(wanted, row.names))
        if not names:
            continue
        comment = row.comment
        if any(map(taken, row.names)) and not PRAGMA.match(comment.strip()):
            comment = ""
        yield replace(row, names=names, above=carried, comment=comment, raw=row.raw if names == row.names else "")
        carried = ()


def _until_above(rows: tuple[_Row, ...]) -> Iterator[_Row]:
    for row in rows:
        if row.above:
            return
        yield row


def _with_row(rows: list[_Row], place: int, new: _Row) -> tuple[_Row, ...]:
    """Rows with one more, before the name at `place`; at the head it takes the place of a first row beside the bracket."""
    indent = rows[-1].indent or ""
    number = before = 0
    while number < len(rows) and before < place:
        before += len(rows[number].names)
        number += 1
    if number == 0 and rows[0].indent is None:
        return (new, replace(rows[0], indent=indent), *rows[1:])
    return (*rows[:number], replace(new, indent=indent), *rows[number:])


def _by_type(name: str) -> tuple[int, str]:
    """Constants, classes, the rest: the order of isort and ruff."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name.lower()


def _plain(name: str) -> tuple[int, str]:
    return 0, name


def _caseless(name: str) -> tuple[int, str]:
    return 0, name.lower()


def _place(names: list[str], new: str) -> int:
    """Where a name goes: in order where the names are in one, else behind them."""
    for key in (_by_type, _caseless, _plain):
        keys = [key(name) for name in names]
        if keys == sorted(keys):
            return sum(k <= key(new) for k in keys)
    return len(names)


def joined(lists: list[ImportList], place: Place) -> ImportList:
    """One ``from`` import with the names of several of the same module, laid out as the longest of them."""
    base = max(lists, key=lambda one: (bool(one.comments), len(one.names)))
    rest = [one for one in lists if one is not base]
    if any(other.comments for other in rest) and not base.brackets:
        base = base.tall(place.indent, place.unit)
    for other in rest:
        for row in other.rows:
            for name in row.names:
                base = base.added(name, comment=row.comment if name is row.names[-1] else "")
    return base
