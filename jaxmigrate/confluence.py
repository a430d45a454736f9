"""Do a program and its migration by hand come out alike? Both are rewritten, and every use of the library's names is compared.

``python -m jaxmigrate.confluence OLD NEW`` compares two files or folders, ``python -m jaxmigrate.confluence PAIRS.jsonl`` the
texts ``old`` and ``new`` of each line. What is a disagreement:

* Uses are compared inside what both sides have: a function of the same name, and there a statement that is the same but for the
  library's names, or stands in the place of another. Code that only one side has is no migration and is left out.
* Two names of one object agree: the successors of one old name (``jax.tree.map`` and ``jax.tree_util.tree_map``), names on record
  as one object, a private home of a public name (``jax._src.mesh.Mesh``), and two homes of one name if both are gone.
* An argument that its function lost or deprecated belongs to the name: ``jax.numpy.clip(a_min=)``.
* A name that is gone and that only the old side still has, in a statement that otherwise differs little, is a disagreement too.
* Where both sides are living names that were there before, no release asked for the change: it is reported as one by choice.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import re
import sys
import tokenize
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from jaxmigrate.engine import rewrite_source
from jaxmigrate.fates import Fate, judge
from jaxmigrate.history import History
from jaxmigrate.model import Settings, Status, Version
from jaxmigrate.names import Source
from jaxmigrate.registry import known_newest, load, text_files

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_PIECES = (ast.stmt, ast.ExceptHandler, ast.match_case)
_SIMPLE_IMPORTS = (ast.Import, ast.ImportFrom)
_ALIKE = 0.6
"""How much of the shape of a statement must have stayed for what is left out of it to count."""


@dataclass(frozen=True, slots=True)
class Use:
    """A name of the library, where the rewritten text uses it."""

    name: str
    """Of several names of one object always the same one."""
    line: int
    gone: bool | None = False
    """Whether the target lacks it; None when that is not on record."""

    @property
    def private(self) -> bool:
        """Whether it is an internal name of the library."""
        return "._" in self.name

    def agrees(self, other: Use) -> bool:
        """Whether both are names of one object."""
        if self.name == other.name:
            return True
        if self.name.rpartition(".")[2] != other.name.rpartition(".")[2]:
            return False
        alike = self.gone == other.gone or self.gone is None or other.gone is None
        return alike and (self.gone is True or self.private or other.private)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Uses of one piece of code that came out differently."""

    scope: str
    """The function around them, dotted; empty at the top."""
    old: tuple[Use, ...]
    new: tuple[Use, ...]
    choice: bool = False
    """Whether both sides are living names that were in the programs before: no release asked for the change."""

    def __str__(self) -> str:
        sides = (f"{', '.join(f'{u.name} (line {u.line})' for u in uses) or 'nothing'}" for uses in (self.old, self.new))
        return f"{self.scope or 'top'}: {' / '.join(sides)}{' (by choice)' if self.choice else ''}"


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
    before, after = (_pieces(_rewritten(text, settings), settings.target) for text in (old, new))
    found = [d for scope, pieces in before.items() if scope in after for d in _compare(scope, pieces, after[scope])]
    if not found:
        return found
    had = [{use.name for *_, use in _uses(_source(text.encode("utf-8")), settings.target)} for text in (old, new)]
    return [replace(d, choice=_is_choice(d.old, had[0]) and _is_choice(d.new, had[1])) for d in found]


def _is_choice(uses: Sequence[Use], had: Container[str]) -> bool:
    """Whether the uses were there before and nothing is wrong with them; a ``)`` ends those with lost arguments."""
    return all(not use.gone and not use.name.endswith(")") and use.name in had for use in uses)


def _rewritten(text: str, settings: Settings) -> Source:
    data = text.encode("utf-8")
    result = rewrite_source(data, settings)
    if result.status is Status.FAILED:
        raise ValueError(result.reason)
    return _source(result.after if result.status is Status.REWRITTEN else data)


def _source(utf8: bytes) -> Source:
    pack = load()
    source = Source(utf8.removeprefix(b"\xef\xbb\xbf"), facts=pack.facts, dead=pack.dead())
    source.embed(frozenset())
    return source


def _pieces(source: Source, target: Version) -> dict[str, list[_Piece]]:
    """The statements of each function, in order."""
    uses = _uses(source, target)
    starts = [start for start, *_ in uses]
    found: dict[str, list[_Piece]] = {}
    nodes = [n for n in ast.walk(source.tree) if isinstance(n, _PIECES) and not isinstance(n, _SIMPLE_IMPORTS)]
    for (start, end), node in sorted(((_extent(source, n), n) for n in nodes), key=lambda entry: entry[0]):
        inside = [use for use in uses[bisect_left(starts, start) : bisect_left(starts, end)] if use[1] <= end]
        found.setdefault(_scope(source, node), []).append(
            _Piece(_skeleton(source, start, end, inside), tuple(u for *_, u in inside))
        )
    return found


def _extent(source: Source, node: ast.AST) -> tuple[int, int]:
    """Where a statement is, or its head: up to what it holds."""
    start, end = source.span(node.pattern if isinstance(node, ast.match_case) else node)
    if isinstance(node, ast.Match):
        return start, source.span(node.cases[0].pattern)[0]
    body = getattr(node, "body", None)
    return start, source.span(body[0])[0] if isinstance(body, list) and body else end


def _uses(source: Source, target: Version) -> list[tuple[int, int, Use]]:
    """Every whole chain that is a name of the library, by its place; not what is gone and only the fallback of a guard."""
    history = source.facts.history
    same, roots = _same_objects(history), history.members("").keys()
    found: list[tuple[int, int, Use]] = []
    for qualified, nodes in source.meanings().items():
        if qualified.partition(".")[0] not in roots:
            continue
        name, gone = source.facts.canonical(same.get(qualified, qualified)), _is_gone(history, qualified, target)
        for node, _ in nodes:
            if not (isinstance(parent := source.parent(node), ast.Attribute) or (gone and source.guard(node))):
                start, end = source.span(node)
                lost = _lost_arguments(history, qualified, parent) if isinstance(parent, ast.Call) and parent.func is node else ""
                found.append((start, end, Use(name + lost, source.position(start).line, gone)))
    return sorted(found, key=lambda entry: entry[:2])


def _is_gone(history: History, qualified: str, target: Version) -> bool | None:
    found = judge(history, qualified, target)
    if found is None and "._" in qualified:
        whole = history.has_private(f"{qualified.rpartition('.')[0]}.?") is False  # else it lies below what is on record
        return False if whole else None
    if found is not None and found.fate is Fate.GONE and found.entry is not None and found.entry.at(target):
        return False  # an older target still has it
    return found is not None and found.fate is not Fate.DEPRECATED


def _lost_arguments(history: History, function: str, call: ast.Call) -> str:
    """Of the arguments given by keyword, those that the function has no more, or not for long."""
    lost = history.lost_parameters(function)
    given = sorted(k.arg for k in call.keywords if k.arg is not None and k.arg in lost)
    return f"({', '.join(f'{name}=' for name in given)})" if given else ""


@functools.lru_cache(maxsize=1)
def _same_objects(history: History) -> dict[str, str]:
    """Names that stand for one object: those on record as such, and the successors of one old name."""
    groups = [line.split() for text in text_files("same_objects.txt") for line in text.splitlines() if not line.startswith("#")]
    groups += [[s.name for s in a.successors] for a in history.advices.values() if a.verb == "move"]
    same: dict[str, str] = {}
    for names in filter(None, groups):
        first = _first(same, names[0])
        same |= {root: first for name in names[1:] if (root := _first(same, name)) != first}
    return {name: _first(same, name) for name in same}


def _first(same: dict[str, str], name: str) -> str:
    while name in same:
        name = same[name]
    return name


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
                if not all(map(Use.agrees, left.uses, right.uses)):
                    yield Disagreement(scope, *_different(left.uses, right.uses))
        elif tag == "replace":
            yield from _replaced(scope, old[a:a_end], new[b:b_end])


def _replaced(scope: str, old: Sequence[_Piece], new: Sequence[_Piece]) -> Iterator[Disagreement]:
    """Statements in the place of others, where both sides have names of their own, or one kept what is gone."""
    only_old, only_new = _different((u for p in old for u in p.uses), (u for p in new for u in p.uses))
    if only_old and only_new:  # else one side has more code
        yield Disagreement(scope, only_old, only_new)
    elif any(u.gone for u in only_old) and len(old) == len(new):
        for left, right in zip(old, new, strict=True):
            if SequenceMatcher(None, _shape(left), _shape(right)).ratio() >= _ALIKE:
                kept = [tuple(u for u in uses if u.gone) for uses in _different(left.uses, right.uses)]
                if any(kept):
                    yield Disagreement(scope, kept[0], kept[1])


def _shape(piece: _Piece) -> str:
    return re.sub(r"[\w.@]+", "@", piece.skeleton)


def _different(old: Iterable[Use], new: Iterable[Use]) -> tuple[tuple[Use, ...], tuple[Use, ...]]:
    """The uses of each side for which the other has no match."""
    only_old: list[Use] = []
    uses = list(new)
    left = Counter(u.name for u in uses)
    for use in old:
        if left[use.name]:
            left[use.name] -= 1
        else:
            only_old.append(use)
    only_new = _last(uses, left)
    for use in list(only_old):
        partner = next((u for u in only_new if use.agrees(u)), None)
        if partner is not None:
            only_old.remove(use)
            only_new.remove(partner)
    return tuple(only_old), tuple(only_new)


def _last(uses: Sequence[Use], counts: Counter[str]) -> list[Use]:
    """The last uses of each name, as many as `counts` says."""
    counts = Counter(counts)
    found: list[Use] = []
    for use in reversed(uses):
        if counts[use.name]:
            counts[use.name] -= 1
            found.append(use)
    return found[::-1]


def pairs_of(source: Path) -> Iterator[tuple[str, str, str]]:
    """Name, old and new text of each pair in a file: one JSON value a line, or one list of them.

    A pair is an object with ``old`` and ``new`` (or ``before`` and ``after``) and perhaps ``name``, or a list of the two texts.
    """
    text = sys.stdin.read() if str(source) == "-" else source.read_text("utf-8-sig")
    whole = json.loads(text) if text.lstrip()[:1] == "[" and text.lstrip()[1:].lstrip()[:1] in ("{", "[", "]") else None
    values = whole if whole is not None else [json.loads(line) for line in text.split("\n") if line.strip()]
    for number, value in enumerate(values, 1):
        yield _pair(str(number), value)


def _pair(name: str, value: object) -> tuple[str, str, str]:
    if isinstance(value, dict):
        old, new = (next((value[k] for k in keys if k in value), None) for keys in (("old", "before"), ("new", "after")))
        name = str(value.get("name", name))
    else:
        old, new = value if isinstance(value, list) and len(value) == 2 else (None, None)
    if not isinstance(old, str) or not isinstance(new, str):
        raise ValueError(f"pair {name} has no text for old and new")
    return name, old, new


def pairs_between(old: Path, new: Path) -> Iterator[tuple[str, str, str]]:
    """Name, old and new text of two files, or of the Python files that two folders share."""
    if not (old.is_dir() and new.is_dir()):
        yield str(new), _text(old), _text(new)
        return
    for path in sorted(old.rglob("*.py")):
        if (other := new / path.relative_to(old)).is_file():
            yield str(path.relative_to(old)), _text(path), _text(other)


def _text(path: Path) -> str:
    with tokenize.open(path) as file:  # as Python reads it
        return file.read()


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare what the arguments name and report; 0 if all pairs agree, 1 if one does not, 2 if they cannot be read."""
    parser = argparse.ArgumentParser(
        "python -m jaxmigrate.confluence", description="Do programs and their migrations by hand agree?"
    )
    parser.add_argument("old", type=Path, metavar="OLD | PAIRS", help="a file or folder, or alone: JSON with old and new texts")
    parser.add_argument("new", type=Path, nargs="?", metavar="NEW", help="its migration")
    parser.add_argument("--target", type=Version.parse, default=known_newest(), help="the JAX release to rewrite for")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    wishes = parser.parse_args(arguments)
    try:
        pairs = list(pairs_of(wishes.old) if wishes.new is None else pairs_between(wishes.old, wishes.new))
    except (OSError, ValueError, SyntaxError) as error:
        sys.stderr.write(f"cannot be read: {error}\n")
        return 2
    outcomes = (_outcome(name, old, new, Settings(wishes.target)) for name, old, new in pairs)
    return (_print_json if wishes.format == "json" else _print_text)(outcomes)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one pair."""

    name: str
    found: tuple[Disagreement, ...] = ()
    error: str = ""
    """Why it cannot be compared."""

    @property
    def agrees(self) -> bool:
        """Whether it was compared and nothing found."""
        return not self.found and not self.error


def _outcome(name: str, old: str, new: str, settings: Settings) -> Outcome:
    try:
        return Outcome(name, tuple(compare(old, new, settings)))
    except ValueError as error:
        return Outcome(name, error=str(error))


def _print_text(outcomes: Iterable[Outcome]) -> int:
    agree = disagree = failed = chosen = 0
    for outcome in outcomes:
        chosen += bool(outcome.found) and all(d.choice for d in outcome.found)
        agree, disagree, failed = agree + outcome.agrees, disagree + bool(outcome.found), failed + bool(outcome.error)
        lines = [outcome.error] if outcome.error else map(str, outcome.found)
        sys.stdout.write("".join(f"{outcome.name}: {line}\n" for line in lines))
    count, only = agree + disagree + failed, f" ({chosen} only by choice)" if chosen else ""
    sys.stdout.write(f"{count} pairs: {agree} agree, {disagree} disagree{only}, {failed} cannot be rewritten\n")
    return int(bool(disagree or failed))


def _print_json(outcomes: Iterable[Outcome]) -> int:
    listed = list(outcomes)
    for outcome in listed:
        entry = {"name": outcome.name, "agrees": outcome.agrees, "disagreements": [asdict(d) for d in outcome.found]}
        sys.stdout.write(json.dumps(entry | ({"error": outcome.error} if outcome.error else {})) + "\n")
    return int(not all(outcome.agrees for outcome in listed))


if __name__ == "__main__":
    sys.exit(main())
