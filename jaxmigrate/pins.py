"""Version requirements on the library: found in requirement files, build files, environments, Dockerfiles, notebooks and shell.

What the requirements allow tells which JAX a program was written for, whether the target may be installed at all, and whether
their lower bound is too low for the rewritten code. The forms are those of PEP 440 and PEP 508, of conda and of Poetry.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

from jaxmigrate.discovery import BUILD_SCRIPTS, SCRIPT_BLOCK
from jaxmigrate.document import read
from jaxmigrate.gate import packages
from jaxmigrate.hosts.text import silenced
from jaxmigrate.model import Applicability, FileResult, Finding, Outcome, Position, Settings, Splice, Status, Version

_CLAUSE = rb"(?:===|==|>=|<=|~=|!=|<|>|\^|~|=)\s*v?[0-9][0-9A-Za-z.*+!_-]*"
_SPEC = re.compile(rb"(===|==|>=|<=|~=|!=|<|>|\^|~|=)?\s*v?([0-9]+(?:\.[0-9]+)*)(\.\*)?([0-9A-Za-z.+!_-]*)")
_LISTS = (".txt", ".in", ".cfg", ".toml", ".py", ".yml", ".yaml", "Pipfile")
"""How files are called in which a name in capitals is a distribution and no variable."""
_TABLES = (".toml", "Pipfile")
_TABLE = re.compile(rb"""\s*\[(?:[^\]\n]*\bdependencies\.["']?([\w-]+)["']?\])?""")
_VERSION = re.compile(rb"""\s*version\s*=\s*["']([^"'\n]+)["']""")
_SCRIPT = re.compile(rb"^" + SCRIPT_BLOCK + rb"[ \t]*\r?\n((?:#(?: [^\r\n]*)?\r?\n)*?)# ///[ \t]*\r?$", re.MULTILINE)
_SOURCE = re.compile(rb'"source"\s*:\s*((?:\[\s*)?(?:"(?:[^"\\]|\\.)*"\s*,?\s*)*)')
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_PART = re.compile(rb"((?:[^\\]|\\[^n])+)(?:\\n)?|\\n")
"""A line within a string of JSON."""
_INSTALLS = re.compile(rb"\b(?:pip3?|conda|mamba|uv)\b")


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition: operator, version, and the bytes ``[start, end)`` of both together."""

    operator: str
    numbers: tuple[int, ...]
    """As written: 0.4.0 and 0.4 are not the same behind ``~=``."""
    start: int
    end: int
    text: str

    @property
    def version(self) -> Version:
        """The version that it compares with."""
        return Version.parse(".".join(map(str, self.numbers)))

    @property
    def upper(self) -> tuple[Version, bool] | None:
        """The newest release that it allows and whether that itself is allowed; None when it does not say."""
        numbers = self.numbers
        if self.operator in ("<=", "<"):
            return self.version, self.operator == "<="
        if self.text.endswith(".*") and self.operator == "==":
            return _next(numbers, len(numbers) - 1), False
        if self.operator == "=" and len(numbers) < 3:  # conda: a prefix
            return _next(numbers, len(numbers) - 1), False
        if self.operator in ("==", "===", "="):
            return self.version, True
        if self.operator == "~=":
            return _next(numbers, max(len(numbers) - 2, 0)), False
        if self.operator == "^":
            return _next(numbers, next((i for i, n in enumerate(numbers) if n), len(numbers) - 1)), False
        if self.operator == "~":
            return _next(numbers, min(1, len(numbers) - 1)), False
        return None


def _next(numbers: tuple[int, ...], index: int) -> Version:
    """The version in which the number at `index` is one higher and nothing follows."""
    return Version.parse(".".join(map(str, (*numbers[:index], numbers[index] + 1))))


@dataclass(frozen=True, slots=True)
class Pin:
    """A requirement on one distribution: the bytes ``[start, end)`` and its conditions."""

    package: str
    start: int
    end: int
    text: str
    clauses: tuple[Clause, ...]
    suppressed: frozenset[str] | None = None
    """Codemods that a comment on its line silences; an empty name for all, None for none."""

    @property
    def upper(self) -> tuple[Version, bool] | None:
        """The tightest upper end."""
        return min((c.upper for c in self.clauses if c.upper is not None), key=lambda u: (u[0], u[1]), default=None)

    def forbids(self, version: Version) -> bool:
        """Whether everything that it allows is older."""
        upper = self.upper
        return upper is not None and (upper[0] < version or (upper[0] == version and not upper[1]))


def find(name: str, data: bytes, packages: Sequence[str]) -> list[Pin]:
    """The requirements on `packages` in a file of that base name."""
    found: list[Pin] = []
    table = ""
    for start, line in _lines(name, data):
        if header := _TABLE.match(line):
            table = (header[1] or b"").decode() if name.endswith(_TABLES) else ""
        if any(package.encode() in line.lower() for package in packages):
            found += (_moved(pin, start, line) for pin in _in_line(name, _without_comment(line), packages))
        elif table in packages and (version := _VERSION.match(line)):
            found.append(_moved(_pin(line, version, version.span(1), bare="^", package=table), start, line))
    return found


def _lines(name: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that may hold requirements, and where they begin."""
    if name.endswith(".ipynb"):
        yield from _notebook_lines(data)
        return
    block = _SCRIPT.search(data) if name.endswith(".py") and name not in BUILD_SCRIPTS else None
    if block is None and name.endswith(".py") and name not in BUILD_SCRIPTS:
        return
    start, end = block.span(1) if block else (0, len(data))
    for line in data[start:end].splitlines(keepends=True):
        yield start, re.sub(rb"^#", b" ", line) if block else line
        start += len(line)


def _notebook_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """What installs something in the source of the cells; what a command printed stands in their outputs."""
    for source in _SOURCE.finditer(data):
        goes_on = False
        for string in _STRING.finditer(data, *source.span(1)):
            for text in _PART.finditer(data, *string.span(1)):
                line = text[1] or b""
                if goes_on or _INSTALLS.search(line):
                    yield text.start(), line
                    goes_on = line.endswith(rb"\\")
                else:
                    goes_on = False


def _without_comment(line: bytes) -> bytes:
    """The line up to its comment."""
    if line.lstrip().startswith((b"#", b";", b"//")):
        return b""
    return re.split(rb"(?:^|\s)#", line, maxsplit=1)[0]


def _moved(pin: Pin, shift: int, line: bytes) -> Pin:
    clauses = tuple(Clause(c.operator, c.numbers, c.start + shift, c.end + shift, c.text) for c in pin.clauses)
    return Pin(pin.package, pin.start + shift, pin.end + shift, pin.text, clauses, silenced(line))


def _in_line(name: str, line: bytes, packages: Sequence[str]) -> Iterator[Pin]:
    names = b"|".join(re.escape(p.encode()) for p in sorted(packages, key=len, reverse=True))
    quoted = name.endswith(".py")
    before = rb"(?<=[\"'])" if quoted else rb"(?<![\w./-])"
    plain = rb"((?i:" + names + rb"))(?:\s*\[[\w\s,.-]*\])?\s*\(?\s*((?:" + _CLAUSE + rb"\s*,?\s*)+)"
    for match in re.finditer(before + plain, line):
        if match[1].islower() or (re.match(rb"=[^=]", match[2]) is None and name.endswith(_LISTS)):
            yield _pin(line, match, match.span(2))
    if not quoted:  # TOML: jax = "^0.4.1", jax = {version = ">=0.4"}
        table = rb"^\s*[\"']?(" + names + rb")[\"']?\s*=\s*(?:\{[^}\n]*\bversion\s*=\s*)?[\"']([^\"'\n]+)[\"']"
        for match in re.finditer(table, line):
            if name.endswith(_TABLES):
                yield _pin(line, match, match.span(2), bare="^")
    wheel = rb"\b(" + names + rb")-([0-9]+(?:\.[0-9]+)+)[0-9A-Za-z.+_]*-[\w.]+-[\w.]+-[\w.]+\.whl"
    for match in re.finditer(wheel, line):
        yield _pin(line, match, match.span(2), bare="==")


def _pin(line: bytes, match: re.Match[bytes], span: tuple[int, int], bare: str = "", package: str = "") -> Pin:
    clauses = []
    for clause in _SPEC.finditer(line, *span):
        operator = (clause[1] or b"").decode() or bare
        if operator:
            text = clause[0].decode("utf-8", "replace").rstrip()
            numbers = tuple(map(int, clause[2].decode().split(".")))
            clauses.append(Clause(operator, numbers, clause.start(), clause.start() + len(text.encode()), text.rstrip(",")))
    end = max((c.end for c in clauses), default=match.end())
    package = package or match[1].decode().lower()
    shown = f"{package} {','.join(c.text for c in clauses)}" if bare else line[match.start() : end].decode("utf-8", "replace")
    return Pin(package, match.start(), end, shown, tuple(clauses))


def origin(pins: Iterable[Pin], library: str, releases: Sequence[Version]) -> Version | None:
    """The JAX that a program was written for: the newest of `releases` that its exact pins and caps allow.

    Lower bounds alone do not tell: such a program may be up to date.
    """
    uppers = [pin.upper for pin in pins if pin.package == library and pin.upper is not None]
    if not uppers:
        return None
    return max((v for v in releases if any(v < upper or (v == upper and itself) for upper, itself in uppers)), default=None)


def judge(
    path: str, data: bytes, pins: Sequence[Pin], settings: Settings, needs: Version | None, codemod: str, library: str
) -> FileResult | None:
    """What is to be said and done about the requirements of one file; None if nothing is.

    `needs` is the oldest JAX that has what the rewritten code uses, as far as the files that were parsed tell.
    """
    judged = [j for pin in pins for j in _judged(path, data, pin, settings, needs, codemod, library)]
    if not judged:
        return None
    findings = tuple(finding for finding, _ in judged)
    splices = [splice for _, splice in judged if splice is not None]
    if not splices:
        return FileResult(path, Status.UNCHANGED, findings=findings)
    after = data
    for splice in sorted(splices, key=lambda s: s.start, reverse=True):
        after = after[: splice.start] + splice.text.encode() + after[splice.end :]
    return FileResult(path, Status.REWRITTEN, data, after, findings)


def _judged(
    path: str, data: bytes, pin: Pin, settings: Settings, needs: Version | None, codemod: str, library: str
) -> Iterator[tuple[Finding, Splice | None]]:
    """What is to be said of one requirement, and what to write instead where that may be done."""
    if pin.forbids(settings.target):
        wanted = f": the rewritten code needs {needs} or newer" if needs is not None else ""
        message = f"{pin.text} keeps JAX {settings.target}, the target, from being installed{wanted}"
        yield _finding(data, pin, message, codemod, Applicability.MANUAL, Outcome.MANUAL), None
    elif needs is None or pin.package != library:
        return
    elif pin.forbids(needs):
        message = f"{pin.text} keeps JAX {needs}, which the rewritten code needs, from being installed"
        yield _finding(data, pin, message, codemod, Applicability.MANUAL, Outcome.MANUAL), None
    else:
        for clause, new in _too_low(pin, needs):
            message = f"the rewritten code needs JAX {needs}, and {pin.text} allows older ones"
            if "<" in new and _is_of_a_shell(path, data, pin):
                message += f": quote it and write {pin.package}{new}"
                yield _finding(data, pin, message, codemod, Applicability.MANUAL, Outcome.MANUAL), None
                continue
            applied = settings.allowed >= Applicability.UNSAFE and pin.suppressed is None
            outcome = Outcome.APPLIED if applied else Outcome.HELD
            finding = _finding(data, pin, message, codemod, Applicability.UNSAFE, outcome, clause, new, needs)
            yield finding, Splice(clause.start, clause.end, new) if finding.outcome is Outcome.APPLIED else None


def _too_low(pin: Pin, needs: Version) -> Iterator[tuple[Clause, str]]:
    """The lower bounds that a newer one would replace, and that one; an exact pin says more than that and stays."""
    for clause in pin.clauses:
        if clause.version >= needs or clause.operator not in (">=", ">", "~=", "^", "~", "==", "="):
            continue
        upper = clause.upper
        cap = f",<{_shortened(upper[0])}" if upper is not None and not upper[1] else ""
        if cap or clause.operator in (">=", ">"):
            gap = re.match(r"[^\w\s]+(\s*)", clause.text)
            yield clause, f">={gap[1] if gap else ''}{needs}{cap}"


def _shortened(version: Version) -> str:
    return re.sub(r"(?:\.0)+$", "", str(version))


def _is_of_a_shell(path: str, data: bytes, pin: Pin) -> bool:
    """Whether a shell may read the requirement, to which an angle bracket says something else."""
    quoted = data[pin.start - 1 : pin.start] in (b"'", b'"')
    return not quoted and not path.endswith((".txt", ".in", ".pip", ".cfg", ".toml", ".py", "Pipfile"))


def _finding(
    data: bytes,
    pin: Pin,
    message: str,
    codemod: str,
    applicability: Applicability,
    outcome: Outcome,
    clause: Clause | None = None,
    new: str = "",
    needs: Version | None = None,
) -> Finding:
    if pin.suppressed is not None and pin.suppressed & {"", codemod}:
        outcome = Outcome.SUPPRESSED
    start, end = (clause.start, clause.end) if clause else (pin.start, pin.end)
    before = data[start:end].decode("utf-8", "replace")
    return Finding(
        codemod, _position(data, start), _position(data, end), message, applicability, outcome, pin.package, before, new, needs
    )


def _position(data: bytes, offset: int) -> Position:
    line = data.count(b"\n", 0, offset) + 1
    start = data.rfind(b"\n", 0, offset) + 1
    return Position(line, len(data[start:offset].decode("utf-8", "replace")))


class ProjectPins:
    """The requirements of all files of a run, judged when everything else is known."""

    def __init__(self, found: dict[str, list[Pin]], settings: Settings, codemod: str, library: str) -> None:
        self.settings = settings
        self._found = found
        self._codemod = codemod
        self._library = library
        self._needs: Version | None = None
        self._changed: dict[str, bytes] = {}

    @classmethod
    def read(cls, paths: Iterable[str], settings: Settings) -> ProjectPins | None:
        """The requirements in these files; None when there is none, or they are not to be spoken of.

        Its settings know the JAX that the program was written for, where the requirements tell and the user does not.
        """
        from jaxmigrate.registry import history

        known = next(filter(None, (getattr(import_module(package), "PINS", None) for package in packages())), None)
        if known is None:
            return None
        codemod, library, *others = known
        found: dict[str, list[Pin]] = {}
        for path in paths:
            data = read(path)
            if isinstance(data, bytes) and (pins := find(os.path.basename(path), data, (library, *others))):
                found[path] = pins
        if not found:
            return None
        if settings.origin is None:
            every = [pin for pins in found.values() for pin in pins]
            settings = replace(settings, origin=origin(every, library, history().versions))
        chosen = (settings.select is None or codemod in settings.select) and codemod not in settings.ignore
        return cls(found if chosen else {}, settings, codemod, library)

    def see(self, result: FileResult) -> None:
        """Take in the result of a file: what its code needs, and its new text if it has requirements itself."""
        known = [version for version in (self._needs, result.requires, result.uses) if version is not None]
        self._needs = max(known, default=None)
        if result.path in self._found and result.status is Status.REWRITTEN:
            self._changed[result.path] = result.after

    def results(self) -> Iterator[FileResult]:
        """What is said and done about the requirements, file by file."""
        for path, pins in self._found.items():
            data = self._changed.get(path)
            if data is None:
                read_now = read(path)
                data = read_now if isinstance(read_now, bytes) else b""
            else:
                pins = find(os.path.basename(path), data, sorted({pin.package for pin in pins}))
            result = judge(path, data, pins, self.settings, self._needs, self._codemod, self._library)
            if result is not None:
                yield result
