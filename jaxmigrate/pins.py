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
_RELEASE = rb"[0-9]+(?:\.[0-9]+)+"
_SPEC = re.compile(rb"(===|==|>=|<=|~=|!=|<|>|\^|~|=)?\s*v?([0-9]+(?:\.[0-9]+)*)(\.\*)?([0-9A-Za-z.+!_-]*)")
_LISTS = (".txt", ".in", ".cfg", ".toml", ".py", ".yml", ".yaml", "Pipfile")
"""How files are called in which a name in capitals is a distribution and no variable."""
_TABLES = (".toml", "Pipfile")
_YAML = (".yml", ".yaml")
_BUILD = (".cfg", ".ini", ".toml", "Pipfile")
_OPENING = re.compile(rb"(?:^|[\"'=:;,(])\s*\Z")
_SETTING = re.compile(rb"\s*(?:LABEL|ENV|ARG|export)\b")
_CODE_OR_KEYS = (".cfg", ".ini", ".toml", ".py")
"""How files are called in which ``jax = 0.3`` is a setting; elsewhere it is a requirement of conda's."""
_HEADER = re.compile(rb"""\s*\[+([^\]\n]*)\]""")
_DEPENDENCIES = re.compile(r"dependenc|packages|requires|constraint")
"""What tables of requirements have in their names."""
_OF_ONE = re.compile(r"""\bdependencies\.["']?([\w-]+)["']?\Z""")
_VERSION = re.compile(rb"""(?:^|[{,])\s*version\s*=\s*["']([^"'\n]+)["']""")
_VARIABLE = rb"\$(?:\{\{\s*env\.(\w+)\s*\}\}|\{(\w+)(?::?-([0-9][0-9A-Za-z.]*))?\}|([A-Za-z_]\w*))"
"""``${{ env.V }}``, ``${V}`` with or without a default, ``$V``."""
_COMPANIONS = 4
"""How many releases back a JAX looks for its companions at most."""
_TITLE = re.compile(rb"\s*(?:-\s+)?name\s*:")
_LIST_ITEM = re.compile(rb"\s*-\s+(?:[\w-]+::)?\Z")
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
    variable: str = ""
    """What the version is written as where it is not written out."""

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
    tables = _Tables(packages)
    for start, line in _lines(name, data):
        package = tables.enter(line) if name.endswith(_TABLES) else ""
        if package:
            found += (_moved(_pin(line, v, v.span(1), bare="^", package=package), start, line) for v in _VERSION.finditer(line))
        elif any(wanted.encode() in line.lower() for wanted in packages) and not _is_title(name, line):
            plain = _without_comment(line)
            in_line = [*_in_line(name, plain, packages, tables.of_requirements), *_by_variable(name, plain, packages, data)]
            found += (_moved(pin, start, line) for pin in in_line)
    return found


class _Tables:
    """Where one is in a file of TOML."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages
        self._package = ""
        self._listed = ""
        self.of_requirements = True
        """Whether a key of the table may name a distribution; so it is in a piece of a file without a header."""

    def enter(self, line: bytes) -> str:
        """Take in a line; returns the package of `packages` whose requirement is spread over lines, of which it may be one."""
        if header := _HEADER.match(line):
            name = header[1].decode("utf-8", "replace").strip()
            one = _OF_ONE.search(name)
            self._package, self._listed = one[1] if one and one[1] in self._packages else "", ""
            self.of_requirements = _DEPENDENCIES.search(name) is not None
            return ""
        opened = re.match(rb"""\s*["']?([\w-]+)["']?\s*=\s*\[""", line)  # jax = [{version = "^0.4", python = "<3.9"}, ..]
        if opened and self.of_requirements and opened[1].decode() in self._packages:
            self._listed = opened[1].decode()
        package = self._package or self._listed
        plain = _without_comment(line).strip()
        if plain.startswith(b"]") or plain.endswith((b"]", b"],")):
            self._listed = ""
        return package if _VERSION.search(line) else ""


def _is_title(name: str, line: bytes) -> bool:
    """Whether a line only gives a step or a job its name."""
    return name.endswith(_YAML) and _TITLE.match(line) is not None


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
    return Pin(pin.package, pin.start + shift, pin.end + shift, pin.text, clauses, silenced(line), pin.variable)


def _in_line(name: str, line: bytes, packages: Sequence[str], has_keys: bool) -> Iterator[Pin]:
    """The requirements in one line; `has_keys` says that a key of TOML may be one."""
    for match in re.finditer(_before(name) + _named(packages) + rb"((?:" + _CLAUSE + rb"\s*,?\s*)+)", line):
        of_conda = re.match(rb"=[^=]", match[2]) is not None
        lower = match[1].islower() or (not of_conda and name.endswith(_LISTS))
        if lower and not (of_conda and not _may_be_of_conda(name, line)) and not _is_prose(name, line[: match.start()]):
            yield _pin(line, match, match.span(2))
    names = rb"(?:" + _alternatives(packages) + rb")"
    if name.endswith(_TABLES) and has_keys:
        yield from _by_key(line, names)
    if name.endswith(_YAML):  # - jax 0.4.1
        exact = re.match(rb"\s*-\s+[\"']?(?:[\w-]+::)?(" + names + rb")\s+([0-9][\w.*]*)", line)
        yield from (_pin(line, match, match.span(2), bare="==") for match in (exact,) if match)
    if name.endswith(".py"):  # a line of a text of many
        whole = re.match(rb"\s*" + _named(packages) + rb"(" + _CLAUSE + rb")\s*(?:;.*)?$", line)
        yield from (_pin(line, match, match.span(2)) for match in (whole,) if match and match[2].count(b".") > 1)
    yield from _by_address(line, names)


def _by_key(line: bytes, names: bytes) -> Iterator[Pin]:
    """``jax = "^0.4.1"``, ``jax = {version = ">=0.4"}`` and ``jax = {git = "..", tag = "jax-v0.4.1"}``."""
    key = rb"^\s*[\"']?(" + names + rb")[\"']?\s*=\s*"
    for match in re.finditer(key + rb"(?:\{[^}\n]*\bversion\s*=\s*)?[\"']([^\"'\n]+)[\"']", line):
        yield _pin(line, match, match.span(2), bare="^")
    tag = rb"\{[^}\n]*\b(?:tag|rev)\s*=\s*[\"'](?:" + names + rb"-)?v?(" + _RELEASE + rb")[\"']"
    for match in re.finditer(key + tag, line):
        yield _pin(line, match, match.span(2), bare="==")


def _by_address(line: bytes, names: bytes) -> Iterator[Pin]:
    """``git+https://github.com/google/jax.git@jax-v0.3.25``, archives of a tag, and wheels."""
    at = rb"(?:@|/archive/(?:refs/tags/)?)(?:(" + names + rb")-)?v?(" + _RELEASE + rb")(?=[\s\"'#;]|\.(?:tar|zip)|$)"
    for match in re.finditer(rb"/(" + names + rb")(?:\.git)?" + at, line):
        yield _pin(line, match, match.span(3), bare="==", package=(match[2] or match[1]).decode())
    wheel = rb"\b(" + names + rb")-(" + _RELEASE + rb")[0-9A-Za-z.+_]*-[\w.]+-[\w.]+-[\w.]+\.whl"
    yield from (_pin(line, match, match.span(2), bare="==") for match in re.finditer(wheel, line))


def _may_be_of_conda(name: str, line: bytes) -> bool:
    """Whether ``jax=0.3`` in a line is a requirement of conda's, and no setting."""
    return not name.endswith(_CODE_OR_KEYS) and _SETTING.match(line) is None


def _is_prose(name: str, before: bytes) -> bool:
    """Whether what stands before a name in a build file is a sentence: a requirement begins a line, a value or a string."""
    return name.endswith(_BUILD) and _OPENING.search(before) is None and _INSTALLS.search(before) is None


def _alternatives(packages: Sequence[str]) -> bytes:
    return b"|".join(re.escape(p.encode()) for p in sorted(packages, key=len, reverse=True))


def _named(packages: Sequence[str]) -> bytes:
    """A distribution with its extras."""
    return rb"((?i:" + _alternatives(packages) + rb"))(?:\s*\[[\w\s,.-]*\])?\s*\(?\s*"


def _before(name: str) -> bytes:
    return rb"(?<=[\"'])" if name.endswith(".py") else rb"(?<![\w./-])"


def _by_variable(name: str, line: bytes, packages: Sequence[str], data: bytes) -> Iterator[Pin]:
    """Requirements on a version that the same file gives to a variable: ``ARG JAX=0.4.1``, ``pip install jax==$JAX``."""
    if b"$" not in line:
        return
    for match in re.finditer(_before(name) + _named(packages) + rb"(===|==|>=|<=|~=|<|>|=)\s*" + _VARIABLE, line):
        variable = match[3] or match[4] or match[6]
        value = match[5] or _value(variable, data)
        clause = next(_SPEC.finditer(match[2] + value), None) if value else None
        if clause is not None:
            text, numbers = clause[0].decode(), tuple(map(int, clause[2].decode().split(".")))
            shown = f"{match[0].decode('utf-8', 'replace')} with {variable.decode()}={value.decode()}"
            clauses = (Clause(match[2].decode(), numbers, match.start(2), match.end(), text),)
            yield Pin(match[1].decode().lower(), match.start(), match.end(), shown, clauses, None, variable.decode())


def _value(variable: bytes, data: bytes) -> bytes:
    """The version that a file gives to a variable; empty if it gives none, or several."""
    given = rb"^[^#\n]*?(?<![\w${.-])" + variable + rb"(?:\s*[:?]?=\s*|:[ ]+|[ ]+)(\S+)"
    own = (b"$" + variable, b"${" + variable + b"}")  # ARG V=0.3.5, then ENV V=${V}
    values = {v for value in re.findall(given, data, re.MULTILINE) if (v := value.strip(b"\"'")) not in own}
    value = values.pop() if len(values) == 1 else b""
    return value if re.fullmatch(rb"v?[0-9]+(?:\.[0-9]+)*", value) else b""


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


@dataclass(frozen=True, slots=True)
class Demand:
    """What requirements are held against."""

    settings: Settings
    needs: Version | None
    """The oldest JAX that has what the rewritten code uses, as far as the files that were parsed tell."""
    library: str
    oldest_companion: Version
    """What the target may be installed with of the distributions that belong to it: they may be a few releases older."""
    codemod: str

    def keeps_target_out(self, pin: Pin) -> bool:
        """Whether a requirement allows nothing with which the target can be installed."""
        return pin.forbids(self.settings.target if pin.package == self.library else self.oldest_companion)


def oldest_companion(target: Version, releases: Sequence[Version]) -> Version:
    """The oldest jaxlib that a JAX may ask for: 0.3.25 asked for 0.3.22, 0.4.30 for 0.4.27, 0.12.0.1 for 0.11.2."""
    older = [v for v in releases if v < target]
    return older[-min(_COMPANIONS, len(older))] if older else target


def judge(path: str, data: bytes, pins: Sequence[Pin], demand: Demand) -> FileResult | None:
    """What is to be said and done about the requirements of one file; None if nothing is."""
    judged = [j for pin in pins for j in _judged(path, data, pin, demand)]
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


def _judged(path: str, data: bytes, pin: Pin, demand: Demand) -> Iterator[tuple[Finding, Splice | None]]:
    """What is to be said of one requirement, and what to write instead where that may be done."""
    needs, target = demand.needs, demand.settings.target
    if demand.keeps_target_out(pin):
        wanted = f": the rewritten code needs {needs} or newer" if needs is not None else ""
        yield _manual(data, pin, f"{pin.text} keeps JAX {target}, the target, from being installed{wanted}", demand)
    elif needs is None or pin.package != demand.library:
        return
    elif pin.forbids(needs):
        yield _manual(data, pin, f"{pin.text} keeps JAX {needs}, which the rewritten code needs, from being installed", demand)
    else:
        for clause, new in _too_low(pin, needs):
            message = f"the rewritten code needs JAX {needs}, and {pin.text} allows older ones"
            by_hand = _by_hand(path, data, pin, new)
            yield _manual(data, pin, message + by_hand, demand) if by_hand else _raised(data, pin, message, demand, clause, new)


def _manual(data: bytes, pin: Pin, message: str, demand: Demand) -> tuple[Finding, None]:
    return _finding(data, pin, message, demand.codemod, Applicability.MANUAL, Outcome.MANUAL), None


def _raised(data: bytes, pin: Pin, message: str, demand: Demand, clause: Clause, new: str) -> tuple[Finding, Splice | None]:
    applied = demand.settings.allowed >= Applicability.UNSAFE and pin.suppressed is None
    outcome = Outcome.APPLIED if applied else Outcome.HELD
    finding = _finding(data, pin, message, demand.codemod, Applicability.UNSAFE, outcome, clause, new, demand.needs)
    return finding, Splice(clause.start, clause.end, new) if finding.outcome is Outcome.APPLIED else None


def _by_hand(path: str, data: bytes, pin: Pin, new: str) -> str:
    """What to do where the lower bound cannot be raised in its place; empty where it can."""
    if pin.variable:
        return f": raise {pin.variable}"
    name = data[pin.start : pin.clauses[0].start].decode("utf-8", "replace")
    return f": quote it and write {name}{new}" if _is_of_a_shell(path, data, pin) else ""


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
    if data[pin.start - 1 : pin.start] in (b"'", b'"'):
        return False
    before = data[data.rfind(b"\n", 0, pin.start) + 1 : pin.start]
    if path.endswith(_YAML) and _LIST_ITEM.match(before):
        return False
    return not path.endswith((".txt", ".in", ".pip", *_CODE_OR_KEYS, "Pipfile"))


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


def _in_files(paths: Iterable[str], packages: Sequence[str]) -> dict[str, list[Pin]]:
    """The requirements in each of these files that has some."""
    found = {path: find(os.path.basename(path), data, packages) for path in paths if isinstance(data := read(path), bytes)}
    return {path: pins for path, pins in found.items() if pins}


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
    def read(cls, paths: Iterable[str], settings: Settings, around: Iterable[str] = ()) -> ProjectPins | None:
        """The requirements in these files; None when there is none, or they are not to be spoken of.

        Its settings know the JAX that the program was written for, where the requirements tell, those `around` too, and the user
        does not.
        """
        from jaxmigrate.registry import history

        known = next(filter(None, (getattr(import_module(package), "PINS", None) for package in packages())), None)
        if known is None:
            return None
        codemod, library, *others = known
        found = _in_files(paths, (library, *others))
        beyond = _in_files(around, (library,)) if settings.origin is None else {}
        if settings.origin is None:
            every = [pin for pins in (*found.values(), *beyond.values()) for pin in pins]
            settings = replace(settings, origin=origin(every, library, history().versions))
        if not found and settings.origin is None:
            return None
        chosen = (settings.select is None or codemod in settings.select) and codemod not in settings.ignore
        return cls(found if chosen else {}, settings, codemod, library)

    def see(self, result: FileResult) -> None:
        """Take in the result of a file: what its code needs, and its new text if it has requirements itself."""
        known = [version for version in (self._needs, result.needs) if version is not None]
        self._needs = max(known, default=None)
        if result.path in self._found and result.status is Status.REWRITTEN:
            self._changed[result.path] = result.after

    def results(self) -> Iterator[FileResult]:
        """What is said and done about the requirements, file by file."""
        from jaxmigrate.registry import history

        oldest = oldest_companion(self.settings.target, history().versions)
        demand = Demand(self.settings, self._needs, self._library, oldest, self._codemod)
        for path, pins in self._found.items():
            data = self._changed.get(path)
            if data is None:
                read_now = read(path)
                data = read_now if isinstance(read_now, bytes) else b""
            else:
                pins = find(os.path.basename(path), data, sorted({pin.package for pin in pins}))
            result = judge(path, data, pins, demand)
            if result is not None:
                yield result
