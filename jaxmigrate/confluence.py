"""Do a program and its migration by hand come out alike? Both are rewritten, and every use of the library's names is compared.

``python -m jaxmigrate.confluence OLD NEW`` compares two files, ``python -m jaxmigrate.confluence PAIRS.jsonl`` the texts ``old``
and ``new`` of each line. Code that only one side has is left out, and so are two names of the same object.
"""

from __future__ import annotations

import ast
import functools
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from jaxmigrate.engine import rewrite_source
from jaxmigrate.history import History
from jaxmigrate.model import Settings, Status
from jaxmigrate.names import Source
from jaxmigrate.registry import known_newest, load

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SIMPLE_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Use:
    """A name of the library, where the rewritten text uses it."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Uses of one piece of code that came out differently."""

    scope: str
    """The function around them, dotted; empty at the top."""
    old: tuple[Use, ...]
    new: tuple[Use, ...]

    def __str__(self) -> str:
        sides = (f"{', '.join(f'{u.name} (line {u.line})' for u in uses) or 'nothing'}" for uses in (self.old, self.new))
        return f"{self.scope or 'top'}: {' / '.join(sides)}"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A simple statement, or the head of a compound one."""

    skeleton: str
    """Its text without the library's names."""
    uses: tuple[Use, ...]


def compare(old: str, new: str, settings: Settings | None = None) -> list[Disagreement]:
    """What the rewritten `old` and the rewritten `new` disagree on.

    Raises:
        ValueError: one of them cannot be rewritten.
    """
    settings = settings or Settings(known_newest())
    before, after = _pieces(_rewritten(old, settings)), _pieces(_rewritten(new, settings))
    return [d for scope in before.keys() & after.keys() for d in _compare(scope, before[scope], after[scope])]


def _rewritten(text: str, settings: Settings) -> Source:
    data = text.encode("utf-8")
    result = rewrite_source(data, settings)
    if result.status is Status.FAILED:
        raise ValueError(result.reason)
    pack = load()
    utf8 = result.after if result.status is Status.REWRITTEN else data
    source = Source(utf8.removeprefix(b"\xef\xbb\xbf"), facts=pack.facts, dead=pack.dead())
    source.embed(frozenset())
    return source


def _pieces(source: Source) -> dict[str, list[_Piece]]:
    """The statements of each function, in order."""
    uses = _uses(source)
    found: dict[str, list[_Piece]] = {}
    for node in sorted((n for n in ast.walk(source.tree) if isinstance(n, ast.stmt)), key=lambda n: source.span(n)):
        if isinstance(node, _SIMPLE_IMPORTS):
            continue
        start, end = source.span(node)
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            end = source.span(body[0])[0]
        inside = [(a, b, use) for a, b, use in uses if start <= a and b <= end]
        found.setdefault(_scope(source, node), []).append(
            _Piece(_skeleton(source, start, end, inside), tuple(u for *_, u in inside))
        )
    return found


def _uses(source: Source) -> list[tuple[int, int, Use]]:
    """Every whole chain that is a name of the library, by its place."""
    same = _same_objects(source.facts.history)
    roots = source.facts.history.members("").keys()
    found: list[tuple[int, int, Use]] = []
    for qualified, nodes in source.meanings().items():
        if qualified.partition(".")[0] not in roots:
            continue
        name = source.facts.canonical(same.get(qualified, qualified))
        for node, _ in nodes:
            if not isinstance(source.parent(node), ast.Attribute):
                start, end = source.span(node)
                found.append((start, end, Use(name, source.position(start).line)))
    return sorted(found, key=lambda entry: entry[:2])


@functools.lru_cache(maxsize=1)
def _same_objects(history: History) -> dict[str, str]:
    """Names that stand for one object: the successors of one old name."""
    same: dict[str, str] = {}
    for advice in history.advices.values():
        names = [s.name for s in advice.successors] if advice.verb == "move" else []
        if names:
            first = same.get(names[0], names[0])
            same |= dict.fromkeys(names, first)
    return same


def _skeleton(source: Source, start: int, end: int, inside: Sequence[tuple[int, int, Use]]) -> str:
    text, at = b"", start
    for a, b, _ in inside:
        text, at = text + source.utf8[at:a] + b"@", b
    return " ".join((text + source.utf8[at:end]).decode("utf-8", "replace").split())


def _scope(source: Source, node: ast.AST) -> str:
    names = [a.name for a in source.ancestors(node) if isinstance(a, _FUNCTIONS)]
    return ".".join(reversed(names))


def _compare(scope: str, old: Sequence[_Piece], new: Sequence[_Piece]) -> Iterator[Disagreement]:
    matcher = SequenceMatcher(None, [p.skeleton for p in old], [p.skeleton for p in new], autojunk=False)
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        if tag == "equal":
            for left, right in zip(old[a:a_end], new[b:b_end], strict=True):
                if [u.name for u in left.uses] != [u.name for u in right.uses]:
                    yield Disagreement(scope, *_different(left.uses, right.uses))
        elif tag == "replace":
            left_uses = [u for p in old[a:a_end] for u in p.uses]
            right_uses = [u for p in new[b:b_end] for u in p.uses]
            only_old, only_new = _different(left_uses, right_uses)
            if only_old and only_new:  # else one side has more code
                yield Disagreement(scope, only_old, only_new)


def _different(old: Iterable[Use], new: Iterable[Use]) -> tuple[tuple[Use, ...], tuple[Use, ...]]:
    """The uses of each side for which the other has no match."""
    old, new = list(old), list(new)
    left, right = Counter(u.name for u in new), Counter(u.name for u in old)
    return _unmatched(old, left), _unmatched(new, right)


def _unmatched(uses: Iterable[Use], partners: Counter[str]) -> tuple[Use, ...]:
    found: list[Use] = []
    for use in uses:
        if partners[use.name]:
            partners[use.name] -= 1
        else:
            found.append(use)
    return tuple(found)


def read(arguments: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Label, old and new text of each pair that the command line names."""
    if len(arguments) == 2:
        yield arguments[1], *(Path(path).read_text("utf-8") for path in arguments)  # type: ignore[misc]
        return
    with open(arguments[0], encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                pair = json.loads(line)
                yield str(pair.get("name", number)), pair["old"], pair["new"]


def main(arguments: Sequence[str]) -> int:
    """Compare what the arguments name and write one line for each disagreement; 1 if there is any."""
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m jaxmigrate.confluence PAIRS.jsonl | OLD NEW\n")
        return 2
    try:
        named = list(read(arguments))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        sys.stderr.write(f"cannot be read: {error}\n")
        return 2
    pairs = disagreed = failed = 0
    for name, old, new in named:
        pairs += 1
        try:
            found = compare(old, new)
        except ValueError as error:
            failed += 1
            sys.stdout.write(f"{name}: {error}\n")
            continue
        disagreed += bool(found)
        sys.stdout.write("".join(f"{name}: {d}\n" for d in found))
    sys.stdout.write(f"{pairs} pairs: {pairs - disagreed - failed} agree, {disagreed} disagree, {failed} cannot be rewritten\n")
    return int(bool(disagreed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
