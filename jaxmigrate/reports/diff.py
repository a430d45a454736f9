"""A file's change as a unified diff that ``git apply`` and ``patch -p1`` take, byte for byte.

Everything here is bytes: a patch of a latin-1 file with CRLF line ends must hold exactly these bytes. Lines end at ``\\n`` and
nowhere else, as Git counts them, so that form feeds, lone carriage returns and U+2028 stay inside their line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from jaxmigrate.model import FileResult

CONTEXT = 3
SMALL = 1_000_000
"""Gaps of at most this many line pairs are compared by difflib, whose cost is quadratic; larger ones only by unique lines."""

RESET, BOLD, RED, GREEN, CYAN = b"\x1b[m", b"\x1b[1m", b"\x1b[31m", b"\x1b[32m", b"\x1b[36m"


class Change(NamedTuple):
    """Lines ``[a, a_end)`` of the old text became lines ``[b, b_end)`` of the new one."""

    a: int
    a_end: int
    b: int
    b_end: int


def patch(result: FileResult, name: str, *, color: bool = False) -> bytes:
    """The unified diff of a rewritten file under the path `name`; empty when the bytes are equal.

    Args:
        result: a file with its bytes before and after.
        name: the path to print, with forward slashes, relative to where the patch shall be applied.
        color: add ANSI colours (no longer a patch then).
    """
    old, new = _lines(result.before), _lines(result.after)
    hunks = list(_hunks(_changes(old, new), len(old)))
    if not hunks:
        return b""
    head = [(BOLD, b"--- " + _path("a", name)), (BOLD, b"+++ " + _path("b", name))]
    body = [line for hunk in hunks for line in _render(hunk, old, new)]
    return b"".join(_paint(line, style if color else b"") for style, line in head + body)


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _path(side: str, name: str) -> bytes:
    """The path as Git writes it: C-quoted when it holds control characters or quotes, ended by a tab when it holds a space."""
    raw = f"{side}/{name.lstrip('/')}".encode("utf-8", "surrogateescape")
    if any(byte < 0x20 or byte in b'"\\\x7f' for byte in raw):
        return b'"' + b"".join(_escape(byte) for byte in raw) + b'"\n'
    return raw + (b"\t\n" if b" " in raw else b"\n")


def _escape(byte: int) -> bytes:
    if byte in b'"\\':
        return b"\\%c" % byte
    return b"\\%03o" % byte if byte < 0x20 or byte == 0x7F else b"%c" % byte


def _changes(old: Sequence[bytes], new: Sequence[bytes]) -> list[Change]:
    """What changed, in order: equal ends are cut off, then the gaps between lines that are unique on both sides are compared."""
    found: list[Change] = []
    pending = [Change(0, len(old), 0, len(new))]
    while pending:
        gap = _trim(pending.pop(), old, new)
        if gap.a == gap.a_end or gap.b == gap.b_end:
            if gap.a < gap.a_end or gap.b < gap.b_end:
                found.append(gap)
        elif (gap.a_end - gap.a) * (gap.b_end - gap.b) <= SMALL:
            found.extend(_compare(gap, old, new))
        else:
            anchors = _anchors(gap, old, new)
            if anchors:
                pending.extend(_between(gap, anchors))
            else:
                found.append(gap)
    return sorted(found)


def _trim(gap: Change, old: Sequence[bytes], new: Sequence[bytes]) -> Change:
    a, a_end, b, b_end = gap
    while a < a_end and b < b_end and old[a] == new[b]:
        a, b = a + 1, b + 1
    while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
        a_end, b_end = a_end - 1, b_end - 1
    return Change(a, a_end, b, b_end)


def _compare(gap: Change, old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Change]:
    matcher = SequenceMatcher(None, old[gap.a : gap.a_end], new[gap.b : gap.b_end], autojunk=False)
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        if tag != "equal":
            yield Change(gap.a + a, gap.a + a_end, gap.b + b, gap.b + b_end)


def _anchors(gap: Change, old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """The longest run, ascending on both sides, of lines that occur once in each (patience diff)."""
    a_count, b_count = Counter(old[gap.a : gap.a_end]), Counter(new[gap.b : gap.b_end])
    where = {new[j]: j for j in range(gap.b, gap.b_end) if b_count[new[j]] == 1}
    tails: list[int] = []
    ends: list[int] = []
    chain: list[tuple[int, int, int]] = []
    for i in range(gap.a, gap.a_end):
        j = where.get(old[i], -1) if a_count[old[i]] == 1 else -1
        if j >= 0:
            at = bisect_left(tails, j)
            tails[at : at + 1], ends[at : at + 1] = [j], [len(chain)]
            chain.append((i, j, ends[at - 1] if at else -1))
    picked: list[tuple[int, int]] = []
    last = ends[-1] if ends else -1
    while last >= 0:
        i, j, last = chain[last]
        picked.append((i, j))
    return picked[::-1]


def _between(gap: Change, anchors: list[tuple[int, int]]) -> Iterator[Change]:
    a, b = gap.a, gap.b
    for i, j in anchors:
        yield Change(a, i, b, j)
        a, b = i + 1, j + 1
    yield Change(a, gap.a_end, b, gap.b_end)


def _hunks(changes: Sequence[Change], length: int) -> Iterator[tuple[list[Change], int]]:
    """Changes grouped where their context would touch; each with the length of the old text, which bounds the context."""
    group: list[Change] = []
    for change in changes:
        if group and change.a - group[-1].a_end > 2 * CONTEXT:
            yield group, length
            group = []
        group.append(change)
    if group:
        yield group, length


def _render(hunk: tuple[list[Change], int], old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    group, length = hunk
    first, last = group[0], group[-1]
    lead, trail = min(CONTEXT, first.a), min(CONTEXT, length - last.a_end)
    old_span = _range(first.a - lead, last.a_end + trail)
    new_span = _range(first.b - lead, last.b_end + trail)
    yield CYAN, f"@@ -{old_span} +{new_span} @@\n".encode()
    at = first.a - lead
    for change in group:
        yield from ((b"", _prefix(b" ", line)) for line in old[at : change.a])
        yield from ((RED, _prefix(b"-", line)) for line in old[change.a : change.a_end])
        yield from ((GREEN, _prefix(b"+", line)) for line in new[change.b : change.b_end])
        at = change.a_end
    yield from ((b"", _prefix(b" ", line)) for line in old[at : last.a_end + trail])


def _range(start: int, end: int) -> str:
    count = end - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _prefix(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def _paint(line: bytes, style: bytes) -> bytes:
    return style + line.removesuffix(b"\n") + RESET + b"\n" if style else line
